"""Finds processes of earlier runs that outlived both the program and their guard, and ends them.

Each guard keeps a record of its processes with their start times (`guard.py`); a process that got the same id later has another start time
and is left alone. A record whose program still runs belongs to that program; one whose guard still runs is being ended by it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from m3desk import paths, private
from m3desk.children.guard import group_members, started

_SECONDS = 5.0


def folder() -> Path:
    """Return the folder of the records."""
    return paths.data_dir() / "cache" / "children"


def end_orphans() -> list[int]:
    """End the processes of earlier runs whose program and guard are gone; return their ids. Never raises."""
    ended: list[int] = []
    with contextlib.suppress(OSError):
        for file in folder().glob("*.json"):
            record = _read(file)
            if record is None or not (_same(record.get("program")) or _same(record.get("guard"))):
                ended += end_recorded(file, record)
    return ended


def end_recorded(file: Path, record: dict[str, Any] | None = None) -> list[int]:
    """End every process of a record that still runs, and delete the record; return their ids."""
    record = record or _read(file) or {}
    ended: list[int] = []
    until = time.monotonic() + _SECONDS
    while (running := _running(record)) and time.monotonic() < until:
        for pid in running:
            with contextlib.suppress(OSError):
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        ended += [pid for pid in running if pid not in ended]
        time.sleep(0.02)
    if not running:
        for old in (file, file.with_suffix(".new")):
            with contextlib.suppress(OSError):
                old.unlink()
    return ended


def used_by(name: str) -> list[int]:
    """Return the ids of the programs that have a process of this backend running, this program included."""
    found = set()
    with contextlib.suppress(OSError):
        for file in folder().glob("*.json"):
            record = _read(file)
            if record and record.get("name") == name and _running(record) and _same(record.get("program")):
                found.add(int(record["program"][0]))
    return sorted(found)


def _running(record: dict[str, Any]) -> list[int]:
    """Return the recorded processes that run, and what else is in their process group; not the guard."""
    known = [record.get("process"), *_list(record.get("members"))]
    found = [int(one[0]) for one in known if _same(one)]
    if found:  # a group that has a member of ours is ours: its number is not given again while it has members
        found += group_members(int(record["process"][0]))
    return list(dict.fromkeys(found))


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _same(noted: Any) -> bool:
    """Return whether a process that was noted as [id, start time] still runs."""
    try:
        pid, then = noted
        return isinstance(pid, int) and pid > 1 and isinstance(then, str) and started(pid) == then
    except (TypeError, ValueError):
        return False


def _read(file: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def new_record(token: str) -> Path:
    """Return the path of a new record; its folder exists. Raises OSError."""
    return private.folder(folder()) / f"{token}.json"
