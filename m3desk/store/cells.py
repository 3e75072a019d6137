"""Finds damaged cells: database values that this program can't have written, by the column types of `domain.shape`.

SQLite can read a file without an error that still holds text where a number belongs. `check` lists such cells; after a read that fails
they are looked for too, so that the user reads "the memory is damaged" and where, and a bug of this program is still reported as a bug.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

DB = sqlite3.Connection

WRONG = (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError, AssertionError)
"""Errors that a value of the wrong type can cause."""

CHUNK = 500
"""Rows looked at together."""

MOST = 20
"""Findings told of one table; the rest are counted."""

REBUILT = " (m3desk check --repair rebuilds it)"


def damaged(db: DB) -> list[str]:
    """Return what is wrong, in words: table and row, column, what was expected. First the authoritative tables, then the derived ones."""
    return [*_damaged(db), *(text + REBUILT for text in _damaged_projection(db))]


def first_of_truth(db: DB) -> str | None:
    """Return one fault in the authoritative tables, None without any. A database of an older format is fine as it is."""
    return next(iter(_damaged(db, 1)), None)


def first_of_projection(db: DB) -> str | None:
    """Return one fault in the derived tables, None without any."""
    return next(iter(_damaged_projection(db)), None)


def _damaged(db: DB, most: int = 0) -> list[str]:
    from m3desk.domain import shape

    found: list[str] = []
    with _readable(db):
        there = {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in shape.TABLES.keys() & there if most else ():
            found += islice(_of_table(db, table, shape.TABLES[table]), most)
            if found:
                return found
        for table, types in ({} if most else shape.TABLES).items():
            found += _of_table(db, table, types)
        found += islice(_apart_from_types(db), most or None)
    return found


def _damaged_projection(db: DB) -> list[str]:
    from m3desk.domain import shape

    with _readable(db):
        return [text for table, types in shape.DERIVED.items() for text in _of_table(db, table, types)]


@contextlib.contextmanager
def _readable(db: DB) -> Iterator[None]:
    """Let texts that are no UTF-8 be read, as what they are: damaged."""
    before = db.text_factory
    db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        db.text_factory = before


def _of_table(db: DB, table: str, types: Mapping[str, Any]) -> Iterator[str]:
    from m3desk.domain.shape import wrong

    cursor = db.execute(f"SELECT * FROM {table}")
    columns = [d[0] for d in cursor.description]
    if unknown := [c for c in columns if c not in types]:
        yield f"{table} has a column {unknown[0]} that this version does not know"
        return
    key = [i for i, c in enumerate(columns) if c in KEYS.get(table, columns[:1])]
    found = 0
    while rows := [tuple(r) for r in cursor.fetchmany(CHUNK)]:
        while rows and (at := wrong(types, columns, rows)) is not None:
            found += 1
            if found <= MOST:
                yield f"{table} {_name(rows[at.row], key)}: {at.column}: {at.text}"
            del rows[: at.row + 1]
    if found > MOST:
        yield f"{table}: {found - MOST} more rows are damaged"


KEYS: Mapping[str, tuple[str, ...]] = {
    "apart": ("a", "b"), "span": ("node", "start"), "citation": ("node", "place"), "mention": ("node", "place"),
    "embedding": ("owner", "model"), "now_binding": ("observation", "sequence"), "now_edge": ("a", "b", "kind"),
    "now_equivalence": ("a", "b"), "now_constraint": ("step", "place"), "now_chunk": ("owner", "place"),
}  # fmt: skip
"""By what a table's rows are named; else by their first column."""


def _name(row: Sequence[Any], key: Sequence[int]) -> str:
    text = " ".join(str(row[i])[:80] for i in key)
    return "".join(c if c.isprintable() else "?" for c in text)


def _apart_from_types(db: DB) -> Iterator[str]:
    """Yield what is wrong between cells: ends before starts, ids that don't fit together, steps that say too little, numbers of vectors."""
    for query, text in RULES:
        for r in db.execute(query):
            yield text.format(*(_name(r, [i]) for i in range(len(r))))
    yield from _vectors(db)
    yield from _loops(db)
    yield from _steps(db)


RULES = (
    ('SELECT id FROM clip WHERE "end" < start', "clip {0} ends before it starts"),
    ("SELECT id FROM clip WHERE id != source || '.c' || number", "clip {0} has another place than its id says"),
    ('SELECT id FROM face_track WHERE "end" < start', "face_track {0} ends before it starts"),
    ('SELECT id FROM utterance WHERE "end" < start', "utterance {0} ends before it starts"),
    *(
        (f"SELECT id FROM {t} WHERE substr(id, 1, length(clip) + 2) != clip || '.{letter}'",
         f"{t} {{0}} is of another clip than its id says")
        for t, letter in (("face_track", "f"), ("utterance", "u"))
    ),
    *(
        (f"SELECT a.id, a.replaces FROM {t} a WHERE replaces IS NOT NULL AND replaces NOT IN (SELECT id FROM {t})",
         f"{t} {{0}} stands in the place of {{1}}, which is not there")
        for t in ("face_track", "utterance")
    ),
    ("SELECT id FROM node WHERE id != type || '_' || number", "node {0} has another type or number than its id says"),
    ("SELECT id FROM node WHERE type IN ('face', 'voice') AND person IS NULL", "node {0} is of no person"),
    ("SELECT id FROM node WHERE type IN ('episodic', 'semantic') AND (start IS NULL OR \"end\" IS NULL OR language IS NULL)",
     "node {0} lacks its times or language"),
    ("SELECT id, observation FROM binding WHERE observation NOT IN (SELECT id FROM face_track UNION SELECT id FROM utterance)",
     "binding {0} is of {1}, which is not there"),
    ("SELECT node FROM span WHERE \"end\" < start", "a span of {0} ends before it starts"),
    ("SELECT key, value FROM meta WHERE (key = 'changes' OR key GLOB 'last_*')"
     " AND (value = '' OR value GLOB '*[^0-9]*' OR length(value) > 15)",
     "meta {0}: a whole number was expected, not “{1}”"),
    ("SELECT m.key, m.value FROM meta m WHERE m.key = 'last_node' AND CAST(m.value AS INTEGER) < (SELECT max(number) FROM node)",
     "meta {0} is {1}, less than the number of the last node"),
)  # fmt: skip
"""A query for rows that can't be right, and the text for such a row."""


def _vectors(db: DB) -> Iterator[str]:
    for r in db.execute("SELECT owner, model, n, d, vectors FROM embedding"):
        owner, n, d, data = _name(r, [0]), r[2], r[3], r[4]
        if not isinstance(data, bytes) or not isinstance(n, int) or not isinstance(d, int):
            continue  # told of already
        if len(data) != n * d * 4:
            yield f"embedding of {owner} has {len(data)} bytes"
        elif not np.isfinite(np.frombuffer(data, "<f4")).all():
            yield f"embedding of {owner} holds what is no number"


def _loops(db: DB) -> Iterator[str]:
    from m3desk.domain.shape import loops

    for table in ("face_track", "utterance"):
        found = {r[0]: r[1] for r in db.execute(f"SELECT id, replaces FROM {table} WHERE replaces IS NOT NULL")}
        if (turning := loops(found)) is not None:
            yield f"{table} {_name([turning], [0])} stands, over others, in its own place"


def _steps(db: DB) -> Iterator[str]:
    from m3desk.domain.shape import needed
    from m3desk.store import rows

    for r in db.execute("SELECT * FROM journal ORDER BY step"):
        with contextlib.suppress(*WRONG):  # told of already
            step = rows.step(r)
            if (lacks := needed(step.kind, step.args)) is not None:
                yield f"journal {step.step}: the step “{step.kind}” lacks {lacks}"
