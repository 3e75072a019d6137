"""Computes the embeddings of a face crop and of a piece of speech: one function each, used everywhere.

Perception, re-embedding with another model, search by picture or sound, enrolment and the proof of forgetting
compare these embeddings, with thresholds that were measured on them (`domain/calibration.py`).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from m3desk.calibrated import calibrated
from m3desk.domain.evidence import Floats
from m3desk.ports import SAMPLE_RATE, DetectedFace, FaceEmbedder, Picture, Sound, VoiceEmbedder

EMBEDDABLE = round(1.00 * SAMPLE_RATE)
"""Minimum samples of speech for a voice embedding."""

SCRAP = round(0.50 * SAMPLE_RATE)
"""The minimum for re-embedding an utterance that has an embedding: memories of older versions gave a voice's longest one that of all."""

WINDOW = round(3.0 * SAMPLE_RATE)
LONGEST = round(8.0 * SAMPLE_RATE)
MOST = 4
"""Windows of speech: as many of 3 s or longer as fit, up to 4; at most 8 s of each are embedded."""

AROUND = round(0.10 * SAMPLE_RATE)
"""Samples stored before and after an utterance in its snippet, if the clip's sound has them."""


def face_row(crop: Picture, landmarks: Floats, score: float, embedder: FaceEmbedder) -> Floats:
    """Return the (d,) unit vector of a face. `crop`: the face with its margin, as it is stored; `landmarks`: (5, 2) pixels of the crop."""
    low, size = landmarks.min(0), np.ptp(landmarks, 0)
    box = (float(low[0]), float(low[1]), float(size[0]), float(size[1]))
    return np.asarray(embedder.embed(crop, [DetectedFace(box, score, landmarks)])[0], np.float32)


def voice_rows(said: Sound, embedder: VoiceEmbedder, *, least: int = EMBEDDABLE) -> Floats | None:
    """Return (n, d) unit embeddings of one voice: of the first 8 s, then of windows of 3 s or more if there are two.

    None if it is shorter than `least` samples.
    """
    if len(said) < max(1, least):
        return None
    parts = [said[:LONGEST]]
    count = min(MOST, len(said) // WINDOW)
    if count >= 2:
        edges = np.linspace(0, len(said), count + 1).astype(int)
        parts += [said[a:b][:LONGEST] for a, b in pairwise(edges.tolist())]
    return np.asarray(embedder.embed(parts), np.float32)


def within(rows: Floats, model: str) -> Floats:
    """Return (n, d) unit rows of a voice model in the space of its statistics; unchanged for a model without any.

    The mean of voices is subtracted, and directions in which embeddings of one person vary count less. Not to be compared alone across
    recordings: a change of microphone can separate a person from themselves there. Raises ModelMissing.
    """
    space = calibrated(model, "voice").space
    return rows if space is None or not len(rows) else space.moved(rows)


def utterance_in(snippet: Sound, length: int) -> Sound:
    """Return an utterance of `length` microseconds without the margins of its snippet."""
    spare = min(AROUND, max(0, len(snippet) - length * SAMPLE_RATE // 1_000_000) // 2)
    return snippet[spare : len(snippet) - spare]
