"""Spin boxes whose number stands as far from the frame as the text of a line; a style sheet's padding does not reach it."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox, QWidget

MARGIN = 8
"""Pixels between the frame and the number: the border and padding of a QLineEdit in `resources/style.qss`."""


class WholeNumber(QSpinBox):
    """A spin box of whole numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        _distance(self)


class DecimalNumber(QDoubleSpinBox):
    """A spin box of decimal numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        _distance(self)


def _distance(box: QAbstractSpinBox) -> None:
    box.lineEdit().setTextMargins(MARGIN, 0, 0, 0)
