"""The memory writers by name: the built-in rules, and models that watch the clips (backends of the port `watcher`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from m3desk import config
from m3desk.backends import available
from m3desk.domain.visible import shortened
from m3desk.errors import UsageError
from m3desk.memorization.watched.writer import WatchedWriter
from m3desk.ports import WatchingModel

RULES = "rules"

KEPT = "writer."
"""What the memory's settings that keep the writers of its sources begin with; the source's id follows."""


class Watchers(Protocol):
    """The part of `Backends` that opens models that watch."""

    def chosen(self, port: str) -> str | None: ...
    def named(self, port: str, name: str) -> WatchingModel: ...


def check(name: str, backends: Watchers) -> None:
    """Raise UsageError if there is no such writer; opens no model."""
    known = names(backends)
    if name not in known:
        raise UsageError(f"there is no writer “{shortened(name)}”.", f"There are: {', '.join(known)}.")


def names(backends: Watchers) -> list[str]:
    """Return the writers that can be chosen: the rules, then the installed models that watch."""
    mine = backends.chosen("watcher")
    return [RULES, *sorted({*available("watcher"), *([mine] if mine else [])})]


def opened(name: str, backends: Watchers, cancelled: Callable[[], bool] = lambda: False) -> WatchedWriter:
    """Open a writer that watches; one that does not see is found out now, before any clip is perceived for it.

    Raises UsageError (no such writer, or its prompts can't be used), ModelError, Cancelled.
    """
    check(name, backends)
    prompts = config.backend_options(name).get("prompts")
    model = backends.named("watcher", name)
    if (try_it := getattr(model, "check", None)) is not None:
        try_it(cancelled)
    return WatchedWriter(model, name, Path(str(prompts)).expanduser() if prompts else None)
