"""Words: sentence ends, languages, scripts, phantoms, and packing speech into passes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from m3desk.domain.linkage import average_linkage
from m3desk.perception.turns import SpeechSegment, speech_segments
from m3desk.perception.words import LONGEST_PASS, TimedWord, ends_sentence, joined, language_of, passes, phantom, recognise, simplified
from m3desk.ports import RecognisedWord, Sound, Transcript


def said(text: str, *, language: str = "en", probability: float = 0.9, no_speech: float = 0.0) -> list[TimedWord]:
    return [TimedWord(i, i + 1, " " + w, probability, 0, language, 0.9, no_speech) for i, w in enumerate(text.split())]


@pytest.mark.parametrize("word", ["done.", " really?", "stop!”", "好。", "吗？", "J3.", "2030."])
def test_marks_end_sentences(word: str) -> None:
    assert ends_sentence(word)


@pytest.mark.parametrize("word", ["U.S.", "v.", "Dr.", "Mr.", "J.", "done", "e.g.", "well,"])
def test_abbreviations_do_not_end_sentences(word: str) -> None:
    assert not ends_sentence(word)


@pytest.mark.parametrize(
    ("text", "given", "language"),
    [
        ("Where is the library?", "zh", "en"),
        ("请问图书馆在哪里", "en", "zh"),
        ("请问图书馆在哪里", "zh", "zh"),
        ("図書館はどこですか", "zh", "ja"),
        ("도서관이 어디예요", "en", "ko"),
        ("Wo ist die Bücherei?", "de", "de"),
        ("42", "fr", "fr"),
    ],
)
def test_the_script_corrects_the_language(text: str, given: str, language: str) -> None:
    assert language_of(said(text, language=given)) == language


def test_chinese_is_written_in_simplified_characters_and_japanese_is_left_alone() -> None:
    assert simplified("通過聽音頻,並比較結果", "zh") == "通过听音频,并比较结果"
    assert simplified("図書館 聽", "ja") == "図書館 聽"


def test_chinese_is_joined_without_spaces() -> None:
    words = [TimedWord(i, i + 1, c, 0.9, 0, "zh", 0.9, 0.0) for i, c in enumerate("今天天气")]
    assert joined(words) == "今天天气" and joined(said("good  morning")) == "good morning"


def test_thank_you_is_believed_from_clear_speech_only() -> None:
    assert phantom(said("Thank you."), 0.9) is None
    assert phantom(said("Thank you."), 0.5) is not None
    assert phantom(said("Thank you.", no_speech=0.7), 0.9) is not None


def test_what_goes_round_in_circles_was_not_said() -> None:
    assert phantom(said("no no no " * 30), 0.9) == "repetition"
    assert phantom(said("no, no, no, never again"), 0.9) is None


def test_marks_alone_are_no_words() -> None:
    assert phantom(said("... !"), 0.9) == "no words"


def test_a_pass_is_never_longer_than_the_recogniser_takes_and_nothing_is_left_out() -> None:
    sound = np.random.default_rng(1).standard_normal(100 * 16000).astype(np.float32)
    spans = [(0, 16000, 0), (20000, 20000 + 70 * 16000, 1), (96 * 16000, 99 * 16000, 2)]
    groups = list(passes(sound, spans))
    parts = [part for group in groups for part in group]
    assert all(sum(b - a for a, b, _ in group) <= LONGEST_PASS for group in groups)
    for start, end, segment in spans:
        mine = [(a, b) for a, b, s in parts if s == segment]
        assert mine[0][0] == start and mine[-1][1] == end and all(x[1] == y[0] for x, y in pairwise(mine))


def test_what_a_recogniser_passes_over_is_given_to_it_again() -> None:
    class FirstOnly:
        """Hears the first second of a pass and stops, as Whisper does where another language begins."""

        name = "first-only-1"
        calls = 0

        def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
            self.calls += 1
            return Transcript((RecognisedWord(0.1, 2.1, f"word{self.calls}", 0.9),), "en", 0.9, 0.0)

    spoken = [SpeechSegment(0, 32000, 0.9), SpeechSegment(64000, 96000, 0.9)]
    recogniser: Any = FirstOnly()
    words = recognise(np.zeros(100000, np.float32), spoken, recogniser)
    assert [w.text for w in words] == ["word1", "word2"]
    assert words[1].start >= 60000 and [w.segment for w in words] == [0, 1]


def test_a_recogniser_that_hears_nothing_is_asked_once() -> None:
    class Deaf:
        name = "deaf-1"
        calls = 0

        def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
            self.calls += 1
            return Transcript((), None, 0.0, 1.0)

    recogniser: Any = Deaf()
    assert recognise(np.zeros(64000, np.float32), [SpeechSegment(0, 64000, 0.9)], recogniser) == [] and recogniser.calls == 1


def test_average_linkage_joins_what_is_similar_and_numbers_by_appearance() -> None:
    like = np.array([[1, 0.1, 0.8, 0.1], [0.1, 1, 0.2, 0.7], [0.8, 0.2, 1, 0.1], [0.1, 0.7, 0.1, 1]])
    assert average_linkage(like, 0.5).tolist() == [0, 1, 0, 1]
    assert average_linkage(like, 0.9).tolist() == [0, 1, 2, 3]
    assert average_linkage(like, -1).tolist() == [0, 0, 0, 0]


def test_short_dips_do_not_end_a_segment_and_whispers_below_the_floor_are_silence() -> None:
    sound = np.full(512 * 60, 0.1, np.float32)
    speech = np.array([0.0] * 5 + [0.9] * 20 + [0.05] * 4 + [0.5] * 10 + [0.0] * 21, np.float32)
    (found,) = speech_segments(sound, speech, 512)
    assert (found.start, found.end) == (5 * 512, 39 * 512)
    assert speech_segments(sound * 1e-3, speech, 512) == []
