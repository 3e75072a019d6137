"""Stems: forms of one word have one stem, and lists of words are written as words."""

from __future__ import annotations

import pytest

from m3desk.control.wording import ASKING, GENERIC
from m3desk.domain.stemming import stem, stems


@pytest.mark.parametrize(
    "forms", ["wave waves waved waving", "name names named naming", "describe describes described", "story stories", "like likes liked"]
)
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len(stems(forms)) == 1


@pytest.mark.parametrize("word", ["bus", "ina", "f2", "会议室", "straße", "on-screen"])
def test_what_is_short_or_no_english_word_is_left_alone(word: str) -> None:
    assert stem(word) == word


SAID = ("says", "discussed", "mentioning", "visible", "videos", "scenes", "questions", "answered", "described", "known", "spoken")


@pytest.mark.parametrize("word", SAID)
def test_a_question_may_ask_with_any_form_of_a_word(word: str) -> None:
    assert stem(word) in GENERIC


@pytest.mark.parametrize("pair", ["summary summarised", "on_screen subtitles", "count voices", "when times", "objects items"])
def test_an_intent_knows_any_form_of_its_words(pair: str) -> None:
    intent, word = pair.split()
    assert stem(word) in ASKING[intent]
