"""Who is heard when, by a segmentation model: the tracks of a clip. Times are samples of the clip's sound (16 kHz).

The model separates the speakers of a 10 s window, also where two speak at once. Windows overlap; their speakers are combined by when they
speak: a track. Whose voice a track is, and whether it is one, `speakers` finds out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from m3desk.perception.turns import SpeechSegment
from m3desk.ports import SAMPLE_RATE, Sound, SpeechSegmentation

STEP = round(2.5 * SAMPLE_RATE)
"""Samples between windows of the segmentation: each moment is seen in 4. With 5 s the error of 7 AMI meetings is 2 points higher."""

LEAST = round(0.10 * SAMPLE_RATE)
"""A speaker of a window with less is nobody; nor is a shorter turn."""

PAUSE = round(0.30 * SAMPLE_RATE)
"""A pause from which a voice's speech is in two pieces (`speakers.BREATH`); a window with less speech is not looked at."""

Run = tuple[int, int]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Local:
    """A speaker of one window: rows of the clip. `active`: (rows of the window,) bool; `chance`: how surely, 0–1."""

    window: int
    first: int
    active: Mask
    chance: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Segmented:
    """Who is heard when by a segmentation model: (rows, tracks) bool. `heard`: samples in which anybody is."""

    active: Mask
    heard: tuple[Run, ...]


def segmented(sound: Sound, spoken: Sequence[SpeechSegment], segmentation: SpeechSegmentation) -> Segmented:
    """Return who is heard when. Windows without 0.3 s of speech are not looked at."""
    rows = -(-len(sound) // segmentation.hop)
    local, number = _locals(sound, spoken, segmentation, rows)
    if not local:
        return Segmented(np.zeros((rows, 0), bool), ())
    active = _put_together(local, _tracks(local, rows), number)
    every = {r for k in range(active.shape[1]) for r in runs(active[:, k], segmentation, len(sound), PAUSE) if r[1] - r[0] >= LEAST}
    return Segmented(active, tuple(sorted(every)))


def runs(mask: Mask, segmentation: SpeechSegmentation, length: int, gap: int = 0) -> list[Run]:
    """Return where a mask of rows is set, as samples [start, end); gaps shorter than `gap` samples don't part."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    found: list[list[int]] = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        start, end = (min(length, n * segmentation.hop + segmentation.lead) for n in (a, b))
        if found and start - found[-1][1] < gap:
            found[-1][1] = end
        elif end > start:
            found.append([start, end])
    return [(a, b) for a, b in found]


def _locals(
    sound: Sound, spoken: Sequence[SpeechSegment], segmentation: SpeechSegmentation, rows: int
) -> tuple[list[_Local], NDArray[np.float64]]:
    """Return the speakers of all windows, and how many speak at each row of the clip (mean over the windows that see it)."""
    people = max((p for c in segmentation.classes for p in c), default=-1) + 1
    members = np.array([[p in c for p in range(people)] for c in segmentation.classes], np.float64)
    total, seen = np.zeros(rows), np.zeros(rows)
    found: list[_Local] = []
    step = STEP // segmentation.hop
    for n, first in enumerate(range(0, max(1, rows - segmentation.window // segmentation.hop + step), step)):
        start = first * segmentation.hop
        if sum(max(0, min(s.end, start + segmentation.window) - max(s.start, start)) for s in spoken) < PAUSE:
            continue
        chances = segmentation.segment(sound[start : start + segmentation.window])[: rows - first].astype(np.float64)
        active = members[np.argmax(chances, axis=1)] > 0
        total[first : first + len(active)] += active.sum(1)
        seen[first : first + len(active)] += 1
        for p in range(people):
            if active[:, p].sum() * segmentation.hop >= LEAST:
                found.append(_Local(n, first, active[:, p], chances @ members[:, p]))
    return found, total / np.maximum(seen, 1)


def _tracks(local: Sequence[_Local], rows: int) -> list[int]:
    """Return the track of each speaker of a window: who speaks when somebody of the windows before did is the same, one to one."""
    heard: list[Mask] = []
    track = [-1] * len(local)
    for window in sorted({s.window for s in local}):
        mine = [i for i, s in enumerate(local) if s.window == window]
        shared = []
        for i in mine:
            s = local[i]
            span = slice(s.first, s.first + len(s.active))
            for k, before in enumerate(heard):
                both = int((before[span] & s.active).sum())
                known = int(before[span].sum())
                if both and 2 * both >= min(known, int(s.active[: _last(before[span])].sum())):
                    shared.append((both, -i, k))
        for _, i, k in sorted(shared, reverse=True):
            if track[-i] < 0 and all(track[j] != k for j in mine):
                track[-i] = k
        for i in mine:
            if track[i] < 0:
                track[i] = len(heard)
                heard.append(np.zeros(rows, bool))
            span = slice(local[i].first, local[i].first + len(local[i].active))
            heard[track[i]][span] |= local[i].active
    return track


def _last(mask: Mask) -> int:
    """Return the place after the last that is set."""
    return int(np.flatnonzero(mask)[-1]) + 1 if mask.any() else 0


def _put_together(local: Sequence[_Local], track: Sequence[int], number: NDArray[np.float64]) -> Mask:
    """Return (rows, tracks) bool: as many at each row as speak there, the surest over all windows."""
    chance = np.zeros((len(number), max(track) + 1))
    for speaker, k in zip(local, track, strict=True):
        chance[speaker.first : speaker.first + len(speaker.chance), k] += speaker.chance
    rank = np.argsort(np.argsort(-np.round(chance, 5), axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray((rank < np.round(number)[:, None]) & (chance > 0.1), bool)
