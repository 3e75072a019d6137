"""Finds segments of speech, also faint ones. Times are samples of one clip's sound (16 kHz)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.ports import SAMPLE_RATE, Sound

SPEECH_ON, SPEECH_OFF = 0.35, 0.20
"""Silero finds 72 % of a meeting's speech at 0.3 with 99.7 % precision (models.md §2); a segment starts above the first
probability and continues while above the second."""

FAINT, FAR = 0.05, 0.20
"""Speech probability that is enough where the segmentation model finds that somebody goes on speaking; FAR: where it finds anybody at all.
In the meetings of calibration the speech found grew from 90 to 104 of 113 s."""

PAUSE = round(0.30 * SAMPLE_RATE)
"""A shorter gap below SPEECH_OFF does not end a segment: plosives and short breaths last up to 0.25 s."""

SHORTEST = round(0.20 * SAMPLE_RATE)
QUIETEST = 10 ** (-60 / 20)
"""Root mean square below which nothing counts as speech: −60 dB, below the noise of 10-bit sound."""

WINDOW, HOP = round(1.50 * SAMPLE_RATE), round(0.75 * SAMPLE_RATE)
"""Voice windows, as measured in models.md §3: 8.1 % diarization error on simulated talks at cosine 0.50, speaker count right 10 of 10."""

SHORTEST_VOICE = round(0.50 * SAMPLE_RATE)


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """Speech without a pause: samples [start, end). `sureness`: mean probability of speech, 0–1."""

    start: int
    end: int
    sureness: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Speech of one voice: samples [start, end). `voice`: number of its cluster in this clip, −1 without a model of voices."""

    start: int
    end: int
    voice: int


def speech_segments(sound: Sound, probabilities: Floats, hop: int) -> list[SpeechSegment]:
    """Return the segments of speech, in time order, by two thresholds; sound quieter than QUIETEST is silence."""
    found: list[SpeechSegment] = []
    start: int | None = None
    last = 0
    for i, p in enumerate(probabilities):
        if start is None:
            if p >= SPEECH_ON:
                start, last = i, i + 1
        elif p >= SPEECH_OFF:
            last = i + 1
        elif (i + 1 - last) * hop >= PAUSE:
            found += _segment(sound, probabilities, hop, start, last)
            start = None
    if start is not None:
        found += _segment(sound, probabilities, hop, start, last)
    return found


def faint(sound: Sound, probabilities: Floats, hop: int) -> list[SpeechSegment]:
    """Return the segments with a probability of FAINT or more: somebody may speak there, far away or in noise."""
    found: list[SpeechSegment] = []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (probabilities >= FAINT).astype(np.int8), [0]])))
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        found.append(SpeechSegment(a * hop, min(b * hop, len(sound)), float(np.mean(probabilities[a:b]))))
    return found


def with_faint(
    sound: Sound, spoken: Sequence[SpeechSegment], heard: Sequence[tuple[int, int]], probabilities: Floats, hop: int
) -> list[SpeechSegment]:
    """Return segments of speech, and where a lower probability is enough: where a segmentation model found speech (`heard`, samples)."""
    said = np.zeros(len(probabilities), bool)
    for s in spoken:
        said[s.start // hop : -(-s.end // hop)] = True
    for a, b in heard:
        span = slice(a // hop, -(-b // hop))
        said[span] |= probabilities[span] >= (FAINT if said[span].any() else FAR)
    found: list[SpeechSegment] = []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], said.astype(np.int8), [0]])))
    joined: list[tuple[int, int]] = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if joined and (a - joined[-1][1]) * hop < PAUSE:
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    for a, b in joined:
        found += _segment(sound, probabilities, hop, a, b)
    return found


def _segment(sound: Sound, probabilities: Floats, hop: int, first: int, stop: int) -> list[SpeechSegment]:
    start, end = first * hop, min(stop * hop, len(sound))
    loudness = float(np.sqrt(np.mean(np.square(sound[start:end], dtype=np.float64)))) if end > start else 0.0
    if end - start < SHORTEST or loudness < QUIETEST:
        return []
    return [SpeechSegment(start, end, float(np.mean(probabilities[first:stop])))]


def quietest(sound: Sound, low: int, high: int) -> int:
    """Return the middle of the quietest 0.1 s in samples [low, high)."""
    span = SAMPLE_RATE // 10
    piece = np.square(np.asarray(sound[low:high], np.float64))
    if len(piece) <= span:
        return (low + high) // 2
    total = np.concatenate([[0.0], np.cumsum(piece)])
    return low + int(np.argmin(total[span:] - total[:-span])) + span // 2
