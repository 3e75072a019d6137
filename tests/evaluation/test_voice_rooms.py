"""The simulated meetings, interviews and films of `bench voices`: a seed makes the same again; turns are where something is heard."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from m3desk.bench.voices.hearing import HearingResult, missed_by_cause, with_true_voices
from m3desk.bench.voices.rooms import LENGTH, MAKERS, drifting, room, speech, tilted
from m3desk.evaluation.diarization import Diarization
from m3desk.ports import SAMPLE_RATE, Sound

PEOPLE = ("a", "b", "c", "d")


def takes() -> dict[str, list[Sound]]:
    random = np.random.default_rng(0)
    return {who: [np.asarray(random.standard_normal(n * SAMPLE_RATE) * 0.1, np.float32) for n in (2, 5)] for who in PEOPLE}


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_seed_makes_one_recording_whose_turns_are_heard(name: str) -> None:
    groups = dict.fromkeys(PEOPLE, "set")
    made = [MAKERS[name](number, 7, takes(), groups) for number in (0, 0, 1)]
    one, again, other = made
    assert np.array_equal(one.sound, again.sound) and one.turns == again.turns and one.turns != other.turns
    assert len(one.sound) == LENGTH * SAMPLE_RATE or (name == "montage" and len(one.sound) < LENGTH * SAMPLE_RATE)
    assert float(np.abs(one.sound).max()) < 1
    for start, end, who in one.turns:
        assert 0 <= start < end <= LENGTH and who in PEOPLE
    loud = [float(np.abs(one.sound[round(a * SAMPLE_RATE) : round(b * SAMPLE_RATE)]).mean()) for a, b, _ in one.turns if b - a > 0.2]
    assert min(loud) > 0


def test_a_film_is_cut_in_the_middle_of_speech() -> None:
    made = [MAKERS["cuts"](number, 7, takes(), dict.fromkeys(PEOPLE, "set")) for number in range(4)]
    at_once = [b for film in made for (_, a, one), (b, _, two) in pairwise(film.turns) if one != two and abs(b - a) < 0.01]
    assert len(at_once) >= 4 and all(len({who for *_, who in film.turns}) > 1 for film in made)


def test_the_pictures_of_a_film_show_its_cuts_and_others_of_the_picture_alone() -> None:
    for number in range(4):
        film = MAKERS["cuts"](number, 7, takes(), dict.fromkeys(PEOPLE, "set"))
        changes = [b for (_, a, one), (b, _, two) in pairwise(film.turns) if one != two and abs(b - a) < 0.01]
        late = [min(cut - b for cut in film.cuts if cut >= b) for b in changes if b < film.cuts[-1]]
        assert all(c == pytest.approx(round(5 * c) / 5) for c in film.cuts) and list(film.cuts) == sorted(set(film.cuts))
        assert sum(0 <= wait <= 0.2 for wait in late) >= len(late) / 2 and len(film.cuts) > len(changes)
    assert not MAKERS["meeting"](0, 7, takes(), dict.fromkeys(PEOPLE, "set")).cuts


def test_pauses_between_what_one_person_says_are_silent_and_outside_their_spans() -> None:
    said, spans = speech(np.random.default_rng(1), takes()["a"], 12.0)
    quiet = np.ones(len(said), bool)
    for a, b in spans:
        quiet[round(a * SAMPLE_RATE) : round(b * SAMPLE_RATE)] = False
    assert len(spans) > 1 and quiet.any() and not said[quiet].any()


def test_a_turned_head_changes_the_spectrum_and_a_drift_the_level() -> None:
    sound = np.random.default_rng(2).standard_normal(SAMPLE_RATE)
    bands = [np.abs(np.fft.rfft(s))[6000:].mean() / np.abs(np.fft.rfft(s))[500:1500].mean() for s in (sound, tilted(sound, 6.0))]
    assert bands[1] > 1.5 * bands[0]
    drifted = drifting(np.random.default_rng(3), sound, 6.0)
    levels = np.abs(drifted.reshape(10, -1)).mean(1)
    assert levels.max() > 1.3 * levels.min()
    near, far = (float((room(np.random.default_rng(4), 0.5, d)[1:] ** 2).sum()) for d in (12.0, -6.0))
    assert far > near


def test_speech_that_nobody_found_is_told_by_its_cause() -> None:
    second = 1_000_000
    true = ((0, 2 * second, "a"), (1 * second, 2 * second, "b"), (3 * second, 3 * second + second // 4, "b"), (5 * second, 6 * second, "a"))
    heard = HearingResult(der=[Diarization("x", true, ((0, 2 * second, "v"),), ((0, 10 * second),))])
    assert missed_by_cause(heard) == {"overlap": round(1 / 4.25, 4), "too short": round(0.25 / 4.25, 4), "level": round(1 / 4.25, 4)}


def test_turns_with_true_voices_leave_the_errors_that_no_voice_model_can_mend() -> None:
    second = 1_000_000
    true = ((0, 2 * second, "a"), (2 * second, 5 * second, "b"))
    given = ((0, 2 * second, "v"), (2 * second, 4 * second, "v"), (4 * second, 5 * second, "w"), (7 * second, 8 * second, "x"))
    (best,) = with_true_voices(HearingResult(der=[Diarization("x", true, given, ((0, 10 * second),), frozenset({"w"}))]))
    assert [name for *_, name in best.found] == ["a", "b", "b", "x"] and not best.nobody


def test_of_two_turns_at_once_each_has_its_own_true_voice() -> None:
    second = 1_000_000
    true = ((0, 10 * second, "a"), (3 * second, 5 * second, "b"))
    right = Diarization("x", true, ((0, 10 * second, "v"), (3 * second, 5 * second, "w")), ((0, 10 * second),))
    (best,) = with_true_voices(HearingResult(der=[right]))
    assert [name for *_, name in best.found] == ["a", "b"]
