"""Speech evidence: the utterances, their times and voices, and the clip they belong to."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import av
import numpy as np
import pytest

from m3desk.domain.evidence import Utterance
from m3desk.errors import Cancelled, ModelFailed
from m3desk.perception.voices import SpeechEvidence, flac, hear
from m3desk.ports import Models
from tests.perception.invented_speech import RATE, Line, clips, ears, speech


def heard_in(seconds: float, lines: Sequence[Line], clip_seconds: float = 30.0, **changes: Any) -> list[SpeechEvidence]:
    models, _ = ears(lines, **changes)
    found: list[SpeechEvidence] = []
    until: int | None = None
    for media in clips(speech(seconds, lines), clip_seconds):
        found.append(hear(media, models, heard_until=until))
        until = max((u.end for u in found[-1].utterances), default=None)
    return found


def all_words(found: Sequence[SpeechEvidence]) -> list[str]:
    return [w.text for h in found for u in h.utterances for w in u.words]


def test_two_lines_with_a_pause_between_are_two_utterances() -> None:
    (heard,) = heard_in(10, [(1.0, "one two three four"), (5.0, "five six seven eight")])
    first, second = heard.utterances
    assert (first.text, second.text) == ("one two three four", "five six seven eight")
    assert first.id == "s1.c0.u0" and second.id == "s1.c0.u1"
    assert first.start == pytest.approx(1e6, abs=4e4) and first.end == pytest.approx(2.18e6, abs=4e4)
    assert second.words[0].start == pytest.approx(5e6, abs=4e4) and second.words[-1].end == pytest.approx(6.18e6, abs=4e4)


def test_an_utterance_ends_where_the_voice_changes() -> None:
    (heard,) = heard_in(12, [(1.0, "one two three four five six seven eight nine"), (3.95, "ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE")])
    assert [u.text.isupper() for u in heard.utterances] == [False, True]
    assert [u.cluster for u in heard.utterances] == [0, 1]
    assert heard.utterances[0].end <= heard.utterances[1].start


def test_the_same_voice_is_one_cluster_when_it_returns() -> None:
    lines = [(1.0, "one two three four five"), (5.0, "SIX SEVEN EIGHT NINE TEN"), (9.0, "two four six eight ten")]
    (heard,) = heard_in(14, lines)
    assert [u.cluster for u in heard.utterances] == [0, 1, 0]


def test_a_full_stop_ends_an_utterance_but_an_abbreviation_does_not() -> None:
    (heard,) = heard_in(12, [(1.0, "one Dr. two three four five. six seven eight nine ten")])
    assert [u.text for u in heard.utterances] == ["one Dr. two three four five.", "six seven eight nine ten"]


def test_silence_is_heard_as_nothing() -> None:
    assert heard_in(8, [(9.0, "one")])[0] == SpeechEvidence()


def test_a_clip_without_sound_is_heard_as_nothing() -> None:
    models, ear = ears([(0, "one")])
    media = clips(speech(5, []))[0]
    media.whole = np.zeros(0, np.float32)
    assert hear(media, models) == SpeechEvidence() and not ear.passes


def test_nothing_is_heard_without_models() -> None:
    assert hear(clips(speech(5, [(1, "one two")]))[0], Models()) == SpeechEvidence()


def test_without_a_voice_model_words_are_heard_and_nobody_is_told_apart() -> None:
    lines = [(1.0, "one two three four"), (5.0, "FIVE SIX SEVEN EIGHT")]
    models, _ = ears(lines)
    heard = hear(clips(speech(9, lines))[0], Models(speech_activity=models.speech_activity, speech=models.speech))
    assert [u.cluster for u in heard.utterances] == [0, 0] and not heard.vectors


@pytest.mark.parametrize("start", [8.0, 9.0, 9.4, 9.69, 9.8, 9.97, 10.0, 10.03, 10.2, 11.0, 12.7, 13.1])
def test_a_line_at_a_border_is_heard_once_and_belongs_to_the_clip_in_which_it_starts(start: float) -> None:
    lines = [(2.0, "six seven eight nine"), (start, "one two three four five"), (16.0, "ten nine seven six eight")]
    found = heard_in(20, lines, 10.0)
    assert all_words(found) == " ".join(t for _, t in lines).split()
    assert all(n * 10_000_000 <= u.start < (n + 1) * 10_000_000 for n, h in enumerate(found) for u in h.utterances)
    if abs(start - 10) > 0.04:  # a hop of the voice activity model
        assert [n for n, h in enumerate(found) for u in h.utterances if u.words[0].text == "one"] == [int(start // 10)]


def test_speech_without_end_is_cut_between_words_and_none_is_lost_or_doubled() -> None:
    names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    text = " ".join(np.random.default_rng(5).choice(names, 88).tolist())
    found = heard_in(30, [(1.0, text)], 10.0)
    assert all_words(found) == text.split()
    ends = [u for h in found for u in h.utterances]
    assert all(a.end <= b.start for a, b in pairwise(ends))


def test_what_the_clip_before_has_heard_is_skipped() -> None:
    lines = [(10.5, "one two three"), (14.0, "four five six")]
    models, _ = ears(lines)
    second = clips(speech(20, lines), 10.0)[1]
    assert [u.text for u in hear(second, models, heard_until=12_000_000).utterances] == ["four five six"]
    assert [u.text for u in hear(second, models).utterances] == ["one two three", "four five six"]


def test_short_lines_share_a_pass_of_the_recogniser() -> None:
    lines = [(t, "one two three") for t in range(1, 29, 3)]
    models, ear = ears(lines)
    heard = hear(clips(speech(30, lines))[0], models)
    assert len(heard.utterances) == len(lines) and len(ear.passes) == 1
    assert max(ear.passes) < 30
    assert [round(u.start / 1e6, 1) for u in heard.utterances] == [t for t, _ in lines]


@pytest.mark.parametrize(
    "changes",
    [{"confidence": 0.2}, {"confidence": 0.5, "no_speech": 0.8}, {"phantom": "I'm sorry, " * 40, "confidence": 0.6}],
    ids=["improbable words", "no speech", "going in circles"],
)
def test_words_that_were_hardly_said_are_no_utterance(changes: dict[str, Any]) -> None:
    (heard,) = heard_in(8, [(1.0, "one two three")], **changes)
    assert not heard.utterances and not heard.vectors and not heard.media


def test_speech_is_kept_as_flac_named_by_what_it_holds() -> None:
    (heard,) = heard_in(8, [(1.0, "one two three four five")])
    (utterance,) = heard.utterances
    assert utterance.audio is not None
    data = heard.media[utterance.audio]
    assert utterance.audio == hashlib.sha256(data).hexdigest() + ".flac"
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.audio[0]
        assert (stream.rate, stream.channels, stream.codec_context.name) == (RATE, 1, "flac")
        pieces = [f.to_ndarray()[0] for f in container.decode(stream)]
    sound = np.concatenate(pieces) / 32767
    whole = speech(8, [(1.0, "one two three four five")])
    at = round((utterance.start / 1e6 - 0.1) * RATE)
    assert np.abs(sound - whole[at : at + len(sound)]).max() < 1e-4


def test_flac_of_the_same_sound_is_the_same_bytes() -> None:
    sound = speech(2, [(0.2, "one two three")])
    assert flac(sound) == flac(sound.copy())


def test_an_utterance_of_a_second_has_vectors_and_a_shorter_one_has_none() -> None:
    (heard,) = heard_in(
        20,
        [
            (1.0, "one two"),
            (4.0, "three four five six seven eight nine ten one three five seven two six eight ten four nine two one three six ten one"),
        ],
    )
    short, long = heard.utterances
    assert not short.embeddable and short.id not in heard.vectors
    rows = heard.vectors[long.id]
    assert long.embeddable and rows.shape == (3, 2) and np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_hearing_twice_gives_the_same() -> None:
    lines = [(1.0, "one two three four five"), (5.0, "SIX SEVEN EIGHT NINE TEN")]
    models, _ = ears(lines)
    media = clips(speech(10, lines))[0]
    a, b = hear(media, models), hear(media, models)
    assert a.utterances == b.utterances and a.media == b.media
    assert all(np.array_equal(a.vectors[k], b.vectors[k]) for k in a.vectors)


def test_words_are_told_while_the_clip_is_worked_on() -> None:
    models, _ = ears([(1.0, "one two three")])
    told: list[Utterance] = []
    heard = hear(clips(speech(6, [(1.0, "one two three")]))[0], models, on_words=told.append)
    assert tuple(told) == heard.utterances


def test_listening_stops_when_it_is_cancelled() -> None:
    models, ear = ears([(1.0, "one")])
    with pytest.raises(Cancelled):
        hear(clips(speech(5, [(1.0, "one")]))[0], models, cancelled=lambda: True)
    assert not ear.passes


def test_an_error_of_a_model_reaches_the_caller() -> None:
    class Broken:
        name = "broken-1"

        def transcribe(self, sound: Any, language: str | None = None) -> Any:
            raise ModelFailed("it broke")

    models, _ = ears([(1.0, "one two three")])
    with pytest.raises(ModelFailed):
        hear(clips(speech(5, [(1.0, "one two three")]))[0], Models(speech_activity=models.speech_activity, speech=Broken()))
