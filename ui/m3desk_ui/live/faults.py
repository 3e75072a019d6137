"""Tells the faults of a live source by notices in plain words, and takes each back when its device delivers again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from m3desk_ui.live import words
from m3desk_ui.look import texts

if TYPE_CHECKING:
    from m3desk.events import LiveStatus
    from m3desk_ui.hub.bridge import Hub
    from m3desk_ui.live.session import LiveSession

NEARLY_FULL = 5_000_000_000
"""Bytes of free disk below which the user is warned."""
CAMERA, MICROPHONE, DISK, ENGINE = "live.camera", "live.microphone", "live.disk", "live.engine"


class Faults(QObject):
    """Follows the session's status. Each fault is told once, however often its status comes."""

    def __init__(self, hub: Hub, session: LiveSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub, self._session = hub, session
        self._told: dict[str, str] = {}
        session.status_changed.connect(self._look)

    def _look(self) -> None:
        session, status = self._session, self._session.status
        if not session.running:
            for key in list(self._told):
                self._tell(key, "")
            return
        self._tell(ENGINE, "" if session.answers else "quiet", self._engine())
        if status is not None and session.answers:
            self._tell(CAMERA, status.camera, self._camera(status))
            self._tell(MICROPHONE, status.microphone, self._microphone(status))
            short = status.disk_free < NEARLY_FULL
            self._tell(DISK, "short" if short else "", self._disk(status) if short else ("", ""))

    def _tell(self, key: str, state: str, words: tuple[str, str] = ("", "")) -> None:
        text, hint = words if state else ("", "")
        state = state if text else ""
        if self._told.get(key, "") == state:
            return
        if state:
            self._told[key] = state
        else:
            del self._told[key]
        self._hub.trouble.emit(key, text, hint)

    def _engine(self) -> tuple[str, str]:
        return (
            self.tr("The engine does not answer."),
            self.tr("What is recorded so far is safe. Recording goes on as soon as the engine is back."),
        )

    def _camera(self, status: LiveStatus) -> tuple[str, str]:
        rest = self.tr("Sound is still recorded.") if status.microphone in ("on", "silent") else ""
        return {
            "lost": (
                self.tr("The camera does not answer: it was unplugged, or its stream broke off."),
                f"{rest} {self.tr('It is used again as soon as it is back.')}".strip(),
            ),
            "busy": (
                self.tr("Another program uses the camera."),
                f"{rest} {self.tr('Close that program; the camera is then used by itself.')}".strip(),
            ),
            "stalled": (
                self.tr("No new pictures come from the camera."),
                f"{rest} {self.tr('The connection is made again if it stays like this.')}".strip(),
            ),
        }.get(status.camera, ("", ""))

    def _microphone(self, status: LiveStatus) -> tuple[str, str]:
        rest = self.tr("The picture is still recorded.") if status.camera == "on" else ""
        return {
            "lost": (
                self.tr("The microphone does not answer: it was unplugged or switched off."),
                f"{rest} {self.tr('It is used again as soon as it is back.')}".strip(),
            ),
            "busy": (
                self.tr("Another program uses the microphone."),
                f"{rest} {self.tr('Close that program; the microphone is then used by itself.')}".strip(),
            ),
            "silent": (
                (
                    self.tr("The microphone delivers silence only."),
                    self.tr("Check whether it is muted, and whether this program may use it."),
                )
                if words.own_microphone(self._session.address)
                else (self.tr("The source delivers silence only."), self.tr("Check whether its sound is switched off."))
            ),
            "stalled": (
                self.tr("No new sound comes from the microphone."),
                f"{rest} {self.tr('The connection is made again if it stays like this.')}".strip(),
            ),
        }.get(status.microphone, ("", ""))

    def _disk(self, status: LiveStatus) -> tuple[str, str]:
        left = texts.megabytes(status.disk_free)
        return (
            self.tr("The disk is nearly full: %1 left.").replace("%1", left),
            self.tr("Recording stops before it is full. Free some space, or forget what is not needed."),
        )
