"""The state of a whole memory, computed from a snapshot by any thread while its writer goes on, then committed in one short transaction.

Rows can be added to the log of the snapshot first: they go into temporary tables in front of the memory's own. `Ledger.take` commits them.
Must not know: why the state is computed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from m3desk.domain.log import Log
from m3desk.domain.projection.projection import Projection
from m3desk.domain.sentences import State
from m3desk.store import derived, rows
from m3desk.store.ledger import last_sequence, projected

DB = sqlite3.Connection

Going = Callable[[int, int], None]
"""Called between the parts of long work with how many are done and how many there are; may raise to end it."""

GROWING = ("clip-episodic", "clip-ruled", "clip-semantic", "consolidation", "correction", "revert", "undo", "redo")
"""Kinds of commits that only add rows to the log. After any other, what was computed from an earlier snapshot is of no use."""

ADDED_TO = ("commits", "node", "binding", "vote")
"""The tables of the log to which rows can be added; `meta` is copied, too, for its counters and settings."""

PARTS = 4
"""Parts of a computation: reading the log, the state, comparing it with the derived tables, committing."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A computed state. `since`: the last commit of its snapshot; `added`: table → rows to add to the log; `settings`: rows of `meta`."""

    since: int
    projection: Projection
    added: Mapping[str, Sequence[tuple[Any, ...]]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    changes: derived.Changes = field(default_factory=dict)

    def fits(self, db: DB, new: Sequence[Any]) -> bool:
        """Return whether this state can still be committed, where `new` are the rows of later commits.

        A state with rows of its own fits only the log that it was computed from: its commits are numbered. A later commit takes the next
        number even if it has no rows (a clip without semantic memories).
        """
        marks = ", ".join("?" * len(GROWING))
        query = f"SELECT 1 FROM commits WHERE sequence > ? AND kind NOT IN ({marks}) LIMIT 1"
        if db.execute(query, (self.since, *GROWING)).fetchone() is not None:
            return False
        return last_sequence(db) == self.since if self.added else self.projection.can_extend(new)

    def write(self, db: DB) -> None:
        """Write what differs from the snapshot."""
        for table, many in self.added.items():
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(many[0]))})", many)
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", self.settings.items())
        derived.apply(db, self.changes)


def whole(db: DB, going: Going) -> Recomputed:
    """Compute the state from the log as it is. `db`: inside a read transaction."""
    going(0, PARTS)
    since, log = last_sequence(db), list(rows.load(db))
    going(1, PARTS)
    made = projected(log)
    going(2, PARTS)
    changes = derived.changes(derived.stored(db), derived.tables(made.state))
    going(3, PARTS)
    return Recomputed(since, made, changes=changes)


class Extended:
    """A snapshot to whose log rows are added. `db`: inside a read transaction, at whose end they are gone."""

    def __init__(self, db: DB) -> None:
        self.db, self.since = db, last_sequence(db)
        self._before = projected(rows.load(db))
        self._after: Projection | None = None
        self._loaded = self.since
        for table in (*ADDED_TO, "meta"):
            (made,) = db.execute("SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
            db.execute(made.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
            db.execute(f"INSERT INTO temp.{table} SELECT * FROM main.{table}")
        last = "(SELECT seq FROM main.sqlite_sequence WHERE name = 'commits')"  # a number is never used twice
        db.execute(f"UPDATE temp.sqlite_sequence SET seq = {last} WHERE name = 'commits' AND seq < {last}")

    @property
    def before(self) -> State:
        """The state of the snapshot."""
        return self._before.state

    @property
    def log(self) -> Log:
        """The log of the snapshot."""
        return self._before.log

    def after(self) -> State:
        """Return the state with all rows that were added so far."""
        if self._after is None:
            self._after = projected(rows.load(self.db))
        elif new := list(rows.load(self.db, self._loaded)):
            self._after.extend(new)
            self._after.settle()
        self._loaded = last_sequence(self.db)
        return self._after.state

    def recomputed(self) -> Recomputed:
        """Return the state with all rows that were added, to be committed."""
        state = self.after()
        assert self._after is not None
        found = {
            t: [tuple(r) for r in self.db.execute(f"SELECT * FROM temp.{t} EXCEPT SELECT * FROM main.{t}")] for t in (*ADDED_TO, "meta")
        }
        settings = {str(key): str(value) for key, value in found.pop("meta")}
        changes = derived.changes(derived.stored(self.db), derived.tables(state))
        return Recomputed(self.since, self._after, {t: sorted(many) for t, many in found.items() if many}, settings, changes)
