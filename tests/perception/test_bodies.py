"""Bodies tell what people wear and where they go, also where no face can be read."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.perception.bodies import bodies_seen, worn_by
from m3desk.perception.faces import see
from m3desk.perception.objects import Glance
from m3desk.ports import DetectedObject, Models
from tests.perception.invented import DrawnClip

BODY = (280.0, 40.0, 80.0, 280.0)
RED, BLACK = (30, 20, 190), (25, 25, 25)


def person(box=BODY, score=0.9):
    return DetectedObject("person", score, box)


def drawn(clothes, *, light=160):
    picture = np.full((360, 640, 3), light, np.uint8)
    picture[40:320, 280:360] = clothes
    return picture


def test_what_a_body_wears_is_read_above_the_waist():
    assert worn_by(drawn(RED), [person()]) == {BODY: "red"}
    assert worn_by(drawn(RED), [person(score=0.45), DetectedObject("chair", 0.9, BODY), person((280.0, 40.0, 12.0, 30.0))]) == {}
    assert worn_by(drawn(BLACK), [person()]) == {BODY: "dark"}


def test_long_hair_down_the_back_is_no_dark_clothes():
    haired = drawn((140, 140, 140))
    haired[40:110, 290:350] = BLACK
    assert worn_by(haired, [person()]) == {}


def test_in_a_dark_picture_nobody_wears_dark_clothes():
    assert worn_by(drawn(BLACK, light=30), [person()]) == {}


def glances(*boxes):
    return [Glance(1_000_000 * i, () if b is None else (person(b),)) for i, b in enumerate(boxes)]


def seen(found, worn=(), end=20):
    clothes = {g.at: {o.box: c for o in g.objects} for g, c in zip(found, worn, strict=False) if c}
    return [(o.label, o.start / 1e6, o.end / 1e6) for o in bodies_seen("s1.c0", found, clothes, (), (0, end * 1_000_000), 640.0)]


def test_clothes_are_told_where_looks_agree():
    found = glances(BODY, BODY, BODY, None, None)
    assert seen(found, ["red", "red", None], end=5) == [("red clothing", 0, 3)]
    assert seen(found, ["red", "blue", "red"], end=5) == []
    assert seen(found, ["red", None, None], end=5) == []


def at(x):
    return (x, 40.0, 80.0, 280.0)


@pytest.mark.parametrize(
    ("places", "way"),
    [
        ([20, 60, 110, 160, 210, 260, None], "going right"), ([500, 450, 400, 350, 300, None], "going left"),
        ([300, 330, 300, 320, 310, None], None), ([450, 490, 530, 565, None, None, None], "going out right"),
        ([140, 100, 60, 5, None, None, None], "going out left"),
    ],
)  # fmt: skip
def test_where_somebody_alone_goes_is_told(places, way):
    found = glances(*(None if x is None else at(x) for x in places))
    assert [label for label, _, _ in seen(found, end=len(places))] == ([way] if way else [])


def test_of_two_at_once_nobody_can_say_who_goes_where():
    both = [Glance(1_000_000 * i, (person(at(20 + 50 * i)), person(at(500)))) for i in range(6)]
    assert seen(both, end=6) == []


class Walker:
    """Answers ports.ObjectDetector: a person who steps to the right at every look at the whole picture."""

    name = "walker"

    def __init__(self):
        self.looks = 0

    def detect(self, picture):
        self.looks += picture.shape[1] == 320
        return [DetectedObject("person", 0.9, (10.0 + 20 * self.looks, 20.0, 60.0, 200.0))]


def test_people_are_looked_for_every_second_where_no_face_is_and_something_moves():
    moving = [np.full((240, 320, 3), 160, np.uint8) for _ in range(30)]
    for i, picture in enumerate(moving):
        picture[100:160, 9 * i : 9 * i + 40] = RED
    walker = Walker()
    found = see(DrawnClip(moving), Models(objects=walker)).objects
    assert 6 <= walker.looks <= 8 and [o.label for o in found if o.label == "person"] == ["person"]
    still = Walker()
    see(DrawnClip([moving[0].copy() for _ in range(30)]), Models(objects=still))
    assert still.looks < walker.looks


class RedSeeker:
    """Answers ports.ObjectDetector: what is red is a person."""

    name = "red"

    def detect(self, picture):
        ys, xs = np.nonzero((picture[..., 2] > 150) & (picture[..., 1] < 60))
        return [person((float(xs.min()), float(ys.min()), float(np.ptp(xs) + 1), float(np.ptp(ys) + 1)))] if len(xs) else []


def test_somebody_who_passes_between_two_looks_for_things_is_gone_when_the_picture_is_as_it_was():
    pictures = [np.full((240, 320, 3), 160, np.uint8) for _ in range(45)]
    for i in range(5, 13):
        pictures[i][20:220, 10 * i : 10 * i + 60] = RED
    found = see(DrawnClip(pictures), Models(objects=RedSeeker())).objects
    assert max(o.end for o in found) <= 63_200_000 and {o.label for o in found} == {"person"}
