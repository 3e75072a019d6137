"""What the engine tells the window of its decisions about people: who is kept apart, what links a voice to a face, how sure it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wall:
    """Two persons whom a correction keeps apart. `step`: the correction, `at` its date, `text` what it did, `why` the user's reason.

    `state`: kept, overridden by a later correction, or waiting for evidence that is missing now.
    """

    step: int
    at: str
    text: str
    why: str | None
    a: str
    b: str
    state: str


@dataclass(frozen=True, slots=True)
class VoiceLink:
    """A face node and a voice node with votes that they are one person. `by`: who voted → the weight; `joined`: they are one now."""

    face: str
    voice: str
    weight: float
    by: tuple[tuple[str, float], ...]
    joined: bool


@dataclass(frozen=True, slots=True)
class Belonging:
    """How sure it is that a person's faces are of one person, and their utterances: the mean probability over all pairs.

    `probability`: None where there are no two to compare; `pairs`: how many were compared. `least`: the observations that fit the others
    least, worst first, each with its mean probability.
    """

    probability: float | None
    pairs: int
    least: tuple[tuple[str, float], ...] = ()
