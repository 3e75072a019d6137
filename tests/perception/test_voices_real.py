"""Speech evidence with the real models: noise gives no words, the reel's sentences are recognised, languages are detected."""

from __future__ import annotations

from pathlib import Path

import pytest

from m3desk.calibrated import thresholds
from m3desk.perception.speakers import who_speaks
from m3desk.perception.voices import hear, listen
from m3desk.ports import SAMPLE_RATE as RATE
from m3desk.ports import Models
from tests.perception import measure_speech as measure

NOISES = measure.noises(12.0)


@pytest.fixture(scope="module")
def models(weights: Path) -> Models:
    return measure.opened()


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.parametrize("noise", sorted(NOISES))
def test_nothing_is_heard_where_nobody_speaks(models: Models, noise: str) -> None:
    assert measure.listened(measure.sound_clips(NOISES[noise]), models) == []


@pytest.mark.models
@pytest.mark.data
def test_nothing_is_heard_in_a_silent_film(models: Models, shared_data: Path) -> None:
    for name in ("intel/one-by-one-person-detection.mp4", "tos/tears_of_steel_16s.webm"):
        assert measure.listened(measure.file_clips(shared_data / "video" / name)[:1], models) == []


@pytest.mark.models
@pytest.mark.data
def test_the_first_half_minute_of_the_reel_is_understood(models: Models, shared_data: Path) -> None:
    media = measure.file_clips(shared_data / "video" / "reel" / "reel_shared.mp4")[0]
    heard = hear(media, models)
    pairs = []
    for start, text in ((9.04, "bin blue at f two now"), (12.04, "bin red by k seven now"), (15.04, "set white with p two soon")):
        inside = [w.text for u in heard.utterances for w in u.words if start <= (w.start + w.end) / 2e6 < start + 3]
        pairs.append((measure.words_of(text), measure.words_of(" ".join(inside))))
    assert measure.rate(pairs) <= 0.25
    assert {u.language for u in heard.utterances} == {"en"}
    first = heard.utterances[0]
    assert first.text.startswith("Welcome back to Boulder Eats") and first.start < 500_000
    by_scene = {
        next(i for i, s in enumerate((9.04, 12.04, 15.04, 18.04, 99)) if (u.start + u.end) / 2e6 < s): u.cluster for u in heard.utterances
    }
    assert len(set(by_scene.values())) >= 4, "five people speak"


@pytest.mark.models
@pytest.mark.data
def test_two_languages_in_one_clip_are_told_apart(models: Models, shared_data: Path) -> None:
    heard = measure.listened(measure.file_clips(shared_data / "speech" / "katie_steve" / "en-us_zh-cn.wav"), models)
    assert [u.language for u in heard] == ["en", "zh"] * 3
    assert heard[-1].text.startswith("请问")


@pytest.mark.data
@pytest.mark.parametrize(("name", "wrong"), [("falcon", 0.05), ("pyannote", 0.05), ("ami dev00", 0.15)])
def test_who_speaks_when_is_told(shared_data: Path, name: str, wrong: float) -> None:
    models = measure.opened(speech=False)
    assert models.speech_segmentation is not None and models.voice_vectors is not None
    path, truth = measure.with_turns()[name]
    sound = measure.file_clips(path)[0].sound()
    turns = who_speaks(sound, listen(sound, models), models.speech_segmentation, models.voice_vectors)
    people = sorted({who for *_, who in truth})
    # A piece too short for a voice, which could not be given to one, has a number of its own. Less than `born` founds nobody.
    born = thresholds(models.voice_vectors.name, "voice").born * RATE // 1_000_000
    length = {k: sum(t.end - t.start for t in turns if t.voice == k) for k in {t.voice for t in turns}}
    unknown = [t for t in turns if length[t.voice] < born]
    turns = [t for t in turns if length[t.voice] >= born]
    assert len({t.voice for t in turns}) == len(people) and sum(t.end - t.start for t in unknown) < 3 * RATE
    # Seconds in which a voice and a person speak, in tenths; each voice is the person it shares most with.
    said = {k: {n for t in turns if t.voice == k for n in range(t.start // 1600, t.end // 1600)} for k in {t.voice for t in turns}}
    real = {who: {n for a, b, w in truth if w == who for n in range(int(a * 10), int(b * 10))} for who in people}
    person = {k: max(people, key=lambda who: len(real[who] & said[k])) for k in said}
    assert len(set(person.values())) == len(people)
    confused = sum(len(said[k] & real[who] - real[person[k]]) for k in said for who in people if who != person[k])
    assert confused <= wrong * sum(len(r) for r in real.values())
