"""Lists that grow with every clip are stored in chunks: commits never rewrite a whole list, readers see all of it, older memories too."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from m3desk.store import derived, reading, schema
from m3desk.store.memory import FILE, Memory
from m3desk.store.rows import dump, earlier
from tests.store.invented import clips, remember, source
from tests.store.random_corrections import state_tables

CLIPS = 2 * schema.CHUNK + 3


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory in which one person is seen and heard in every clip, and a thing is named in each."""
    path = tmp_path_factory.mktemp("grown") / "m.m3desk"
    with Memory.create(path) as made:
        made._db.execute("PRAGMA synchronous = OFF")
        made.set_setting("imported_without_media", "1")
        made.plan_clips(made.add_source(source(seconds=30 * (CLIPS + 1))).id, clips("s1", CLIPS + 1), fps=5.0)
        for clip in made.next_clips("s1")[:CLIPS]:
            remember(made, clip, (1,))
    return path


def test_no_commit_writes_a_long_list_anew_and_readers_see_it_whole(grown: Path) -> None:
    whole = [f"s1.c{i}" for i in range(CLIPS)]
    with Memory.open(grown) as memory, memory.snapshot() as db:
        assert [len(json.loads(r[0])) for r in db.execute("SELECT clips FROM now_node WHERE id LIKE 'face_%'")] == [3]
        assert {len(items) for items in earlier(db).values()} == {2 * schema.CHUNK}
        (person,) = memory.people()
        assert list(person.clips) == whole == list(memory.person("1").clips)
        assert memory.node(person.faces[0]).extra["clips"] == whole
        (cup,) = (n for n in memory.things() if n.label == "cup")
        assert cup.extra["clips"] == whole
        assert next(n for n in memory.graph().nodes if n.id == cup.id).extra["clips"] == whole
        (equivalence,) = memory.equivalences()
        assert len(equivalence.votes) == CLIPS and isinstance(equivalence.votes[0], tuple)
        assert memory.integrity() == []


def test_a_list_that_loses_or_gains_items_in_its_middle_is_written_right(grown: Path, tmp_path: Path) -> None:
    path = _copy(grown, tmp_path)
    with Memory.open(path, write=True) as memory:
        memory.correct("split", {"person": "1", "clip": "s1.c5"})
        assert len(memory.person("1").clips) == CLIPS - 1
        state_tables(memory)
        memory.undo()
        state_tables(memory)
        remember(memory, memory.next_clips("s1")[0], (1,))
        assert len(memory.person("1").clips) == CLIPS + 1
        memory.correct("exclude", {"observation": "s1.c0.f0", "person": "1"})
        state_tables(memory)
        mine = memory.state().who.of_person("person_1")
        memory.correct("split", {"person": "1", "observations": [o for o in mine if not o.startswith("s1.c7.")]})  # no full chunk is left
        assert memory.person("1").clips == ("s1.c7",)
        state_tables(memory)


def test_a_memory_of_the_format_before_is_brought_up_to_date(grown: Path, tmp_path: Path) -> None:
    path = _copy(grown, tmp_path)
    with Memory.open(path) as memory, memory.snapshot() as db:
        people, equivalences, held = memory.everybody(), reading.equivalences(db), derived.stored(db)
    db = sqlite3.connect(path / FILE, isolation_level=None)
    db.row_factory = sqlite3.Row
    before = earlier(db)
    for r in db.execute("SELECT id, clips FROM now_node").fetchall():
        db.execute("UPDATE now_node SET clips = ? WHERE id = ?", (dump([*before.get(r["id"], ()), *json.loads(r["clips"])]), r["id"]))
    for r in db.execute("SELECT id, body FROM now_person").fetchall():
        body = json.loads(r["body"])
        body[11] = [*before.get(r["id"], ()), *body[11]]
        db.execute("UPDATE now_person SET body = ? WHERE id = ?", (dump(body), r["id"]))
    for r in db.execute("SELECT a, b, votes FROM now_equivalence").fetchall():
        votes = [*before.get(f"{r['a']} {r['b']}", ()), *json.loads(r["votes"])]
        db.execute("UPDATE now_equivalence SET votes = ? WHERE a = ? AND b = ?", (dump(votes), r["a"], r["b"]))
    db.execute("DROP TABLE now_chunk")
    db.execute("DROP TABLE clip_limit")
    db.execute("PRAGMA user_version = 4")
    db.close()
    with Memory.open(path) as memory, memory.snapshot() as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION
        assert memory.everybody() == people and reading.equivalences(db) == equivalences
        assert derived.differences(derived.stored(db), held) == []
        assert memory.integrity() == []


def _copy(grown: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(grown, tmp_path / "m.m3desk"))
