"""What the engine asks of models and of its own edges: small Protocols that plugins and the store answer.

A backend is a class with `name` (the model and its version, stored beside everything it makes), made with the opened path of its
weights and an explicit number of threads. All calls block, may be made from any one thread at a time, and raise `ModelError`
(`ModelFailed`, `ModelMissing`) and nothing else on purpose. Same input, same output: no state crosses calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.changed import Edge
from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Effect, Step
from m3desk.domain.evidence import Box, Floats, ObjectSeen, Perceived, TextOnScreen
from m3desk.domain.graph import EdgeRow, GraphView, NodeRow
from m3desk.domain.memory import Draft, StoredSentence
from m3desk.domain.people import Binding, Person, SpeechRow, TrackRow
from m3desk.domain.questions.types import Suggestion, Verdict

Picture = NDArray[np.uint8]
"""(height, width, 3) uint8, BGR, as displayed (rotation applied)."""

Sound = NDArray[np.float32]
"""(samples,) float32 in −1…1, mono, 16 kHz."""

SAMPLE_RATE = 16_000


# ---------------------------------------------------------------- faces, voices, speech, things, texts


@dataclass(frozen=True, slots=True)
class DetectedFace:
    """`landmarks`: (5, 2) float32 pixels: right eye, left eye, nose, right and left mouth corner."""

    box: Box
    score: float
    landmarks: Floats


@runtime_checkable
class FaceDetector(Protocol):
    name: str

    def detect(self, picture: Picture) -> list[DetectedFace]:
        """Find faces, best score first."""
        ...


@runtime_checkable
class FaceEmbedder(Protocol):
    """`same`, `different`: cosine thresholds calibrated for this model on labelled pairs (see domain.identity.Calibration)."""

    name: str
    dimension: int

    def embed(self, picture: Picture, faces: Sequence[DetectedFace]) -> Floats:
        """Return (n, dimension) float32 unit rows, one a face of the picture."""
        ...


@runtime_checkable
class VoiceActivity(Protocol):
    name: str
    hop: int
    """Samples a probability covers (512 = 32 ms)."""

    def probabilities(self, sound: Sound) -> Floats:
        """Return (ceil(samples / hop),) float32 probabilities of speech, from a fresh state."""
        ...


@runtime_checkable
class VoiceEmbedder(Protocol):
    name: str
    dimension: int

    def embed(self, sounds: Sequence[Sound]) -> Floats:
        """Return (n, dimension) float32 unit rows, one a sound (≥ 0.5 s each; 1.5 s and more is good)."""
        ...


@runtime_checkable
class SpeechSegmentation(Protocol):
    """Tells the few speakers of a short window apart, also where two speak at once; who they are elsewhere it does not know.

    `window`: samples of a call. `hop`: samples a row covers; row n begins `lead + n · hop` samples after the window.
    `classes`: which of the window's speakers (0, 1, …) speak in each class, () for nobody.
    """

    name: str
    window: int
    hop: int
    lead: int
    classes: tuple[tuple[int, ...], ...]

    def segment(self, sound: Sound) -> Floats:
        """Return (rows, len(classes)) float32 probabilities, each row's sum 1; a shorter sound is taken to end in silence."""
        ...


@dataclass(frozen=True, slots=True)
class RecognisedWord:
    """Times are seconds from the start of the sound given."""

    start: float
    end: float
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """`no_speech`: the recogniser's own probability that nobody speaks, 0–1."""

    words: tuple[RecognisedWord, ...]
    language: str | None
    language_probability: float
    no_speech: float


@runtime_checkable
class SpeechRecogniser(Protocol):
    name: str

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        """Write down what is said in up to 40 s of sound; `language` (ISO 639-1) skips detection."""
        ...


@dataclass(frozen=True, slots=True)
class DetectedObject:
    label: str
    score: float
    box: Box


@runtime_checkable
class ObjectDetector(Protocol):
    name: str

    def detect(self, picture: Picture) -> list[DetectedObject]: ...


@dataclass(frozen=True, slots=True)
class ReadText:
    text: str
    score: float
    box: Box


@runtime_checkable
class TextReader(Protocol):
    name: str

    def read(self, picture: Picture) -> list[ReadText]:
        """Read the text in a picture, from top to bottom."""
        ...


@runtime_checkable
class TextEmbedder(Protocol):
    name: str
    dimension: int

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """Return (n, dimension) float32 unit rows; `query` for questions, else for stored sentences."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    """`system`, `user` or `assistant`."""
    text: str


@runtime_checkable
class LanguageModel(Protocol):
    name: str
    context: int
    """Tokens of prompt and reply together."""

    def reply(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 256,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces, at temperature 0; a GBNF grammar or a JSON schema constrains it."""
        ...


# ---------------------------------------------------------------- one clip, to perception and to a memory writer


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


# ---------------------------------------------------------------- what control may ask of a memory (answered by store, wired in app)


@dataclass(frozen=True, slots=True)
class Found:
    """A node that a search found. `score` 0–1 after fusion; `why`: one line a person understands ("words: green, tea · meaning 0.83")."""

    id: str
    type: str
    content: str
    score: float
    why: str
    clip: str | None
    source: str | None
    start: int | None
    end: int | None
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundClip:
    clip: str
    source: str
    start: int
    end: int
    score: float
    memories: tuple[Found, ...] = ()


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


# ---------------------------------------------------------------- what a window and commands read of a memory (answered by store)


class Reader(Protocol):
    """A read-only look at one memory, each call one consistent snapshot. Calls take milliseconds; made from any one thread.

    Ids of persons given to it may be `person_3`, `3`, `Person 3`, a name or an alias where it says `ref`.
    """

    path: str

    def version(self) -> int:
        """Return the sequence number of the last commit; equal numbers mean nothing changed."""
        ...

    def sources(self) -> list[Source]: ...
    def clips(self, source: str | None = None) -> list[Clip]: ...
    def clips_between(self, source: str, start: int, end: int) -> list[Clip]:
        """Return the clips of a source that reach into [start, end)."""
        ...

    def thumbnail(self, clip: str) -> str | None: ...
    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]: ...
    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]: ...
    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]: ...
    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]: ...
    def people(self) -> list[Person]: ...
    def person(self, ref: str) -> Person:
        """Raise CorrectionError when nobody answers to `ref`."""
        ...

    def memories(
        self, *, kind: str | None = None, person: str | None = None, source: str | None = None, clip: str | None = None
    ) -> list[StoredSentence]:
        """Return sentences in time order."""
        ...

    # What views read after a commit: those of the named rows that are still there, and in force.
    def clips_of(self, ids: Collection[str]) -> list[Clip]: ...
    def thumbnails(self, clips: Collection[str]) -> dict[str, str]:
        """Return clip → media id of its picture, of those that have one."""
        ...

    def tracks_of(self, ids: Collection[str]) -> list[TrackRow]: ...
    def speech_of(self, ids: Collection[str]) -> list[SpeechRow]: ...
    def people_of(self, ids: Collection[str]) -> list[Person]: ...
    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]: ...
    def nodes_of(self, ids: Collection[str]) -> list[NodeRow]: ...
    def edges_of(self, keys: Collection[Edge]) -> list[EdgeRow]: ...
    def sentence(self, node: str) -> StoredSentence: ...
    def node(self, id_: str) -> NodeRow: ...
    def neighbours(self, id_: str) -> list[EdgeRow]: ...
    def graph(self) -> GraphView: ...
    def bindings(self, observation: str | None = None, node: str | None = None) -> list[Binding]: ...
    def journal(self) -> list[Step]: ...
    def suggestions(self) -> list[Suggestion]:
        """Return what a person could decide, most useful first."""
        ...

    def why(self, observation: str) -> Verdict:
        """Return why an observation is taken for somebody's. Raises CorrectionError when there is none of that id."""
        ...

    def chats(self) -> list[dict[str, Any]]: ...
    def media(self, id_: str) -> bytes | None:
        """Return a stored crop, speech snippet or thumbnail."""
        ...

    def close(self) -> None: ...


class Desk(Protocol):
    """What a window may ask of the engine. Each call returns at once; results come as futures, news as events."""

    def subscribe(self, on_event: Callable[[Any], None]) -> Callable[[], None]:
        """Call `on_event` with every event, from some other thread; return a function that ends it."""
        ...

    def reader(self) -> Reader:
        """Return a new read-only look at the open memory, for use in one thread (not the GUI's for anything slow)."""
        ...

    def memorize(self, paths: Sequence[str]) -> Future[list[str]]:
        """Queue files or folders (their videos in name order); return the source ids."""
        ...

    def pause(self, paused: bool) -> None: ...
    def cancel(self, source: str) -> None: ...
    def retry(self, source: str) -> None: ...
    def move(self, source: str, to: int) -> None:
        """Give a queued source another place in the queue (0 = next)."""
        ...

    def queue(self) -> Future[list[str]]:
        """Return the ids of the sources that wait, next first."""
        ...

    def remove_source(self, source: str, *, dry_run: bool = False) -> Future[Effect]: ...
    def relink(self, source: str, path: str) -> Future[None]: ...
    def ask(self, question: str, *, source: str | None = None, start: int | None = None, end: int | None = None) -> str:
        """Ask; return the ask's id. AskStarted, AskRound, AskText and AskDone follow as events."""
        ...

    def stop_asking(self, ask: str) -> None: ...
    def search(self, text: str, k: int = 20) -> Future[list[Found]]: ...
    def suggestions(self) -> Future[list[Suggestion]]:
        """Return what a person could decide, most useful first, as it is now; `events.Suggested` tells how many there are."""
        ...

    def correct(self, kind: str, args: Mapping[str, Any], *, why: str | None = None, dry_run: bool = False) -> Future[Effect]: ...
    def accept(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        """Do what suggestion `n` says."""
        ...

    def reject(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        """Say that suggestion `n` is wrong; it is not asked again."""
        ...

    def undo(self) -> Future[Effect]: ...
    def redo(self) -> Future[Effect]: ...
    def revert(self, step: int) -> Future[Effect]: ...
    def models(self) -> Future[list[dict[str, Any]]]:
        """Return the rows of `models list`."""
        ...

    def pull(self, *, llm: bool = False, names: Sequence[str] = ()) -> Future[None]:
        """Fetch what is missing; Downloading events tell how far."""
        ...

    def stop_pulling(self) -> None:
        """Stop fetching; what has come so far is kept and goes on the next time."""
        ...

    def remove_model(self, name: str) -> Future[None]:
        """Delete a fetched model's files."""
        ...

    def doctor(self) -> Future[dict[str, Any]]: ...
    def check(self) -> Future[dict[str, Any]]:
        """Return the report of `m3desk check`."""
        ...

    def picture(self, source: str, at: int, width: int = 480) -> Future[bytes | None]:
        """Return a source's picture at a moment (microseconds) as JPEG; None where its file is not there."""
        ...

    def export(self, path: str, format_: str | None = None, source: str | None = None) -> Future[None]: ...
    def close(self) -> None: ...
