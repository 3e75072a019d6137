"""A ring around the widget that has the focus, shown while the user moves by the keyboard: the same for every kind of widget."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from m3desk_ui.look import theme
from m3desk_ui.look.on_show import seen_part

WIDTH = 2
"""Width of the ring in pixels."""


class FocusRing(QWidget):
    """Lies over its window; the mouse does not notice it, and only the ring itself is painted."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._of: QWidget | None = None
        self._moving = False
        self.hide()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._changed)

    def moving(self, moving: bool) -> None:
        """Say that the keyboard moves the focus now, or that it has moved it: then the ring goes around the widget that has it."""
        self._moving = moving
        if not moving:
            self._put(QApplication.focusWidget())

    def _changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        if not self._moving:
            self._put(None)

    def _put(self, widget: QWidget | None) -> None:
        if self._of is not None and isValid(self._of):
            self._of.removeEventFilter(self)
        self._of = widget if widget is not None and widget.window() is self.parentWidget() else None
        if self._of is None:
            self.hide()
            return
        self._of.installEventFilter(self)
        self._place()
        self.show()

    def _place(self) -> None:
        window = self.parentWidget()
        if self._of is None or window is None:
            return
        seen = seen_part(self._of)
        seen = self._of.rect() if seen.isEmpty() else seen  # about to be scrolled or shown
        area = QRect(self._of.mapTo(window, seen.topLeft()), seen.size())
        self.setGeometry(area.adjusted(-WIDTH, -WIDTH, WIDTH, WIDTH).intersected(window.rect()))
        inner = self.rect().adjusted(WIDTH, WIDTH, -WIDTH, -WIDTH)
        self.setMask(QRegion(self.rect()).subtracted(QRegion(inner)))
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        elif event.type() in (QEvent.Type.Hide, QEvent.Type.MouseButtonPress):
            self._put(None)
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme.colours().accent))
        painter.end()
