"""A memory opened by a command: what the engine has to say about it goes to stderr, a warning a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from m3desk import app, events
from m3desk.cli.output import Out


def warn(event: Any) -> None:
    """Print a notice that is more than news."""
    if isinstance(event, events.Notice) and event.level != "info":
        Out().warn(f"{event.text} {event.hint}".strip())


class App(app.App):
    """The engine as commands open it."""

    def __init__(self, path: str | Path, *, emit: Callable[[Any], None] = warn, **how: Any) -> None:
        super().__init__(path, emit=emit, **how)


__all__ = ["App", "warn"]
