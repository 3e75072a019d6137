"""Text on screen: when to run text recognition, which results are the same text, and during which time span it is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.evidence import Box, TextOnScreen
from m3desk.domain.geometry import iou
from m3desk.perception.scenes import shrink
from m3desk.ports import Picture, ReadText

Grey = NDArray[np.uint8]

GREY = 320
"""Width of the grey picture kept of every frame, to find the time span of a text."""


@dataclass(frozen=True, slots=True)
class FrameText:
    """The text recognised at one moment, boxes in pixels of the displayed frame."""

    at: int
    texts: tuple[ReadText, ...]


@dataclass(slots=True)
class _Line:
    """One text in several recognitions."""

    readings: list[tuple[int, ReadText]] = field(default_factory=list)


def grey(picture: Picture) -> Grey:
    """Return the picture in grey, at most GREY pixels wide."""
    return np.asarray(cv2.cvtColor(shrink(picture, GREY)[0], cv2.COLOR_BGR2GRAY), np.uint8)


def changed(old: Grey | None, new: Grey, faces: Sequence[Box], scale: float) -> bool:
    """Return whether the picture changed enough, except in faces: a tile of 20 × 20 by more than 10 of 255 on average.

    `faces`: boxes in frame pixels; `scale`: grey pixels per frame pixel.
    """
    if old is None or old.shape != new.shape:
        return True
    difference = cv2.absdiff(old, new)
    for x, y, w, h in faces:
        # A talking head moves its hair and shoulders too.
        left, top, right, bottom = (x - 0.4 * w) * scale, (y - 0.5 * h) * scale, (x + 1.4 * w) * scale, (y + 1.5 * h) * scale
        difference[max(0, int(top)) : max(0, int(bottom) + 1), max(0, int(left)) : max(0, int(right) + 1)] = 0
    tiles = cv2.resize(difference, (max(1, new.shape[1] // 20), max(1, new.shape[0] // 20)), interpolation=cv2.INTER_AREA)
    return bool(tiles.max() > 10)


def plain(text: str) -> str:
    """Return the letters and digits of a text without case, for comparison."""
    return "".join(c for c in text.casefold() if c.isalnum())


def same_text(a: ReadText, b: ReadText) -> bool:
    """Return whether two recognised lines are one text: nearly the same words, or similar words in the same place."""
    left, right = plain(a.text), plain(b.text)
    if not left or not right:
        return False
    ratio = SequenceMatcher(None, left, right, autojunk=False).ratio()
    return ratio >= 0.9 or (ratio >= 0.6 and iou(a.box, b.box) >= 0.3)


def texts_on_screen(
    clip: str, readings: Sequence[FrameText], greys: Sequence[tuple[int, Grey]], scale: float, end: int
) -> tuple[TextOnScreen, ...]:
    """Join recognised lines into texts with time spans, without those that are not text; by start, then from top to bottom.

    `greys`: (time, grey picture) of every frame, `scale`: grey pixels per frame pixel; `end`: the clip's end.
    """
    found = []
    for line, (start, stop) in _joined([(line, _span(line, greys, scale, end)) for line in _lines(readings)]):
        best = best_reading([r for _, r in line.readings])
        if not believable(best, len(line.readings)):
            continue
        found.append(TextOnScreen(clip, start, stop, best.text, round(best.score, 4), tuple(round(v, 1) for v in best.box)))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda t: (t.start, t.box[1], t.box[0], t.text)))


def _lines(readings: Sequence[FrameText]) -> list[_Line]:
    """Link each text from one recognition to the next; one missed recognition does not end it."""
    lines: list[_Line] = []
    recent: list[list[_Line]] = []
    for reading in readings:
        candidates = [line for group in recent[-2:] for line in group]
        now: list[_Line] = []
        for text in reading.texts:
            fitting = [c for c in candidates if c not in now and same_text(c.readings[-1][1], text)]
            if fitting:
                line = max(fitting, key=lambda c: (iou(c.readings[-1][1].box, text.box), c.readings[-1][0]))
            else:
                line = _Line()
                lines.append(line)
            line.readings.append((reading.at, text))
            now.append(line)
        recent.append(now)
    return lines


def _joined(lines: list[tuple[_Line, tuple[int, int]]]) -> list[tuple[_Line, tuple[int, int]]]:
    """Join lines at the same place and time with similar text: for example, one was recognised without its first letter."""
    kept: list[tuple[_Line, tuple[int, int]]] = []
    for line, (start, end) in lines:
        for i, (other, (first, last)) in enumerate(kept):
            here, there = line.readings[0][1], other.readings[-1][1]
            if start < last and first < end and iou(here.box, there.box) >= 0.25 and same_text(here, there):
                kept[i] = (_Line(sorted([*other.readings, *line.readings], key=lambda r: r[0])), (min(start, first), max(end, last)))
                break
        else:
            kept.append((line, (start, end)))
    return kept


def best_reading(readings: Sequence[ReadText]) -> ReadText:
    """Return the most frequent result (scores of equal results are added); of those with the same letters, the one with more spaces.

    The model loses spaces ("JEFFSTEEN") more often than it adds them.
    """
    votes: dict[str, float] = defaultdict(float)
    for r in readings:
        votes[plain(r.text)] += r.score**2
    winner = max(votes, key=lambda k: (votes[k], len(k), k))
    return max((r for r in readings if plain(r.text) == winner), key=lambda r: (r.text.count(" "), r.score, r.text))


def believable(text: ReadText, seen: int) -> bool:
    """Return whether a result is text: patterns and corners give one or two characters; a single one may be a Chinese word."""
    signs = len(plain(text.text))
    if signs >= 4:
        return text.score >= (0.75 if seen > 1 else 0.85)
    if signs >= 2:
        return text.score >= (0.9 if seen > 1 else 0.97)
    return signs == 1 and ord(plain(text.text)) >= 0x2E80 and text.score >= 0.98 and seen >= 3


def _span(line: _Line, greys: Sequence[tuple[int, Grey]], scale: float, end: int) -> tuple[int, int]:
    """Return the time span in which the text's place is similar to the frame where it was first (and last) recognised."""
    (first, opening), (last, closing) = line.readings[0], line.readings[-1]
    times = [at for at, _ in greys]
    i, k = times.index(first), times.index(last)
    while i > 0 and _same_place(greys[i - 1][1], greys[times.index(first)][1], opening.box, scale):
        i -= 1
    while k + 1 < len(greys) and _same_place(greys[k + 1][1], greys[times.index(last)][1], closing.box, scale):
        k += 1
    return times[i], times[k + 1] if k + 1 < len(times) else end


def _same_place(a: Grey, b: Grey, box: Box, scale: float) -> bool:
    """Return whether a text's place is similar in two grey pictures (correlation of at least 0.7)."""
    x, y = max(0, int(box[0] * scale)), max(0, int(box[1] * scale))
    right, bottom = int((box[0] + box[2]) * scale) + 1, int((box[1] + box[3]) * scale) + 1
    one, other = a[y:bottom, x:right].astype(np.float32), b[y:bottom, x:right].astype(np.float32)
    if one.size < 4:
        return False
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return size > 0 and float((one * other).sum()) / size >= 0.7
