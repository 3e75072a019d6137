"""A memory graph of another tool (M3-Agent), converted to the types of M3Desk: what an import gives to the store. Plain data.

Ids are given: a node keeps the number it had (`face_7` stays `face_7`), persons have the number of the other tool's characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, Utterance
from m3desk.domain.log import ObservationType
from m3desk.domain.memory import Sentence


@dataclass(frozen=True, slots=True)
class ForeignNode:
    """A face or voice node, born in `clip` as a person of its own. `extra`: what has no place here, kept as `extra_data`."""

    number: int
    type: ObservationType
    person: int
    clip: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.type}_{self.number}"


@dataclass(frozen=True, slots=True)
class ForeignText:
    """A sentence of `clip`. `weight`: 1 at birth; more or less is written as reinforcement (semantic ones only)."""

    number: int
    clip: str
    sentence: Sentence
    weight: float = 1.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.sentence.kind}_{self.number}"


@dataclass(frozen=True, slots=True)
class ForeignVote:
    """A vote that the owners of two observations of `clip` are one person."""

    a: str
    b: str
    by: str
    weight: float
    clip: str


@dataclass(frozen=True, slots=True)
class ForeignGraph:
    """All of it. `bindings`: observation → node id. `links`: edges between a sentence and a node that its text does not name.

    `vectors`: (owner, kind, model, (n, d) unit rows). `media`: media id → bytes. `model`: who wrote it, such as "m3-agent".
    """

    source: Source
    clips: tuple[Clip, ...]
    faces: tuple[FaceTrack, ...]
    utterances: tuple[Utterance, ...]
    nodes: tuple[ForeignNode, ...]
    texts: tuple[ForeignText, ...]
    bindings: Mapping[str, str]
    votes: tuple[ForeignVote, ...]
    links: tuple[tuple[str, str], ...] = ()
    vectors: tuple[tuple[str, str, str, Floats], ...] = ()
    media: Mapping[str, bytes] = field(default_factory=dict)
    model: str = ""
