"""Measures the window's cost of one commit: CPU time of the GUI thread and the reading thread. For the benchmark."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractEventDispatcher, QEventLoop, Qt, QTimer

from m3desk_ui import launch
from m3desk_ui.hub.services import Services
from m3desk_ui.look import theme
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState

if TYPE_CHECKING:
    from m3desk.ports import Desk

COLUMNS = 3
QUIET = 0.1
"""Share of a processor below which the window counts as being at rest."""
PATIENCE = 300.0
"""Seconds that the window is given to come to rest after opening."""


def measure(
    path: str, open_desk: Callable[[str], Desk], commit: Callable[[Desk, int], None], count: int, seconds: float, observation: str
) -> dict[str, Any]:
    """Open a memory with every dock on show, commit `count` times and return milliseconds a commit, less what the window takes at rest.

    `why`, `why_reading`: milliseconds by the clock until the inspector tells why an observation is bound to its person, and of the reading
    thread's processor for that. `seconds`: how long each commit is watched. `turn`: the longest turn of the event loop, own processor time
    and by the clock.
    """
    sys.setswitchinterval(0.001)
    app = launch.make_app()
    theme.apply(app, "light")
    desks: list[Desk] = []

    def opened(memory: str) -> Desk:
        desks.append(open_desk(memory))
        return desks[-1]

    window = MainWindow(Services(opened, lambda *_: None, lambda p: p, dict), WindowState())
    window.resize(2300, 1500)
    window.show()
    window.open_memory(path)
    window.dock_area.load_rest()
    _run(3)
    show_all_docks(window)
    probe = _Probe(window)
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE and probe.take(1.5)["process"] > 1500 * QUIET:
        pass
    loaded = time.monotonic() - began
    rest = [probe.take(seconds) for _ in range(2)]
    rows = []
    for number in range(count):
        commit(desks[0], number)
        rows.append(probe.take(seconds))
    why = probe.time_why(window, observation)
    window.close()
    found = {name: statistics.median(r[name] for r in rows) for name in rows[0]}
    idle = {name: statistics.median(r[name] for r in rest) for name in rows[0]}
    less = {name: round(max(0.0, found[name] - idle[name]), 1) for name in ("gui", "reading", "process")}
    return {
        **less,
        **why,
        **{name: round(max(r[name] for r in rows), 1) for name in ("turn", "turn_clock")},
        "opened_seconds": round(loaded, 1),
    }


def show_all_docks(window: MainWindow) -> None:
    """Put every dock beside the others, none behind another as a tab."""
    names = list(window.docks)
    for dock in window.docks.values():
        window.removeDockWidget(dock)
    size = -(-len(names) // COLUMNS)
    left = None
    for column in (names[i : i + size] for i in range(0, len(names), size)):
        head = window.docks[column[0]]
        if left is None:
            window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, head)
        else:
            window.splitDockWidget(left, head, Qt.Orientation.Horizontal)
        above = left = head
        for name in column[1:]:
            window.splitDockWidget(above, window.docks[name], Qt.Orientation.Vertical)
            above = window.docks[name]
    for dock in window.docks.values():
        dock.show()


class _Probe:
    """Processor times of the window's threads, in milliseconds."""

    def __init__(self, window: MainWindow) -> None:
        self._reads = window.hub.reads_thread()
        self._turn = self._clock = self._longest = self._longest_clock = 0.0
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.awake.connect(self._wake)
        dispatcher.aboutToBlock.connect(self._block)

    def _wake(self) -> None:
        self._turn, self._clock = time.thread_time(), time.perf_counter()

    def _block(self) -> None:
        self._longest = max(self._longest, time.thread_time() - self._turn)
        self._longest_clock = max(self._longest_clock, time.perf_counter() - self._clock)

    def _reading(self) -> float:
        return time.clock_gettime(time.pthread_getcpuclockid(self._reads)) if hasattr(time, "pthread_getcpuclockid") else 0.0

    def time_why(self, window: MainWindow, observation: str) -> dict[str, float]:
        """Select an observation and wait for the reasons of its binding."""
        inspector: Any = window.docks["inspector"].widget()
        reading, began = self._reading(), time.perf_counter()
        window.hub.selection.select("observation", observation)
        while inspector.reasons_of != observation and time.perf_counter() - began < PATIENCE:
            _run(0.005)
        told = time.perf_counter()
        return {"why": round((told - began) * 1000, 1), "why_reading": round((self._reading() - reading) * 1000, 1)}

    def take(self, seconds: float) -> dict[str, float]:
        """Let the window run, and return what that took."""
        self._longest = self._longest_clock = 0.0
        gui, reading, process = time.thread_time(), self._reading(), time.process_time()
        _run(seconds)
        return {
            "gui": (time.thread_time() - gui) * 1000,
            "reading": (self._reading() - reading) * 1000,
            "process": (time.process_time() - process) * 1000,
            "turn": self._longest * 1000,
            "turn_clock": self._longest_clock * 1000,
        }


def _run(seconds: float) -> None:
    loop = QEventLoop()  # not the application's own: its `quit` closes the windows
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()
