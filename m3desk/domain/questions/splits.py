"""Persons who may be two people: their faces or voices form two clusters or have an outlier, or only votes joined their nodes. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from m3desk.domain.calibration import Calibration
from m3desk.domain.consolidation import compared, two_groups, whole
from m3desk.domain.evidence import Floats
from m3desk.domain.fold import pair_constraints
from m3desk.domain.identity import TOP, similarity
from m3desk.domain.ids import source_of
from m3desk.domain.log import ObservationType, in_force
from m3desk.domain.partition import Partition
from m3desk.domain.people import Person
from m3desk.domain.questions.facts import LEAST, Facts, Question, counted, is_sentence, reads
from m3desk.domain.questions.graph_cuts import cuts, one_person_evidence, two_people_evidence

OUTLIER_FACE, OUTLIER_WIDTH = 1.25, 0.5
"""In margins of the model: how far below the binding threshold the similarity of a face to the rest of its node is at P(other person) = 0.5
(of a voice without evidence: `Calibration.equal_odds`, a cosine of means); and the width per unit of log odds. Measured on 240 observations
of reel, webrtc_two_men, ami_30s and 12 speakers of LibriSpeech as bound on 2026-11-21. Similarity to the rest: .605 and .616 for the two
utterances of another speaker, .650, .678, .716 for the lowest of the others; two faces of one singer on a dark stage .504, strangers .36 at
most. Voices with evidence need no constant: the odds are those of its likelihood ratio. Of 273 voices in 140 simulated recordings of
calibration, as they were bound (2 of several speakers), similarity alone asked 79 times and promised 37 times yes, evidence 33 and 9 times,
none rightly; of 131 in 70 recordings of validation (16 of several) 53 and 30, 10 rightly, and 28 and 9, 8 rightly
(`tests/perception/outlier_voices.py`)."""

COMPARED = 60
"""Observations of a node that are compared with each other to find two groups: the most informative ones."""


def two_people(facts: Facts) -> list[Question]:
    """Ask whether a person whose faces (or voices) form two dissimilar groups is two people."""
    found: list[Question] = []
    # If a user said that all of this is one person, later observations are not asked about again.
    answers = (s for s in in_force(facts.known.log) if s.kind == "merge" and s.args.get("key", ("",))[0] == "two_people")
    closed = {node for s in answers for node in s.args.get("bindings", {}).values()}
    for person in facts.who.people.values():
        for type_ in ("face", "voice"):
            nodes = [n for n in facts.who.members[person.id] if n.startswith(type_) and n not in closed]
            parts = _parts(facts, nodes)
            if len(parts) > 1 and (question := _two(facts, person, type_, parts)):
                found.append(question)
            else:
                found += [outlier for n in nodes if (outlier := _outlier(facts, person, type_, n))]
    return found + _joined_by_votes(facts)


def _outlier(facts: Facts, person: Person, type_: ObservationType, node: str) -> Question | None:
    """Ask whether the outlier of a node (the observation least similar to the rest) belongs to another person."""
    rule, vectors = facts.known.rules[type_], facts.known.vectors
    mine = [o for o in facts.of_node[node] if len(vectors.get(o, ()))]
    mine = sorted(facts.best(mine)[:COMPARED], key=lambda o: (facts.known.log.observations[o].sequence, o))
    if len(mine) < 2 or len({vectors[o].shape[1] for o in mine}) != 1:
        return None
    place, p = outlier([vectors[o] for o in mine], [source_of(o) for o in mine], [facts.seconds([o]) for o in mine], rule)
    least = mine[place]
    if facts.who.held[least].step is not None:
        return None
    if p < LEAST:
        return None
    return _in_two(facts, person, set(facts.of_node[node]) - {least}, {least}, p)


def outlier(blocks: Sequence[Floats], sources: Sequence[str], seconds: Sequence[float], rule: Calibration) -> tuple[int, float]:
    """Return which of several observations of a node is the outlier, and the probability that it is another person's.

    By evidence where the model has it, else by similarity. `blocks`: the rows of each; `sources`: their recordings; `seconds` of speech.
    """
    if compared_by_evidence(blocks, rule):
        place, ratio = least_likely(blocks, sources, seconds, rule)
        odds = -ratio
    else:
        place, cosine = least_similar(blocks, rule)
        even = rule.equal_odds if rule.whole else rule.accept - OUTLIER_FACE * rule.margin
        odds = (even - cosine) / (OUTLIER_WIDTH * rule.margin)
    return place, 1.0 / (1.0 + math.exp(min(50.0, -odds)))


def compared_by_evidence(blocks: Sequence[Floats], rule: Calibration) -> bool:
    """Return whether a model's voices are compared by log-likelihood ratios."""
    return rule.evidence is not None and rule.across is not None and rule.space is not None and blocks[0].shape[1] == len(rule.space.mean)


def least_likely(blocks: Sequence[Floats], sources: Sequence[str], seconds: Sequence[float], rule: Calibration) -> tuple[int, float]:
    """Return which of several utterances is least likely one voice with the others, and its log-likelihood ratio; the last of equal ones.

    `sources`: their recordings. Each is compared with the others of its recording; if there are none, with all others.
    """
    assert rule.evidence is not None and rule.across is not None and rule.space is not None
    sums, lengths = np.stack([b.sum(0) for b in blocks]), np.array(seconds)
    near = np.array([[a == b for b in sources] for a in sources])
    np.fill_diagonal(near, False)
    alone = ~near.any(axis=1)
    near[alone] = ~np.eye(len(blocks), dtype=bool)[alone]
    one, rest = rule.space.moved(_unit(sums)), rule.space.moved(_unit(near.astype(np.float32) @ sums))
    cosines = np.einsum("ij,ij->i", one, rest)
    inside, across = (e.ratio(cosines, lengths, near @ lengths) for e in (rule.evidence, rule.across))
    ratios = np.round(np.where(alone, across, inside), 6)
    least = int(len(ratios) - 1 - np.argmin(ratios[::-1]))
    return least, float(ratios[least])


def least_similar(blocks: Sequence[Floats], rule: Calibration) -> tuple[int, float]:
    """Return which of several observations is least similar to all others together, and its similarity; the last of equal ones.

    All rows are compared at once; those near the minimum are then compared one by one, as `whole` and `similarity` have it, so that the
    result is theirs to the last bit.
    """
    rows = np.concatenate(blocks)
    ends = np.cumsum([len(b) for b in blocks])
    starts = ends - [len(b) for b in blocks]
    if rule.whole:
        sums = np.add.reduceat(rows, starts, axis=0)
        rest = sums.sum(0) - sums
        rough = np.einsum("ij,ij->i", _unit(sums), _unit(rest))
    else:
        cosines = compared(rows, rows)
        best = TOP + max(len(b) for b in blocks)
        order = np.argpartition(-cosines, min(best, len(rows) - 1) - 1, axis=1)[:, :best]  # enough, whichever of them are its own
        near = np.take_along_axis(cosines, order, axis=1)
        owner = np.repeat(np.arange(len(blocks)), ends - starts)
        near[owner[order] == owner[:, None]] = -np.inf
        near = -np.sort(-near, axis=1)[:, :TOP]
        there = np.isfinite(near)
        by_row = np.where(there, near, 0).sum(1) / np.maximum(1, there.sum(1))
        rough = np.array([np.sort(by_row[a:b])[-TOP:].mean() for a, b in zip(starts, ends, strict=True)])
    close = np.flatnonzero(rough <= rough.min() + 1e-4).tolist()
    exact = {}
    for i in close:
        others = np.concatenate([*blocks[:i], *blocks[i + 1 :]])
        exact[i] = whole(blocks[i], others, rule) if rule.whole else similarity(blocks[i], others, rule)
    least = min(reversed(close), key=lambda i: exact[i])  # of only two observations the later
    return least, exact[least]


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def _joined_by_votes(facts: Facts) -> list[Question]:
    """Ask the same of a person whose nodes were joined by votes and have no embeddings: those of an imported graph."""
    who, known = facts.who, facts.known
    votes = one_person_evidence(who.every_equivalence())
    found = []
    against = None
    for person in who.people.values():
        nodes = [n for n in who.members[person.id] if facts.of_node[n]]
        if len(nodes) < 2 or any(len(known.vectors.get(o, ())) for n in nodes for o in facts.of_node[n]):
            continue
        against = two_people_evidence(known.log, known.state) if against is None else against
        units = _units(facts, nodes)
        sound = [c for c in cuts(votes, nodes, against) if not {units[n] for n in c.part} & {units[n] for n in c.rest}]
        if sound and sound[0].score >= LEAST:
            first, second = ({o for n in side for o in facts.of_node[n]} for side in (sound[0].rest, sound[0].part))
            found.append(_in_two(facts, person, first, second, sound[0].score))
    return found


def _units(facts: Facts, nodes: Sequence[str]) -> dict[str, str]:
    """Return node → a representative person of all that users joined with it (must-links): those are not split again."""
    joined = Partition()
    for step in in_force(facts.known.log):
        for kind, a, b in pair_constraints(step, facts.born):
            if kind == "must" and step.kind != "split":  # a split says who are two people, not that each side is one person
                joined.join(a, b)
    return {n: joined.root(facts.born[n]) for n in nodes}


def _parts(facts: Facts, nodes: Sequence[str]) -> list[list[str]]:
    """Return a person's observations of one type in groups that are certainly one person: nodes, or single observations of one node."""
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


def _two(facts: Facts, person: Person, type_: ObservationType, parts: list[list[str]]) -> Question | None:
    rule = facts.known.rules[type_]
    blocks = [(i, facts.known.vectors[o]) for i, part in enumerate(parts) for o in part]
    if len({b.shape[1] for _, b in blocks}) != 1 or rule.split_below is None:
        return None
    owners = [str(i) for i, b in blocks for _ in range(len(b))]
    groups = two_groups(np.concatenate([b for _, b in blocks]), rule, owners)
    if groups is None:
        return None
    stays, goes = ({int(owners[row]) for row in side} for side in (groups.a, groups.b))
    p = min(0.95, 0.5 + 0.5 * (rule.split_below - groups.score) / rule.split_below)
    return _in_two(facts, person, {o for i in stays for o in parts[i]}, {o for i in goes for o in parts[i]}, p)


def _in_two(facts: Facts, person: Person, first: set[str], second: set[str], p: float) -> Question:
    """Ask whether a person's observations are two people's. `first` stays with the person, unless the person's own node is in `second`."""
    seen = facts.known.log.observations

    def oldest(side: set[str]) -> str:
        return min(side, key=lambda o: (seen[o].sequence, seen[o].start, o))

    one, other = ({str(facts.who.held[o].node) for o in side} for side in (first, second))
    if not one & other and person.id in {facts.born[n] for n in other}:
        first, second = second, first
    told = _speaking_of(facts, second)
    return Question(
        "two_people", (facts.who.held[oldest(first)].node or "", oldest(second)), (person.id,),
        (facts.best(first), facts.best(second)), p, len(second) + 2.0 * told + facts.seconds(second) / 10,
        f"gives {counted(second)} to somebody new{reads(told)}", f"Is {person.called} two people?",
        ("split", {"person": person.id, "observations": sorted(second)}),
        ("merge", {"keep": person.id, "observations": sorted(first | second)}),
    )  # fmt: skip


def _speaking_of(facts: Facts, observations: set[str]) -> int:
    """Return how many memories rest on some of these observations where they speak of a person."""
    told = (n for n in facts.known.state.nodes.values() if is_sentence(n.id) and not n.deleted)
    return sum(1 for n in told if any(observations.intersection(s.observations) for s in n.spans))
