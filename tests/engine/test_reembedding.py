"""Stored crops and snippets are embedded with another model; a new clip gets embeddings of both models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from m3desk.backends import Backends
from m3desk.domain.evidence import FaceTrack, Perceived, TimedBox, Utterance, media_id
from m3desk.errors import ModelFailed
from m3desk.perception.voices import flac
from m3desk.ports import SAMPLE_RATE, Models
from m3desk.samples.reembedding import Also, decode, face_rows, voice_rows

FIVE = ((20.0, 20.0), (40.0, 20.0), (30.0, 30.0), (22.0, 40.0), (38.0, 40.0))


class Brightness:
    """A face model that knows how bright a crop is and where its nose lies."""

    def __init__(self, name: str) -> None:
        self.name, self.dimension = name, 3

    def embed(self, picture, faces):  # type: ignore[no-untyped-def]
        rows = np.array([[picture.mean(), *f.landmarks[2]] for f in faces], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Loudness:
    name, dimension = "loudness", 2

    def embed(self, sounds):  # type: ignore[no-untyped-def]
        return np.array([[len(s), float(np.abs(s).max() * 1000)] for s in sounds], np.float32)


def crop(value: int) -> bytes:
    done, data = cv2.imencode(".png", np.full((60, 60, 3), value, np.uint8))
    assert done
    return data.tobytes()


def track(media: dict[str, bytes], *values: int) -> FaceTrack:
    names = []
    for value in values:
        content = crop(value)
        names.append(media_id(content, ".jpg"))
        media[names[-1]] = content
    boxes = (TimedBox(0, 0.0, 0.0, 30.0, 30.0),)
    return FaceTrack("s1.c0.f0", "s1.c0", 0, 1_000_000, boxes, 0.9, 0.8, tuple(names), (FIVE,) * len(values))


def test_a_face_is_embedded_from_its_stored_crops_and_landmarks() -> None:
    media: dict[str, bytes] = {}
    rows = face_rows(track(media, 100, 200), media.get, Brightness("b"))
    assert rows is not None and rows.shape == (2, 3)
    assert np.allclose(rows[0], np.array([100, 30, 30]) / np.linalg.norm([100, 30, 30]), atol=1e-5)
    assert face_rows(replace(track(media, 100), crops=("gone.jpg",)), media.get, Brightness("b")) is None


def test_speech_is_embedded_without_what_is_around_it() -> None:
    sound = np.zeros(round(3.2 * SAMPLE_RATE), np.float32)
    sound[SAMPLE_RATE // 10 : -SAMPLE_RATE // 10] = 0.5
    content = flac(sound)
    said = Utterance("s1.c0.u0", "s1.c0", 0, 3_000_000, "x", (), None, 0.9, "a.flac")
    assert abs(len(decode(content)) - len(sound)) <= 1
    rows = voice_rows(said, {"a.flac": content}.get, Loudness())
    assert rows is not None and [int(r[0]) for r in rows] == [48000] and abs(float(rows[0][1]) - 500) < 1
    short = replace(said, end=200_000)
    assert voice_rows(short, {"a.flac": flac(sound[: SAMPLE_RATE * 4 // 10])}.get, Loudness()) is None
    assert voice_rows(replace(said, audio=None), {}.get, Loudness()) is None
    with pytest.raises(ModelFailed):
        voice_rows(said, {"a.flac": b"no sound at all"}.get, Loudness())


def test_a_new_clip_gets_the_rows_of_the_memorys_model_and_keeps_those_of_the_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    media: dict[str, bytes] = {}
    shown = track(media, 50)
    by_profile = np.ones((1, 3), np.float32)
    perceived = Perceived("s1.c0", (shown,), vectors={shown.id: by_profile}, media=media)
    models = Models(face_vectors=Brightness("profile's"))
    backends = Backends(Path, profile={})
    monkeypatch.setattr(backends, "of_model", lambda _port, name: Brightness(name))
    other = backends.instead(models, {"face_vectors": "memory's", "voice_vectors": "whatever"})
    assert list(other) == ["face_vectors"] and backends.instead(models, {"face_vectors": "profile's"}) == {}
    found = Also(models, other)(perceived)
    assert found.names == {"face_vectors": "memory's"} and (found.rows["profile's"][shown.id] == by_profile).all()
    assert not np.allclose(found.perceived.vectors[shown.id], by_profile)
