"""A database that is empty, garbage or missing is never treated as a new memory; its media stay, and its last good copy is restored."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from m3desk import private
from m3desk.errors import MemoryDamaged, MemoryMissing, UsageError
from m3desk.store import backups, opening, place, schema
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source

Harm = Callable[[Path], None]


def empty(folder: Path) -> None:
    (folder / "memory.sqlite").write_bytes(b"")


def garbage(folder: Path) -> None:
    (folder / "memory.sqlite").write_bytes(bytes(range(256)) * 40)


def gone(folder: Path) -> None:
    (folder / "memory.sqlite").unlink()


def cut(folder: Path) -> None:
    file = folder / "memory.sqlite"
    file.write_bytes(file.read_bytes()[:9000])


def another(folder: Path) -> None:
    gone(folder)
    with sqlite3.connect(folder / "memory.sqlite") as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
    db.close()


def scribbled(folder: Path) -> None:
    file = folder / "memory.sqlite"
    content = bytearray(file.read_bytes())
    content[4096 : 4096 * 6] = b"\xff" * (4096 * 5)
    file.write_bytes(content)


def unsaid(folder: Path) -> None:
    """Damage a table's name so that SQLite's own message about it is no UTF-8."""
    file = folder / "memory.sqlite"
    content = file.read_bytes()
    assert b"CREATE TABLE node" in content
    file.write_bytes(content.replace(b"CREATE TABLE node", b"CR\xa7ATE TABLE node"))


HARMS = [empty, garbage, gone, cut, another, scribbled, unsaid]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        for clip in made.next_clips("s1")[:2]:
            remember(made, clip, (1, 2))
    return tmp_path / "m.m3desk"


def media(folder: Path) -> list[str]:
    return sorted(p.name for p in (folder / "media").glob("*/*"))


@pytest.mark.parametrize("harm", HARMS[:5])
@pytest.mark.parametrize("copies", [True, False])
def test_no_new_memory_is_made_over_what_is_left_of_one(folder: Path, harm: Harm, copies: bool) -> None:
    before = media(folder)
    harm(folder)
    if not copies:
        shutil.rmtree(folder / "backup")
    for opened in (Memory.open_or_create, Memory.open, lambda f: Memory.open(f, write=True)):
        with pytest.raises(MemoryDamaged) as caught:
            opened(folder)
        assert ("--restore" in caught.value.hint) == copies and str(folder) in str(caught.value)
    assert media(folder) == before and len(before) == 6


def test_an_empty_file_alone_is_no_new_memory_but_an_empty_folder_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    empty(tmp_path / "a")
    with pytest.raises(MemoryDamaged, match="0 bytes"):
        Memory.open_or_create(tmp_path / "a")
    (tmp_path / "b").mkdir()
    with pytest.raises(MemoryMissing):
        Memory.open(tmp_path / "b")
    Memory.open_or_create(tmp_path / "b").close()
    Memory.open(tmp_path / "b").close()


def test_a_memory_whose_making_was_cut_off_is_made_by_the_next_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, place_of = schema.migrate, tmp_path / "m.m3desk"

    def cut_off(db: sqlite3.Connection, version: int) -> None:
        real(db, version)
        raise KeyboardInterrupt

    monkeypatch.setattr(schema, "migrate", cut_off)
    with pytest.raises(KeyboardInterrupt):
        Memory.open_or_create(place_of)
    assert not (place_of / "memory.sqlite").exists()
    monkeypatch.undo()
    Memory.open_or_create(place_of).close()
    assert not list(place_of.glob("*.new"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipes_in_the_place_of_database_copies_and_marks_make_nobody_wait(folder: Path) -> None:
    for name in ("backup/memory-20990101T000000000000.sqlite", "forgetting-2099.json", "media/ab/pipe.jpg"):
        (folder / name).parent.mkdir(exist_ok=True)
        os.mkfifo(folder / name)
    with Memory.open(folder, write=True) as memory:
        memory.correct("name", {"person": "1", "name": "Ann"})
        assert memory.begun() == [] and memory.integrity() == []
    gone(folder)
    os.mkfifo(folder / "memory.sqlite")
    with pytest.raises(MemoryDamaged, match="regular file"):
        Memory.open_or_create(folder)


@pytest.mark.parametrize("harm", HARMS)
def test_the_last_good_copy_takes_the_place_of_a_damaged_database(folder: Path, harm: Harm) -> None:
    with Memory.open(folder) as memory:
        before = (memory.people(), memory.memories(), memory.sources(), memory.journal())
    content = (folder / "memory.sqlite").read_bytes()
    harm(folder)
    harmed = (folder / "memory.sqlite").read_bytes() if (folder / "memory.sqlite").exists() else None
    assert harmed != content and place.damage(folder)
    opening.put_copy_back(folder)
    with Memory.open(folder, write=True) as memory:
        assert (memory.people(), memory.memories(), memory.sources(), memory.journal()) == before
        assert memory.integrity() == []
    kept = [p.read_bytes() for p in (folder / "damaged").iterdir() if p.name.endswith("memory.sqlite")]
    assert kept == ([] if harmed is None else [harmed])


def test_a_sound_database_is_not_replaced(folder: Path) -> None:
    with pytest.raises(UsageError, match="nothing is wrong"):
        opening.put_copy_back(folder)


def test_a_damaged_copy_is_passed_over_and_without_a_good_one_nothing_is_touched(folder: Path) -> None:
    with Memory.open(folder, write=True) as memory:
        memory.correct("name", {"person": "1", "name": "Ann"})
    newer, older = backups.copies(folder)
    newer.write_bytes(newer.read_bytes()[:5000])
    empty(folder)
    opening.put_copy_back(folder)
    with Memory.open(folder) as memory:
        assert [p.name for p in memory.people()] == [None, None]
    older.write_bytes(b"no")
    empty(folder)
    with pytest.raises(MemoryDamaged, match="no good copy"):
        opening.put_copy_back(folder)
    assert (folder / "memory.sqlite").read_bytes() == b""


def test_a_copy_is_kept_of_each_session_that_changed_something_and_two_stay(folder: Path) -> None:
    first = backups.copies(folder)
    Memory.open(folder, write=True).close()
    assert backups.copies(folder) == first and len(first) == 1
    for name in ("Ann", "Bea", "Cleo"):
        with Memory.open(folder, write=True) as memory:
            memory.correct("name", {"person": "1", "name": name})
    assert len(backups.copies(folder)) == 2
    with sqlite3.connect(backups.copies(folder)[0]) as db:
        assert "Cleo" in db.execute("SELECT group_concat(body) FROM now_person").fetchone()[0]
    db.close()


def test_a_large_memory_is_copied_once_an_hour(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "LARGE", 1000)
    before = backups.copies(folder)
    with Memory.open(folder, write=True) as memory:
        memory.correct("name", {"person": "1", "name": "Ann"})
    assert backups.copies(folder) == before
    monkeypatch.setattr(backups, "SPACED", -1.0)
    Memory.open(folder, write=True).close()
    assert len(backups.copies(folder)) == 2


def test_copies_of_a_clock_that_was_ahead_do_not_push_out_new_ones(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copy,) = backups.copies(folder)
    for year in (2098, 2099):
        ahead = copy.with_name(f"memory-{year}0101T000000000000.sqlite")
        shutil.copy(copy, ahead)
        os.utime(ahead, (4e9, 4e9))
    copy.unlink()
    monkeypatch.setattr(backups, "LARGE", 1000)
    for name in ("Ann", "Bea"):
        with Memory.open(folder, write=True) as memory:
            memory.correct("name", {"person": "1", "name": name})
        if name == "Ann":
            for made in backups.copies(folder):
                os.utime(made, (4e9, 4e9))
    assert [p for p in backups.copies(folder) if "2099" in p.name or "2098" in p.name] == []
    empty(folder)
    opening.put_copy_back(folder)
    with Memory.open(folder) as memory:
        assert memory.person("Bea").id == "person_1"


def test_restoring_that_is_cut_off_never_shows_a_database_without_its_journal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    moved: list[Path] = []
    replace = Path.replace

    def cut(path: Path, to: Path) -> Path:
        if moved:
            raise Killed
        moved.append(path)
        return replace(path, to)

    (folder / "memory.sqlite-wal").write_bytes(b"what was committed last")
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(Path, "replace", cut)
        backups.restore(folder, "memory.sqlite")
    with pytest.raises(MemoryDamaged, match="is missing"):
        Memory.open(folder)
    opening.put_copy_back(folder)
    with Memory.open(folder) as memory:
        assert memory.people()
    assert sorted(p.name.split("-", 1)[1] for p in (folder / "damaged").iterdir()) == ["memory.sqlite", "memory.sqlite-wal"]


def test_a_copy_is_kept_before_the_format_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(folder / "backup")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE later (a TEXT);"))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    Memory.open(folder).close()
    with sqlite3.connect(backups.copies(folder)[0]) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION - 1
    db.close()


def test_a_database_with_faults_does_not_push_out_good_copies(folder: Path) -> None:
    good = [p.read_bytes() for p in backups.copies(folder)]
    with Memory.open(folder, write=True) as memory:
        memory.correct("name", {"person": "1", "name": "Ann"})
        memory._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = memory._db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'object_seen'").fetchone()[0]
        with (folder / "memory.sqlite").open("r+b") as file:
            file.seek((root - 1) * 4096)
            file.write(b"\xff" * 4096)
        assert backups.keep(memory._db, folder) is None
    assert [p.read_bytes() for p in backups.copies(folder)] == good


def test_a_full_disk_leaves_no_half_copy_and_keeps_the_old_ones(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = [p.read_bytes() for p in backups.copies(folder)]

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(private, "settle", full)
    with Memory.open(folder, write=True) as memory:
        memory.correct("name", {"person": "1", "name": "Ann"})
    assert [p.read_bytes() for p in (folder / "backup").iterdir()] == good
    garbage(folder)
    with pytest.raises(Exception, match="could not be put back"):
        opening.put_copy_back(folder)
    assert (folder / "memory.sqlite").read_bytes()[:4] == bytes(range(4)) and not (folder / "damaged").exists()
    assert not list(folder.glob("*.part"))


def test_repair_deletes_no_media_by_a_database_that_never_named_any(folder: Path) -> None:
    before = media(folder)
    (folder / "backup").rename(folder.parent / "elsewhere")
    (folder / "media").rename(folder.parent / "media")
    gone(folder)
    shutil.rmtree(folder)
    Memory.create(folder).close()
    (folder.parent / "media").rename(folder / "media")
    with Memory.open(folder, write=True) as memory:
        memory.repair()
    assert media(folder) == before


def test_repair_keeps_what_a_replaced_database_may_name(folder: Path) -> None:
    with Memory.open(folder, write=True) as memory:
        (stray := folder / "media" / "ab").mkdir(exist_ok=True)
        (stray / "abc.jpg").write_bytes(b"of a later clip")
        memory.repair()
        assert "abc.jpg" not in media(folder)
    (stray / "abc.jpg").write_bytes(b"of a later clip")
    empty(folder)
    opening.put_copy_back(folder)
    with Memory.open(folder, write=True) as memory:
        memory.repair()
    assert "abc.jpg" in media(folder)
