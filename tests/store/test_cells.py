"""Damaged cells in a readable database are findings of `check`, never a fault of the program."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from m3desk import cli
from m3desk.bench.hostile import invented
from m3desk.domain import shape
from m3desk.errors import MemoryDamaged
from m3desk.interop import doctor, exports
from m3desk.store import cells
from m3desk.store.memory import Memory


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return invented.make(tmp_path_factory.mktemp("sound") / "m.m3desk")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "m.m3desk"))


def damage(folder: Path, table: str, column: str, value: Any) -> None:
    db = sqlite3.connect(folder / "memory.sqlite", isolation_level=None)
    key = db.execute(f"PRAGMA table_info({table})").fetchone()[1]
    query = f'UPDATE {table} SET "{column}" = ? WHERE "{key}" = (SELECT min("{key}") FROM {table})'
    assert db.execute(query, (value,)).rowcount
    db.close()


DAMAGE = [
    ("face_track", "start", "x", "start: a whole number was expected, not text"),
    ("face_track", "quality", "good", "quality: a number was expected, not text"),
    ("face_track", "boxes", "[[1, 2]]", r"boxes\[0\]: 5 values were expected, not 2"),
    ("face_track", "boxes", "[[1,", "boxes: broken JSON"),
    ("face_track", "end", -5, "ends before it starts"),
    ("utterance", "words", "{}", "words: a list was expected, not an object"),
    ("utterance", "text", b"\xff\xfe", "text: text was expected, not bytes"),
    ("utterance", "replaces", "s1.c0.u99", "stands in the place of s1.c0.u99, which is not there"),
    ("clip", "state", "asleep", "“asleep” is none of"),
    ("clip", "start", float("inf"), "start: "),
    ("node", "person", 3, "person: “3” is no id of this kind"),
    ("binding", "score", "high", "score: a number was expected, not text"),
    ("vote", "weight", float("inf"), "weight: a finite number|weight: a number up to"),
    ("journal", "args", '{"person": 7, "name": "Ann"}', "args: person: text was expected, not a number"),
    ("journal", "args", "{}", "the step “name” lacks person"),
    ("journal", "kind", "dance", "“dance” is none of"),
    ("embedding", "vectors", b"\xff\xff\xff\xff" * 384, "holds what is no number"),
    ("embedding", "vectors", b"123", "has 3 bytes"),
    ("chat", "body", "[]", "body: an object was expected, not a list"),
    ("now_person", "body", "[1, 2]", "body.* --repair rebuilds it"),
    ("now_node", "spans", "x", "spans: broken JSON .*--repair"),
]


@pytest.mark.parametrize(("table", "column", "value", "told"), DAMAGE)
def test_a_damaged_cell_is_a_finding_and_no_command_calls_it_a_fault(
    folder: Path, capsys: pytest.CaptureFixture[str], table: str, column: str, value: Any, told: str
) -> None:
    damage(folder, table, column, value)
    assert cli.main(["check", "-m", str(folder)]) == 1
    assert re.search(f"integrity: .*({told})", capsys.readouterr().out)
    for command in (["people", "list"], ["people", "suggestions"], ["memories", "list"], ["export", "-o", "-"], ["journal"]):
        code = cli.main([*command, "-m", str(folder)])
        said = capsys.readouterr().err
        assert code == 0 or (said.count("\n") == 1 and "a fault of M3Desk" not in said and "is damaged" in said), command


@pytest.mark.slow
def test_what_can_be_made_anew_is_made_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(folder, "now_person", "body", '["x"]')
    with Memory.open(folder) as memory, pytest.raises(MemoryDamaged) as told:
        memory.people()
    assert "check --repair" in told.value.hint
    del told  # what was raised holds on to the reading that failed
    assert cli.main(["check", "--repair", "-m", str(folder)]) == 0, capsys.readouterr()
    with Memory.open(folder) as memory:
        assert memory.people()


def test_a_mistake_of_the_program_stays_one_where_no_cell_is_damaged(folder: Path) -> None:
    with pytest.raises(TypeError, match="mine"), Memory.open(folder) as memory, memory.snapshot():
        raise TypeError("mine")
    damage(folder, "face_track", "start", "x")
    with pytest.raises(MemoryDamaged), Memory.open(folder) as memory, memory.snapshot():
        raise TypeError("theirs")


def test_every_table_has_its_shape(folder: Path) -> None:
    db = sqlite3.connect(folder / "memory.sqlite")
    tables = {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} - {"sqlite_sequence"}
    known = {**shape.TABLES, **shape.DERIVED}
    assert tables == known.keys()
    for table in tables:
        assert [r[1] for r in db.execute(f"PRAGMA table_info({table})")] == list(known[table]), table
    assert cells.damaged(db) == []


@pytest.mark.slow
def test_random_damage_is_never_a_fault(sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(5)
    values = ("x", "", -1, 1e308, float("inf"), None, b"\xff\x00", "[]", "{}", "[[1,2]]", '{"a":', "s9.c9.f9", 2**62, 0, "null", "[null]")
    for round_ in range(40):
        folder = Path(shutil.copytree(sound, tmp_path / str(round_)))
        db = sqlite3.connect(folder / "memory.sqlite", isolation_level=None)
        table = chance.choice([*shape.TABLES, *shape.DERIVED])
        columns = [r[1] for r in db.execute(f"PRAGMA table_info({table})")]
        done = (table, chance.choice(columns), chance.choice(values))
        try:
            db.execute(
                f'UPDATE OR IGNORE {table} SET "{done[1]}" = ? WHERE "{columns[0]}" = (SELECT "{columns[0]}" FROM {table})', done[2:]
            )
        except sqlite3.IntegrityError:
            continue
        finally:
            db.close()
        with Memory.open(folder) as memory:
            report = doctor.check(memory)
            for read in (memory.people, memory.suggestions, memory.memories, memory.graph, lambda m=memory: exports.export_json(m)):
                try:
                    read()
                except MemoryDamaged:
                    assert report["integrity"], done
        shutil.rmtree(folder)
