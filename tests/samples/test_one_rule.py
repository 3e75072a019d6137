"""A face and a segment of speech become the same vectors whatever they are embedded for."""

from __future__ import annotations

import wave
from pathlib import Path

import cv2
import numpy as np
import pytest

from m3desk.domain.evidence import FaceTrack, Floats, TimedBox, Utterance
from m3desk.perception.embedding import AROUND, EMBEDDABLE, SCRAP, utterance_in, voice_rows
from m3desk.perception.sightings import faces_of
from m3desk.perception.voices import flac
from m3desk.ports import SAMPLE_RATE, DetectedFace, Models, Picture, Sound
from m3desk.samples import given, lookup, proof, reembedding, teaching

MARKS = np.array([[25, 25], [45, 25], [35, 37], [28, 48], [42, 48]], np.float32)


class Spectrum:
    """A voice model that tells sounds apart by a few of their frequencies."""

    name, dimension = "spectrum", 16

    def embed(self, sounds: list[Sound]) -> Floats:
        rows = np.stack([np.abs(np.fft.rfft(s, 16_384))[64 : 64 + 512].reshape(16, 32).sum(1) for s in sounds]) + 1e-3
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


class Loud:
    """A voice activity model: what is loud is speech."""

    name, hop = "loud", 512

    def probabilities(self, sound: Sound) -> Floats:
        steps = -(-len(sound) // self.hop)
        padded = np.pad(sound, (0, steps * self.hop - len(sound))).reshape(steps, self.hop)
        return np.asarray(np.abs(padded).max(1) > 0.05, np.float32)


class Found:
    """A face detector that finds one face, in the same place of every picture."""

    name = "found"

    def detect(self, picture: Picture) -> list[DetectedFace]:
        return [DetectedFace((20.0, 15.0, 30.0, 40.0), 0.95, MARKS)]


class Patch:
    """A face model that looks at the pixels around the nose."""

    name, dimension = "patch", 75

    def embed(self, picture: Picture, faces: list[DetectedFace]) -> Floats:
        rows = []
        for face in faces:
            x, y = face.landmarks[2].round().astype(int)
            rows.append(picture[y - 2 : y + 3, x - 2 : x + 3].reshape(-1).astype(np.float32) + 1)
        return np.stack([r / np.linalg.norm(r) for r in rows])


def speech(seconds: float) -> Sound:
    """Return three tones, one of them slowly rising, loud all the time."""
    t = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return np.asarray(0.3 * sum(np.sin(2 * np.pi * f * t) for f in (120, 180, 240 + 4 * t)), np.float32)


def recording(path: Path, sound: Sound) -> Path:
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes((sound * 32767).round().astype("<i2").tobytes())
    return path


MODELS = Models(faces=Found(), face_vectors=Patch(), speech_activity=Loud(), voice_vectors=Spectrum())


@pytest.mark.parametrize("seconds", [1.2, 7.5, *(pytest.param(n, marks=pytest.mark.slow) for n in (4.0, 14.0))])
def test_a_segment_of_speech_gives_the_same_rows_for_every_purpose(seconds: float, tmp_path: Path) -> None:
    said = speech(seconds)
    perceived = voice_rows(said, Spectrum())
    assert perceived is not None
    file = recording(tmp_path / "said.wav", said)
    heard = given.speech(file, MODELS)
    assert abs(len(heard.said) - len(said)) <= Loud.hop
    (asked,) = lookup.voice(file, MODELS)
    assert asked.vectors.shape == perceived.shape and np.allclose(asked.vectors, perceived, atol=2e-2)

    around = np.zeros(AROUND, np.float32)
    kept = flac(np.concatenate([around, said, around]))
    utterance = Utterance("s1.c0.u0", "s1.c0", 0, round(seconds * 1_000_000), "x", (), None, 0.9, "a.flac")
    again = reembedding.voice_rows(utterance, {"a.flac": kept}.get, Spectrum())
    assert again is not None and again.shape == perceived.shape and np.allclose(again, perceived, atol=1e-3)

    vectors = {("voice", "spectrum"): perceived}
    assert proof.look([("a.flac", kept)], vectors, MODELS).found == ("a.flac",)


def test_what_teaches_a_person_is_embedded_as_what_was_perceived(tmp_path: Path) -> None:
    said = speech(3.5)
    lesson = teaching.learn(recording(tmp_path / "said.wav", said), MODELS)
    perceived = voice_rows(said, Spectrum())
    assert perceived is not None and np.allclose(lesson.sample.vectors, perceived, atol=2e-2)


def test_a_face_gives_the_same_row_for_every_purpose(tmp_path: Path) -> None:
    picture = np.random.default_rng(3).integers(0, 255, (90, 80, 3)).astype(np.uint8)
    ((seen, perceived),) = faces_of(picture, Found(), Patch())
    stored = cv2.imencode(".png", seen.crop)[1].tobytes()
    marks = tuple((float(x), float(y)) for x, y in seen.marks)
    track = FaceTrack("s1.c0.f0", "s1.c0", 0, 1, (TimedBox(0, *seen.box),), 0.95, 0.8, ("c.jpg",), (marks,))
    again = reembedding.face_rows(track, {"c.jpg": stored}.get, Patch())
    assert again is not None and np.allclose(again[0], perceived, atol=1e-5)

    photo = tmp_path / "photo.png"
    photo.write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    (asked,) = lookup.faces(photo, MODELS)
    lesson = teaching.learn(photo, MODELS)
    assert np.allclose(asked.vectors[0], perceived, atol=1e-5) and np.allclose(lesson.sample.vectors[0], perceived, atol=1e-5)


def test_scraps_that_were_told_together_are_embedded_again_though_they_are_short() -> None:
    short = speech(0.7)
    assert SCRAP < len(short) < EMBEDDABLE and voice_rows(short, Spectrum()) is None
    rows = voice_rows(short, Spectrum(), least=SCRAP)
    assert rows is not None and len(rows) == 1 and voice_rows(short[:100], Spectrum(), least=SCRAP) is None


def test_a_snippet_at_a_clips_start_has_less_around_it() -> None:
    said = np.ones(SAMPLE_RATE, np.float32)
    before, after = np.zeros(AROUND // 4, np.float32), np.zeros(AROUND, np.float32)
    inside = utterance_in(np.concatenate([before, said, after]), 1_000_000)
    assert len(said) <= len(inside) <= len(said) + AROUND and utterance_in(said, 1_000_000) is not said[:0]
    assert len(utterance_in(said, 1_000_000)) == len(said)
