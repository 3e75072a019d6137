"""Paints the newest picture of a live source with provisional names and large subtitles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPaintEvent, QPen

from m3desk.domain.people import marked
from m3desk_ui.look import plain
from m3desk_ui.video.face_boxes import Shown, Subtitle
from m3desk_ui.video.picture_canvas import PictureCanvas

if TYPE_CHECKING:
    from m3desk import events
    from m3desk.domain.live import LiveFace
    from m3desk_ui.live.session import LiveSession

TAIL = 110
"""Code points of a subtitle that are shown: the end of a long one."""
SUBTITLE_PART, TAG_PART = 16, 27
"""Heights of the letters, as parts of the picture's height: readable from the back of a room."""


class LiveCanvas(PictureCanvas):
    """`show_picture` gives the picture; boxes and subtitles come from the session. `note`: a line of text over the darkened picture."""

    def __init__(self, session: LiveSession) -> None:
        super().__init__()
        self.session = session
        self.note = ""
        self.setAccessibleName(self.tr("Live picture"))

    def show_picture(self, image: QImage, at: int, size: tuple[int, int]) -> None:
        """Show a picture of `at` microseconds; `size`: of the picture as captured, to which boxes refer."""
        self.set_frame_size(*size)
        self.show_frame(image, at)

    def set_note(self, text: str) -> None:
        """Show a line of text over the picture, which is darkened; "" takes it away."""
        if text != self.note:
            self.note = text
            self.update()

    def now(self) -> int:
        """Return the moment that is on show: that of the picture, or the end of the recording where there is no picture."""
        return max(self.at if self.image is not None else 0, self.session.recorded)

    def boxes(self) -> list[Shown]:
        speaking: set[str] = {w.person for w in self.said_now() if w.person and not w.final}
        return [box_of(face, speaking) for face in self.session.faces(self.at)]

    def said_now(self) -> list[events.LiveWords]:
        """Return the words that are shown."""
        return self.session.words(self.now())

    def said(self) -> list[Subtitle]:
        return [line_of(words) for words in self.said_now() if words.text.strip() or not words.final][-2:]

    def tag_font(self) -> QFont:
        font = super().tag_font()
        font.setPixelSize(max(14, round(self.picture_rect().height() / TAG_PART)))
        return font

    def box_pen(self, shown: Shown) -> QPen:
        pen = super().box_pen(shown)
        pen.setWidthF(pen.widthF() * max(1.0, self.picture_rect().height() / 400))
        return pen

    def subtitle_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(max(15, round(self.picture_rect().height() / SUBTITLE_PART)))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        p = QPainter(self)
        if self.image is None and self.session.running and self.subtitles:
            self._paint_subtitles(p)
        if self.note:
            if self.image is not None:
                p.fillRect(self.picture_rect(), QColor(11, 13, 16, 170))
            font = self.subtitle_font()
            p.setFont(font)
            room = QRectF(self.rect()).adjusted(30, 10, -30, -10)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            need = QFontMetricsF(font).boundingRect(room, flags, self.note).adjusted(-18, -10, 18, 10)
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(0, 0, 0, 170))
            p.drawRoundedRect(need, 8, 8)
            p.setPen(QColor("#f2f4f8"))
            p.drawText(room, flags, self.note)
        p.end()


def box_of(face: LiveFace, speaking: set[str]) -> Shown:
    """Return what is drawn around a face; a provisional name has a question mark."""
    name = face.name if face.sure else marked(face.name)
    box = (face.x, face.y, face.width, face.height)
    return Shown(face.track, face.person, name, box, bool(face.person) and face.person in speaking, 1.0, face.sure and bool(face.name))


def line_of(words: events.LiveWords) -> Subtitle:
    """Return the subtitle of provisional words; a provisional speaker has a question mark, words that still change end in dots.

    While nothing is written down (words are given up, or not heard yet), it says who speaks.
    """
    name = words.name if words.sure else marked(words.name)
    text = plain.line(words.text, 20 * TAIL)
    if len(text) > TAIL:
        tail = text[-TAIL:]
        space = tail.find(" ", 0, 20)  # Chinese has none
        text = "…" + tail[space + 1 :]
    if not text:
        return Subtitle("", words.person, "", words.start, words.end, f"{name} …".strip(), ())
    return Subtitle("", words.person, name, words.start, words.end, text if words.final else f"{text} …", ())
