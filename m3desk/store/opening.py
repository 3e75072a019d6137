"""Opens the database of a memory, for reading or for writing by one process at a time; creates it or upgrades its format if needed."""

from __future__ import annotations

import contextlib
import shlex
import sqlite3
import time
from pathlib import Path

from m3desk import private
from m3desk.errors import MemoryBusy, MemoryMissing, MemoryProblem, UsageError
from m3desk.locks import FileLock, Locked
from m3desk.store import (
    backups,
    checking,
    place,
    schema,
)
from m3desk.store.forgetting import pending
from m3desk.store.ledger import unusable

FILE = place.FILE
WAIT = 10.0
"""Seconds to wait for a lock that somebody else holds."""

UPGRADE = 60.0
"""Seconds to wait while somebody else upgrades a memory's format: it is copied first, which takes long where it is large."""

RELEASE = 2.0
"""Seconds that a reader who has just upgraded a memory may take to close it and to let its lock go."""


def for_reading(folder: Path) -> sqlite3.Connection:
    """Open a memory's database. Raises MemoryMissing, MemoryTooNew, MemoryDamaged; MemoryBusy where an old one is open elsewhere."""
    place.check_file(folder)
    if not (folder / FILE).is_file():
        raise missing(folder)
    place.close(folder)
    db = connect(folder, write=False)
    try:
        version = schema.version_of(db, str(folder))
        place.check_tables(db, folder)
        if version < schema.VERSION:
            db.close()
            _upgrade(folder)
            db = connect(folder, write=False)
    except BaseException as error:
        db.close()
        if isinstance(error, schema.UNREADABLE):
            raise unusable(str(folder), error) from error
        raise
    return db


def _upgrade(folder: Path) -> None:
    """Bring a memory of an older format up to date, or wait until whoever opens it for writing has done so. Raises MemoryBusy."""
    try:
        other, lock = for_writing(folder, release=0.0)
    except MemoryBusy:
        if not _is_old(folder):  # done by its writer
            return
        raise
    other.close()
    lock.release()


def _is_old(folder: Path) -> bool:
    """Return whether a memory's format is older than ours."""
    with contextlib.closing(connect(folder, write=False)) as db:
        return schema.version_of(db, str(folder)) < schema.VERSION


def missing(folder: Path) -> MemoryMissing:
    """Return the error for a folder without a memory."""
    return MemoryMissing(
        f"there is no memory at {folder}.", f"Check the path, or make one: m3desk memorize VIDEO -m {shlex.quote(str(folder))}"
    )


def for_writing(folder: Path, release: float = RELEASE) -> tuple[sqlite3.Connection, FileLock]:
    """Open a memory's database as its only writer; create it if there is none. Raises MemoryBusy, MemoryTooNew, MemoryDamaged.

    Where what is left of a memory has no database, that is damage, never a new memory. Whoever has upgraded the format meanwhile
    gets `release` seconds to let the lock go.
    """
    if not folder.is_dir():
        private.folder(folder)
    lock = _only_writer(folder, release)
    db: sqlite3.Connection | None = None
    try:
        place.check_file(folder)
        if not (folder / FILE).exists():
            schema.make(private.file(folder / f"{FILE}.new"), folder / FILE)
        place.close(folder)
        pending.sweep(folder)
        db = connect(folder, write=True)
        version = schema.version_of(db, str(folder))
        place.check_tables(db, folder)
        if version < schema.VERSION:
            backups.keep(db, folder)
            schema.migrate(db, version)
    except BaseException as error:
        if db is not None:
            db.close()
        lock.release()
        if isinstance(error, schema.UNREADABLE):
            raise unusable(str(folder), error) from error
        raise
    return db, lock


def _only_writer(folder: Path, release: float = RELEASE) -> FileLock:
    """Return the lock of a memory's one writer; wait while somebody upgrades an older format, also a reader. Raises MemoryBusy."""
    until = time.monotonic() + UPGRADE
    patience = 0.0  # until when, by the same clock, the lock is still waited for though nothing is being upgraded
    while True:
        try:
            return FileLock(folder / "writer.lock")
        except Locked:
            now = time.monotonic()
            if now < until and _is_being_upgraded(folder):
                patience = now + release
            elif now >= patience:
                raise MemoryBusy(
                    f"another M3Desk is writing to {folder}.",
                    "Close it there, or wait until it is done. Commands that only read work meanwhile.",
                ) from None
        time.sleep(0.05)


def _is_being_upgraded(folder: Path) -> bool:
    """Return whether who holds the writer's lock is about to upgrade the format; False also where that can't be told."""
    try:
        return (folder / FILE).is_file() and _is_old(folder)
    except (MemoryProblem, *schema.UNREADABLE):
        return False


CACHE = 32_000
"""Page cache of a writer in KiB: twice what a correction of a person who is in every clip writes."""

CHECKPOINT = 4_000
"""Pages (16 MB) of the write-ahead log after which they are copied to where they belong: many are written again until then."""


def connect(folder: Path, *, write: bool) -> sqlite3.Connection:
    """Connect to the database of a folder. Raises MemoryProblem."""
    try:
        if write:
            db = sqlite3.connect(folder / FILE, isolation_level=None, check_same_thread=False, timeout=WAIT)
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # a commit that was told of outlives a power cut, not only a kill
            db.execute("PRAGMA foreign_keys = ON")
            db.execute(f"PRAGMA cache_size = {-CACHE}")
            db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
            return db
        uri = (folder / FILE).resolve().as_uri()
        db = sqlite3.connect(uri + "?mode=ro", uri=True, isolation_level=None, check_same_thread=False, timeout=WAIT)
        db.row_factory = sqlite3.Row
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            db.close()
            if schema.is_busy(error):
                raise
            # A folder we may not write to: nobody else can either, so the file stands still.
            db = sqlite3.connect(uri + "?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
            db.row_factory = sqlite3.Row
        return db
    except schema.UNREADABLE as error:
        raise unusable(str(folder), error) from error


def put_copy_back(path: Path | str) -> str:
    """Replace a damaged database by the last good copy; the damaged one is kept aside. Return the copy's date.

    Raises UsageError when nothing is damaged, MemoryDamaged when there is no good copy, MemoryBusy, MemoryProblem.
    """
    folder = Path(path)
    lock = _only_writer(folder)
    try:
        if place.damage(folder) is None:
            raise UsageError(f"nothing is wrong with the database of {folder}.", "So nothing was replaced.")
        copy = backups.restore(folder, FILE)
    except LookupError:
        raise place.damaged(folder, "its database does not read, and there is no good copy of it") from None
    except OSError as error:
        raise MemoryProblem(f"the copy could not be put back ({error.strerror or error}).", "Nothing was deleted; try again.") from error
    finally:
        lock.release()
    checking.drop_index(folder / "vectors")
    return backups.shown(copy)
