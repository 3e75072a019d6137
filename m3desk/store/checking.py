"""The checks of `m3desk check`: SQLite's own, derived tables against a full fold, evidence against clip states, media against names."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from m3desk.domain.sentences import fold
from m3desk.store import backups, cells, derived, files, rows, schema
from m3desk.store.index.vectors import VectorIndex

DB = sqlite3.Connection


def integrity(db: DB, media: Path) -> list[str]:
    """Return everything that is wrong, in words."""
    found = [r[0] for r in db.execute("PRAGMA integrity_check") if r[0] != "ok"]
    found += [f"{r[0]}: a row refers to a {r[2]} that is not there" for r in db.execute("PRAGMA foreign_key_check")]
    if found := found or cells.damaged(db):
        return found  # a damaged file can't be folded
    found += derived.differences(derived.stored(db), derived.tables(fold(rows.full_log(db))))
    for table in schema.EVIDENCE:
        query = f"SELECT DISTINCT clip FROM {table} WHERE clip NOT IN (SELECT id FROM clip WHERE state IN ('episodic', 'done', 'enrolled'))"
        found += [f"{table}: {r[0]} has evidence but was not committed" for r in db.execute(query)]
    query = "SELECT id FROM clip WHERE state IN ('episodic', 'done') AND id NOT IN (SELECT clip FROM commits WHERE kind = 'clip-episodic')"
    found += [f"clip {r[0]} counts as memorized but has no commit" for r in db.execute(query)]
    if not imported_without_media(db):
        found += files.damaged(media, named_media(db))
    return found


def holds_its_media(db: DB, folder: Path) -> bool:
    """Say whether this database can tell which media files nothing needs: it reads without a fault, has seen commits, and is no copy that
    took the place of a damaged one (which may name files of later clips, and is kept aside).
    """
    whole = backups.faults(db) is None and not any(db.execute("PRAGMA foreign_key_check"))
    seen = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'commits'").fetchone()
    return whole and seen is not None and seen[0] > 0 and not (folder / backups.ASIDE).exists()


def imported_without_media(db: DB) -> bool:
    """Return whether this memory came from an export that had no media beside it."""
    row = db.execute("SELECT value FROM meta WHERE key = 'imported_without_media'").fetchone()
    return row is not None and row[0] == "1"


def named_media(db: DB) -> list[str]:
    """Return the ids of all crops, sounds and thumbnails that rows name."""
    ids: set[str] = set()
    for r in db.execute("SELECT crops FROM face_track"):
        ids.update(json.loads(r[0]))
    ids.update(r[0] for r in db.execute("SELECT audio FROM utterance WHERE audio IS NOT NULL"))
    ids.update(r[0] for r in db.execute("SELECT thumbnail FROM clip WHERE thumbnail IS NOT NULL"))
    return sorted(ids)


def index_problems(db: DB, folder: Path) -> list[str]:
    """Return how the index of vectors differs from what it says it holds. None there, or one that is behind, is no fault."""
    return VectorIndex(folder).problems(db) if folder.is_dir() else []


def drop_index(folder: Path) -> None:
    """Delete the index of vectors; it is rebuilt from the database when it is needed."""
    VectorIndex(folder).drop()
