"""Glasses are the line of a bridge between the eyes, seen at several looks."""

from __future__ import annotations

import numpy as np

from m3desk.domain.appearance import GLASSES, of_a_person
from m3desk.perception.glasses import UPRIGHT, bridge, glasses_seen

BOX = (100.0, 80.0, 60.0, 80.0)


def drawn(bridge_row=None, size=224):
    """A face with a shaded nose and dark eyes; `bridge_row`: where a dark line joins the eyes, in the upright face's rows."""
    scale = size / 112
    crop = np.full((size, size, 3), 150, np.uint8)
    crop[:, : size // 2] = 165
    for x, y in UPRIGHT[:2]:
        crop[int((y - 4) * scale) : int((y + 4) * scale), int((x - 8) * scale) : int((x + 8) * scale)] = 60
    if bridge_row is not None:
        crop[int(bridge_row * scale) : int((bridge_row + 3) * scale), int(40 * scale) : int(72 * scale)] = 20
    return crop, UPRIGHT * scale


def test_a_bridge_between_the_eyes_is_a_strong_line_and_bare_skin_is_not():
    bare, glasses = bridge(*drawn()), bridge(*drawn(51))
    assert bare is not None and bare < 0.1 and glasses is not None and glasses > 0.6


def test_a_fringe_above_the_eyes_is_no_bridge():
    fringe = bridge(*drawn(36))
    assert fringe is not None and fringe < 0.1


def test_of_a_small_face_nothing_is_told():
    assert bridge(*drawn(51, size=50)) is None


def test_glasses_are_told_from_the_median_of_several_looks_and_belong_to_their_face():
    seen = glasses_seen("s1.c0", 5, 9, BOX, [0.8, 0.7, 0.1])
    assert seen is not None and (seen.label, seen.start, seen.end, seen.box) == (GLASSES, 5, 9, (100.0, 80.0, 60.0, 40.0))
    assert of_a_person(seen.label)
    assert glasses_seen("s1.c0", 5, 9, BOX, [0.8]) is None
    assert glasses_seen("s1.c0", 5, 9, BOX, [0.2, 0.3, 0.9]) is None
