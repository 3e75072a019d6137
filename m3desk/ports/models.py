"""The interfaces of model backends: faces, voices, speech, objects, text, language.

A backend is a class with `name` (the model and its version, stored with everything it produces), created with the path of its weights
and a number of threads. All calls block, may come from any thread but only one at a time (`SeveralAtOnce` says otherwise), and raise only
`ModelError` (`ModelFailed`, `ModelMissing`) on purpose. Same input, same output: no state is kept between calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.evidence import Box, Floats

Picture = NDArray[np.uint8]
"""(height, width, 3) uint8, BGR, as displayed (rotation applied)."""

Sound = NDArray[np.float32]
"""(samples,) float32 in −1…1, mono, 16 kHz."""

SAMPLE_RATE = 16_000


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
    """`name`: its cosines are calibrated under it on labelled pairs (`domain.calibration`)."""

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
    """Separates the speakers of a short window, including overlapping speech; speaker numbers are local to the window.

    `window`: samples per call. `hop`: samples per row; row n begins `lead + n · hop` samples after the window's start.
    `classes`: the window's speakers (0, 1, …) who speak in each class, () for nobody.
    """

    name: str
    window: int
    hop: int
    lead: int
    classes: tuple[tuple[int, ...], ...]

    def segment(self, sound: Sound) -> Floats:
        """Return (rows, len(classes)) float32 probabilities, each row's sum 1; shorter sound is padded with silence."""
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
    """`no_speech`: the recogniser's probability that nobody speaks, 0–1."""

    words: tuple[RecognisedWord, ...]
    language: str | None
    language_probability: float
    no_speech: float


@runtime_checkable
class SpeechRecogniser(Protocol):
    name: str

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        """Transcribe up to 40 s of sound; `language` (ISO 639-1) skips language detection."""
        ...


@dataclass(frozen=True, slots=True)
class QuickTranscript:
    """`confidence`: of the text as a whole, 0–1. `no_speech`: as in Transcript."""

    text: str
    language: str | None
    confidence: float
    no_speech: float


@runtime_checkable
class QuickSpeechRecogniser(Protocol):
    """What a SpeechRecogniser may offer besides: a cheaper pass without word times, for live subtitles, which are never stored."""

    def transcribe_quickly(self, sound: Sound, language: str | None = None) -> QuickTranscript:
        """Transcribe up to 10 s of sound; the text may differ from that of `transcribe`."""
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


@runtime_checkable
class SeveralAtOnce(Protocol):
    """What a LanguageModel or a WatchingModel may offer besides: requests of several threads at the same time."""

    @property
    def at_once(self) -> int:
        """Return how many requests it answers at the same time now, each as if alone: 1 or more, and it may change. Never waits."""
        ...


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn at random; the same seed gives the same reply where the engine can."""

    temperature: float
    top_p: float
    top_k: int
    seed: int = 0


@runtime_checkable
class SamplingModel(Protocol):
    """What a LanguageModel may offer besides: replies drawn at random, after thinking, as models trained for M3-Agent's control expect."""

    def sampled(
        self, messages: Sequence[Message], sampling: Sampling, *, max_tokens: int, cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[str]:
        """Yield the reply in pieces, without its thoughts."""
        ...


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures in time order, for a model that sees. `rate`: pictures a second if they are a video's, None for single pictures."""

    pictures: tuple[Picture, ...]
    rate: float | None = None
    sound: Sound | None = None
    """The sound of the video, exactly as long as it; given only to a model that hears."""


Part = str | Pictures
"""A part of a turn: text, or pictures (one picture: `Pictures((picture,))`)."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation with a model that sees. `role`: `system`, `user` or `assistant`."""

    role: str
    parts: tuple[Part, ...]


@runtime_checkable
class WatchingModel(Protocol):
    """A model that sees, and maybe hears.

    `context`: tokens of prompt and reply together. `hears`: it takes `Pictures.sound`. `watches_video`: it takes pictures with a `rate`
    as a video; others get single pictures. `most_pictures`: how many pictures a clip is worth giving it.
    A model that was trained on another form of request may have `style` besides (`m3-agent`; see memorization.watched.request). One that
    may turn out not to see has `check(cancelled)`, called before any clip is perceived: it raises ModelMissing with what to do.
    """

    name: str
    context: int
    hears: bool
    watches_video: bool
    most_pictures: int

    def watch(
        self,
        turns: Sequence[Turn],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces, at temperature 0; a JSON schema constrains it where the engine can."""
        ...
