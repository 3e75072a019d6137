"""Evidence: what was seen and heard in a clip. It is written once; an edit adds a new observation that replaces the old one, which stays.

Times are microseconds from the source's start. Boxes are x, y, width, height in pixels of the frame as displayed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Box = tuple[float, float, float, float]


def media_id(data: bytes, ending: str) -> str:
    """Return the name of a stored crop, sound or picture: sha256 in hex and the ending, such as `.jpg` or `.flac`."""
    return hashlib.sha256(data).hexdigest() + ending


def media_hash(media: str) -> str:
    """Return the sha256 in a media id, without the ending."""
    return media.partition(".")[0]


@dataclass(frozen=True, slots=True)
class TimedBox:
    """Where something is at one moment."""

    at: int
    x: float
    y: float
    width: float
    height: float

    @property
    def box(self) -> Box:
        """Return x, y, width and height."""
        return self.x, self.y, self.width, self.height


@dataclass(frozen=True, slots=True)
class FaceTrack:
    """One face followed within a clip. Ends at a shot cut, where its embedding jumps, and at the clip's end.

    `score`: mean detection score, 0–1. `quality`: how useful its best crop is for recognition, 0–1.
    `crops`: media ids of its best crops, best first; each is stored with a margin of half the face's size.
    `landmarks`: for each crop, 5 points (x, y) in the crop's pixels: right eye, left eye, nose, right and left mouth corner
    (the subject's right, as YuNet gives them).
    `cluster`: tracks of one clip with the same number look like one face. `motion`: mouth-opening movement, one
    value per box, unitless, for telling who speaks; empty where it was not measured.
    """

    id: str
    clip: str
    start: int
    end: int
    boxes: tuple[TimedBox, ...]
    score: float
    quality: float
    crops: tuple[str, ...] = ()
    landmarks: tuple[tuple[tuple[float, float], ...], ...] = ()
    cluster: int = 0
    motion: tuple[float, ...] = ()
    continues: str | None = None
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Utterance:
    """A continuous piece of speech by one speaker; belongs to the clip in which it starts, and may end after it.

    `language`: ISO 639-1 code or None. `confidence`: the recogniser's mean word probability, 0–1.
    `audio`: media id of its sound, lossless 16 kHz mono. `overlapped`: somebody else speaks at the same time.
    Without words, text and language (confidence 0): somebody is heard, often talking over another, and not understood.
    `embeddable`: long and clean enough (≥ 1 s) to tell whose voice it is.
    """

    id: str
    clip: str
    start: int
    end: int
    text: str
    words: tuple[Word, ...]
    language: str | None
    confidence: float
    audio: str | None = None
    cluster: int = 0
    overlapped: bool = False
    embeddable: bool = True
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class ObjectSeen:
    """A thing in view for a while. `box`: where it was at its clearest. `label`: a COCO class name in English."""

    clip: str
    start: int
    end: int
    label: str
    score: float
    box: Box


@dataclass(frozen=True, slots=True)
class TextOnScreen:
    """Words readable in the picture for a while."""

    clip: str
    start: int
    end: int
    text: str
    score: float
    box: Box


@dataclass(frozen=True, slots=True)
class LipMatch:
    """Whether the mouth of a face moves with a voice (clusters of one clip): a log-likelihood ratio, over so many seconds of both."""

    face: int
    voice: int
    seconds: float
    evidence: float


IN_STEP = 3.0
"""Log-likelihood ratio from which lips are in step with a voice. Of calibration's 2,137 pieces with others' sound one reaches it, of its
54 exchanged clips none."""

IN_STEP_LEAD = 2.0
"""By how much the face in step must be ahead of every other face in view, and of every other voice in step with it."""

Observation = FaceTrack | Utterance


@dataclass(frozen=True, slots=True)
class Perceived:
    """All evidence of one clip, before anybody is recognised. Observation ids are final (`s1.c12.f0`, `s1.c12.u0`).

    `vectors`: observation id → (n, d) float32 unit rows, one to a few per observation, best first (faces: per good crop;
    voices: per window). `media`: media id → bytes (see `store.files`: JPEG crops, FLAC speech, the clip's thumbnail).
    `cannot_link`: pairs of observation ids that can't be one person (two faces in one frame, overlapping speech, speech with which
    the lips of two people move).
    `thumbnail`: media id of the clip's picture, None without a picture. `cuts`: times of shot cuts.
    `scene`: cheap facts about the pictures for the writer (for example {"motion": 0.1, "brightness": 0.5}).
    """

    clip: str
    faces: tuple[FaceTrack, ...] = ()
    utterances: tuple[Utterance, ...] = ()
    objects: tuple[ObjectSeen, ...] = ()
    texts: tuple[TextOnScreen, ...] = ()
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    media: Mapping[str, bytes] = field(default_factory=dict)
    cannot_link: frozenset[tuple[str, str]] = frozenset()
    thumbnail: str | None = None
    cuts: tuple[int, ...] = ()
    scene: Mapping[str, float] = field(default_factory=dict)
    lips: tuple[LipMatch, ...] = ()
    """For the votes, which are stored; itself it is not."""

    def observation(self, id_: str) -> Observation:
        """Return the face track or utterance with this id. Raises KeyError when the clip has none."""
        everything: tuple[Observation, ...] = (*self.faces, *self.utterances)
        for o in everything:
            if o.id == id_:
                return o
        raise KeyError(id_)
