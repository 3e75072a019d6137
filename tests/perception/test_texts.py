"""Recognised lines become texts with time spans."""

from __future__ import annotations

import numpy as np

from m3desk.perception.texts import FrameText, believable, best_reading, changed, texts_on_screen
from m3desk.ports import ReadText

BOX = (20.0, 100.0, 100.0, 20.0)
STEP = 200_000


def said(text: str, score: float = 0.98, box: tuple[float, float, float, float] = BOX) -> ReadText:
    return ReadText(text, score, box)


def greys(shown_from: int, shown_until: int, count: int) -> list[tuple[int, np.ndarray]]:
    """Return pictures with a pattern at BOX while the text is shown."""
    pattern = np.random.default_rng(1).integers(0, 255, (20, 100), dtype=np.uint8)
    pictures = []
    for i in range(count):
        p = np.full((180, 320), 90, np.uint8)
        if shown_from <= i < shown_until:
            p[100:120, 20:120] = pattern
        pictures.append((i * STEP, p))
    return pictures


def test_a_text_lasts_from_its_first_picture_to_its_last() -> None:
    readings = [FrameText(0, ()), FrameText(2_000_000, (said("Host"),)), FrameText(4_000_000, (said("Host"),)), FrameText(6_000_000, ())]
    (text,) = texts_on_screen("s1.c0", readings, greys(7, 24, 40), 1.0, 8_000_000)
    assert (text.start, text.end, text.text) == (7 * STEP, 24 * STEP, "Host")


def test_a_text_at_the_end_lasts_to_the_end_of_the_clip() -> None:
    (text,) = texts_on_screen("s1.c0", [FrameText(2_000_000, (said("EATS"),))], greys(0, 20, 20), 1.0, 3_950_000)
    assert text.end == 3_950_000


def test_variants_of_one_text_are_one_and_keep_their_spaces() -> None:
    readings = [
        FrameText(at, (said(words, score),))
        for at, words, score in ((0, "JEFFSTEEN", 0.99), (2_000_000, "JEFF STEEN", 0.95), (4_000_000, "JEFF STEFN", 0.8))
    ]
    (text,) = texts_on_screen("s1.c0", readings, greys(0, 30, 30), 1.0, 6_000_000)
    assert text.text == "JEFF STEEN"


def test_one_missed_reading_does_not_end_a_text() -> None:
    readings = [FrameText(at, t) for at, t in ((0, (said("Gate B12"),)), (2_000_000, ()), (4_000_000, (said("Gate B12"),)))]
    assert len(texts_on_screen("s1.c0", readings, greys(0, 30, 30), 1.0, 6_000_000)) == 1


def test_a_reading_with_its_first_letter_missing_is_the_same_text() -> None:
    readings = [FrameText(0, (said("LEADERS"),)), FrameText(2_000_000, (said("EADERS", 0.97, (32.0, 100.0, 88.0, 20.0)),))]
    readings = [readings[0], FrameText(1_000_000, ()), FrameText(1_200_000, ()), FrameText(1_400_000, ()), readings[1]]
    (text,) = texts_on_screen("s1.c0", readings, greys(0, 30, 30), 1.0, 6_000_000)
    assert text.text == "LEADERS"


def test_different_words_are_different_texts_from_top_to_bottom() -> None:
    below = (20.0, 130.0, 100.0, 20.0)
    found = texts_on_screen("s1.c0", [FrameText(0, (said("Host"), said("JEFF STEEN", box=below)))], greys(0, 3, 3), 1.0, 600_000)
    assert [t.text for t in found] == ["Host", "JEFF STEEN"]


def test_patterns_read_as_a_sign_or_two_are_no_text() -> None:
    assert not believable(said("日", 0.89), 3)
    assert not believable(said("GO", 0.53), 2)
    assert not believable(said("¥*", 0.99), 2)
    assert not believable(said("X", 0.99), 9)
    assert believable(said("日", 0.99), 3)
    assert believable(said("EATS", 0.99), 1)


def test_the_reading_most_agree_on_wins() -> None:
    assert best_reading([said("Stean", 0.9), said("Steen", 0.8), said("Steen", 0.8)]).text == "Steen"


def test_a_talking_head_is_no_reason_to_read_again_but_a_caption_is() -> None:
    still = np.full((180, 320), 90, np.uint8)
    talking, caption = still.copy(), still.copy()
    talking[40:80, 140:180] = 200
    caption[150:170, 20:200:3] = 255
    face = (130.0, 30.0, 60.0, 60.0)
    assert not changed(still, talking, [face], 1.0)
    assert changed(still, talking, [], 1.0)
    assert changed(still, caption, [face], 1.0)
    assert changed(None, still, [], 1.0)
