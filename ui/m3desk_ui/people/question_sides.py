"""What a question card shows of each side: a few faces or sentences, and where they are. Read in the reading thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from m3desk.domain.ids import source_of
from m3desk_ui.memory.inspector_words import speech_row, track_row

if TYPE_CHECKING:
    from m3desk.domain.questions.types import Suggestion

MOST = 60
"""Faces or sentences of a side that are shown; the most telling come first."""


@dataclass(frozen=True, slots=True)
class Item:
    """One observation. `crop`: media id of a face, None for a voice; `words`: what is said. `at`: microseconds of `source`."""

    observation: str
    source: str
    at: int
    crop: str | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a question: who it is now, and observations."""

    shown: str
    items: tuple[Item, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A question with its sides."""

    question: Suggestion
    sides: tuple[Side, ...]


def read_sides(reader: Any, question: Suggestion) -> Shown:
    """Read what a card shows."""
    names = {p.id: p.shown for p in reader.people()}
    sides = []
    for i, group in enumerate(question.groups):
        who = question.people[min(i, len(question.people) - 1)] if question.people else ""
        sides.append(Side(names.get(who, who), _items(reader, group[:MOST]), max(0, len(group) - MOST)))
    return Shown(question, tuple(sides))


def _items(reader: Any, observations: Sequence[str]) -> tuple[Item, ...]:
    found: list[Item] = []
    for id_ in observations:
        source = source_of(id_)
        track = track_row(reader, id_)
        if track is not None:
            crop = track.track.crops[0] if track.track.crops else None
            found.append(Item(id_, source, track.track.start, crop=crop))
            continue
        said = speech_row(reader, id_)
        if said is not None:
            u = said.utterance
            found.append(Item(id_, source, u.start, words=u.text))
    return tuple(found)
