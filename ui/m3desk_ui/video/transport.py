"""The playback controls under the picture: play, step, skip, seek slider, time, speed and volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSlider, QStyle, QStyleOptionSlider, QToolButton, QWidget

from m3desk_ui.look import plain, texts, theme
from m3desk_ui.look.more_button import MoreButton

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

SPEEDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
SPARE = 40
"""Pixels that the slider has beside its least while controls are in the menu “More”, at least."""
SKIP = 5_000_000
TICKS = 1000
"""Slider ticks a second: QSlider counts in 32 bits, so microseconds would end after 36 minutes."""


class _ScrubBar(QSlider):
    """A slider that jumps to the clicked position."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            handle = self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self)
            if not handle.contains(event.position().toPoint()):
                room = max(1, self.width() - handle.width())
                x = round(event.position().x() - handle.width() / 2)
                self.setSliderPosition(QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), x, room))
                self.sliderMoved.emit(self.sliderPosition())
        super().mousePressEvent(event)


class Transport(QWidget):
    """Emits user requests as signals; `set_…` shows the state. Times are microseconds (as `object`: Qt's int has 32 bits)."""

    play_pause = Signal()
    step = Signal(int)
    scrubbed = Signal(object)
    """While the slider is dragged: show something at once."""
    released = Signal(object)
    """The slider was let go: show exactly this."""
    skipped = Signal(object)
    speed = Signal(float)
    volume = Signal(float, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.playing = False
        self._duration = 0
        self._silent = False
        self._seeking: float | None = None
        self._position = 0
        self.play_button = self._button(self.tr("Play or pause (Space)"), self.play_pause.emit)
        self._back = self._button(self.tr("Back 5 seconds (Left)"), lambda: self.skipped.emit(-SKIP))
        self._step_back = self._button(self.tr("One frame back (,)"), lambda: self.step.emit(-1))
        self._step_on = self._button(self.tr("One frame forward (.)"), lambda: self.step.emit(1))
        self._on = self._button(self.tr("Forward 5 seconds (Right)"), lambda: self.skipped.emit(SKIP))
        self.slider = _ScrubBar(Qt.Orientation.Horizontal)
        self.slider.setRange(0, 0)
        self.slider.setMinimumWidth(80)
        self.slider.setAccessibleName(self.tr("Position in the video"))
        self.slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.slider.sliderMoved.connect(lambda value: self.scrubbed.emit(value * 1_000_000 // TICKS))
        self.slider.sliderReleased.connect(lambda: self.released.emit(self.slider.value() * 1_000_000 // TICKS))
        self.time = plain.Label("00:00.0 / 00:00")
        self.time.setMinimumWidth(self.fontMetrics().horizontalAdvance("0:00:00.0 / 0:00:00") + 8)
        self.speeds = QComboBox()
        plain.tip(self.speeds, self.tr("Speed"))
        self.speeds.setAccessibleName(self.tr("Speed"))
        self.speeds.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for x in SPEEDS:
            self.speeds.addItem(f"{x:g}×", x)
        self.speeds.setFixedWidth(80)
        self.speeds.setCurrentIndex(SPEEDS.index(1.0))
        self.speeds.currentIndexChanged.connect(lambda i: self.speed.emit(SPEEDS[i]))
        self.mute = self._button(self.tr("Mute (Ctrl+M)"), self._tell_volume)
        self.mute.setCheckable(True)
        self.volume_slider = QSlider(Qt.Orientation.Horizontal)
        self.volume_slider.setRange(0, 100)
        self.volume_slider.setValue(80)
        self.volume_slider.setFixedWidth(80)
        plain.tip(self.volume_slider, self.tr("Volume"))
        self.volume_slider.setAccessibleName(self.tr("Volume"))
        self.volume_slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.volume_slider.valueChanged.connect(self._tell_volume)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(3)
        for button in (self._back, self._step_back, self.play_button, self._step_on, self._on):
            row.addWidget(button)
        row.addSpacing(4)
        row.addWidget(self.slider, 1)
        row.addSpacing(4)
        for widget in (self.time, self.speeds, self.mute, self.volume_slider):
            row.addWidget(widget)
        hidden_last_first = (self.mute, self._on, self._back, self.speeds, self._step_on, self._step_back, self.volume_slider)
        self.more = MoreButton(self, hidden_last_first, spare=SPARE)
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row.addWidget(self.more)
        self.retheme()

    def _button(self, tip: str, act: object) -> QToolButton:
        button = QToolButton()
        plain.tip(button, tip)
        button.setAccessibleName(tip)
        button.setIconSize(QSize(20, 20))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda _checked=False: act())  # type: ignore[operator]
        return button

    def retheme(self) -> None:
        """Reload icons in the theme's colours."""
        icons: tuple[tuple[QToolButton, str], ...] = (
            (self._back, "mdi6.rewind-5"),
            (self._step_back, "mdi6.step-backward"),
            (self._step_on, "mdi6.step-forward"),
            (self._on, "mdi6.fast-forward-5"),
        )
        for button, name in icons:
            button.setIcon(theme.icon(name))
        self._icons: dict[bool, QIcon] = {False: theme.icon("mdi6.play"), True: theme.icon("mdi6.pause")}
        self.play_button.setIcon(self._icons[self.playing])
        self.more.dress()
        self._show_volume()

    def _show_volume(self) -> None:
        self.mute.setIcon(theme.icon("mdi6.volume-off" if self.mute.isChecked() or self._silent else "mdi6.volume-high"))

    def set_duration(self, duration: int) -> None:
        self._duration = duration
        self.slider.setRange(0, duration * TICKS // 1_000_000)
        self.setEnabled(True)

    def set_position(self, at: int) -> None:
        """Show the position; a slider being dragged stays with the mouse."""
        if not self.slider.isSliderDown():
            self.slider.setValue(at * TICKS // 1_000_000)
        self._position = at
        self._show_time()

    def set_seeking(self, share: float | None) -> None:
        """Show the share (0 to 1) of the way to a distant picture; None: it was reached."""
        if share != self._seeking:
            self._seeking = share
            plain.tip(self.time, self.tr("Going to that moment; Space stops here") if share is not None else "")
            self._show_time()

    def _show_time(self) -> None:
        end = texts.clock(self._duration) if self._seeking is None else f"{self._seeking:.0%}"
        self.time.setText(f"{texts.precise_clock(self._position)} {'/' if self._seeking is None else '…'} {end}")

    def set_playing(self, playing: bool) -> None:
        if playing != self.playing:
            self.playing = playing
            self.play_button.setIcon(self._icons[playing])

    def muted(self) -> bool:
        return self.mute.isChecked()

    def volume_now(self) -> float:
        return self.volume_slider.value() / 100

    def speed_now(self) -> float:
        return SPEEDS[self.speeds.currentIndex()]

    def restore(self, speed: float, volume: int, muted: bool) -> None:
        """Show the speed, volume (0 to 100) and mute of an earlier run; a player gets them when it is made."""
        for widget in (self.speeds, self.volume_slider, self.mute):
            widget.blockSignals(True)
        if speed in SPEEDS:
            self.speeds.setCurrentIndex(SPEEDS.index(speed))
        self.volume_slider.setValue(volume)
        self.mute.setChecked(muted)
        for widget in (self.speeds, self.volume_slider, self.mute):
            widget.blockSignals(False)
        self._show_volume()

    def change_speed(self, steps: int) -> None:
        """Go to the next faster (or slower) speed."""
        self.speeds.setCurrentIndex(max(0, min(len(SPEEDS) - 1, self.speeds.currentIndex() + steps)))

    def set_silent(self, reason: str | None) -> None:
        """Show why there is no sound, if so."""
        plain.tip(self.mute, self.tr("No sound: %1").replace("%1", reason) if reason else self.tr("Mute (Ctrl+M)"))
        self._silent = bool(reason)
        self._show_volume()

    def _tell_volume(self, *_: object) -> None:
        self._show_volume()
        self.volume.emit(self.volume_now(), self.muted())
