"""Several requests to one model at the same time, where the model can: who may ask, and answers in the order of the questions.

A model says by `at_once` how many requests it answers at the same time (`ports.SeveralAtOnce`); one that does not say answers one.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from m3desk.children.waiting import LOOK
from m3desk.errors import Cancelled

T = TypeVar("T")
R = TypeVar("R")

Stop = Callable[[], bool]


def at_once(model: object) -> int:
    """Return how many requests a model answers at the same time now, at least 1."""
    return max(1, int(getattr(model, "at_once", 1)))


class Places:
    """Places for requests: only one model is at work at a time, with as many requests as it answers at once. Who came first is first.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._at_work: list[object] = []
        self._line: list[object] = []
        self._away: set[object] = set()

    @contextlib.contextmanager
    def taken(self, model: object, most: Callable[[], int], cancelled: Stop = lambda: False) -> Iterator[None]:
        """Hold a place while the block runs; wait for one. `most`: asked again while it waits. Raises Cancelled.

        `cancelled` may wait, as that of work that is paused does: others go first meanwhile.
        """
        self._wait(model, most, cancelled)
        try:
            yield
        finally:
            with self._changed:
                self._at_work.remove(model)
                self._changed.notify_all()

    def _wait(self, model: object, most: Callable[[], int], cancelled: Stop) -> None:
        ticket = object()
        with self._changed:
            self._line.append(ticket)
        try:
            while True:
                with self._changed:
                    self._away.discard(ticket)
                    first = next(t for t in self._line if t not in self._away)
                    if first is ticket and self._free(model, most):
                        self._at_work.append(model)
                        return
                    self._changed.wait(LOOK)
                    self._away.add(ticket)
                if cancelled():
                    raise Cancelled("stopped.")
        finally:
            with self._changed:
                self._line.remove(ticket)
                self._away.discard(ticket)
                self._changed.notify_all()

    def _free(self, model: object, most: Callable[[], int]) -> bool:
        return not self._at_work or (all(other is model for other in self._at_work) and len(self._at_work) < most())


def in_order(items: Iterable[T], ask: Callable[[T, Stop], R], most: Callable[[], int]) -> Generator[tuple[T, Future[R]], None, None]:
    """Yield each item with its answer (or error) as soon as those before it were yielded; several are asked at the same time.

    `ask(item, stopped)`: called in threads of its own, at most `most()` at a time; where that is 1, in the caller's. `items` are taken in
    the caller's thread, each when it is asked; no more than twice `most()` are asked and not yielded. An error of `items` is raised when
    all before it were yielded, Cancelled at once. When the caller stops taking (also by an error or Ctrl-C), `stopped` becomes true, and
    this returns when all threads have ended.
    """
    stop = threading.Event()
    changed = threading.Condition()
    asked: deque[tuple[T, Future[R]]] = deque()
    running: list[threading.Thread] = []

    def answer(item: T, into: Future[R]) -> None:
        try:
            into.set_result(ask(item, stop.is_set))
        except BaseException as error:
            into.set_exception(error)
        with changed:
            changed.notify_all()

    waiting = iter(items)
    left = True
    fault: Exception | None = None
    try:
        while left or asked:
            running = [t for t in running if t.is_alive()]
            width = max(1, most())
            while left and len(running) < width and len(asked) < 2 * width:
                try:
                    item = next(waiting)
                except StopIteration:
                    left = False
                    break
                except Cancelled:
                    raise
                except Exception as error:
                    left, fault = False, error
                    break
                future: Future[R] = Future()
                asked.append((item, future))
                if width == 1:
                    answer(item, future)
                    break
                thread = threading.Thread(target=answer, args=(item, future), name="asks a model", daemon=True)
                thread.start()
                running.append(thread)
            if asked and asked[0][1].done():
                yield asked.popleft()
            elif asked:
                with changed:
                    changed.wait(LOOK)
        if fault is not None:
            raise fault
    finally:
        stop.set()
        for thread in running:
            thread.join()


__all__ = ["Places", "at_once", "in_order"]
