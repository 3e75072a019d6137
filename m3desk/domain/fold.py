"""The present state of a memory, computed from its log: who owns what, who is whom, what is known. Pure: same log, same state.

Order of authority: latest user decision > earlier user decision > hard evidence (`apart`) > votes. A correction that was undone is
as if it had never been made; what later clips bound to the nodes it made stays there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from m3desk.domain.clip import source_of
from m3desk.domain.correction import Step
from m3desk.domain.equivalence import COMPANY, MATE, Moment, company, enough, weigh
from m3desk.domain.log import Birth, Bound, Log, NameHeard, Seen, in_force, numbered
from m3desk.domain.naming import plausible, whose
from m3desk.domain.people import Binding, NameState, Person, SuggestedName
from m3desk.domain.superseding import Standing, standing

ALIKE = "consolidation "
"""What the votes begin with that a model casts for two nodes of one kind (domain.consolidation); its name follows."""

SHOWN_FROM = 0.4
"""Summed score from which a heard name is shown ("Jeff Steen?")."""


@dataclass(frozen=True, slots=True)
class Held:
    """An observation as it stands: `node` and `person` None = nobody's; `step`: the correction that decided it, else a model did."""

    node: str | None
    person: str | None
    set_aside: bool = False
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two nodes that votes (clip, by, weight) call one person. `accepted`: they are one person now."""

    a: str
    b: str
    face: str | None
    voice: str | None
    weight: float
    votes: tuple[tuple[str, str, float], ...]
    accepted: bool


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a correction demands: `a` and `b` (an observation or person, and a person) must, or cannot, be one.

    `state`: kept; overridden by a later decision; waiting for evidence that is not here; broken (a fault of M3Desk).
    """

    step: int
    kind: str
    a: str
    b: str
    by: str
    state: str


@dataclass(slots=True)
class Identities:
    """Who is who. `person_of`: node → person; `canonical`: any person id → the one it goes by now; `members`: person → node ids.

    `distinct`: pairs of persons (both orders) that a user or one frame keeps apart. `held`: the observations in force; `evidence` says what
    stands in the place of others.
    """

    held: dict[str, Held] = field(default_factory=dict)
    bindings: list[Binding] = field(default_factory=list)
    nodes: dict[str, Birth] = field(default_factory=dict)
    person_of: dict[str, str] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    equivalences: list[Equivalence] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    distinct: frozenset[tuple[str, str]] = frozenset()
    evidence: Standing = field(default_factory=Standing)


class Partition:
    """Which persons are one: a union-find that knows who must not be joined."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._foes: dict[str, set[str]] = defaultdict(set)

    def root(self, person: str) -> str:
        parent = self._parent.setdefault(person, person)
        while parent != self._parent[parent]:
            parent = self._parent[parent]
        self._parent[person] = parent
        return parent

    def one(self, a: str, b: str) -> bool:
        return self.root(a) == self.root(b)

    def foes(self, a: str, b: str) -> bool:
        return self.root(b) in {self.root(f) for f in self._foes[self.root(a)]}

    def join(self, a: str, b: str) -> bool:
        """Make two one; False where they must stay apart."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return True
        if self.foes(a, b):
            return False
        keep, gone = sorted((a, b), key=numbered)
        self._parent[gone] = keep
        self._foes[keep] |= self._foes.pop(gone, set())
        return True

    def part(self, a: str, b: str) -> bool:
        """Keep two apart from now on; False where they are one already."""
        if self.one(a, b):
            return False
        self._foes[self.root(a)].add(self.root(b))
        self._foes[self.root(b)].add(self.root(a))
        return True

    def kept_apart(self) -> list[tuple[str, str]]:
        """Return the pairs of roots that must not be joined, in both orders."""
        return [(self.root(a), self.root(b)) for a, foes in self._foes.items() for b in foes]

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
    _keep_apart(partition, log, state, births)
    votes = _votes(log, state)
    _link(partition, votes, births, state, log)
    _name_classes(state, partition, births, steps)
    state.distinct = frozenset((state.canonical[a], state.canonical[b]) for a, b in partition.kept_apart())
    state.held = {o: Held(h.node, state.person_of.get(h.node) if h.node else None, h.set_aside, h.step) for o, h in state.held.items()}
    state.equivalences = _equivalences(votes, state)
    state.constraints = _constraints(log, steps, state, decided)
    _people(log, state, steps)
    return state


# ---------------------------------------------------------------- bindings


def _held(log: Log, steps: list[Step], evidence: Standing) -> tuple[dict[str, Held], list[Binding]]:
    """Return what holds for each observation in force and every binding that is or was in force, superseded ones marked.

    What stands in the place of another observation is whose that one would be, until somebody says otherwise.
    """
    by_observation: dict[str, list[Bound]] = defaultdict(list)
    for b in log.bindings:
        by_observation[b.observation].append(b)
    verdicts: dict[str, list[tuple[Step, str | None]]] = defaultdict(list)
    for step in steps:
        for observation, node in step.args.get("bindings", {}).items():
            if node in log.nodes:  # else its source was removed: the step waits until it is found again
                verdicts[observation].append((step, node))
        if step.kind == "set-aside":
            for observation in step.args["observations"]:
                verdicts[observation].append((step, None))
    replaced = {old: log.observations[parts[0]].sequence for old, parts in evidence.successors.items()}
    stands: dict[str, Held] = {}
    now: dict[str, Binding] = {}
    rows: list[Binding] = []
    for id_ in sorted(log.observations, key=lambda o: log.observations[o].sequence):  # parts come after what they replace
        if id_ in evidence.absent:
            continue
        models, users, old = by_observation.get(id_, []), verdicts.get(id_, []), log.observations[id_].replaces
        words = sorted([s.sequence for s, _ in users] + ([replaced[id_]] if id_ in replaced else []))
        ends = sorted([b.sequence for b in models] + words)
        mine: list[Binding] = []
        if old in now:
            mine.append(replace(now[old], observation=id_, sequence=log.observations[id_].sequence, superseded=next(iter(ends), None)))
        for b in models:  # after a person's word none is in force, not even at first; nor does it end that word
            late = bool(users) and users[0][0].sequence < b.sequence
            end = b.sequence if late else next((e for e in ends if e > b.sequence), None)
            mine.append(Binding(b.observation, b.node, b.score, b.runner_up, b.margin, b.by, b.at, b.sequence, end))
        for step, node in users:
            if node is not None:
                end = next((e for e in words if e > step.sequence), None)
                mine.append(Binding(id_, node, None, None, None, step.by, step.at, step.sequence, end))
        if users:  # a person's word stands against every later clip and model
            step, node = users[-1]
            stands[id_] = Held(node, None, set_aside=node is None, step=step.step)
        elif models:
            stands[id_] = Held(models[-1].node, None)
        else:
            stands[id_] = stands[old] if old in stands else Held(None, None)
        if in_now := [b for b in mine if b.node == stands[id_].node]:
            now[id_] = in_now[-1]
        rows += mine
    return {o: stands[o] for o in log.observations if o in stands and o not in evidence.successors}, rows


def born_in(log: Log, nodes: Mapping[str, Birth]) -> dict[str, str]:
    """Return node → the person it is born in by the corrections in force, as that one is called now."""
    return _births(log, nodes, in_force(log))


def _births(log: Log, nodes: Mapping[str, Birth], steps: list[Step]) -> dict[str, str]:
    """Return node → the person it is born in; a correction may have taken it out of that one into a new one."""
    names = {r.old: r.new for r in log.renamed}
    births = {n.id: names.get(n.person, n.person) for n in nodes.values() if n.person is not None}
    for step in steps:
        for node, person in step.args.get("births", {}).items():
            if node in births:
                births[node] = person
    return births


# ---------------------------------------------------------------- who is whom


def demands(step: Step, births: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return what a step demands of persons: (must | cannot, a, b)."""
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
    """Apply the users' decisions, the latest first; return which hold."""
    known = set(births.values())
    outcome: dict[tuple[int, str, str, str], bool] = {}
    for step in reversed(steps):
        for kind, a, b in demands(step, births):
            if a in known and b in known:
                outcome[step.step, kind, a, b] = partition.join(a, b) if kind == "must" else partition.part(a, b)
    return outcome


def _keep_apart(partition: Partition, log: Log, state: Identities, births: Mapping[str, str]) -> None:
    for a, b in together(log, state.evidence):
        ha, hb = state.held.get(a), state.held.get(b)
        if ha and hb and ha.node and hb.node and ha.node != hb.node:
            partition.part(births[ha.node], births[hb.node])  # False = a user joined them: mirrors and video calls exist


def together(log: Log, evidence: Standing) -> Iterator[tuple[str, str]]:
    """Yield the pairs of observations in force that one frame or overlapping speech keeps apart; of parts, those there at one time."""
    for a, b in log.apart:
        if a not in evidence.successors and b not in evidence.successors:
            yield a, b
            continue
        for x in evidence.leaves(a):
            for y in evidence.leaves(b):
                one, two = evidence.seen.get(x), evidence.seen.get(y)
                if one and two and one.start < two.end and two.start < one.end:
                    yield x, y


Votes = dict[tuple[str, str], list[tuple[str, str, float]]]


def _votes(log: Log, state: Identities) -> Votes:
    """Return (node, node) in number order → its votes (clip, by, weight).

    What a model found alike counts as long as that model decides who the two observations are; after a switch to another it does not.
    """
    votes: Votes = defaultdict(list)
    by = {b.observation: b.by for b in log.bindings}
    for v in log.votes:
        if v.by.startswith(ALIKE) and any(by.get(o, v.by[len(ALIKE) :]) != v.by[len(ALIKE) :] for o in (v.a, v.b)):
            continue
        a, b = state.held.get(state.evidence.follow_beside(v.a, v.b)), state.held.get(state.evidence.follow_beside(v.b, v.a))
        if a and b and a.node and b.node and a.node != b.node:
            first, second = sorted((a.node, b.node), key=numbered)
            votes[first, second].append((v.clip, v.by, v.weight))
    return votes


def _link(partition: Partition, votes: Votes, births: Mapping[str, str], state: Identities, log: Log) -> None:
    """Join persons by votes: first nodes of one kind, then each voice to the one face that has enough of them, the best supported first.

    In that order, so that the votes for somebody split into two nodes add up. A face that has a voice by votes takes another
    only for votes of the same order (MATE), and a voice that is mostly heard in others' company is nobody's (COMPANY).
    """
    nodes = state.nodes
    alike = [(sum(weigh(cast).values()), a, b) for (a, b), cast in votes.items() if nodes[a].type == nodes[b].type]
    for weight, a, b in sorted(alike, key=lambda r: (-r[0], numbered(r[1]), numbered(r[2]))):
        if enough({"all": weight}, 0.0):
            partition.join(births[a], births[b])
    tally: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for (a, b), cast in votes.items():
        types = {nodes[a].type: a, nodes[b].type: b}
        if len(types) == 2:
            face, voice = partition.root(births[types["face"]]), partition.root(births[types["voice"]])
            if partition.foes(face, voice):
                continue  # what a user keeps apart is no rival either
            for clip, weight in weigh(cast).items():
                tally[voice][face][clip] += weight
    taken = {partition.root(births[n.id]) for n in nodes.values() if n.type == "face" and n.id in births}
    ranked: list[tuple[float, int, str, str]] = []
    for voice, faces in tally.items():
        totals = sorted(((sum(c.values()), -numbered(f), f) for f, c in faces.items()), reverse=True)
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
) -> tuple[dict[str, list[Moment]], dict[str, list[tuple[int, int, str]]]]:
    """Return person → when they are heard, and clip → who is in view when; by persons as they are joined now."""
    said: dict[str, list[Moment]] = defaultdict(list)
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
    """Give each class its id: the named one, of several named the one a merge kept, else the oldest."""
    names = _names(steps)
    kept = [s.args["keep"] for s in reversed(steps) if s.kind == "merge"]
    born: dict[str, list[str]] = defaultdict(list)
    for node, person in births.items():
        born[person].append(node)
    for members in partition.classes().values():
        named = [p for p in members if names.get(p)]
        id_ = next((k for k in kept if k in named), None) if len(named) > 1 else None
        id_ = id_ or (named[0] if named else members[0])
        for p in members:
            state.canonical[p] = id_
        state.members[id_] = sorted((n for p in members for n in born[p]), key=numbered)
        for node in state.members[id_]:
            state.person_of[node] = id_


def _names(steps: Iterable[Step]) -> dict[str, str | None]:
    """Return person id → the name a user gave it."""
    names: dict[str, str | None] = {}
    for step in steps:
        if step.kind == "name" or (step.args.get("name") and step.kind in ("assign", "split", "enroll")):
            names[step.args["person"]] = step.args["name"]
    return names


def _equivalences(votes: Votes, state: Identities) -> list[Equivalence]:
    rows = []
    for (a, b), cast in sorted(votes.items(), key=lambda v: (numbered(v[0][0]), numbered(v[0][1]))):
        types = {state.nodes[a].type: a, state.nodes[b].type: b}
        mixed = len(types) == 2
        weight = round(sum(w for _, _, w in cast), 6)
        accepted = state.person_of[a] == state.person_of[b]
        rows.append(Equivalence(a, b, types["face"] if mixed else None, types["voice"] if mixed else None, weight, tuple(cast), accepted))
    return rows


# ---------------------------------------------------------------- constraints


def _constraints(log: Log, steps: list[Step], state: Identities, decided: Mapping[tuple[int, str, str, str], bool]) -> list[Constraint]:
    """Say of every demand of the steps in force whether it is kept."""
    births = _births(log, state.nodes, steps)
    rows: list[Constraint] = []
    for step in steps:
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
        for kind, a, b in demands(step, births):
            outcome = decided.get((step.step, kind, a, b))
            if outcome is None:
                verdict = "waiting"
            elif not outcome:
                verdict = "overridden"
            else:
                verdict = "kept" if (state.canonical[a] == state.canonical[b]) == (kind == "must") else "broken"
            rows.append(Constraint(step.step, kind, a, b, step.by, verdict))
    return rows


def _verdict(state: Identities, observation: str, step: Step, node: str | None) -> str:
    """Say whether a step's word on whose an observation is (None: nobody's) is kept, by what stands in that observation's place now."""
    found = [h for o in state.evidence.leaves(observation) if (h := state.held.get(o)) is not None]
    if not found:
        return "waiting"
    mine = [h for h in found if h.step == step.step]
    if not mine:
        return "overridden"
    return "kept" if all(h.node == node and h.set_aside == (node is None) for h in mine) else "broken"


# ---------------------------------------------------------------- people


def _people(log: Log, state: Identities, steps: list[Step]) -> None:
    names = _names(steps)
    ignored: dict[str, bool] = {}
    rejected: set[tuple[str, str]] = set()
    for step in steps:
        if step.kind == "ignore":
            ignored[step.args["person"]] = bool(step.args.get("ignored", True))
        if step.kind == "reject" and "name" in step.args:
            rejected.add((state.canonical.get(step.args["person"], ""), step.args["name"].casefold()))
    seen: dict[str, list[Seen]] = defaultdict(list)
    for id_, held in state.held.items():
        if held.person:
            seen[held.person].append(log.observations[id_])
    heard = _heard(log, state, rejected, names)
    others: dict[str, list[str]] = defaultdict(list)
    for alias, id_ in state.canonical.items():
        if alias != id_:
            others[id_].append(alias)
    for id_ in sorted(state.members, key=numbered):
        aliases = sorted(others.get(id_, []), key=numbered)
        name = names.get(id_)
        aliases += [n for a in list(aliases) if (n := names.get(a)) and n != name]
        hidden = any(ignored.get(p, False) for p in (id_, *others.get(id_, [])))
        state.people[id_] = _person(state, id_, name, tuple(aliases), hidden, heard.get(id_, []), seen.get(id_, []))


def _person(
    state: Identities, id_: str, name: str | None, aliases: tuple[str, ...], ignored: bool, heard: list[SuggestedName], seen: list[Seen]
) -> Person:
    heard = [h for h in heard if name is None or h.name.casefold() != name.casefold()]
    best = heard[0] if heard and heard[0].score >= SHOWN_FROM else None
    status: NameState = "confirmed" if name else "suggested" if best else "none"
    shown = name or (f"{best.name}?" if best else f"Person {numbered(id_)}")
    shots = [o for o in seen if o.type == "face" and o.picture]
    seen = [o for o in seen if o.id not in state.evidence.enrolled]  # a photo that taught us somebody is no moment of theirs
    times = sorted((numbered_source(o.clip), o.start, o.end) for o in seen)
    latest = max(((numbered_source(o.clip), o.end) for o in seen), default=None)
    faces = [o for o in seen if o.type == "face"]
    portrait = max(shots, key=lambda o: (o.quality, o.id), default=None)
    return Person(
        id=id_,
        number=numbered(id_),
        name=name,
        name_state=status,
        shown=shown,
        suggested_names=tuple(heard),
        aliases=aliases,
        faces=tuple(n for n in state.members[id_] if state.nodes[n].type == "face"),
        voices=tuple(n for n in state.members[id_] if state.nodes[n].type == "voice"),
        first_seen=(f"s{times[0][0]}", times[0][1]) if times else None,
        last_seen=(f"s{latest[0]}", latest[1]) if latest else None,
        screen_time=sum(o.end - o.start for o in faces),
        speech_time=sum(o.end - o.start for o in seen if o.type == "voice"),
        clips=tuple(sorted({o.clip for o in seen}, key=clip_order)),
        ignored=ignored,
        portrait=portrait.picture if portrait else None,
    )


def numbered_source(id_: str) -> int:
    """Return the number of the source in a clip's or an observation's id: 1 of `s1.c12`."""
    return int(source_of(id_)[1:])


def clip_order(clip: str) -> tuple[int, int]:
    """Return a key that sorts clip ids by source and time."""
    source, index = clip.split(".")[:2]
    return int(source[1:]), int(index[1:])


def _heard(log: Log, state: Identities, rejected: set[tuple[str, str]], given: Mapping[str, str | None]) -> dict[str, list[SuggestedName]]:
    """Return person → names heard for them, best first; spellings that differ only in case are one name. `given`: names by users.

    What can't be a name is left out whoever heard it, and so is a name by which several are addressed (domain.naming).
    """
    tally: dict[tuple[str, str], list[tuple[str, NameHeard]]] = defaultdict(list)
    for h in log.names:
        held = state.held.get(state.evidence.follow(h.observation, h.at, h.at + 1))
        name = plausible(h.name)
        if held and held.person and name and (held.person, name.casefold()) not in rejected:
            tally[held.person, name.casefold()].append((name, h))
    confirmed = {state.canonical.get(p, p): n for p, n in given.items() if n}
    theirs = whose({key: [(h.by, h.score) for _, h in rows] for key, rows in tally.items()}, confirmed)
    found: dict[str, list[SuggestedName]] = defaultdict(list)
    for (person, key), rows in tally.items():
        if (person, key) not in theirs:
            continue
        spelling = max(Counter(n for n, _ in rows).items(), key=lambda c: (c[1], c[0]))[0]
        score = round(min(1.0, sum(min(1.0, max(0.0, h.score)) for _, h in rows)), 6)
        found[person].append(SuggestedName(spelling, score, tuple(dict.fromkeys(h.evidence for _, h in rows)), rows[0][1].words))
    for names in found.values():
        names.sort(key=lambda n: (-n.score, n.name))
    return found
