"""When somebody speaks, and where one voice gives way to another. Times are samples of one clip's sound (16 kHz)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.ports import SAMPLE_RATE, Sound

SPEECH_ON, SPEECH_OFF = 0.35, 0.20
"""Silero finds 72 % of a meeting's speech at 0.3 with 99.7 % precision (models.md §2); a stretch goes on while above the lower one."""

FAINT, FAR = 0.05, 0.20
"""Where the segmentation hears somebody go on from speech, so much is enough; where it hears somebody at all, FAR. In the meetings of
calibration the speech found grew from 90 to 104 of 113 s."""

PAUSE = round(0.30 * SAMPLE_RATE)
"""A shorter dip below SPEECH_OFF does not end a stretch of speech: stops and short breaths last up to 0.25 s."""

SHORTEST = round(0.20 * SAMPLE_RATE)
QUIETEST = 10 ** (-60 / 20)
"""Root mean square below which nothing is speech: −60 dB, under the noise of 10-bit sound."""

WINDOW, HOP = round(1.50 * SAMPLE_RATE), round(0.75 * SAMPLE_RATE)
"""Voice windows, as measured in models.md §3: 8.1 % diarization error on simulated talks at cosine 0.50, speaker count right 10 of 10."""

SHORTEST_VOICE = round(0.50 * SAMPLE_RATE)
SAME_VOICE = 0.55
"""Mean cosine above which windows of 1.5 s are one voice. Over 14 recordings (1 to 13 speakers, 18 to 154 s) the share of time given to
the wrong voice was 10.9, 8.5, 6.6 and 9.8 % at 0.45, 0.50, 0.55 and 0.60. Too many voices are mended by matching, too few are not."""

STRAY = 0.35
"""A window that stands alone between two of one voice, and is at least this like it, belongs to it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Speech without a pause: samples [start, end). `sureness`: mean probability of speech, 0–1."""

    start: int
    end: int
    sureness: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One voice speaking: samples [start, end). `voice`: number of its cluster in this clip, −1 where too short to tell."""

    start: int
    end: int
    voice: int


def stretches(sound: Sound, probabilities: Floats, hop: int) -> list[Stretch]:
    """Return where somebody speaks, in time order, by two thresholds; what is quieter than QUIETEST is silence."""
    found: list[Stretch] = []
    start: int | None = None
    last = 0
    for i, p in enumerate(probabilities):
        if start is None:
            if p >= SPEECH_ON:
                start, last = i, i + 1
        elif p >= SPEECH_OFF:
            last = i + 1
        elif (i + 1 - last) * hop >= PAUSE:
            found += _stretch(sound, probabilities, hop, start, last)
            start = None
    if start is not None:
        found += _stretch(sound, probabilities, hop, start, last)
    return found


def faint(sound: Sound, probabilities: Floats, hop: int) -> list[Stretch]:
    """Return where somebody may speak, far away or over noise: all of FAINT or more."""
    found: list[Stretch] = []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (probabilities >= FAINT).astype(np.int8), [0]])))
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        found.append(Stretch(a * hop, min(b * hop, len(sound)), float(np.mean(probabilities[a:b]))))
    return found


def with_faint(sound: Sound, spoken: Sequence[Stretch], heard: Sequence[tuple[int, int]], probabilities: Floats, hop: int) -> list[Stretch]:
    """Return stretches of speech with what a segmentation heard besides (`heard`, samples), where voice activity is enough for that."""
    said = np.zeros(len(probabilities), bool)
    for s in spoken:
        said[s.start // hop : -(-s.end // hop)] = True
    for a, b in heard:
        span = slice(a // hop, -(-b // hop))
        said[span] |= probabilities[span] >= (FAINT if said[span].any() else FAR)
    found: list[Stretch] = []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], said.astype(np.int8), [0]])))
    joined: list[tuple[int, int]] = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if joined and (a - joined[-1][1]) * hop < PAUSE:
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    for a, b in joined:
        found += _stretch(sound, probabilities, hop, a, b)
    return found


def _stretch(sound: Sound, probabilities: Floats, hop: int, first: int, stop: int) -> list[Stretch]:
    start, end = first * hop, min(stop * hop, len(sound))
    loudness = float(np.sqrt(np.mean(np.square(sound[start:end], dtype=np.float64)))) if end > start else 0.0
    if end - start < SHORTEST or loudness < QUIETEST:
        return []
    return [Stretch(start, end, float(np.mean(probabilities[first:stop])))]


def quietest(sound: Sound, low: int, high: int) -> int:
    """Return the middle of the quietest 0.1 s in samples [low, high)."""
    span = SAMPLE_RATE // 10
    piece = np.square(np.asarray(sound[low:high], np.float64))
    if len(piece) <= span:
        return (low + high) // 2
    total = np.concatenate([[0.0], np.cumsum(piece)])
    return low + int(np.argmin(total[span:] - total[:-span])) + span // 2
