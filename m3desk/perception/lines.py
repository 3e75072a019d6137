"""Groups recognised words into lines: one voice, no long pause, limited length.

A line belongs to the clip in which it starts. Times are samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.evidence import Floats
from m3desk.domain.geometry import overlap, without
from m3desk.perception.scripts import continues, script
from m3desk.perception.speakers import UNSURE
from m3desk.perception.turns import SpeechSegment, Turn, quietest
from m3desk.perception.voice_tracks import Run
from m3desk.perception.words import TimedWord, ends_sentence
from m3desk.ports import SAMPLE_RATE, Sound

LONG_PAUSE = round(0.70 * SAMPLE_RATE)
"""Silence that ends an utterance."""

SENTENCE = round(1.50 * SAMPLE_RATE)
"""A full stop ends an utterance that is at least this long: "Yes. No." stays one, long enough for a voice embedding."""

LONG, SHORT_PAUSE, CLAUSE_ENDS = round(12.0 * SAMPLE_RATE), round(0.25 * SAMPLE_RATE), (",", ";", ":", "，", "；", "：", "、")
"""A longer utterance ends at a short pause or a comma: a subtitle of half a minute is not readable."""

MURMUR = round(0.30 * SAMPLE_RATE)
"""Shorter speech without words (less than a "mm") is ignored."""

TOGETHER = round(0.25 * SAMPLE_RATE)
"""Two lines that overlap for this long overlap; at the ends of turns, segmentation and truth differ by less."""


@dataclass(frozen=True, slots=True)
class Line:
    """A future utterance: samples [start, end) of the clip's sound. Without words: speech that was not understood.

    `active`: when its voice speaks; () = unknown (no segmentation model): all of it counts.
    """

    start: int
    end: int
    words: tuple[TimedWord, ...]
    voice: int
    sureness: float
    active: tuple[Run, ...] = ()
    vectors: Floats | None = None
    cluster: int = 0


def samples(at: int, clip: Clip) -> int:
    """Return a time of the source as samples of the clip's sound."""
    return round((at - clip.start) * SAMPLE_RATE / MICROSECOND)


def time(sample: int, clip: Clip) -> int:
    """Return a sample of the clip's sound as microseconds of the source."""
    return clip.start + round(sample * MICROSECOND / SAMPLE_RATE)


def compose(said: Sequence[TimedWord], spoken: Sequence[SpeechSegment], parts: Sequence[Turn], cuts: Sequence[int] = ()) -> list[Line]:
    """Group words into lines: one voice, no pause above 0.7 s, one sentence or a few short ones. Lines do not overlap.

    `cuts`: first samples of new shots.
    """
    words = [w for w in said if w.text.strip()]
    if not words:
        return []
    voices = _speakers(words, parts, cuts)
    groups: list[list[int]] = [[0]]
    for i in range(1, len(words)):
        if ends(words[groups[-1][0]], words[i - 1], words[i], spoken) or voices[i] != voices[i - 1]:
            groups.append([])
        groups[-1].append(i)
    lines = []
    for group in groups:
        mine = tuple(words[i] for i in group)
        touched = spoken[mine[0].segment : mine[-1].segment + 1]
        lines.append(Line(mine[0].start, mine[-1].end, mine, voices[group[0]], float(np.mean([s.sureness for s in touched]))))
    return _bounded(lines, spoken)


def ends(first: TimedWord, before: TimedWord, after: TimedWord, spoken: Sequence[SpeechSegment]) -> bool:
    """Return whether an utterance that began with `first` ends between two words."""
    if continues(before.text, after.text):
        return False
    if before.language != after.language and script(before.text) != script(after.text):
        return True
    silence = after.start - before.end
    if after.segment != before.segment:
        # Whisper stretches words into silence; the speech segments are more exact.
        silence = max(silence, sum(b.start - a.end for a, b in pairwise(spoken[before.segment : after.segment + 1])))
    long = before.end - first.start >= LONG
    if silence > (SHORT_PAUSE if long else LONG_PAUSE) or (long and before.text.rstrip().endswith(CLAUSE_ENDS)):
        return True
    return ends_sentence(before.text) and before.end - first.start >= SENTENCE


def _speakers(words: Sequence[TimedWord], parts: Sequence[Turn], cuts: Sequence[int]) -> list[int]:
    """Return each word's voice, by its middle; a change of voice is moved to a pause or sentence end close by, but not away from a cut."""
    voices = [_voice_at((w.start + w.end) // 2, parts) for w in words]
    known = next((v for v in voices if v >= 0), 0)
    for i, v in enumerate(voices):
        # Speech too short for a voice of its own gets the previous voice; at the start, the next one.
        voices[i] = known = v if v >= 0 else known
    changes = [i for i in range(1, len(words)) if voices[i] != voices[i - 1]]
    for at in changes:
        if any(words[at - 1].start < cut and cut - UNSURE < words[at].end for cut in cuts):
            continue
        best = max(_near(words, at), key=lambda i: (_seam(words[i - 1], words[i]), -abs(i - at)))
        for i in range(best, at):
            voices[i] = voices[at]
        for i in range(at, best):
            voices[i] = voices[at - 1]
    for i in range(1, len(words)):
        if continues(words[i - 1].text, words[i].text):
            voices[i] = voices[i - 1]
    return voices


def _near(words: Sequence[TimedWord], at: int) -> list[int]:
    """Return places within 0.7 s of a change before word `at` where it could be instead."""
    when = (words[at - 1].end + words[at].start) // 2
    return [i for i in range(max(1, at - 4), min(len(words), at + 5)) if abs((words[i - 1].end + words[i].start) // 2 - when) < LONG_PAUSE]


def _seam(before: TimedWord, after: TimedWord) -> float:
    """Return how likely a change of speaker is between two words: seconds of silence, half a second for the end of a sentence.

    A change of language is surer than either; within a word nobody takes over.
    """
    if continues(before.text, after.text):
        return -1.0
    pause = max(0, after.start - before.end) / SAMPLE_RATE
    other = before.language != after.language and script(before.text) != script(after.text)
    return round(pause + 0.5 * ends_sentence(before.text) + 0.5 * (before.segment != after.segment) + 1.0 * other, 3)


def _voice_at(sample: int, parts: Sequence[Turn]) -> int:
    """Return who speaks at a moment or nearest to it; of two at once the one with the longer turn, whom a recogniser follows."""
    return min(parts, key=lambda t: (max(t.start - sample, sample - t.end, 0), t.start - t.end)).voice


def _bounded(lines: Sequence[Line], spoken: Sequence[SpeechSegment]) -> list[Line]:
    """Set the bounds of lines by the speech segments rather than by Whisper's word times; lines never overlap."""
    result: list[Line] = []
    for n, line in enumerate(lines):
        first, last = spoken[line.words[0].segment], spoken[line.words[-1].segment]
        opens = n == 0 or lines[n - 1].words[-1].segment < line.words[0].segment
        closes = n + 1 == len(lines) or lines[n + 1].words[0].segment > line.words[-1].segment
        start = first.start if opens else max(line.start, first.start)
        end = last.end if closes else min(line.end, last.end)
        # A segment may contain seconds without words: music before the voice, applause after it.
        start = max(start, line.start - LONG_PAUSE)
        end = min(max(end, start + 1), line.end + LONG_PAUSE)
        if result and start < result[-1].end:
            middle = (start + result[-1].end) // 2
            result[-1] = replace(result[-1], end=max(middle, result[-1].start + 1))
            start = max(middle, result[-1].end)
        result.append(replace(line, start=start, end=max(end, start + 1)))
    return result


def placed(lines: Sequence[Line], parts: Sequence[Turn]) -> list[Line]:
    """Set the bounds of lines, in start order, by their voice's turns; two lines of different voices may overlap.

    A turn with several lines is cut between their words. A line stays as it is if its voice has no turn near its words.
    """
    result = []
    for n, line in enumerate(lines):
        first, last = line.words[0], line.words[-1]
        before = max((w.end for m in lines[:n] if m.voice == line.voice for w in m.words[-1:]), default=None)
        after = min((m.words[0].start for m in lines[n + 1 :] if m.voice == line.voice), default=None)
        low = 0 if before is None else (before + first.start) // 2
        high = max(t.end for t in parts) if after is None else (last.end + after) // 2
        near = [(max(t.start, low), min(t.end, high)) for t in parts if t.voice == line.voice]
        near = [(a, b) for a, b in near if b > a and a < last.end + SHORT_PAUSE and b > first.start - SHORT_PAUSE]
        if near:
            start, end = min(a for a, _ in near), max(b for _, b in near)
            start, end = min(start, (first.start + first.end) // 2), max(end, (last.start + last.end) // 2, start + 1)
            line = replace(line, start=start, end=end, active=tuple(near))
        result.append(line)
    return sorted(result, key=lambda line: (line.start, line.words[0].start))


def murmurs(lines: Sequence[Line], parts: Sequence[Turn], spoken: Sequence[SpeechSegment]) -> list[Line]:
    """Return lines without words: speech that was not understood, of voices that overlap other lines or have lines of their own.

    A voice without words in this clip that overlaps nobody is taken for music, laughter or a machine.
    """
    known = {line.voice for line in lines}
    found = []
    for t in parts:
        for a, b in without([(t.start, t.end)], [span for line in lines if line.voice == t.voice for span in line.active or _span(line)]):
            over = sum(common([(a, b)], line.active) for line in lines if line.voice != t.voice)
            heard = sum(common([(a, b)], [(s.start, s.end)]) for s in spoken)
            if b - a >= MURMUR and (2 * over >= b - a or (t.voice in known and 2 * heard >= b - a)):
                found.append(Line(a, b, (), t.voice, 0.0, ((a, b),)))
    return found


def _span(line: Line) -> tuple[Run, ...]:
    return ((line.start, line.end),)


def clean(line: Line, parts: Sequence[Turn]) -> list[Run]:
    """Return when only this line's voice speaks."""
    others = [(t.start, t.end) for t in parts if t.voice != line.voice]
    return without(line.active or _span(line), others)


def overlaps(lines: Sequence[Line]) -> set[tuple[int, int]]:
    """Return pairs (n, m), n < m, of lines of different voices that are heard at the same time for TOGETHER or more."""
    return {
        (n, m)
        for n, one in enumerate(lines)
        for m in range(n + 1, len(lines))
        if one.voice != lines[m].voice and common(one.active, lines[m].active) >= TOGETHER
    }


def common(some: Sequence[Run], others: Sequence[Run]) -> int:
    """Return how many samples two sets of runs share."""
    return sum(overlap(a, b) for a in some for b in others)


def owned(lines: Sequence[Line], sound: Sound, clip: Clip) -> list[Line]:
    """Return the lines that start in the clip; the last one includes what the same voice says next without a pause.

    The next clip starts to transcribe where the last line ends. So a recogniser must be able to start there, and no line of the next clip
    may start before it. If speech continues past the overrun, the line ends after a sentence or, failing that, after the last whole word.
    """
    border, edge = samples(clip.end, clip), len(sound) - SAMPLE_RATE // 10
    mine = [line for line in lines if line.start < border]
    rest = lines[len(mine) :]
    if not mine or len(sound) <= border:
        return mine
    at = max(range(len(mine)), key=lambda n: (mine[n].end, n))
    for line in rest:
        last = mine[at]
        going_on = line.words[0].segment == last.words[-1].segment and line.voice == last.voice and line.start - last.end < LONG_PAUSE
        if not going_on or line.words[-1].end >= edge or last.end <= border - LONG_PAUSE:
            break
        mine[at] = replace(last, end=line.end, words=(*last.words, *line.words), active=(*last.active, *line.active))
        rest = rest[1:]
    if rest and rest[0].start < mine[at].end:
        mine[at : at + 1] = _before(mine[at], rest[0].start)
    else:
        mine[at : at + 1] = _cut_off(mine[at], sound, border, edge)
    return mine


def _before(line: Line, end: int) -> list[Line]:
    """Return what a line says before a moment."""
    words = tuple(replace(w, end=min(w.end, end)) for w in line.words if (w.start + w.end) // 2 < end)
    return [replace(line, end=end, words=words)] if words else []


def _cut_off(line: Line, sound: Sound, border: int, edge: int) -> list[Line]:
    """End a line that reaches the end of the overrun at the quietest place between its words of the last two seconds."""
    if line.words[-1].end < edge:
        return [line]
    seams = [(a.end, b.start) for a, b in pairwise(line.words) if max(border, edge - 2 * SAMPLE_RATE) < a.end < edge]
    if not seams:
        whole = tuple(w for w in line.words if w.end < edge)
        return [replace(line, words=whole, end=min(line.end, whole[-1].end))] if whole else []
    # Whisper's times are good to about 0.1 s.
    around = [(quietest(sound, a - SAMPLE_RATE // 10, max(a, b) + SAMPLE_RATE // 10), a) for a, b in seams]
    cut, last = min(around, key=lambda c: (float(np.mean(np.square(sound[c[0] - SAMPLE_RATE // 20 : c[0] + SAMPLE_RATE // 20]))), -c[0]))
    words = tuple(replace(w, end=min(w.end, cut)) for w in line.words if w.end <= last)
    return [replace(line, words=words, end=cut)]
