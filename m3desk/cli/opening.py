"""Opens a memory for a command and prints the engine's warnings to stderr, one per line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from m3desk import app, events
from m3desk.cli.output import Out
from m3desk.errors import MemoryProblem
from m3desk.store.forgetting import pending


def warn(event: Any) -> None:
    """Print a notice of level warning or error."""
    if isinstance(event, events.Notice) and event.level != "info":
        Out().warn(f"{event.text} {event.hint}".strip())


class App(app.App):
    """The engine as commands open it: even a read-only command first finishes an interrupted forgetting, unless `finish` is False.

    If the memory can't be written to now, it warns that the forgetting is unfinished.
    """

    def __init__(self, path: str | Path, *, emit: Callable[[Any], None] = warn, finish: bool = True, **how: Any) -> None:
        if finish and not how.get("write", True) and pending.marks(Path(path)):
            with contextlib.suppress(MemoryProblem):
                app.App(path, emit=emit).close()
        super().__init__(path, emit=emit, **how)


__all__ = ["App", "warn"]
