"""One clock for everything that is captured: sources' own time stamps are mapped to it, without their jitter and drift."""

from __future__ import annotations

import sys
import time
from collections import deque

# Time that goes on while the machine sleeps, so that a sleep is a gap of its real length. `time.monotonic` stands still then on Linux and
# macOS; Windows' own goes on.
_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", None)
if _CLOCK is None and sys.platform == "darwin":
    _CLOCK = getattr(time, "CLOCK_MONOTONIC", None)

MICROSECOND = 1_000_000


def now() -> float:
    """Return seconds of a clock that nobody sets, that goes on while the machine sleeps, and that all processes share."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


def wall() -> float:
    """Return the system's time of day in seconds since 1970, which anybody may set."""
    return time.time()


WINDOW = 10 * MICROSECOND
"""Over this time the quickest arrival is taken as the true delay: others waited in some queue."""

SLEW = 0.003
"""How much faster or slower than its own stamps a source's time may run, to follow a drift; clocks drift by 0.0002 at most."""

_FAST_FOR = 3 * MICROSECOND
_FAST = 0.05
_TOO_LATE = 40_000
"""An arrival so much earlier than it is stamped shows that the offset is wrong, and not only drifts: it is corrected fast. After a second
in which a busy machine read no sound, sound was late by 360 ms, and with `SLEW` alone for two minutes (`bench recording offset`)."""
_JUMP = MICROSECOND // 2
_LATE = 5 * MICROSECOND // 2


class Alignment:
    """Maps a source's own time stamps to the session's time, by when they arrive; all in microseconds.

    Each arrival is late by a delay that varies. The least delay of the last `WINDOW` gives the offset; a change of it is followed slowly,
    so that neither jitter nor a late packet moves anything. An offset that arrivals show to be too large by more than `_TOO_LATE` is
    corrected fast, and a jump of the stamps (a restarted source) is followed at once.
    """

    def __init__(self) -> None:
        self._offset: float | None = None
        self._least: deque[tuple[int, int]] = deque()  # (arrival, offset), offsets ascending
        self._last = 0
        self._began = 0
        self._in_time = 0

    def note(self, stamp: int, arrival: int) -> None:
        """Note that what has this stamp has arrived."""
        offset = arrival - stamp
        if self._offset is None or offset < self._offset - _JUMP:  # nothing arrives before it happened: the stamps jumped ahead
            self._restart(offset, arrival)
            return
        while self._least and self._least[-1][1] >= offset:
            self._least.pop()
        self._least.append((arrival, offset))
        while self._least[0][0] < arrival - WINDOW:
            self._least.popleft()
        wanted = self._least[0][1]
        if offset <= self._offset + _JUMP:
            self._in_time = arrival
        elif arrival - self._in_time > _LATE:  # late ever since: they jumped back
            self._restart(offset, arrival)
            return
        passed = max(0, arrival - self._last)
        fast = arrival - self._began < _FAST_FOR or self._offset - wanted > _TOO_LATE
        most = passed * (_FAST if fast else SLEW)
        self._offset += min(max(wanted - self._offset, -most), most)
        self._last = arrival

    def at(self, stamp: int) -> int:
        """Return the session's time of a stamp; call `note` before."""
        return round(stamp + (self._offset or 0.0))

    def _restart(self, offset: float, arrival: int) -> None:
        self._offset = float(offset)
        self._last = self._began = self._in_time = arrival
        self._least.clear()
        self._least.append((arrival, round(offset)))
