"""ONNX Runtime's telemetry files are removed once; files of other programs stay."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from m3desk import leftovers

GUID = "4939ea8d-0ae1-03e3-7b85-eeabe354afe2"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the layout of these files on Linux")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a user's cache folder as ONNX Runtime 1.31.1 leaves it, with the session file in its own temporary folder."""
    folder = tmp_path / "cache" / "Microsoft" / "DeveloperTools" / ".onnxruntime"
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "onnxruntime.db") as database:
        database.execute("CREATE TABLE events (payload BLOB)")
        database.execute("INSERT INTO events VALUES (?)", (b"\x03$" + GUID.encode(),))
    database.close()
    (folder / "deviceid").write_text("aed628cb-f575-47d7-b53f-a4c73003b7e1")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / ".ses").write_text(f"1795317603531\n{GUID}\n")
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(leftovers.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    return tmp_path / "cache"


def test_all_of_it_goes_and_the_empty_folders_with_it(cache: Path) -> None:
    assert len(leftovers.remove_once()) == 3
    assert list(cache.iterdir()) == [] and list((cache.parent / "tmp").iterdir()) == []


def test_where_the_program_has_never_run_the_files_are_another_programs_and_stay(cache: Path) -> None:
    (cache.parent / "data").rmdir()
    for _ in range(2):
        assert leftovers.remove_once() == []
        (cache.parent / "data").mkdir(exist_ok=True)  # by the command that runs
        assert len(list((cache / "Microsoft" / "DeveloperTools" / ".onnxruntime").iterdir())) == 2


def test_it_is_done_once(cache: Path) -> None:
    (cache / "Microsoft" / "DeveloperTools" / ".onnxruntime" / "deviceid").unlink()
    assert len(leftovers.remove_once()) == 2
    later = cache / "Microsoft" / "DeveloperTools" / ".onnxruntime"
    later.mkdir(parents=True)
    (later / "onnxruntime.db").write_bytes(b"SQLite format 3\0")
    assert leftovers.remove_once() == [] and (later / "onnxruntime.db").is_file()


def test_files_of_other_programs_stay(cache: Path) -> None:
    shared = cache / "Microsoft" / "DeveloperTools"
    (shared / "deviceid").write_text("of the .NET tools")
    (shared / ".onnxruntime" / "olive.db").write_bytes(b"of Olive")
    leftovers.remove_once()
    assert (shared / "deviceid").read_text() == "of the .NET tools"
    assert sorted(f.name for f in (shared / ".onnxruntime").iterdir()) == ["deviceid", "olive.db"]


@pytest.mark.parametrize("text", ["1795317603531\n00000000-0000-0000-0000-000000000000\n", f"{GUID}\n", "my own session\n"])
def test_a_session_file_that_is_not_proven_to_be_its_own_stays(cache: Path, text: str) -> None:
    session = cache.parent / "tmp" / ".ses"
    session.write_text(text)
    leftovers.remove_once()
    assert session.read_text() == text


def test_a_link_in_its_place_is_not_followed(cache: Path) -> None:
    session = cache.parent / "tmp" / ".ses"
    target = cache.parent / "mine"
    session.rename(target)
    session.symlink_to(target)
    folder = cache / "Microsoft" / "DeveloperTools" / ".onnxruntime"
    elsewhere = cache.parent / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    leftovers.remove_once()
    assert target.is_file() and session.is_symlink() and len(list(elsewhere.iterdir())) == 2


def test_a_file_of_that_name_that_is_no_database_stays(cache: Path) -> None:
    database = cache / "Microsoft" / "DeveloperTools" / ".onnxruntime" / "onnxruntime.db"
    database.write_text("notes")
    assert leftovers.remove_once() == [] and database.read_text() == "notes"
