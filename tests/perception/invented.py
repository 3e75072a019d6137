"""A clip of drawn pictures, and models that find coloured squares in it: for testing what is done with faces, not how they are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import Floats
from m3desk.ports import DetectedFace, DetectedObject, Frame, Picture, ReadText, Sound

STEP = 200_000

PEOPLE = {"ann": (40, 40, 220), "bob": (220, 60, 40), "cy": (40, 200, 60)}
"""Colours (BGR) that stand for persons."""

Square = tuple[str, int, int, int]
"""Person, left, top, side."""


def draw(squares: Sequence[Square], background: int = 90, size: tuple[int, int] = (240, 320)) -> Picture:
    """Return a grey picture with a square a person; a darker mouth and eyes make it sharp."""
    picture = np.full((*size, 3), background, np.uint8)
    for person, x, y, side in squares:
        picture[y : y + side, x : x + side] = PEOPLE[person]
        picture[y + side // 3 : y + side // 3 + 3, x + side // 5 : x + side - side // 5] = 0
    return picture


@dataclass
class DrawnClip:
    """Answers ports.ClipMedia."""

    pictures: list[Picture]
    clip: Clip = field(default_factory=lambda: Clip("s1.c2", "s1", 2, 60_000_000, 90_000_000))
    source: Source = field(default_factory=lambda: Source("s1", "drawn", 90_000_000, 320, 240, 5.0, False, None))
    path: str = "drawn"
    problems: tuple[str, ...] = ()
    unreadable: str | None = None

    def frames(self) -> Iterator[Frame]:
        for i, p in enumerate(self.pictures):
            yield Frame(self.clip.start + i * STEP, p)

    def sound(self) -> Sound:
        return np.zeros(0, np.float32)


class SquareDetector:
    name = "squares"

    def __init__(self, score: float = 0.95) -> None:
        self.score = score
        self.calls = 0

    def detect(self, picture: Picture) -> list[DetectedFace]:
        self.calls += 1
        found = []
        for colour in PEOPLE.values():
            mask = (np.abs(picture.astype(int) - colour) < 12).all(2)
            if not mask.any():
                continue
            ys, xs = np.nonzero(mask)
            x, y, w, h = float(xs.min()), float(ys.min()), float(np.ptp(xs) + 1), float(np.ptp(ys) + 1)
            marks = np.array([[0.3, 0.35], [0.7, 0.35], [0.5, 0.55], [0.35, 0.75], [0.65, 0.75]], np.float32) * (w, h) + (x, y)
            found.append(DetectedFace((x, y, w, h), self.score, np.asarray(marks, np.float32)))
        return found


class ColourEmbedder:
    """Gives each person's colour a direction of its own."""

    name = "colours"
    dimension = 3

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, picture: Picture, faces: Sequence[DetectedFace]) -> Floats:
        rows = np.zeros((len(faces), 3), np.float32)
        for i, face in enumerate(faces):
            self.calls += 1
            x, y = face.landmarks[2]
            colour = picture[int(y), int(x)].astype(int)
            nearest = min(range(len(PEOPLE)), key=lambda k: int(np.abs(colour - list(PEOPLE.values())[k]).sum()))
            rows[i, nearest] = 1
        return rows


class LaptopEverywhere:
    """Sees a laptop in the corner of each whole picture; a part of one shows none."""

    name = "laptop everywhere"

    def detect(self, picture: Picture) -> list[DetectedObject]:
        return [DetectedObject("laptop", 0.9, (10.0, 10.0, 40.0, 30.0))] if picture.shape[:2] == draw([]).shape[:2] else []


class CaptionReader:
    """Reads "Host ANN LEE" where the lowest rows are white."""

    name = "caption"

    def read(self, picture: Picture) -> list[ReadText]:
        return [ReadText("Host ANN LEE", 0.97, (40.0, 210.0, 200.0, 20.0))] if picture[212:228, 40:240].mean() > 150 else []
