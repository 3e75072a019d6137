"""The player's clock: media time that follows the wall clock, or the sound device if there is sound."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from m3desk.domain.clip import MICROSECOND

# A sound that is further off than this was interrupted: follow it at once. Smaller differences are the callbacks' jitter.
_JUMP = 80_000
_SLEW = 0.1


class Clock:
    """Media time in microseconds; thread-safe. `now`: a monotonic clock in seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._at = 0.0
        self._wall = now()
        self._running = False
        self._speed = 1.0

    def read(self) -> int:
        """Return the current media time."""
        with self._lock:
            return round(self._read(self._now()))

    def _read(self, wall: float) -> float:
        return self._at + ((wall - self._wall) * self._speed * MICROSECOND if self._running else 0.0)

    @property
    def running(self) -> bool:
        return self._running

    def set(self, at: int | None = None, *, running: bool | None = None, speed: float | None = None) -> None:
        """Continue from `at` (default: the current time), running or not, at a speed."""
        with self._lock:
            wall = self._now()
            self._at = self._read(wall) if at is None else float(at)
            self._wall = wall
            self._running = self._running if running is None else running
            self._speed = self._speed if speed is None else speed

    def heard(self, at: int, wall: float) -> None:
        """Note that the sound of media time `at` is heard at `wall` seconds: small differences are smoothed, large ones jump."""
        with self._lock:
            if not self._running:
                return
            error = at - self._read(wall)
            now = self._now()
            self._at = self._read(now) + (error if abs(error) > _JUMP else error * _SLEW)
            self._wall = now
