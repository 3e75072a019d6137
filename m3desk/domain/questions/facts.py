"""The data that questions to the user are computed from, and the value (`worth`) of a question. Pure.

`worth` of a question = (p + H(p)) × mass. p: probability that the answer is yes, that is, that the memory is wrong now. H(p): entropy in
bits, the uncertainty that the answer removes. So likely errors and open questions come first, and what is almost certainly right comes
last. mass = observations + 2 × memories whose text would change + seconds on screen or speaking / 10, × 1.5 if a person with a confirmed
name is concerned (then the answer tells who somebody is, not only that two nodes are one person).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from m3desk.domain.calibration import Calibration
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.domain.fold import born_in
from m3desk.domain.identity import Gallery
from m3desk.domain.ids import observation_type
from m3desk.domain.log import Log, ObservationType
from m3desk.domain.plural import many
from m3desk.domain.questions.types import Suggestion, SuggestionKind
from m3desk.domain.sentences import State

LEAST = 0.15
"""A question is not asked if the probability of "yes" is below this."""


@dataclass(slots=True)
class Known:
    """The input of the questions. `galleries`: the embeddings of each node. `vectors`: observation → (n, d) unit rows."""

    state: State
    log: Log
    galleries: Mapping[ObservationType, Sequence[Gallery]] = field(default_factory=dict)
    rules: Mapping[ObservationType, Calibration] = field(default_factory=dict)
    vectors: Mapping[str, Floats] = field(default_factory=dict)


def births(known: Known) -> dict[str, str]:
    """Return face or voice node → the person it was created in, by the corrections in force."""
    return born_in(known.log, known.state.who.nodes)


class Facts:
    """Counts by person, computed once: observations, memories, seconds."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.who = known.state.who
        self.born = births(known)
        self.observations: dict[str, list[str]] = defaultdict(list)
        self.of_node: dict[str, list[str]] = defaultdict(list)
        seen = known.log.observations
        for o in sorted(self.who.held, key=lambda o: (seen[o].sequence, seen[o].start, o)):
            h = self.who.held[o]
            if h.person and h.node:
                self.observations[h.person].append(o)
                self.of_node[h.node].append(o)
        self.told: Counter[str] = Counter(
            p for n in known.state.nodes.values() if is_sentence(n.id) and not n.deleted for p in set(n.people)
        )

    def seconds(self, observations: Iterable[str]) -> float:
        seen = self.known.log.observations
        return sum(seen[o].end - seen[o].start for o in observations) / MICROSECOND

    def best(self, observations: Iterable[str]) -> tuple[str, ...]:
        """Return observations, the most informative first: by quality (faces) or recognised words (speech), then length."""
        seen = self.known.log.observations
        return tuple(sorted(observations, key=lambda o: (-seen[o].quality, seen[o].start - seen[o].end, o)))

    def mass(self, person: str) -> float:
        mine = self.observations[person]
        return len(mine) + 2.0 * self.told[person] + self.seconds(mine) / 10

    def shown(self, person: str) -> str:
        return self.who.people[person].shown


def is_sentence(node: str) -> bool:
    return node.startswith(("episodic", "semantic"))


@dataclass(frozen=True, slots=True)
class Question:
    """A question without its number."""

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

    def numbered(self, n: int, facts: Facts) -> Suggestion:
        sure = 1.5 if any(facts.who.people[p].name for p in self.people) else 1.0
        worth = round((self.score + _bits(self.score)) * self.mass * sure, 6)
        return Suggestion(
            n=n, kind=self.kind, key=self.key, people=self.people, groups=self.groups, score=round(self.score, 6), worth=worth,
            effect=self.effect, question=self.question, accept=self.accept, reject=self.reject, name=self.name,
        )  # fmt: skip


def _bits(p: float) -> float:
    return 0.0 if p <= 0 or p >= 1 else -(p * math.log2(p) + (1 - p) * math.log2(1 - p))


def counted(observations: Iterable[str]) -> str:
    """Return the number of observations that move, as text: "12 faces and 1 utterance"."""
    kinds = Counter("face" if observation_type(o) == "face" else "utterance" for o in observations)
    return " and ".join(many(kinds[k], k) for k in ("face", "utterance") if kinds[k])


def reads(told: int) -> str:
    return f", {many(told, 'memory reads', 'memories read')} differently" if told else ""
