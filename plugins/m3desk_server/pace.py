"""How many requests a server is sent at the same time, and when: fewer, and later, once it said that they are too many (status 429)."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator

from m3desk.errors import Cancelled

log = logging.getLogger(__name__)

RECOVERY = 10
"""Answers in a row after which one request more is allowed again."""

UNLIMITED = 1 << 30

LOOK = 0.05
"""Seconds between looks at `cancelled` while it waits."""


class Pace:
    """The pace of one server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._allowed = UNLIMITED
        self._answered = 0
        self._not_before = 0.0

    @property
    def allowed(self) -> int:
        """Return how many requests may run now."""
        return self._allowed

    @contextlib.contextmanager
    def request(self) -> Iterator[None]:
        """Count a request while the block runs."""
        with self._lock:
            self._running += 1
        try:
            yield
            with self._lock:
                self._answered += 1
                if self._answered >= RECOVERY and self._allowed < UNLIMITED:
                    self._answered, self._allowed = 0, self._allowed + 1
        finally:
            with self._lock:
                self._running -= 1

    def too_many(self, seconds: float) -> None:
        """Note that the server refused a request for being one too many, and how long it asks to wait: all wait that long."""
        with self._lock:
            if time.monotonic() >= self._not_before:  # those refused together count once
                self._allowed = max(1, min(self._allowed, self._running) // 2)
                log.info("the server gets too many requests: %d at a time from now on", self._allowed)
            self._answered = 0
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def wait(self, cancelled: Callable[[], bool]) -> None:
        """Wait until the next request may be sent. Raises Cancelled."""
        while time.monotonic() < self._not_before:
            if cancelled():
                raise Cancelled("stopped.")
            time.sleep(LOOK)
