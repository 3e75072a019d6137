"""Where the graph's labels have room: a coarse grid in which nodes and labels take cells. Pure; fast, as it runs each frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STEP = 7.0
"""Pixels of a cell: half a line of text."""


class Room:
    """One int a line of cells, one bit a cell: whether a label fits is an `and` per line."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width - 2, height - 2
        self.lines = [0] * (int(height / STEP) + 2)

    def mark(self, place: NDArray[np.float64], half: NDArray[np.float64]) -> None:
        """Take the squares around (n, 2) places, `half` (n,) pixels to each side."""
        low = np.maximum(((place - half[:, None]) / STEP).astype(int), 0)
        high = np.maximum(((place + half[:, None]) / STEP).astype(int), 0)
        high[:, 1] = np.minimum(high[:, 1], len(self.lines) - 1)
        lines = self.lines
        for (x0, y0), (x1, y1) in zip(low.tolist(), high.tolist(), strict=True):
            bits = ((1 << (x1 - x0 + 1)) - 1) << x0
            for y in range(y0, y1 + 1):
                lines[y] |= bits

    def spot(self, x: float, y: float, off: float, long_: float, tall: float, *, must: bool = False) -> tuple[float, float] | None:
        """Return the corner of a label beside a node at x, y and take its cells: right, left, below or above, `off` pixels away.

        None where there is no room; `must` covers what is there, but never leaves the widget.
        """
        for left, top in (
            (x + off, y - tall / 2),
            (x - off - long_, y - tall / 2),
            (x - long_ / 2, y + off - 1),
            (x - long_ / 2, y - off - tall),
        ):
            if left < 2 or top < 2 or left + long_ > self._width or top + tall > self._height:
                continue
            x0 = int(left / STEP)
            bits = ((1 << (int((left + long_) / STEP) - x0 + 1)) - 1) << x0
            rows = range(int(top / STEP), int((top + tall) / STEP) + 1)
            if not must and self._taken(rows, bits):
                continue
            for row in rows:
                self.lines[row] |= bits
            return left, top
        return None

    def _taken(self, rows: range, bits: int) -> bool:
        lines = self.lines
        for row in rows:  # noqa: SIM110  (a generator costs twice as much here)
            if lines[row] & bits:
                return True
        return False
