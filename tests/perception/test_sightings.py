"""Faces of one picture."""

from __future__ import annotations

import numpy as np

from m3desk.perception.sightings import faces_of, lip_movement, sightings
from tests.perception.invented import ColourEmbedder, SquareDetector, draw


def test_the_faces_of_a_photo_come_from_left_to_right_with_vectors() -> None:
    found = faces_of(draw([("bob", 200, 60, 60), ("ann", 40, 80, 60)]), SquareDetector(), ColourEmbedder())
    assert [round(s.box[0]) for s, _ in found] == [40, 200]
    assert [int(v.argmax()) for _, v in found] == [0, 1]


def test_a_large_photo_gives_boxes_in_its_own_pixels() -> None:
    photo = draw([("ann", 1000, 800, 500)], size=(2400, 3200))
    (face,) = sightings(SquareDetector(), photo, 0, 0)
    assert np.allclose(face.box, (1000, 800, 500, 500), atol=8)
    assert max(face.crop.shape) <= 288


def test_a_tiny_face_is_left_out() -> None:
    assert sightings(SquareDetector(), draw([("ann", 100, 100, 10)]), 0, 0) == []


def test_a_crop_at_the_border_has_the_margin_there_is() -> None:
    (face,) = sightings(SquareDetector(), draw([("ann", 0, 0, 60)]), 0, 0)
    assert face.crop.shape[0] in (90, 91)
    assert face.marks.min() >= 0


def test_a_small_or_turned_face_has_less_quality() -> None:
    (large,) = sightings(SquareDetector(), draw([("ann", 60, 60, 90)]), 0, 0)
    (small,) = sightings(SquareDetector(), draw([("ann", 60, 60, 20)]), 0, 0)
    assert 0 <= small.quality < large.quality <= 1


def test_a_mouth_that_moves_shows_and_a_still_face_does_not() -> None:
    def face(frame: int, open_: bool) -> object:
        picture = draw([("ann", 80, 60, 90)])
        if open_:
            picture[126:140, 110:140] = 0
        return sightings(SquareDetector(), picture, frame, frame * 200_000)[0]

    still = lip_movement([face(i, False) for i in range(4)])  # type: ignore[list-item]
    talking = lip_movement([face(i, i % 2 == 1) for i in range(4)])  # type: ignore[list-item]
    assert still == (0, 0, 0, 0)
    assert talking[0] == 0
    assert min(talking[1:]) > 0.05
