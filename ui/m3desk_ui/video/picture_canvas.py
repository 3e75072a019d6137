"""Paints the video picture with face boxes, names and subtitles for the frame's exact time."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from m3desk_ui.look import plain, theme
from m3desk_ui.video.face_boxes import Early, Shown, Subtitle, Window

GROW = 0.15
"""How far beyond its box a face is still hit, as part of its size: moving faces are hard to click."""

CLOSEST = 8.0
"""How far the picture is enlarged at most."""


class PictureCanvas(QWidget):
    """Paints one frame at a time. `show_frame` sets the picture and its time, `set_window` the evidence around it."""

    face_clicked = Signal(object, QPointF)
    """Shown, global position."""
    background_clicked = Signal()
    double_clicked = Signal()
    resized = Signal()
    """The picture has another size in pixels now: of the widget, or because it was zoomed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(240, 135)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(self.tr("Video"))
        self.image: QImage | None = None
        self.at = 0
        self.overlay = True
        self.subtitles = True
        self.message = ""
        self.chosen = ""
        self.early = Early()
        self._size: tuple[int, int] | None = None
        self._window: Window | None = None
        self._held: Shown | None = None
        """The face that was pointed at, where it was then: a click there means it, though it has moved on."""
        self._hovered: Shown | None = None
        self.zoomed = 1.0
        """How far the picture is enlarged; 1: all of it is on show."""
        self._middle = QPointF(0.5, 0.5)
        """What part of the picture is in the middle of the widget while it is enlarged, as shares of its width and height."""
        self._press: QPointF | None = None
        self._dragged = False

    def show_frame(self, image: QImage, at: int) -> None:
        """Show a picture of the source at `at` microseconds."""
        self.image, self.at = image, at
        self.message = ""
        self.update()

    @property
    def window_read(self) -> Window | None:
        """Return what was read around the picture."""
        return self._window

    def set_window(self, window: Window | None) -> None:
        self._window = window
        self._held = None
        self.update()

    def clear(self, message: str = "") -> None:
        """Show a line of text instead of a picture."""
        self.image, self._window, self._held, self._hovered, self.message = None, None, None, None, message
        self.early.clear()
        self.zoom_to(1.0)
        self.update()

    # ------------------------------------------------------------ zoom

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Enlarge the picture `factor` times as much, keeping what is at a point of the widget (else its middle) in its place."""
        self.zoom_to(self.zoomed * factor, at)

    def zoom_to(self, zoomed: float, at: QPointF | None = None) -> None:
        """Enlarge the picture this much, 1 (all of it) to 8 times."""
        zoomed = min(max(zoomed, 1.0), CLOSEST)
        if zoomed == self.zoomed:
            return
        point = at if at is not None else QPointF(self.rect().center())
        before = self.picture_rect()
        share = QPointF((point.x() - before.x()) / before.width(), (point.y() - before.y()) / before.height())
        self.zoomed = zoomed
        after = self.picture_rect()
        self.move_picture(point.x() - after.x() - share.x() * after.width(), point.y() - after.y() - share.y() * after.height())
        self.resized.emit()

    def move_picture(self, x: float, y: float) -> None:
        """Move an enlarged picture by pixels of the widget; no edge of it comes further in than it must."""
        area = self.picture_rect()
        across = _within(self._middle.x() - x / area.width(), self.width() / area.width())
        self._middle = QPointF(across, _within(self._middle.y() - y / area.height(), self.height() / area.height()))
        self._held = None
        self.update()

    # ------------------------------------------------------------ what is where

    def boxes(self) -> list[Shown]:
        """Return the boxes shown now: those of the frame's time."""
        boxes = self._window.boxes(self.at) if self._window is not None else []
        if not boxes and not (self._window is not None and self._window.knows(self.at)):
            boxes = self.early.boxes(self.at)
        return boxes

    def said(self) -> list[Subtitle]:
        return self._window.subtitles(self.at) if self._window is not None else []

    def picture_rect(self) -> QRectF:
        """Return the picture's rectangle in the widget."""
        if self.image is None or not self.image.width():
            return QRectF(self.rect())
        scale = min(self.width() / self.image.width(), self.height() / self.image.height()) * self.zoomed
        w, h = self.image.width() * scale, self.image.height() * scale
        return QRectF(self.width() / 2 - self._middle.x() * w, self.height() / 2 - self._middle.y() * h, w, h)

    def shown_rect(self) -> QRectF:
        """Return the part of the widget in which there is picture."""
        return self.picture_rect() & QRectF(self.rect())

    def place(self, shown: Shown) -> QRectF:
        """Return a box's rectangle in the widget. Boxes are in pixels of the frame as displayed; the picture may be smaller."""
        area = self.picture_rect()
        width, height = self.frame_size()
        x, y, w, h = shown.box
        return QRectF(
            area.x() + x * area.width() / width, area.y() + y * area.height() / height, w * area.width() / width, h * area.height() / height
        )

    def frame_size(self) -> tuple[int, int]:
        """Return the frame size to which boxes refer: the source's, or the picture's while that is unknown."""
        if self._size is not None:
            return self._size
        return (self.image.width(), self.image.height()) if self.image is not None else (1, 1)

    def set_frame_size(self, width: int | None, height: int | None) -> None:
        self._size = (width, height) if width and height else None

    def face_at(self, point: QPointF) -> Shown | None:
        """Return the face under a point of the widget, the smallest first; where there is none, the one that was pointed at there."""
        held = [] if self._held is None else [self._held]
        for shown in [*reversed(self.boxes()), *held]:
            r = self.place(shown)
            if r.adjusted(-r.width() * GROW, -r.height() * GROW, r.width() * GROW, r.height() * GROW).contains(point):
                return shown
        return None

    # ------------------------------------------------------------ mouse

    def resizeEvent(self, event: Any) -> None:
        self.move_picture(0, 0)
        self.resized.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl; without it the wheel is not ours."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and self.image is not None:
            self.zoom(1.0015 ** event.angleDelta().y(), event.position())
            event.accept()
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move an enlarged picture by Shift and the arrow keys."""
        step = {
            Qt.Key.Key_Left: (1, 0), Qt.Key.Key_Right: (-1, 0), Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1),
        }.get(Qt.Key(event.key()))  # fmt: skip
        if step is not None and event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self.zoomed > 1:
            self.move_picture(step[0] * self.width() / 10, step[1] * self.height() / 10)
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._press is not None:
            moved = event.position() - self._press
            if self._dragged or moved.manhattanLength() >= QApplication.startDragDistance():
                self._dragged, self._press = True, event.position()
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                self.move_picture(moved.x(), moved.y())
            return
        face = self.face_at(event.position())
        if face is None or self._held is None or face.track != self._held.track:
            self._held = face
        if face != self._hovered:
            self._hovered = face
            self.setCursor(Qt.CursorShape.PointingHandCursor if face else Qt.CursorShape.ArrowCursor)
            plain.tip(self, (face.name or self.tr("A face, not yet recognised")) if face else "")
            self.update()

    def leaveEvent(self, event: Any) -> None:
        self._held = self._hovered = None
        self.update()

    def release_hold(self) -> None:
        """Forget which face was pointed at."""
        self._held = self._hovered = None
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton):
            return
        face = self.face_at(event.position())
        if face is not None and face.track:
            self.face_clicked.emit(face, event.globalPosition())
        elif event.button() == Qt.MouseButton.RightButton:
            return
        elif self.zoomed > 1:  # a click, or the beginning of a drag
            self._press, self._dragged = event.position(), False
        else:
            self.background_clicked.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        press, self._press = self._press, None
        if press is not None:
            self.setCursor(Qt.CursorShape.ArrowCursor)
            if not self._dragged:
                self.background_clicked.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.double_clicked.emit()

    # ------------------------------------------------------------ painting

    def tag_font(self) -> QFont:
        """Return the font of the names at the boxes."""
        font = QFont(self.font())
        font.setBold(True)
        return font

    def subtitle_font(self) -> QFont:
        """Return the font of the subtitles, which grows with the picture."""
        font = QFont(self.font())
        font.setPixelSize(max(13, min(26, round(self.shown_rect().height() / 21))))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        p = QPainter(self)
        p.fillRect(self.rect(), QColor("#0b0d10"))
        if self.image is not None:
            self._paint_picture(p, self.image)
        if self.message:
            p.setPen(QColor("#c8cdd6"))
            p.drawText(
                QRectF(self.rect()).adjusted(30, 10, -30, -10), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message
            )
        if self.image is not None or self._window is not None:
            if self.overlay and self.image is not None:
                for shown in self.boxes():
                    self._paint_box(p, shown)
            if self.subtitles:
                self._paint_subtitles(p)
        if self.zoomed > 1:
            self._paint_zoom(p)
        p.end()

    def _paint_picture(self, p: QPainter, image: QImage) -> None:
        """Paint the picture: copied where it has the size in which it is shown, scaled otherwise.

        Qt shares scaling out to threads and waits for them, which on a busy machine takes long: whoever gives pictures should scale them.
        """
        area, ratio = self.picture_rect(), self.devicePixelRatioF()
        if abs(image.width() - area.width() * ratio) <= 1 and abs(image.height() - area.height() * ratio) <= 1:
            image.setDevicePixelRatio(ratio)
            p.drawImage(QPointF(round(area.x() * ratio) / ratio, round(area.y() * ratio) / ratio), image)
            return
        image.setDevicePixelRatio(1.0)
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, image.width() < 1400)
        p.drawImage(area, image)

    def _paint_zoom(self, p: QPainter) -> None:
        """Say in a corner that the picture is enlarged, and how all of it comes back."""
        text = self.tr("%1 × · 0 shows the whole picture").replace("%1", f"{self.zoomed:.1f}")
        p.setFont(self.font())
        box = QRectF(8, 8, p.fontMetrics().horizontalAdvance(text) + 16, p.fontMetrics().height() + 6)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(0, 0, 0, 165))
        p.drawRoundedRect(box, 5, 5)
        p.setPen(QColor("#ffffff"))
        p.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_box(self, p: QPainter, shown: Shown) -> None:
        r = self.place(shown)
        pen, hovered = self.box_pen(shown), self._is_hovered(shown)
        colour = pen.color()
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.setBrush(QColor(colour.red(), colour.green(), colour.blue(), 40) if hovered else Qt.BrushStyle.NoBrush)
        p.setPen(pen)
        p.drawRoundedRect(r, 5, 5)
        if not shown.name:
            return
        font = self.tag_font()
        metrics = QFontMetricsF(font)
        wave = 18.0 if shown.speaking else 0.0
        name = metrics.elidedText(plain.line(shown.name), Qt.TextElideMode.ElideRight, max(60.0, self.width() * 0.5))
        width = metrics.horizontalAdvance(name) + 12 + wave
        height = metrics.height() + 4
        top = r.y() - height - 3 if r.y() - height - 3 > 0 else r.bottom() + 3
        left = min(max(2.0, r.x()), max(2.0, self.width() - width - 2))
        tag = QRectF(left, top, width, height)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(colour)
        p.drawRoundedRect(tag, 4, 4)
        ink = QColor("#10131a") if colour.lightness() > 120 else QColor("#ffffff")
        if shown.speaking:  # three bars, the sign of sound: colour alone would not tell everybody
            p.setBrush(ink)
            for i, part in enumerate((0.45, 0.85, 0.6)):
                h = (height - 8) * part
                p.drawRect(QRectF(left + 6 + i * 5, top + (height - h) / 2, 3, h))
        p.setFont(font)
        p.setPen(ink)
        p.drawText(tag.adjusted(6 + wave, 0, -4, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)

    def _is_hovered(self, shown: Shown) -> bool:
        return self._hovered is not None and shown.track == self._hovered.track and shown.track != ""

    def box_pen(self, shown: Shown) -> QPen:
        """Return how a box is drawn: dashed while nobody is known for it, or not yet for sure."""
        colour = theme.person_colour(shown.person) if shown.track else QColor("#d8dce4")
        wide = shown.speaking or self._is_hovered(shown) or (shown.track == self.chosen and self.chosen != "")
        pen = QPen(colour, 3.0 if wide else 1.8)
        if not (shown.track and shown.sure):
            pen.setStyle(Qt.PenStyle.DashLine)
        return pen

    def _paint_subtitles(self, p: QPainter) -> None:
        said = self.said()
        if not said:
            return
        area = self.shown_rect()
        p.setFont(self.subtitle_font())
        room = QRectF(area.x() + area.width() * 0.06, 0, area.width() * 0.88, area.height())
        bottom = area.bottom() - max(8.0, area.height() * 0.03)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        for s in reversed(said[:2]):
            text = plain.breakable(plain.line(f"{plain.line(s.name, plain.ENTRY)}: {s.line(self.at)}" if s.name else s.line(self.at)))
            need = p.boundingRect(room, flags, text)
            box = QRectF(need.x() - 10, bottom - need.height() - 8, need.width() + 20, need.height() + 8)
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(0, 0, 0, 165))
            p.drawRoundedRect(box, 5, 5)
            p.setPen(QColor("#ffffff"))
            p.drawText(QRectF(room.x(), box.y() + 4, room.width(), need.height()), flags, text)
            bottom = box.y() - 4


def _within(middle: float, room: float) -> float:
    """Return where the middle is at most, as a share of a side of the picture of which `room` (over 1: more than all) is on show."""
    spare = max(0.0, (1 - room) / 2)
    return min(max(middle, 0.5 - spare), 0.5 + spare)
