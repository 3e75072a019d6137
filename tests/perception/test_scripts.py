"""A pass of the recogniser in which two languages are spoken: found by the scripts, and recognised again part by part."""

from __future__ import annotations

from typing import Any

import numpy as np

from m3desk.perception import scripts
from m3desk.perception.lines import compose
from m3desk.perception.turns import SpeechSegment, Turn
from m3desk.perception.words import TimedWord, recognise
from m3desk.ports import RecognisedWord, Sound, Transcript


def test_a_change_of_script_is_found_and_a_borrowed_word_is_none() -> None:
    assert scripts.runs([" after", " two", " years", "我算", "是听", "出来"]) == [(0, 3, "LATIN"), (3, 6, "CJK")]
    assert scripts.runs(["我们", "去", " Starbucks", "喝", "咖啡"]) == []
    assert scripts.runs([" 2030", " that", " is", " all", "就", "这样", "结束"]) == [(0, 4, "LATIN"), (4, 7, "CJK")]
    assert scripts.runs([" it", " rains", " again"]) == [] and scripts.runs([]) == []
    assert scripts.runs(["今天", " after", " two", " years", "我算是", "听出来"]) == [(0, 4, "LATIN"), (4, 6, "CJK")]


class OneLanguage:
    """Writes what it hears second by second: a loud second is English, a quiet one Chinese; of both together it garbles the English."""

    name = "one-language-1"

    def __init__(self) -> None:
        self.passes = 0

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        self.passes += 1
        levels = [float(np.abs(sound[at : at + 8000]).max()) for at in range(0, len(sound) - 8000, 8000)]
        loud, quiet = any(v > 0.5 for v in levels), any(0.05 < v < 0.5 for v in levels)
        words = []
        for n, v in enumerate(levels):
            if v > 0.5:
                words.append(RecognisedWord(n / 2, n / 2 + 0.5, " wrong" if quiet else " right", 0.9))
            elif v > 0.05:
                words.append(RecognisedWord(n / 2, n / 2 + 0.5, "听出来了", 0.9))
        return Transcript(tuple(words), "zh" if quiet else "en" if loud else None, 0.9, 0.0)


def test_two_languages_in_one_pass_are_recognised_again_apart_and_are_lines_of_their_own() -> None:
    sound = np.zeros(16000 * 6, np.float32)
    sound[: 16000 * 3] = 0.9
    sound[16000 * 3 : 16000 * 5] = 0.2
    recogniser: Any = OneLanguage()
    spoken = [SpeechSegment(0, 16000 * 5, 0.9)]
    words = recognise(sound, spoken, recogniser)
    assert recogniser.passes == 3, "once together, once for each language"
    assert {w.text for w in words} == {" right", "听出来了"} and [w.language for w in words] == sorted(w.language or "" for w in words)
    lines = compose(words, spoken, [Turn(0, 16000 * 5, 0)])
    assert len({w.language for line in lines for w in line.words}) == 2
    assert all(len({w.language for w in line.words}) == 1 for line in lines), "no utterance holds both"


class Alike(OneLanguage):
    """Writes the same of a part as of the whole: each loud second a word of English, each quiet one of Chinese."""

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        words = []
        for at in range(0, len(sound) - 8000, 8000):
            level = float(np.abs(sound[at : at + 8000]).max())
            if level > 0.05:
                words.append(RecognisedWord(at / 16000, at / 16000 + 0.5, " right" if level > 0.5 else "听出来了", 0.9))
        return Transcript(tuple(words), "en", 0.9, 0.0)


def test_a_word_that_is_recognised_again_just_alike_is_there_once() -> None:
    sound = np.zeros(16000 * 8, np.float32)
    sound[: 16000 * 3] = 0.9
    sound[16000 * 5 : 16000 * 7] = 0.2
    words = recognise(sound, [SpeechSegment(0, 16000 * 3, 0.9), SpeechSegment(16000 * 5, 16000 * 7, 0.9)], Alike())
    assert len({w.start for w in words}) == len(words)


def test_one_language_costs_one_pass() -> None:
    sound = np.full(16000 * 3, 0.9, np.float32)
    recogniser: Any = OneLanguage()
    recognise(sound, [SpeechSegment(0, len(sound), 0.9)], recogniser)
    assert recogniser.passes == 1


def test_nobody_takes_over_within_a_word() -> None:
    texts = [" I", " don", "'t", " know"]
    words = [TimedWord(i * 8000, i * 8000 + 7000, t, 0.9, 0, "en", 0.9, 0.0) for i, t in enumerate(texts)]
    lines = compose(words, [SpeechSegment(0, 32000, 0.9)], [Turn(0, 15500, 0), Turn(15500, 32000, 1)])
    said = ["".join(w.text for w in line.words).strip() for line in lines]
    assert len(said) == 2 and any("don't" in s for s in said)


def test_hindi_and_urdu_are_one_spoken_language() -> None:
    assert scripts.runs(["आप", "क्या", "कर", "रहे", "آپ", "کیا", "کر", "رہے"]) == []
