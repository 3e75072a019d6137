"""Memories of voices that real models tell apart: invented voices, or real ones where the shared data is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from m3desk import backends, models
from m3desk.app import App, embedding
from m3desk.backends import Backends
from m3desk.domain.clip import Clip
from m3desk.domain.evidence import Perceived, Utterance, media_id
from m3desk.domain.memory import Draft
from m3desk.perception.embedding import AROUND, voice_rows
from m3desk.perception.voices import flac
from m3desk.ports import SAMPLE_RATE, Models, Sound
from m3desk.samples.reembedding import Also, Beside
from tests.store.invented import AT, S, clips, source

ROOT = Path(__file__).resolve().parents[2]
VOICES = {"low": (95.0, (550.0, 1150.0, 2300.0)), "high": (230.0, (800.0, 1750.0, 3100.0))}
"""Who → pitch and formants, Hz."""


def entry_points(port: str) -> dict[str, EntryPoint]:
    """Return the backends that this checkout's pyproject.toml names, which may know more than the installed package."""
    group = f"m3desk.{port}"
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"].get(group, {})
    return {name: EntryPoint(name, value, group) for name, value in named.items()}


@contextmanager
def new_memory(folder: Path, monkeypatch: pytest.MonkeyPatch, voices: str = "campplus") -> Iterator[App]:
    """Open a memory whose profile has a voice model and nothing else; the others are installed too."""
    for module in (backends, embedding):
        monkeypatch.setattr(module, "available", entry_points)
    with App(folder / "m.m3desk", backends=Backends(models.weights, profile={"voice_vectors": voices})) as opened:
        yield opened


def invented(who: str, seconds: float, seed: int) -> Sound:
    """Return pulses of a throat through three resonances that move as in vowels."""
    pitch, formants = VOICES[who]
    random, length = np.random.default_rng(seed), round(seconds * SAMPLE_RATE)
    t = np.arange(length) / SAMPLE_RATE
    phase = np.cumsum(pitch * (1 + 0.06 * np.sin(2 * np.pi * random.uniform(0.8, 1.6) * t + random.uniform(0, 6)))) / SAMPLE_RATE
    pulses = np.diff(np.floor(phase), prepend=0.0) + 0.003 * random.standard_normal(length)
    made = np.zeros(length)
    for at in range(0, length, SAMPLE_RATE // 5):  # a vowel each
        part = pulses[at : at + SAMPLE_RATE // 5]
        ring = np.arange(SAMPLE_RATE // 25) / SAMPLE_RATE
        answer = sum(np.exp(-2 * np.pi * 70 * ring) * np.sin(2 * np.pi * f * random.uniform(0.85, 1.15) * ring) for f in formants)
        sound = np.convolve(part, answer)
        made[at : at + len(sound)] += sound[: length - at]
    return np.asarray(0.1 * made / np.abs(made).max(), np.float32)


def heard(clip: Clip, said: Sequence[Sound], models: Models) -> Perceived:
    """Return a clip in which each of these sounds is an utterance, embedded by the profile's model as hearing does."""
    assert models.voice_vectors is not None
    found, vectors, media, at = [], {}, {}, clip.start
    for k, sound in enumerate(said):
        around = np.zeros(AROUND, np.float32)
        content = flac(np.concatenate([around, sound, around]))
        name = media_id(content, ".flac")
        media[name] = content
        end = at + round(len(sound) / SAMPLE_RATE * S)
        found.append(Utterance(f"{clip.id}.u{k}", clip.id, at, end, "Tea.", (), "en", 0.9, name, k))
        rows = voice_rows(sound, models.voice_vectors)
        assert rows is not None
        vectors[found[-1].id] = rows
        at = end + S
    return Perceived(clip.id, utterances=tuple(found), vectors=vectors, media=media)


def remember(app: App, said: Sequence[Sequence[Sound]]) -> None:
    """Memorize clips of a new source, in each of which these sounds are heard, as the pipeline does: with the memory's own model too."""
    models = app.backends.models("voice_vectors")
    assert models.voice_vectors is not None
    with app.reader() as reader:
        instead = app.backends.instead(models, reader.settings())
        name = f"{len(reader.sources())}"
    added = app.write(lambda m: m.add_source(source(name, seconds=30 * len(said))))
    planned = [replace(c, id=f"{added.id}.c{c.index}", source=added.id) for c in clips(added.id, len(said))]
    app.write(lambda m: m.plan_clips(added.id, planned))
    for clip, sounds in zip(planned, said, strict=True):
        names = {"voice_vectors": models.voice_vectors.name}
        beside = Also(models, instead)(heard(clip, sounds, models)) if instead else Beside(heard(clip, sounds, models), names)
        _commit(app, clip, beside)


def _commit(app: App, clip: Clip, found: Beside) -> None:
    draft = Draft((), (), (), "rules 1")
    app.write(lambda m: m.commit_episodic(clip, found.perceived, draft, models=dict(found.names), beside=dict(found.rows), at=AT))


def speakers(app: App) -> dict[str, str | None]:
    """Return utterance → person."""
    with app.reader() as reader:
        return {row.utterance.id: row.person for s in reader.sources() for row in reader.speech(s.id)}
