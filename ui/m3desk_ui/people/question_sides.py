"""Reads what a question card shows of each side: a few faces or sentences and their times. Runs in the reading thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from m3desk_ui.people.evidence import Evidence, read_evidence

if TYPE_CHECKING:
    from m3desk.domain.questions.types import Suggestion

MOST = 60
"""Faces or sentences of a side that are shown; the most telling come first."""

MOST_BARE = 600
"""Observations of a side that are read where several stand for one voice or face."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a question: who it is now, and the evidence. `hidden`: observations beyond those shown."""

    shown: str
    items: tuple[Evidence, ...]
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A question with its sides."""

    question: Suggestion
    sides: tuple[Side, ...]


def read_sides(reader: Any, question: Suggestion) -> Shown:
    """Read what a card shows."""
    names = {p.id: p.shown for p in reader.people_of(question.people)}
    sides = []
    for i, group in enumerate(question.groups):
        who = question.people[min(i, len(question.people) - 1)] if question.people else ""
        items = read_evidence(reader, group[:MOST_BARE])[:MOST]
        there = {o for item in items for o in item.observations}
        sides.append(Side(names.get(who, who), items, tuple(o for o in group if o not in there)))
    return Shown(question, tuple(sides))
