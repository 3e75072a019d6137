"""Who is who: what the fold makes of a log, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field

from m3desk.domain.ids import numbered
from m3desk.domain.log import Birth
from m3desk.domain.people import Binding, Person
from m3desk.domain.superseding import Standing


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

    def named_apart(self, a: str, b: str) -> bool:
        """Return whether a user gave two persons different names, and so takes them for two people."""
        known = (self.people.get(a), self.people.get(b))
        return len({p.name.casefold() for p in known if p is not None and p.name and p.name_state == "confirmed"}) == 2

    def both_named(self, a: str, b: str) -> bool:
        """Return whether a user named both of two persons, alike or not: consolidation leaves it to the user whether they are one."""
        return all(self.people[p].name for p in (a, b))

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
