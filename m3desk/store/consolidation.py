"""Consolidation after a clip: votes that two nodes are one person, where the evidence is overwhelming.

It casts votes and merges nothing: a vote is between two observations and stays in the log with its weight; a user's decision always
outranks it. What is likely but not overwhelming becomes a question to the user (`domain.questions.ranking`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from m3desk.calibrated import calibrated
from m3desk.domain.clip import Clip
from m3desk.domain.consolidation import CONSOLIDATION, overwhelming, similar_pairs
from m3desk.domain.log import ObservationType, Voted
from m3desk.domain.sentences import State
from m3desk.store import commits, rows
from m3desk.store.galleries import GalleryLookup
from m3desk.store.ledger import Ledger
from m3desk.store.rows import dump

DB = sqlite3.Connection

TYPES: tuple[ObservationType, ...] = ("face", "voice")


def consolidate(db: DB, ledger: Ledger, clip: Clip, models: Mapping[str, str], at: str) -> None:
    """Cast votes between nodes that are one person after all, now that a clip added evidence."""
    if found := votes(db, ledger.state_with(db), clip, models, ledger.galleries):
        sequence = commits.begin(db, "consolidation", at, clip.id, models)
        for v in found:
            rows.insert(db, "vote", sequence=sequence, a=v.a, b=v.b, by=v.by, weight=v.weight, clip=v.clip)


def votes(db: DB, state: State, clip: Clip, models: Mapping[str, str], look: GalleryLookup) -> list[Voted]:
    """Return votes between the nodes a clip touched and all others of their type: 1.0 where two are certainly one person.

    `state`: with the clip's bindings. The observations that stand for the nodes are their most telling.
    """
    found: list[Voted] = []
    there = (r[0] for t in ("face_track", "utterance") for r in db.execute(f"SELECT id FROM {t} WHERE clip = ?", (clip.id,)))
    mine = {h.node for o in there if (h := state.who.held.get(o)) is not None and h.node}
    for type_ in TYPES:
        model = models.get(f"{type_}_vectors", "")
        rule = calibrated(model, type_)
        touched = {n for n in mine if n.startswith(f"{type_}_")}
        if not touched or rule.sure is None:
            continue
        nodes, told, owner = state.who.nodes, state.who.told, state.who.person_of
        # A node that a user created or assigned observations to is only suggested, never joined.
        known = [g for g in look(type_, model) if nodes[g.node].step is None and g.node not in told]
        pairs = [p for p in similar_pairs(known, rule, state.who.distinct, touched) if not state.who.both_named(owner[p.a], owner[p.b])]
        pairs = overwhelming(pairs, {g.node: g for g in known}, rule, state.who.distinct)
        standing = _telling(db, state, type_, {n for p in pairs for n in (p.a, p.b)})
        found += [Voted(standing[p.a], standing[p.b], f"{CONSOLIDATION} {model}", p.certainty, clip.id, 0) for p in pairs]
    return found


def _telling(db: DB, state: State, type_: ObservationType, nodes: set[str]) -> dict[str, str]:
    """Return each node's most informative observation: the best face, the longest utterance without overlap; the first on a tie."""
    if not nodes:
        return {}
    table, worth = ("face_track", "t.quality") if type_ == "face" else ("utterance", '(1 - t.overlapped) * (t."end" - t.start)')
    best: dict[str, tuple[float, str]] = {}
    mine = dump([o for n in nodes for o in state.who.owned.get(n, ())])
    query = f"SELECT t.id, {worth} AS worth FROM {table} t WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY t.rowid"
    for r in db.execute(query, (mine,)):
        held = state.who.held.get(r["id"])
        if held and held.node in nodes and r["worth"] > best.get(held.node, (-1.0, ""))[0]:
            best[held.node] = (r["worth"], r["id"])
    return {n: o for n, (_, o) in best.items()}
