"""Lips at 25 pictures a second, held against the sound: a drawn mouth that opens as a voice gets louder, and other people's voices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from m3desk.bench.voices import dubbing
from m3desk.bench.voices.cached_models import ResultCache, opened
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import IN_STEP, FaceTrack, LipMatch, TimedBox, Utterance
from m3desk.perception import in_step
from m3desk.perception.lips import LipSeries, followed, series
from m3desk.perception.sightings import Sighting
from m3desk.ports import Models

SECONDS = 8
MARKS = np.array([[290, 150], [350, 150], [320, 180], [298, 212], [342, 212]], np.float32)
RNG = np.random.default_rng


def loudness(seed: int) -> np.ndarray:
    """Syllables: (n,) loudness at 100 values a second, 0 to 1."""
    made = np.zeros(SECONDS * 100)
    random, at = RNG(seed), 20
    while at < len(made) - 40:
        length = int(random.integers(10, 30))
        made[at : at + length] = np.sin(np.linspace(0, np.pi, length)) * random.uniform(0.5, 1)
        at += length + int(random.choice((3, 8, 40), p=(0.5, 0.35, 0.15)))
    return made


def voice(loud: np.ndarray, seed: int = 0) -> np.ndarray:
    envelope = np.interp(np.arange(SECONDS * 16_000) / 160, np.arange(len(loud)), loud)
    return (0.3 * envelope * RNG(seed).normal(0, 1, len(envelope)) + 0.0005).astype(np.float32)


def drawn(opening: float, noise: np.ndarray) -> np.ndarray:
    picture = np.full((360, 640), 90, np.uint8)
    cv2.ellipse(picture, (320, 185), (60, 85), 0, 0, 360, 170, -1)
    for x in (290, 350):
        cv2.circle(picture, (x, 150), 7, 40, -1)
    cv2.ellipse(picture, (320, 214), (24, 8), 0, 0, 360, 120, -1)
    cv2.ellipse(picture, (320, 214), (18, max(1, round(1 + 12 * opening))), 0, 0, 360, 25, -1)
    return np.asarray(cv2.GaussianBlur(np.clip(picture + noise, 0, 255).astype(np.uint8), (3, 3), 0), np.uint8)


def sighting(number: int) -> Sighting:
    nothing = np.zeros((4, 4, 3), np.uint8)
    return Sighting(number, number * 200_000, (260.0, 100.0, 120.0, 170.0), 0.9, MARKS, nothing, MARKS, 0.8, nothing[:, :, 0])


def filmed(loud: np.ndarray, still: bool = False) -> LipSeries:
    """Film a mouth at 25 pictures a second, of which faces are looked for in every fifth."""
    random = RNG(5)
    seen = [sighting(0)]
    for number in range(1, SECONDS * 5):
        pictures = []
        for k in range(5):
            at = (number - 1) * 200_000 + (k + 1) * 40_000
            opening = 0.0 if still else float(np.interp(at / 10_000, np.arange(len(loud)), loud))
            pictures.append((at, drawn(opening, random.normal(0, 3, (360, 640)))))
        seen += followed(seen[-1:], [sighting(number)], pictures)
    found = series(seen)
    assert found is not None
    return found


def compared(lips: LipSeries, sound: np.ndarray, *utterances: Utterance) -> tuple[LipMatch, ...]:
    face = FaceTrack("s1.c0.f0", "s1.c0", 0, SECONDS * MICROSECOND, (TimedBox(0, 260, 100, 120, 170),), 0.9, 0.8)
    said = utterances or (Utterance("s1.c0.u0", "s1.c0", 200_000, SECONDS * MICROSECOND - 300_000, "a", (), "en", 0.9),)
    return in_step.matches([face], {"s1.c0.f0": lips}, said, in_step.bands(sound, 0), 0, SECONDS * MICROSECOND)


@pytest.fixture(scope="module")
def mouth() -> LipSeries:
    return filmed(loudness(1))


def test_a_mouth_that_opens_as_the_voice_gets_louder_is_in_step_and_with_other_voices_it_is_not(mouth: LipSeries) -> None:
    [own] = compared(mouth, voice(loudness(1)))
    assert own.evidence >= IN_STEP and 6 < own.seconds <= SECONDS
    others = [compared(mouth, voice(loudness(seed), seed))[0].evidence for seed in range(2, 10)]
    assert max(others) < IN_STEP and np.mean(others) < -1


def test_sound_that_comes_three_pictures_late_is_in_step_and_a_second_late_it_is_not(mouth: LipSeries) -> None:
    sound = voice(loudness(1))
    assert compared(mouth, np.roll(sound, 1_600))[0].evidence >= IN_STEP
    assert compared(mouth, np.roll(sound, 16_000))[0].evidence < IN_STEP


def test_a_narrator_over_a_still_mouth_is_not_in_step() -> None:
    assert compared(filmed(loudness(1), still=True), voice(loudness(1)))[0].evidence < IN_STEP


def test_nothing_is_said_where_a_mouth_or_a_voice_is_hardly_there(mouth: LipSeries) -> None:
    short = Utterance("s1.c0.u0", "s1.c0", 2_000_000, 2_200_000, "a", (), "en", 0.9)
    assert compared(mouth, voice(loudness(1)), short) == ()
    over = Utterance("s1.c0.u0", "s1.c0", 0, 6_000_000, "a", (), "en", 0.9, overlapped=True)
    assert compared(mouth, voice(loudness(1)), over) == ()


def test_a_face_elsewhere_or_after_a_gap_is_another_one_and_its_mouth_is_not_measured() -> None:
    before, now = sighting(0), sighting(1)
    pictures = [(40_000 * k, drawn(0.0, np.zeros((360, 640)))) for k in range(1, 6)]
    assert followed([before], [now], pictures)[0].lips is not None
    assert followed([before], [now], [])[0].lips is None
    assert followed([before], [sighting(3)], pictures)[0].lips is None
    assert followed([before], [replace(now, box=(20.0, 100.0, 120.0, 170.0))], pictures)[0].lips is None
    assert followed([before], [replace(now, box=(260.0, 100.0, 20.0, 25.0))], pictures)[0].lips is None


# ---------------------------------------------------------------- real clips with real models


def with_sound_of(pictures: Path, sound: Path, to: Path) -> Path:
    """Write a film with the pictures of one and the sound of another."""
    with av.open(str(pictures)) as one, av.open(str(sound)) as other, av.open(str(to), "w") as out:
        video = out.add_stream_from_template(one.streams.video[0])
        spoken = out.add_stream("aac", rate=16_000, layout="mono")
        for packet in one.demux(one.streams.video[0]):
            if packet.dts is not None:
                packet.stream = video
                out.mux(packet)
        resampler = av.AudioResampler("fltp", "mono", 16_000)
        fifo = [f for frame in other.decode(audio=0) for f in resampler.resample(frame)] + resampler.resample(None)
        for frame in fifo:
            out.mux(spoken.encode(frame))
        out.mux(spoken.encode(None))
    return to


@pytest.fixture(scope="module")
def hearing(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Models:
    return opened(ResultCache(tmp_path_factory.mktemp("kept") / "kept.sqlite"), words=False)


@pytest.mark.models
@pytest.mark.data
def test_a_clip_whose_sound_was_replaced_links_no_face_and_its_own_sound_does(
    hearing: Models, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dubbing, "data", lambda *parts: Path("/", *parts) if parts[0] == "" else shared_data.joinpath(*parts))
    woman, man = (shared_data / "video" / "hdtf" / f"WDA_{name}_000.mp4" for name in ("AlexandriaOcasioCortez", "BobMenendez"))
    for own, other in ((woman, man), (man, woman)):
        right = dubbing.perceived(str(own), hearing)
        dubbed = dubbing.perceived(str(with_sound_of(own, other, tmp_path / f"{own.stem}.mp4")), hearing)
        assert dubbing.strongest(right, right) == 1.0
        assert dubbed.heard.utterances and dubbing.strongest(dubbed, dubbed) < 1.0
