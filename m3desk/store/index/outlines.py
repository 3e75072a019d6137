"""Reads what search needs: outlines of sentences, their embeddings, and who is seen and heard when; of all rows or of some."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from m3desk.domain.clear_speech import are_unclear
from m3desk.domain.evidence import Floats
from m3desk.domain.memory import Outline
from m3desk.domain.people import Observed

DB = sqlite3.Connection

_AT_ONCE = 500
"""Ids of one query: SQLite takes up to 999 in old versions."""

_BATCH = 8_192
"""Vectors given out at a time: 12 MB of 384 numbers."""

_OUTLINES = """SELECT n.id, t.type, n.text, coalesce(t.clip, ''), coalesce(t.source, ''), coalesce(t.start, 0), coalesce(t."end", 0),
n.weight, n.people, t.event, n.valid_until, n.stale, n.pinned, CASE t.event WHEN 'says' THEN n.citations END
FROM now_node n JOIN node t ON t.id = n.id WHERE t.type IN ('episodic', 'semantic') AND NOT n.deleted"""

_THINGS = "SELECT m.node, e.content FROM mention m JOIN node e ON e.id = m.entity"


@lru_cache(maxsize=10_000)
def _ids(text: str) -> tuple[str, ...]:
    """Return a JSON list of ids; the same few casts come again and again, so they are the same object."""
    return tuple(json.loads(text))


def outlines(db: DB, ids: Collection[str] | None = None) -> Iterator[Outline]:
    """Yield the outlines of all sentences in force, or of those of `ids` that are; in no particular order."""
    for only, values in _parts(ids, "n.id"):
        things: dict[str, list[str]] = {}
        mentioned = only.replace("AND n.id", "WHERE m.node")
        for node, label in db.execute(f"{_THINGS} {mentioned} ORDER BY m.node, m.place", values):
            things.setdefault(node, []).append(label)
        for r in db.execute(f"{_OUTLINES} {only}", values):
            cites = tuple(json.loads(r[13])) if r[13] else ()
            held = tuple(things.get(r[0], ()))
            ended, stale, pinned = bool(r[10]), bool(r[11]), bool(r[12])
            yield Outline(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], _ids(r[8]), held, r[9], ended, stale, pinned, cites)


def text_vectors(db: DB, model: str, ids: Collection[str] | None = None) -> Iterator[tuple[list[str], Floats]]:
    """Yield ids and (n, d) float32 rows of sentences in force by a text model, thousands at a time; of all, or of `ids`."""
    query = "SELECT n.id, e.d, e.vectors FROM now_node n JOIN embedding e ON e.owner = n.embedded AND e.model = ? WHERE e.kind = 'text'"
    names: list[str] = []
    blocks: list[bytes] = []
    width = 0
    for only, values in _parts(ids, "n.id"):
        for id_, d, content in db.execute(f"{query} AND NOT n.deleted {only}", (model, *values)):
            if len(content) != 4 * d or (names and d != width) or len(names) == _BATCH:
                if names:
                    yield names, _rows(blocks, width)
                names, blocks = [], []
                if len(content) != 4 * d:
                    continue
            width = d
            names.append(id_)
            blocks.append(content)
    if names:
        yield names, _rows(blocks, width)


def embedded_since(db: DB, model: str, row: int) -> set[str]:
    """Return the ids of sentences embedded by a text model after a row of the table of embeddings."""
    query = "SELECT owner FROM embedding WHERE kind = 'text' AND model = ? AND rowid > ?"
    return {str(r[0]).partition("@")[0] for r in db.execute(query, (model, row))}


_OBSERVED = """SELECT t.id, t.clip, t.source, t.start, t."end", o.node, o.person, {words}, {confidence} FROM {table} t
JOIN now_observation o ON o.observation = t.id WHERE o.person IS NOT NULL AND NOT o.set_aside"""


def observed(db: DB, ids: Collection[str] | None = None) -> list[Observed]:
    """Return the face tracks, and the utterances with words, that belong to somebody and count: of all, or of `ids`; in no order."""
    found: list[Observed] = []
    for table, words, confidence in (("face_track", "NULL", "0"), ("utterance", "t.text", "t.confidence")):
        query = _OBSERVED.format(table=table, words=words, confidence=confidence)
        for only, values in _parts(ids, "t.id"):
            rows = db.execute(f"{query} {only}", values)
            found += (Observed._make((*row[:8], row[7] is not None and are_unclear(row[7], row[8]))) for row in rows)
    return [o for o in found if o.words is None or o.words.strip()]


def _rows(blocks: Sequence[bytes], width: int) -> Floats:
    return np.frombuffer(b"".join(blocks), "<f4").reshape(len(blocks), width)


def _parts(ids: Collection[str] | None, column: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield an addition to a query and its values: nothing for all, else some ids at a time."""
    if ids is None:
        yield "", ()
        return
    wanted = sorted(ids)
    for at in range(0, len(wanted), _AT_ONCE):
        part = tuple(wanted[at : at + _AT_ONCE])
        yield f"AND {column} IN ({', '.join('?' * len(part))})", part
