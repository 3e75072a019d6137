"""The faces of one picture: detects them, cuts out crops, rates their quality, and computes embeddings and mouth movement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.evidence import Box, Floats
from m3desk.domain.geometry import similarity_transform
from m3desk.perception.clothing import colour_below
from m3desk.perception.embedding import face_row
from m3desk.perception.gestures import Beside, skin_beside
from m3desk.perception.scenes import shrink
from m3desk.ports import DetectedFace, FaceDetector, FaceEmbedder, Picture

if TYPE_CHECKING:
    from m3desk.perception.lips import LipSamples

SIDE = 960
"""Longest side of the picture that faces are detected in: a face of 18 pixels in 1280 × 720 has 13 pixels there."""

NEAR = 320
"""The same for a second try if there was no face: a face larger than about 300 pixels is found only in a smaller picture."""

SMALLEST = 12.0
"""Narrowest face that is followed, in pixels of the frame."""

CROP = 288
"""Longest side of a stored crop, pixels; a face with margin is then 144, more than an embedding model's 112."""

MOUTH = np.array([[18.0, 20.0], [46.0, 20.0], [32.0, 34.0], [22.0, 48.0], [42.0, 48.0]], np.float32)
"""The five landmarks in the 64 × 64 grey face in which mouth movement is measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """One face in one picture. `frame`: number of the picture in the clip; `box`, `landmarks`: pixels of the frame.

    `crop`: the face with half its size around it, at most CROP pixels; `marks`: (5, 2) landmarks in the crop's pixels.
    `quality`: how useful for recognition, 0–1; `steady`: (64, 64) grey face, turned upright, for lip movement. `wears`: the plain colour
    below the face, if there is one; `beside`: skin beside it (`gestures`). `lips`: its mouth since the look before, if measured.
    """

    frame: int
    at: int
    box: Box
    score: float
    landmarks: Floats
    crop: Picture
    marks: Floats
    quality: float
    steady: NDArray[np.uint8]
    wears: str | None = None
    beside: Beside = (None, None)
    lips: LipSamples | None = None

    @property
    def size(self) -> float:
        return math.sqrt(self.box[2] * self.box[3])

    @property
    def centre(self) -> tuple[float, float]:
        return self.box[0] + self.box[2] / 2, self.box[1] + self.box[3] / 2


def sightings(detector: FaceDetector, picture: Picture, frame: int, at: int, sides: tuple[int, int] = (SIDE, NEAR)) -> list[Sighting]:
    """Find the faces of a picture, best first. `sides`: longest side that faces are looked for in, and the same where nothing was found."""
    found: list[DetectedFace] = []
    longest = max(picture.shape[:2])
    for side in sides if longest > sides[1] else sides[:1]:
        smaller, scale = shrink(picture, side)
        found = [_scaled(f, 1 / scale) for f in detector.detect(smaller)]
        if found:
            break
    return [_sighting(picture, f, frame, at) for f in found if min(f.box[2], f.box[3]) >= SMALLEST and _plausible(f)]


def _scaled(face: DetectedFace, by: float) -> DetectedFace:
    x, y, w, h = face.box
    return DetectedFace((x * by, y * by, w * by, h * by), face.score, np.asarray(face.landmarks * by, np.float32))


def _plausible(face: DetectedFace) -> bool:
    """Return whether the landmarks form a face: taller than wide or nearly so, eyes above the mouth, all near the box."""
    x, y, w, h = face.box
    eyes, mouth = face.landmarks[:2].mean(0), face.landmarks[3:].mean(0)
    inside = (face.landmarks >= (x - 0.25 * w, y - 0.25 * h)).all() and (face.landmarks <= (x + 1.25 * w, y + 1.25 * h)).all()
    return bool(inside) and 0.7 < h / max(w, 1e-6) < 2.4 and float(np.hypot(*(mouth - eyes))) > 0.2 * h


def _sighting(picture: Picture, face: DetectedFace, frame: int, at: int) -> Sighting:
    crop, marks = cut_out(picture, face)
    steady = np.asarray(cv2.cvtColor(cv2.warpAffine(crop, upright(marks), (64, 64)), cv2.COLOR_BGR2GRAY), np.uint8)
    height, width = picture.shape[:2]
    x, y = max(0.0, face.box[0]), max(0.0, face.box[1])
    box = (x, y, min(width, face.box[0] + face.box[2]) - x, min(height, face.box[1] + face.box[3]) - y)
    return Sighting(
        frame,
        at,
        box,
        face.score,
        face.landmarks,
        crop,
        marks,
        quality(face, steady),
        steady,
        colour_below(picture, box),
        skin_beside(picture, box),
    )


def cut_out(picture: Picture, face: DetectedFace) -> tuple[Picture, Floats]:
    """Return the face with a margin of half its size (as far as the picture goes), and its landmarks there."""
    height, width = picture.shape[:2]
    x, y, w, h = face.box
    left, top = max(0, int(x - w / 2)), max(0, int(y - h / 2))
    right, bottom = max(left + 1, min(width, int(x + 1.5 * w) + 1)), max(top + 1, min(height, int(y + 1.5 * h) + 1))
    crop, scale = shrink(picture[top:bottom, left:right], CROP)
    return np.ascontiguousarray(crop), np.asarray((face.landmarks - (left, top)) * scale, np.float32)


def upright(marks: Floats) -> Any:
    """Return the (2, 3) transform that brings landmarks to MOUTH."""
    return similarity_transform(marks, MOUTH)


def quality(face: DetectedFace, steady: NDArray[np.uint8]) -> float:
    """Return how useful a face is for recognition, 0–1: the product of its size, sharpness, frontality, contrast and the detector's score.

    Size counts up to 80 pixels (a recogniser's input shows a face of that width); sharpness is the spread of the Laplacian against
    that of the picture; frontality is how central the nose lies between the eyes and how far these are apart; contrast counts up to
    24 of 255 (a face in daylight has 40, one in the dark 8).
    """
    size = min(1.0, (face.box[2] * face.box[3]) ** 0.5 / 80)
    eyes, mouth = face.landmarks[:2], face.landmarks[3:]
    span = float(np.hypot(*(eyes[1] - eyes[0]))) or 1e-6
    along = (eyes[1] - eyes[0]) / span
    offset = abs(float((face.landmarks[2] - (eyes.mean(0) + mouth.mean(0)) / 2) @ along)) / span
    front = max(0.1, 1 - 1.6 * offset) * min(1.0, span / (0.38 * max(face.box[2], 1e-6)))
    edges = float(cv2.Laplacian(steady, cv2.CV_32F).std())
    sharp = min(1.0, edges / (0.35 * float(steady.std()) + 4))
    light = min(1.0, float(steady.std()) / 24)
    return round(float(size**0.7 * front * (0.4 + 0.6 * sharp) * light * min(1.0, face.score / 0.9)), 4)


def vector(embedder: FaceEmbedder, seen: Sighting) -> Floats:
    """Return the (d,) unit vector of a sighting, made from its crop, so that the stored crop can be embedded again."""
    return face_row(seen.crop, seen.marks, seen.score, embedder)


def faces_of(picture: Picture, detector: FaceDetector, embedder: FaceEmbedder) -> list[tuple[Sighting, Floats]]:
    """Return the faces of a photo with their (d,) unit vectors, left to right, for a search by picture."""
    found = sorted(sightings(detector, picture, 0, 0), key=lambda s: s.box)
    return [(s, vector(embedder, s)) for s in found]


def lip_movement(track: Sequence[Sighting]) -> tuple[float, ...]:
    """Return one value per sighting: the mouth's change since the previous one minus that of the eyes, in units of contrast.

    What moves the whole face (a turn, a jump of the landmarks) moves the eyes too and is taken off. 0 at the first and after gaps.
    """
    values = [0.0]
    for a, b in pairwise(track):
        if b.frame - a.frame > 1:
            values.append(0.0)
            continue
        one, other = a.steady.astype(np.float32), b.steady.astype(np.float32)
        spread = float(one.std() + other.std()) / 2 + 4
        step = np.abs(one / max(float(one.mean()), 1) - other / max(float(other.mean()), 1)) * float(other.mean())
        mouth, eyes = float(step[40:60, 16:48].mean()), float(step[12:30, 10:54].mean())
        values.append(round(max(0.0, mouth - 0.8 * eyes) / spread, 4))
    return tuple(values)
