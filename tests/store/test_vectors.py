"""The search index: in step with the truth after any kill, rebuilt when damaged, searched by words and by meaning."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.memory import StoredSentence
from m3desk.domain.stemming import stem
from m3desk.store.index.vectors import VectorIndex
from m3desk.store.index.words import words


def sentence(n: int, text: str, kind: str = "episodic", clip: int = 0, **more) -> StoredSentence:
    start = clip * 30_000_000 + n * 1_000_000
    return StoredSentence(
        id=f"n{n}", kind=kind, text=text, shown=text, tagged=text, clip=f"s1.c{clip}", source="s1", start=start, end=start + 1_000_000,
        weight=1.0, **more,
    )  # fmt: skip


class Truth:
    """A memory's sentences and their vectors, as the store would give them."""

    def __init__(self, *sentences: StoredSentence) -> None:
        self.sentences = list(sentences)
        self.sequence = 1
        self.embedded: set[str] | None = None

    def version(self) -> int:
        return self.sequence

    def memories(self, **_: object) -> list[StoredSentence]:
        return list(self.sentences)

    def add(self, *sentences: StoredSentence) -> None:
        self.sentences += sentences
        self.sequence += 1

    def vectors(self, kind: str, model: str) -> tuple[list[str], np.ndarray]:
        ids = [s.id for s in self.sentences if s.id in self.embedded] if self.embedded is not None else [s.id for s in self.sentences]
        rows = [unit(i, 8 if model == "other 2" else 16) for i in ids]
        return ids, np.array(rows, np.float32).reshape(len(ids), -1)


def unit(seed: str, size: int = 16) -> np.ndarray:
    row = np.random.default_rng(int.from_bytes(seed.encode(), "big")).normal(size=size).astype(np.float32)
    return row / np.linalg.norm(row)


def ids(found: list[tuple[str, float]]) -> list[str]:
    return [i for i, _ in found]


@pytest.fixture
def truth() -> Truth:
    return Truth(
        sentence(1, "someone puts the red mug on the shelf."),
        sentence(2, "某人把红杯子放在桌子上。", language="zh"),
        sentence(3, "someone says “we're meeting in Zürich at gate F2”.", clip=1),
        sentence(4, "someone likes green tea.", kind="semantic", clip=1, entities=("cup",)),
    )


def test_words_find_sentences_in_english_and_chinese(tmp_path, truth):
    index = VectorIndex(tmp_path / "vectors")
    assert index.sync(truth).added == 4
    assert ids(index.by_words(index.words("the red mugs"), 5))[0] == "n1"
    assert ids(index.by_words(index.words("杯子在哪里？"), 5)) == ["n2"]
    assert ids(index.by_words(index.words("ZURICH meetings"), 5)) == ["n3"]
    assert ids(index.by_words(index.words("any cups?"), 5)) == ["n4"], "an entity's label is a word of its sentence"
    assert index.by_words(index.words("who is it?"), 5) == []


def test_meaning_finds_the_nearest_and_filters_hold(tmp_path, truth):
    index = VectorIndex(tmp_path / "vectors")
    index.sync(truth, "fake 1")
    found = index.by_vector(unit("n3"), 4)
    assert found[0][0] == "n3" and found[0][1] == pytest.approx(1, abs=1e-5) and len(found) == 4
    assert ids(index.by_vector(unit("n3"), 4, kinds=["semantic"])) == ["n4"]
    assert set(ids(index.by_vector(unit("n3"), 4, source="s1", start=0, end=5_000_000))) == {"n1", "n2"}
    assert ids(index.by_words(index.words("someone's red mug; green tea"), 4, clips=["s1.c1"])) == ["n4"]
    assert set(ids(index.by_vector(unit("n3"), 4, before=("s1", 30_000_000)))) == {"n1", "n2"}
    assert index.by_vector(unit("n3"), 4, source="x' OR '1'='1") == []


def test_sync_writes_only_what_is_new_changed_or_gone(tmp_path, truth):
    index = VectorIndex(tmp_path / "vectors")
    index.sync(truth, "fake 1")
    assert index.sync(truth, "fake 1") == index.sync(truth, "fake 1")
    truth.add(sentence(5, "a dog runs.", clip=2))
    truth.sentences[0] = replace(truth.sentences[0], text="someone puts the blue mug away.")
    del truth.sentences[1]
    did = index.sync(truth, "fake 1")
    assert (did.added, did.removed, did.rebuilt) == (2, 1, None)
    assert index.problems(truth) == []
    assert ids(index.by_words(index.words("dogs"), 5)) == ["n5"] and ids(index.by_words(index.words("blue"), 5)) == ["n1"]


def test_an_embedding_that_comes_later_is_taken_up(tmp_path, truth):
    index = VectorIndex(tmp_path / "vectors")
    truth.embedded = {"n1"}
    index.sync(truth, "fake 1")
    assert ids(index.by_vector(unit("n3"), 4)) == ["n1"]
    truth.sequence += 1
    truth.embedded = None
    assert index.sync(truth, "fake 1").added == 3
    assert ids(index.by_vector(unit("n3"), 1)) == ["n3"]


def test_a_vector_can_come_without_a_new_sequence(tmp_path, truth):
    index = VectorIndex(tmp_path / "vectors")
    index.sync(truth)
    index.sync(truth, "fake 1")
    assert ids(index.by_vector(unit("n2"), 1)) == ["n2"]


def test_another_text_model_means_another_index(tmp_path, truth):
    index = VectorIndex(tmp_path / "vectors")
    index.sync(truth, "fake 1")
    did = index.sync(truth, "other 2")
    assert did.rebuilt == "another text model" and index.notices
    assert len(index.by_vector(np.ones(8, np.float32), 9)) == 4


@pytest.mark.parametrize("harm", ["state", "manifest", "data", "folder", "format"])
def test_a_damaged_or_missing_index_is_made_anew(tmp_path, truth, harm):
    folder = tmp_path / "vectors"
    VectorIndex(folder).sync(truth, "fake 1")
    if harm == "state":
        (folder / "state.json").write_text("{")
    elif harm == "format":
        state = json.loads((folder / "state.json").read_text())
        (folder / "state.json").write_text(json.dumps({**state, "format": 0}))
    elif harm == "manifest":
        shutil.rmtree(folder / "sentences.lance" / "_versions")
    elif harm == "data":
        for file in (folder / "sentences.lance" / "data").iterdir():
            file.write_bytes(b"nothing")
    else:
        shutil.rmtree(folder)
    index = VectorIndex(folder)
    if harm == "data":
        assert index.by_words(["tea"], 3) == [] and index.notices, "a search that can't read it says so"
    index.sync(truth, "fake 1")
    assert index.problems(truth) == []
    assert ids(index.by_words(index.words("green tea"), 1)) == ["n4"] and ids(index.by_vector(unit("n2"), 1)) == ["n2"]
    assert bool(index.notices) == (harm != "folder")


def test_a_rebuild_leaves_nothing_of_what_was_deleted(tmp_path, truth):
    index = VectorIndex(tmp_path / "vectors")
    truth.add(sentence(9, "someone whispers xylophonist."))
    index.sync(truth, "fake 1")
    del truth.sentences[-1]
    index.rebuild(truth, "fake 1")
    assert all(b"xylophonist" not in f.read_bytes() for f in (tmp_path / "vectors").rglob("*") if f.is_file())
    assert index.problems(truth) == []


def test_a_memory_that_cannot_be_written_to_has_its_index_elsewhere(tmp_path, truth):
    (tmp_path / "vectors").write_text("a file where the folder should be")
    index = VectorIndex(tmp_path / "vectors")
    index.sync(truth, "fake 1")
    assert ids(index.by_words(["tea"], 1)) == ["n4"] and "temporary" in index.notices[0]


def _keep_syncing(folder: str) -> None:
    truth, index, n = Truth(), VectorIndex(folder), 0
    while True:
        n += 1
        truth.add(sentence(n, f"someone shows thing{n}."))
        index.sync(truth, "fake 1")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a thing of POSIX")
def test_a_kill_at_any_moment_costs_nothing(tmp_path):
    folder = tmp_path / "vectors"
    full = Truth(*(sentence(n, f"someone shows thing{n}.") for n in range(1, 60)))
    for after in (0.02, 0.13):
        child = multiprocessing.get_context("spawn").Process(target=_keep_syncing, args=(str(folder),))
        child.start()
        begun = (folder / "state.json").stat().st_mtime if (folder / "state.json").exists() else 0
        while not (folder / "state.json").exists() or (folder / "state.json").stat().st_mtime <= begun:
            time.sleep(0.01)
        time.sleep(after)
        assert child.is_alive()
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        index = VectorIndex(folder)
        full.sequence += 10_000
        index.sync(full, "fake 1")
        assert index.problems(full) == []
        assert index._table.count_rows() == len(full.sentences), "no sentence is there twice"


@pytest.mark.slow
def test_many_commits_stay_few_files(tmp_path):
    truth, index = Truth(), VectorIndex(tmp_path / "vectors")
    for n in range(80):
        truth.add(sentence(n, f"someone shows thing{n}."))
        index.sync(truth, "fake 1")
    assert len(index.by_words(index.words("thing79 thing3"), 5)) == 2


def test_words_are_folded_stemmed_and_without_stop_words():
    assert words("The café's doors were opened, opening; opens") == ["cafe", "door", "open", "open", "open"]
    assert words("bin blue at F2 now") == ["bin", "blue", "f2", "now"]
    assert words("他在会议室里打开了白板") == [w for w in words("他在会议室里打开了白板") if len(w) >= 1] and "会议室" in words(
        "会议室里的白板"
    )
    assert words("???") == [] and words("") == []
    assert stem("waves") == stem("waving") == stem("waved") and stem("bus") == "bus" and stem("running") == "run"
