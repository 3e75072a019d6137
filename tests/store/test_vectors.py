"""The vector index on disk gives the same nearest sentences as comparing all, after changes and after a kill."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from m3desk.app import App, on_disk
from m3desk.bench import invented
from m3desk.bench.scale_search import Backends
from m3desk.control.nearest import OnDisk
from m3desk.domain.evidence import Floats
from m3desk.locks import FileLock
from m3desk.samples import proof
from m3desk.store import checking
from m3desk.store.forgetting import proving
from m3desk.store.index import vectors
from m3desk.store.index.vectors import VectorIndex
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source

MODEL = "model 1"


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """A table of embeddings as the store has it."""
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE embedding (owner, kind, model, n, d, vectors, sequence, PRIMARY KEY (owner, model))")
    made.execute("CREATE TABLE commits (sequence INTEGER PRIMARY KEY, kind)")
    yield made
    made.close()


def put(db: sqlite3.Connection, first: int, rows: Floats, model: str = MODEL) -> None:
    for n, row in enumerate(rows, first):
        db.execute("INSERT INTO embedding VALUES (?, 'text', ?, 1, ?, ?, 1)", (f"episodic_{n}", model, len(row), row.tobytes()))


@pytest.mark.slow
def test_the_graph_finds_the_nearest_that_comparing_all_finds(
    tmp_path: Path, db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_GRAPH_FROM", 1_000)
    invention = invented.Invention(2)
    rows, late = invention.vectors(1_500), invention.vectors(300)
    put(db, 0, rows)
    index = VectorIndex(tmp_path / "vectors")
    state = index.sync(db, MODEL)
    assert state is not None and state.rows == 1_500 and index._table.list_indices()
    put(db, 1_500, late)
    assert index.sync(db, MODEL) == vectors.IndexState(vectors.FORMAT, MODEL, invented.DIMENSION, 1_800, "episodic_1799", 0, 1_800)
    every, found = np.concatenate([rows, late]), 0
    for query in [*invention.vectors(15), *late[:5]]:
        best = {f"episodic_{n}" for n in np.argsort(-(every @ query))[:20].tolist()}
        found += len(best & set(index.near(query, 20) or ()))
    assert found >= 0.95 * 400  # measured: 99 %
    assert index.problems(db) == []


@pytest.mark.slow
def test_what_is_missing_or_too_much_is_told_and_a_kill_between_rows_and_state_costs_nothing(
    tmp_path: Path, db: sqlite3.Connection
) -> None:
    rows = invented.Invention(2).vectors(40)
    put(db, 0, rows[:30])
    index = VectorIndex(tmp_path / "vectors")
    index.sync(db, MODEL)
    before = (tmp_path / "vectors" / "state.json").read_text()
    put(db, 30, rows[30:])
    index.sync(db, MODEL)
    (tmp_path / "vectors" / "state.json").write_text(before)  # killed after the rows, before the state
    again = VectorIndex(tmp_path / "vectors")
    assert again.problems(db) == [], "rows that are written before the state says so are no fault"
    again.sync(db, MODEL)
    assert again.problems(db) == [] and (again.near(rows[35], 3) or [])[0] == "episodic_35"
    db.execute("DELETE FROM embedding WHERE owner = 'episodic_3'")
    assert again.problems(db) == ["episodic_3 is in the index of vectors but no longer in the memory"]


@pytest.mark.parametrize("harm", ["state", *(pytest.param(harm, marks=pytest.mark.slow) for harm in ("data", "all"))])
def test_a_damaged_index_is_made_anew(tmp_path: Path, db: sqlite3.Connection, harm: str) -> None:
    rows = invented.Invention(2).vectors(30)
    put(db, 0, rows)
    VectorIndex(tmp_path / "vectors").sync(db, MODEL)
    if harm == "state":
        (tmp_path / "vectors" / "state.json").write_text("{")
    elif harm == "all":
        shutil.rmtree(tmp_path / "vectors")
    else:
        for file in (tmp_path / "vectors" / "vectors.lance" / "data").iterdir():
            file.write_bytes(b"\0" * 50)
    index = VectorIndex(tmp_path / "vectors")
    assert index.near(rows[4], 3) is None and index.state() is None
    index.sync(db, MODEL)
    assert index.near(rows[4], 1) == ["episodic_4"] and index.problems(db) == []


def test_the_proof_of_a_forgetting_reads_every_row_once_and_keeps_the_index_still(
    tmp_path: Path, db: sqlite3.Connection, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = invented.Invention(2).vectors(30)
    index, folder = VectorIndex(tmp_path / "vectors"), tmp_path / "vectors"
    for first in (0, 10, 20):
        put(db, first, rows[first : first + 10])
        index.sync(db, MODEL)
    with proving._still(folder):
        assert sorted(proving._index(folder)) == sorted(f"episodic_{n}" for n in range(30))
        assert index.sync(db, MODEL) is None, "who writes it waits until the proof is done"
    assert index.sync(db, MODEL) is not None
    assert proving._content(folder / "state.went") == b"", "a file that went since the folder was read"
    assert capfd.readouterr().err == "", "LanceDB is quiet"


@pytest.mark.slow
def test_another_text_model_begins_anew_and_whoever_else_writes_is_left_alone(tmp_path: Path, db: sqlite3.Connection) -> None:
    rows = invented.Invention(2).vectors(10)
    put(db, 0, rows)
    put(db, 0, rows[:5, :64], "model 2")
    index = VectorIndex(tmp_path / "vectors")
    index.sync(db, MODEL)
    state = index.sync(db, "model 2")
    assert state is not None and (state.rows, state.dimension) == (5, 64)
    with FileLock(tmp_path / "vectors" / "lock"):
        assert VectorIndex(tmp_path / "vectors").sync(db, MODEL) is None
    index.drop()
    assert [p.name for p in (tmp_path / "vectors").iterdir()] == ["lock"]


def test_a_search_whose_vectors_are_on_disk_finds_what_one_in_the_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "m.m3desk"
    invented.make(place, 300, people=8).close()
    queries = ["what does Ann say about bado", "pado vake", "Bea at 0:30", "kitchen", "mido in the first minute"]
    with App(place, backends=Backends()) as app:  # type: ignore[arg-type]
        expected = [app.answering.search_nodes(q) for q in queries]
        with app.reader() as reader:
            node, other = reader.memories(kind="semantic")[0], reader.memories(kind="episodic")[40]
    monkeypatch.setattr(on_disk, "most_in_memory", lambda: 100)

    def kept(app: App) -> OnDisk:
        assert app.searching.cache.now is not None and isinstance(app.searching.cache.now.nearest, OnDisk)
        return app.searching.cache.now.nearest

    with App(place, backends=Backends()) as app:  # type: ignore[arg-type]
        assert [app.answering.search_nodes(q) for q in queries] == expected, "until it is written, all is compared in the process"
        with app.reader() as reader:
            app.on_disk.write(reader)
        kept(app)
        assert [app.answering.search_nodes(q) for q in queries] == expected
    with App(place, backends=Backends()) as app:  # type: ignore[arg-type]
        assert [app.answering.search_nodes(q) for q in queries] == expected and kept(app).late is None, "nothing is read at the next start"
        rows = invented.Invention(9).vectors(2)
        app.write(lambda m: m.correct("edit", {"node": other.id, "text": "quite another thing"}))
        app.write(lambda m: m.store_vectors("text", invented.MODEL, [other.id], rows[:1]))
        app.write(lambda m: m.correct("delete", {"node": node.id}))
        with app.reader() as reader:
            search = app.answering.search(reader)
            first = search.known.by_vector(rows[0], 3)[0]
            assert first[0] == other.id and first[1] == pytest.approx(1.0, abs=1e-5), "what was embedded a moment ago is found"
            assert kept(app).late is not None
            app.on_disk.write(reader)
        assert kept(app).late is None
        with app.reader() as reader:
            assert app.answering.search(reader).known.by_vector(rows[0], 3)[0] == first
            assert node.id not in {i for i, _ in app.answering.search(reader).known.by_vector(rows[1], 300)}, "what was deleted is not"
        app.write(lambda m: m.undo())
        app.write(lambda m: m.undo())
    monkeypatch.undo()
    with App(place, backends=Backends()) as app:  # type: ignore[arg-type]
        expected = [app.answering.search_nodes(q) for q in queries]
    monkeypatch.setattr(on_disk, "most_in_memory", lambda: 100)
    with App(place, backends=Backends()) as app:  # type: ignore[arg-type]
        assert [app.answering.search_nodes(q) for q in queries] == expected, "an edit that was taken back has its first vector again"
        kept(app)
        with app.reader() as reader:
            search = app.answering.search(reader).known
            expected_rows = search.by_vector(rows[0], 700)
            checking.drop_index(place / "vectors")  # as a forgetting elsewhere does, between two looks of one question
            assert isinstance(search.nearest, OnDisk) and search.by_vector(rows[0], 700)[:20] == [
                (i, pytest.approx(s, abs=1e-6)) for i, s in expected_rows[:20]
            ]
        app.write(lambda m: m.forget("Ann", "forget", proof.tighten, at=invented.AT))
        assert not (place / "vectors" / "vectors.lance").exists() and app.on_disk.index.near(rows[0], 3) is None


@pytest.mark.slow
def test_rows_that_take_the_numbers_of_removed_ones_are_written_too(tmp_path: Path, db: sqlite3.Connection) -> None:
    rows = invented.Invention(2).vectors(60)
    put(db, 0, rows[:40])
    index = VectorIndex(tmp_path / "vectors")
    index.sync(db, MODEL)
    db.execute("DELETE FROM embedding WHERE rowid > 20")
    db.execute("INSERT INTO commits VALUES (1, 'remove')")
    assert index.state_for(db) is None and index.problems(db) == []
    put(db, 40, rows[40:])
    assert index.state_for(db) is None, "the last row has the same number"
    state = index.sync(db, MODEL)
    assert state is not None and state.rows == 40 and index.problems(db) == [] and index.near(rows[50], 1) == ["episodic_50"]
    db.execute("DELETE FROM embedding WHERE rowid < 10")
    db.execute("INSERT INTO commits VALUES (2, 'forget')")
    put(db, 60, rows[:5])
    index.sync(db, MODEL)
    assert index.problems(db) == [] and (index.near(rows[0], 1) or [""])[0] == "episodic_60"


@pytest.mark.slow
def test_an_index_that_is_being_made_anew_is_not_asked(tmp_path: Path, db: sqlite3.Connection) -> None:
    rows = invented.Invention(2).vectors(60)
    put(db, 0, rows[:30])
    index = VectorIndex(tmp_path / "vectors")
    index.sync(db, MODEL)
    assert index.near(rows[3], 1, 30) == ["episodic_3"] and index.near(rows[3], 1, 31) is None
    assert index.state() is not None


def test_a_removed_source_is_in_no_index_and_what_comes_after_it_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "m.m3desk"
    with Memory.create(place) as memory:
        for name in "ab":
            given = memory.add_source(source(name))
            memory.plan_clips(given.id, clips(given.id), fps=5.0)
            for clip in memory.next_clips(given.id):
                remember(memory, clip, (1, 2))
        index = VectorIndex(place / "vectors")
        assert memory.index_vectors(index, "e5 1", lambda: False)
        memory.remove_source("s2")
        assert not (place / "vectors" / "vectors.lance").exists()
        with memory.snapshot() as db:
            index.sync(db, "e5 1")
        monkeypatch.setattr(checking, "drop_index", lambda _: None)  # killed before
        memory.remove_source("s1")
        given = memory.add_source(source("c"))
        memory.plan_clips(given.id, clips(given.id), fps=5.0)
        for clip in memory.next_clips(given.id):
            remember(memory, clip, (4, 5))
        assert memory.indexed(index) is None and memory.index_problems() == []
        assert memory.index_vectors(index, "e5 1", lambda: False) and memory.index_problems() == []
        ids, rows = memory.vectors("text")
        assert {*(index.near(rows[0], len(ids)) or ())} == set(ids)
