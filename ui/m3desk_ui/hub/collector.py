"""Collects Python's cyclic garbage on the GUI thread only.

Left to itself the collector runs on whatever thread allocates, and a Qt object that dies on another thread leaves its timers behind:
the event loop then calls into freed memory (seen as a crash in QTimerInfoList::activateTimers).
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_MS = 500
YOUNG = 3_000
"""Allocations beyond which the young generation is looked through; the older ones after so many rounds of the younger."""
MIDDLE, OLD = 10, 60


class Collector(QObject):
    """Turns the automatic collector off for the process and does its rounds by a timer; lives as long as its parent."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        self._timer.start(LOOK_MS)

    def look(self) -> None:
        """Do the round that is due, the oldest generation rarely: it is the one that takes long."""
        young, middle, old = gc.get_count()
        if old > OLD:
            gc.collect(2)
        elif middle > MIDDLE:
            gc.collect(1)
        elif young > YOUNG:
            gc.collect(0)
