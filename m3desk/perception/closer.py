"""A closer look for objects: at what is around people, or where nobody is, at both halves of a wide picture.

The detector sees a picture at 300 × 300; a tie, a laptop or a plant in a corner is a few pixels there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from m3desk.domain.evidence import Box
from m3desk.domain.geometry import share_of_smaller
from m3desk.ports import DetectedObject, ObjectDetector, Picture

PEOPLE = 2
"""Faces around which is looked, the largest: each costs one more detection."""

SMALLEST = 18.0
"""Width in pixels of the smallest face around which is looked."""

CLOSER = 0.7
"""Most of a picture that a closer look shows: more is no closer."""

WIDE = 1.3
"""Width of a picture in heights from which it is looked at in halves."""

SAME = 0.6
"""Overlap (of the smaller box) from which two detections of one label are one thing."""


def objects(detector: ObjectDetector, picture: Picture, faces: Sequence[Box]) -> tuple[DetectedObject, ...]:
    """Return the objects of a picture, best first. People are those that the whole picture shows; a closer look cuts them off."""
    found = list(detector.detect(picture))
    for left, top, width, height in _places(picture, faces):
        part = picture[top : top + height, left : left + width]
        for o in detector.detect(part):
            if o.label != "person":
                _add(found, DetectedObject(o.label, o.score, (o.box[0] + left, o.box[1] + top, o.box[2], o.box[3])))
    return tuple(sorted(found, key=lambda o: (-o.score, o.label, o.box)))


def _add(found: list[DetectedObject], one: DetectedObject) -> None:
    """Add a detection, or take its score for the same thing where that is better; the place of the whole picture stays."""
    for i, o in enumerate(found):
        if o.label == one.label and share_of_smaller(o.box, one.box) >= SAME:
            found[i] = DetectedObject(o.label, max(o.score, one.score), o.box)
            return
    found.append(one)


def _places(picture: Picture, faces: Sequence[Box]) -> Iterable[tuple[int, int, int, int]]:
    """Yield where to look closer, in pixels: around each of the largest faces three widths to each side and six heights down."""
    height, width = picture.shape[:2]
    if not faces:
        if width >= WIDE * height:
            yield from ((0, 0, height, height), (width - height, 0, height, height))
        return
    for x, y, w, h in sorted((f for f in faces if f[2] >= SMALLEST), key=lambda f: (-f[2] * f[3], f))[:PEOPLE]:
        left, top = int(max(0, x - 3 * w)), int(max(0, y - h))
        right, bottom = int(min(width, x + 4 * w)), int(min(height, y + 6 * h))
        if (right - left) * (bottom - top) <= CLOSER * width * height:
            yield left, top, right - left, bottom - top
