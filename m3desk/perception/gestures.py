"""Raised hands: skin of a face's own colour that appears beside or above it for a moment. Kept as a thing in view ("raised hand").

No model. On `webrtc_two_men`, whose truth was written by eye first, and all other calibration films of `bench telling` this found each
hand raised to the head for a second or more (7 times), and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import cv2
import numpy as np

from m3desk.domain.appearance import RAISED_HAND, beside_head
from m3desk.domain.evidence import Box, ObjectSeen
from m3desk.ports import Picture

SMALLEST = 20.0
"""Width of a face in pixels under which its owner's hand is too small."""

HAND = 0.2
"""Skin beside a head from which it is a hand, as a share of the face's box."""

CLEAR = 0.05
"""The same at most in the median of all looks: where something of skin's colour is always there, a hand can't be told from it."""

LOOKS = 3
"""Looks with a hand, each at most GAP after the one before."""

GAP = 1_300_000
"""Microseconds for which a hand that waves may be out of sight or blurred."""

LEAST, LONGEST = 600_000, 12_000_000
"""Microseconds: a shorter one is a moment of blur, what stays longer is no gesture."""

Beside = tuple[float | None, float | None]
"""Skin left and right of a head, as shares of the face's box; None where too little of that side is in the picture."""


def skin_beside(picture: Picture, face: Box) -> Beside:
    """Return how much of a face's own colour is seen beside it."""
    x, y, w, h = face
    if w < SMALLEST:
        return None, None
    inner = picture[int(max(0, y + 0.35 * h)) : int(y + 0.75 * h), int(max(0, x + 0.25 * w)) : int(x + 0.75 * w)]
    if not inner.size:
        return None, None
    light, red, blue = np.median(cv2.cvtColor(inner, cv2.COLOR_BGR2YCrCb).reshape(-1, 3), axis=0)
    left, right = (_share(picture, side, (w, h), (float(light), float(red), float(blue))) for side in beside_head(face))
    return left, right


def _share(picture: Picture, side: Box, face: tuple[float, float], colour: tuple[float, float, float]) -> float | None:
    height, width = picture.shape[:2]
    left, top = int(max(0, side[0])), int(max(0, side[1]))
    right, bottom = int(min(width, side[0] + side[2])), int(min(height, side[1] + side[3]))
    if right - left < 0.5 * face[0] or bottom - top < 0.5 * face[1]:
        return None
    step = max(1, int(face[0] / 24))
    part = np.ascontiguousarray(picture[top:bottom:step, left:right:step])
    pixels = cv2.cvtColor(part, cv2.COLOR_BGR2YCrCb).astype(np.int16)
    alike = (np.abs(pixels[..., 1] - colour[1]) < 9) & (np.abs(pixels[..., 2] - colour[2]) < 9) & (np.abs(pixels[..., 0] - colour[0]) < 70)
    skin = alike & (pixels[..., 1] > 135)
    return round(float(np.count_nonzero(skin)) * step * step / (face[0] * face[1]), 3)


def hands_raised(clip: str, looks: Sequence[tuple[int, Box, Beside]], others: Mapping[int, Sequence[Box]]) -> list[ObjectSeen]:
    """Return when a face's owner raises a hand, in time order. `others`: time → boxes of all faces then; one beside is no hand."""
    seen: list[tuple[int, float, Box]] = []
    for side in (0, 1):
        values = [(at, share, beside_head(box)[side]) for at, box, beside in looks if (share := beside[side]) is not None]
        if values and float(np.median([share for _, share, _ in values])) <= CLEAR:
            seen += [(at, share, place) for at, share, place in values if share >= HAND and not _another(place, others.get(at, ()))]
    seen.sort()
    found = []
    for run in _runs(seen):
        times = sorted({at for at, _, _ in run})
        if len(times) >= LOOKS and LEAST <= times[-1] - times[0] <= LONGEST:
            first = run[0]
            x, y, w, h = (round(v, 1) for v in first[2])
            score = round(min(1.0, max(share for _, share, _ in run)), 4)
            found.append(ObjectSeen(clip, times[0], times[-1], RAISED_HAND, score, (x, y, w, h)))
    return found


def _runs(seen: Sequence[tuple[int, float, Box]]) -> Iterable[list[tuple[int, float, Box]]]:
    """Yield the sightings of a hand that follow each other within GAP."""
    number, numbered = 0, []
    for i, one in enumerate(seen):
        number += i > 0 and one[0] - seen[i - 1][0] > GAP
        numbered.append((number, one))
    for _, run in groupby(numbered, key=lambda n: n[0]):
        yield [one for _, one in run]


def _another(place: Box, faces: Sequence[Box]) -> bool:
    """Return whether another face is in the place where a hand is looked for."""
    return any(x < place[0] + place[2] and x + w > place[0] and y < place[1] + place[3] and y + h > place[1] for x, y, w, h in faces)
