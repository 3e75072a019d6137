"""References in sentences: rendered for reading, read back from models only where they were given."""

from __future__ import annotations

from m3desk.domain.memory import Span
from m3desk.domain.tags import render, untag


def test_spans_become_names_and_the_sentence_begins_with_a_capital() -> None:
    spans = (Span(0, 7, ("a",)), Span(15, 22, ("b",)))
    assert render("someone greets someone.", spans, lambda s: {"a": "Ann", "b": "Person 3"}[s.observations[0]]) == "Ann greets Person 3."
    assert render("someone greets someone.", spans, lambda s: None) == "Someone greets someone."
    assert render("someone greets someone.", spans[1:], lambda s: "Person 3") == "Someone greets Person 3."
    assert render("某人说：“你好”。", (Span(0, 2, ("a",)),), lambda s: "李梅") == "李梅说：“你好”。"


def test_a_name_at_the_beginning_is_written_as_it_was_typed() -> None:
    assert render("someone greets someone.", (Span(0, 7, ("a",)),), lambda s: "man_A") == "man_A greets someone."


def test_only_tags_that_were_given_become_spans() -> None:
    text, spans, _ = untag("<face_1> hands <voice_2> a cup; <face_9> looks.", {"<face_1>": ["s1.c0.f0"], "<voice_2>": ["s1.c0.u0"]})
    assert text == "someone hands someone a cup; <face_9> looks."
    assert spans == (Span(0, 7, ("s1.c0.f0",)), Span(14, 21, ("s1.c0.u0",)))


def test_tags_in_quoted_words_stay_words_and_quotes_move_along() -> None:
    said = "<face_1> says “I am <face_1>”."
    start = said.index("I am")
    text, spans, quoted = untag(said, {"<face_1>": ["s1.c0.f0"]}, "en", ((start, start + 13),))
    assert text == "someone says “I am <face_1>”." and len(spans) == 1
    assert text[quoted[0][0] : quoted[0][1]] == "I am <face_1>"


def test_chinese_sentences_get_their_own_placeholder() -> None:
    assert untag("<person_3>走进厨房。", {"<person_3>": ["s1.c0.f0"]}, "zh") == ("某人走进厨房。", (Span(0, 2, ("s1.c0.f0",)),), ())
