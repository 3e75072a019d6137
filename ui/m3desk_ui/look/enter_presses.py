"""Enter presses a tool button that has the focus, as Space does: left to Qt, Enter goes on to what is around the button."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from shiboken6 import isValid

KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class EnterPresses(QObject):
    """Watches the one tool button of the program that has the focus: an event filter on all widgets would cost time at every event."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._of: QToolButton | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._changed)

    def _changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        if self._of is not None and isValid(self._of):
            self._of.removeEventFilter(self)
        self._of = now if isinstance(now, QToolButton) else None
        if self._of is not None:
            self._of.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent) or not isinstance(watched, QToolButton):
            return False
        if event.key() not in KEYS or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if not event.isAutoRepeat():
            watched.click()
        return True
