"""What a backend says while it loads for long: told by the backend, heard by whoever shows it (the window's status bar, the terminal).

A backend in this process has no way to the window; it may start in the middle of a question or of a clip.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

Listener = Callable[[str, bool, str], None]
"""Gets the backend's name, whether it is done, and its last line."""

_listeners: list[Listener] = []
_lock = threading.Lock()


def listen(listener: Listener) -> Callable[[], None]:
    """Call a listener from now on, in any thread; return what ends that."""
    with _lock:
        _listeners.append(listener)

    def end() -> None:
        with _lock, contextlib.suppress(ValueError):
            _listeners.remove(listener)

    return end


def tell(name: str, line: str = "", *, done: bool = False) -> None:
    """Say that a backend is loading (`line`: what it says itself), or that it has loaded or failed (`done`)."""
    with _lock:
        heard = list(_listeners)
    for listener in heard:
        listener(name, done, line)


@contextlib.contextmanager
def told(name: str) -> Iterator[Callable[[str], None]]:
    """Tell that a backend is loading while the block runs; the function given tells its lines."""
    tell(name)
    try:
        yield lambda line: tell(name, line)
    finally:
        tell(name, done=True)
