"""Runs the layout in a process of its own, so that it never holds the window's interpreter lock. Independent of Qt; no call waits.

The child (`serve`) imports numpy only and ends when its pipe closes. A layout that nobody needs any more is kept for the next view.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import multiprocessing
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from m3desk_ui.graph.layout import LayoutThread, Points

log = logging.getLogger(__name__)

NICE = 5
RESTARTS = 2
PUBLISHED = 0.03
"""Seconds between two looks for new places in the child."""


def serve(pipe: Connection) -> None:
    """Lay out what the pipe tells to, and send places, until it closes."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import os

        os.nice(NICE)
    layout = LayoutThread()
    serial = 0
    try:
        while True:
            if wait([pipe], PUBLISHED):
                name, args = pipe.recv()
                if name == "show":
                    serial, *graph = args
                    layout.show(*graph)
                elif name == "forget":
                    layout.stop()
                    layout = LayoutThread()
                else:
                    getattr(layout, name)(*args)
                continue
            news = layout.take()
            if news is not None:
                shown, at, final = news
                if shown == serial:
                    pipe.send((shown, final))
                    pipe.send_bytes(np.ascontiguousarray(at, dtype=np.float32).tobytes())
    except (EOFError, OSError):
        layout.stop()


class _Child:
    """One process with its pipe, and the two threads that send and receive."""

    def __init__(self) -> None:
        self.orders: queue.SimpleQueue[tuple[str, tuple[Any, ...]] | None] = queue.SimpleQueue()
        self.news: Callable[[int, Points, bool], None] | None = None
        self.lost: Callable[[], None] | None = None
        self._telling = threading.Lock()
        threading.Thread(target=self._send, name="layout orders", daemon=True).start()

    def _send(self) -> None:
        """Start the process, then pass on what is ordered."""
        try:
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs,), name="m3desk-layout", daemon=True)
            process.start()
            theirs.close()
            threading.Thread(target=self._receive, args=(ours,), name="layout news", daemon=True).start()
            while (order := self.orders.get()) is not None:
                ours.send(order)
            ours.close()
        except (OSError, ValueError, RuntimeError) as error:
            if not _ended.is_set():
                log.warning("the layout process: %s", error)
            self._tell_lost()

    def _receive(self, pipe: Connection) -> None:
        try:
            while True:
                serial, final = pipe.recv()
                at = np.frombuffer(pipe.recv_bytes(), np.float32).reshape(-1, 2)
                if (tell := self.news) is not None:
                    tell(serial, at, final)
        except (EOFError, OSError, TypeError):  # TypeError: the pipe was closed here while it was read
            self._tell_lost()

    def _tell_lost(self) -> None:
        """Tell it once, whichever of the two threads notices first."""
        with self._telling:
            lost, self.lost, self.news = self.lost, None, None
        if lost is not None:
            lost()


_spare: list[_Child] = []
_ended = threading.Event()
"""The program ends, and with it the processes: none is started again."""
atexit.register(_ended.set)


class LayoutProcess:
    """What a view calls. `show` returns a number that `take` gives back with the places: of another number they are outdated."""

    def __init__(self) -> None:
        self._child: _Child | None = None
        self._serial = 0
        self._shown: tuple[Any, ...] | None = None
        self._pins: dict[str, tuple[float, float]] = {}
        self._latest: tuple[int, Points, bool] | None = None
        self._stood: Points | None = None
        """Where the nodes that are shown stood last, None before the first news of them."""
        self._lock = threading.Lock()
        self._deaths = 0
        self._stopped = False

    def show(
        self,
        ids: Sequence[str],
        links: NDArray[np.int32],
        pull: NDArray[np.float32],
        room: NDArray[np.float32] | None,
        start: Points | None = None,
    ) -> int:
        """Lay out this graph from now on, from where nodes stand (`start` if the layout does not know them). See `layout.regrown`."""
        self._serial += 1
        with self._lock:
            self._latest = self._stood = None
        self._shown = (ids, links, pull, room, start)
        self._order("show", self._serial, *self._shown, self._serial)
        return self._serial

    def pin(self, id_: str, x: float, y: float) -> None:
        self._pins[id_] = (x, y)
        self._order("pin", id_, x, y)

    def release(self, ids: Iterable[str]) -> None:
        now = list(ids)
        for id_ in now:
            self._pins.pop(id_, None)
        self._order("release", now)

    def arrange(self) -> None:
        self._order("arrange")

    def take(self) -> tuple[int, Points, bool] | None:
        """Return number, places and whether they are final, if there is news since the last call."""
        with self._lock:
            news, self._latest = self._latest, None
            return news

    def stop(self) -> None:
        """Leave the process to the next view."""
        self._stopped = True
        child, self._child = self._child, None
        if child is not None:
            child.news = child.lost = None
            if _spare:
                child.orders.put(None)
            else:
                child.orders.put(("forget", ()))
                _spare.append(child)

    def _order(self, name: str, *args: Any) -> None:
        if self._stopped:
            return
        if self._child is None:
            self._child = _spare.pop() if _spare else _Child()
            self._child.news, self._child.lost = self._hear, self._lost
        self._child.orders.put((name, args))

    def _hear(self, serial: int, at: Points, final: bool) -> None:
        with self._lock:
            if serial == self._serial:
                self._latest = (serial, at, final)
                self._stood = at

    def _lost(self) -> None:
        """Start again with what was shown last, from where it stood; after some deaths the nodes stay where they are."""
        self._child = None
        self._deaths += 1
        if _ended.is_set() or self._stopped or self._shown is None or self._deaths > RESTARTS:
            return
        *graph, start = self._shown
        with self._lock:
            start = start if self._stood is None else self._stood
        self._order("show", self._serial, *graph, start, self._serial)
        for id_, place in dict(self._pins).items():
            self._order("pin", id_, *place)
