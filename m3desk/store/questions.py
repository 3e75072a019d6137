"""Questions to the user, their answers, and reasons: reads what `domain.questions` needs within one snapshot.

The journal keeps an answer as `accept` or `reject` with {"n", "key": what was asked, "as": the kind of step it stands for} and that
kind's own resolved args; `domain.log.in_force` gives it to the fold as that kind.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from m3desk.calibrated import calibrated, thresholds
from m3desk.domain.correction import Step
from m3desk.domain.evidence import Floats
from m3desk.domain.identities import Identities
from m3desk.domain.identity import Gallery, mean_of
from m3desk.domain.ids import numbered, observation_type
from m3desk.domain.log import Log, ObservationType, in_force
from m3desk.domain.projection.projection import Projection
from m3desk.domain.questions.facts import Known, births
from m3desk.domain.questions.ranking import ask, suggest
from m3desk.domain.questions.reasons import Case, Trial, folded_again, verdict
from m3desk.domain.questions.scorecard import Card, OwnedObservation, card
from m3desk.domain.questions.types import Suggestion, Verdict
from m3desk.domain.sentences import State
from m3desk.errors import CorrectionError
from m3desk.store import commits, reading, rows
from m3desk.store.corrections import resolving
from m3desk.store.corrections.resolving import Args, Context
from m3desk.store.galleries import Galleries, GalleryLookup
from m3desk.store.galleries import galleries as galleries_of

DB = sqlite3.Connection
TYPES: tuple[ObservationType, ...] = ("face", "voice")


def known(db: DB, state: State, log: Log, look: GalleryLookup | None = None) -> Known:
    """Read the input of questions and reasons, by the models in use. `look`: returns galleries that are kept, instead of reading them."""
    galleries: dict[ObservationType, Sequence[Gallery]] = {}
    rules = {}
    vectors: dict[str, Floats] = {}
    for type_ in TYPES:
        model = reading.setting(db, f"{type_}_vectors") or ""
        galleries[type_] = galleries_of(db, state, type_, model) if look is None else look(type_, model)
        rules[type_] = calibrated(model, type_)
        for r in db.execute("SELECT * FROM embedding WHERE kind = ? AND model = ? ORDER BY rowid", (type_, model)):
            vectors[r["owner"]] = rows.vectors(r)
    return Known(state, log, galleries, rules, vectors)


def suggestions(db: DB, state: State, log: Log) -> list[Suggestion]:
    """Return the open questions to the user, most useful first."""
    return suggest(known(db, state, log))


class QuestionCache:
    """The input of questions and reasons, kept between calls: only rows added since are read."""

    def __init__(self) -> None:
        self._projection = Projection()
        self._galleries = Galleries()
        self._loaded = 0

    def suggestions(self, db: DB) -> list[Suggestion]:
        """Return the open questions to the user, most useful first."""
        state = self._catch_up(db)
        return suggest(known(db, state, self._projection.log, self._look(db)))

    def why(self, db: DB, observation: str) -> Verdict:
        """Return the same as `why`, without folding the log."""
        return why(db, self._catch_up(db), self._projection.log, observation, self._look(db), self._try)

    def _look(self, db: DB) -> GalleryLookup:
        return lambda type_, model: self._galleries.of(db, self._projection.state.who, type_, model)

    def _try(self, step: Step, test: Callable[[Identities], bool]) -> bool:
        """Return whether a test holds with one more step; the step is rolled back."""
        try:
            self._projection.extend([step])
            return test(self._projection.state.who)
        finally:
            self._projection.back()

    def _catch_up(self, db: DB) -> State:
        """Read the rows added since the last call; return the state. If that fails, the next call reads everything."""
        try:
            return self._read_on(db)
        except BaseException:
            self.forget()
            raise

    def _read_on(self, db: DB) -> State:
        new = list(rows.load(db, self._loaded))
        if self._loaded and not self._projection.can_extend(new):
            self.forget()
            new = list(rows.load(db))
        moved = self._projection.extend(new).moved
        self._galleries.move(moved.given, moved.taken)
        self._projection.settle()
        self._galleries.settle()
        self._loaded = int(db.execute("SELECT coalesce(max(sequence), 0) FROM commits").fetchone()[0])
        return self._projection.state

    def forget(self) -> None:
        """Drop everything that is kept: rows were removed or altered."""
        self.__init__()  # type: ignore[misc]


# ---------------------------------------------------------------- answers


def _accept(context: Context, args: Args) -> Args:
    asked = _asked(context, args)
    question = asked.question
    kind, given = question.accept
    kept = _split(context, asked, given) if kind == "split" else resolving.RESOLVE[kind](context, dict(given))
    return {**_answer(question, kind), **kept}


def _split(context: Context, asked: _Asked, given: Mapping[str, Any]) -> Args:
    """Split a person: cannot-links between the nodes of both sides, must-links within each side (until that is split too), even if votes
    joined its nodes only through the other side. Whole nodes are moved as they are; else the observations get nodes of their own.
    """
    who, person = context.state.who, asked.question.people[0]
    gone = set(given["observations"])
    nodes = {str(who.held[o].node) for o in gone}
    stay = {h.node for o, h in who.held.items() if h.node and h.person == person and o not in gone}
    if nodes & stay:
        kept = resolving.RESOLVE["split"](context, dict(given))
        going = [kept["person"]]
    else:
        # If nodes of both sides were created in one person, those that are split off move to a new person.
        shared = sorted((n for n in nodes if asked.born[n] in {asked.born[m] for m in stay}), key=numbered)
        moved = dict.fromkeys(shared, commits.new_person(context.db)) if shared else {}
        going = sorted({moved.get(n, asked.born[n]) for n in nodes}, key=numbered)
        says = (
            asked.question.effect.replace("gives", "takes", 1).replace("to somebody new", f"from {who.people[person].shown}").split(", ")[0]
        )
        kept = {"observations": sorted(gone), "person": going[0], "name": None, "of": person, "says": says}
        kept |= {"births": moved} if moved else {}
    staying = sorted({asked.born[n] for n in stay}, key=numbered)
    kept["must"] = [[side[0], b] for side in (staying, going) for b in side[1:]]
    kept["cannot"] = [[a, b] for a in going for b in staying]
    return kept


def _reject(context: Context, args: Args) -> Args:
    if "n" not in args:
        return resolving.RESOLVE["reject"](context, args)
    asked = _asked(context, args)
    question = asked.question
    kind, given = question.reject
    if kind == "unlink":  # they are not one person now: nothing to split, a cannot-link is enough
        kept = dict(given)
    elif kind == "merge":
        kept = _all_one(context, asked, given)
    else:
        kept = resolving.RESOLVE[kind](context, dict(given))
    return {**_answer(question, kind), **kept}


@dataclass(frozen=True, slots=True)
class _Asked:
    """An open question. `born`: node → the person it was created in."""

    question: Suggestion
    born: Mapping[str, str]


def _asked(context: Context, args: Args) -> _Asked:
    """Return the open question of a number. Raises CorrectionError when there is none (any more)."""
    try:
        n = int(args["n"])
    except (KeyError, TypeError, ValueError) as error:
        raise CorrectionError("the number of a suggestion is missing.", "See: m3desk people suggestions.") from error
    log = rows.full_log(context.db)
    facts = known(context.db, context.state, log)
    for question in ask(facts):
        if question.n == n:
            return _Asked(question, births(facts))
    answered = next((s for s in in_force(log) if s.args.get("n") == n), None)
    gone = f"was answered by step {answered.step}" if answered else "is not open: it was answered, or later clips settled it"
    raise CorrectionError(f"suggestion {n} {gone}.", "See: m3desk people suggestions.")


def _answer(question: Suggestion, kind: str) -> Args:
    return {"n": question.n, "key": question.key.split(":"), "as": kind}


def _all_one(context: Context, asked: _Asked, given: Mapping[str, Any]) -> Args:
    """Decide that observations are one person's: each is bound to its node, and the persons of those nodes are joined."""
    who = context.state.who
    bindings = {o: str(who.held[o].node) for o in given["observations"]}
    born = sorted({asked.born[n] for n in bindings.values()}, key=numbered)
    shown = who.people[asked.question.people[0]].shown
    return {"keep": born[0], "others": born[1:], "bindings": bindings, "says": f"says that all of this is {shown}"}


RESOLVE: Mapping[str, Callable[[Context, Args], Args]] = {"accept": _accept, "reject": _reject}


# ---------------------------------------------------------------- the scorecard


def scorecard(db: DB, state: State, only: Container[str] | None = None) -> Card:
    """Return the pairs of this memory's observations that the scorecard draws from. `only`: of these observations."""
    items: list[OwnedObservation] = []
    rules = {}
    for type_ in TYPES:
        model = reading.setting(db, f"{type_}_vectors") or ""
        rules[type_] = thresholds(model, type_)
        query = "SELECT * FROM embedding WHERE kind = ? AND model = ?"
        means = {r["owner"]: mean_of(rows.vectors(r)) for r in db.execute(query, (type_, model)) if only is None or r["owner"] in only}
        mine = [(o, h.person) for o, h in state.who.held.items() if h.person and observation_type(o) == type_]
        items += [OwnedObservation(o, type_, p, means.get(o)) for o, p in mine if only is None or o in only]
    return card(items, rules)


def own_pairs(db: DB, state: State, person: str) -> Card:
    """Return the pairs of observations of one person that have an embedding."""
    items: list[OwnedObservation] = []
    rules = {}
    for type_ in TYPES:
        model = reading.setting(db, f"{type_}_vectors") or ""
        rules[type_] = thresholds(model, type_)
        mine = [o for o, h in state.who.held.items() if h.person == person and not h.set_aside and observation_type(o) == type_]
        query = "SELECT e.* FROM embedding e JOIN json_each(?) j ON e.owner = j.value WHERE e.kind = ? AND e.model = ?"
        for r in db.execute(query, (json.dumps(mine), type_, model)):
            items.append(OwnedObservation(r["owner"], type_, person, mean_of(rows.vectors(r))))
    return card(items, rules)


# ---------------------------------------------------------------- reasons


def why(db: DB, state: State, log: Log, observation: str, look: GalleryLookup | None = None, trial: Trial | None = None) -> Verdict:
    """Return why an observation is bound to its person. Raises CorrectionError if there is no such observation.

    `look`: returns galleries that are kept, instead of reading them. `trial`: decides with one more step, instead of folding the log.
    """
    if parts := state.who.evidence.successors.get(observation):
        raise CorrectionError(f"{observation} was superseded.", f"Now there is {', '.join(parts)}.")
    if observation not in state.who.held:
        raise CorrectionError(f"there is no observation {observation}.", "See: m3desk people show PERSON.")
    type_ = log.observations[observation].type
    model = reading.setting(db, f"{type_}_vectors") or ""
    everybody = galleries_of(db, state, type_, model) if look is None else look(type_, model)
    node = state.who.held[observation].node
    mine = {observation, *(o for o, h in state.who.held.items() if node is not None and h.node == node)}
    query = "SELECT * FROM embedding WHERE kind = ? AND model = ? AND owner IN (SELECT value FROM json_each(?)) ORDER BY rowid"
    vectors = {r["owner"]: rows.vectors(r) for r in db.execute(query, (type_, model, reading.listed(mine)))}

    def without(node: str, gone: frozenset[str]) -> Gallery | None:
        return next(iter(galleries_of(db, state, type_, model, only=node, without=gone)), None)

    mates = _mates(db, observation, type_)
    case = Case(state.who, log, everybody, thresholds(model, type_), vectors, without, mates, trial or folded_again(log))
    return verdict(case, observation)


def _mates(db: DB, observation: str, type_: ObservationType) -> list[str]:
    """Return the observations of the same clip that perception put into one cluster with this one."""
    table = "face_track" if type_ == "face" else "utterance"
    query = f"""SELECT b.id FROM {table} a JOIN {table} b ON b.clip = a.clip AND b.cluster = a.cluster AND b.id != a.id
        WHERE a.id = ? ORDER BY b.rowid"""
    return [r[0] for r in db.execute(query, (observation,))]
