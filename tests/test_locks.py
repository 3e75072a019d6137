"""A file lock has one holder, ends with its process, and says who holds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from m3desk import models
from m3desk.errors import DownloadError
from m3desk.locks import FileLock, Locked

HOLD = """
import sys
from pathlib import Path
from m3desk.locks import FileLock
lock = FileLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_lock_is_held_by_one_and_can_be_had_after_its_release(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock") as first:
        with pytest.raises(Locked):
            FileLock(tmp_path / "lock")
        first.release()
        with FileLock(tmp_path / "lock"), pytest.raises(Locked):
            FileLock(tmp_path / "lock")
    FileLock(tmp_path / "lock").release()


def test_a_killed_process_leaves_no_lock_and_who_waits_gets_it(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(Locked):
            FileLock(tmp_path / "lock")
    finally:
        other.kill()
    with FileLock(tmp_path / "lock", wait=True), pytest.raises(Locked):
        FileLock(tmp_path / "lock")
    other.communicate()


def test_a_folder_that_is_not_there_is_no_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "gone" / "lock")


def test_who_downloads_second_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3DESK_MODELS", str(tmp_path))
    monkeypatch.setattr(models, "_check_room", lambda _needed: None)
    held = models.folder() / models._CACHE
    held.mkdir(parents=True)
    with FileLock(held / "lock"), pytest.raises(DownloadError, match="Another M3Desk is downloading"):
        models.pull(["dlib-resnet"])
