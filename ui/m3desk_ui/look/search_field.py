"""A line to find or filter by, which says what it is for in every way: placeholder, tooltip, and to a screen reader."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from m3desk_ui.look import plain


class SearchField(QLineEdit):
    """A line with a button that empties it. `say` gives it its words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setClearButtonEnabled(True)

    def say(self, words: str, name: str = "") -> None:
        """Set what stands in it while it is empty. `name`: what a screen reader says of it, if that is more."""
        self.setPlaceholderText(words)
        self.setAccessibleName(name or words)
        plain.tip(self, name or words)  # a narrow line cuts its placeholder
        for button in self.findChildren(QToolButton):
            button.setAccessibleName(self.tr("Clear"))
            plain.tip(button, self.tr("Clear"))
