"""Waits for a model that answers somebody else, so that the waiting can be stopped."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from m3desk.errors import Cancelled

LOOK = 0.05
"""Seconds between looks at `cancelled`."""


@contextlib.contextmanager
def held(lock: threading.Lock, cancelled: Callable[[], bool]) -> Iterator[None]:
    """Hold a lock while the block runs. Raises Cancelled when `cancelled` becomes true while somebody else holds it."""
    while not lock.acquire(timeout=LOOK):
        if cancelled():
            raise Cancelled("stopped.")
    try:
        yield
    finally:
        lock.release()
