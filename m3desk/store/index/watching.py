"""Records which rows a commit wrote or removed: triggers on the writer's connection fill a temporary table.

So code that writes does not have to report what it changed, and no change is missed. A projection that knows its own delta may make a
`Changed` of it instead.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from m3desk.domain.changed import MANY, Changed

DB = sqlite3.Connection

_NODE = "substr({row}.owner, 1, CASE instr({row}.owner, '@') WHEN 0 THEN length({row}.owner) ELSE instr({row}.owner, '@') - 1 END)"

WATCHED: tuple[tuple[str, str, str, str], ...] = (
    ("now_node", "nodes", "{row}.id", ""),
    ("node", "nodes", "{row}.id", ""),
    ("mention", "nodes", "{row}.node", ""),
    ("embedding", "vectors", _NODE, "{row}.kind = 'text'"),
    ("now_observation", "observations", "{row}.observation", ""),
    ("face_track", "observations", "{row}.id", ""),
    ("utterance", "observations", "{row}.id", ""),
    ("now_person", "people", "{row}.id", ""),
    ("now_chunk", "people", "{row}.owner", "{row}.owner GLOB 'person_*'"),
    ("now_chunk", "nodes", "{row}.owner", "{row}.owner NOT GLOB 'person_*' AND instr({row}.owner, ' ') = 0"),
    ("source", "sources", "{row}.id", ""),
    ("clip", "clips", "{row}.id", ""),
    ("now_edge", "edges", "{row}.a || char(31) || {row}.b || char(31) || {row}.kind", ""),
    ("journal", "steps", "{row}.step", ""),
    ("journal_mark", "steps", "{row}.step", ""),
)
"""Table, the list of a `Changed` that a row of it is put on, its id there, and a condition."""


def watch(db: DB) -> None:
    """Start to record what this connection writes. A rollback also rolls back the records."""
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("CREATE TEMP TABLE IF NOT EXISTS touched (kind TEXT, id TEXT, PRIMARY KEY (kind, id)) WITHOUT ROWID")
    for table, kind, id_, condition in WATCHED:
        for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            when = f"WHEN {condition.format(row=row)}" if condition else ""
            db.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS touched_{table}_{kind}_{event.lower()} AFTER {event} ON main.{table} {when} BEGIN "
                f"INSERT OR IGNORE INTO touched VALUES ('{kind}', {id_.format(row=row)}); END"
            )


def taken(db: DB, before: int, version: int) -> Changed:
    """Return and clear what was recorded since the last call."""
    if db.execute("SELECT count(*) FROM temp.touched").fetchone()[0] > MANY:
        changed = Changed(before, version, whole=True)
    else:
        ids: dict[str, set[Any]] = {}
        for kind, id_ in db.execute("SELECT kind, id FROM temp.touched"):
            ids.setdefault(kind, set()).add(tuple(id_.split("\x1f")) if kind == "edges" else id_)
        lists: dict[str, Any] = {kind: frozenset(found) for kind, found in ids.items()}
        changed = Changed(before, version, **lists)
    db.execute("DELETE FROM temp.touched")
    return changed
