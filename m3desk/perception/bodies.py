"""People by their bodies: what they wear and where they go, whether their face can be read or not. Kept among the things in view.

No model beside the object detector: a body's box says where its clothes are and how it moves through the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import cv2
import numpy as np

from m3desk.domain.appearance import clothing_label, going_label
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Box, ObjectSeen
from m3desk.perception.clothing import GRID, plain_colour
from m3desk.perception.objects import Glance, followed
from m3desk.ports import DetectedObject, Picture

LIGHT = 70.0
"""Mean brightness of a picture, 0–255, from which dark clothes are dark by themselves."""

SMALLEST = 20.0
"""Width in pixels of the smallest body whose clothes are read."""

SURE = 0.5
"""Score of a body that is read, and followed."""

LOOKS, OFTEN, RARELY = 2, 0.6, 0.2
"""Looks needed; of all looks those with the same plain colour, at least; those with any other one, at most."""

STEPS = 3
"""Looks needed of somebody who goes somewhere."""

FAR = 0.3
"""Of the picture's width, the way of somebody who goes through it."""

EDGE = 0.03
"""Of the picture's width: a body this near its side is at it."""


def worn_by(picture: Picture, objects: Sequence[DetectedObject]) -> dict[Box, str]:
    """Return the plain colour of what each body in a picture wears between hair and legs, by its box; bodies without one are left out."""
    found: dict[Box, str] = {}
    bright = float(picture[::8, ::8].mean()) >= LIGHT
    for o in objects:
        if o.label == "person" and o.score >= SURE and o.box[2] >= SMALLEST:
            x, y, w, h = (int(v) for v in _torso(o.box))
            part = picture[max(0, y) : y + h, max(0, x) : x + w]
            if part.size and min(part.shape[:2]) >= 6:
                colour = plain_colour(np.asarray(cv2.resize(part, (GRID, GRID), interpolation=cv2.INTER_AREA), np.uint8))
                if colour and (bright or not colour.startswith("dark")):
                    found[o.box] = colour
    return found


def _torso(body: Box) -> Box:
    """Return where the waist and the lower back are: hair hangs to a quarter of a whole body's height, and lower on a half one's."""
    x, y, w, h = body
    hair = 0.28 if h > 2.2 * w else 0.4 if h > 1.5 * w else 0.55
    return x + 0.3 * w, y + hair * h, 0.4 * w, 0.17 * h


def bodies_seen(
    clip: str, glances: Sequence[Glance], worn: Mapping[int, Mapping[Box, str]], cuts: Sequence[int], span: tuple[int, int], width: float
) -> list[ObjectSeen]:
    """Return what bodies wear and where they go, in order of start. `worn`: time of a glance → `worn_by`; `width`: the picture's."""
    found: list[ObjectSeen] = []
    for shot_end, spans in followed(glances, cuts, *span):
        people = [s for s in spans if s.label == "person" and s.best.score >= SURE]
        for person in people:
            colours = [worn.get(at, {}).get(o.box) for at, o in person.seen if o.label == "person"]
            if colour := _worn(colours):
                box = tuple(round(v, 1) for v in _torso(person.best.box))
                share = round(colours.count(colour) / len(colours), 4)
                found.append(ObjectSeen(clip, person.start, person.end, clothing_label(colour), share, box))  # type: ignore[arg-type]
            alone = all(p is person or p.end <= person.start or p.start >= person.end for p in people)
            if alone and (way := _way([(at, o.box) for at, o in person.seen], width, person.end < shot_end - MICROSECOND)):
                box = tuple(round(v, 1) for v in person.best.box)
                found.append(ObjectSeen(clip, person.start, person.end, going_label(way), round(person.best.score, 4), box))  # type: ignore[arg-type]
    return sorted(found, key=lambda o: (o.start, o.label, o.box))


def _worn(colours: Sequence[str | None]) -> str | None:
    """Return the colour that most looks agree on."""
    seen = [c for c in colours if c]
    if len(seen) < LOOKS:
        return None
    best = max(sorted(set(seen)), key=seen.count)
    count = seen.count(best)
    return best if count >= OFTEN * len(colours) and len(seen) - count <= RARELY * len(colours) else None


def _way(boxes: Sequence[tuple[int, Box]], width: float, ends: bool) -> str | None:
    """Return where somebody goes: "out left", "out right" (they end at that side), "left", "right", or None."""
    if len(boxes) < STEPS:
        return None
    middles = [(x + w / 2) / width for _, (x, _, w, _) in boxes]
    way = middles[-1] - middles[0]
    x, _, w, _ = boxes[-1][1]
    if ends and x <= EDGE * width and way < -EDGE:
        return "out left"
    if ends and x + w >= (1 - EDGE) * width and way > EDGE:
        return "out right"
    onwards = sum((b - a) * way > 0 for a, b in pairwise(middles))
    if abs(way) < FAR or onwards < 0.7 * (len(middles) - 1):
        return None
    return "right" if way > 0 else "left"
