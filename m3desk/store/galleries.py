"""The galleries (embeddings) of all face and voice nodes: read from the database, and kept between commits by the writer."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Mapping, Sequence

from m3desk.domain.galleries import GrowingGallery
from m3desk.domain.identities import Identities
from m3desk.domain.identity import Gallery
from m3desk.domain.ids import numbered
from m3desk.domain.log import ObservationType
from m3desk.domain.sentences import State
from m3desk.store import rows
from m3desk.store.rows import dump

DB = sqlite3.Connection
GalleryLookup = Callable[[ObservationType, str], Sequence[Gallery]]
"""Returns the galleries of a type by a model."""

_QUERIES: Mapping[str, str] = {
    type_: f"""SELECT e.*, {good} AS good, t."end" - t.start AS duration, t.rowid AS place
        FROM embedding e JOIN {table} t ON t.id = e.owner WHERE e.kind = '{type_}' AND e.model = ?1"""
    for type_, table, good in (("face", "face_track", "t.quality"), ("voice", "utterance", "1 - 0.5 * t.overlapped"))
}


def galleries(
    db: DB, state: State, type_: ObservationType, model: str, *, only: str | None = None, without: Container[str] = ()
) -> list[Gallery]:
    """Return the gallery of each face or voice node for a model, by the bindings in force in `state`.

    `only`: of this node. `without`: as if these observations were set aside.
    """
    found: dict[str, GrowingGallery] = {}
    query, values = _QUERIES[type_], [model]
    if only is not None:
        query += " AND e.owner IN (SELECT value FROM json_each(?2))"
        values.append(dump([o for o, held in state.who.held.items() if held.node == only]))
    for r in db.execute(query + " ORDER BY t.rowid", values):
        now = state.who.held.get(r["owner"])
        if now is not None and now.node is not None and r["owner"] not in without and only in (None, now.node):
            _add(found.setdefault(now.node, GrowingGallery(type_)), r)
    return [grown.gallery(node, state.who.person_of[node]) for node, grown in found.items()]


def shown(db: DB, type_: ObservationType, model: str) -> list[Gallery]:
    """Return the same as `galleries`, from the derived tables: for a reader, which does not fold the log."""
    found: dict[str, GrowingGallery] = {}
    owner: dict[str, str] = {}
    query = f"""SELECT g.*, o.node AS node, o.person AS person FROM ({_QUERIES[type_]}) g
        JOIN now_observation o ON o.observation = g.owner WHERE o.node IS NOT NULL ORDER BY g.place"""
    for r in db.execute(query, (model,)):
        _add(found.setdefault(r["node"], GrowingGallery(type_)), r)
        owner[r["node"]] = r["person"]
    return [grown.gallery(node, owner[node]) for node, grown in found.items()]


def _add(grown: GrowingGallery, row: sqlite3.Row) -> None:
    grown.add(row["place"], rows.vectors(row), row["good"], row["duration"])


class Galleries:
    """The galleries of a ledger's state, updated incrementally."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[ObservationType, str], dict[str, GrowingGallery]] = {}
        self._more: dict[tuple[ObservationType, str], dict[str, list[str]]] = {}
        self._stale: dict[tuple[ObservationType, str], set[str]] = {}
        self._touched: set[str] = set()

    def move(self, given: Mapping[str, Sequence[str]], taken: Collection[str]) -> None:
        """Note the observations that nodes got, and those that nodes lost."""
        self._touched |= {*given, *taken}
        for key in self._nodes:
            for node, observations in given.items():
                self._more[key][node] += observations
            self._stale[key] |= set(taken)

    def settle(self) -> None:
        """Accept the moves since the last call."""
        self._touched.clear()

    def back(self) -> None:
        """Roll back the moves since `settle`."""
        for key in self._nodes:
            self._stale[key] |= self._touched
        self._touched.clear()

    def forget(self) -> None:
        """Drop everything that is kept: vectors were written outside of the log, or the state was computed again as a whole."""
        for kept in (self._nodes, self._more, self._stale):
            kept.clear()
        self._touched.clear()

    def of(self, db: DB, who: Identities, type_: ObservationType, model: str) -> list[Gallery]:
        """Return the galleries of all nodes of a type, by the kept state, in order of their numbers."""
        key = (type_, model)
        if key not in self._nodes:
            self._nodes[key], self._more[key], self._stale[key] = {}, defaultdict(list), set()
            for r in db.execute(_QUERIES[type_] + " ORDER BY t.rowid", (model,)):
                now = who.held.get(r["owner"])
                if now is not None and now.node is not None:
                    _add(self._nodes[key].setdefault(now.node, GrowingGallery(type_)), r)
        self._catch_up(db, who, type_, model)
        kept, person_of = self._nodes[key], who.person_of
        return [kept[node].gallery(node, person_of[node]) for node in sorted(kept, key=numbered)]

    def _catch_up(self, db: DB, who: Identities, type_: ObservationType, model: str) -> None:
        key = (type_, model)
        growing, stale = self._nodes[key], self._stale[key]
        query = _QUERIES[type_] + " AND e.owner IN (SELECT value FROM json_each(?2)) ORDER BY t.rowid"
        for node, observations in self._more[key].items():
            if node in stale:
                continue
            found = db.execute(query, (model, dump(observations))).fetchall()
            grown = growing.get(node)
            if found and grown is not None and found[0]["place"] <= grown.last:
                stale.add(node)
                continue
            for r in found:
                _add(growing.setdefault(node, GrowingGallery(type_)), r)
        for node in stale:
            growing.pop(node, None)
            for r in db.execute(query, (model, dump(sorted(who.owned.get(node, ()))))):
                _add(growing.setdefault(node, GrowingGallery(type_)), r)
        self._more[key], self._stale[key] = defaultdict(list), set()
