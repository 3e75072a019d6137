"""The light of a live source, and the meter of its sound."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from m3desk_ui.live.words import Colour
from m3desk_ui.look import plain, theme

QUIETEST = -60.0
"""dBFS at which the meter is empty."""
LOUD = -6.0
"""dBFS from which it is painted as a warning: louder sound is cut off."""


class Light(QWidget):
    """A red disc while a device is open, two amber bars while paused, a grey ring otherwise: shape and colour differ."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colour: Colour = "lost"
        self.setFixedSize(22, 22)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_light(self, colour: Colour, text: str) -> None:
        """Set the colour; `text` is what screen readers and the tooltip say."""
        self.setAccessibleName(text)
        plain.tip(self, text)
        if colour != self.colour:
            self.colour = colour
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        c = theme.colours()
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = QPointF(self.width() / 2, self.height() / 2)
        if self.colour == "recording":
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.bad))
            p.drawEllipse(middle, 8.5, 8.5)
        elif self.colour == "paused":
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.warn))
            for x in (-6.5, 2.0):
                p.drawRoundedRect(QRectF(middle.x() + x, middle.y() - 8, 4.5, 16), 1.5, 1.5)
        else:
            p.setPen(QPen(QColor(c.muted), 2.5))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawEllipse(middle, 7, 7)
        p.end()


class Meter(QWidget):
    """A bar of the sound level in dBFS."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.level: float | None = None
        self.setMinimumSize(60, 10)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Sound level"))

    def sizeHint(self) -> QSize:
        return QSize(110, 10)

    def set_level(self, level: float | None) -> None:
        """Show a level in dBFS; None: there is no sound."""
        if level != self.level:
            self.level = level
            told = self.tr("no sound") if level is None else self.tr("%1 dB").replace("%1", f"{level:.0f}".replace("-", "−"))
            self.setAccessibleDescription(told)
            plain.tip(self, self.tr("Sound level: %1").replace("%1", told))
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        c = theme.colours()
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.line))
        whole = QRectF(0, (self.height() - 8) / 2, self.width(), 8)
        p.drawRoundedRect(whole, 4, 4)
        if self.level is not None:
            part = max(0.0, min(1.0, 1 - self.level / QUIETEST))
            p.setBrush(QColor(c.warn if self.level > LOUD else c.good))
            p.drawRoundedRect(QRectF(whole.x(), whole.y(), whole.width() * part, whole.height()), 4, 4)
        p.end()
