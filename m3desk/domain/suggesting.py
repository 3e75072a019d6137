"""Which questions to put to a person, and in which order: pure ranking over who is who, what looks alike and what hangs on it.

`worth` of a question = (p + H(p)) × mass. p: how likely the answer is yes, that is, how likely the memory is wrong as it stands.
H(p), in bits: how much doubt an answer takes away. So a likely mend and an open question both come first, and what is nearly
surely right as it is comes last. mass = observations + 2 × memories
that would read differently + seconds on screen or speaking / 10, × 1.5 where a confirmed name is at stake (then the answer tells who
somebody is, not only that two are one).
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from m3desk.domain.calibration import Calibration
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.consolidation import alike, two_groups, whole
from m3desk.domain.correction import Step
from m3desk.domain.equivalence import LEAD, SUFFICIENT, WEAK, weigh
from m3desk.domain.evidence import Floats
from m3desk.domain.fold import SHOWN_FROM, Equivalence, Partition, demands
from m3desk.domain.identity import Gallery
from m3desk.domain.log import Log, ObservationType, in_force
from m3desk.domain.people import Person
from m3desk.domain.sentences import State
from m3desk.domain.suggestion import Suggestion, SuggestionKind
from m3desk.domain.untangling import cuts, told_apart, told_one

LEAST = 0.15
"""A question less likely than this to be answered with yes is not put."""

SHORT = 9999
"""Numbers of questions are 1 to this, but where two open questions would share one."""


UNLIKE = 0.1
"""What is left of the odds that two voices are one person's where their faces are not alike at all (or the other way round)."""

ALIKE_AT_ONCE, ALIKE_PER_TEN, ALIKE_WIDTH = 0.56, 0.14, 0.03
"""Likeness (cosine of means, CAM++) at which two voices of 1 s are as likely one as two; how much more with 10 s; per unit of log odds."""

CLUSTERED_APART = 0.4
"""The same, where both were heard or seen in one clip and not taken for one there."""


@dataclass(slots=True)
class Known:
    """What is known when questions are asked. `galleries`: what a node looks or sounds like. `vectors`: observation → (n, d) unit rows."""

    state: State
    log: Log
    galleries: Mapping[ObservationType, Sequence[Gallery]] = field(default_factory=dict)
    rules: Mapping[ObservationType, Calibration] = field(default_factory=dict)
    vectors: Mapping[str, Floats] = field(default_factory=dict)


def suggest(known: Known) -> list[Suggestion]:
    """Return all open questions, most useful first; of several about the same two persons only the most useful."""
    found, shown = [], set()
    for s in ask(known):
        about = (s.kind, s.people) if s.kind == "same" else (s.kind, s.key)
        if about not in shown:
            shown.add(about)
            found.append(s)
    return found


def ask(known: Known) -> list[Suggestion]:
    """Return all open questions with their numbers, most useful first."""
    facts = _Facts(known)
    settled = settled_keys(in_force(known.log))
    found = [d for d in (*_same(facts), *_two_people(facts), *_links(facts), *_names(facts)) if d.key not in settled]
    given = numbers(d.key for d in found)
    made = [d.numbered(given[d.key], facts) for d in found]
    return sorted(made, key=lambda s: (-s.worth, s.key))


def settled_keys(steps: Iterable[Step]) -> set[str]:
    """Return the keys of questions that steps in force have answered: none of them is asked again."""
    return {":".join(s.args["key"]) for s in steps if "key" in s.args}


def numbers(keys: Iterable[str]) -> dict[str, int]:
    """Give each open question a number that depends on its key alone, so that it stays when others come and go.

    It is 1 to SHORT, by a hash. Two open questions that would share one both get a longer one: a number never comes to mean another
    question that happens to be open as well.
    """
    full = {key: int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") for key in keys}
    taken = Counter(n % SHORT for n in full.values())
    return {key: n % SHORT + 1 if taken[n % SHORT] == 1 else SHORT + 1 + n // SHORT % 10**9 for key, n in full.items()}


# ---------------------------------------------------------------- what hangs on a person


def births(known: Known) -> dict[str, str]:
    """Return face or voice node → the person it is born in by the corrections in force."""
    born = {n.id: n.person for n in known.state.who.nodes.values() if n.person}
    for step in in_force(known.log):
        born |= {n: p for n, p in step.args.get("births", {}).items() if n in born}
    return born


class _Facts:
    """Counts by person, made once: observations, memories, seconds."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.who = known.state.who
        self.born = births(known)
        self.observations: dict[str, list[str]] = defaultdict(list)
        self.of_node: dict[str, list[str]] = defaultdict(list)
        for o, h in self.who.held.items():
            if h.person and h.node:
                self.observations[h.person].append(o)
                self.of_node[h.node].append(o)
        self.told: Counter[str] = Counter(p for n in known.state.nodes.values() if _sentence(n.id) and not n.deleted for p in set(n.people))

    def seconds(self, observations: Iterable[str]) -> float:
        seen = self.known.log.observations
        return sum(seen[o].end - seen[o].start for o in observations) / MICROSECOND

    def best(self, observations: Iterable[str]) -> tuple[str, ...]:
        """Return observations, most telling first: by quality (faces) or recognised words (speech), then length."""
        seen = self.known.log.observations
        return tuple(sorted(observations, key=lambda o: (-seen[o].quality, seen[o].start - seen[o].end, o)))

    def mass(self, person: str) -> float:
        mine = self.observations[person]
        return len(mine) + 2.0 * self.told[person] + self.seconds(mine) / 10

    def shown(self, person: str) -> str:
        return self.who.people[person].shown


def _sentence(node: str) -> bool:
    return node.startswith(("episodic", "semantic"))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question before it has its number."""

    kind: SuggestionKind
    parts: tuple[str, ...]
    people: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    score: float
    mass: float
    effect: str
    question: str
    accept: tuple[str, dict[str, Any]]
    reject: tuple[str, dict[str, Any]]
    name: str | None = None

    @property
    def key(self) -> str:
        return ":".join((self.kind, *self.parts))

    def numbered(self, n: int, facts: _Facts) -> Suggestion:
        sure = 1.5 if any(facts.who.people[p].name for p in self.people) else 1.0
        worth = round((self.score + _bits(self.score)) * self.mass * sure, 6)
        return Suggestion(
            n=n, kind=self.kind, key=self.key, people=self.people, groups=self.groups, score=round(self.score, 6), worth=worth,
            effect=self.effect, question=self.question, accept=self.accept, reject=self.reject, name=self.name,
        )  # fmt: skip


def _bits(p: float) -> float:
    return 0.0 if p <= 0 or p >= 1 else -(p * math.log2(p) + (1 - p) * math.log2(1 - p))


def _count(things: int, one: str, many: str = "") -> str:
    return f"{things} {one if things == 1 else many or one + 's'}"


def _counted(observations: Iterable[str]) -> str:
    """Say what changes hands: "12 faces and 1 utterance"."""
    kinds = Counter("face" if o.rsplit(".", 1)[1].startswith("f") else "utterance" for o in observations)
    return " and ".join(_count(kinds[k], k) for k in ("face", "utterance") if kinds[k])


def _read(told: int) -> str:
    return f", {_count(told, 'memory reads', 'memories read')} differently" if told else ""


# ---------------------------------------------------------------- the kinds


def _same(facts: _Facts) -> list[_Draft]:
    """Ask of persons who look or sound alike, yet not enough to be one, whether they are."""
    found = []
    for type_, galleries in facts.known.galleries.items():
        by_node = {g.node: g for g in galleries}
        for pair in alike(galleries, facts.known.rules[type_], facts.who.distinct):
            a, b = by_node[pair.a], by_node[pair.b]
            p = _voices_alike(a, b, pair.score) if facts.known.rules[type_].whole else pair.certainty
            p = _held_against(facts, type_, a, b, p)
            if p >= LEAST and {a.person, b.person} <= facts.who.people.keys():
                found.append(_same_person(facts, a, b, p))
    return found


def _voices_alike(a: Gallery, b: Gallery, likeness: float) -> float:
    """Return how likely two voices are one person's. A word tells little, so that little likeness is asked of it; minutes tell all.

    Measured on the pairs of voice nodes ≥ .49 alike of reel, ami_30s and 12 speakers of LibriSpeech (40 pairs): with 8 s and more on both
    sides none of 21 up to .60 is one person, with 1–2.3 s 5 of 15 from .52 to .605 are.
    """
    tens = math.log10(max(1.0, min(a.duration, b.duration) / MICROSECOND))
    return 1.0 / (1.0 + math.exp((ALIKE_AT_ONCE + ALIKE_PER_TEN * min(1.0, tens) - likeness) / ALIKE_WIDTH))


def _held_against(facts: _Facts, type_: ObservationType, a: Gallery, b: Gallery, p: float) -> float:
    """Return how likely two nodes are one person when what else is known of their persons is held against it."""
    odds = min(p, 0.99) / (1 - min(p, 0.99))
    for other, galleries in facts.known.galleries.items():
        rule = facts.known.rules[other]
        if other == type_ or rule.alike is None:
            continue
        mine, theirs = ([g for g in galleries if g.person == x.person] for x in (a, b))
        if mine and theirs and max((whole(x.vectors, y.vectors, rule) for x in mine for y in theirs), default=1.0) < rule.alike:
            odds *= UNLIKE
    seen = facts.known.log.observations
    if {seen[o].clip for o in facts.of_node[a.node]} & {seen[o].clip for o in facts.of_node[b.node]}:
        odds *= CLUSTERED_APART
    return odds / (1 + odds)


def _same_person(facts: _Facts, a: Gallery, b: Gallery, p: float) -> _Draft:
    keep, gone = sorted((facts.who.people[a.person], facts.who.people[b.person]), key=lambda x: (x.name is None, x.number))
    moved, told = facts.observations[gone.id], facts.told[gone.id]
    groups = tuple(facts.best(facts.of_node[g.node]) for g in ((a, b) if keep.id == a.person else (b, a)))
    return _Draft(
        "same", (a.node, b.node), (keep.id, gone.id), groups, p, min(facts.mass(keep.id), facts.mass(gone.id)),
        f"joins {_counted(moved)}{_read(told)}", f"Are {keep.shown} and {gone.shown} the same person?",
        ("merge", {"keep": keep.id, "others": [gone.id]}), ("distinct", {"a": keep.id, "b": gone.id}),
    )  # fmt: skip


COMPARED = 60
"""Observations of a node that are compared with each other in search of two groups: the most telling ones."""


def _two_people(facts: _Facts) -> list[_Draft]:
    """Ask of a person whose faces (or voices) fall into two unlike groups whether they are two."""
    found = []
    # Of whom a user said that all of this is one person, what comes later is not asked about again.
    answers = (s for s in in_force(facts.known.log) if s.kind == "merge" and s.args.get("key", ("",))[0] == "two_people")
    closed = {node for s in answers for node in s.args["bindings"].values()}
    for person in facts.who.people.values():
        for type_ in ("face", "voice"):
            parts = _parts(facts, [n for n in facts.who.members[person.id] if n.startswith(type_) and n not in closed])
            if len(parts) > 1 and (draft := _two(facts, person, type_, parts)):
                found.append(draft)
    return found + _tangled(facts)


def _tangled(facts: _Facts) -> list[_Draft]:
    """Ask the same of a person whom votes put together of nodes that cannot be compared: those of another tool's graph."""
    who, known = facts.who, facts.known
    votes = told_one(who.equivalences)
    found = []
    against = None
    for person in who.people.values():
        nodes = [n for n in who.members[person.id] if facts.of_node[n]]
        if len(nodes) < 2 or any(len(known.vectors.get(o, ())) for n in nodes for o in facts.of_node[n]):
            continue
        against = told_apart(known.log, known.state) if against is None else against
        units = _units(facts, nodes)
        sound = [c for c in cuts(votes, nodes, against) if not {units[n] for n in c.part} & {units[n] for n in c.rest}]
        if sound and sound[0].score >= LEAST:
            first, second = ({o for n in side for o in facts.of_node[n]} for side in (sound[0].rest, sound[0].part))
            found.append(_in_two(facts, person, first, second, sound[0].score))
    return found


def _units(facts: _Facts, nodes: Sequence[str]) -> dict[str, str]:
    """Return node → a person that stands for all that a user said are one with it: those are not taken apart again."""
    joined = Partition()
    for step in in_force(facts.known.log):
        for kind, a, b in demands(step, facts.born):
            if kind == "must" and step.kind != "split":  # a split says who are two, not that each of them is one
                joined.join(a, b)
    return {n: joined.root(facts.born[n]) for n in nodes}


def _parts(facts: _Facts, nodes: Sequence[str]) -> list[list[str]]:
    """Return a person's observations of one type in parts that are one for sure: nodes if there are several, else single observations."""
    mine = {n: [o for o in facts.of_node[n] if len(facts.known.vectors.get(o, ()))] for n in nodes}
    units: dict[str, list[str]] = defaultdict(list)
    for n, unit in _units(facts, nodes).items():
        units[unit] += mine[n]
    parts = [p for p in units.values() if p]
    if len(parts) != 1:
        return parts
    told = [o for o in parts[0] if facts.who.held[o].step is not None]
    rest = facts.best(o for o in parts[0] if facts.who.held[o].step is None)[:COMPARED]
    return ([told] if told else []) + [[o] for o in sorted(rest, key=lambda o: (facts.known.log.observations[o].sequence, o))]


def _two(facts: _Facts, person: Person, type_: ObservationType, parts: list[list[str]]) -> _Draft | None:
    rule = facts.known.rules[type_]
    blocks = [(i, facts.known.vectors[o]) for i, part in enumerate(parts) for o in part]
    if len({b.shape[1] for _, b in blocks}) != 1 or rule.parted is None:
        return None
    owners = [str(i) for i, b in blocks for _ in range(len(b))]
    groups = two_groups(np.concatenate([b for _, b in blocks]), rule, owners)
    if groups is None:
        return None
    stays, goes = ({int(owners[row]) for row in side} for side in (groups.a, groups.b))
    p = min(0.95, 0.5 + 0.5 * (rule.parted - groups.score) / rule.parted)
    return _in_two(facts, person, {o for i in stays for o in parts[i]}, {o for i in goes for o in parts[i]}, p)


def _in_two(facts: _Facts, person: Person, first: set[str], second: set[str], p: float) -> _Draft:
    """Ask whether a person's observations are two people's; who has the oldest stays who they are."""
    seen = facts.known.log.observations

    def oldest(side: set[str]) -> str:
        return min(side, key=lambda o: (seen[o].sequence, seen[o].start, o))

    first, second = sorted((first, second), key=lambda side: oldest({oldest(first), oldest(second)}) not in side)
    told = _speaking_of(facts, second)
    return _Draft(
        "two_people", (facts.who.held[oldest(first)].node or "", oldest(second)), (person.id,),
        (facts.best(first), facts.best(second)), p, len(second) + 2.0 * told + facts.seconds(second) / 10,
        f"gives {_counted(second)} to somebody new{_read(told)}", f"Is {person.shown} two people?",
        ("split", {"person": person.id, "observations": sorted(second)}),
        ("merge", {"keep": person.id, "observations": sorted(first | second)}),
    )  # fmt: skip


def _speaking_of(facts: _Facts, observations: set[str]) -> int:
    """Return how many memories rest on some of these observations where they speak of a person."""
    told = (n for n in facts.known.state.nodes.values() if _sentence(n.id) and not n.deleted)
    return sum(1 for n in told if any(observations.intersection(s.observations) for s in n.spans))


def _links(facts: _Facts) -> list[_Draft]:
    """Ask whether a voice is a face's where votes speak for it, yet not enough, or for several faces."""
    who = facts.who
    weights = {(e.face, e.voice): sum(weigh(e.votes).values()) for e in who.equivalences if e.face and e.voice}
    found = []
    for e in who.equivalences:
        if e.accepted or e.face is None or e.voice is None or weights[e.face, e.voice] < WEAK:
            continue
        face, voice = who.people.get(who.person_of[e.face]), who.people.get(who.person_of[e.voice])
        if face and voice and (face.id, voice.id) not in who.distinct and facts.of_node[e.face] and facts.of_node[e.voice]:
            rivals = [w for (f, v), w in weights.items() if v == e.voice and f != e.face]
            p = _chance(weights[e.face, e.voice], max(rivals, default=0.0))
            if p >= LEAST:
                found.append(_link(facts, e, face, voice, p))
    return found


def _chance(votes: float, against: float) -> float:
    """Return how likely a link is: 2 to 1 at what links by itself, even at half of that, less by what speaks for other faces."""
    return votes / (votes + LEAD * max(0.0, against) + SUFFICIENT / 2)


def _link(facts: _Facts, e: Equivalence, face: Person, voice: Person, p: float) -> _Draft:
    assert e.face and e.voice
    moved = facts.of_node[e.voice]
    told = sum(1 for n in facts.known.state.nodes.values() if _sentence(n.id) and not n.deleted and voice.id in n.people)
    return _Draft(
        "link", (e.face, e.voice), (face.id, voice.id), (facts.best(facts.of_node[e.face]), facts.best(moved)), p,
        len(moved) + 2.0 * told + facts.seconds(moved) / 10, f"adds {_counted(moved)} to {face.shown}{_read(told)}",
        f"Is this the voice of {face.shown}?",
        ("link", {"face": e.face, "voice": e.voice}), ("unlink", {"face": e.face, "voice": e.voice}),
    )  # fmt: skip


def _names(facts: _Facts) -> list[_Draft]:
    """Ask whether a person is called what was heard or read of them."""
    found = []
    for person in facts.who.people.values():
        if person.name is None and person.clips and not person.ignored:
            found += [_name(facts, person, h.name, h.score) for h in person.suggested_names if h.score >= SHOWN_FROM]
    return found


def _name(facts: _Facts, person: Person, name: str, score: float) -> _Draft:
    mine = facts.observations[person.id]
    return _Draft(
        "name", (person.id, name.casefold()), (person.id,), (facts.best(mine),), min(0.95, score), facts.mass(person.id),
        f"names {_counted(mine)}{_read(facts.told[person.id])}", f"Is Person {person.number} called {name}?",
        ("name", {"person": person.id, "name": name}), ("reject", {"person": person.id, "name": name}), name,
    )  # fmt: skip
