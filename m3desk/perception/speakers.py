"""Speaker diarization of one clip: who speaks when, including overlapping speech. Times are samples of the clip's sound (16 kHz).

Three steps; each corrects errors of the one before. (1) A segmentation model separates the speakers of a 10 s window, also where two speak
at once. Windows overlap; their speakers are clustered by voice, and speakers of one window are never one person. (2) A voice that contains
two people is split: the model confuses people who sound similar from across the room, or who speak one after the other. (3) Voices that
were split too far are joined. Diarization error on 7 AMI meetings of 30 s (collar 0.25 s on each side, overlap counted): 18 %. With other
window steps or lengths it is 18 to 23 %, so differences of that size are chance in 7 files; with voice windows alone (`turns.turns`) 35 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.evidence import Floats
from m3desk.domain.linkage import average_linkage
from m3desk.perception.turns import HOP, SHORTEST_VOICE, WINDOW, SpeechSegment, Turn, quietest
from m3desk.ports import SAMPLE_RATE, Sound, SpeechSegmentation, VoiceEmbedder

STEP = round(2.5 * SAMPLE_RATE)
"""Samples between windows of the segmentation: each moment is in 4 windows. With 5 s the error above is 2 points higher."""

LEAST = round(0.10 * SAMPLE_RATE)
"""A speaker of a window with less speech is ignored, and so is a shorter turn."""

CLEAN = round(1.0 * SAMPLE_RATE)
"""Speech without overlap that a speaker needs to be a voice; with less, the speaker joins the most similar voice."""

ENOUGH = round(4.0 * SAMPLE_RATE)
"""Longest speech of a window's speaker that is embedded: more is no better, and 4 s cost half as much as 10 s."""

SAME = 0.60
"""Mean cosine above which speakers of windows (up to 4 s each) are one voice. Where three to five people take turns in a clip (LibriSpeech
sentences, the reel), the share of time assigned to a wrong voice was 14, 9, 2, 1 % at 0.45, 0.50, 0.55, 0.60; same for meetings."""

ANY, LIKELY, HARDLY = 0.30, 0.50, round(2.0 * SAMPLE_RATE)
"""A speaker with less than CLEAN joins the most similar voice if the mean cosine is at least ANY (all their speech is at most HARDLY long)
or LIKELY (it is longer, but others talk over it). Below that it becomes a voice of its own."""

TWO, TWO_ALONE = 0.46, 0.47
"""Mean cosine between the two clusters of a voice's windows (1.5 s, split where they are least similar) below which it is two people.
Measured on 420 voices of 30 s clips: two people 0.33 to 0.48, one person from 0.58 on in clear sound, 0.47 to 0.55 in meetings. Below
TWO_ALONE also where one half is a single window, if that is all that was said between two pauses."""

PAUSE = round(0.30 * SAMPLE_RATE)
LONGEST = round(6.0 * SAMPLE_RATE)
TOGETHER = round(0.50 * SAMPLE_RATE)
"""Two voices that overlap for longer are two people."""

Run = tuple[int, int]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Local:
    """A speaker of one window. `first`: the window's first row in the clip. `active`, `alone`, `chance` (probability): one per row."""

    window: int
    first: int
    active: Mask
    alone: Mask
    chance: NDArray[np.float64]


def who_speaks(sound: Sound, spoken: Sequence[SpeechSegment], segmentation: SpeechSegmentation, voices: VoiceEmbedder) -> list[Turn]:
    """Return turns in time order; those of different voices may overlap. Voices count from 0 in order of appearance.

    Windows without a speech segment are skipped.
    """
    rows = -(-len(sound) // segmentation.hop)
    local, number = _locals(sound, spoken, segmentation, rows)
    if not local:
        return []
    active = _combined(local, _one_voice(sound, local, segmentation, voices), number)
    active = _split(sound, active, segmentation, voices)
    active = _joined(sound, active, segmentation, voices)
    found = [
        Turn(a, b, k) for k in range(active.shape[1]) for a, b in runs(active[:, k], segmentation, len(sound), PAUSE) if b - a >= LEAST
    ]
    found.sort(key=lambda t: (t.start, t.end, t.voice))
    order = {k: i for i, k in enumerate(dict.fromkeys(t.voice for t in found))}
    return [Turn(t.start, t.end, order[t.voice]) for t in found]


def runs(mask: Mask, segmentation: SpeechSegmentation, length: int, gap: int = 0) -> list[Run]:
    """Return where a mask of rows is set, as samples [start, end); gaps shorter than `gap` samples are closed."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    found: list[list[int]] = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        start, end = (min(length, n * segmentation.hop + segmentation.lead) for n in (a, b))
        if found and start - found[-1][1] < gap:
            found[-1][1] = end
        elif end > start:
            found.append([start, end])
    return [(a, b) for a, b in found]


# ---------------------------------------------------------------- 1: windows


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
        if not any(s.start < start + segmentation.window and s.end > start for s in spoken):
            continue
        chances = segmentation.segment(sound[start : start + segmentation.window])[: rows - first].astype(np.float64)
        active = members[np.argmax(chances, axis=1)] > 0
        total[first : first + len(active)] += active.sum(1)
        seen[first : first + len(active)] += 1
        for p in range(people):
            if active[:, p].sum() * segmentation.hop >= LEAST:
                alone = active[:, p] & (active.sum(1) == 1)
                found.append(_Local(n, first, active[:, p], alone, chances @ members[:, p]))
    return found, total / np.maximum(seen, 1)


def _one_voice(sound: Sound, local: Sequence[_Local], segmentation: SpeechSegmentation, voices: VoiceEmbedder) -> list[int]:
    """Return the voice of each window's speaker: by average linkage if they speak alone for CLEAN, else the most similar voice."""
    clean = [int(s.alone.sum()) * segmentation.hop for s in local]
    vectors = voices.embed([_speech_of(sound, s, segmentation) for s in local])
    similarity = np.round(vectors @ vectors.T, 5)
    window = np.array([s.window for s in local])
    cannot_link = (window[:, None] == window) & ~np.eye(len(local), dtype=bool)
    long = [i for i, n in enumerate(clean) if n >= CLEAN]
    found = np.full(len(local), -1)
    if long:
        found[long] = average_linkage(similarity[np.ix_(long, long)], SAME, cannot_link=cannot_link[np.ix_(long, long)])
    for i in sorted((i for i in range(len(local)) if found[i] < 0), key=lambda i: (-clean[i], i)):
        taken = set(found[cannot_link[i]].tolist())
        free = [k for k in range(int(found.max()) + 1) if k not in taken]
        best = max(free, key=lambda k: float(np.mean(similarity[i, found == k])), default=-1)
        near = best >= 0 and float(np.mean(similarity[i, found == best])) >= _least(int(local[i].active.sum()) * segmentation.hop)
        found[i] = best if near else int(found.max()) + 1
    return [int(k) for k in found]


def _least(length: int) -> float:
    return LIKELY if length > HARDLY else ANY


def _speech_of(sound: Sound, speaker: _Local, segmentation: SpeechSegmentation) -> Sound:
    """Return the middle of what a window's speaker says alone (if that is almost nothing: all they say), at least 0.5 s."""
    for mask in (speaker.alone, speaker.active):
        at = speaker.first * segmentation.hop
        said = gathered(sound[at:], runs(mask, segmentation, len(sound) - at))
        if len(said) >= PAUSE:
            break
    spare = max(0, len(said) - ENOUGH) // 2
    return enough(said[spare : spare + ENOUGH])


def gathered(sound: Sound, pieces: Sequence[Run]) -> Sound:
    """Return pieces of a sound, concatenated."""
    return np.concatenate([sound[a:b] for a, b in pieces]) if pieces else np.zeros(0, np.float32)


def enough(sound: Sound) -> Sound:
    """Return a sound repeated until it has the minimum length of a voice model."""
    return np.resize(sound, SHORTEST_VOICE) if 0 < len(sound) < SHORTEST_VOICE else sound


def _combined(local: Sequence[_Local], voice: Sequence[int], number: NDArray[np.float64]) -> Mask:
    """Return (rows, voices) bool: at each row as many voices as speak there, those with the highest probability over all windows."""
    chance = np.zeros((len(number), max(voice) + 1))
    for speaker, k in zip(local, voice, strict=True):
        chance[speaker.first : speaker.first + len(speaker.chance), k] += speaker.chance
    rank = np.argsort(np.argsort(-np.round(chance, 5), axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray((rank < np.round(number)[:, None]) & (chance > 0.1), bool)


# ---------------------------------------------------------------- 2 and 3: voices


def _split(sound: Sound, active: Mask, segmentation: SpeechSegmentation, voices: VoiceEmbedder) -> Mask:
    """Split voices that are two people, until each is one."""
    at = 0
    known: dict[Run, Floats] = {}
    while at < active.shape[1]:
        other = _other(sound, active[:, at], active.sum(1) == 1, segmentation, voices, known)
        if other is None:
            at += 1
            continue
        active = np.concatenate([active, (active[:, at] & other)[:, None]], axis=1)
        active[:, at] &= ~other
    return active


def _other(
    sound: Sound, mine: Mask, alone: Mask, segmentation: SpeechSegmentation, voices: VoiceEmbedder, known: dict[Run, Floats]
) -> Mask | None:
    """Return the rows of the second person in a voice; None if it is one person's. `known`: vectors of windows, added to."""
    said = runs(mine & alone, segmentation, len(sound), PAUSE)
    windows = [(n, w) for n, run in enumerate(said) for w in _windows(run)]
    if len(windows) < 2:
        return None
    new = [w for _, w in windows if w not in known]
    known.update(zip(new, voices.embed([sound[a:b] for a, b in new]) if new else (), strict=True))
    vectors = np.stack([known[w] for _, w in windows])
    similarity = np.round(vectors @ vectors.T, 5)
    half = average_linkage(similarity, -1.0, least=2)
    one, two = np.flatnonzero(half == 0), np.flatnonzero(half == 1)
    few = min(one, two, key=len)
    between = float(np.mean(similarity[np.ix_(one, two)]))
    if len(few) == 1:
        run, _ = windows[int(few[0])]
        if between >= TWO_ALONE or sum(n == run for n, _ in windows) > 1:
            return None
    elif between >= TWO:
        return None
    # The speaker changes in the longest pause if there is one, else at the quietest moment of both windows.
    cuts = [(0, int(half[0]))]
    for i in range(1, len(windows)):
        (m, (_, before)), (n, (after, _)) = windows[i - 1], windows[i]
        if half[i] != half[i - 1]:
            pauses = [(said[r + 1][0] - said[r][1], -r, (said[r][1] + said[r + 1][0]) // 2) for r in range(m, n)]
            cuts.append((max(pauses)[2] if pauses else quietest(sound, after, before), int(half[i])))
    middle = np.arange(len(mine)) * segmentation.hop + segmentation.lead + segmentation.hop // 2
    side = np.array([half for _, half in cuts])[np.searchsorted([at for at, _ in cuts], middle, side="right") - 1]
    second = mine & (side == 1)
    return np.asarray(second, bool) if second.any() and (mine & ~second).any() else None


def _windows(run: Run) -> list[Run]:
    """Return windows of 1.5 s every 0.75 s, or the whole run if it is not much longer; none below 1 s."""
    start, end = run
    if end - start < CLEAN:
        return []
    if end - start <= WINDOW * 4 // 3:
        return [run]
    starts = list(range(start, end - WINDOW, HOP))
    if end - WINDOW - starts[-1] > HOP // 3:
        starts.append(end - WINDOW)
    return [(s, s + WINDOW) for s in starts]


def _joined(sound: Sound, active: Mask, segmentation: SpeechSegmentation, voices: VoiceEmbedder) -> Mask:
    """Join voices that are similar as a whole (up to 6 s each) and hardly overlap; a voice that is too short joins the most similar one."""
    alone = active.sum(1) == 1
    pieces = [gathered(sound, runs(active[:, k] & alone, segmentation, len(sound)))[:LONGEST] for k in range(active.shape[1])]
    long = [k for k, piece in enumerate(pieces) if len(piece) >= CLEAN]
    if not long:
        return active
    short = [k for k in range(len(pieces)) if k not in long and active[:, k].any()]
    whole = [gathered(sound, runs(active[:, k], segmentation, len(sound))) for k in short]
    vectors: Floats = voices.embed([*(pieces[k] for k in long), *(enough(piece[:LONGEST]) for piece in whole)])
    similarity = np.round(vectors @ vectors.T, 5)
    rows = active.astype(np.int64)
    together = (rows.T @ rows) * segmentation.hop > TOGETHER
    cannot_link = together[np.ix_(long, long)] & ~np.eye(len(long), dtype=bool)
    group = average_linkage(similarity[: len(long), : len(long)], SAME, cannot_link=cannot_link).tolist()
    into = {k: long[group.index(g)] for k, g in zip(long, group, strict=True)}
    for n, k in enumerate(short):
        free = [(float(similarity[len(long) + n, m]), -m) for m, other in enumerate(long) if not together[k, into[other]]]
        best, m = max(free, default=(0.0, 0))
        into[k] = into[long[-m]] if best >= _least(len(whole[n])) else k
    result = np.zeros_like(active)
    for k, first in into.items():
        result[:, first] |= active[:, k]
    return result
