"""The mini-map in the graph's corner: all nodes as dots, and a box around what is in view; a click or drag goes there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from m3desk_ui.graph.camera import bounds
from m3desk_ui.graph.canvas import GraphCanvas
from m3desk_ui.look import plain

SIZE = QSize(168, 112)
INSET = 8
LEAST = (380, 280)
"""Width and height of the canvas from which there is room for it."""
EVERY_MS = 250
"""While nodes move, the dots are drawn no more often than this."""


class MiniMap(QWidget):
    """Lies in the lower right corner of a canvas while part of the graph is out of view. `wanted`: the user has it on."""

    def __init__(self, canvas: GraphCanvas) -> None:
        super().__init__(canvas)
        self.canvas = canvas
        self.wanted = True
        self.setFixedSize(SIZE)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self._dots: QImage | None = None
        self._box = (0.0, 0.0, 1.0)
        self._again = QTimer(self, singleShot=True, interval=EVERY_MS)
        self._again.timeout.connect(self._refresh)
        canvas.viewed.connect(self._moved)
        self.dress()
        self.hide()

    def dress(self) -> None:
        """Set every text, and draw in the colours of now."""
        self.setAccessibleName(self.tr("Mini-map"))
        plain.tip(self, self.tr("Mini-map: click, drag or use the arrow keys to go there (O hides it)"))
        self._refresh()

    def want(self, on: bool) -> None:
        self.wanted = on
        self._moved()

    def _moved(self) -> None:
        width, height = self.canvas.width(), self.canvas.height()
        room = width >= LEAST[0] and height >= LEAST[1] and len(self.canvas.at) > 1
        self.setVisible(self.wanted and room and self._is_cut())
        self.move(width - self.width() - INSET, height - self.height() - INSET)
        if self.isVisible() and not self._again.isActive():
            self._again.start(EVERY_MS if self._dots is not None else 0)
        self.update()

    def _is_cut(self) -> bool:
        """Return whether some of the graph is out of view."""
        low, high = map(self.canvas.camera.to_screen, bounds(self.canvas.at))
        return bool(low.min() < 0 or high[0] > self.canvas.width() or high[1] > self.canvas.height())

    def _refresh(self) -> None:
        """Draw the dots."""
        at = self.canvas.at
        if not len(at) or not self.canvas.painting.ready:
            self._dots = None
            return
        low, high = bounds(at)
        scale = float(min((self.width() - 10) / max(high[0] - low[0], 1.0), (self.height() - 10) / max(high[1] - low[1], 1.0)))
        middle = (low + high) / 2
        self._box = (float(middle[0]), float(middle[1]), scale)
        look = self.canvas.painting.look
        buffer = np.full((self.height(), self.width()), look.ground.rgb(), np.uint32)
        spot = self._spots(at).astype(np.intp)
        spot[:, 0] = spot[:, 0].clip(0, self.width() - 2)
        spot[:, 1] = spot[:, 1].clip(0, self.height() - 2)
        order = self.canvas.painting.order[::-1]
        x, y, colours = spot[order, 0], spot[order, 1], self.canvas.painting.colours[order]
        for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
            buffer[y + dy, x + dx] = colours
        image = QImage(buffer.data, self.width(), self.height(), self.width() * 4, QImage.Format.Format_RGB32)
        self._dots = image.copy()
        self.update()

    def _spots(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y, scale = self._box
        return np.asarray((at - (x, y)) * scale + (self.width() / 2, self.height() / 2))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        look = self.canvas.painting.look
        painter.fillRect(self.rect(), look.ground)
        if self._dots is not None:
            painter.drawImage(0, 0, self._dots)
            camera = self.canvas.camera
            corner = self._spots(np.stack([camera.to_world(0, 0), camera.to_world(*camera.size)]))
            fill = QColor(look.chosen)
            fill.setAlphaF(0.1)
            painter.setBrush(fill)
            painter.setPen(QPen(look.chosen, 1.2))
            box = QRectF(corner[0, 0], corner[0, 1], corner[1, 0] - corner[0, 0], corner[1, 1] - corner[0, 1])
            painter.drawRect(box.intersected(QRectF(self.rect()).adjusted(1, 1, -2, -2)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(look.line_lit if self.hasFocus() else look.line, 2 if self.hasFocus() else 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _go(self, event: QMouseEvent) -> None:
        x, y, scale = self._box
        where = event.position()
        self.canvas.look_at(x + (where.x() - self.width() / 2) / scale, y + (where.y() - self.height() / 2) / scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: (1, 0), Qt.Key.Key_Right: (-1, 0), Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1)}
        way = ways.get(Qt.Key(event.key()))
        if way is None:
            super().keyPressEvent(event)
        else:
            self.canvas.pan_by(way[0] * self.canvas.width() / 6, way[1] * self.canvas.height() / 6)
