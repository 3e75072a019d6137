"""Backups of a memory's database, in the memory's own folder: the last two good copies.

A copy is made at the end of a session that changed something, and before the format is upgraded. Only a database that passes SQLite's own
check counts as good, so a damaged one never replaces a good copy. Forgetting a person deletes all copies, and makes a new one when it is
done. Media files are not copied: they are named by their content and never change.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path

from m3desk import private
from m3desk.store import cells

log = logging.getLogger(__name__)

FOLDER = "backup"
ASIDE = "damaged"
"""Folder of damaged databases that were replaced by a copy."""

KEPT = 2
LARGE = 64 << 20
"""Bytes from which a database is copied once in `SPACED` seconds at most: below it a copy takes less than a second."""
SPACED = 3600.0


def copies(folder: Path) -> list[Path]:
    """Return a memory's copies, newest first."""
    with contextlib.suppress(OSError):
        return sorted((p for p in (folder / FOLDER).glob("memory-*.sqlite") if p.is_file()), reverse=True)
    return []


def shown(copy: Path) -> str:
    """Return a copy's date as people read it, UTC."""
    with contextlib.suppress(ValueError):
        return datetime.strptime(copy.stem[7:22], "%Y%m%dT%H%M%S").strftime("%Y-%m-%d %H:%M:%S UTC")
    return copy.stem


def changes(db: sqlite3.Connection) -> int:
    """Return how many writes a memory has seen."""
    row = db.execute("SELECT value FROM meta WHERE key = 'changes'").fetchone()
    return int(row[0]) if row else 0


def due(db: sqlite3.Connection, folder: Path) -> bool:
    """Return whether something was written since the last copy, and a large memory's is old enough."""
    written = changes(db)
    if not written:
        return False
    found = copies(folder)
    if not found:
        return True
    size = int(db.execute("PRAGMA page_count").fetchone()[0]) * int(db.execute("PRAGMA page_size").fetchone()[0])
    if size > LARGE and 0 <= time.time() - found[0].stat().st_mtime < SPACED:  # below 0: of a clock that was ahead
        return False
    return _changes_of(found[0]) != written


def keep(db: sqlite3.Connection, folder: Path) -> Path | None:
    """Copy a database; return the copy, or None when it could not be made or has faults (then the older ones stay). Never fails."""
    part: Path | None = None
    try:
        place = private.folder(folder / FOLDER)
        _sweep(place)
        final = place / datetime.now(UTC).strftime("memory-%Y%m%dT%H%M%S%f.sqlite")
        part = private.file(final.with_suffix(f".{os.getpid()}.part"))
        to = sqlite3.connect(part, isolation_level=None)
        try:
            to.execute("PRAGMA synchronous = OFF")  # it is waited for once, below, and is nothing before it has its name
            to.execute("PRAGMA journal_mode = OFF")
            db.backup(to)
            to.execute("PRAGMA journal_mode = DELETE")  # one file, whatever opens it
            wrong = faults(to)
        finally:
            to.close()
        if wrong:
            log.error("no copy of %s was kept: it has faults: %s", folder, wrong)
            part.unlink()
            return None
        private.settle(part)
        part.replace(final)
        others = sorted((c for c in copies(folder) if c != final), key=lambda c: c.name > final.name)
        for old in others[KEPT - 1 :]:  # first those of a clock that was ahead: they would be taken for the newest for years
            old.unlink(missing_ok=True)
        return final
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        log.warning("no copy of %s could be kept: %s", folder, error)
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        return None


def drop(folder: Path) -> int:
    """Delete all copies, and damaged databases that copies replaced; return how many that were. Raises OSError."""
    found = 0
    for place in (folder / FOLDER, folder / ASIDE):
        if place.is_dir():
            found += sum(p.is_file() for p in place.rglob("*"))
            shutil.rmtree(place)
    return found


def restore(folder: Path, file: str) -> Path:
    """Replace a memory's database `file` by the newest copy without faults; the old file is kept aside. Return the copy.

    The caller holds the writer's lock. Raises LookupError when there is no good copy, OSError.
    """
    for copy in copies(folder):
        if readable(copy):
            break
    else:
        raise LookupError
    new = private.file(folder / f"{file}.restored.part")
    try:
        shutil.copyfile(copy, new)
        private.settle(new)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    aside = private.folder(folder / ASIDE)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    for ending in ("", "-wal", "-shm", "-journal"):  # the database first: without its journal it would read, and lack what is in that
        old = folder / (file + ending)
        if old.exists():
            old.replace(aside / f"{stamp}-{file}{ending}")
    new.replace(folder / file)
    private.settle(folder)
    return copy


def readable(copy: Path) -> bool:
    """Return whether a copy reads and SQLite finds no fault in it."""
    try:
        with contextlib.closing(sqlite3.connect(copy.resolve().as_uri() + "?mode=ro&immutable=1", uri=True)) as db:
            return faults(db) is None and changes(db) >= 0
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def faults(db: sqlite3.Connection) -> str | None:
    """Return what SQLite finds wrong with a database's pages (it reads all of them), or a damaged cell; None for nothing."""
    found = [str(r[0]) for r in db.execute("PRAGMA quick_check(3)") if r[0] != "ok"]
    return "; ".join(" ".join(f.split()) for f in found) or cells.first_of_truth(db)


def _changes_of(copy: Path) -> int | None:
    try:
        with contextlib.closing(sqlite3.connect(copy.resolve().as_uri() + "?mode=ro&immutable=1", uri=True)) as db:
            return changes(db)
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def _sweep(place: Path) -> None:
    """Delete the partial file of an interrupted copy."""
    for part in place.glob("*.part*"):
        with contextlib.suppress(OSError):
            part.unlink()


__all__ = ["ASIDE", "FOLDER", "changes", "copies", "drop", "due", "faults", "keep", "readable", "restore", "shown"]
