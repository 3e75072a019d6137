"""What the window knows about the live source of the open memory: the last status, provisional faces and words, whether news still come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from m3desk import events
from m3desk.domain.clip import MICROSECOND

if TYPE_CHECKING:
    from m3desk.domain.live import LiveFace
    from m3desk_ui.hub.bridge import Hub

QUIET = 4.0
"""Seconds without a status after which the engine counts as not answering: it tells one twice a second."""
LOOK_MS = 500
LINGER = 5 * MICROSECOND
"""How long a subtitle stays after its last word."""
KEPT = 60 * MICROSECOND
"""How long provisional words are kept."""
FRESH = 2 * MICROSECOND
"""How much older than the picture face boxes may be."""


class LiveSession(QObject):
    """Follows the live events of the hub. `source`: id of the live source, "" if none runs."""

    began = Signal()
    """A live source began (or another memory was opened in which none runs): see `source`."""
    ended = Signal(str, str)
    """Source and reason ("" if the user stopped it)."""
    status_changed = Signal()
    """A status came, or news stopped coming (`answers`)."""
    seen = Signal()
    """Faces or words changed."""

    def __init__(self, hub: Hub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.source = ""
        self.address = ""
        self.preview = ""
        self.status: events.LiveStatus | None = None
        self.answers = True
        self.blurred = False
        """Whether unknown faces are blurred (bystander mode), as it was started from this window."""
        self._faces: events.LiveFaces | None = None
        self._words: dict[int, events.LiveWords] = {}
        self._told = 0.0
        self._look = QTimer(self, interval=LOOK_MS)
        self._look.timeout.connect(self._check)
        hub.live.connect(self._take)
        hub.erased.connect(self._erased)
        hub.engine_lost.connect(lambda _event: self._silent())
        hub.opened.connect(lambda _path: self._forget())

    @property
    def running(self) -> bool:
        """Return whether a live source runs (also while it is paused)."""
        return bool(self.source)

    @property
    def paused(self) -> bool:
        """Return whether the source is paused, or about to be."""
        return self.status is not None and self.status.state == "paused"

    @property
    def recorded(self) -> int:
        """Return how much is recorded, in microseconds of the source."""
        return self.status.recorded if self.status is not None else 0

    def faces(self, at: int) -> tuple[LiveFace, ...]:
        """Return the faces for a picture of `at` microseconds; none if they are too old for it."""
        found = self._faces
        return found.faces if found is not None and abs(at - found.at) <= FRESH else ()

    def words(self, now: int) -> list[events.LiveWords]:
        """Return what was said last, in order of time: the words that end less than `LINGER` before `now`."""
        return sorted((w for w in self._words.values() if w.end > now - LINGER), key=lambda w: w.start)

    def _take(self, event: Any) -> None:
        match event:
            case events.LiveStarted():
                self._forget()
                self.source, self.address, self.preview = event.source, event.address, event.preview
                self._told, self.answers = time.monotonic(), True
                self._look.start()
                self.began.emit()
            case events.LiveEnded() if event.source == self.source:
                source = self.source
                self._forget()
                self.ended.emit(source, event.reason)
            case events.LiveStatus() if event.source == self.source:
                self.status, self._told, self.answers = event, time.monotonic(), True
                self.status_changed.emit()
            case events.LiveFaces() if event.source == self.source:
                self._faces = event
                self.seen.emit()
            case events.LiveWords() if event.source == self.source:
                self._words[event.start] = event
                for start in [s for s, w in self._words.items() if w.end < event.end - KEPT]:
                    del self._words[start]
                self.seen.emit()

    def _erased(self, gone: events.Erased) -> None:
        """Drop words and faces of a time that was forgotten."""
        if gone.source != self.source or not gone.memory:
            return
        for start in [s for s, w in self._words.items() if s < gone.end and gone.start < w.end]:
            del self._words[start]
        if self._faces is not None and gone.start <= self._faces.at < gone.end:
            self._faces = None
        self.seen.emit()

    def _forget(self) -> None:
        was, self.source, self.address, self.preview = self.running, "", "", ""
        self.status, self._faces, self.answers = None, None, True
        self._words.clear()
        self._look.stop()
        if was:
            self.status_changed.emit()

    def _check(self) -> None:
        if self.answers and time.monotonic() - self._told > QUIET:
            self._silent()

    def _silent(self) -> None:
        if self.running and self.answers:
            self.answers = False
            self.status_changed.emit()
