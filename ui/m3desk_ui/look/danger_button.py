"""A button that deletes for good."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton

from m3desk_ui.look import theme


class DangerButton(QPushButton):
    """Is never the default, and Enter never presses it, even where a desktop lets Enter press what has the focus; Space and a click do."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setStyleSheet(f"color: {theme.colours().bad};")
        self.setAutoDefault(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()  # the dialog presses its default
        else:
            super().keyPressEvent(event)
