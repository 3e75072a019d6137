"""The cached search state gives the same results as reading everything, after any change to the memory."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from m3desk.bench import invented
from m3desk.control import nearest
from m3desk.control.nearest import Nearest, again_of
from m3desk.control.search import Search
from m3desk.control.snapshots import Snapshot, SnapshotCache
from m3desk.domain.memory import StoredSentence
from m3desk.errors import CorrectionError
from m3desk.store.index.words import words
from m3desk.store.memory import Memory
from tests.control.plain_search import PlainSearch
from tests.store.invented import clips, remember, source
from tests.store.random_corrections import ACTIONS, Life, _clip, born


class Meaning:
    """A text model that has an invented vector for every query."""

    name, dimension, near = invented.MODEL, invented.DIMENSION, (0.86, 0.8)

    def __init__(self) -> None:
        self._invention = invented.Invention(3)
        self._known: dict[str, np.ndarray] = {}

    def embed(self, texts: list[str], *, query: bool = False) -> np.ndarray:
        return np.stack([self._known.setdefault(t, self._invention.vectors(1)[0]) for t in texts])


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with invented.make(tmp_path_factory.mktemp("invented") / "m.m3desk", 700, people=8) as made:
        yield made


def queries(count: int, seed: int = 4) -> Iterator[tuple[str, tuple[str, ...], tuple[str, int] | None]]:
    """Yield invented queries with kinds and an earlier state: words rare and frequent, people, times, clips, things."""
    dice = random.Random(seed)
    for _ in range(count):
        asked = [invented.word(dice.choice([dice.randrange(30), dice.randrange(3000)])) for _ in range(dice.randint(1, 4))]
        if dice.random() < 0.4:
            asked.insert(0, dice.choice(invented.NAMES))
        if dice.random() < 0.15:
            asked.insert(1, dice.choice(invented.NAMES))
        if dice.random() < 0.2:
            asked.append(dice.choice(["at 0:30", "clip 7", "after 20:00", "in the first minute", "laptop", "kitchen"]))
        kinds = dice.choice([("episodic", "semantic")] * 3 + [("episodic",), ("semantic",)])
        yield " ".join(asked), kinds, dice.choice([None] * 4 + [("s1", 20)])


@pytest.mark.slow
def test_the_results_are_those_of_a_plain_search_to_the_last_bit(memory: Memory) -> None:
    snapshot, meaning = Snapshot.read(memory, words, invented.MODEL), Meaning()
    plain, search = PlainSearch(memory, snapshot, meaning), Search(memory, snapshot, meaning, snapshot)
    for n, (text, kinds, before) in enumerate(queries(60)):
        expected = plain.hits(plain.read(text), 20, kinds=kinds, before=before)
        assert search.hits(search.read(text), 20, kinds=kinds, before=before) == expected
        if n % 6 == 0:
            how: dict[str, Any] = {"kinds": kinds, "before": before, "skip": {h.sentence.id for h in expected[:3]}}
            assert search.hits(search.read(text), 5, **how) == plain.hits(plain.read(text), 5, **how)


# ---------------------------------------------------------------- kept up to date


NUMBERS = ("start", "end", "clip", "weight", "flags", "number", "place", "wording")


def contents(s: Snapshot) -> dict[str, Any]:
    """Return all that a snapshot holds, by ids instead of rows."""
    t, alive = s.table, np.flatnonzero(s.table.column("alive")).tolist()
    held: dict[int, Counter[str]] = {row: Counter() for row in alive}
    for word in {*s.keywords.codes, *s.keywords.added}:
        for row, times in zip(*(a.tolist() for a in s.keywords.holding(word)), strict=True):
            if row in held:
                held[row][word] += times
    column = {
        name: t.column(name) for name in ("start", "end", "clip", "weight", "flags", "number", "place", "wording", "previous", "next")
    }

    def near(row: int) -> str | None:
        return None if row < 0 else t.ids[row]

    rows = {
        t.ids[r]: (
            t.kinds.values[t.column("kind")[r]], t.events.values[t.column("event")[r]], t.sources.values[t.column("source")[r]],
            t.people(r), t.column("cites")[r], *(column[n][r] for n in NUMBERS),
            *(near(column[n][r]) if t.column("kind")[r] == t.kinds.codes["episodic"] else None for n in ("previous", "next")), held[r],
            s.keywords.lengths.data[r], s.nearest.rows.data[r].tobytes() if s.nearest.has[r] else None,
        )
        for r in alive
    }  # fmt: skip
    assert all(t.row(id_) is not None for id_ in rows) and len(rows) == len(alive)
    return {
        "rows": rows, "total": s.keywords.total, "people": s.people, "sources": s.sources, "clips": dict(s.clips),
        "tellers": dict(s.tellers), "texts": dict(s.texts),
    }  # fmt: skip


def evidence(s: Snapshot, reader: Memory) -> list[dict[str, Any]]:
    found = s.evidence(reader)
    return [{source: rows for source, rows in by.items() if rows} for by in (found.seen, found.heard)]


@pytest.mark.parametrize("seed", range(16))
def test_after_whatever_happens_it_is_what_reading_all_gives(seed: int, tmp_path: Path) -> None:
    kept = SnapshotCache(words, told=True)
    with born(tmp_path) as memory:
        memory.watch(kept.note)
        life = Life(memory, random.Random(seed))
        weights = [w for w, _ in ACTIONS.values()]
        _clip(life)
        reading = 0
        for _ in range(14):
            try:
                ACTIONS[life.dice.choices(list(ACTIONS), weights)[0]][1](life)
            except CorrectionError:
                continue
            if life.dice.random() < 0.3:
                continue  # two changes are read together
            now, anew = kept.snapshot(memory, "e5 1"), Snapshot.read(memory, words, "e5 1")
            assert contents(now) == contents(anew) and now.version == anew.version
            assert evidence(now, memory) == evidence(anew, memory)
            kept.read_ahead(life.dice.sample(anew.table.ids, min(5, len(anew.table.ids))), memory.memories_of)
            assert {id_: kept.sentence(id_, memory.sentence) for id_ in anew.table.ids} == {s.id: s for s in memory.memories()}
            reading += 1
        assert reading


class Counting:
    """A reader that counts how often everything is read, and how many rows by name."""

    def __init__(self, memory: Memory) -> None:
        self._memory, self.whole, self.rows = memory, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def outlines(self, ids: Any = None) -> Any:
        self.whole += ids is None
        self.rows += len(ids or ())
        return self._memory.outlines(ids)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[Memory, SnapshotCache, Counting]]:
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        remember(made, made.next_clips("s1")[0], (1, 2))
        kept = SnapshotCache(words, told=True)
        made.watch(kept.note)
        yield made, kept, Counting(made)


def test_a_chat_changes_nothing_that_search_reads(small: tuple[Memory, SnapshotCache, Counting]) -> None:
    memory, kept, reader = small
    first = kept.snapshot(reader, "e5 1")
    memory.add_chat({"question": "who?"})
    memory.set_setting("colour", "green")
    second = kept.snapshot(reader, "e5 1")
    assert second.version == memory.version() > first.version
    assert second.table is first.table and second.nearest is first.nearest and (reader.whole, reader.rows) == (1, 0)


def test_a_clip_is_found_by_the_next_question_and_only_its_rows_are_read(small: tuple[Memory, SnapshotCache, Counting]) -> None:
    memory, kept, reader = small
    first = kept.snapshot(reader, "e5 1")
    before = contents(first)
    remember(memory, memory.next_clips("s1")[0], (1, 3))
    second = kept.snapshot(reader, "e5 1")
    new = set(contents(second)["rows"]) - set(before["rows"])
    assert new and {id_ for id_, _ in second.by_words(words("drink tea"), 20)} & new and reader.whole == 1
    assert contents(first) == before, "who began with the older snapshot keeps it"
    assert {id_ for id_, _ in first.by_words(words("drink tea"), 20)} <= set(before["rows"])


def test_sentences_that_were_read_ahead_are_not_read_again_until_they_change(
    small: tuple[Memory, SnapshotCache, Counting],
) -> None:
    memory, kept, reader = small
    ids = list(kept.snapshot(reader, "e5 1").table.ids)
    reads: list[list[str]] = []

    def several(ids: Collection[str]) -> list[StoredSentence]:
        reads.append(list(ids))
        return memory.memories_of(ids)

    kept.read_ahead(ids, several)
    kept.read_ahead(ids, several)
    one = memory.sentence(ids[0])
    assert reads == [ids] and kept.sentence(ids[0], pytest.fail) == one
    memory.correct("edit", {"node": ids[0], "text": "nothing happens"})
    kept.snapshot(reader, "e5 1")
    kept.read_ahead(ids, several)
    assert reads == [ids, ids[:1]] and kept.sentence(ids[0], pytest.fail).shown == "Nothing happens"


def test_what_nobody_told_of_is_read_anew(small: tuple[Memory, SnapshotCache, Counting], tmp_path: Path) -> None:
    memory, _, reader = small
    stranger = SnapshotCache(words)
    first = stranger.snapshot(reader, "e5 1")
    remember(memory, memory.next_clips("s1")[0], (1, 3))
    assert contents(stranger.snapshot(reader, "e5 1")) == contents(Snapshot.read(memory, words, "e5 1")) != contents(first)
    assert stranger.snapshot(reader, "another model").nearest.has.sum() == 0


def test_a_write_that_fails_is_not_told_of(small: tuple[Memory, SnapshotCache, Counting]) -> None:
    memory, kept, reader = small
    kept.snapshot(reader, "e5 1")
    with pytest.raises(CorrectionError):
        memory.correct("name", {"person": "person_99", "name": "Ann"})
    memory.correct("name", {"person": "person_1", "name": "Ann"}, dry_run=True)
    assert kept._changed is None
    memory.correct("name", {"person": "person_1", "name": "Ann"})
    assert kept._changed is not None and kept._changed.people and kept._changed.nodes and not kept._changed.vectors


@pytest.mark.slow
def test_many_rows_are_looked_at_twice_and_the_nearest_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "WHOLE", 3_000)
    invention, count = invented.Invention(2), 6_000
    rows = invention.vectors(count)
    near = Nearest.of(count, [(range(count), rows)])
    assert near.turn is not None
    more = invention.vectors(50)
    grown = near.changed(count + 50, range(count, count + 50), more)
    rows, found = np.concatenate([rows, more]), 0
    for query in invention.vectors(20):
        at, scores = grown.near(query, 100, grown.has)
        assert len(at) == again_of(count)
        best = set(np.argsort(-(rows @ query))[:100].tolist())
        found += len(best & set(at[np.argsort(-scores)][:100].tolist()))
    assert found >= 0.98 * 2_000
    few = np.zeros(count + 50, np.bool_)
    few[-300:] = True
    at, _ = grown.near(more[7], 10, few)
    assert len(at) == 300, "where few may be found, all of them are compared whole"


def test_rows_without_a_usable_vector_are_not_found_by_meaning() -> None:
    rows = np.eye(3, dtype=np.float32)
    rows[1], rows[2] = 0, np.nan
    near = Nearest.of(4, [([0, 1, 2], rows)])
    assert near.has.tolist() == [True, False, False, False]
    at, scores = near.near(np.array([2, 0, 0], np.float32), 5, np.ones(4, np.bool_))
    assert at.tolist() == [0] and scores.tolist() == [1.0]
    assert not len(near.near(np.ones(5, np.float32), 5, np.ones(4, np.bool_))[0]), "a query of another model"
