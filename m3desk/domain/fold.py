"""The fold: computes the identities of a memory (bindings, persons, names) from its whole log. Pure: the same log gives the same result.

Order of authority: latest user decision > earlier user decision > cannot-links from the pictures and the sound > votes. A correction that
was undone has no effect; what later clips bound to the nodes that it created stays there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from m3desk.domain.correction import Step
from m3desk.domain.equivalence import COMPANY, MATE, ClipSpan, company, enough, in_all, in_total, weigh
from m3desk.domain.ids import numbered, source_id
from m3desk.domain.log import Birth, Bound, Log, NameHeard, ObservationRow, Voted, in_force
from m3desk.domain.naming import plausible, whose
from m3desk.domain.people import Binding, NameState, Person, SuggestedName
from m3desk.domain.superseding import Standing, standing
from m3desk.domain.tally import Tally

BY_SIMILARITY = "consolidation "
"""Prefix of `by` of the votes that a model casts for two similar nodes of one type (domain.consolidation); the model's name follows."""

SHOWN_FROM = 0.4
"""Summed score from which a heard name is shown ("Jeff Steen?")."""


@dataclass(frozen=True, slots=True)
class Held:
    """The binding in force of an observation. `node`, `person`: None = nobody; `step`: the correction that decided it, None = a model."""

    node: str | None
    person: str | None
    set_aside: bool = False
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A pair of nodes with votes (clip, by, weight) that they are one person. `accepted`: they are one person now."""

    a: str
    b: str
    face: str | None
    voice: str | None
    weight: float
    votes: tuple[tuple[str, str, float], ...]
    accepted: bool


@dataclass(frozen=True, slots=True)
class Constraint:
    """A must-link or cannot-link of a correction: `a` and `b` (an observation or person, and a person) must, or cannot, be one.

    `state`: kept; overridden by a later decision; waiting for evidence that is missing now; broken (a bug of M3Desk).
    """

    step: int
    kind: str
    a: str
    b: str
    by: str
    state: str


@dataclass(slots=True)
class Identities:
    """Who is who. `person_of`: node → person; `canonical`: any person id → its id in force; `members`: person → node ids.

    `distinct`: pairs of persons (both orders) with a cannot-link. `held`: the observations in force; `evidence`: which observations replace
    others; `bindings`: by observation, superseded ones too; `owned`: node → observations in force; `told`: nodes to which a user assigned
    observations; `constraints`: by step.
    """

    held: dict[str, Held] = field(default_factory=dict)
    bindings: dict[str, tuple[Binding, ...]] = field(default_factory=dict)
    nodes: dict[str, Birth] = field(default_factory=dict)
    person_of: dict[str, str] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    equivalences: dict[tuple[str, str], Equivalence] = field(default_factory=dict)
    constraints: dict[int, tuple[Constraint, ...]] = field(default_factory=dict)
    distinct: Container[tuple[str, str]] = frozenset()
    evidence: Standing = field(default_factory=Standing)
    owned: Mapping[str, Collection[str]] = field(default_factory=dict)
    told: Container[str] = frozenset()

    def every_constraint(self) -> Iterator[Constraint]:
        """Yield the constraints of all steps in force, in order of steps."""
        for step in sorted(self.constraints):
            yield from self.constraints[step]

    def every_equivalence(self) -> list[Equivalence]:
        """Return the pairs of nodes with votes that they are one person, in order of their numbers."""
        return [self.equivalences[pair] for pair in sorted(self.equivalences, key=lambda p: (numbered(p[0]), numbered(p[1])))]

    def of_node(self, node: str) -> list[str]:
        """Return the observations of a node, in order of time."""
        return sorted(self.owned.get(node, ()), key=self._when)

    def of_person(self, person: str) -> list[str]:
        """Return the observations that a person owns, in order of time."""
        return sorted((o for node in self.members.get(person, ()) for o in self.owned.get(node, ())), key=self._when)

    def _when(self, observation: str) -> tuple[int, int, str]:
        seen = self.evidence.seen[observation]
        return seen.sequence, seen.start, seen.id


class Partition:
    """Which persons are one: a union-find with cannot-link constraints."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._cannot_links: dict[str, set[str]] = defaultdict(set)  # roots

    def copy(self) -> Partition:
        """Return an independent copy."""
        made = Partition()
        made._parent = dict(self._parent)
        made._cannot_links = defaultdict(set, {person: set(others) for person, others in self._cannot_links.items()})
        return made

    def root(self, person: str) -> str:
        parent = self._parent.setdefault(person, person)
        while parent != self._parent[parent]:
            parent = self._parent[parent]
        self._parent[person] = parent
        return parent

    def one(self, a: str, b: str) -> bool:
        return self.root(a) == self.root(b)

    def cannot_join(self, a: str, b: str) -> bool:
        return self.root(b) in self._cannot_links[self.root(a)]

    def join(self, a: str, b: str) -> bool:
        """Join two persons; return False if a cannot-link forbids it."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return True
        if self.cannot_join(a, b):
            return False
        keep, gone = sorted((a, b), key=numbered)
        self._parent[gone] = keep
        theirs = self._cannot_links.pop(gone, set())
        for other in theirs:
            self._cannot_links[other].discard(gone)
            self._cannot_links[other].add(keep)
        self._cannot_links[keep] |= theirs
        return True

    def add_cannot_link(self, a: str, b: str) -> bool:
        """Forbid joining two persons from now on; return False if they are one already."""
        if self.one(a, b):
            return False
        self._cannot_links[self.root(a)].add(self.root(b))
        self._cannot_links[self.root(b)].add(self.root(a))
        return True

    def cannot_links(self) -> list[tuple[str, str]]:
        """Return the pairs of roots with a cannot-link, in both orders."""
        return [(a, b) for a, others in self._cannot_links.items() for b in others]

    def classes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for person in sorted(self._parent, key=numbered):
            found[self.root(person)].append(person)
        return found


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
    _people(log, state, steps)
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
    """Yield the pairs of observations in force with a cannot-link (one frame, overlapping speech); of split ones those that overlap."""
    for a, b in log.cannot_links:
        yield from cannot_links_between(a, b, evidence)


def cannot_links_between(a: str, b: str, evidence: Standing) -> Iterator[tuple[str, str]]:
    """Yield the pairs of observations in force that replace a pair with a cannot-link."""
    if a not in evidence.successors and b not in evidence.successors:
        yield a, b
        return
    for x in evidence.leaves(a):
        for y in evidence.leaves(b):
            one, two = evidence.seen.get(x), evidence.seen.get(y)
            if one and two and one.start < two.end and two.start < one.end:
                yield x, y


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


def names_given(steps: Iterable[Step]) -> dict[str, str | None]:
    """Return person id → the name a user gave it."""
    names: dict[str, str | None] = {}
    for step in steps:
        if step.kind == "name" or (step.args.get("name") and step.kind in ("assign", "split", "enroll")):
            names[step.args["person"]] = step.args["name"]
    return names


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


# ---------------------------------------------------------------- people


def _people(log: Log, state: Identities, steps: list[Step]) -> None:
    names = names_given(steps)
    ignored, rejected = ignored_people(steps), rejected_names(steps, state.canonical)
    seen: dict[str, list[ObservationRow]] = defaultdict(list)
    for id_, held in state.held.items():
        if held.person:
            seen[held.person].append(log.observations[id_])
    heard = _heard(log, state, rejected, names)
    others: dict[str, list[str]] = defaultdict(list)
    for alias, id_ in state.canonical.items():
        if alias != id_:
            others[id_].append(alias)
    for id_ in sorted(state.members, key=numbered):
        tally = Tally.of(seen.get(id_, ()), state.evidence.enrolled)
        state.people[id_] = person(state, id_, names, others.get(id_, ()), ignored, heard.get(id_, ()), tally)


def ignored_people(steps: Iterable[Step]) -> dict[str, bool]:
    """Return person id → whether a user hides them."""
    return {s.args["person"]: bool(s.args.get("ignored", True)) for s in steps if s.kind == "ignore"}


def rejected_names(steps: Iterable[Step], canonical: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return (person, name) that a user refused."""
    refused = [s.args for s in steps if s.kind == "reject" and "name" in s.args]
    return {(canonical.get(args["person"], ""), args["name"].casefold()) for args in refused}


def person(
    state: Identities,
    id_: str,
    names: Mapping[str, str | None],
    others: Sequence[str],
    ignored: Mapping[str, bool],
    suggested: Sequence[SuggestedName],
    tally: Tally,
) -> Person:
    """Return a person. `others`: further ids of this person; `tally`: totals of its observations; `suggested`: best first."""
    aliases = sorted(others, key=numbered)
    name = names.get(id_)
    aliases += [n for a in list(aliases) if (n := names.get(a)) and n != name]
    heard = [h for h in suggested if name is None or h.name.casefold() != name.casefold()]
    best = heard[0] if heard and heard[0].score >= SHOWN_FROM else None
    status: NameState = "confirmed" if name else "suggested" if best else "none"
    return Person(
        id=id_,
        number=numbered(id_),
        name=name,
        name_state=status,
        shown=name or (f"{best.name}?" if best else f"Person {numbered(id_)}"),
        suggested_names=tuple(heard),
        aliases=tuple(aliases),
        faces=tuple(n for n in state.members[id_] if state.nodes[n].type == "face"),
        voices=tuple(n for n in state.members[id_] if state.nodes[n].type == "voice"),
        first_seen=(source_id(tally.first[0]), tally.first[1]) if tally.first else None,
        last_seen=(source_id(tally.last[0]), tally.last[1]) if tally.last else None,
        screen_time=tally.screen_time,
        speech_time=tally.speech_time,
        clips=tally.clips,
        ignored=any(ignored.get(p, False) for p in (id_, *others)),
        portrait=tally.picture,
    )


def _heard(log: Log, state: Identities, rejected: set[tuple[str, str]], given: Mapping[str, str | None]) -> dict[str, list[SuggestedName]]:
    """Return person → suggested names, best first; spellings that differ only in case are one name. `given`: names by users.

    Words that can't be a name are left out, and so is a name by which several persons are addressed (domain.naming).
    """
    tally: dict[tuple[str, str], list[tuple[str, NameHeard]]] = defaultdict(list)
    for h in log.names:
        held = state.held.get(state.evidence.follow(h.observation, h.at, h.at + 1))
        name = plausible(h.name)
        if held and held.person and name and (held.person, name.casefold()) not in rejected:
            tally[held.person, name.casefold()].append((name, h))
    theirs = whose({key: [(h.by, h.score) for _, h in rows] for key, rows in tally.items()}, confirmed_names(given, state.canonical))
    found: dict[str, list[SuggestedName]] = defaultdict(list)
    for (person, key), rows in tally.items():
        if (person, key) in theirs:
            found[person].append(suggested_name(rows))
    for names in found.values():
        names.sort(key=lambda n: (-n.score, n.name))
    return found


def confirmed_names(given: Mapping[str, str | None], canonical: Mapping[str, str]) -> dict[str, str]:
    """Return person, as they are called now → the name a user gave them."""
    return {canonical.get(p, p): n for p, n in given.items() if n}


def suggested_name(rows: Sequence[tuple[str, NameHeard]]) -> SuggestedName:
    """Return the suggested name of one person from all (spelling, where it was heard)."""
    spelling = max(Counter(n for n, _ in rows).items(), key=lambda c: (c[1], c[0]))[0]
    score = round(min(1.0, sum(min(1.0, max(0.0, h.score)) for _, h in rows)), 6)
    return SuggestedName(spelling, score, tuple(dict.fromkeys(h.evidence for _, h in rows)), rows[0][1].words)
