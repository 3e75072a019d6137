"""Questions to a person, answers to them, and reasons: what `domain.suggesting` and `domain.reasons` need, read inside one snapshot.

The journal keeps an answer as `accept` or `reject` with {"n", "key": what was asked, "as": the kind of step it stands for} and that
kind's own resolved args; `domain.log.in_force` gives it to the fold as that kind.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from m3desk.domain.evidence import Floats
from m3desk.domain.log import Log, ObservationType, in_force
from m3desk.domain.sentences import State
from m3desk.domain.suggesting import Known, ask, suggest
from m3desk.domain.suggestion import Reason, Suggestion, Verdict
from m3desk.errors import CorrectionError
from m3desk.store import commits, reading, resolving, rows
from m3desk.store.resolving import Args, Desk

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


# ---------------------------------------------------------------- answers


def _accept(desk: Desk, args: Args) -> Args:
    question = _question(desk, args)
    kind, given = question.accept
    kept = resolving.RESOLVE[kind](desk, dict(given))
    if kind == "split":
        # Persons that votes had joined: none of those that stay may take back the one that goes.
        who = desk.state.who
        stays = {
            who.nodes[h.node].person for o, h in who.held.items() if h.node and h.person == question.people[0] and o not in kept["bindings"]
        }
        kept["cannot"] = [[kept["person"], born] for born in sorted(b for b in stays if b)]
    return {**_answer(question, kind), **kept}


def _reject(desk: Desk, args: Args) -> Args:
    if "n" not in args:
        return resolving.RESOLVE["reject"](desk, args)
    question = _question(desk, args)
    kind, given = question.reject
    if kind == "unlink":  # they are not one now: nothing to take apart, a wall between them is enough
        kept = dict(given)
    elif kind == "merge":
        kept = _all_one(desk, question, given)
    else:
        kept = resolving.RESOLVE[kind](desk, dict(given))
    return {**_answer(question, kind), **kept}


def _question(desk: Desk, args: Args) -> Suggestion:
    """Return the open question of a number. Raises CorrectionError when there is none (any more)."""
    try:
        n = int(args["n"])
    except (KeyError, TypeError, ValueError) as error:
        raise CorrectionError("the number of a suggestion is missing.", "See: m3desk people suggestions.") from error
    log = rows.full_log(desk.db)
    for question in ask(known(desk.db, desk.state, log)):
        if question.n == n:
            return question
    answered = next((s for s in in_force(log) if s.args.get("n") == n), None)
    gone = f"was answered by step {answered.step}" if answered else "is not open: it was answered, or later clips settled it"
    raise CorrectionError(f"suggestion {n} {gone}.", "See: m3desk people suggestions.")


def _answer(question: Suggestion, kind: str) -> Args:
    return {"n": question.n, "key": question.key.split(":"), "as": kind}


def _all_one(desk: Desk, question: Suggestion, given: Mapping[str, Any]) -> Args:
    """Say for good that observations are one person's: each stays on its node, and the persons of those nodes are one."""
    who = desk.state.who
    bindings = {o: who.held[o].node for o in given["observations"]}
    born = sorted({str(who.nodes[n].person) for n in bindings.values() if n}, key=lambda p: int(p.rsplit("_", 1)[1]))
    shown = who.people[question.people[0]].shown
    return {"keep": born[0], "others": born[1:], "bindings": bindings, "says": f"says that all of this is {shown}"}


RESOLVE: Mapping[str, Callable[[Desk, Args], Args]] = {"accept": _accept, "reject": _reject}


# ---------------------------------------------------------------- reasons


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
