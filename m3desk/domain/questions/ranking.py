"""The open questions to the user, their order, and their numbers. Pure.

`domain.questions.facts` computes the worth of a question, `domain.questions.splits` finds persons who may be two; the other kinds are here.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable

from m3desk.domain.calibration import Calibration
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.consolidation import Pair, similar_pairs, whole
from m3desk.domain.correction import Step
from m3desk.domain.equivalence import LEAD, SUFFICIENT, WEAK, weigh
from m3desk.domain.identities import Equivalence
from m3desk.domain.identity import Gallery, evidence
from m3desk.domain.log import ObservationType, in_force
from m3desk.domain.people import Person
from m3desk.domain.questions.facts import LEAST, Facts, Known, Question, counted, is_sentence, reads
from m3desk.domain.questions.splits import two_people
from m3desk.domain.questions.types import Suggestion
from m3desk.domain.shown_people import SHOWN_FROM

SHORT = 9999
"""Numbers of questions are 1 to this, but where two open questions would share one."""

UNLIKE = 0.1
"""Factor on the odds that two voices are one person if their faces are dissimilar (or the other way round)."""

EVEN_AT_ONE_SECOND, EVEN_PER_TENFOLD, EVEN_WIDTH = 0.56, 0.14, 0.03
"""Cosine of means (rectified CAM++) of P(same person) = 0.5 for two voices of 1 s; how much more with 10 s; and per unit of log odds."""

CLUSTERED_SEPARATELY = 0.4
"""The same, where both were heard or seen in one clip and not taken for one there."""


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
    """Return all open questions with their numbers, most useful first. Hidden people are not asked about."""
    facts = Facts(known)
    settled = settled_keys(in_force(known.log))
    hidden = {p.id for p in facts.who.people.values() if p.ignored}
    every = (*_same(facts), *two_people(facts), *_links(facts), *_names(facts))
    found = [d for d in every if d.key not in settled and not hidden.intersection(d.people)]
    given = numbers(d.key for d in found)
    made = [d.numbered(given[d.key], facts) for d in found]
    return sorted(made, key=lambda s: (-s.worth, s.key))


def settled_keys(steps: Iterable[Step]) -> set[str]:
    """Return the keys of questions that steps in force have answered: none of them is asked again."""
    return {":".join(s.args["key"]) for s in steps if "key" in s.args}


def numbers(keys: Iterable[str]) -> dict[str, int]:
    """Give each open question a number that depends on its key alone, so that it stays when others come and go.

    It is 1 to SHORT, by a hash. Two open questions with the same number both get a longer one: a number never means two open questions.
    """
    full = {key: int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") for key in keys}
    taken = Counter(n % SHORT for n in full.values())
    return {key: n % SHORT + 1 if taken[n % SHORT] == 1 else SHORT + 1 + n // SHORT % 10**9 for key, n in full.items()}


# ---------------------------------------------------------------- the kinds


def _same(facts: Facts) -> list[Question]:
    """Ask whether two persons who look or sound similar, but not enough to be joined, are one."""
    found = []
    for type_, galleries in facts.known.galleries.items():
        by_node = {g.node: g for g in galleries}
        rule = facts.known.rules[type_]
        for pair in similar_pairs(galleries, rule, facts.who.distinct):
            a, b = by_node[pair.a], by_node[pair.b]
            p = _same_voice(a, b, pair.score, rule) if rule.whole else _same_face(a, b, pair, rule)
            p = _held_against(facts, type_, a, b, p)
            if p >= LEAST and {a.person, b.person} <= facts.who.people.keys():
                found.append(_same_person(facts, a, b, p))
    return found


def _same_voice(a: Gallery, b: Gallery, similarity: float, rule: Calibration) -> float:
    """Return the probability that two voices are one person's. A single word needs less similarity than minutes of speech.

    By evidence: in 480 simulated memories of calibration the odds of nodes left apart rise with its ratio as they should (by e for each
    1.01). In 560 others four answers raised recall across recordings from .84 to .977, by similarity alone to .950 (mean of 8 kinds of
    memory), with 293 times "no" (411). Without evidence: measured on 40 pairs of voice nodes with a similarity ≥ .49 (reel, ami_30s, 12
    speakers of LibriSpeech): with 8 s and more on both sides none of 21 up to .60 is one person, with 1–2.3 s 5 of 15 from .52 to .605 are.
    """
    ratio = evidence(a, b, rule)
    if math.isfinite(ratio):
        return 1.0 / (1.0 + math.exp(min(50.0, rule.apart - ratio)))
    tens = math.log10(max(1.0, min(a.duration, b.duration) / MICROSECOND))
    return 1.0 / (1.0 + math.exp((EVEN_AT_ONE_SECOND + EVEN_PER_TENFOLD * min(1.0, tens) - similarity) / EVEN_WIDTH))


def _same_face(a: Gallery, b: Gallery, pair: Pair, rule: Calibration) -> float:
    """Return the probability that two faces are one person's; of a model without measured doubt, how close they are to being joined."""
    if rule.doubt is None:
        return pair.certainty
    even, width = rule.doubt
    p = 1.0 / (1.0 + math.exp((even + rule.more_if_poor(max(a.quality, b.quality)) - pair.score) / width))
    return min(p, 0.5) if pair.twins else p


def _held_against(facts: Facts, type_: ObservationType, a: Gallery, b: Gallery, p: float) -> float:
    """Return the probability that two nodes are one person, given the other evidence on their persons."""
    odds = min(p, 0.99) / (1 - min(p, 0.99))
    for other, galleries in facts.known.galleries.items():
        rule = facts.known.rules[other]
        if other == type_ or rule.similar is None:
            continue
        mine, theirs = ([g for g in galleries if g.person == x.person] for x in (a, b))
        if mine and theirs and max((whole(x.vectors, y.vectors, rule) for x in mine for y in theirs), default=1.0) < rule.similar:
            odds *= UNLIKE
    seen = facts.known.log.observations
    if {seen[o].clip for o in facts.of_node[a.node]} & {seen[o].clip for o in facts.of_node[b.node]}:
        odds *= CLUSTERED_SEPARATELY
    return odds / (1 + odds)


def _same_person(facts: Facts, a: Gallery, b: Gallery, p: float) -> Question:
    keep, gone = sorted((facts.who.people[a.person], facts.who.people[b.person]), key=lambda x: (x.name is None, x.number))
    moved, told = facts.observations[gone.id], facts.told[gone.id]
    groups = tuple(facts.best(facts.of_node[g.node]) for g in ((a, b) if keep.id == a.person else (b, a)))
    return Question(
        "same", (a.node, b.node), (keep.id, gone.id), groups, p, min(facts.mass(keep.id), facts.mass(gone.id)),
        f"joins {counted(moved)}{reads(told)}", f"Are {keep.called} and {gone.called} the same person?",
        ("merge", {"keep": keep.id, "others": [gone.id]}), ("distinct", {"a": keep.id, "b": gone.id}),
    )  # fmt: skip


def _links(facts: Facts) -> list[Question]:
    """Ask whether a voice belongs to a face if votes support it, but not enough, or support several faces."""
    who = facts.who
    weights = {(e.face, e.voice): sum(weigh(e.votes).values()) for e in who.every_equivalence() if e.face and e.voice}
    found = []
    for e in who.every_equivalence():
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
    """Return the probability of a link: 2/3 at the weight that links by itself, 1/2 at half of it, less with votes for other faces."""
    return votes / (votes + LEAD * max(0.0, against) + SUFFICIENT / 2)


def _link(facts: Facts, e: Equivalence, face: Person, voice: Person, p: float) -> Question:
    assert e.face and e.voice
    moved = facts.of_node[e.voice]
    told = sum(1 for n in facts.known.state.nodes.values() if is_sentence(n.id) and not n.deleted and voice.id in n.people)
    return Question(
        "link", (e.face, e.voice), (face.id, voice.id), (facts.best(facts.of_node[e.face]), facts.best(moved)), p,
        len(moved) + 2.0 * told + facts.seconds(moved) / 10, f"adds {counted(moved)} to {face.shown}{reads(told)}",
        f"Is this the voice of {face.called}?",
        ("link", {"face": e.face, "voice": e.voice}), ("unlink", {"face": e.face, "voice": e.voice}),
    )  # fmt: skip


def _names(facts: Facts) -> list[Question]:
    """Ask whether a person has the name that was heard or read."""
    found = []
    for person in facts.who.people.values():
        if person.name is None and person.clips:
            found += [_name(facts, person, h.name, h.score) for h in person.suggested_names if h.score >= SHOWN_FROM]
    return found


def _name(facts: Facts, person: Person, name: str, score: float) -> Question:
    mine = facts.observations[person.id]
    return Question(
        "name", (person.id, name.casefold()), (person.id,), (facts.best(mine),), min(0.95, score), facts.mass(person.id),
        f"names {counted(mine)}{reads(facts.told[person.id])}", f"Is Person {person.number} called {name}?",
        ("name", {"person": person.id, "name": name}), ("reject", {"person": person.id, "name": name}), name,
    )  # fmt: skip
