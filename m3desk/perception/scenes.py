"""Properties of a clip's pictures as a whole: shot cuts, motion, brightness, and the choice of a thumbnail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.evidence import Floats
from m3desk.ports import Frame, Picture

SMALL = (64, 36)
"""Width and height of the reduced picture in which cuts are detected."""

THUMBNAIL = 320
"""Longest side of the clip's picture, pixels."""


@dataclass(frozen=True, slots=True)
class FrameSummary:
    """A reduced picture. `small`: (36, 64, 3) uint8 BGR. `histogram`: (256,) float32, hue × saturation × value, sums to 1."""

    at: int
    small: NDArray[np.uint8]
    histogram: Floats


def look(frame: Frame) -> FrameSummary:
    """Reduce a picture to what cut detection needs."""
    small = cv2.resize(frame.picture, SMALL, interpolation=cv2.INTER_AREA)
    counts = cv2.calcHist([cv2.cvtColor(small, cv2.COLOR_BGR2HSV)], [0, 1, 2], None, [8, 4, 8], [0, 180, 0, 256, 0, 256]).ravel()
    return FrameSummary(frame.at, np.asarray(small, np.uint8), np.asarray(counts / max(1.0, float(counts.sum())), np.float32))


def change(a: FrameSummary, b: FrameSummary) -> tuple[float, float]:
    """Return how far two pictures differ: mean difference of their pixels (0–255) and of their colours (0–1, half the L1 distance)."""
    pixels = float(np.abs(a.small.astype(np.int16) - b.small).mean())
    return pixels, float(0.5 * np.abs(a.histogram - b.histogram).sum())


STILL = 6
"""Largest difference (0–255) of a pixel of two reduced pictures of a scene in which nothing moves: each is the mean of some hundred pixels,
so a camera's noise hardly shows in it."""


def still(a: FrameSummary, b: FrameSummary) -> bool:
    """Return whether nothing moved between two pictures."""
    return int(np.abs(a.small.astype(np.int16) - b.small).max()) <= STILL


EMPTY_LEAST, EMPTY_MOST = 1_000_000, 4_000_000
"""Microseconds between two looks for faces in a still scene in which nobody is in view: after the first look, and after some that found
nobody either. Whoever comes in is looked for at once, because something moves; this is for a face that a detector missed."""


def empty_wait(fruitless: int) -> int:
    """Return how many microseconds a still scene is not searched for faces again; `fruitless`: looks in a row that found it as empty."""
    return min(EMPTY_MOST, EMPTY_LEAST << min(fruitless, 10))


def cut_between(a: FrameSummary, b: FrameSummary, around: float = 0.0) -> bool:
    """Return whether a shot ends between two pictures in a row; `around` is the usual change of pixels near them.

    On 20 known cuts of a test reel pixels change by 17–107 and colours by 0.24–0.91, also between two shots of the same studio;
    pans, gestures and a zooming caption reach 63 and 0.44, but then the pictures around change just as much.
    """
    pixels, colours = change(a, b)
    return pixels > 10 and (colours > 0.5 or (colours > 0.2 and pixels > 12 and pixels > 3 * max(around, 2.0)))


def cuts(looks: Sequence[FrameSummary]) -> tuple[int, ...]:
    """Return the times of the first pictures of new shots. A flash (the old picture returns at once) is not a cut."""
    steps = [change(a, b)[0] for a, b in pairwise(looks)]
    found = []
    for i, (a, b) in enumerate(pairwise(looks)):
        old, new = steps[max(0, i - 3) : i], steps[i + 1 : i + 4]
        usual = float(np.median(old + new)) if old + new else 0.0
        if old and new:
            # A still shot may be followed by a shot with motion; then the change stands out on one side only.
            usual = min(usual, 3 * float(np.median(old)), 3 * float(np.median(new)))
        if not cut_between(a, b, usual):
            continue
        after, before = looks[i + 2] if i + 2 < len(looks) else None, looks[i - 1] if i > 0 else None
        if after is not None and change(a, after)[0] < 0.3 * steps[i]:
            continue
        if before is not None and change(before, b)[0] < 0.3 * steps[i]:
            continue
        found.append(b.at)
    return tuple(found)


def facts(looks: Sequence[FrameSummary], cut_times: Sequence[int]) -> dict[str, float]:
    """Return `brightness`, `contrast`, `colour` (0–1), `motion` (mean change within shots, 0–1) and `cuts` (how many)."""
    if not looks:
        return {}
    pictures = np.stack([k.small for k in looks]).astype(np.float32) / 255
    starts = set(cut_times)
    steps = [change(a, b)[0] / 255 for a, b in pairwise(looks) if b.at not in starts]
    values = {
        "brightness": float(pictures.mean()),
        "contrast": float(pictures.mean(3).std(axis=(1, 2)).mean()),
        "colour": float((pictures.max(3) - pictures.min(3)).mean()),
        "motion": float(np.mean(steps)) if steps else 0.0,
        "cuts": float(len(cut_times)),
    }
    return {name: round(value, 4) for name, value in values.items()}


def shrink(picture: Picture, side: int) -> tuple[Picture, float]:
    """Return the picture with its longest side at most `side`, and the scale factor (≤ 1)."""
    scale = min(1.0, side / max(picture.shape[:2]))
    if scale == 1.0:
        return picture, 1.0
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    # Area averaging costs 4 times as much as bilinear; it is only worth it below half the size.
    way = cv2.INTER_AREA if scale < 0.5 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, size, interpolation=way), np.uint8), scale


def jpeg(picture: Picture, quality: int = 90) -> bytes:
    """Return the picture as JPEG."""
    done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ValueError(f"a picture of shape {picture.shape} does not encode")
    return bytes(data)


def crop_file(crop: Picture) -> bytes:
    """Return a face's crop as it is stored (JPEG)."""
    return jpeg(crop, 92)


def worth(brief: FrameSummary, faces_area: float) -> float:
    """Rate a picture as thumbnail of its clip: detailed, neither dark nor white, and better with faces (share of the picture)."""
    grey = brief.small.mean(2)
    detail = float(np.abs(np.diff(grey, axis=1)).mean()) / 20
    light = 1 - abs(float(grey.mean()) - 115) / 140
    return float(min(1.0, detail) + light + 2 * min(0.25, faces_area) ** 0.5)
