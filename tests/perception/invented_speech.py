"""Invented speech: words are tones, silence is silence, a speaker is an octave; and models of hearing that understand just that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import Floats
from m3desk.media.cutter import plan
from m3desk.ports import Models, RecognisedWord, Sound, Transcript

RATE = 16000
LOUD = 0.05

Line = tuple[float, str]
"""When words begin (seconds), and the words; in capitals a high voice says them."""


def tone(frequency: float, seconds: float) -> Sound:
    t = np.arange(round(seconds * RATE)) / RATE
    return np.asarray(0.3 * np.sin(2 * np.pi * frequency * t), np.float32)


_TONES: dict[str, int] = {}


def pitch(word: str) -> float:
    """Return a word's tone: 300 to 1,300 Hz, another for each word, 2,000 Hz higher in capitals."""
    place = _TONES.setdefault(word.lower(), len(_TONES))
    assert place < 40, "too many words for one process"
    return 300 + 25 * place + 2000 * word.isupper()


def speech(seconds: float, lines: Sequence[Line], *, word: float = 0.25, gap: float = 0.06) -> Sound:
    """Say lines: each word lasts 0.25 s, with 0.06 s between words."""
    sound = np.zeros(round(seconds * RATE), np.float32)
    for start, text in lines:
        for i, w in enumerate(text.split()):
            at = round((start + i * (word + gap)) * RATE)
            piece = tone(pitch(w), word)[: max(0, len(sound) - at)]
            sound[at : at + len(piece)] = piece
    return sound


def loud_runs(sound: Sound, gap: float = 0.03) -> list[tuple[int, int]]:
    """Return spans of samples that are loud, joined over shorter silences than `gap`."""
    block = RATE // 200
    energy = np.sqrt(np.mean(np.square(np.pad(sound, (0, -len(sound) % block)).reshape(-1, block)), axis=1))
    runs: list[tuple[int, int]] = []
    for i in np.flatnonzero(energy > LOUD).tolist():
        if runs and (i * block - runs[-1][1]) < gap * RATE:
            runs[-1] = (runs[-1][0], (i + 1) * block)
        else:
            runs.append((i * block, (i + 1) * block))
    return runs


class Loudness:
    """Takes what is loud for speech."""

    name = "loudness-1"
    hop = 512

    def probabilities(self, sound: Sound) -> Floats:
        blocks = np.pad(sound, (0, -len(sound) % self.hop)).reshape(-1, self.hop)
        return np.where(np.sqrt(np.mean(np.square(blocks), axis=1)) > LOUD / 2, 0.95, 0.01).astype(np.float32)


class Octaves:
    """Tells low voices from high ones."""

    name = "octaves-1"
    dimension = 2

    def embed(self, sounds: Sequence[Sound]) -> Floats:
        rows = []
        for sound in sounds:
            spectrum = np.abs(np.fft.rfft(sound)) ** 2
            edge = 1500 * len(sound) // RATE
            rows.append([np.sqrt(spectrum[:edge].sum()), np.sqrt(spectrum[edge:].sum())])
        vectors = np.array(rows, np.float32).reshape(len(rows), 2)
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


@dataclass
class LowAndHigh:
    """Tells a low speaker from a high one in a window of 10 s, also when both speak. `tells=False`: takes all for one speaker."""

    tells: bool = True
    calls: int = 0
    name: str = "low-and-high-1"
    window: int = 10 * RATE
    hop: int = 320
    lead: int = 0
    classes: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (0, 1))

    def segment(self, sound: Sound) -> Floats:
        self.calls += 1
        rows = np.pad(sound, (0, self.window - len(sound))).reshape(-1, self.hop)
        spectrum = np.abs(np.fft.rfft(rows * np.hanning(self.hop))) * 4 / self.hop
        edge = 1500 * self.hop // RATE
        low, high = spectrum[:, :edge].max(1) > 0.06, spectrum[:, edge:].max(1) > 0.06
        chosen = low + 2 * high if self.tells else (low | high).astype(int)
        return np.eye(4, dtype=np.float32)[chosen.astype(int)] * 0.97 + 0.0075


@dataclass
class Ear:
    """Writes down tones that it knows; counts its passes. `confidence`, `no_speech`: what it says of all it writes."""

    known: Sequence[str]
    confidence: float = 0.9
    no_speech: float = 0.05
    language: str = "en"
    phantom: str = ""
    """What it writes besides, at the start of each pass."""
    passes: list[float] = field(default_factory=list)
    name: str = "ear-1"

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        self.passes.append(len(sound) / RATE)
        words = [RecognisedWord(0.0, 0.3, " " + self.phantom, self.confidence)] if self.phantom else []
        for a, b in loud_runs(sound):
            if b - a >= 0.1 * RATE:
                spectrum = np.abs(np.fft.rfft(sound[a:b]))
                heard = float(np.argmax(spectrum)) * RATE / (b - a)
                best = min(self.known, key=lambda w: abs(pitch(w) - heard))
                words.append(RecognisedWord(a / RATE, b / RATE, " " + best, self.confidence))
        return Transcript(tuple(words), self.language, 0.98, self.no_speech)


@dataclass
class SoundClip:
    """A part of an invented sound as a clip; answers ports.ClipMedia."""

    clip: Clip
    source: Source
    whole: Sound
    path: str = ""
    problems: tuple[str, ...] = ()
    unreadable: str | None = None

    def frames(self) -> object:
        return iter(())

    def sound(self) -> Sound:
        return self.whole[round(self.clip.start * 0.016) : round(self.clip.end * 0.016) + 3 * RATE].copy()


def clips(sound: Sound, seconds: float = 30.0) -> list[SoundClip]:
    source = Source("s1", "invented", round(len(sound) / RATE * 1e6), None, None, None, True, None)
    return [SoundClip(clip, source, sound) for clip in plan(source, seconds)]


def ears(lines: Sequence[Line], **changes: object) -> tuple[Models, Ear]:
    """Return models that know the words of these lines."""
    ear = Ear(sorted({w for _, text in lines for w in text.split()}), **changes)  # type: ignore[arg-type]
    return Models(speech_activity=Loudness(), voice_vectors=Octaves(), speech=ear), ear
