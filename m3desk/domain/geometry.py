"""Overlap of boxes and of time spans, and the similarity transform between two sets of points. Pure.

Boxes are (x, y, width, height); spans are (start, end) in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from m3desk.domain.evidence import Box

Interval = tuple[int, int]


def intersection(a: Box, b: Box) -> float:
    """Return the area that two boxes share; 0 where they only touch."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return width * height if width > 0 and height > 0 else 0.0


def iou(a: Box, b: Box) -> float:
    """Return the intersection of two boxes over their union, 0–1."""
    shared = intersection(a, b)
    return shared / (a[2] * a[3] + b[2] * b[3] - shared) if shared else 0.0


def share_of_smaller(a: Box, b: Box) -> float:
    """Return the intersection of two boxes over the smaller one, 0–1."""
    shared = intersection(a, b)
    return shared / min(a[2] * a[3], b[2] * b[3]) if shared else 0.0


def overlap(a: Interval, b: Interval) -> int:
    """Return how long two spans overlap."""
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def without(some: Iterable[Interval], others: Iterable[Interval]) -> list[Interval]:
    """Return what is left of spans where no other span is."""
    rest = list(some)
    for c, d in others:
        rest = [(a, b) for x, y in rest for a, b in ((x, min(y, c)), (max(x, d), y)) if b > a]
    return rest


def span_iou(a: Interval, b: Interval) -> float:
    """Return how long two spans overlap as a part of the time from the first start to the last end, 0–1."""
    return overlap(a, b) / max(1, max(a[1], b[1]) - min(a[0], b[0]))


def similarity_transform(source: ArrayLike, target: ArrayLike) -> NDArray[Any]:
    """Return the (2, 3) rotation, scale and shift that brings (n, 2) source points nearest to target points (least squares; Umeyama 1991).

    Without random sampling, unlike cv2.estimateAffinePartial2D: the same landmarks give the same matrix.
    """
    one, other = np.asarray(source, np.float64), np.asarray(target, np.float64)
    mean_s, mean_t = one.mean(0), other.mean(0)
    s, t = one - mean_s, other - mean_t
    spread = float((s**2).sum()) or 1e-9
    a = float((s * t).sum()) / spread
    b = float((s[:, 0] * t[:, 1] - s[:, 1] * t[:, 0]).sum()) / spread
    rotation = np.array([[a, -b], [b, a]])
    return np.hstack([rotation, (mean_t - rotation @ mean_s)[:, None]])
