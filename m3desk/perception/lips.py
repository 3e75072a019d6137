"""Lips at 25 pictures a second: how a mouth moves and opens, measured in the pictures between those that faces are looked for in.

The five landmarks are interpolated between two pictures, the face is turned upright, and three numbers are kept of each picture; no
picture is kept. It costs about 0.1 ms a face and picture, so all faces are measured, whether somebody speaks or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.domain.geometry import iou, similarity_transform
from m3desk.perception.sightings import MOUTH, Sighting
from m3desk.ports import GreyFrame

RATE = 25
STEP = MICROSECOND // RATE

NEAR = np.array([[9.6, -24.0], [54.4, -24.0], [32.0, -1.6], [16.0, 20.8], [48.0, 20.8]], np.float32)
"""The five landmarks in the 64 × 48 picture of the mouth: 1.6 times as near as `sightings.MOUTH`."""

SAME_FACE = 0.3
"""Overlap of two boxes, a fifth of a second apart, from which they are taken for one face."""

APART = 300_000
"""Microseconds between two looks for faces over which landmarks are not interpolated."""

HOLE = 130_000
"""Microseconds without a picture over which a mouth is not interpolated: a film of 8 pictures a second has no hole."""

SMALLEST = 30.0
"""Height of a face in pixels under which its mouth is noise."""

MOVED, DARK, DARKEST = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class LipSamples:
    """A mouth since its face was seen before. `before`: that sighting's time and box. `rows`: (n, 4) time, MOVED, DARK, DARKEST; movement
    is against the picture before, NaN at the first."""

    before: tuple[int, tuple[float, ...]]
    rows: NDArray[np.float64]
    last: Floats


def followed(before: Sequence[Sighting], now: Sequence[Sighting], pictures: Sequence[GreyFrame]) -> list[Sighting]:
    """Return the faces of a picture with their mouths measured in the pictures since the look before."""
    if not pictures or not before or not now or now[0].at - before[0].at > APART:
        return list(now)
    pairs = sorted(
        ((iou(a.box, b.box), -i, -k) for i, a in enumerate(before) for k, b in enumerate(now)), reverse=True
    )  # fmt: skip
    of: dict[int, int] = {}
    for near, i, k in pairs:
        if near >= SAME_FACE and -k not in of and -i not in of.values():
            of[-k] = -i
    return [
        replace(s, lips=_measured(before[of[k]], s, pictures)) if k in of and s.box[3] >= SMALLEST else s for k, s in enumerate(now)
    ]  # fmt: skip


def _measured(before: Sighting, now: Sighting, pictures: Sequence[GreyFrame]) -> LipSamples | None:
    rows: list[tuple[float, float, float, float]] = []
    last = before.lips.last if before.lips is not None else None
    for at, picture in pictures:
        if not before.at < at <= now.at:
            continue
        part = (at - before.at) / (now.at - before.at)
        marks = np.asarray(before.landmarks + part * (now.landmarks - before.landmarks), np.float32)
        face = cv2.warpAffine(picture, np.asarray(similarity_transform(marks, MOUTH)), (64, 64)).astype(np.float32)
        near = cv2.warpAffine(picture, np.asarray(similarity_transform(marks, NEAR)), (64, 48)).astype(np.float32)
        face /= max(float(face.mean()), 1.0)
        near /= max(float(near.mean()), 1.0)
        moved = np.nan
        if last is not None:
            step = np.abs(face - last)
            mouth, eyes = float(step[40:60, 16:48].mean()), float(step[12:30, 10:54].mean())
            moved = max(0.0, mouth - 0.8 * eyes) / (float(face.std()) + 0.02)
        opened = -float(near[16:38, 20:44].mean()), -float(np.percentile(near[14:40, 18:46], 10))
        rows.append((at, moved, *opened))
        last = np.asarray(face, np.float32)
    if last is None or not rows:
        return None
    return LipSamples((before.at, before.box), np.array(rows, np.float64), last)


@dataclass(frozen=True, slots=True, eq=False)
class LipSeries:
    """The mouth of a face track: row i of `values` (n, 3) is at (start + i) / 25 s of the source; NaN where it was not measured."""

    start: int
    values: Floats


def series(seen: Sequence[Sighting]) -> LipSeries | None:
    """Return a track's mouth on the grid of 25 a second, None where it was never measured."""
    parts: list[NDArray[np.float64]] = []
    for a, b in pairwise(seen):
        if b.lips is not None and b.lips.before == (a.at, a.box):
            parts.append(b.lips.rows)
    if not parts:
        return None
    rows = np.concatenate(parts)
    first, last = int(-(-rows[0, 0] // STEP)), int(rows[-1, 0] // STEP)
    if last - first < RATE // 2:
        return None
    at = np.arange(first, last + 1) * STEP
    after = np.clip(np.searchsorted(rows[:, 0], at), 1, len(rows) - 1)
    held = rows[after, 0] - rows[after - 1, 0] <= HOLE
    values = np.stack([np.where(held, _between(at, rows[:, 0], rows[:, 1 + c]), np.nan) for c in range(3)], 1)
    return LipSeries(first, values.astype(np.float32))


def _between(at: NDArray[np.int64], times: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    there = np.isfinite(values)
    return np.interp(at, times[there], values[there]) if there.any() else np.full(len(at), np.nan)
