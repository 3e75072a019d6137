"""Persons and the face tracks and utterances bound to them, as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from m3desk.domain.evidence import FaceTrack, Utterance

NameState = Literal["none", "suggested", "confirmed"]

_MARK = "?"
"""Stands behind a name that is only suggested."""


def marked(name: str) -> str:
    """Return a suggested name as it is shown, with one mark; no name stays none."""
    return f"{unmarked(name)}{_MARK}" if name else ""


def unmarked(shown: str) -> str:
    """Return what somebody is called without the mark of a suggested name, as within a question. Of a person: `Person.called`."""
    return shown.removesuffix(_MARK)


@dataclass(frozen=True, slots=True)
class SuggestedName:
    """A name heard or read. `evidence`: observation ids or `screen:START-END` strings; `score` 0–1 summed over evidence."""

    name: str
    score: float
    evidence: tuple[str, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """A person: a set of face and voice nodes. `id` is `person_3`; times are microseconds, of source `first_seen[0]`.

    `shown`: what people read: a confirmed name, else "Jeff Steen?" (best suggestion), else "Person 3".
    `portrait`: media id of the best face crop, None for a voice alone.
    """

    id: str
    number: int
    name: str | None
    name_state: NameState
    shown: str
    suggested_names: tuple[SuggestedName, ...] = ()
    aliases: tuple[str, ...] = ()
    faces: tuple[str, ...] = ()
    voices: tuple[str, ...] = ()
    first_seen: tuple[str, int] | None = None
    last_seen: tuple[str, int] | None = None
    screen_time: int = 0
    speech_time: int = 0
    clips: tuple[str, ...] = ()
    ignored: bool = False
    portrait: str | None = None

    @property
    def called(self) -> str:
        """Return what they are called without the mark of a suggested name; a confirmed name is left as it was given."""
        return unmarked(self.shown) if self.name_state == "suggested" else self.shown


@dataclass(frozen=True, slots=True)
class Binding:
    """The decision that an observation belongs to a node. `by`: model name and version, or `user`. Never overwritten."""

    observation: str
    node: str
    score: float | None
    runner_up: str | None
    margin: float | None
    by: str
    at: str
    sequence: int
    superseded: int | None = None


@dataclass(frozen=True, slots=True)
class TrackRow:
    """A face track with its present person."""

    track: FaceTrack
    node: str | None
    person: str | None
    shown: str
    set_aside: bool = False


@dataclass(frozen=True, slots=True)
class SpeechRow:
    """An utterance with its present person."""

    utterance: Utterance
    node: str | None
    person: str | None
    shown: str
    set_aside: bool = False


class PresenceSpan(NamedTuple):
    """A time span of a clip in which somebody is seen, or heard. Times: microseconds of the source."""

    clip: str
    person: str
    start: int
    end: int
    heard: bool


class Observed(NamedTuple):
    """A face track or utterance that belongs to somebody, without what is only shown. `words`: what was said; None for a face.

    `unclear`: the words may well be wrong (`domain.clear_speech`).
    """

    id: str
    clip: str
    source: str
    start: int
    end: int
    node: str | None
    person: str
    words: str | None
    unclear: bool = False
