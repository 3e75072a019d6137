"""Runs Python's cyclic garbage collection on the GUI thread only.

By default the collector runs on whichever thread allocates, and a Qt object that is destroyed on another thread leaves its timers
registered: the event loop then calls into freed memory (seen as a crash in QTimerInfoList::activateTimers).
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_MS = 500
YOUNG = 3_000
"""Allocations beyond which the young generation is looked through; the older ones after so many rounds of the younger."""
MIDDLE, OLD = 10, 60


class Collector(QObject):
    """Disables automatic collection for the process and collects by a timer instead; lives as long as its parent."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        self._timer.start(LOOK_MS)

    def look(self) -> None:
        """Run the collection that is due; the oldest generation rarely, because it takes longest."""
        young, middle, old = gc.get_count()
        if old > OLD:
            gc.collect(2)
        elif middle > MIDDLE:
            gc.collect(1)
        elif young > YOUNG:
            gc.collect(0)
