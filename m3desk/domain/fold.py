"""The fold: computes the identities of a memory (bindings, persons, names) from its whole log. Pure: the same log gives the same result.

Order of authority: latest user decision > earlier user decision > cannot-links from the pictures and the sound > votes. A correction that
was undone has no effect; what later clips bound to the nodes that it created stays there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from m3desk.domain.correction import Step
from m3desk.domain.equivalence import COMPANY, MATE, ClipSpan, company, enough, in_all, in_total, weigh
from m3desk.domain.identities import Constraint, Equivalence, Held, Identities
from m3desk.domain.ids import numbered
from m3desk.domain.log import Birth, Bound, Log, ObservationRow, Voted, in_force
from m3desk.domain.partition import Partition
from m3desk.domain.people import Binding
from m3desk.domain.shown_people import add_people, names_given
from m3desk.domain.superseding import Standing, standing

BY_SIMILARITY = "consolidation "
"""Prefix of `by` of the votes that a model casts for two similar nodes of one type (domain.consolidation); the model's name follows."""


def identities(log: Log) -> Identities:
    """Fold bindings, votes, names and corrections into persons."""
    steps = in_force(log)
    state = Identities()
    state.evidence = standing(log, steps)
    state.held, state.bindings = _held(log, steps, state.evidence)
    bound_to = {h.node for h in state.held.values() if h.node} | {
        b.node for b in log.bindings if b.observation not in state.evidence.absent
    }
    active = {s.step for s in steps}
    state.nodes = {n.id: n for n in log.nodes.values() if n.step is None or n.step in active or n.id in bound_to}
    births = _births(log, state.nodes, steps)
    partition = Partition()
    for node in sorted(births, key=numbered):
        partition.root(births[node])
    decided = _decide(partition, steps, births)
    _apply_cannot_links(partition, log, state, births)
    votes = _votes(log, state)
    _link(partition, votes, births, state, log)
    _name_classes(state, partition, births, steps)
    state.distinct = frozenset((state.canonical[a], state.canonical[b]) for a, b in partition.cannot_links())
    owned: dict[str, list[str]] = defaultdict(list)
    for o, h in list(state.held.items()):
        state.held[o] = Held(h.node, state.person_of.get(h.node) if h.node else None, h.set_aside, h.step)
        if h.node:
            owned[h.node].append(o)
    state.owned = dict(owned)
    state.told = frozenset(h.node for h in state.held.values() if h.node and h.step is not None)
    state.equivalences = {pair: equivalence(pair, cast, in_total(cast), state) for pair, cast in votes.items()}
    found = {step.step: constraints(step, log, state, births, decided) for step in steps}
    state.constraints = {step: rows for step, rows in found.items() if rows}
    add_people(log, state, steps)
    return state


# ---------------------------------------------------------------- bindings


def _held(log: Log, steps: list[Step], evidence: Standing) -> tuple[dict[str, Held], dict[str, tuple[Binding, ...]]]:
    """Return the binding in force of each observation, and all its bindings with superseded ones marked.

    An observation that replaces another one inherits its binding until a user decides otherwise.
    """
    by_observation: dict[str, list[Bound]] = defaultdict(list)
    for b in log.bindings:
        by_observation[b.observation].append(b)
    verdicts: dict[str, list[UserBinding]] = defaultdict(list)
    for step in steps:
        for observation, node in user_bindings(step, log):
            verdicts[observation].append((step, node))
    stands: dict[str, Held] = {}
    now: dict[str, Binding] = {}
    rows: dict[str, tuple[Binding, ...]] = {}
    for id_ in sorted(log.observations, key=lambda o: log.observations[o].sequence):  # the new observations come after the one they replace
        if id_ in evidence.absent:
            continue
        seen = log.observations[id_]
        old = seen.replaces or ""
        mine, stands[id_], current = stand(
            seen, by_observation.get(id_, ()), verdicts.get(id_, ()), evidence, now.get(old), stands.get(old)
        )
        if current is not None:
            now[id_] = current
        if mine:
            rows[id_] = mine
    return {o: stands[o] for o in log.observations if o in stands and o not in evidence.successors}, rows


UserBinding = tuple[Step, str | None]
"""A user's decision on an observation: the step, and the node that it belongs to (None: nobody's)."""


def user_bindings(step: Step, log: Log) -> Iterator[tuple[str, str | None]]:
    """Yield the bindings that a step decides: (observation, node), None = set aside."""
    for observation, node in step.args.get("bindings", {}).items():
        if node in log.nodes:  # else its source was removed: the step waits until it is resolved again
            yield observation, node
    if step.kind == "set-aside":
        for observation in step.args["observations"]:
            yield observation, None


def stand(
    seen: ObservationRow,
    models: Sequence[Bound],
    users: Sequence[UserBinding],
    evidence: Standing,
    replaced: Binding | None,
    before: Held | None,
) -> tuple[tuple[Binding, ...], Held, Binding | None]:
    """Return all bindings of an observation, its state, and the binding in force.

    `models`: decisions of models on it; `users`: decisions of the steps in force on it; both in order. `replaced`, `before`: the binding in
    force and the state of the observation that it replaces.
    """
    id_, parts = seen.id, evidence.successors.get(seen.id)
    decided = sorted([s.sequence for s, _ in users] + ([evidence.seen[parts[0]].sequence] if parts else []))
    ends = sorted([b.sequence for b in models] + decided)
    mine: list[Binding] = []
    if replaced is not None:
        mine.append(replace(replaced, observation=id_, sequence=seen.sequence, superseded=next(iter(ends), None)))
    for b in models:  # after a user's decision a model's binding is never in force, and does not end that decision
        late = bool(users) and users[0][0].sequence < b.sequence
        end = b.sequence if late else next((e for e in ends if e > b.sequence), None)
        mine.append(Binding(b.observation, b.node, b.score, b.runner_up, b.margin, b.by, b.at, b.sequence, end))
    for step, node in users:
        if node is not None:
            end = next((e for e in decided if e > step.sequence), None)
            mine.append(Binding(id_, node, None, None, None, step.by, step.at, step.sequence, end))
    if users:  # a user's decision outranks every later clip and model
        step, node = users[-1]
        held = Held(node, None, set_aside=node is None, step=step.step)
    elif models:
        held = Held(models[-1].node, None)
    else:
        held = before or Held(None, None)
    return tuple(mine), held, next((b for b in reversed(mine) if b.node == held.node), None)


def born_in(log: Log, nodes: Mapping[str, Birth]) -> dict[str, str]:
    """Return node → the person it was created in, by the corrections in force and under its present id."""
    return _births(log, nodes, in_force(log))


def _births(log: Log, nodes: Mapping[str, Birth], steps: list[Step]) -> dict[str, str]:
    """Return node → the person it was created in; a correction may have moved it to a new person."""
    names = {r.old: r.new for r in log.renamed}
    births = {n.id: names.get(n.person, n.person) for n in nodes.values() if n.person is not None}
    for step in steps:
        for node, person in step.args.get("births", {}).items():
            if node in births:
                births[node] = person
    return births


# ---------------------------------------------------------------- who is whom


def pair_constraints(step: Step, births: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return the must-links and cannot-links between persons of a step: (must | cannot, a, b)."""
    args = step.args
    if step.kind == "merge":
        return [("must", args["keep"], other) for other in args["others"]]
    if step.kind in ("link", "unlink"):
        kind = "must" if step.kind == "link" else "cannot"
        a, b = births.get(args["face"]), births.get(args["voice"])
        return [(kind, a, b)] if a and b and a != b else []
    if step.kind == "distinct":
        return [("cannot", args["a"], args["b"])]
    return [(kind, a, b) for kind in ("must", "cannot") for a, b in args.get(kind, ())]


def _decide(partition: Partition, steps: list[Step], births: Mapping[str, str]) -> dict[tuple[int, str, str, str], bool]:
    """Apply the must-links and cannot-links of users, the latest first; return which are satisfied."""
    known = set(births.values())
    outcome: dict[tuple[int, str, str, str], bool] = {}
    for step in reversed(steps):
        for kind, a, b in pair_constraints(step, births):
            if a in known and b in known:
                outcome[step.step, kind, a, b] = partition.join(a, b) if kind == "must" else partition.add_cannot_link(a, b)
    return outcome


def _apply_cannot_links(partition: Partition, log: Log, state: Identities, births: Mapping[str, str]) -> None:
    for a, b in cannot_link_pairs(log, state.evidence):
        ha, hb = state.held.get(a), state.held.get(b)
        if ha and hb and ha.node and hb.node and ha.node != hb.node:
            partition.add_cannot_link(births[ha.node], births[hb.node])  # False = a user joined them: mirrors and video calls exist


def cannot_link_pairs(log: Log, evidence: Standing) -> Iterator[tuple[str, str]]:
    """Yield the pairs of observations in force with a cannot-link (`Perceived.cannot_link`), as corrected since."""
    for a, b in log.cannot_links:
        yield from cannot_links_between(a, b, evidence)


def cannot_links_between(a: str, b: str, evidence: Standing) -> Iterator[tuple[str, str]]:
    """Yield the pairs of observations in force that replace a pair with a cannot-link: those that overlap in time.

    Of two that did not (the lips of two people moved with them) it is the longest parts; the rest may be what somebody else says.
    """
    if a not in evidence.successors and b not in evidence.successors:
        yield a, b
    elif not _at_once(a, b, evidence):
        yield evidence.follow(a), evidence.follow(b)
    else:
        for x in evidence.leaves(a):
            for y in evidence.leaves(b):
                if _at_once(x, y, evidence):
                    yield x, y


def _at_once(a: str, b: str, evidence: Standing) -> bool:
    one, two = evidence.seen.get(a), evidence.seen.get(b)
    return one is not None and two is not None and one.start < two.end and two.start < one.end


VotesByPair = dict[tuple[str, str], list[tuple[str, str, float]]]


def _votes(log: Log, state: Identities) -> VotesByPair:
    """Return (node, node) in number order → its votes (clip, by, weight).

    A vote by similarity counts as long as its model decides the bindings of the two observations; after a switch to another it does not.
    """
    votes: VotesByPair = defaultdict(list)
    by = {b.observation: b.by for b in log.bindings}
    for v in log.votes:
        if (pair := voted_pair(v, state, by)) is not None:
            votes[pair].append((v.clip, v.by, v.weight))
    return votes


def voted_pair(v: Voted, state: Identities, by: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the nodes, in number order, that a vote is for now; None if it does not count. `by`: observation → its last model."""
    if v.by.startswith(BY_SIMILARITY) and any(by.get(o, v.by[len(BY_SIMILARITY) :]) != v.by[len(BY_SIMILARITY) :] for o in (v.a, v.b)):
        return None
    a, b = state.held.get(state.evidence.follow_beside(v.a, v.b)), state.held.get(state.evidence.follow_beside(v.b, v.a))
    if a and b and a.node and b.node and a.node != b.node:
        return (a.node, b.node) if numbered(a.node) < numbered(b.node) else (b.node, a.node)
    return None


def _link(partition: Partition, votes: VotesByPair, births: Mapping[str, str], state: Identities, log: Log) -> None:
    """Join persons by votes: first nodes of one kind, then each voice to the one face that has enough of them, the best supported first.

    In that order, so that the votes for a person with two nodes add up. A face with a linked voice gets a second one only for votes of
    similar weight (MATE), and a voice that is mostly heard while other faces are in view is not linked (COMPANY).
    """
    nodes = state.nodes
    same_type = [(in_all(weigh(cast).values())[0], a, b) for (a, b), cast in votes.items() if nodes[a].type == nodes[b].type]
    for weight, a, b in sorted(same_type, key=lambda r: (-r[0], numbered(r[1]), numbered(r[2]))):
        if enough({"all": weight}, 0.0):
            partition.join(births[a], births[b])
    tally: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for (a, b), cast in votes.items():
        types = {nodes[a].type: a, nodes[b].type: b}
        if len(types) == 2:
            face, voice = partition.root(births[types["face"]]), partition.root(births[types["voice"]])
            if partition.cannot_join(face, voice):
                continue  # a face with a cannot-link is no rival
            for clip, weight in weigh(cast).items():
                tally[voice][face][clip] += weight
    taken = {partition.root(births[n.id]) for n in nodes.values() if n.type == "face" and n.id in births}
    ranked: list[tuple[float, int, str, str]] = []
    for voice, faces in tally.items():
        totals = sorted(((in_all(c.values())[0], -numbered(f), f) for f, c in faces.items()), reverse=True)
        best, runner = totals[0], totals[1][0] if len(totals) > 1 else 0.0
        if voice not in taken and enough(faces[best[2]], runner):
            ranked.append((-best[0], numbered(voice), voice, best[2]))
    mates: dict[str, float] = {}
    said, seen = _moments(partition, births, state, log) if ranked else ({}, {})
    anybody, mine = _in_view(seen)
    for total, _n, voice, face in sorted(ranked):
        clips = {clip: [*anybody.get(clip, ()), *mine.get((clip, face), ())] for clip, _, _ in said.get(voice, ())}
        fits = MATE * -total >= mates.get(face, 0.0) and company(said.get(voice, ()), clips) >= COMPANY
        if fits and partition.join(face, voice):
            mates.setdefault(face, -total)


def _moments(
    partition: Partition, births: Mapping[str, str], state: Identities, log: Log
) -> tuple[dict[str, list[ClipSpan]], dict[str, list[tuple[int, int, str]]]]:
    """Return person → when they are heard, and clip → who is in view when; by persons as they are joined now."""
    said: dict[str, list[ClipSpan]] = defaultdict(list)
    seen: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for id_, held in state.held.items():
        if held.node is None:
            continue
        o, person = log.observations[id_], partition.root(births[held.node])
        if o.type == "face":
            seen[o.clip].append((o.start, o.end, person))
        else:
            said[person].append((o.clip, o.start, o.end))
    return said, seen


InView = list[tuple[int, int, bool]]


def _in_view(seen: Mapping[str, Iterable[tuple[int, int, str]]]) -> tuple[dict[str, InView], dict[tuple[str, str], InView]]:
    """Return clip → when anybody is in view, and (clip, person) → when they are, times that touch joined (`equivalence.company`)."""
    of: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for clip, moments in seen.items():
        for start, end, person in moments:
            of[clip, person].add((start, end))
    all_: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for (clip, _person), spans in of.items():
        all_[clip] |= spans
    return (
        {clip: [(a, b, False) for a, b in _joined(spans)] for clip, spans in all_.items()},
        {key: [(a, b, True) for a, b in _joined(spans)] for key, spans in of.items()},
    )


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _name_classes(state: Identities, partition: Partition, births: Mapping[str, str], steps: list[Step]) -> None:
    """Choose the id of each class: the named person, of several named ones the one a merge kept, else the oldest."""
    names = names_given(steps)
    kept = [s.args["keep"] for s in reversed(steps) if s.kind == "merge"]
    born: dict[str, list[str]] = defaultdict(list)
    for node, person in births.items():
        born[person].append(node)
    for members in partition.classes().values():
        id_ = called(members, names, kept)
        for p in members:
            state.canonical[p] = id_
        state.members[id_] = sorted((n for p in members for n in born[p]), key=numbered)
        for node in state.members[id_]:
            state.person_of[node] = id_


def called(members: Sequence[str], names: Mapping[str, str | None], kept: Sequence[str]) -> str:
    """Return the id of a class of persons (in number order): the named one, of several named the one a merge kept (`kept`: latest first),
    else the oldest."""
    named = [p for p in members if names.get(p)]
    id_ = next((k for k in kept if k in named), None) if len(named) > 1 else None
    return id_ or (named[0] if named else members[0])


def equivalence(pair: tuple[str, str], cast: Sequence[tuple[str, str, float]], total: float, state: Identities) -> Equivalence:
    """Return a pair of nodes with its votes, whose sum is `total`."""
    a, b = pair
    types = {state.nodes[a].type: a, state.nodes[b].type: b}
    mixed = len(types) == 2
    accepted = state.person_of[a] == state.person_of[b]
    return Equivalence(a, b, types["face"] if mixed else None, types["voice"] if mixed else None, round(total, 6), tuple(cast), accepted)


# ---------------------------------------------------------------- constraints


def constraints(
    step: Step, log: Log, state: Identities, births: Mapping[str, str], decided: Mapping[tuple[int, str, str, str], bool]
) -> tuple[Constraint, ...]:
    """Return the constraints of a step in force, each with its state."""
    rows: list[Constraint] = []
    for observation, node in step.args.get("bindings", {}).items():
        person = births.get(node) or str(log.nodes[node].person if node in log.nodes else step.args.get("person"))
        verdict = _verdict(state, observation, step, node) if node in log.nodes else "waiting"
        rows.append(Constraint(step.step, "must", observation, person, step.by, verdict))
    if step.kind == "set-aside":
        for observation in step.args["observations"]:
            rows.append(Constraint(step.step, "cannot", observation, "anybody", step.by, _verdict(state, observation, step, None)))
    for id_ in step.args.get("made", ()) if step.kind != "enroll" else ():
        seen = log.observations.get(id_)
        verdict = "waiting" if seen is None else "overridden" if id_ in state.evidence.absent else "kept"
        rows.append(Constraint(step.step, "stands", id_, seen.replaces or "" if seen else "", step.by, verdict))
    for kind, a, b in pair_constraints(step, births):
        outcome = decided.get((step.step, kind, a, b)) if a in state.canonical and b in state.canonical else None
        if outcome is None:
            verdict = "waiting"
        elif not outcome:
            verdict = "overridden"
        else:
            verdict = "kept" if (state.canonical[a] == state.canonical[b]) == (kind == "must") else "broken"
        rows.append(Constraint(step.step, kind, a, b, step.by, verdict))
    return tuple(rows)


def _verdict(state: Identities, observation: str, step: Step, node: str | None) -> str:
    """Return whether a step's binding of an observation (None: nobody's) is kept, by the observations that replace it now."""
    found = [h for o in state.evidence.leaves(observation) if (h := state.held.get(o)) is not None]
    if not found:
        return "waiting"
    mine = [h for h in found if h.step == step.step]
    if not mine:
        return "overridden"
    return "kept" if all(h.node == node and h.set_aside == (node is None) for h in mine) else "broken"
