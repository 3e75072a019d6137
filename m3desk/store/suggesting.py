"""Questions to a person, answers to them, and reasons: what `domain.suggesting` and `domain.reasons` need, read inside one snapshot."""

from __future__ import annotations

import sqlite3

from m3desk.domain.evidence import Floats
from m3desk.domain.log import Log, ObservationType
from m3desk.domain.sentences import State
from m3desk.domain.suggesting import Known, suggest
from m3desk.domain.suggestion import Reason, Suggestion, Verdict
from m3desk.errors import CorrectionError
from m3desk.store import commits, reading, rows

DB = sqlite3.Connection
TYPES: tuple[ObservationType, ...] = ("face", "voice")


def known(db: DB, state: State, log: Log) -> Known:
    """Read what questions and reasons rest on, by the models in use."""
    galleries = {}
    vectors: dict[str, Floats] = {}
    for type_ in TYPES:
        model = reading.setting(db, f"{type_}_vectors") or ""
        galleries[type_] = commits.galleries(db, state, type_, model)
        for r in db.execute("SELECT * FROM embedding WHERE kind = ? AND model = ? ORDER BY rowid", (type_, model)):
            vectors[r["owner"]] = rows.vectors(r)
    return Known(state, log, galleries, vectors)


def suggestions(db: DB, state: State, log: Log) -> list[Suggestion]:
    """Return what a person could decide, most useful first."""
    return suggest(known(db, state, log))


def why(db: DB, state: State, log: Log, observation: str) -> Verdict:
    """Return why an observation is taken for somebody's. Raises CorrectionError when there is none of that id."""
    held = state.who.held.get(observation)
    if held is None:
        raise CorrectionError(f"there is no observation {observation}.", "See: m3desk people show PERSON.")
    bound = next((b for b in reversed(state.who.bindings) if b.observation == observation and b.superseded is None), None)
    votes = [Reason("user", None, 1.0, "you said so")] if held.step is not None else []
    runner = state.who.person_of.get(bound.runner_up or "") if bound else None
    score, margin, by = (bound.score, bound.margin, bound.by) if bound else (None, None, "nobody")
    return Verdict(observation, held.node, held.person, score, runner, margin, by, tuple(votes))
