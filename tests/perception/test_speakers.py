"""Speaker diarization: voices over windows, two people in one voice, overlapping speech, and the resulting utterances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from m3desk.domain.calibration import STEEP
from m3desk.domain.evidence import Floats
from m3desk.domain.linkage import average_linkage
from m3desk.perception import speakers
from m3desk.perception.lines import Line, clean, compose, murmurs, overlaps
from m3desk.perception.speakers import JOIN, ONE_TRACK, OVER_CUT, voices_of, who_speaks
from m3desk.perception.turns import SpeechSegment, Turn
from m3desk.perception.voices import SpeechEvidence, hear
from m3desk.perception.words import TimedWord
from m3desk.ports import Models
from tests.perception.invented_speech import RATE, LowAndHigh, Octaves, clips, ears, speech
from tests.perception.invented_speech import Line as Said

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def said(start: float, count: int, *, high: bool = False, seed: int = 0) -> Said:
    text = " ".join(np.random.default_rng(seed).choice(WORDS, count).tolist())
    return start, text.upper() if high else text


def under(start: float, word: int, count: int) -> Said:
    """Say words high, exactly under those of a line from its `word` on: an invented ear knows words by the silence between them."""
    return said(start + 0.31 * word, count, high=True)


def heard_in(seconds: float, lines: Sequence[Said], quiet: Sequence[Said] = (), clip_seconds: float = 30.0) -> list[SpeechEvidence]:
    """Hear lines, and others said over them so softly that they are not understood."""
    models, _ = ears([*lines, *quiet])
    models = replace(models, speech_segmentation=LowAndHigh())
    found: list[SpeechEvidence] = []
    until: int | None = None
    for media in clips(speech(seconds, lines) + 0.4 * speech(seconds, quiet), clip_seconds):
        found.append(hear(media, models, heard_until=until))
        until = max((u.end for u in found[-1].utterances), default=None)
    return found


def spoken(seconds: float) -> list[SpeechSegment]:
    return [SpeechSegment(0, round(seconds * RATE), 0.9)]


def test_voices_are_followed_over_windows_and_numbered_by_appearance() -> None:
    sound = speech(28, [said(1, 12), said(10, 12, high=True), said(20, 12)])
    turns = who_speaks(sound, spoken(28), LowAndHigh(), Octaves())
    assert [t.voice for t in turns] == [0, 1, 0]
    assert [round(t.start / RATE) for t in turns] == [1, 10, 20] and all(3 < (t.end - t.start) / RATE < 4 for t in turns)


def test_two_at_once_are_two_turns_that_overlap() -> None:
    sound = speech(14, [said(1, 26)]) + speech(14, [said(5, 8, high=True)])
    one, two = who_speaks(sound, spoken(14), LowAndHigh(), Octaves())
    assert one.voice != two.voice and one.start < two.start < two.end < one.end


def test_two_people_whom_the_segmentation_takes_for_one_are_split_where_the_voice_changes() -> None:
    sound = speech(12, [said(1, 12), said(4.8, 12, high=True)])
    one, two = who_speaks(sound, spoken(12), LowAndHigh(tells=False), Octaves())
    assert one.voice != two.voice and one.end <= two.start
    assert (one.end + two.start) / 2 / RATE == pytest.approx(4.75, abs=0.2)


def test_one_person_stays_one() -> None:
    sound = speech(28, [said(1, 30), said(12, 40, seed=1)])
    assert {t.voice for t in who_speaks(sound, spoken(28), LowAndHigh(tells=False), Octaves())} == {0}


def test_known_turns_are_told_apart_by_the_voice_model_alone() -> None:
    sound = speech(28, [said(1, 12), said(10, 12, high=True), said(20, 12, seed=1)])
    turns = [[(round(a * RATE), round((a + 3) * RATE))] for a in (1, 10, 20)]
    one, two, again = voices_of(sound, turns, Octaves())
    assert one == again != two
    assert len(set(voices_of(sound, turns, Octaves(), join=1e6))) == 3, "nobody is likely enough"
    assert voices_of(sound, [], Octaves()) == []


def test_who_says_one_sentence_is_not_taken_for_the_only_other_voice() -> None:
    low, high = speech(10, [said(6, 4)]), speech(10, [said(6, 4, high=True)])
    # About as likely the same voice as another (cosine .48): too little to be the one who speaks before.
    other = 0.48 * low / np.linalg.norm(low) + 0.877 * high / np.linalg.norm(high)
    sound = np.asarray(speech(10, [said(1, 12)]) + other * np.linalg.norm(low), np.float32)
    spoken = [SpeechSegment(RATE, round(4.7 * RATE), 0.9), SpeechSegment(6 * RATE, round(7.24 * RATE), 0.9)]
    assert [t.voice for t in who_speaks(sound, spoken, None, Octaves())] == [0, 1]


def test_windows_without_speech_are_not_looked_at() -> None:
    model = LowAndHigh()
    sound = speech(60, [said(50, 10)])
    assert len(who_speaks(sound, [SpeechSegment(50 * RATE, 54 * RATE, 0.9)], model, Octaves())) == 1
    assert model.calls <= 6
    assert who_speaks(sound, [], model, Octaves()) == [] and model.calls <= 6


def test_what_may_not_be_one_is_never_joined() -> None:
    similarity = np.array([[1, 0.9, 0.8], [0.9, 1, 0.8], [0.8, 0.8, 1]])
    apart = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], bool)
    assert average_linkage(similarity, 0.5).tolist() == [0, 0, 0]
    assert average_linkage(similarity, 0.5, cannot_link=apart).tolist() == [0, 1, 0]
    assert len(set(average_linkage(similarity, -1.0, least=2).tolist())) == 2


# ---------------------------------------------------------------- cuts of the picture


def shot(at: float) -> int:
    """Return the first sample of a picture that shows a shot which began up to 0.2 s before."""
    return round(at * RATE)


def test_a_voice_that_comes_with_a_cut_for_less_than_two_windows_is_another() -> None:
    sound = speech(12, [said(1, 12), said(4.72, 3, high=True)])
    one_track = LowAndHigh(tells=False)
    assert len(who_speaks(sound, spoken(12), one_track, Octaves())) == 1, "the cut is needed"
    one, two = who_speaks(sound, spoken(12), one_track, Octaves(), cuts=[shot(4.8)])
    assert one.voice != two.voice and one.end <= two.start and (one.end + two.start) / 2 / RATE == pytest.approx(4.7, abs=0.1)


def test_a_voice_that_goes_on_over_cuts_is_one_turn() -> None:
    sound = speech(14, [said(1, 36)])
    (turn,) = who_speaks(sound, spoken(14), LowAndHigh(tells=False), Octaves(), cuts=[shot(t) for t in (2.0, 4.2, 5.0, 7.4, 9.0)])
    assert turn.end - turn.start > 10 * RATE


def test_a_cut_far_from_the_change_of_the_voice_moves_nothing() -> None:
    sound = speech(12, [said(1, 12), said(4.72, 12, high=True)])
    turns = [who_speaks(sound, spoken(12), LowAndHigh(tells=False), Octaves(), cuts=c) for c in ([], [shot(2.6)], [shot(7.4)])]
    assert [t.voice for t in turns[0]] == [0, 1] and turns[0] == turns[1] == turns[2]


def test_pieces_of_one_track_in_two_shots_need_more_to_be_one_voice() -> None:
    low, high = (speech(12, [said(7, 8, high=h)]) / np.linalg.norm(speech(12, [said(7, 8, high=h)])) for h in (False, True))
    scale = float(np.linalg.norm(speech(12, [said(7, 8)])))

    def heard(cosine: float, cuts: list[int]) -> list[int]:
        sound = np.asarray(speech(12, [said(1, 8)]) + scale * (cosine * low + np.sqrt(1 - cosine**2) * high), np.float32)
        return [t.voice for t in who_speaks(sound, spoken(12), LowAndHigh(tells=False), Octaves(), cuts=cuts)]

    alike = 0.50 + (JOIN - (ONE_TRACK + OVER_CUT) / 2) / STEEP  # between what is needed inside a shot and over a cut
    assert heard(alike, []) == [0, 0] and heard(alike, [shot(5.0)]) == [0, 1] and heard(0.9, [shot(5.0)]) == [0, 0]


def test_words_belong_to_their_shot_where_the_voice_changes_with_it() -> None:
    # "three" ends a sentence half a second before the cut: without it the change would be moved there.
    text = ["one", "two", "three.", "four", "five", "SIX", "SEVEN", "EIGHT"]
    words = [TimedWord(n * 5000, n * 5000 + 4000, f" {w}", 0.9, 0, "en", 0.9, 0.0) for n, w in enumerate(text)]
    whole = [SpeechSegment(0, 40_000, 0.9)]
    parts = [Turn(0, 24_800, 0), Turn(24_800, 40_000, 1)]
    assert next(len(line.words) for line in compose(words, whole, parts)) == 3
    lines = compose(words, whole, parts, [26_000])
    assert [(line.voice, line.words[0].text.strip()) for line in lines if line.voice == 1] == [(1, "SIX")]


# ---------------------------------------------------------------- utterances


def test_who_talks_over_another_has_an_utterance_of_their_own() -> None:
    (heard,) = heard_in(14, [said(1, 30)], [under(1, 13, 3)])
    first, second = heard.utterances
    assert len(first.words) == 30 and not second.words and second.text == ""
    assert first.overlapped and second.overlapped and first.cluster != second.cluster
    assert heard.cannot_link == {(first.id, second.id)}
    assert second.start / 1e6 == pytest.approx(5.03, abs=0.1) and second.end / 1e6 == pytest.approx(5.9, abs=0.15)
    assert second.language is None and second.confidence == 0 and second.audio in heard.media


def test_a_voice_is_known_by_what_it_says_alone() -> None:
    (heard,) = heard_in(14, [said(1, 30)], [under(1, 13, 3)])
    first, second = heard.utterances
    assert first.embeddable and np.allclose(heard.vectors[first.id][:, 0], 1, atol=0.02)
    assert not second.embeddable and second.id not in heard.vectors


def test_without_overlap_nothing_is_marked() -> None:
    (heard,) = heard_in(14, [said(1, 12), said(7, 12, high=True)])
    assert [u.overlapped for u in heard.utterances] == [False, False] and not heard.cannot_link
    assert [u.cluster for u in heard.utterances] == [0, 1]


def test_a_voice_without_words_that_talks_over_nobody_is_no_utterance() -> None:
    line = Line(0, 32000, (), 0, 0.9, ((0, 32000),))
    over, alone, again = Turn(16000, 24000, 1), Turn(48000, 64000, 2), Turn(80000, 96000, 0)
    found = murmurs([line], [Turn(0, 32000, 0), over, alone, again], [SpeechSegment(0, 96000, 0.9)])
    assert [(m.start, m.end, m.voice) for m in found] == [(16000, 24000, 1), (80000, 96000, 0)]
    assert murmurs([], [alone], [SpeechSegment(0, 96000, 0.9)]) == []


def test_what_others_say_meanwhile_is_not_clean() -> None:
    line = Line(0, 32000, (), 0, 0.9, ((0, 32000),))
    assert clean(line, [Turn(0, 32000, 0), Turn(10000, 12000, 1)]) == [(0, 10000), (12000, 32000)]
    other = replace(line, voice=1, active=((10000, 12000),))
    assert overlaps([line, other]) == set() and overlaps([line, replace(other, active=((10000, 15000),))]) == {(0, 1)}


@pytest.mark.parametrize("start", [8.0, 9.0, 9.4, 9.8, 10.03, 10.2, 11.0, 12.7])
def test_a_line_at_a_border_is_heard_once_though_another_talks_over_it(start: float) -> None:
    lines = [(2.0, "six seven eight nine"), (start, "one two three four five"), (16.0, "ten nine seven six eight")]
    found = heard_in(20, lines, [under(start, 1, 3)], 10.0)
    everything = [u for h in found for u in h.utterances]
    assert [w.text for u in everything for w in u.words] == " ".join(t for _, t in lines).split()
    assert all(n * 10_000_000 <= u.start < (n + 1) * 10_000_000 for n, h in enumerate(found) for u in h.utterances)
    for n, h in enumerate(found[:-1]):
        until = max((u.end for u in h.utterances), default=0)
        assert all(u.start >= until for u in found[n + 1].utterances)


def test_speech_without_end_is_cut_between_words_and_none_is_lost_or_doubled() -> None:
    text = " ".join(np.random.default_rng(5).choice(WORDS, 88).tolist())
    found = heard_in(30, [(1.0, text)], [under(1, 28, 3), under(1, 59, 4)], 10.0)
    everything = [u for h in found for u in h.utterances if u.words]
    assert [w.text for u in everything for w in u.words] == text.split()
    assert all(a.end <= b.start for a, b in pairwise(everything))


def test_speech_too_short_for_a_voice_founds_none_and_joins_no_two() -> None:
    lines = [(1.0, "one two three four five six"), (5.0, "SEVEN EIGHT"), (9.0, "NINE TEN"), (13.0, "one two three four five")]
    (heard,) = heard_in(20, lines)
    first, short, other, last = heard.utterances
    assert first.cluster == last.cluster and first.embeddable and last.embeddable
    assert len({first.cluster, short.cluster, other.cluster}) == 3, "nobody knows whether two short pieces are one voice"
    assert not short.embeddable and not other.embeddable


def test_a_short_piece_is_given_to_a_voice_that_is_clearly_more_likely_than_the_others() -> None:
    (heard,) = heard_in(20, [(1.0, "one two three four five six"), (5.0, "SEVEN EIGHT NINE TEN ONE TWO"), (9.0, "four five three")])
    low, high, short = heard.utterances
    assert short.cluster == low.cluster != high.cluster


def test_who_is_heard_only_after_the_end_of_the_clip_is_no_rival() -> None:
    class TenTimes:
        def ratio(self, similarity: float, *_seconds: float) -> float:
            return 10 * similarity

    def piece(start: int, end: int, track: int) -> speakers._Piece:
        return speakers._Piece(start * RATE, end * RATE, track, ((start * RATE, end * RATE),))

    first, second, like_both = np.float32([1, 0]), np.float32([0, 1]), np.float32([0.75, 0.66])
    pieces, groups = [piece(0, 3, 0), piece(4, 5, 1), piece(7, 9, 2)], [[0], [2]]

    def given(vector: Floats, until: int) -> int | None:
        means = [(first, 3.0), (second, 2.0)]
        return speakers._given(pieces, 1, groups, means, vector, TenTimes(), until * RATE)  # type: ignore[arg-type]

    assert given(like_both, 20) is None and given(like_both, 6) == 0
    assert given(like_both[::-1], 6) is None, "but nothing is given to it without a lead"


def test_a_pause_within_what_the_segmentation_takes_for_one_speaker_parts_two_voices() -> None:
    # 1.2 s of a high voice, half a second after a low one and half a second before it goes on.
    sound = speech(14, [said(1, 12), said(5.2, 4, high=True), said(6.9, 12)])
    turns = who_speaks(sound, spoken(14), LowAndHigh(tells=False), Octaves())
    assert [t.voice for t in turns] == [0, 1, 0]
    assert turns[1].start / RATE == pytest.approx(5.2, abs=0.15) and turns[1].end / RATE == pytest.approx(6.4, abs=0.15)


@pytest.mark.parametrize("at", [3.85, 4.16, 4.47, 5.71])
def test_the_moment_of_a_change_is_found_wherever_it_lies_between_the_windows(at: float) -> None:
    count = round((at - 1.06) / 0.31)
    sound = speech(14, [said(1, count), said(1 + 0.31 * count, 14, high=True)])
    one, two = who_speaks(sound, spoken(14), LowAndHigh(tells=False), Octaves())
    assert one.voice != two.voice and (one.end + two.start) / 2 / RATE == pytest.approx(1 + 0.31 * count - 0.03, abs=0.15)


def test_one_voice_goes_on_over_a_breath_unless_somebody_else_speaks_in_it() -> None:
    sound = speech(14, [said(1, 8), said(4.0, 8)])
    assert len(who_speaks(sound, spoken(14), LowAndHigh(), Octaves())) == 1
    between = speech(14, [said(1, 8), said(3.45, 2, high=True), said(4.1, 8)])
    assert [t.voice for t in who_speaks(between, spoken(14), LowAndHigh(), Octaves())] == [0, 1, 0]


def test_without_a_segmentation_model_speakers_are_found_by_their_voices() -> None:
    sound = speech(12, [said(1, 12), said(4.8, 12, high=True)])
    one, two = who_speaks(sound, [SpeechSegment(RATE, round(8.4 * RATE), 0.9)], None, Octaves())
    assert one.voice != two.voice and (one.end + two.start) / 2 / RATE == pytest.approx(4.75, abs=0.2)


def test_no_utterance_begins_in_what_the_clip_before_has_heard() -> None:
    lines = [said(9, 30)]
    models, _ = ears(lines)
    early = replace(models, speech_segmentation=LowAndHigh(lead=-3200))
    second = clips(speech(20, lines), 10.0)[1]
    heard = hear(second, early, heard_until=12_000_000)
    assert heard.utterances and min(u.start for u in heard.utterances) >= 12_000_000


def test_hearing_twice_gives_the_same() -> None:
    one, two = (heard_in(14, [said(1, 30)], [under(1, 13, 3)])[0] for _ in range(2))
    assert one.utterances == two.utterances and one.media == two.media and one.cannot_link == two.cannot_link
    assert all(np.array_equal(one.vectors[k], two.vectors[k]) for k in one.vectors)


def test_a_segmentation_without_a_voice_model_is_not_asked() -> None:
    model = LowAndHigh()
    models, _ = ears([said(1, 5)])
    plain = Models(speech_activity=models.speech_activity, speech=models.speech, speech_segmentation=model)
    heard = hear(clips(speech(5, [said(1, 5)]))[0], plain)
    assert len(heard.utterances) == 1 and not model.calls
