"""Why an observation is bound to its person: the votes, the runner-up, and the single observation that decides it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from m3desk.domain.calibration import Calibration
from m3desk.domain.clip import clock
from m3desk.domain.correction import Step
from m3desk.domain.evidence import Floats
from m3desk.domain.fold import identities
from m3desk.domain.identities import Held, Identities
from m3desk.domain.identity import Candidate, Gallery, match, similarity
from m3desk.domain.log import Log, ObservationRow
from m3desk.domain.people import Binding
from m3desk.domain.questions.types import Reason, Verdict

NEAREST = 5
"""Number of similar observations that are listed."""

Trial = Callable[[Step, Callable[[Identities], bool]], bool]
"""(a step, a test) → whether the test holds of the identities with that step in force."""

TRIED = 12
"""Number of observations that are left out one at a time to find the deciding one: the most similar, and those with the largest votes."""


@dataclass(frozen=True, slots=True)
class Case:
    """The input for the reasons of one observation. `galleries`: of all nodes of its type; `rule`: the calibration of their model.

    `vectors`: of the observations on its node and on competing ones, by id, (n, d) unit rows. `without`: (node, observations) → that node's
    gallery without them, None if nothing is left. `mates`: observations of the same clip that were clustered with it. `trial`: applies a
    step to the log and rolls it back.
    """

    who: Identities
    log: Log
    galleries: Sequence[Gallery]
    rule: Calibration
    vectors: Mapping[str, Floats]
    without: Callable[[str, frozenset[str]], Gallery | None]
    mates: Sequence[str]
    trial: Trial


def verdict(case: Case, observation: str) -> Verdict:
    """Return why an observation is bound to its person; score, runner-up and margin by the present galleries without itself."""
    held, seen = case.who.held[observation], case.log.observations[observation]
    bound = next((b for b in reversed(case.who.bindings.get(observation, ())) if b.superseded is None), None)
    scores = _scores(case, held, seen)
    own = next((s for s, g in scores if held.node is not None and g.node == held.node), None)
    rival = next(((s, g) for s, g in scores if g.person != held.person), None)
    votes = (*_by_user(case, held), *_by_similarity(case, held, observation), *_by_votes(case, held), *_by_name(case, held))
    return Verdict(
        observation=observation, node=held.node, person=held.person, score=own, runner_up=rival[1].person if rival else None,
        margin=round(own - rival[0], 6) if own is not None and rival else None, by=_who_decided(held, bound), votes=votes,
        flips=None if held.step is not None else _flips(case, held, seen),
    )  # fmt: skip


def _who_decided(held: Held, bound: Binding | None) -> str:
    return "user" if held.step is not None else bound.by if bound else "nobody"


def _scores(case: Case, held: Held, seen: ObservationRow) -> list[tuple[float, Gallery]]:
    """Return the similarity of the observation to each gallery, highest first; its own gallery without itself."""
    rows = case.vectors.get(seen.id)
    if rows is None or not len(rows):
        return []
    known = [case.without(g.node, frozenset({seen.id})) if g.node == held.node else g for g in case.galleries]
    scored = [(similarity(rows, g.vectors, case.rule), g) for g in known if g is not None and g.vectors.shape[1] == rows.shape[1]]
    return sorted(scored, key=lambda s: (-s[0], s[1].node))


# ---------------------------------------------------------------- votes


def _by_user(case: Case, held: Held) -> list[Reason]:
    step = next((s for s in case.log.steps if s.step == held.step), None)
    if step is None:
        return []
    said = "set aside" if held.set_aside else "decided"
    return [Reason("user", None, 1.0, f"{step.by} {said} so on {step.at[:10]} (step {step.step}{': ' + step.why if step.why else ''})")]


def _by_similarity(case: Case, held: Held, observation: str) -> list[Reason]:
    near = nearest(case, held, observation)[:NEAREST]
    if not near and held.node is not None and observation not in case.vectors:
        return [Reason("cluster", o, 1.0, f"too little to tell by itself; goes with {o} of the same moment") for o in case.mates[:1]]
    word = "looks" if case.log.observations[observation].type == "face" else "sounds"
    return [Reason("likeness", o, s, f"{word} like {o}, {_when(case.log, o)} ({s:.2f})") for s, o in near]


def nearest(case: Case, held: Held, observation: str) -> list[tuple[float, str]]:
    """Return the other observations of its node, the most similar first."""
    rows = case.vectors.get(observation)
    if rows is None or not len(rows) or held.node is None:
        return []
    others = [o for o, h in case.who.held.items() if h.node == held.node and o != observation and len(case.vectors.get(o, ()))]
    return sorted(((similarity(rows, case.vectors[o], case.rule), o) for o in others), key=lambda n: (-n[0], n[1]))


def _when(log: Log, observation: str) -> str:
    seen = log.observations[observation]
    return f"[{clock(seen.start)}–{clock(seen.end)}]"


def _by_votes(case: Case, held: Held) -> list[Reason]:
    """Return the votes that join this observation's node with the other nodes of its person."""
    found = []
    for a, b, by, weight in _cast(case.who, case.log, held):
        text = f"{by}: {a} and {b}, {_when(case.log, a)}"
        found.append(Reason(_kind(by), b, round(weight, 6), text))
    return sorted(found, key=lambda r: (-r.weight, r.observation or "", r.text))


def _kind(by: str) -> str:
    if by.startswith(("lips", "mouth")):
        return "lips"
    if by.startswith("alone"):
        return "alone"
    return {"in turn": "turn", "named alike": "name"}.get(by, by.split(" ")[0])


def _cast(who: Identities, log: Log, held: Held) -> list[tuple[str, str, str, float]]:
    """Return votes (on this node, on another node of the person, by, weight), in order of cast."""
    if held.node is None:
        return []
    found = []
    for v in log.votes:
        a, b = who.evidence.follow_beside(v.a, v.b), who.evidence.follow_beside(v.b, v.a)  # as in the fold
        for mine, other in ((a, b), (b, a)):
            h, k = who.held.get(mine), who.held.get(other)
            if h and k and h.node == held.node and k.node != held.node and k.person == held.person:
                found.append((mine, other, v.by, v.weight))
    return found


def _by_name(case: Case, held: Held) -> list[Reason]:
    return [
        Reason(
            "name", h.evidence if h.evidence in case.log.observations else h.observation, round(h.score, 6), f"called {h.name}: “{h.words}”"
        )
        for h in case.log.names
        if (k := case.who.held.get(case.who.evidence.follow(h.observation, h.at, h.at + 1))) is not None
        and k.node is not None
        and k.node == held.node
    ]


# ---------------------------------------------------------------- what decides


def _flips(case: Case, held: Held, seen: ObservationRow) -> str | None:
    """Return the one observation without which this one would be bound to another person or to nobody; None if there is none.

    Similar observations are left out one at a time, the nearest first, and it is matched again; then voters are set aside one at a time.
    """
    return _flips_by_similarity(case, held, seen) or _flips_by_votes(case, held, seen)


def _flips_by_similarity(case: Case, held: Held, seen: ObservationRow) -> str | None:
    rows = case.vectors.get(seen.id)
    if rows is None or not len(rows) or held.node is None:
        return None
    candidate = Candidate((seen.id,), rows, seen.end - seen.start)
    if seen.type == "face":
        candidate = replace(candidate, quality=seen.quality)
    base = [g for g in (case.without(g.node, frozenset({seen.id})) if g.node == held.node else g for g in case.galleries) if g is not None]

    def taken_for(galleries: Iterable[Gallery]) -> str | None:
        node = match([candidate], list(galleries), (), case.rule, case.who.distinct)[0].node
        return case.who.person_of[node] if node else None

    now = taken_for(base)
    if now != held.person:
        return None  # its binding does not depend on similarity to single observations
    for _, other in nearest(case, held, seen.id)[:TRIED]:
        left = case.without(held.node, frozenset({seen.id, other}))
        if taken_for([g for g in base if g.node != held.node] + ([left] if left is not None else [])) != now:
            return other
    return None


def _flips_by_votes(case: Case, held: Held, seen: ObservationRow) -> str | None:
    """Return the voting observation without which the face and voice nodes would no longer be one person."""
    weights: dict[str, float] = {}
    for mine, other, _by, weight in _cast(case.who, case.log, held):
        for o in (mine, other):
            if o != seen.id:
                weights[o] = weights.get(o, 0.0) + weight
    joined = {n for n in case.who.members.get(held.person or "", ()) if n != held.node}
    if not joined or not weights:
        return None

    def apart(after: Identities) -> bool:
        return not joined <= set(after.members.get(after.held[seen.id].person or "", ()))

    tried = sorted(weights, key=lambda o: (-weights[o], o))[:TRIED]
    return next((other for other in tried if case.trial(_set_aside(case.log, other), apart)), None)


def folded_again(log: Log) -> Trial:
    """Return a trial that folds the whole log with the step."""
    return lambda step, test: test(identities(replace(log, steps=[*log.steps, step])))


def _set_aside(log: Log, observation: str) -> Step:
    """Return a step after all others of the log that sets an observation aside."""
    last = max((s.sequence for s in log.steps), default=0)
    highest = max((s.sequence for s in log.observations.values()), default=0)
    number = max((s.step for s in log.steps), default=0) + 1
    return Step(number, max(last, highest) + 1, "set-aside", {"observations": [observation]}, {}, "", "")


__all__ = ["Case", "Trial", "folded_again", "nearest", "verdict"]
