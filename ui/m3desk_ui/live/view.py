"""The page that shows what a live source sees now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QHideEvent, QImage, QShowEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from m3desk.domain.clip import MICROSECOND
from m3desk_ui.live import words
from m3desk_ui.live.bar import BLURRED
from m3desk_ui.live.canvas import LiveCanvas
from m3desk_ui.live.newest import NewestPicture, Preview

if TYPE_CHECKING:
    from m3desk import events
    from m3desk_ui.hub.bridge import Hub
    from m3desk_ui.live.session import LiveSession
    from m3desk_ui.video.face_boxes import Shown


class LiveView(QWidget):
    """Shows the newest picture while the page is visible; nothing is fetched while it is hidden."""

    approve_wanted = Signal(str)
    full_screen = Signal()

    def __init__(self, hub: Hub, session: LiveSession, attach: Callable[[str], Preview], parent: QWidget | None = None) -> None:
        """`attach` opens the shared memory of a name (in a thread)."""
        super().__init__(parent)
        self._hub, self.session, self._attach = hub, session, attach
        self.canvas = LiveCanvas(session)
        self._newest: NewestPicture | None = None
        self._gone: list[tuple[int, int]] = []
        """Spans that were erased when their pictures could still come: a source that stands still delivers its last one again."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.canvas, 1)
        session.began.connect(self._begin)
        session.seen.connect(self.canvas.update)
        session.status_changed.connect(self._refresh)
        hub.erased.connect(self._erased)
        self.canvas.resized.connect(self._fit)
        self.canvas.double_clicked.connect(self.full_screen)
        self.canvas.face_clicked.connect(self._face_clicked)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._attach_now()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.detach()

    def detach(self) -> None:
        """Stop fetching pictures."""
        if self._newest is not None:
            self._newest.close()
            self._newest.deleteLater()
            self._newest = None

    def _begin(self) -> None:
        self.detach()
        self._gone = []
        self.canvas.at = 0
        self.canvas.clear()
        self.canvas.set_note("")
        if self.isVisible():
            self._attach_now()

    def _attach_now(self) -> None:
        name = self.session.preview
        if self._newest is None and name:
            attach = self._attach
            self._newest = NewestPicture(lambda: attach(name), self._show_picture, self)
            self._fit()

    def _show_picture(self, image: QImage, at: int, size: tuple[int, int]) -> None:
        if not any(start <= at < end for start, end in self._gone):
            self.canvas.show_picture(image, at, size)

    def _erased(self, gone: events.Erased) -> None:
        """Take a picture of what was erased off the screen; the next one comes where the source still delivers."""
        if not gone.recording or gone.source != self.session.source:
            return
        at, status = self.canvas.at, self.session.status
        if gone.end > at:
            newest = max(at, status.recorded if status is not None else 0)
            self._gone.append((gone.start, min(gone.end, newest + MICROSECOND)))  # what comes later than that was not there to be erased
        if gone.start <= at < gone.end:
            self.canvas.clear()

    def _fit(self) -> None:
        if self._newest is not None:
            ratio = self.canvas.devicePixelRatioF()
            self._newest.fit(round(self.canvas.width() * ratio), round(self.canvas.height() * ratio))

    def _refresh(self) -> None:
        """Say on the picture why it stands still."""
        status = self.session.status
        light = words.light(status, engine=self.session.answers)
        if not self.session.running:
            self.detach()
            self.canvas.clear()
            self.canvas.set_note("")
            return
        if light.colour == "paused":
            self.canvas.clear()  # nobody thinks that the camera still looks
        sound_only = status is not None and status.camera == "none"
        if light.colour == "recording" and (status is None or not words.camera(status.camera)):
            self.canvas.set_note(self.tr("Sound only") if sound_only and not self.session.words(self.canvas.now()) else "")
        else:
            self.canvas.set_note(light.text)
        self.canvas.update()

    def _face_clicked(self, shown: Shown, where: QPointF) -> None:
        if shown.person is not None:
            self._hub.selection.select("person", shown.person)
        elif shown.track.startswith(BLURRED):
            menu = QMenu(self)
            menu.addAction(self.tr("Show this person, and remember them"), lambda: self.approve_wanted.emit(shown.track))
            menu.popup(where.toPoint())
