"""Which rows a commit wrote or removed, noted by SQLite itself: triggers of the writer's connection fill a temporary table.

So nobody who writes has to say what changed, and nothing that was written is missed. A projection that knows its own delta may make a
`Changed` of it instead.
"""

from __future__ import annotations

import sqlite3

from m3desk.domain.changed import MANY, Changed

DB = sqlite3.Connection

_NODE = "substr({row}.owner, 1, CASE instr({row}.owner, '@') WHEN 0 THEN length({row}.owner) ELSE instr({row}.owner, '@') - 1 END)"

WATCHED: tuple[tuple[str, str, str, str], ...] = (
    ("now_node", "sentence", "{row}.id", ""),
    ("node", "sentence", "{row}.id", ""),
    ("mention", "sentence", "{row}.node", ""),
    ("embedding", "vector", _NODE, "{row}.kind = 'text'"),
    ("now_observation", "observation", "{row}.observation", ""),
    ("face_track", "observation", "{row}.id", ""),
    ("utterance", "observation", "{row}.id", ""),
    ("now_chunk", "sentence", "{row}.owner", ""),
    ("now_person", "people", "''", ""),
    ("now_chunk", "people", "''", "{row}.owner GLOB 'person_*'"),
    ("source", "clips", "''", ""),
    ("clip", "clips", "''", ""),
)
"""Table, what a row of it stands for, the id that is noted, and a condition."""

_LISTED = ("sentence", "vector", "observation")


def watch(db: DB) -> None:
    """Begin to note what this connection writes. A rollback takes the notes back too."""
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
    """Return what was noted since the last call, and forget it."""
    count = {str(r[0]): int(r[1]) for r in db.execute("SELECT kind, count(*) FROM temp.touched GROUP BY kind")}
    whole = sum(count.get(kind, 0) for kind in _LISTED) > MANY
    ids: dict[str, set[str]] = {kind: set() for kind in _LISTED}
    if not whole:
        for kind, id_ in db.execute("SELECT kind, id FROM temp.touched WHERE id != ''"):
            ids[kind].add(id_)
    db.execute("DELETE FROM temp.touched")
    if whole:
        return Changed(before, version, whole=True)
    sentences, vectors, observations = (frozenset(ids[kind]) for kind in _LISTED)
    return Changed(before, version, sentences, vectors, observations, "people" in count, "clips" in count)
