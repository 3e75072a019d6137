"""Measures the window's event loop while a film plays, the graph grows and an answer is written, all at once. For the benchmark."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m3desk_ui import launch
from m3desk_ui.hub.services import Services, real
from m3desk_ui.hub.stall_probe import StallProbe
from m3desk_ui.look import theme
from m3desk_ui.video.probe import SIZE, intervals, load, until, wait
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState

if TYPE_CHECKING:
    from m3desk.ports import Desk

PATIENCE = 120.0
"""Seconds that the window is given to show the graph."""
COMMIT_EVERY = 2.0
"""Seconds: a clip of 30 s, so five times as fast as two cores memorize."""
FIRST = 2
"""Commits before the measuring begins."""
ASK = "measured"
"""The id of the question whose answer the engine writes."""


def measure(
    path: str,
    open_desk: Callable[[str], Desk],
    commit: Callable[[Desk, int], Future[None]],
    tell: Callable[[Desk, str], None],
    least: int,
    seconds: float,
) -> dict[str, Any]:
    """Open a memory in the real window; then play, let clips be committed and an answer come for so many seconds.

    It begins once `least` nodes are on show. `tell` has the engine write an answer to the question of that id. Returns milliseconds
    between two turns of the event loop.
    """
    sys.setswitchinterval(0.001)  # as the window does
    app = launch.make_app()
    theme.apply(app, "light")
    desks: list[Desk] = []

    def opened(memory: str) -> Desk:
        desks.append(open_desk(memory))
        return desks[-1]

    window = MainWindow(Services(opened, real().make_player, lambda p: p, dict), WindowState())
    window.resize(*SIZE)
    window.expect_memory()
    window.show()
    window.open_memory(path)
    window.dock_area.load_rest()
    views = window.dock_area.views
    until(lambda: {"graph", "chat", "people"} <= set(views) and window.video.canvas.image is not None, PATIENCE)
    graph: Any = views["graph"]
    chat: Any = views["chat"]
    graph.bar.everything.setChecked(True)

    def nodes() -> int:
        return len(graph.canvas.scene.nodes)

    until(lambda: nodes() >= least, PATIENCE)
    wait(3.0)
    launch._freeze()
    chat._turns[ASK] = chat._new_turn("What happens?")
    at_first = nodes()
    for number in range(FIRST):  # the engine computes its state with the first, its questions before the second
        done = commit(desks[0], number)
        until(done.done, PATIENCE)
    until(lambda: nodes() > at_first, PATIENCE)
    before, painted = nodes(), _counted(window.video.canvas, graph.canvas, chat._turns[ASK].answer)
    window.video.play()
    tell(desks[0], ASK)
    wait(1.0)
    for count in painted:
        count[0] = 0
    probe = StallProbe(Path(), window)
    began, spent, own, number = time.monotonic(), time.process_time(), time.thread_time(), FIRST
    while time.monotonic() - began < seconds:
        commit(desks[0], number)
        number += 1
        wait(COMMIT_EVERY)
    took = time.monotonic() - began
    found = {
        "seconds": round(took, 1), "load": load(), "nodes": before, "grown": nodes() - before, "commits": number - FIRST,
        "loop": intervals(probe), "worst": probe.summary()["worst"],
        "gui_share": round((time.thread_time() - own) / took, 2), "process_share": round((time.process_time() - spent) / took, 2),
        **{name: round(count[0] / took, 1) for name, count in zip(("pictures", "graph_frames", "answer_frames"), painted, strict=True)},
        "boxes": len(window.video.canvas.boxes()),
    }  # fmt: skip
    window.close()
    return found


def _counted(*widgets: Any) -> list[list[int]]:
    """Count how often each widget is painted."""
    counts = []
    for widget in widgets:
        count = [0]
        paint = widget.paintEvent

        def painted(event: Any, paint: Any = paint, count: list[int] = count) -> None:
            count[0] += 1
            paint(event)

        widget.paintEvent = painted
        counts.append(count)
    return counts
