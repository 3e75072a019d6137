"""The colour of what people wear: read below each face, and kept as a thing in view ("red clothing") where it is plain and lasts.

No model: a face says where its body is. Colours that skin and wood have (brown, pale orange) and pale ones are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from m3desk.domain.appearance import COLOURS, chest_below, clothing_label
from m3desk.domain.evidence import Box, ObjectSeen
from m3desk.perception.colour_names import colour_indices, lab
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

HAIR = 70.0
"""Brightest channel of dark hair at most, 0–255."""

SCENE_LIT = 50.0
"""Mean of the whole picture, all channels, from which dark clothes are dark: the stages and candle-lit rooms of calibration and of an
animation have 30 to 35."""

WARM = 12.0
"""CIE chroma from which dark clothes of a warm hue have a colour of their own: NBS's blackish ends at a Munsell chroma of 2, about 10."""

HUED = 0.2
"""Of what is dark, the part with a hue at most."""

GREY = (42.0, 66.0)
"""CIE lightness of medium grey, between NBS's dark (36) and light (75) grey with room for light and shade."""

COLOURED = 8.0
"""CIE chroma under which a colour is none; skin has 10 to 35 in a picture with colours."""

SHADE = 6.0
"""By how much grey clothes are darker than the face above them."""

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
    colour = plain_colour(patch)
    if colour is None:
        return "grey" if _grey(patch, _inner(picture, face)) else None
    if not colour.startswith("dark"):
        return colour
    if not _lit(picture, face) or (_beside_neck_dark(picture, face) and plain_colour(patch[:, GRID // 3 : -GRID // 3]) != colour):
        return None
    return colour


def plain_colour(patch: Picture) -> str | None:
    """Return the colour that most of a patch has: of a hue and its dark shade together the more frequent one.

    What is dark in part and of a dark hue in part is neither, in little light each may be taken for the other; nor is what is brownish
    or reddish as a whole.
    """
    counts = np.bincount(colour_indices(patch).ravel(), minlength=len(COLOURS) + 1)[1:] / (patch.shape[0] * patch.shape[1])
    shares = dict(zip(COLOURS, counts.tolist(), strict=True))
    for colour, share in shares.items():
        dark = f"dark {colour}"
        if share + shares.get(dark, 0.0) >= PLAIN and not colour.startswith("dark"):
            return dark if shares.get(dark, 0.0) > share else colour
    hues = sum(share for colour, share in shares.items() if colour.startswith("dark "))
    _, red, yellow = lab(patch).reshape(-1, 3).mean(axis=0)
    warm = yellow > 0 and float(np.hypot(red, yellow)) >= WARM
    return "dark" if shares["dark"] >= PLAIN and hues < HUED * shares["dark"] and not warm else None


def _inner(picture: Picture, face: Box) -> Picture:
    x, y, w, h = (max(0, int(v)) for v in face)
    return picture[y + h // 4 : y + h - h // 4, x + w // 4 : x + w - w // 4]


def _lit(picture: Picture, face: Box) -> bool:
    """Return whether light falls on a face, and on the scene: in the dark all clothes are dark."""
    inner = _inner(picture, face)
    return inner.size > 0 and float(inner.max(axis=2).mean()) >= LIT and float(picture[::8, ::8].mean()) >= SCENE_LIT


def _beside_neck_dark(picture: Picture, face: Box) -> bool:
    """Return whether it is dark on both sides of a neck: there long hair may hang, over the chest, too."""
    x, y, w, h = face
    top, bottom = int(max(0, y + 0.7 * h)), int(y + 1.3 * h)
    for left, right in ((x - 0.35 * w, x - 0.05 * w), (x + 1.05 * w, x + 1.35 * w)):
        side = picture[top:bottom, int(max(0, left)) : int(max(0, right))]
        if not side.size or float(np.median(side.max(axis=2))) > HAIR:
            return False
    return True


def _grey(patch: Picture, inner: Picture) -> bool:
    """Return whether a patch is grey: without hue, of middle lightness, and darker than the face, where the picture has colours.

    White in the shade has the same values; but white is lighter than any skin in the same light.
    """
    if not inner.size:
        return False
    face = np.median(lab(inner).reshape(-1, 3), axis=0)
    skin = float(np.hypot(face[1], face[2]))
    if skin < COLOURED or face[0] < GREY[0]:
        return False
    lightness, hue = lab(patch)[..., 0], np.hypot(*np.moveaxis(lab(patch)[..., 1:], -1, 0))
    grey = (hue < COLOURED) & (lightness >= GREY[0]) & (lightness <= min(GREY[1], face[0] - SHADE))
    return float(grey.mean()) >= PLAIN


def clothing_seen(clip: str, looks: Sequence[tuple[int, Box, str | None]]) -> ObjectSeen | None:
    """Return what one face's owner wears, None where it is not plain. `looks`: time, box of the face, colour below it."""
    seen = _one_shade([c for _, _, c in looks if c])
    if len(looks) < LOOKS or len(seen) < LOOKS:
        return None
    best = max(sorted(set(seen)), key=seen.count)
    share = seen.count(best) / len(looks)
    if share < OFTEN or len(seen) - seen.count(best) > RARELY * seen.count(best):
        return None
    box = next(box for _, box, colour in looks if colour and best in (colour, colour.removeprefix("dark ")))
    x, y, w, h = (round(v, 1) for v in chest_below(box))
    return ObjectSeen(clip, looks[0][0], looks[-1][0], clothing_label(best), round(share, 4), (x, y, w, h))


def _one_shade(colours: Sequence[str]) -> list[str]:
    """Return the colours, those of one hue all as its more frequent shade: light falls otherwise on what is worn from look to look."""
    shade = {}
    for colour in set(colours):
        hue = colour.removeprefix("dark ")
        shade[colour] = f"dark {hue}" if colours.count(f"dark {hue}") > colours.count(hue) else hue
    return [shade[c] for c in colours]
