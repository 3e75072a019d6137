"""Measures when a memory that is opened can be seen: the window itself, the people list, the graph. For the benchmark."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from m3desk_ui import launch
from m3desk_ui.window.main_window import MainWindow

PATIENCE = 120_000
"""Milliseconds after which the window is closed, seen or not."""


class _Painted(QObject):
    """Notes when a widget is first painted with something in it."""

    def __init__(self, began: float, moments: dict[str, tuple[float, float]], parent: QObject) -> None:
        super().__init__(parent)
        self.moments = moments
        self._began = began
        self._shown: dict[QObject, tuple[str, Any]] = {}

    def follow(self, name: str, widget: QWidget, full: Any) -> None:
        """Note when `widget` is painted for the first time while `full()` is true."""
        self._shown[widget] = (name, full)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and watched in self._shown:
            name, full = self._shown[watched]
            if name not in self.moments and full():
                QTimer.singleShot(0, self, lambda: self._note(name))  # after the painting
        return False

    def _note(self, name: str) -> None:
        self.moments.setdefault(name, (round(time.perf_counter() - self._began, 2), round(time.process_time(), 2)))


def watch(began: float, moments: dict[str, tuple[float, float]]) -> None:
    """Note (seconds by the clock, seconds of this process' processor) of each first painting in `moments`; then close the window."""
    app = launch.make_app()
    painted = _Painted(began, moments, app)
    look = QTimer(painted, interval=5)

    def find() -> None:
        window = next((w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)), None)
        if window is None:
            return
        if "window" not in painted.moments and window.isVisible():
            painted._note("window")
        views = window.dock_area.views
        for name, full in (("people", lambda v: v.model.rowCount() > 0), ("graph", lambda v: len(v.canvas.scene.nodes) > 0)):
            view: Any = views.get(name)
            target = view and (view.list.viewport() if name == "people" else view.canvas)
            if target is not None and target not in painted._shown:
                painted.follow(name, target, lambda v=view, f=full: f(v))
        if {"people", "graph"} <= set(painted.moments):
            window.close()

    look.timeout.connect(find)
    look.start()
    QTimer.singleShot(PATIENCE, app, app.closeAllWindows)
