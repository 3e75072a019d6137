"""The folded state as rows: written beside the log in the same transaction, only where it changed, and compared by `check`."""

from __future__ import annotations

import sqlite3
from typing import Any

from m3desk.domain.sentences import State
from m3desk.store.rows import dump, person_body
from m3desk.store.schema import DERIVED

Key = tuple[Any, ...]
Tables = dict[str, dict[Key, tuple[Any, ...]]]


def tables(state: State) -> Tables:
    """Return a state as the rows of the `now_*` tables: table → key → row."""
    who = state.who
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in DERIVED}
    for id_, h in who.held.items():
        rows["now_observation"].append((id_, h.node, h.person, int(h.set_aside), h.step))
    for b in (b for many in who.bindings.values() for b in many):
        rows["now_binding"].append((b.observation, b.sequence, b.node, b.score, b.runner_up, b.margin, b.by, b.at, b.superseded))
    for n in state.nodes.values():
        spans = dump([[s.start, s.end, s.observations] for s in n.spans])
        rows["now_node"].append((
            n.id, n.weight, n.text, n.shown, n.tagged, spans, dump(n.people), dump(n.clips), dump(n.citations), n.topic, n.valid_until,
            int(n.pinned), int(n.deleted), int(n.stale), n.embedded, n.picture,
        ))  # fmt: skip
    for p in who.people.values():
        rows["now_person"].append((p.id, p.number, person_body(p)))
    rows["now_alias"] = [(alias, id_) for alias, id_ in who.canonical.items()]
    rows["now_edge"] = [(a, b, kind, weight) for (a, b, kind), weight in state.edges.items()]
    for e in who.equivalences.values():
        rows["now_equivalence"].append((e.a, e.b, e.face, e.voice, e.weight, dump(e.votes), int(e.accepted)))
    for many in who.constraints.values():
        rows["now_constraint"] += [(c.step, place, c.kind, c.a, c.b, c.by, c.state) for place, c in enumerate(many)]
    return {name: {row[: DERIVED[name]]: row for row in rows[name]} for name in DERIVED}


def stored(db: sqlite3.Connection) -> Tables:
    """Return the rows that the tables hold."""
    return {name: {tuple(r)[:keys]: tuple(r) for r in db.execute(f"SELECT * FROM {name}")} for name, keys in DERIVED.items()}


def write(db: sqlite3.Connection, old: Tables, new: Tables) -> None:
    """Turn the rows `old`, which the tables hold, into `new`."""
    for name, keys in DERIVED.items():
        before, after = old.get(name, {}), new[name]
        gone = [key for key in before if key not in after]
        changed = [row for key, row in after.items() if before.get(key) != row]
        columns = [r[1] for r in db.execute(f"PRAGMA table_info({name})")][:keys]
        if gone:
            db.executemany(f"DELETE FROM {name} WHERE " + " AND ".join(f"{c} = ?" for c in columns), gone)
        if changed:
            db.executemany(f"INSERT OR REPLACE INTO {name} VALUES ({', '.join('?' * len(changed[0]))})", changed)


def differences(stored_: Tables, folded: Tables) -> list[str]:
    """Say where the tables are not what the log makes of them."""
    found = []
    for name in DERIVED:
        a, b = stored_[name], folded[name]
        for key in sorted(a.keys() | b.keys(), key=str):
            if a.get(key) != b.get(key):
                found.append(f"{name}: {' '.join(str(k) for k in key)} is not what the log says")
    return found
