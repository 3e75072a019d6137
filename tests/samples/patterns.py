"""Photos of invented people, each a pattern of 8 × 8 grey fields, and models that tell them apart by it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from m3desk.ports import DetectedFace

SIDE, EDGE = 128, 40


def photo(person: int, number: int, faces: int = 1) -> Any:
    """Return a picture of a person; the top left corner says how many faces are there, for `Corner`."""
    random = np.random.default_rng([person, number])
    fields = np.random.default_rng(person).normal(size=(8, 8)) + 0.8 * random.normal(size=(8, 8))
    face = cv2.resize(fields, (SIDE, SIDE), interpolation=cv2.INTER_NEAREST) * 25 + 128
    picture = np.full((SIDE + 2 * EDGE, SIDE + 2 * EDGE, 3), 128, np.uint8)
    picture[EDGE:-EDGE, EDGE:-EDGE] = np.clip(face, 0, 255)[..., None]
    picture[:8, :8] = 40 * faces
    return picture


def folder_of(place: Path, people: int, photos: int) -> Path:
    """Write photos, a folder for each person; further ones without a face, with two, and what is none."""
    for person in range(people):
        one = place / f"Secret Name {person}"
        one.mkdir(parents=True)
        for number in range(photos):
            cv2.imwrite(str(one / f"{number}.png"), photo(person, number))
    cv2.imwrite(str(one / "two.png"), photo(0, 0, faces=2))
    cv2.imwrite(str(one / "none.png"), photo(0, 0, faces=0))
    (one / "notes.txt").write_text("no picture")
    (place / ".hidden").mkdir()
    return place


class Corner:
    """Finds as many faces as the corner of a picture says, all at one place."""

    name = "corner"

    def detect(self, picture: Any) -> list[DetectedFace]:
        count = round(int(picture[1, 1, 0]) / 40)
        scale = picture.shape[0] / (SIDE + 2 * EDGE)
        marks = np.array([[0, 0], [SIDE, 0], [SIDE / 2, SIDE / 2], [0, SIDE], [SIDE, SIDE]], np.float32) + EDGE
        box = (EDGE * scale, EDGE * scale, SIDE * scale, SIDE * scale)
        return [DetectedFace(box, 0.9, np.asarray(marks * scale, np.float32)) for _ in range(count)]


class Fields:
    """Face vectors: the fields of the face; `by`: moved into one direction, so that strangers lie closer together."""

    dimension = 64

    def __init__(self, name: str, by: float = 0.0) -> None:
        self.name, self.by = name, by
        self.direction = np.full(64, 1 / 8)

    def embed(self, picture: Any, faces: Sequence[DetectedFace]) -> Any:
        rows = []
        for face in faces:
            (x, y), (right, bottom) = face.landmarks.min(0).round().astype(int), face.landmarks.max(0).round().astype(int)
            part = cv2.resize(picture[max(0, y) : bottom, max(0, x) : right, 0].astype(np.float32), (8, 8), interpolation=cv2.INTER_AREA)
            row = (part - part.mean()).reshape(-1)
            row = row / max(1e-6, float(np.linalg.norm(row))) + self.by * self.direction
            rows.append(row / np.linalg.norm(row))
        return np.array(rows, np.float32).reshape(-1, 64)
