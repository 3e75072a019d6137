"""Blurs a part of a picture, or all of it, beyond recognition. Pure."""

from __future__ import annotations

import cv2
import numpy as np

from m3desk.domain.evidence import Box
from m3desk.ports import Picture

BLOCKS = 5
"""A blurred face is this many blocks wide; a recogniser needs about 20."""


def blur(picture: Picture, box: tuple[int, int, int, int]) -> None:
    """Blur [left, top, right, bottom) of a picture in place, beyond recognition."""
    left, top, right, bottom = box
    part = picture[top:bottom, left:right]
    if not part.size:
        return
    height, width = part.shape[:2]
    rows = max(1, round(BLOCKS * height / max(width, 1)))
    coarse = cv2.resize(part, (min(BLOCKS, width), min(max(rows, 1), height, 2 * BLOCKS)), interpolation=cv2.INTER_AREA)
    picture[top:bottom, left:right] = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)


def blurred_whole(picture: Picture) -> Picture:
    """Return a picture of which nothing but colours is left."""
    height, width = picture.shape[:2]
    coarse = cv2.resize(picture, (12, max(1, round(12 * height / width))), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def widened(box: Box, by: float, size: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return a box with `by` of its size around it as [left, top, right, bottom) within a picture of (height, width, …)."""
    x, y, w, h = box
    side = by * max(w, h)
    return (
        max(0, int(x - side)), max(0, int(y - side)), min(size[1], int(x + w + side) + 1), min(size[0], int(y + h + side) + 1),
    )  # fmt: skip


def union(a: Box, b: Box) -> Box:
    x, y = min(a[0], b[0]), min(a[1], b[1])
    return x, y, max(a[0] + a[2], b[0] + b[2]) - x, max(a[1] + a[3], b[1] + b[3]) - y
