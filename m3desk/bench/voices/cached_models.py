"""Wraps the audio models so that their results are cached between benchmark runs, in a temporary folder, by content and model."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from m3desk import backends, models
from m3desk.domain.evidence import Floats
from m3desk.errors import ModelMissing
from m3desk.ports import (
    SAMPLE_RATE,
    Models,
    RecognisedWord,
    Sound,
    SpeechRecogniser,
    SpeechSegmentation,
    Transcript,
    VoiceActivity,
    VoiceEmbedder,
)


class ResultCache:
    """Model results in a SQLite file, by the hash of the model's input."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA busy_timeout = 60000")
        self._db.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB)")

    def get(self, key: bytes) -> bytes | None:
        row = self._db.execute("SELECT value FROM kept WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def put(self, key: bytes, value: bytes) -> None:
        self._db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (key, value))

    def close(self) -> None:
        self._db.close()


def folder() -> Path:
    """Return the temporary folder of this user, for this user alone."""
    path = Path(tempfile.gettempdir()) / f"m3desk-bench-voices-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _key(model: str, sound: Sound, more: str = "") -> bytes:
    return hashlib.sha256(f"{model}\0{more}\0".encode() + np.ascontiguousarray(sound, np.float32).tobytes()).digest()


class CachedVoiceEmbedder:
    """A voice embedding model whose results are cached.

    Results are used again only while the model embeds some sounds (noise of .7 to 4 s) as it did then: it may change under its name.
    """

    def __init__(self, model: VoiceEmbedder, cache: ResultCache) -> None:
        self.name, self.dimension, self._model, self._cache = model.name, model.dimension, model, cache
        noise = np.random.default_rng(1).standard_normal(4 * SAMPLE_RATE).astype(np.float32) * 0.1
        probes = model.embed([noise[: round(s * SAMPLE_RATE)] for s in (0.7, 1.5, 2.2, 4.0)])
        self._made_as = hashlib.sha256(np.round(probes, 3).tobytes()).hexdigest()

    def embed(self, sounds: Sequence[Sound]) -> Floats:
        keys = [_key(self.name, s, self._made_as) for s in sounds]
        found = [self._cache.get(k) for k in keys]
        new = [i for i, f in enumerate(found) if f is None]
        if new:
            for i, row in zip(new, self._model.embed([sounds[i] for i in new]), strict=True):
                found[i] = np.asarray(row, np.float32).tobytes()
                self._cache.put(keys[i], found[i] or b"")
        return np.stack([np.frombuffer(f or b"", np.float32) for f in found]) if found else np.zeros((0, self.dimension), np.float32)


class CachedSegmentation:
    """A segmentation model whose results are cached (as 16-bit numbers)."""

    def __init__(self, model: SpeechSegmentation, cache: ResultCache) -> None:
        self._model, self._cache = model, cache
        self.name, self.window, self.hop, self.lead, self.classes = model.name, model.window, model.hop, model.lead, model.classes

    def segment(self, sound: Sound) -> Floats:
        key = _key(self.name, sound)
        kept = self._cache.get(key)
        if kept is None:
            kept = zlib.compress(self._model.segment(sound).astype(np.float16).tobytes(), 1)
            self._cache.put(key, kept)
        return np.frombuffer(zlib.decompress(kept), np.float16).astype(np.float32).reshape(-1, len(self.classes))


class CachedVoiceActivity:
    """A voice activity model whose results are cached."""

    def __init__(self, model: VoiceActivity, cache: ResultCache) -> None:
        self.name, self.hop, self._model, self._cache = model.name, model.hop, model, cache

    def probabilities(self, sound: Sound) -> Floats:
        key = _key(self.name, sound)
        kept = self._cache.get(key)
        if kept is None:
            kept = self._model.probabilities(sound).astype(np.float32).tobytes()
            self._cache.put(key, kept)
        return np.frombuffer(kept, np.float32)


class CachedRecogniser:
    """A speech recogniser whose results are cached."""

    def __init__(self, model: SpeechRecogniser, cache: ResultCache) -> None:
        self.name, self._model, self._cache = model.name, model, cache

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        key = _key(self.name, sound, language or "")
        kept = self._cache.get(key)
        if kept is None:
            kept = json.dumps(asdict(self._model.transcribe(sound, language))).encode()
            self._cache.put(key, kept)
        found = json.loads(kept)
        return Transcript(**{**found, "words": tuple(RecognisedWord(**w) for w in found["words"])})


WORD = 0.30
"""Seconds of a word of the stand-in."""


class StandInRecogniser:
    """A fake recogniser for thousands of seconds of sound: writes one word per 0.3 s of speech, without sentence ends.

    It uses voice activity only, so its words give no information about speakers.
    """

    name = "babbler"

    def __init__(self, activity: VoiceActivity) -> None:
        self._activity = activity

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        speech = self._activity.probabilities(sound)
        step = self._activity.hop / SAMPLE_RATE
        words: list[RecognisedWord] = []
        at = 0
        while at < len(speech):
            if speech[at] < 0.35:
                at += 1
                continue
            end = at
            while end < len(speech) and speech[end] >= 0.2 and (end - at) * step < WORD:
                end += 1
            # Letters that don't repeat: repetition is removed as a hallucination.
            word = hashlib.sha256(f"{len(words)} {at}".encode()).hexdigest()[:5]
            words.append(RecognisedWord(at * step, end * step, f" {word}", 0.9))
            at = end
        return Transcript(tuple(words), "en", 0.9, 0.05)


PORTS = ("speech_activity", "speech_segmentation", "voice_vectors", "speech")


def opened(cache: ResultCache, *, words: bool, voices: str = backends.EMBEDDED["voice_vectors"]) -> Models:
    """Open the embedded models of hearing. `words`: with the real recogniser, else the stand-in. `voices`: the backend of voice vectors.

    Raises ModelError.
    """
    made: dict[str, Any] = {}
    source = backends.Backends(models.weights, profile={**backends.EMBEDDED, "voice_vectors": voices})
    ports = PORTS if words else PORTS[:3]
    for port in ports:
        made[port] = source.get(port)
        if made[port] is None:
            raise ModelMissing(source.missing.get(port, f"there is no model for {port}."), "Download it: m3desk models pull")
    activity = CachedVoiceActivity(made["speech_activity"], cache)
    return Models(
        speech_activity=activity,
        speech_segmentation=CachedSegmentation(made["speech_segmentation"], cache),
        voice_vectors=CachedVoiceEmbedder(made["voice_vectors"], cache),
        speech=CachedRecogniser(made["speech"], cache) if words else StandInRecogniser(activity),
    )
