"""Sort keys of sentences and observations, and the sentence ids of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m3desk.domain.ids import source_of

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.memory import StoredSentence

NO_SENTENCE = ("face_", "voice_", "object_", "place_")
"""How the ids of nodes begin that are no sentences."""


def number(id_: str) -> int:
    """Return the number at the end of an id such as `s3` or `episodic_12`; 0 where there is none."""
    digits = id_[len(id_.rstrip("0123456789")) :]
    return int(digits) if digits else 0


def in_time(sentence: StoredSentence) -> tuple[int, int, int, str]:
    """Return what sorts sentences as `Reader.memories` does."""
    return number(sentence.source), sentence.start, number(sentence.id), sentence.id


def when(observation: str, start: int) -> tuple[int, int, str]:
    """Return what sorts observations by source, then by time."""
    return number(source_of(observation)), start, observation


def sentences(changed: Changed) -> frozenset[str]:
    """Return the ids of the sentences among the nodes of a change."""
    return frozenset(id_ for id_ in changed.nodes if not id_.startswith(NO_SENTENCE))
