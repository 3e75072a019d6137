"""Shot cuts, properties of pictures, thumbnails."""

from __future__ import annotations

import numpy as np

from m3desk.perception.scenes import FrameSummary, cuts, facts, jpeg, look, shrink
from m3desk.ports import Frame


def picture(colour: tuple[int, int, int], shift: int = 0) -> np.ndarray:
    """Return a picture of a colour with a grid of lighter tiles, moved by `shift` pixels."""
    p = np.full((180, 320, 3), colour, np.uint8)
    p[40 + shift : 100 + shift, 60 + shift : 140 + shift] = 255 - np.array(colour)
    return p


def looks(pictures: list[np.ndarray]) -> list[FrameSummary]:
    return [look(Frame(i * 200_000, p)) for i, p in enumerate(pictures)]


RED, BLUE = (30, 30, 200), (200, 40, 30)


def test_a_new_shot_begins_with_its_first_picture() -> None:
    assert cuts(looks([picture(RED)] * 5 + [picture(BLUE)] * 5)) == (1_000_000,)


def test_movement_is_no_cut() -> None:
    assert cuts(looks([picture(RED, shift=8 * i) for i in range(10)])) == ()


def test_a_flash_is_no_cut() -> None:
    white = np.full((180, 320, 3), 255, np.uint8)
    assert cuts(looks([picture(RED)] * 5 + [white] + [picture(RED)] * 5)) == ()


def test_a_still_shot_before_a_restless_one_still_ends() -> None:
    restless = [np.roll(picture(BLUE), 40 * i, axis=1) for i in range(6)]
    assert cuts(looks([picture(RED)] * 6 + restless))[0] == 1_200_000


def test_no_pictures_have_no_cuts_and_no_facts() -> None:
    assert cuts([]) == ()
    assert facts([], ()) == {}


def test_a_dark_clip_is_dark_and_a_still_one_does_not_move() -> None:
    dark, bright = looks([np.full((90, 160, 3), 10, np.uint8)] * 3), looks([picture(RED, 10 * i) for i in range(3)])
    assert facts(dark, ())["brightness"] < 0.05
    assert facts(dark, ())["motion"] == 0
    assert facts(bright, ())["motion"] > 0


def test_shrinking_keeps_the_shape_and_never_enlarges() -> None:
    small, scale = shrink(np.zeros((720, 1280, 3), np.uint8), 640)
    assert small.shape == (360, 640, 3)
    assert scale == 0.5
    assert shrink(np.zeros((72, 128, 3), np.uint8), 640)[1] == 1


def test_a_picture_becomes_jpeg() -> None:
    assert jpeg(picture(RED)).startswith(b"\xff\xd8")
