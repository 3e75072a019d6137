"""A voice that two people in view speak with, as their lips show, and voices that nothing takes apart: drawn mouths, invented sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.evidence import FaceTrack, Floats, TimedBox, Utterance
from m3desk.perception import in_step
from m3desk.perception.faces import VisualEvidence
from m3desk.perception.lips import LipSeries
from m3desk.perception.perceive import merge
from m3desk.perception.two_speakers import told_apart
from m3desk.perception.voices import SpeechEvidence
from tests.perception.test_lips import SECONDS, filmed, loudness, voice

HALF = SECONDS * 50
FACES = tuple(
    FaceTrack(f"f{n}", "s1.c0", 0, SECONDS * MICROSECOND, (TimedBox(0, 60 + 300 * n, 100, 120, 170),), 0.9, 0.8, cluster=n) for n in (0, 1)
)
TWO = frozenset({("f0", "f1")})


def turns() -> tuple[np.ndarray, np.ndarray]:
    """One person speaks in the first half, another one in the second: loudness of each, 100 values a second."""
    one, other = loudness(1), loudness(2)
    one[HALF:], other[:HALF] = 0, 0
    return one, other


def said(number: int, start: float, end: float, cluster: int = 0) -> Utterance:
    return Utterance(f"u{number}", "s1.c0", round(start * 1e6), round(end * 1e6), "a", (), "en", 0.9, cluster=cluster)


UTTERANCES = (said(0, 0.2, 3.9), said(1, 4.1, 7.7))


@pytest.fixture(scope="module")
def lips() -> dict[str, LipSeries]:
    return dict(zip(("f0", "f1"), map(filmed, turns()), strict=True))


@pytest.fixture(scope="module")
def sound() -> Floats:
    one, other = turns()
    return in_step.bands(voice(np.maximum(one, other)), 0)


def apart(
    lips: Mapping[str, LipSeries], sound: Floats, two: frozenset[tuple[str, str]] = TWO, utterances: tuple[Utterance, ...] = UTTERANCES,
    vectors: Mapping[str, Floats] | None = None,
) -> tuple[list[int], frozenset[tuple[str, str]]]:  # fmt: skip
    found, pairs = told_apart(FACES, lips, two, utterances, vectors or {}, sound, 0, SECONDS * MICROSECOND)
    assert [replace(u, cluster=0) for u in found] == [replace(u, cluster=0) for u in utterances]
    return [u.cluster for u in found], pairs


def test_two_people_in_one_picture_who_are_in_step_with_one_voice_are_two_voices(lips: Mapping[str, LipSeries], sound: Floats) -> None:
    assert apart(lips, sound) == ([0, 1], frozenset({("u0", "u1")}))


def test_faces_that_are_never_seen_together_may_be_one_persons(lips: Mapping[str, LipSeries], sound: Floats) -> None:
    assert apart(lips, sound, two=frozenset()) == ([0, 0], frozenset())


def test_who_speaks_all_the_time_stays_one_voice(lips: Mapping[str, LipSeries]) -> None:
    mine = in_step.bands(voice(loudness(1)), 0)
    assert apart({"f0": filmed(loudness(1)), "f1": lips["f1"]}, mine) == ([0, 0], frozenset())


def test_a_narrator_over_two_people_stays_one_voice(lips: Mapping[str, LipSeries]) -> None:
    assert apart(lips, in_step.bands(voice(loudness(7)), 0)) == ([0, 0], frozenset())


def test_what_no_lips_tell_goes_to_the_more_similar_of_the_two(lips: Mapping[str, LipSeries], sound: Floats) -> None:
    short = (*UTTERANCES, said(2, 7.8, 7.9), said(3, 7.9, 8.0), said(4, 7.9, 8.0, cluster=3))
    rows = {"u0": np.eye(2, dtype=np.float32)[:1], "u1": np.eye(2, dtype=np.float32)[1:]}
    assert apart(lips, sound, utterances=short, vectors={**rows, "u2": rows["u1"], "u4": rows["u0"]})[0] == [0, 4, 4, 0, 3]


def test_a_clips_evidence_has_two_voices(lips: Mapping[str, LipSeries], sound: Floats) -> None:
    clip = Clip("s1.c0", "s1", 0, 0, SECONDS * MICROSECOND)
    faces = tuple(replace(t, id=f"s1.c0.{t.id}") for t in FACES)
    seen = VisualEvidence(faces=faces, lips={f"s1.c0.{k}": v for k, v in lips.items()}, cannot_link=frozenset({("s1.c0.f0", "s1.c0.f1")}))
    found = merge(clip, seen, SpeechEvidence(tuple(replace(u, id=f"s1.c0.{u.id}") for u in UTTERANCES), bands=sound))
    assert [u.cluster for u in found.utterances] == [0, 1]
    assert ("s1.c0.u0", "s1.c0.u1") in found.cannot_link
    assert max((m for m in found.lips if m.voice == 1), key=lambda m: m.evidence).face == 1
