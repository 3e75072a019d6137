"""Clothes and raised hands are read from the picture around a face, and only where they are plain."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.domain.appearance import clothing_colour
from m3desk.perception.clothing import clothing_seen, colour_below
from m3desk.perception.gestures import hands_raised, skin_beside

FACE = (280.0, 60.0, 60.0, 80.0)
SKIN = (130, 160, 215)
"""Blue, green, red."""


def person(clothes, *, light=1.0, hand=None):
    """A drawn person: a face of skin's colour, clothes below it; `hand`: a box in skin's colour."""
    picture = np.full((360, 640, 3), 200, np.uint8)
    picture[60:140, 280:340] = SKIN
    picture[150:360, 220:400] = clothes
    if hand:
        x, y, w, h = hand
        picture[y : y + h, x : x + w] = SKIN
    return (picture * light).astype(np.uint8)


@pytest.mark.parametrize(
    ("clothes", "colour"),
    [
        ((30, 20, 200), "red"), ((180, 60, 20), "blue"), ((20, 25, 30), "dark"), ((240, 240, 240), "white"), ((40, 160, 40), "green"),
        (SKIN, None), ((130, 130, 130), "grey"), ((55, 47, 114), "dark red"), ((20, 15, 75), "dark red"), ((78, 48, 0), "dark blue"),
        ((45, 135, 237), "orange"), ((60, 77, 100), None),
        ((12, 27, 53), None), ((45, 30, 25), "dark"),
    ],
)  # fmt: skip
def test_the_plain_colour_below_a_face_is_read(clothes, colour):
    assert colour_below(person(clothes), FACE) == colour


def test_in_the_dark_no_clothes_are_dark_and_below_the_picture_there_are_none():
    assert colour_below(person((120, 120, 120), light=0.2), FACE) is None
    assert colour_below(person((30, 20, 200)), (280.0, 250.0, 60.0, 80.0)) is None


def test_grey_is_told_neither_of_white_in_the_shade_nor_of_a_picture_without_colours():
    assert colour_below(person((200, 200, 200), light=0.7), FACE) is None
    grey = person((130, 130, 130)).mean(axis=2, keepdims=True).repeat(3, axis=2).astype(np.uint8)
    assert colour_below(grey, FACE) is None


def test_in_a_dark_room_a_lit_face_says_nothing_of_dark_clothes():
    room = person((22, 24, 26))
    room[:, :200] = room[:, 420:] = room[:60] = 12
    room[60:140, 220:280] = room[60:140, 340:400] = 12
    assert colour_below(room, FACE) is None
    room[150:360, 220:400] = (30, 20, 200)
    assert colour_below(room, FACE) == "red"


def test_long_dark_hair_over_the_chest_is_no_dark_clothes():
    def haired(clothes):
        picture = person(clothes)
        picture[50:340, 250:282] = picture[50:340, 338:370] = (20, 22, 26)
        return picture

    assert colour_below(haired((200, 205, 225)), FACE) is None
    assert colour_below(haired((24, 24, 24)), FACE) == "dark"


def test_what_is_dark_in_part_and_of_a_dark_hue_in_part_is_neither():
    mixed = person((26, 22, 28))
    mixed[150:360, 300:345] = (64, 33, 47)
    assert colour_below(mixed, FACE) is None and colour_below(person((26, 22, 28)), FACE) == "dark"


def test_a_shade_that_changes_with_the_light_is_one_colour():
    looks = [(200_000 * i, FACE, c) for i, c in enumerate(("red", "dark red", "red", "dark red", "red"))]
    seen = clothing_seen("s1.c0", looks)
    assert seen is not None and seen.label == "red clothing"
    assert clothing_colour("dark red clothing") == "dark red" and clothing_colour("red dress") is None


def test_clothes_are_told_only_where_looks_agree():
    def looks(*colours):
        return [(200_000 * i, FACE, c) for i, c in enumerate(colours)]

    seen = clothing_seen("s1.c0", looks("red", "red", None, "red", "red"))
    assert seen is not None and seen.label == "red clothing" and (seen.start, seen.end) == (0, 800_000)
    assert clothing_seen("s1.c0", looks("red", "red", "red", "blue", "blue", "red")) is None
    assert clothing_seen("s1.c0", looks("red", "red")) is None


def raised(*hands):
    looks = [(200_000 * i, FACE, skin_beside(person((30, 20, 200), hand=h), FACE)) for i, h in enumerate(hands)]
    return hands_raised("s1.c0", looks, {at: [box] for at, box, _ in looks})


def test_a_hand_beside_the_head_for_a_moment_is_raised():
    up = (210, 40, 40, 40)
    (seen,) = raised(*[None] * 10, up, up, None, up, *[None] * 10)
    assert seen.label == "raised hand" and (seen.start, seen.end) == (2_000_000, 2_600_000)


def test_what_has_skins_colour_all_the_time_or_for_one_look_is_no_hand():
    up = (210, 40, 40, 40)
    assert raised(*[up] * 20) == []
    assert raised(*[None] * 10, up, *[None] * 10) == []


def test_another_face_beside_is_no_hand():
    up = (210, 40, 40, 40)
    looks = [(200_000 * i, FACE, skin_beside(person((30, 20, 200), hand=up if 8 <= i < 14 else None), FACE)) for i in range(24)]
    other = {at: [(210.0, 40.0, 40.0, 40.0)] for at, _, _ in looks}
    assert len(hands_raised("s1.c0", looks, {})) == 1 and hands_raised("s1.c0", looks, other) == []
