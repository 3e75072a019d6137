"""Speaker diarization of one clip: who speaks when, including overlapping speech. Times are samples of the clip's sound (16 kHz).

Three steps. (1) A segmentation model says who is heard when, also where two speak at once: tracks (`voice_tracks`). (2) Tracks are cut into
pieces at pauses and where the voice changes: the model takes people who speak one after the other for one. At a cut of the picture that is
decided by what is said just before and after. (3) Pieces are clustered by evidence (`domain.calibration.Evidence`): the most likely pair
first, never two that overlap. A piece too short for a voice founds none and joins no two: it is given to a voice that is clearly more
likely than all others, else its speaker is unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from m3desk.calibrated import thresholds
from m3desk.domain.calibration import Evidence
from m3desk.domain.evidence import Floats
from m3desk.perception.embedding import within
from m3desk.perception.turns import HOP, SHORTEST_VOICE, WINDOW, SpeechSegment, Turn, quietest
from m3desk.perception.voice_tracks import LEAST, PAUSE, Mask, Run, Segmented, runs, segmented
from m3desk.ports import SAMPLE_RATE, Sound, SpeechSegmentation, VoiceEmbedder

BREATH = round(0.70 * SAMPLE_RATE)
"""Two pieces of one voice are one turn over so much silence, if nobody else speaks in it. A pause of 0.3 s or more parts pieces: of 234
such pauses within a track of calibration 74 were a change of the speaker."""

CORE = round(1.0 * SAMPLE_RATE)
"""Speech with nobody else in it that is a voice inside a clip (it becomes a person from 1.5 s on: `Calibration.born`). With 1.5 s, who says
one sentence was given to somebody else. 76 clips of calibration, 24 of them with a hard cut every 1 to 5 s: precision / recall from
.967 / .822 to .989 / .805, short turns given to a wrong person from 5 to 2, error rate from 24.3 to 23.5 %; 72 further clips: from
.971 / .682 to .981 / .664."""

MURMUR = round(0.60 * SAMPLE_RATE)
"""Speech that others talk over is compared from this length on."""

FINE, FINE_STEP = round(0.80 * SAMPLE_RATE), round(0.10 * SAMPLE_RATE)
"""Windows by which the moment of a change is found, once it is known that there is one. With 0.6 or 1.0 s recall is 2 to 3 % lower."""

SEARCH = round(0.20 * SAMPLE_RATE)
"""A change is at the quietest moment so close."""

LONGEST = round(8.0 * SAMPLE_RATE)
TOGETHER = round(0.50 * SAMPLE_RATE)
"""Two voices heard together for longer are two people."""

JOIN = 2.0
"""Log-likelihood ratio from which pieces are one voice. This and what follows: 54 clips of calibration (simulated conversations, meetings
and interviews, real meetings and talks; `tests/perception/sweep_voices.py`), pairwise precision / recall of turns of 1 s and more; error
rate. Chosen with the rectified vectors: .94 / .77, 24.1 %; at 1 .95 / .81, at 3 .94 / .71. Today's, 76
clips: .986 / .899, 19.9 %, at 1 .979 / .927, 19.5 %, at 1.5 .986 / .915, 19.6 %, at 2.5 .985 / .869, 20.6 %; among voices that are alike
(`alike`) .904 / .813, at 1 .865 / .889, at 1.5 .893 / .824, at 3 .919 / .741. So calibration would hardly mind 1.5; on validation, where it
was measured before short speech was repeated, it joins more wrong pairs, and to join two people is worse than to split one: it stays."""

CHANGE = 0.0
"""Log-likelihood ratio of the speech before and after a moment below which the voice changes there. Calibration leaves it open: precision /
recall at 0 and 2, 76 clips .986 / .899 and .986 / .839; among voices that are alike (`alike`) .904 / .813 and .914 / .813, at 4
.912 / .804. 2 was measured on validation too, before short speech was repeated, and not taken."""

GIVEN, AHEAD = -1.0, 2.0
"""Ratio from which a piece too short for a voice is given to one, and its lead over the next. A lead of 1.5 gave one more
of 81 short turns to a wrong person."""

ONE_TRACK = 1.5
"""Added to the ratio of two pieces of one track. Fitted with the other weights to 2,426 pairs of voices of these clips it is 1.53 (.18)."""

BESIDE = 1.0
"""The same for a short piece within BREATH of another of its track."""

CUT = 0.0
"""Ratio of the speech before and after a cut of the picture below which the voice changes there. 12 made films of calibration with a cut
every 1 to 5 s, half of the cuts in the picture alone: error rate without .279, at 0 and 1 .261, at 2 .267, at 4 .291, with a change at
every cut .297; with speech that others talk over, where there is no clear speech, .258 at 0. Interviews in which only the picture is cut
(12): .119, .119, .121, .124, .124."""

OVER_CUT = 0.9
"""ONE_TRACK for pieces of different shots: the segmentation model tells three speakers of 10 s apart and takes who comes after a cut for
somebody before. Fitted to 2,895 pairs of pieces of 96 made films and interviews of calibration: .90 (.20); inside a shot 2.5 (.6)."""

SIDE = round(3.0 * SAMPLE_RATE)
"""Speech that is compared on each side of a cut."""

UNSURE = round(0.20 * SAMPLE_RATE)
"""A cut of the picture is at most so much earlier than the first picture of the new shot that was looked at."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one track says without a pause. `clean`: where nobody else speaks; `shot`: the number of its shot."""

    start: int
    end: int
    track: int
    clean: tuple[Run, ...]
    shot: int = 0

    @property
    def length(self) -> int:
        return sum(b - a for a, b in self.clean)


def who_speaks(
    sound: Sound,
    spoken: Sequence[SpeechSegment],
    segmentation: SpeechSegmentation | None,
    voices: VoiceEmbedder,
    tracks: Segmented | None = None,
    cuts: Sequence[int] = (),
    until: int | None = None,
) -> list[Turn]:
    """Return turns in time order; those of different voices may overlap. Voices count from 0 in order of appearance.

    `cuts`: samples of the first pictures of new shots. A cut alone is no change of the speaker: speech before and after it is compared.
    `until`: sample of the clip's end, if the sound goes on after it. `tracks`: the result of `segmented`, if that is known. Without a
    segmentation model each speech segment is a track. A turn that is too short for a voice and could not be given to one has a voice of
    its own.
    """
    ear = _Ear(sound, voices)
    evidence = thresholds(voices.name, "voice").comparison()
    if segmentation is not None:
        tracks = tracks or segmented(sound, spoken, segmentation)
        pieces = _pieces(ear, tracks.active, segmentation, evidence, sorted(cuts))
    else:
        pieces = _of_stretches(ear, spoken, evidence, sorted(cuts))
    return _turns(pieces, _voices(ear, pieces, evidence, len(sound) if until is None else until))


def voices_of(sound: Sound, turns: Sequence[Sequence[Run]], voices: VoiceEmbedder, join: float = JOIN) -> list[int]:
    """Return the voice of each turn where it is known who speaks when, from 0: what the voice model alone makes of it.

    `turns`: where nobody else speaks in each, 1 s or more together. `join`: log-likelihood ratio from which two are one voice.
    """
    pieces = [_Piece(t[0][0], t[-1][1], n, tuple(t)) for n, t in enumerate(turns)]
    vectors = dict(enumerate(_Ear(sound, voices).rows([_heard(p) for p in pieces]))) if pieces else {}
    groups = _grouped(pieces, list(vectors), vectors, thresholds(voices.name, "voice").comparison(), join)
    voice = {n: k for k, group in enumerate(groups) for n in group}
    return [voice[n] for n in range(len(pieces))]


class _Ear:
    """Embeds stretches of one sound, each once."""

    def __init__(self, sound: Sound, voices: VoiceEmbedder) -> None:
        self.sound, self._voices = sound, voices
        self._known: dict[tuple[Run, ...], Floats] = {}

    def rows(self, wanted: Sequence[tuple[Run, ...]]) -> list[Floats]:
        """Return the vector of each; runs of one are laid end to end."""
        new = [w for w in dict.fromkeys(wanted) if w not in self._known]
        if new:
            found = within(self._voices.embed([gathered(self.sound, w) for w in new]), self._voices.name)
            self._known.update(zip(new, found, strict=True))
        return [self._known[w] for w in wanted]


def _of_stretches(ear: _Ear, spoken: Sequence[SpeechSegment], evidence: Evidence, cuts: Sequence[int]) -> list[_Piece]:
    found = []
    for k, s in enumerate(spoken):
        whole = (s.start, s.end)
        for part in _at_cuts(ear, whole, [whole], [whole], evidence, cuts):
            found += [
                _Piece(a, b, k, ((a, b),), bisect_right(cuts, (a + b) // 2)) for a, b in _at_changes(ear, part, [part], evidence) if b > a
            ]
    return found


def _turns(pieces: Sequence[_Piece], voice: Sequence[int]) -> list[Turn]:
    """Return pieces as turns; two of one voice are one where hardly a pause is between them, or a breath in which nobody else speaks."""
    found: list[Turn] = []
    for p, k in sorted(zip(pieces, voice, strict=True), key=lambda pair: (pair[1], pair[0].start, pair[0].end)):
        gap = p.start - found[-1].end if found else 0
        alone = found and not any(o.start < p.start and o.end > found[-1].end for o, v in zip(pieces, voice, strict=True) if v != k)
        if found and found[-1].voice == k and (gap < PAUSE or (gap < BREATH and alone)):
            found[-1] = Turn(found[-1].start, max(found[-1].end, p.end), k)
        else:
            found.append(Turn(p.start, p.end, k))
    found.sort(key=lambda t: (t.start, t.end, t.voice))
    order = {k: i for i, k in enumerate(dict.fromkeys(t.voice for t in found))}
    return [Turn(t.start, t.end, order[t.voice]) for t in found]


def gathered(sound: Sound, pieces: Sequence[Run]) -> Sound:
    """Return pieces of a sound laid end to end."""
    return np.concatenate([sound[a:b] for a, b in pieces]) if pieces else np.zeros(0, np.float32)


# ---------------------------------------------------------------- 2: pieces


def _pieces(ear: _Ear, active: Mask, segmentation: SpeechSegmentation, evidence: Evidence, cuts: Sequence[int]) -> list[_Piece]:
    """Cut tracks into pieces, in time order."""
    several = active.sum(1) > 1
    found: list[_Piece] = []
    for k in range(active.shape[1]):
        alone = runs(active[:, k] & ~several, segmentation, len(ear.sound), PAUSE)
        every = runs(active[:, k], segmentation, len(ear.sound), PAUSE)
        for run in every:
            for part in _at_cuts(ear, run, alone, every, evidence, cuts):
                for a, b in _at_changes(ear, part, _inside(alone, part), evidence):
                    if b - a >= LEAST:
                        found.append(_Piece(a, b, k, tuple(_inside(alone, (a, b))), bisect_right(cuts, (a + b) // 2)))
    return sorted(found, key=lambda p: (p.start, p.end, p.track))


def _inside(some: Sequence[Run], span: Run) -> list[Run]:
    return [(max(a, span[0]), min(b, span[1])) for a, b in some if a < span[1] and b > span[0]]


def _length(some: Sequence[Run]) -> int:
    return sum(b - a for a, b in some)


def _first(some: Sequence[Run], length: int) -> tuple[Run, ...]:
    """Return the first `length` samples of runs."""
    found: list[Run] = []
    for a, b in some:
        if (rest := length - _length(found)) > 0:
            found.append((a, min(b, a + rest)))
    return tuple(found)


def _at_cuts(ear: _Ear, run: Run, alone: Sequence[Run], every: Sequence[Run], evidence: Evidence, cuts: Sequence[int]) -> list[Run]:
    """Cut a run where the voice changes with the picture. `every`: where its track speaks, `alone`: where nobody else does."""
    parts = []
    for n, cut in enumerate(cuts):
        if not run[0] + UNSURE < cut < run[1]:
            continue
        low = max(cut - UNSURE - SIDE, cuts[n - 1] if n else 0)
        high = min(cut + SIDE, cuts[n + 1] - UNSURE if n + 1 < len(cuts) else len(ear.sound))
        spans = [span for span in ((low, cut - UNSURE), (cut, high)) if span[1] > span[0]]
        sides = [tuple(part if _length(part := _inside(alone, s)) >= SHORTEST_VOICE else _inside(every, s)) for s in spans]
        if len(sides) < 2 or min(map(_length, sides)) < SHORTEST_VOICE:
            continue
        one, two = ear.rows(sides)
        ratio = float(evidence.ratio(float(one @ two), *(_length(side) / SAMPLE_RATE for side in sides)))
        if round(ratio, 4) < CUT:
            parts.append(quietest(ear.sound, cut - UNSURE, cut))
    return list(pairwise([run[0], *parts, run[1]]))


def _at_changes(ear: _Ear, run: Run, alone: Sequence[Run], evidence: Evidence) -> list[Run]:
    """Cut a run where one voice gives way to another: where what is said before is least like what is said after, as long as it is."""
    windows = [w for part in alone for w in _windows(part)]
    if len(windows) < 2:
        return [run]
    vectors = np.stack(ear.rows([(w,) for w in windows]))
    cuts: list[int] = []
    todo = [(0, len(windows))]
    while todo:
        low, high = todo.pop()
        best, at, before = min(_changes(windows, vectors, evidence, low, high), default=(np.inf, 0, 0))
        if best < CHANGE:
            sides = vectors[max(low, before - 1) : before + 1].sum(0), vectors[at : min(high, at + 2)].sum(0)
            cuts.append(_between(ear, alone, windows[before], windows[at], *sides))
            todo += [(low, before + 1), (at, high)]
    return list(pairwise([run[0], *sorted(cuts), run[1]]))


def _between(ear: _Ear, alone: Sequence[Run], before: Run, after: Run, one: Floats, two: Floats) -> int:
    """Return where a voice (direction `one`) gives way to another between two windows: looked for with shorter ones, at a quiet moment."""
    low, high = sorted(((before[0] + before[1]) // 2, (after[0] + after[1]) // 2))
    difference = one / max(1e-9, float(np.linalg.norm(one))) - two / max(1e-9, float(np.linalg.norm(two)))
    steps = [(t - FINE // 2, t + FINE // 2) for t in range(low, high + 1, FINE_STEP)]
    steps = [w for w in steps if _length(_inside(alone, w)) >= SHORTEST_VOICE]
    if not steps:
        return quietest(ear.sound, low, high)
    lead = np.round(np.stack(ear.rows([tuple(_inside(alone, w)) for w in steps])) @ difference, 4)
    # The cut after which as much as possible is like the second voice, and before it like the first.
    gain = np.concatenate([[0.0], np.cumsum(lead)])
    best = int(np.argmax(gain))
    at = (steps[max(0, best - 1)][0] + steps[min(len(steps) - 1, best)][0] + FINE) // 2
    return quietest(ear.sound, max(low, at - SEARCH), min(high, at + SEARCH))


def _changes(windows: Sequence[Run], vectors: Floats, evidence: Evidence, low: int, high: int) -> Iterator[tuple[float, int, int]]:
    """Yield how likely one person goes on from a window to another (ratio, that one, the first): up to two windows against two.

    The window in between, which may hold both, counts for neither.
    """
    for before in range(low, high - 1):
        apart = windows[before + 1][0] >= windows[before][1]
        at = before + (1 if apart or high - low < 3 else 2)
        if at >= high:
            continue
        first, second = range(max(low, before - 1), before + 1), range(at, min(high, at + 2))
        one, two = vectors[list(first)].sum(0), vectors[list(second)].sum(0)
        cosine = float(one @ two / max(1e-9, float(np.linalg.norm(one) * np.linalg.norm(two))))
        seconds = [min(2.0, sum(windows[n][1] - windows[n][0] for n in part) / SAMPLE_RATE) for part in (first, second)]
        yield round(float(evidence.ratio(cosine, *seconds)), 4), at, before


def _windows(run: Run) -> list[Run]:
    """Return windows of 1.5 s every 0.75 s, or the whole run if it is not much longer; none below 1 s."""
    start, end = run
    if end - start < CORE:
        return []
    if end - start <= WINDOW * 4 // 3:
        return [run]
    starts = list(range(start, end - WINDOW, HOP))
    if end - WINDOW - starts[-1] > HOP // 3:
        starts.append(end - WINDOW)
    return [(s, s + WINDOW) for s in starts]


# ---------------------------------------------------------------- 3: voices


def _groups(ear: _Ear, pieces: Sequence[_Piece], evidence: Evidence) -> tuple[dict[int, Floats], list[list[int]]]:
    """Return the vectors of the pieces that have one, and the voices: the pieces of each."""
    told = [n for n, p in enumerate(pieces) if p.length >= SHORTEST_VOICE or p.end - p.start >= MURMUR]
    heard = [_heard(pieces[n]) for n in told]
    vectors = dict(zip(told, ear.rows(heard), strict=True))
    return vectors, _grouped(pieces, [n for n in told if pieces[n].length >= CORE], vectors, evidence, JOIN)


def _heard(piece: _Piece) -> tuple[Run, ...]:
    """Return what of a piece is compared: what it says alone; where that is too little for a voice and others talk over it, all of it."""
    whole = piece.end - piece.start
    if piece.length < CORE and (piece.length < SHORTEST_VOICE or whole - piece.length > SHORTEST_VOICE):
        return ((piece.start, min(piece.end, piece.start + LONGEST)),)
    return _first(piece.clean, LONGEST)


def _voices(ear: _Ear, pieces: Sequence[_Piece], evidence: Evidence, until: int) -> list[int]:
    """Return the voice of each piece; pieces that are nobody's have one of their own."""
    vectors, groups = _groups(ear, pieces, evidence)
    voice = [-1] * len(pieces)
    for k, group in enumerate(groups):
        for n in group:
            voice[n] = k
    spare = len(groups)
    means = [_mean(pieces, group, vectors) for group in groups]
    for n in range(len(pieces)):
        if voice[n] < 0 and (given := _given(pieces, n, groups, means, vectors.get(n), evidence, until)) is not None:
            voice[n] = given
        elif voice[n] < 0:
            voice[n] = spare
            spare += 1
    return voice


def _mean(pieces: Sequence[_Piece], group: Sequence[int], vectors: dict[int, Floats]) -> tuple[Floats, float]:
    """Return the direction of a group's vectors, the longer the heavier, and its seconds."""
    seconds = [min(pieces[n].length, LONGEST) / SAMPLE_RATE for n in group]
    total = np.sum([vectors[n] * s for n, s in zip(group, seconds, strict=True)], axis=0)
    return np.asarray(total / max(1e-9, float(np.linalg.norm(total))), np.float32), sum(seconds)


def _grouped(pieces: Sequence[_Piece], core: Sequence[int], vectors: dict[int, Floats], evidence: Evidence, join: float) -> list[list[int]]:
    """Join pieces, the most likely pair first, until no pair has a ratio of `join`; ties go to the earlier ones."""
    groups = [[n] for n in core]
    means = [_mean(pieces, g, vectors) for g in groups]
    likely: dict[tuple[int, int], float] = {}
    live = list(range(len(groups)))

    def between(i: int, j: int) -> float:
        a, b = groups[i], groups[j]
        if any(_together(pieces[n], pieces[m]) for n in a for m in b):
            return -np.inf
        ratio = float(evidence.ratio(float(means[i][0] @ means[j][0]), means[i][1], means[j][1]))
        one = max(_one_track(pieces[n], pieces[m]) for n in a for m in b)
        return round(ratio + one, 4)

    for x, i in enumerate(live):
        for j in live[x + 1 :]:
            likely[i, j] = between(i, j)
    while likely:
        (i, j), best = min(likely.items(), key=lambda item: (-item[1], item[0]))
        if best < join:
            break
        groups[i] += groups[j]
        means[i] = _mean(pieces, groups[i], vectors)
        live.remove(j)
        likely = {pair: value for pair, value in likely.items() if j not in pair}
        for k in live:
            if k != i:
                likely[min(i, k), max(i, k)] = between(min(i, k), max(i, k))
    return [sorted(groups[i]) for i in live]


def _one_track(a: _Piece, b: _Piece) -> float:
    """Return what is added to the ratio of two pieces because of their tracks."""
    if a.track != b.track:
        return 0.0
    return ONE_TRACK if a.shot == b.shot else OVER_CUT


def _together(a: _Piece, b: _Piece) -> bool:
    return min(a.end, b.end) - max(a.start, b.start) > TOGETHER


def _begins(pieces: Sequence[_Piece], group: Sequence[int]) -> int:
    return min(pieces[n].start for n in group)


def _given(
    pieces: Sequence[_Piece],
    n: int,
    groups: Sequence[Sequence[int]],
    means: Sequence[tuple[Floats, float]],
    vector: Floats | None,
    evidence: Evidence,
    until: int,
) -> int | None:
    """Return the voice that a short piece goes to; None where none is likely enough or two are about as likely.

    A voice that is heard after `until` only, of which cuts of the picture are not known, is no rival of one that is heard before.
    """
    free = [
        k for k, g in enumerate(groups) if not any(min(pieces[n].end, pieces[m].end) > max(pieces[n].start, pieces[m].start) for m in g)
    ]
    scores = []
    for k in free:
        near = any(
            pieces[m].track == pieces[n].track and max(pieces[m].start - pieces[n].end, pieces[n].start - pieces[m].end) < BREATH
            for m in groups[k]
        )
        if vector is None and not near:
            continue
        ratio = 0.0 if vector is None else float(evidence.ratio(float(vector @ means[k][0]), pieces[n].length / SAMPLE_RATE, means[k][1]))
        ratio += BESIDE if near else 0.0
        scores.append((round(ratio, 4), -k))
    scores.sort(reverse=True)
    if not scores or scores[0][0] < GIVEN:
        return None
    best = -scores[0][1]
    rivals = [s for s, k in scores[1:] if _begins(pieces, groups[-k]) < until or _begins(pieces, groups[best]) >= until]
    return None if rivals and scores[0][0] - rivals[0] < AHEAD else best
