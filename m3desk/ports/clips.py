"""A clip as perception and memory writers get it, and the interface of memory writers. Model backends: see `ports.models`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import Floats, Perceived
from m3desk.domain.memory import Decision, Draft, StoredSentence
from m3desk.ports.models import (
    FaceDetector,
    FaceEmbedder,
    LanguageModel,
    ObjectDetector,
    Picture,
    Sound,
    SpeechRecogniser,
    SpeechSegmentation,
    TextEmbedder,
    TextReader,
    VoiceActivity,
    VoiceEmbedder,
    WatchingModel,
)

Grey = NDArray[np.uint8]
"""(height, width) uint8, as displayed."""

GreyFrame = tuple[int, Grey]
"""Time in microseconds and picture."""


def _nothing() -> Sequence[GreyFrame]:
    return ()


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded picture at `at` microseconds of the source.

    `between`: returns the pictures decoded since the one before (up to 30 a second, in grey, in time order, with their own times; the last
    may be this one); only until the next frame is asked for. Nothing is converted unless it is called.
    """

    at: int
    picture: Picture
    between: Callable[[], Sequence[GreyFrame]] = field(default=_nothing, compare=False, repr=False)


class ClipMedia(Protocol):
    """One decoded clip, the input of perception. Made by `m3desk.media` from a fixed pre-roll, identical each time."""

    clip: Clip
    source: Source
    path: str
    """The file itself, for a model that watches the clip on its own (with clip.start and clip.end)."""

    def frames(self) -> Iterator[Frame]:
        """Yield pictures at the memory's rate (default 5 per second) in time order within [start, end); () without a video stream."""
        ...

    def sound(self) -> Sound:
        """Return the sound from the clip's start to up to 3 s past its end (`overrun`); length 0 without sound."""
        ...

    @property
    def problems(self) -> tuple[str, ...]:
        """Descriptions of what could not be decoded; complete once frames() and sound() have been consumed."""
        ...

    @property
    def unreadable(self) -> str | None:
        """Why no picture of the clip could be decoded although the file has some, else None; known once frames() has been consumed."""
        ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """Observations of one clip that look (or sound) like one person. `tag`: provisional, such as `<face_1>`; valid in this clip only.

    `seen_before`: it matched somebody already in this memory when the clip was drafted (the writer may say "returns");
    `last_seen`: the time of that in microseconds if it was in an earlier clip of this source, else None.
    """

    tag: str
    observations: tuple[str, ...]
    seen_before: bool = False
    last_seen: int | None = None


@dataclass(frozen=True, slots=True)
class ClipView:
    """The input of a memory writer. An omni model uses `media`; the embedded one composes from `perceived`.

    `recent`: the last sentences of the previous clip (same source), oldest first. `language`: output language ("en", "zh"),
    None = the scene's.
    `previous`: evidence of the previous clip, to describe who enters, leaves and returns; None for the first clip.
    """

    clip: Clip
    source: Source
    perceived: Perceived
    clusters: tuple[Cluster, ...] = ()
    recent: tuple[StoredSentence, ...] = ()
    previous: Perceived | None = None
    language: str | None = None
    media: ClipMedia | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """The queued clips of a source, in time order. `heard_until`: end of the last utterance before the first of them, if any."""

    clips: tuple[Clip, ...]
    heard_until: int | None


Candidates = Sequence[Sequence[tuple[StoredSentence, Floats]]]
"""For each sentence of a draft, the stored sentences that it could repeat or contradict, with their vectors."""

Decide = Callable[[Candidates], Sequence[Decision]]
"""Says for each sentence of a draft whether it is new, repeats, or contradicts a stored one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a memory knows about a clip before it is written: everything that `ClipView` needs from the store, from one snapshot.

    `perceived`: without what may not be stored (forgotten people), and with tracks that continue from the previous clip; `grouped`: the
    same with its clusters as the memory takes them apart, for `ClipView`. `clusters`: a preview; the commit decides again. `recent`,
    `previous`: as in ClipView.
    """

    perceived: Perceived
    grouped: Perceived
    clusters: tuple[Cluster, ...]
    recent: tuple[StoredSentence, ...]
    previous: Perceived | None


@runtime_checkable
class MemoryWriter(Protocol):
    """Writes the episodic memories of a clip. Blocking, no access to the store.

    One clip at a time; one with `at_once` (as in `SeveralAtOnce`) may be called by so many threads, each with a clip of its own.
    """

    name: str

    def write(self, view: ClipView, cancelled: Callable[[], bool] = lambda: False) -> Draft: ...


@runtime_checkable
class KnowledgeWriter(Protocol):
    """Writes semantic memories from a clip's stored episodic sentences (tagged form); each cites its supporting sentences.

    One clip at a time; one with `at_once` (as in `SeveralAtOnce`) may be called by so many threads.
    """

    name: str

    def conclude(
        self,
        sentences: Sequence[StoredSentence],
        *,
        known: Sequence[StoredSentence] = (),
        language: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Draft: ...


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a profile, opened on first use by `m3desk.backends`; None if the profile has none (or weights are missing).

    `missing`: port name → what to do ("m3desk models pull --llm").
    """

    faces: FaceDetector | None = None
    face_vectors: FaceEmbedder | None = None
    speech_activity: VoiceActivity | None = None
    speech_segmentation: SpeechSegmentation | None = None
    voice_vectors: VoiceEmbedder | None = None
    speech: SpeechRecogniser | None = None
    objects: ObjectDetector | None = None
    screen_text: TextReader | None = None
    text_vectors: TextEmbedder | None = None
    language: LanguageModel | None = None
    watcher: WatchingModel | None = None
    writer: MemoryWriter | None = None
    knowledge: KnowledgeWriter | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
