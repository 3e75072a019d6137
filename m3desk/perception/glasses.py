"""Glasses: the line of their bridge across the nose, between the eyes, where a bare face is smooth. Kept as a thing in view ("glasses").

No model. Measured by eye on the 213 stored crops of the calibration films of `bench telling` (24 people) and on 67 faces of other
photos and films (22 people): bare faces of enough quality reach 0.38, dark frames 0.53 to 1.06; thin and rimless ones are mostly missed.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from m3desk.domain.appearance import GLASSES
from m3desk.domain.evidence import Box, Floats, ObjectSeen
from m3desk.domain.geometry import similarity_transform
from m3desk.ports import Picture

SIDE = 112
UPRIGHT = np.array([[38.3, 51.7], [73.5, 51.5], [56.0, 71.7], [41.5, 92.4], [70.7, 92.2]], np.float32)
"""The five landmarks in the upright face of SIDE × SIDE in which is measured."""

BRIDGE = (slice(46, 61), slice(50, 63))
"""Rows and columns between the eyes: below the brows and a fringe."""

CONTRAST = (slice(30, 100), slice(25, 87))

LINE = 0.42
"""Step of brightness across the bridge, in units of the face's contrast, from which it is a frame."""

QUALITY, APART = 0.45, 18.0
"""Quality of a face, and distance of its eyes in pixels, under which a bridge can't be seen."""

SURE_FACE = 0.86
"""Detection score of a face, on average, under which it may be none: a drawing, an animal. Calibration's faces with glasses have
0.887 and more. On YuNet's scale, as the scores in `tracks` are; no other detector was measured."""

LOOKS = 2
"""Looks needed; the median counts."""


def bridge(crop: Picture, marks: Floats) -> float | None:
    """Return how strong a line crosses a face's nose between the eyes, None where the face is too small.

    `marks`: (5, 2) landmarks in the crop.
    """
    if float(np.hypot(*(marks[1] - marks[0]))) < APART:
        return None
    upright = cv2.warpAffine(crop, similarity_transform(marks, UPRIGHT), (SIDE, SIDE))
    grey = np.asarray(cv2.GaussianBlur(cv2.cvtColor(upright, cv2.COLOR_BGR2GRAY).astype(np.float32), (0, 0), 0.8), np.float32)
    steps = np.abs(np.diff(grey, axis=0))[BRIDGE]
    return float(np.median(steps.max(0))) / (float(grey[CONTRAST].std()) + 6)


def glasses_seen(clip: str, start: int, end: int, face: Box, bridges: Sequence[float]) -> ObjectSeen | None:
    """Return the glasses of one face, None where there are none or it can't be told. `face`: its box when it was seen first."""
    if len(bridges) < LOOKS or float(np.median(bridges)) < LINE:
        return None
    x, y, w, h = (round(v, 1) for v in face)
    return ObjectSeen(clip, start, end, GLASSES, round(min(1.0, float(np.median(bridges))), 4), (x, y, w, round(h / 2, 1)))
