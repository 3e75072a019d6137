"""Reads what a question card shows of each side: a few faces or sentences and their times. Runs in the reading thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from m3desk_ui.memory.order import when
from m3desk_ui.people.evidence import Evidence, read_evidence

if TYPE_CHECKING:
    from m3desk.domain.people import SuggestedName
    from m3desk.domain.questions.types import Suggestion

MOST = 60
"""Faces or sentences of a side that are shown: the most telling ones."""

SCREEN = "screen:"
"""How the evidence of a name begins that was read on screen."""

MOST_BARE = 600
"""Observations of a side that are read where several stand for one voice or face."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a question: who it is now, and the evidence. `hidden`: observations beyond those shown."""

    shown: str
    items: tuple[Evidence, ...]
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Whence:
    """Where a suggested name comes from first. `by`: who said the words, "" for a text on screen and where that is not known any more.

    `at`: when, in microseconds of the source, None if not known. `more`: further places that say the name.
    """

    words: str
    on_screen: bool
    at: int | None = None
    by: str = ""
    more: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A question with its sides; of a question for a name, where the name comes from."""

    question: Suggestion
    sides: tuple[Side, ...]
    whence: Whence | None = None


def read_sides(reader: Any, question: Suggestion) -> Shown:
    """Read what a card shows."""
    people = reader.people_of(question.people)
    names = {p.id: p.shown for p in people}
    sides = []
    for i, group in enumerate(question.groups):
        who = question.people[min(i, len(question.people) - 1)] if question.people else ""
        items = _placed(read_evidence(reader, group[:MOST_BARE])[:MOST])
        there = {o for item in items for o in item.observations}
        sides.append(Side(names.get(who, who), items, tuple(o for o in group if o not in there)))
    suggested = (s for p in people for s in p.suggested_names if question.name and s.name.casefold() == question.name.casefold())
    name = next(suggested, None)
    return Shown(question, tuple(sides), _whence(reader, name) if name is not None else None)


def _placed(items: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Return the faces as they come, the most telling first, then speech in the order in which it was said."""
    said = sorted((i for i in items if i.kind == "voice"), key=lambda i: when(i.observation, i.at))
    return (*(i for i in items if i.kind != "voice"), *said)


def _whence(reader: Any, name: SuggestedName) -> Whence:
    """Return where a name was heard or read first: its words are those of its first evidence, an utterance or `screen:START-END`."""
    first, more = next(iter(name.evidence), ""), max(0, len(name.evidence) - 1)
    if first.startswith(SCREEN):
        return Whence(name.words, True, int(first.removeprefix(SCREEN).split("-")[0]), more=more)
    said = next(iter(reader.speech_of((first,))), None) if first else None
    return Whence(name.words, False, said.utterance.start, said.shown, more) if said is not None else Whence(name.words, False, more=more)
