"""What counts as unclear speech, and how a sentence that quotes it is told from others."""

from dataclasses import replace

from m3desk.domain.clear_speech import is_marked, is_unclear, unmarked
from m3desk.domain.editing import reworded
from tests.memorization.evidence import speech


def test_unclear_is_a_low_mean_over_more_than_a_word_or_two_until_a_user_gives_the_words():
    said = replace(speech(0, 0, 4, "As a cheap sum is to them."), confidence=0.6)
    assert is_unclear(said) and not is_unclear(replace(said, confidence=0.7)) and not is_unclear(replace(said, text="Actually,"))
    assert is_unclear(replace(said, text="我算是听")) and not is_unclear(replace(said, text="我算是"))
    assert not is_unclear(reworded(said, "As a cheap fund is to them.")) and not is_unclear(replace(said, text="", confidence=0.0))


def test_the_mark_stands_right_before_the_quote():
    for text, clear in (("He says something like: “So.”", "He says: “So.”"), ("他好像说：“对”", "他说：“对”")):
        at = text.index("“") + 1
        assert is_marked(text, [(at, len(text) - 1)])
        assert unmarked(text) == (clear, at, len(text) - len(clear)) and not is_marked(clear, [(clear.index("“") + 1, len(clear) - 1)])
    quoted = "He says: “It is something like: “So.””"
    assert not is_marked(quoted, [(quoted.index("It"), len(quoted) - 1)]) and unmarked(quoted) == (quoted, quoted.index("It"), 0)
    assert not is_marked("He says something like: “So.”", [])
