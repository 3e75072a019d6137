"""Models that do not fit on one graphics card together take turns: one is unloaded before the other works, and loaded again when needed.

The rule: a model may work while the sum of what the loaded ones need is at most what was free on the card before the first of them was
loaded. Otherwise those that were used longest ago are unloaded, as soon as they answer nobody. Who waited longest is next, also before a
further request to the model that is at work. Without a card nobody waits. Models of other processes of M3Desk are not known here: to them
the card is simply fuller.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from m3desk.children import cards, loading
from m3desk.children.waiting import LOOK
from m3desk.errors import Cancelled

WAITS = "waiting for {other} to finish: both do not fit on the graphics card"
LEAVES = "{other} is unloaded: both do not fit on the graphics card"
"""What is told while a model waits; the window has the same lines in its language (m3desk_ui.look.texts)."""


@dataclass(eq=False, slots=True)
class Loaded:
    """One model. `need`: bytes on the card while it works. `unload`: ends its process; the model loads again by itself."""

    name: str
    need: int
    unload: Callable[[], None]


class Card:
    """The models on the one graphics card that the engines use. Thread-safe."""

    def __init__(self, free: Callable[[], int | None] = cards.free) -> None:
        """`free`: returns the bytes that are free on the card, None where there is none; asked while no model is loaded."""
        self._free = free
        self._room: int | None = None
        self._changed = threading.Condition()
        self._loaded: list[Loaded] = []  # used longest ago first
        self._at_work: Counter[Loaded] = Counter()
        self._line: list[Loaded] = []

    @contextlib.contextmanager
    def at_work(self, model: Loaded, cancelled: Callable[[], bool] = lambda: False, *, part: bool = False) -> Iterator[None]:
        """Keep a model on the card while the block runs; first wait for, and unload, those that do not fit beside it. Raises Cancelled.

        `part`: this may be part of a request that is at work already, or hold up one: it waits for nobody while the model is at work.
        """
        self._enter(model, cancelled, part)
        try:
            yield
        finally:
            with self._changed:
                self._at_work[model] -= 1
                self._changed.notify_all()

    def left(self, model: Loaded) -> None:
        """Note that a model was unloaded by itself."""
        with self._changed:
            if model in self._loaded:
                self._loaded.remove(model)

    def _enter(self, model: Loaded, cancelled: Callable[[], bool], part: bool) -> None:
        with self._changed:
            # A further request to a model at work: with others in the line it waits for them, or they would wait as long as requests come.
            if self._at_work[model] and (part or not self._line):
                self._at_work[model] += 1
                return
            self._line.append(model)
        try:
            self._make_room(model, cancelled, part)
            with self._changed:
                if model in self._loaded:
                    self._loaded.remove(model)
                self._loaded.append(model)
                self._at_work[model] += 1
        finally:
            with self._changed:
                self._line.remove(model)
                self._changed.notify_all()

    def _make_room(self, model: Loaded, cancelled: Callable[[], bool], part: bool) -> None:
        """Wait until it is this model's turn, and unload what does not fit beside it."""
        said = False
        try:
            while True:
                with self._changed:
                    others = self._in_the_way(model)
                    at_work = next((o for o in others if self._at_work[o]), None)
                    mine = self._line[0] is model or (part and self._at_work[model] > 0)
                    if mine and at_work is None:
                        empty = not self._loaded
                        break
                    ahead = at_work or self._line[0]
                if not said and ahead is not model:
                    said = True
                    loading.tell(model.name, WAITS.format(other=ahead.name))
                with self._changed:
                    self._changed.wait(LOOK)
                if cancelled():
                    raise Cancelled("stopped.")
            for other in others:  # nobody gets past the head of the line meanwhile
                said = True
                loading.tell(model.name, LEAVES.format(other=other.name))
                other.unload()
                self.left(other)
            if empty:  # measured without the lock: it takes seconds, and nobody else loads before the head of the line does
                room = self._free()
                with self._changed:
                    self._room = room
        finally:
            if said:
                loading.tell(model.name, done=True)

    def _in_the_way(self, model: Loaded) -> list[Loaded]:
        """Return what must be unloaded for a model to work: those used longest ago first, and no more than needed."""
        others = [o for o in self._loaded if o is not model]
        if self._room is None:
            return []
        over = sum(o.need for o in others) + model.need - self._room
        found: list[Loaded] = []
        for other in sorted(others, key=lambda o: self._at_work[o] > 0):  # those that answer nobody first
            if over <= 0:
                break
            found.append(other)
            over -= other.need
        return found


CARD = Card()
"""The card of this process's models."""
