"""The derived tables (`now_*`): the projection as rows, written with the log in one transaction, only where it changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from m3desk.domain.sentences import NodeNow, State
from m3desk.store.rows import dump, dump_ids, last_items, person_body
from m3desk.store.schema import CHUNK, DERIVED

Key = tuple[Any, ...]
Row = tuple[Any, ...]
DerivedTables = dict[str, dict[Key, Row]]
Changes = dict[str, tuple[list[Key], list[Row]]]
"""Table → keys of rows to delete, and rows to write."""


def _held(id_: str, h: Any) -> Iterator[Row]:
    yield id_, h.node, h.person, int(h.set_aside), h.step


def _bindings(_: str, many: Any) -> Iterator[Row]:
    for b in many:
        yield b.observation, b.sequence, b.node, b.score, b.runner_up, b.margin, b.by, b.at, b.superseded


def _node(_: str, n: Any) -> Iterator[Row]:
    spans = dump([[s.start, s.end, s.observations] for s in n.spans]) if n.spans else "[]"
    yield (
        n.id, n.weight, n.text, n.shown, n.tagged, spans, dump_ids(n.people), dump_ids(last_items(n.clips)), dump(n.citations), n.topic,
        n.valid_until, int(n.pinned), int(n.deleted), int(n.stale), n.embedded, n.picture,
    )  # fmt: skip


def _person(_: str, p: Any) -> Iterator[Row]:
    yield p.id, p.number, person_body(p)


def _alias(alias: str, id_: Any) -> Iterator[Row]:
    yield alias, id_


def _edge(edge: tuple[str, str, str], weight: Any) -> Iterator[Row]:
    yield *edge, weight


def _equivalence(_: tuple[str, str], e: Any) -> Iterator[Row]:
    yield e.a, e.b, e.face, e.voice, e.weight, dump(last_items(e.votes)), int(e.accepted)


def _constraints(_: int, many: Any) -> Iterator[Row]:
    for place, c in enumerate(many):
        yield c.step, place, c.kind, c.a, c.b, c.by, c.state


_ROWS: Mapping[str, tuple[str, Callable[[Any, Any], Iterator[Row]]]] = {
    "held": ("now_observation", _held), "bindings": ("now_binding", _bindings), "nodes": ("now_node", _node),
    "people": ("now_person", _person), "canonical": ("now_alias", _alias), "edges": ("now_edge", _edge),
    "equivalences": ("now_equivalence", _equivalence), "constraints": ("now_constraint", _constraints),
}  # fmt: skip
"""Part of a state (`domain.projection`) → its table, and the rows of one of its keys."""


_GROWING: Mapping[str, Callable[[Any], tuple[str, tuple[Any, ...]]]] = {
    "nodes": lambda n: (n.id, n.clips), "people": lambda p: (p.id, p.clips), "equivalences": lambda e: (f"{e.a} {e.b}", e.votes),
}  # fmt: skip
"""Part of a state → returns the owner and the items of a list that grows with every clip."""


def _chunks(part: str, thing: Any, since: int = 0) -> Iterator[Row]:
    """Yield the full chunks of a growing list, from a chunk on."""
    owner, items = _GROWING[part](thing)
    for place in range(since, len(items) // CHUNK):
        yield owner, place, dump(items[place * CHUNK : (place + 1) * CHUNK])


def tables(state: State) -> DerivedTables:
    """Return a state as the rows of the `now_*` tables: table → key → row."""
    who = state.who
    parts: dict[str, Mapping[Any, Any]] = {
        "held": who.held, "bindings": who.bindings, "nodes": state.nodes, "people": who.people, "canonical": who.canonical,
        "edges": state.edges, "equivalences": who.equivalences, "constraints": who.constraints,
    }  # fmt: skip
    found: DerivedTables = {}
    for part, held in parts.items():
        name, rows = _ROWS[part]
        found[name] = {row[: DERIVED[name]]: row for key, value in held.items() for row in rows(key, value)}
    found["now_chunk"] = {row[:2]: row for part in _GROWING for thing in parts[part].values() for row in _chunks(part, thing)}
    return found


def stored(db: sqlite3.Connection) -> DerivedTables:
    """Return the rows that the tables hold."""
    return {name: {tuple(r)[:keys]: tuple(r) for r in db.execute(f"SELECT * FROM {name}")} for name, keys in DERIVED.items()}


def write(db: sqlite3.Connection, old: DerivedTables, new: DerivedTables) -> None:
    """Replace the rows `old` of the tables by `new`."""
    for name in DERIVED:
        _write(db, name, old.get(name, {}), new[name])


def write_changes(db: sqlite3.Connection, changes: Mapping[str, Mapping[Any, tuple[Any, Any]]]) -> None:
    """Write the changes of a state (`domain.projection.Delta.tables`)."""
    for part, changed in changes.items():
        name, rows = _ROWS[part]
        keys = DERIVED[name]
        old: dict[Key, Row] = {}
        new: dict[Key, Row] = {}
        if part == "nodes":
            changed = _reworded(db, changed)
        if part in _GROWING:
            _write_chunks(db, part, changed.values())
        for key, (before, after) in changed.items():
            if before is not None and (after is None or part in ("bindings", "constraints")):
                old |= {row[:keys]: row for row in rows(key, before)}
            if after is not None:
                new |= {row[:keys]: row for row in rows(key, after)}
        _write(db, name, old, new)


def _write_chunks(db: sqlite3.Connection, part: str, changed: Iterable[tuple[Any, Any]]) -> None:
    """Write the full chunks that changed, mostly none or one."""
    old: dict[Key, Row] = {}
    new: dict[Key, Row] = {}
    for before, after in changed:
        was = _GROWING[part](before)[1] if before is not None else ()
        now = _GROWING[part](after)[1] if after is not None else ()
        full = len(was) // CHUNK
        if was is now or (full == 0 and len(now) < CHUNK):
            continue
        same = full if full == 0 or now[: len(was)] == was or now[: full * CHUNK] == was[: full * CHUNK] else 0
        if same == full == len(now) // CHUNK:
            continue
        if before is not None:
            old |= {row[:2]: row for row in _chunks(part, before, same)}
        if after is not None:
            new |= {row[:2]: row for row in _chunks(part, after, same)}
    _write(db, "now_chunk", old, new)


_BUT_WORDS = attrgetter(*(f.name for f in fields(NodeNow) if f.name not in ("shown", "tagged", "people")))
"""Returns the fields of a node except the names and persons it shows."""


def _reworded(db: sqlite3.Connection, changed: Mapping[Any, tuple[Any, Any]]) -> Mapping[Any, tuple[Any, Any]]:
    """Write the nodes of which only persons or names changed; return the other changes."""
    rest: dict[Any, tuple[Any, Any]] = {}
    rows: list[Row] = []
    for key, (before, after) in changed.items():
        if before is not None and after is not None and _BUT_WORDS(before) == _BUT_WORDS(after):
            rows.append((after.shown, after.tagged, dump_ids(after.people), after.id))
        else:
            rest[key] = before, after
    db.executemany("UPDATE now_node SET shown = ?, tagged = ?, people = ? WHERE id = ?", rows)
    return rest


def changes(old: DerivedTables, new: DerivedTables) -> Changes:
    """Return what must be written so that the tables hold `new` where they hold `old`."""
    return {name: _change(old.get(name, {}), new[name]) for name in DERIVED}


def apply(db: sqlite3.Connection, changed: Changes) -> None:
    """Write changes of the tables."""
    for name, (gone, rows) in changed.items():
        _apply(db, name, gone, rows)


def _write(db: sqlite3.Connection, name: str, before: Mapping[Key, Row], after: Mapping[Key, Row]) -> None:
    _apply(db, name, *_change(before, after))


def _change(before: Mapping[Key, Row], after: Mapping[Key, Row]) -> tuple[list[Key], list[Row]]:
    return [key for key in before if key not in after], [row for key, row in after.items() if before.get(key) != row]


def _apply(db: sqlite3.Connection, name: str, gone: Sequence[Key], changed: Sequence[Row]) -> None:
    if gone:
        columns = [r[1] for r in db.execute(f"PRAGMA table_info({name})")][: DERIVED[name]]
        db.executemany(f"DELETE FROM {name} WHERE " + " AND ".join(f"{c} = ?" for c in columns), gone)
    if changed:
        db.executemany(f"INSERT OR REPLACE INTO {name} VALUES ({', '.join('?' * len(changed[0]))})", changed)


def differences(stored_: DerivedTables, folded: DerivedTables) -> list[str]:
    """Return the differences between the tables and a full fold of the log."""
    return list(_differences(stored_, folded))


def _differences(stored_: DerivedTables, folded: DerivedTables) -> Iterable[str]:
    for name in DERIVED:
        a, b = stored_[name], folded[name]
        for key in sorted(a.keys() | b.keys(), key=str):
            if a.get(key) != b.get(key):
                yield f"{name}: {' '.join(str(k) for k in key)} is not what the log says"
