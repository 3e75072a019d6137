"""Long computations over a whole memory, beside its writer: commits, questions and corrections go on meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from m3desk import events
from m3desk.errors import Cancelled, MemoryBusy
from m3desk.store.memory import Memory
from m3desk.store.recomputing import Going, Recomputed
from m3desk.store.records import Records
from m3desk.writer import Write

T = TypeVar("T")
Compute = Callable[[Records], tuple[T, Recomputed | None]]

TRIES = 5
"""How often a state is computed beside the writer, before it is computed on the writer's thread: others commit faster than that."""

OFTEN = 0.1
"""Least seconds between two events of progress."""


class RecomputableMemory(Protocol):
    """An open memory."""

    emit: Callable[[Any], None]

    @property
    def write(self) -> Write: ...
    def reader(self) -> Records: ...
    def closing(self) -> bool: ...


def going(memory: RecomputableMemory, stage: events.Stage) -> Going:
    """Return what emits the progress of a long work, and ends it (raises Cancelled) when the memory is being closed."""
    began = time.monotonic()
    last = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal last
        if memory.closing():
            raise Cancelled("stopped.", "Nothing was changed.")
        now = time.monotonic()
        if now - last >= OFTEN or done == total > 0:
            last = now
            left = (now - began) * (total - done) / done if done else None
            memory.emit(events.Progress("", "", stage, done, total, None, left))

    return tell


def commit_beside(memory: RecomputableMemory, compute: Compute[T], prepare: Callable[[], object] = lambda: None) -> T:
    """Compute a state from a snapshot and commit it; again if what was committed meanwhile changes it. Return what `compute` found.

    `compute` returns None for the state if the snapshot lacks something that `prepare` makes; `prepare` is called before each try.
    Raises MemoryBusy if others commit all the time.
    """
    for _ in range(TRIES):
        prepare()
        with memory.reader() as reader:
            found, state = compute(reader)
        if state is not None and memory.write(lambda m, state=state: m.take(state)):  # type: ignore[misc]
            return found
    prepare()
    return memory.write(lambda m: _on_the_writer(m, compute))


def _on_the_writer(memory: Memory, compute: Compute[T]) -> T:
    found, state = compute(memory)
    if state is None or not memory.take(state):
        raise MemoryBusy(f"{memory.path} changed too often meanwhile.", "Pause memorizing and try again. Nothing was changed.")
    return found


def rebuild(memory: RecomputableMemory) -> None:
    """Compute the derived tables again from the log, then remove unused media and freed pages (`m3desk check --repair`)."""
    tell = going(memory, "rebuilding")
    commit_beside(memory, lambda reader: (None, reader.recomputed(tell)))
    memory.write(lambda m: m.sweep())
    tell(1, 1)
