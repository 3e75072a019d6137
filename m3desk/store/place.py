"""The folder of a memory: its files, private to their user, and the signs that a memory was here if its database is missing."""

from __future__ import annotations

import contextlib
import shlex
import sqlite3
from itertools import islice
from pathlib import Path

from m3desk import events, private
from m3desk.errors import MemoryDamaged
from m3desk.store import backups, files, schema, waveforms

FILE = "memory.sqlite"
MEDIA = "media"
INDEX = "vectors"

_FOLDERS = frozenset({MEDIA, INDEX, backups.FOLDER, backups.ASIDE, waveforms.FOLDER})
_FILES = (FILE, "writer.lock", "forgetting-")
"""Prefix of the names of a memory's files."""
_TABLES = frozenset({"meta", "commits", "source", "clip", "node", "journal"})
_QUICK = 16 << 20
"""Bytes of a database that are read in less than a tenth of a second."""
_MANY = 100_000
"""Most media files that are counted."""


def close(folder: Path) -> None:
    """Close a memory to other users, what an older version made too; in a folder that also holds other things, our own parts alone."""
    try:
        inside = list(folder.iterdir())
    except OSError:
        return
    files = [p for p in inside if p.name.startswith(_FILES)]
    folders = [p for p in inside if p.name in _FOLDERS]
    if len(files) + len(folders) == len(inside):
        private.close(folder)
        return
    for p in folders:
        private.close(p)
    for p in files:
        private.close_file(p)


def remains(folder: Path) -> list[str]:
    """Return the signs in a folder, besides the database, that a memory is or was here, as text."""
    found = []
    if count := sum(1 for _ in islice(files.stored(folder / MEDIA), _MANY)):
        found.append(f"{count} pictures and sounds" if count > 1 else "a picture or sound")
    if any((folder / INDEX / name).exists() for name in ("vectors.lance", "sentences.lance")):
        found.append("a search index")
    if (folder / f"{FILE}-wal").is_file() and (folder / f"{FILE}-wal").stat().st_size:
        found.append("the journal of a database")
    if backups.copies(folder):
        found.append("copies of its database")
    return found


def _listed(parts: list[str]) -> str:
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else parts[0]


def check_file(folder: Path) -> None:
    """Raise MemoryDamaged if the database is missing where a memory was, or can't be one; SQLite would create a new one."""
    file = folder / FILE
    if not file.is_file():
        if file.exists():
            raise damaged(folder, f"its database {FILE} is no regular file")
        if held := remains(folder):
            raise damaged(folder, f"its database {FILE} is missing, but the folder holds {_listed(held)}")
        return
    # Never open it here: closing a handle drops all locks that SQLite has on it in this process (sqlite.org/howtocorrupt.html, 2.2).
    if not file.stat().st_size:
        held = remains(folder)
        raise damaged(folder, f"its database {FILE} is empty (0 bytes)" + (f", but the folder holds {_listed(held)}" if held else ""))


def check_tables(db: sqlite3.Connection, folder: Path) -> None:
    """Raise MemoryDamaged if the file is a database but not of a memory."""
    if not {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} >= _TABLES:
        raise damaged(folder, f"its database {FILE} holds no memory (tables are missing)")


def damaged(folder: Path, what: str) -> MemoryDamaged:
    """Return the error for a damaged memory, which says how to get it back."""
    return MemoryDamaged(f"the memory at {folder} is damaged: {what}.", hint(folder))


def unreadable(folder: Path, error: sqlite3.DatabaseError | UnicodeDecodeError) -> MemoryDamaged:
    """Return the error for a database that SQLite can't read."""
    if schema.code(error) == sqlite3.SQLITE_NOTADB:
        return damaged(folder, f"its database {FILE} is no SQLite file")
    told = "names in it are damaged" if isinstance(error, UnicodeDecodeError) else error
    return MemoryDamaged(f"the database of {folder} does not read: {told}.", hint(folder))


def hint(folder: Path) -> str:
    """Say what to do about a damaged database."""
    if found := backups.copies(folder):
        return f"The last good copy is of {backups.shown(found[0])}. Put it in place: m3desk check --restore -m {shlex.quote(str(folder))}"
    return "There is no copy of it here. Put memory.sqlite back from a backup of your own, or memorize again into a new folder."


def damage(folder: Path, *, thorough: bool = True) -> str | None:
    """Return what is wrong with the database itself, in words, None when it reads and SQLite finds no fault in it.

    `thorough`: read all of it, however large; else only where that takes a moment.
    """
    try:
        check_file(folder)
        file = folder / FILE
        if not file.is_file():
            return f"there is no {FILE}"
        with contextlib.closing(_reading(file)) as db:
            check_tables(db, folder)
            return backups.faults(db) if thorough or file.stat().st_size <= _QUICK else None
    except MemoryDamaged as error:
        return str(error)
    except sqlite3.OperationalError as error:
        return None if schema.is_busy(error) or schema.is_write_failure(error) else str(error)
    except schema.UNREADABLE as error:
        return str(unreadable(folder, error))


def _reading(file: Path) -> sqlite3.Connection:
    uri = file.resolve().as_uri()
    db = sqlite3.connect(uri + "?mode=ro", uri=True, timeout=10.0)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:  # where nothing may be written (a disc), its journal can't be opened beside it
        db.close()
        return sqlite3.connect(uri + "?mode=ro&immutable=1", uri=True)
    return db


def examine(folder: Path, *, thorough: bool = True) -> events.Damaged | None:
    """Return what is wrong with a memory's database and which copy could take its place; None when nothing is, or there is no memory."""
    if not folder.is_dir() or not ((folder / FILE).is_file() or remains(folder)):
        return None
    text = damage(folder, thorough=thorough)
    return events.Damaged(str(folder), text, next(map(backups.shown, backups.copies(folder)), "")) if text else None


__all__ = ["FILE", "INDEX", "MEDIA", "check_file", "check_tables", "close", "damage", "damaged", "examine", "hint", "remains", "unreadable"]
