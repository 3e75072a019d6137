"""The form of a waveform: one byte for each hundredth of a second of a source's sound."""

from __future__ import annotations

from m3desk.domain.clip import MICROSECOND

RATE = 100
"""Peaks a second; each is a byte."""

STEP = MICROSECOND // RATE
"""Microseconds of a peak."""

LONGEST = 30 * 3_600 * RATE
"""Peaks at most: a recording ends after 24 h."""


def peaks_of(start: int, end: int) -> slice:
    """Return the peaks that tell of any moment in [start, end) microseconds."""
    return slice(max(0, start // STEP), max(0, -(-end // STEP)))
