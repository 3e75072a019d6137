"""The colour of what people wear: read below each face, and kept as a thing in view ("red clothing") where it is plain and lasts.

No model: a face says where its body is. Colours that skin and wood have (orange, brown) and pale ones are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.appearance import COLOURS, chest_below, clothing_label
from m3desk.domain.evidence import Box, ObjectSeen
from m3desk.ports import Picture

GRID = 24
"""Columns and rows of the reduced patch in which colours are counted."""

SHOWN = 0.4
"""Of the patch below a face, the part that must lie in the picture."""

PLAIN = 0.5
"""Of the patch, the part that must have the colour."""

OFTEN, RARELY = 0.3, 0.25
"""Of the looks at somebody, those with the same plain colour, at least; for each of these, those with any other one, at most."""

LIT = 90.0
"""Mean of the brightest channel of a face, 0–255, from which dark clothes are dark by themselves."""

LOOKS = 4
"""Looks needed, at five a second."""


def colour_below(picture: Picture, face: Box) -> str | None:
    """Return the one plain colour below a face (between the collar and the chest), None where there is none."""
    x, y, w, h = chest_below(face)
    height, width = picture.shape[:2]
    left, right, top, bottom = max(0, int(x)), min(width, int(x + w)), max(0, int(y)), min(height, int(y + h))
    if right <= left or bottom <= top or (right - left) * (bottom - top) < SHOWN * w * h:
        return None
    patch = np.asarray(cv2.resize(picture[top:bottom, left:right], (GRID, GRID), interpolation=cv2.INTER_AREA), np.uint8)
    shares = np.bincount(_named(patch).ravel(), minlength=len(COLOURS) + 1)[1:] / GRID**2
    best = int(shares.argmax())
    if shares[best] < PLAIN or (COLOURS[best] == "dark" and not _lit(picture, face)):
        return None
    return COLOURS[best]


def _lit(picture: Picture, face: Box) -> bool:
    """Return whether light falls on a face: in the dark all clothes are dark."""
    x, y, w, h = (max(0, int(v)) for v in face)
    inner = picture[y + h // 4 : y + h - h // 4, x + w // 4 : x + w - w // 4]
    return inner.size > 0 and float(inner.max(axis=2).mean()) >= LIT


def _named(patch: Picture) -> NDArray[np.int64]:
    """Return for each pixel 1 + the index of its colour in COLOURS, 0 for none of them."""
    hue, saturation, value = cv2.split(cv2.cvtColor(patch, cv2.COLOR_BGR2HSV))
    found = np.zeros(hue.shape, np.int64)
    strong = (saturation >= 100) & (value >= 75)
    for name, low, high in (("yellow", 23, 34), ("green", 35, 84), ("blue", 95, 124), ("purple", 125, 150), ("red", 172, 180)):
        found[strong & (hue >= low) & (hue <= high)] = 1 + COLOURS.index(name)
    found[strong & (hue <= 6)] = 1 + COLOURS.index("red")
    found[value < 75] = 1 + COLOURS.index("dark")
    found[(saturation < 35) & (value >= 190)] = 1 + COLOURS.index("white")
    return found


def clothing_seen(clip: str, looks: Sequence[tuple[int, Box, str | None]]) -> ObjectSeen | None:
    """Return what one face's owner wears, None where it is not plain. `looks`: time, box of the face, colour below it."""
    seen = [c for _, _, c in looks if c]
    if len(looks) < LOOKS or len(seen) < LOOKS:
        return None
    best = max(sorted(set(seen)), key=seen.count)
    share = seen.count(best) / len(looks)
    if share < OFTEN or len(seen) - seen.count(best) > RARELY * seen.count(best):
        return None
    box = next(box for _, box, colour in looks if colour == best)
    x, y, w, h = (round(v, 1) for v in chest_below(box))
    return ObjectSeen(clip, looks[0][0], looks[-1][0], clothing_label(best), round(share, 4), (x, y, w, h))
