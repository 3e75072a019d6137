"""The waveform's row of the timeline: peaks at several resolutions, so that an hour costs no more to draw than a second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from m3desk.domain.waveform import STEP

FACTOR = 8
"""How many peaks of one level are one of the next."""


@dataclass(frozen=True, slots=True)
class Wave:
    """The peaks of one source. `levels`: the first as they were read, each next one with an eighth of them (their maxima)."""

    source: str
    levels: tuple[NDArray[np.uint8], ...]

    @staticmethod
    def of(source: str, content: bytes) -> Wave:
        """Make it of what the reader gives."""
        levels = [np.frombuffer(content, np.uint8)]
        while len(levels[-1]) > 4 * FACTOR:
            last = levels[-1]
            levels.append(np.maximum.reduceat(last, np.arange(0, len(last), FACTOR)))
        return Wave(source, tuple(levels))

    def columns(self, start: int, end: int, width: int) -> NDArray[np.uint8]:
        """Return the highest peak in each of `width` columns of [start, end) microseconds; 0 outside of the source."""
        level = 0
        while level + 1 < len(self.levels) and (end - start) > width * 2 * STEP * FACTOR ** (level + 1):
            level += 1
        peaks, step = self.levels[level], STEP * FACTOR**level
        edges = (start + (end - start) * np.arange(width + 1, dtype=np.int64) // width) // step
        first, last = edges[:-1], np.maximum(edges[1:], edges[:-1] + 1)
        found = np.zeros(width, np.uint8)
        there = (last > 0) & (first < len(peaks))
        if not there.any():
            return found
        first, last = np.clip(first[there], 0, len(peaks) - 1), np.clip(last[there], 1, len(peaks))
        pairs = np.stack([first, last], axis=1).ravel()
        found[there] = np.maximum.reduceat(np.append(peaks, np.uint8(0)), pairs)[::2]
        return found


def picture(columns: NDArray[np.uint8], height: int, colour: QColor) -> QImage:
    """Return a picture of the waveform, as wide as there are columns; silence is a thin line, what lies outside is clear."""
    half = np.maximum(columns.astype(np.int32) * height // 510, 0)
    rows = np.abs(np.arange(height) - height // 2)[:, None]
    pixels = np.where(rows <= half[None, :], np.uint32(colour.rgba()), np.uint32(0))
    pixels = np.ascontiguousarray(pixels, np.uint32)
    return QImage(pixels.data, len(columns), height, 4 * len(columns), QImage.Format.Format_ARGB32).copy()
