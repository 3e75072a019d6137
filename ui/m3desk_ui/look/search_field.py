"""A line to find or filter by, which says what it is for in every way: placeholder, tooltip, and to a screen reader."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from m3desk_ui.look import plain

ROOM = 22
"""Pixels of the line's width that no letter gets: border and padding of the style (16), Qt's own margin (4), and 2 for rounding."""


class SearchField(QLineEdit):
    """A line with a button that empties it. `say` gives it its words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ("",)
        self.setClearButtonEnabled(True)

    def say(self, words: str, name: str = "", *, short: str = "") -> None:
        """Set what stands in it while it is empty; `short` where it is narrow. `name`: what a screen reader says of it, if that is more."""
        self._words = (words, short or words)
        if short:
            self.setMinimumWidth(self.fontMetrics().horizontalAdvance(short) + ROOM)
        self._fit()
        self.setAccessibleName(name or words)
        plain.tip(self, name or words)  # a narrow line cuts its placeholder
        for button in self.findChildren(QToolButton):
            button.setAccessibleName(self.tr("Clear"))
            plain.tip(button, self.tr("Clear"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        words = next((w for w in self._words if self.fontMetrics().horizontalAdvance(w) <= self.width() - ROOM), self._words[-1])
        if words != self.placeholderText():
            self.setPlaceholderText(words)
