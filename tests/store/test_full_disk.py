"""A disk that takes no more is told as such, from the first byte on, and never called damage."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from m3desk.errors import MemoryDamaged, MemoryProblem
from m3desk.store import ledger, place
from m3desk.store.memory import Memory

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
from m3desk.errors import MemoryProblem
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source
try:
    with Memory.open_or_create(sys.argv[1]) as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"), fps=5.0)
        for clip in memory.next_clips("s1"):
            remember(memory, clip, (1, 2))
except MemoryProblem as error:
    print(type(error).__name__, error, error.hint)
"""
Usage = namedtuple("Usage", "total used free")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
@pytest.mark.parametrize("limit", [150_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (20_000, 60_000, 400_000))])
def test_a_limit_on_the_size_of_files_is_told_and_no_damage_found(tmp_path: Path, limit: int) -> None:
    """The limits meet creation, the schema, the journal and a commit."""
    where = tmp_path / "m.m3desk"
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(where), str(limit)], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert ran.stdout.startswith("MemoryProblem ") and "can't be written" in ran.stdout and "restore" not in ran.stdout
    with Memory.open_or_create(where) as memory:
        assert memory.integrity() == []


def test_what_sqlite_calls_an_io_error_is_a_full_disk_where_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.create(tmp_path / "m.m3desk"):
        pass

    class Full(sqlite3.OperationalError):
        sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE

    def connect(*_: object, **__: object) -> None:
        raise Full("disk I/O error")

    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(300_000, 300_000, 0))
    error = ledger.unusable(str(tmp_path / "m.m3desk"), Full("disk I/O error"))
    assert "is full" in str(error) and not isinstance(error, MemoryDamaged)
    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(MemoryProblem, match="is full"):
        Memory.open_or_create(tmp_path / "m.m3desk")
    assert place.damage(tmp_path / "m.m3desk") is None
