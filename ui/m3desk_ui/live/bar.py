"""The bar under the picture while a live source runs: light, time, how far behind, and the buttons."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from m3desk.domain.clip import clock
from m3desk_ui.live import words
from m3desk_ui.live.light import Light, Meter
from m3desk_ui.look import plain, theme

if TYPE_CHECKING:
    from m3desk.domain.live import LiveFace
    from m3desk_ui.live.session import LiveSession

BLURRED = "hidden"
"""How the ids of blurred faces begin (`m3desk.live.bystanders.HIDDEN`)."""
SPANS = (1, 5, 15, 60)
"""Minutes that can be forgotten from the menu."""


class LiveBar(QFrame):
    """Shows the session's state and emits what the user wants."""

    pause_wanted = Signal()
    stop_wanted = Signal()
    edge_wanted = Signal()
    forget_wanted = Signal(int)
    """Minutes."""
    approve_wanted = Signal(str)
    """A face track of the live source."""
    watch_wanted = Signal()

    def __init__(self, session: LiveSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._letters = 0.0
        self.setAccessibleName(self.tr("Live"))
        self.light = Light()
        self.state = plain.Label()
        self.state.setProperty("heading", True)
        self.time = plain.Label()
        self.time.setProperty("heading", True)
        self.meter = Meter()
        self.meter.setMaximumWidth(120)
        self.figures = plain.RichLabel()
        self.figures.setWordWrap(True)
        self.pause = QPushButton()
        self.pause.setMinimumHeight(34)
        self.pause.clicked.connect(lambda: self.pause_wanted.emit())
        self.stop = QPushButton()
        self.stop.setMinimumHeight(34)
        self.stop.clicked.connect(lambda: self.stop_wanted.emit())
        self.edge = QPushButton()
        self.edge.setMinimumHeight(34)
        self.edge.setProperty("primary", True)
        self.edge.clicked.connect(lambda: self.edge_wanted.emit())
        self.edge.hide()
        self.forget = QToolButton()
        self.forget.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.forget.setMinimumHeight(34)
        self.forget.clicked.connect(lambda: self.forget_wanted.emit(5))
        self.approve = QToolButton()
        self.approve.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.approve.setMinimumHeight(34)
        self._approvals = QMenu(self.approve)
        self._approvals.aboutToShow.connect(self._fill_approvals)
        self.approve.setMenu(self._approvals)
        self.watch = QToolButton()
        self.watch.setMinimumHeight(34)
        self.watch.clicked.connect(lambda: self.watch_wanted.emit())
        top, below = QHBoxLayout(), QHBoxLayout()
        top.setSpacing(10)
        below.setSpacing(10)
        for widget in (self.light, self.state, self.time, self.meter):
            top.addWidget(widget)
        top.addStretch(1)
        for tool in (self.approve, self.watch, self.forget):
            top.addWidget(tool)
        for button in (self.pause, self.stop, self.edge):
            below.addWidget(button)
        below.addWidget(self.figures, 1)  # two lines fit beside the buttons: the bar keeps its height, and the picture its place
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 8)
        column.setSpacing(4)
        column.addLayout(top)
        column.addLayout(below)
        session.began.connect(self.refresh)
        session.status_changed.connect(self.refresh)
        self.dress()
        self.refresh()

    def dress(self) -> None:
        """Set texts, icons and colours."""
        c = theme.colours()
        letters = f"LiveBar * {{ font-size: {self._letters:g}pt; }}" if self._letters else ""
        self.setStyleSheet(f"LiveBar {{ background: {c.surface}; border: none; border-top: 1px solid {c.line}; }} {letters}")
        self.stop.setText(self.tr("Stop"))
        self.stop.setIcon(theme.icon("mdi6.stop"))
        plain.tip(self.stop, self.tr("Stop camera and microphone, and memorize the rest (F9)"))
        self.edge.setText(self.tr("Live edge"))
        self.edge.setIcon(theme.icon("mdi6.skip-forward", c.on_accent))
        plain.tip(self.edge, self.tr("Go back to what happens now (F7)"))
        self.forget.setText(self.tr("Forget the last 5 minutes"))
        self.forget.setIcon(theme.icon("mdi6.eraser"))
        plain.tip(self.forget, self.tr("Delete what was recorded and memorized in a span of time; shows first what would be deleted"))
        menu = QMenu(self.forget)
        for minutes in SPANS:
            menu.addAction(self._span(minutes), partial(self.forget_wanted.emit, minutes))
        menu.addAction(self.tr("Another span…"), partial(self.forget_wanted.emit, 0))
        self.forget.setMenu(menu)
        self.approve.setText(self.tr("Show a blurred person"))
        self.approve.setIcon(theme.icon("mdi6.account-eye-outline"))
        plain.tip(self.approve, self.tr("Unknown people are blurred; choose one who agreed to be shown and remembered"))
        self.watch.setText(self.tr("Watch for…"))
        self.watch.setIcon(theme.icon("mdi6.bell-outline"))
        self._fit()
        plain.tip(self.watch, self.tr("Tell me when a person appears, a word is said or an object is seen"))
        for button in (self.stop, self.edge, self.forget, self.approve, self.watch):
            button.setAccessibleName(button.text())
        self._dress_pause()
        size = round(self._letters * 1.7) or 18
        for button in (self.pause, self.stop, self.edge, self.forget, self.approve, self.watch):
            button.setIconSize(QSize(size, size))
        self.light.update()
        self.meter.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show less important buttons without their text where there is little room."""
        style = Qt.ToolButtonStyle
        for button, needs in ((self.watch, 760), (self.approve, 940), (self.forget, 560)):
            button.setToolButtonStyle(style.ToolButtonTextBesideIcon if self.width() >= needs else style.ToolButtonIconOnly)

    def set_letters(self, points: float) -> None:
        """Write in letters of this size; 0: as usual."""
        if points != self._letters:
            self._letters = points
            self.dress()

    def _span(self, minutes: int) -> str:
        if minutes == 1:
            return self.tr("The last minute")
        if minutes == 60:
            return self.tr("The last hour")
        return self.tr("The last %1 minutes").replace("%1", str(minutes))

    def _dress_pause(self) -> None:
        paused = self.session.paused
        self.pause.setText(self.tr("Continue") if paused else self.tr("Pause"))
        self.pause.setIcon(theme.icon("mdi6.play" if paused else "mdi6.pause"))
        self.pause.setAccessibleName(self.pause.text())
        tip = self.tr("Open the devices again (F8)") if paused else self.tr("Stop the devices until you continue; nothing is recorded (F8)")
        plain.tip(self.pause, tip)

    def set_back(self, back: bool) -> None:
        """Show the way to the live edge while the user is back in the recording."""
        self.edge.setVisible(back)

    def refresh(self) -> None:
        """Show the session's state."""
        session, status = self.session, self.session.status
        light = words.light(status, engine=session.answers)
        self.light.show_light(light.colour, light.text)
        self.state.setText(light.text)
        self._dress_pause()
        self.approve.setVisible(session.blurred)
        for button in (self.pause, self.stop):
            button.setEnabled(status is None or status.state != "stopping")
        if status is None:
            self.time.setText("")
            self.figures.say("")
            self.meter.set_level(None)
            return
        self.time.setText(clock(status.recorded))
        self.meter.setVisible(status.microphone != "none")
        self.meter.set_level(status.level if light.colour == "recording" else None)
        c = theme.colours()
        parts = [plain.html(words.behind(status)), f'<span style="color: {c.muted}">{plain.html(words.disk(status))}</span>']
        left_out = " · ".join(part for part in (words.given_up(status.given_up), words.catch_up(status.catch_up)) if part)
        if left_out:
            parts.insert(1, f'<span style="color: {c.warn}">{plain.html(left_out)}</span>')
        self.figures.setText(" · ".join(parts))

    def _fill_approvals(self) -> None:
        self._approvals.clear()
        unknown = self.unknown()
        for number, face in enumerate(unknown, 1):
            text = self.tr("Unknown person %1 (from the left)").replace("%1", str(number))
            self._approvals.addAction(plain.entry(text), partial(self.approve_wanted.emit, face.track))
        if not unknown:
            self._approvals.addAction(self.tr("No unknown person is in the picture")).setEnabled(False)

    def unknown(self) -> list[LiveFace]:
        """Return the blurred faces of the newest picture, from left to right."""
        return sorted((f for f in self.session.faces(self.session.recorded) if is_blurred(f)), key=lambda f: f.x)


def is_blurred(face: LiveFace) -> bool:
    """Return whether a face is blurred: the veil gives those that it hides ids of its own."""
    return face.track.startswith(BLURRED)
