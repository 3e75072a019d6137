"""Finds segments of speech and cuts them where the speaker changes. Times are samples of one clip's sound (16 kHz)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.linkage import average_linkage
from m3desk.ports import SAMPLE_RATE, Sound, VoiceEmbedder

SPEECH_ON, SPEECH_OFF = 0.35, 0.20
"""Silero finds 72 % of a meeting's speech at 0.3 with 99.7 % precision (models.md §2); a segment starts above the first
probability and continues while above the second."""

PAUSE = round(0.30 * SAMPLE_RATE)
"""A shorter gap below SPEECH_OFF does not end a segment: plosives and short breaths last up to 0.25 s."""

SHORTEST = round(0.20 * SAMPLE_RATE)
QUIETEST = 10 ** (-60 / 20)
"""Root mean square below which nothing counts as speech: −60 dB, below the noise of 10-bit sound."""

WINDOW, HOP = round(1.50 * SAMPLE_RATE), round(0.75 * SAMPLE_RATE)
"""Voice windows, as measured in models.md §3: 8.1 % diarization error on simulated talks at cosine 0.50, speaker count right 10 of 10."""

SHORTEST_VOICE = round(0.50 * SAMPLE_RATE)
SAME_VOICE = 0.55
"""Mean cosine above which windows of 1.5 s are one voice. In 14 recordings (1 to 13 speakers, 18 to 154 s) the share of time assigned to
the wrong voice was 10.9, 8.5, 6.6 and 9.8 % at 0.45, 0.50, 0.55 and 0.60. Too many voices are corrected by binding, too few are not."""

STRAY = 0.35
"""A single window between two windows of one voice belongs to that voice if its mean cosine to it is at least this."""


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """Speech without a pause: samples [start, end). `sureness`: mean probability of speech, 0–1."""

    start: int
    end: int
    sureness: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Speech of one voice: samples [start, end). `voice`: number of its cluster in this clip, −1 = too short to decide."""

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


def _segment(sound: Sound, probabilities: Floats, hop: int, first: int, stop: int) -> list[SpeechSegment]:
    start, end = first * hop, min(stop * hop, len(sound))
    loudness = float(np.sqrt(np.mean(np.square(sound[start:end], dtype=np.float64)))) if end > start else 0.0
    if end - start < SHORTEST or loudness < QUIETEST:
        return []
    return [SpeechSegment(start, end, float(np.mean(probabilities[first:stop])))]


def turns(sound: Sound, spoken: Sequence[SpeechSegment], voices: VoiceEmbedder | None) -> list[Turn]:
    """Cut speech segments where the voice changes; turns come in time order and fill the segments exactly."""
    if voices is None:
        return [Turn(s.start, s.end, -1) for s in spoken]
    windows = [_windows(s) for s in spoken]
    flat = [w for group in windows for w in group]
    if not flat:
        return [Turn(s.start, s.end, -1) for s in spoken]
    vectors = voices.embed([sound[a:b] for a, b in flat])
    labels = _voices(vectors, [b - a for a, b in flat])
    result: list[Turn] = []
    at = 0
    for segment, group in zip(spoken, windows, strict=True):
        mine = _smooth(labels[at : at + len(group)], vectors[at : at + len(group)], vectors, labels)
        at += len(group)
        result += _cut(sound, segment, group, mine)
    return result


def _windows(segment: SpeechSegment) -> list[tuple[int, int]]:
    """Return windows of 1.5 s every 0.75 s, the last one flush with the end; one shorter window for shorter speech; none below 0.5 s."""
    length = segment.end - segment.start
    if length < SHORTEST_VOICE:
        return []
    if length <= WINDOW:
        return [(segment.start, segment.end)]
    starts = list(range(segment.start, segment.end - WINDOW, HOP))
    if segment.end - WINDOW - starts[-1] > HOP // 3:
        starts.append(segment.end - WINDOW)
    return [(s, s + WINDOW) for s in starts]


def _voices(vectors: Floats, lengths: Sequence[int]) -> list[int]:
    """Cluster windows: the long ones by average linkage; each shorter one joins the most similar voice, or starts a new one."""
    whole = [i for i, n in enumerate(lengths) if n >= WINDOW * 2 // 3]
    labels = [-1] * len(lengths)
    if whole:
        for i, k in zip(whole, average_linkage(vectors[whole] @ vectors[whole].T, SAME_VOICE).tolist(), strict=True):
            labels[i] = k
    for i in range(len(lengths)):
        if labels[i] < 0:
            means = {
                k: float(np.mean(vectors[[j for j in range(len(labels)) if labels[j] == k]] @ vectors[i]))
                for k in sorted(set(labels) - {-1})
            }
            best = max(means, key=lambda k: means[k], default=-1)
            labels[i] = best if means and means[best] >= STRAY else max(labels) + 1
    return labels


def _smooth(mine: list[int], rows: Floats, vectors: Floats, labels: Sequence[int]) -> list[int]:
    """Assign a single window between two windows of one voice to that voice, unless it is clearly another."""
    result = list(mine)
    for i in range(1, len(mine) - 1):
        around = result[i - 1]
        if mine[i] != around and mine[i + 1] == around:
            theirs = vectors[[j for j, k in enumerate(labels) if k == around]]
            if float(np.mean(theirs @ rows[i])) >= STRAY:
                result[i] = around
    return result


def _cut(sound: Sound, segment: SpeechSegment, windows: Sequence[tuple[int, int]], labels: Sequence[int]) -> list[Turn]:
    """Cut a segment between windows of different voices, at the quietest moment of their overlap."""
    if not windows:
        return [Turn(segment.start, segment.end, -1)]
    found: list[Turn] = []
    start = segment.start
    for i in range(len(windows) - 1):
        if labels[i] != labels[i + 1]:
            # The first window is mostly one voice and the second mostly the other: the change lies where they overlap.
            low, high = max(windows[i + 1][0], start + SHORTEST), windows[i][1]
            cut = quietest(sound, low, high) if high > low else windows[i + 1][0]
            found.append(Turn(start, cut, labels[i]))
            start = cut
    found.append(Turn(start, segment.end, labels[-1]))
    return [t for t in found if t.end > t.start]


def quietest(sound: Sound, low: int, high: int) -> int:
    """Return the middle of the quietest 0.1 s in samples [low, high)."""
    span = SAMPLE_RATE // 10
    piece = np.square(np.asarray(sound[low:high], np.float64))
    if len(piece) <= span:
        return (low + high) // 2
    total = np.concatenate([[0.0], np.cumsum(piece)])
    return low + int(np.argmin(total[span:] - total[:-span])) + span // 2
