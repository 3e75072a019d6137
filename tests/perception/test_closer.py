"""A closer look finds what is small in the whole picture, and each thing once."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.perception import closer
from m3desk.ports import DetectedObject


class Marks:
    """Sees white marks of 10 pixels and more of a picture that is shrunk to 100 pixels, as ties."""

    name = "marks"

    def __init__(self, score=0.9):
        self.looks = []
        self.score = score

    def detect(self, picture):
        height, width = picture.shape[:2]
        self.looks.append((width, height))
        ys, xs = np.nonzero(picture[..., 0] == 255)
        if not len(xs):
            return []
        left, top = int(xs.min()), int(ys.min())
        box = (float(left), float(top), float(xs.max() + 1 - left), float(ys.max() + 1 - top))
        if box[2] * 100 / max(width, height) < 10:
            return []
        return [DetectedObject("person", 0.8, box), DetectedObject("tie", self.score, box)]


def picture(width=640, height=360, mark=(300, 200, 30, 60)):
    shown = np.zeros((height, width, 3), np.uint8)
    x, y, w, h = mark
    shown[y : y + h, x : x + w] = 255
    return shown


def test_what_is_small_is_found_around_a_face_where_it_lies_in_the_whole_picture():
    (tie,) = closer.objects(Marks(), picture(), [(290.0, 120.0, 40.0, 50.0)])
    assert (tie.label, tie.box) == ("tie", (300.0, 200.0, 30.0, 60.0))


def test_without_a_face_both_halves_of_a_wide_picture_are_looked_at():
    marks = Marks()
    assert [o.label for o in closer.objects(marks, picture(mark=(560, 200, 40, 60)), [])] == ["tie"]
    assert marks.looks == [(640, 360), (360, 360), (360, 360)]
    assert closer.objects(marks, picture(400, 360, mark=(0, 0, 1, 1)), []) == () and marks.looks[-1] == (400, 360)


def test_one_thing_seen_twice_is_one_with_the_better_score():
    class Twice(Marks):
        def detect(self, picture):
            self.score = 0.6 if picture.shape[1] == 640 else 0.95
            return super().detect(picture)

    found = closer.objects(Twice(), picture(mark=(280, 200, 90, 120)), [(290.0, 120.0, 40.0, 50.0)])
    assert [(o.label, o.score) for o in found] == [("tie", 0.95), ("person", 0.8)]


@pytest.mark.parametrize(("faces", "looks"), [([(10.0, 10.0, 12.0, 14.0)], 1), ([(200.0, 10.0, 200.0, 260.0)], 1)])
def test_around_a_tiny_face_or_one_that_fills_the_picture_nothing_is_closer(faces, looks):
    marks = Marks()
    closer.objects(marks, picture(), faces)
    assert len(marks.looks) == looks


def test_only_around_the_two_largest_faces():
    marks = Marks()
    closer.objects(marks, picture(), [(100.0, 50.0, 20.0, 24.0), (300.0, 50.0, 30.0, 36.0), (500.0, 50.0, 26.0, 30.0)])
    assert marks.looks == [(640, 360), (210, 236), (180, 200)] or len(marks.looks) == 3
