"""Deletes a memory that holds nothing: one that was made for a live source which could not begin."""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

from m3desk.errors import MemoryBusy, MemoryProblem
from m3desk.store import opening

WAIT = 10.0
"""Seconds that the engine which had it open may take to close it."""

_ALWAYS = ("meta", "commits", "source", "sqlite_sequence")
"""Tables with rows in a memory that holds nothing: of a live source without a recording, or that was removed again."""

_HOLDS = ("SELECT 1 FROM source WHERE state <> 'live' LIMIT 1", "SELECT 1 FROM commits WHERE kind <> 'remove' LIMIT 1")


def discard(folder: Path) -> bool:
    """Delete a memory that holds nothing; return whether it is gone. One that holds anything, or stays open elsewhere, stays."""
    if not (folder / opening.FILE).is_file():
        return False
    until = time.monotonic() + WAIT
    while True:
        try:
            db, lock = opening.for_writing(folder)
            break
        except MemoryBusy:
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
        except MemoryProblem:
            return False
    with lock:
        with contextlib.closing(db):
            tables = [t for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if t not in _ALWAYS]
            holds = any(db.execute(q).fetchone() for q in (*_HOLDS, *(f'SELECT 1 FROM "{t}" LIMIT 1' for t in tables)))
        files = [f for part in ("media", "recordings") for f in (folder / part).rglob("*") if f.is_file()]
        if holds or files:
            return False
        shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
