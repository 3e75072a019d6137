"""One clip, as perception and a memory writer are given it; and what writes memories of it. Backends: see `ports.models`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import Perceived
from m3desk.domain.memory import Draft, StoredSentence
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
)


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded picture at `at` microseconds of the source."""

    at: int
    picture: Picture


class ClipMedia(Protocol):
    """One clip, decoded: what perception sees. Made by `m3desk.media`, from a fixed pre-roll, the same each time."""

    clip: Clip
    source: Source
    path: str
    """The file itself, for a model that watches the clip on its own (with clip.start and clip.end)."""

    def frames(self) -> Iterator[Frame]:
        """Yield pictures at the memory's rate (5 a second by default) in time order within [start, end); () without a picture."""
        ...

    def sound(self) -> Sound:
        """Return the sound from the clip's start to up to 3 s past its end (`overrun`); length 0 without sound."""
        ...

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be decoded, in words, known once frames() and sound() have been read."""
        ...

    @property
    def unreadable(self) -> str | None:
        """Why none of the clip's pictures could be read although its file has some; known once frames() has been read. None: they could."""
        ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """Observations of one clip that look (or sound) like one. `tag`: provisional, such as `<face_1>`; means nothing elsewhere.

    `seen_before`: it matched somebody already in this memory when the clip was drafted (the writer may say "returns");
    `last_seen`: microseconds in this source when that was in an earlier clip of it, else None.
    """

    tag: str
    observations: tuple[str, ...]
    seen_before: bool = False
    last_seen: int | None = None


@dataclass(frozen=True, slots=True)
class ClipView:
    """What a memory writer is given. An omni model uses `media`; the embedded one composes from `perceived`.

    `recent`: the last sentences of the clip before (same source), oldest first. `language`: wanted output ("en", "zh"),
    or None = the scene's.
    `previous`: evidence of the clip before, for what enters, leaves and returns across the border; None for the first.
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
    """The queued clips of a source, in time order. `heard_until`: where the last utterance before the first of them ends, if any."""

    clips: tuple[Clip, ...]
    heard_until: int | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a memory knows of a clip before it is written: all that `ClipView` needs of the store, of one moment.

    `perceived`: without what may not be stored (where somebody was forgotten, who is never to be remembered), and with tracks that go on
    from the clip before. `clusters`: a preview; the commit decides again. `recent`, `previous`: as in ClipView.
    """

    perceived: Perceived
    clusters: tuple[Cluster, ...]
    recent: tuple[StoredSentence, ...]
    previous: Perceived | None


@runtime_checkable
class MemoryWriter(Protocol):
    """Writes the episodic sentences of a clip. Blocking, one clip at a time, no access to the store."""

    name: str

    def write(self, view: ClipView, cancelled: Callable[[], bool] = lambda: False) -> Draft: ...


@runtime_checkable
class KnowledgeWriter(Protocol):
    """Writes semantic memories from a clip's stored episodic sentences (tagged form), each citing the sentences it rests on."""

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
    """The models of a profile, opened on first use by `m3desk.backends`; None where the profile has none (or weights are missing).

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
    writer: MemoryWriter | None = None
    knowledge: KnowledgeWriter | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
