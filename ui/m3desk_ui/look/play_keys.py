"""Space and K play or pause also while a list of moments has the focus: no letters are typed there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView

KEYS = (Qt.Key.Key_Space, Qt.Key.Key_K)


def plays(event: QKeyEvent) -> bool:
    """Return whether a key that nothing else uses plays or pauses."""
    return event.key() in KEYS and not event.modifiers()


class PlayKeys(QObject):
    """Gives the two keys of one list to `toggle`. They stay the list's own while a row is edited."""

    def __init__(self, of: QAbstractItemView, toggle: Callable[[], None]) -> None:
        super().__init__(of)
        self._toggle = toggle
        of.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and plays(event):
            self._toggle()
            return True
        return False
