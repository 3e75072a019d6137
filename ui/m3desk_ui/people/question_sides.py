"""Reads what a question card shows of each side: a few faces or sentences and their times. Runs in the reading thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from m3desk.domain.ids import source_of

if TYPE_CHECKING:
    from m3desk.domain.questions.types import Suggestion

MOST = 60
"""Faces or sentences of a side that are shown; the most telling come first."""


@dataclass(frozen=True, slots=True)
class ShownObservation:
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
    items: tuple[ShownObservation, ...]
    more: int = 0


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
        sides.append(Side(names.get(who, who), _items(reader, group[:MOST]), max(0, len(group) - MOST)))
    return Shown(question, tuple(sides))


def _items(reader: Any, observations: Sequence[str]) -> tuple[ShownObservation, ...]:
    tracks = {r.track.id: r.track for r in reader.tracks_of(observations)}
    speech = {r.utterance.id: r.utterance for r in reader.speech_of(observations)}
    found: list[ShownObservation] = []
    for id_ in observations:
        if (track := tracks.get(id_)) is not None:
            found.append(ShownObservation(id_, source_of(id_), track.start, crop=track.crops[0] if track.crops else None))
        elif (said := speech.get(id_)) is not None:
            found.append(ShownObservation(id_, source_of(id_), said.start, words=said.text))
    return tuple(found)
