"""Paints the video picture with face boxes, names and subtitles for the frame's exact time."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from m3desk_ui.look import plain, theme
from m3desk_ui.video.face_boxes import Early, Shown, Subtitle, Window

GROW = 0.15
"""How far beyond its box a face is still hit, as part of its size: moving faces are hard to click."""


class PictureCanvas(QWidget):
    """Paints one frame at a time. `show_frame` sets the picture and its time, `set_window` the evidence around it."""

    face_clicked = Signal(object, QPointF)
    """Shown, global position."""
    background_clicked = Signal()
    double_clicked = Signal()
    resized = Signal()

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
        self._held: list[Shown] | None = None
        self._hovered: Shown | None = None

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
        self.update()

    # ------------------------------------------------------------ what is where

    def boxes(self) -> list[Shown]:
        """Return the boxes shown now: those of the frame's time, or the held ones while the mouse is on one."""
        if self._held is not None:
            return self._held
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
        scale = min(self.width() / self.image.width(), self.height() / self.image.height())
        w, h = self.image.width() * scale, self.image.height() * scale
        return QRectF((self.width() - w) / 2, (self.height() - h) / 2, w, h)

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
        """Return the face under a point of the widget, the smallest first."""
        for shown in reversed(self.boxes()):
            r = self.place(shown)
            if r.adjusted(-r.width() * GROW, -r.height() * GROW, r.width() * GROW, r.height() * GROW).contains(point):
                return shown
        return None

    # ------------------------------------------------------------ mouse

    def resizeEvent(self, event: Any) -> None:
        self.resized.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        face = self.face_at(event.position())
        if face is None:
            self._held = None
        elif self._held is None:
            self._held = self.boxes()
        if face != self._hovered:
            self._hovered = face
            self.setCursor(Qt.CursorShape.PointingHandCursor if face else Qt.CursorShape.ArrowCursor)
            plain.tip(self, (face.name or self.tr("A face, not yet recognised")) if face else "")
            self.update()

    def leaveEvent(self, event: Any) -> None:
        self._held = self._hovered = None
        self.update()

    def release_hold(self) -> None:
        """Stop holding the boxes."""
        self._held = self._hovered = None
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        face = self.face_at(event.position())
        if face is not None and face.track:
            self.face_clicked.emit(face, event.globalPosition())
        else:
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
        font.setPixelSize(max(13, min(26, round(self.picture_rect().height() / 21))))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        p = QPainter(self)
        p.fillRect(self.rect(), QColor("#0b0d10"))
        if self.image is not None:
            p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.image.width() < 1400)
            p.drawImage(self.picture_rect(), self.image)
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
        p.end()

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
        area = self.picture_rect()
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
