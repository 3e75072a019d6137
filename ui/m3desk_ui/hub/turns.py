"""Spreads work over the turns of the event loop: what can wait is not done in a turn that has already done much."""

from __future__ import annotations

import time
from weakref import WeakKeyDictionary

import shiboken6
from PySide6.QtCore import QAbstractEventDispatcher, QObject, QTimer

MUCH = 0.001
"""Seconds of the thread's processor after which a turn takes no more work that can wait."""
PATIENCE = 4
"""Turns in a row that one piece of work waits at most."""


class Turns(QObject):
    """Knows how much of the processor the current turn of this thread's event loop has had. Use `turns()`."""

    def __init__(self, dispatcher: QAbstractEventDispatcher) -> None:
        super().__init__(dispatcher)
        self._began = time.thread_time()
        self._waited: WeakKeyDictionary[QTimer, int] = WeakKeyDictionary()
        dispatcher.awake.connect(self._begin)
        dispatcher.aboutToBlock.connect(self._begin)

    def _begin(self) -> None:
        self._began = time.thread_time()

    def spent(self) -> float:
        """Return the seconds of processor that this turn has had."""
        return time.thread_time() - self._began

    def put_off(self, timer: QTimer) -> bool:
        """Start a timer again if this turn has done much already; say whether. For the first line of what it calls."""
        waited = self._waited.get(timer, 0)
        if waited < PATIENCE and self.spent() > MUCH:
            self._waited[timer] = waited + 1
            timer.start()
            return True
        self._waited[timer] = 0
        return False


_turns: Turns | None = None


def turns() -> Turns:
    """Return the turns of the program's event loop; made with the first call, on the GUI thread."""
    global _turns
    if _turns is None or not shiboken6.isValid(_turns):
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None, "no application yet"
        _turns = Turns(dispatcher)
    return _turns
