"""Which of the things that a detector found are told, and by what name: rules of sentences and answers. Pure.

Sentences leave out more: what is seen in the dark, and what hangs on a body (WORN) but below no face.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import FaceTrack, ObjectSeen
from m3desk.domain.geometry import iou

SURE, VERY_SURE, SUREST = 0.7, 0.8, 0.9
"""Scores of things that are told: SURE where they last, VERY_SURE in any case; of LOOKALIKES both SUREST and lasting."""

LASTING = 3 * MICROSECOND // 2


WORN = frozenset({"tie", "backpack"})
"""What hangs on a body."""

LOOKALIKES = frozenset({
    "toilet", "bed", "sink", "refrigerator", "oven", "microwave", "toaster", "hair drier", "toothbrush", "teddy bear", "kite", "frisbee",
    "surfboard", "snowboard", "skis", "skateboard", "suitcase", "bench", "remote", "hot dog", "donut", "vase", "clock", "parking meter",
    "train", "airplane", "boat", "couch",
})  # fmt: skip
"""What the detector takes other things for (a chair for a toilet, a picture frame for a clock): told only where it is very sure."""

PICTURED = frozenset({"bird", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "teddy bear"})
"""What stands on walls and shelves as a picture or a figure: beside a face nobody can tell it from the real thing here."""

ANIMALS = PICTURED | {"cat", "dog"}

FURNITURE = "chair or table"
"""The common word for what may be either: detectors of COCO's classes take the one for the other more often than other things."""

CONFUSED = frozenset({"chair", "dining table"})
"""Told by their common word: seen from above, afar or in part each looks like the other, and the detector is very sure of either."""

ALIKE = (CONFUSED, frozenset({"car", "truck", "bus"}), frozenset({"bicycle", "motorcycle"}))
"""Labels of which a thing may have two at once; it is told once."""

DISPUTED, SAME_PLACE = 0.3, 0.4
"""By how much less sure, and with which overlap (intersection over union), another thing in the place of one makes both doubtful."""


def clear(thing: ObjectSeen) -> bool:
    """Return whether a thing was seen surely enough, or for long enough, to be told."""
    if thing.label in WORN:
        return thing.score >= SURE  # it must hang below a face to be told
    lasts = thing.end - thing.start >= LASTING
    if thing.label in LOOKALIKES:
        return thing.score >= SUREST and lasts
    return thing.score >= VERY_SURE or (thing.score >= SURE and lasts)


def disputed(thing: ObjectSeen, things: Sequence[ObjectSeen]) -> bool:
    """Return whether something else is seen in the same place at the same time, nearly as surely: the detector does not know it.

    Of a thing with two labels that are ALIKE the surer one is told.
    """
    for o in things:
        there = o.label != thing.label and o.start < thing.end and o.end > thing.start and iou(o.box, thing.box) >= SAME_PLACE
        if there and any({o.label, thing.label} <= alike for alike in ALIKE):
            if (o.score, o.label) > (thing.score, thing.label) and clear(o):
                return True
        elif there and o.score > thing.score - DISPUTED:
            return True
    return False


def with_face(thing: ObjectSeen, faces: Iterable[FaceTrack]) -> bool:
    """Return whether an animal is where a face is followed: it is a person, a drawing, or the face is none."""
    return thing.label in ANIMALS and any(f.start < thing.end and f.end > thing.start and within(f, thing) for f in faces)


def within(face: FaceTrack, body: ObjectSeen) -> bool:
    """Return whether a face is ever inside a body (a fifth wider and higher: its box is where it was clearest, and people move)."""
    x, y, width, height = body.box
    return any(
        x - 0.2 * width <= b.x + b.width / 2 <= x + 1.2 * width and y - 0.2 * height <= b.y + b.height / 2 <= y + height
        for b in face.boxes
        if body.start <= b.at <= body.end
    )


def name_of(thing: ObjectSeen) -> str:
    """Return what a thing is called: what may be a chair or a table by both."""
    return FURNITURE if thing.label in CONFUSED else thing.label
