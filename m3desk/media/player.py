"""Plays a file: exact pictures synchronized with the sound, fast seeking, single steps, speeds. Independent of any GUI toolkit.

Three threads: the caller's, which only sets requests and never waits; the picture thread, which decodes and calls `on_frame`; and the
sound thread. The newest request replaces older ones, nothing is queued: a slow machine skips pictures.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from m3desk import config
from m3desk.domain.clip import MICROSECOND
from m3desk.errors import M3DeskError, line_of
from m3desk.media.clock import Clock
from m3desk.media.length import measured
from m3desk.media.pictures import Pictures, TimedFrame
from m3desk.media.speaker import Fill, Output, PortAudioOutput, Speaker
from m3desk.media.streams import OpenContainer, Showing, open_media
from m3desk.media.trial import tried

SLOWEST, FASTEST = 0.25, 4.0

# How long the picture waits for a sound device to begin before it goes on by the wall clock.
_SOUND_START_SECONDS = 0.6

# Rows of a picture beyond which one core no longer decodes in time (1080p: 430 frames a second on one, `qt.md` §5).
_LARGE = 1200

# While catching up, a picture is shown at least this often; this far behind, pictures that no other needs are left out;
# this far behind, a seek may be quicker.
_SHOW_EVERY_SECONDS = 0.1
_LATE = 200_000
_LOST = 2 * MICROSECOND


@dataclass(frozen=True, slots=True)
class PlayedFrame:
    """A picture to show now. `at`: microseconds. `picture`: (h, w, 4) uint8 BGRA, C-contiguous, as displayed."""

    at: int
    picture: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PlayerState:
    """The player's state. Times are microseconds; `width`, `height`: pixels as displayed, 0 without a picture.

    `seeking`: share of the way (0 to 1) to a distant picture that is being decoded, None at other times. `error`: why the file cannot be
    played. `silent_reason`: why there is no sound, None if sound works or has not started.
    """

    path: str = ""
    playing: bool = False
    ended: bool = False
    position: int = 0
    duration: int = 0
    speed: float = 1.0
    volume: float = 1.0
    muted: bool = False
    has_picture: bool = False
    has_sound: bool = False
    width: int = 0
    height: int = 0
    seeking: float | None = None
    silent_reason: str | None = None
    error: str | None = None


@dataclass(slots=True)
class _File:
    """The picture thread's state for the playing file. `shown`: the last picture given to `on_frame`."""

    opened: OpenContainer
    pictures: Pictures | None
    showing: Showing
    speaker: Speaker | None
    duration: int
    shown: TimedFrame | None = None
    ready: tuple[TimedFrame, tuple[int, int] | None, NDArray[np.uint8]] | None = None

    def picture(self, shot: TimedFrame, fit: tuple[int, int] | None) -> NDArray[np.uint8]:
        """Return a picture to show, converted once."""
        if self.ready is None or self.ready[0] is not shot or self.ready[1] != fit:
            self.ready = (shot, fit, self.showing.bgra(shot.frame, fit))
        return self.ready[2]

    def close(self) -> None:
        if self.speaker is not None:
            self.speaker.close()
        if self.pictures is not None:
            self.pictures.close()
        self.opened.close()


class Player:
    """Plays one file at a time.

    `on_frame` and `on_state` are called from the player's threads, never concurrently; `on_frame` should only store the picture for the
    GUI thread. `output` creates the sound device; `trial` checks a file before it is opened here (tests pass their own).
    """

    def __init__(
        self,
        on_frame: Callable[[PlayedFrame], None],
        on_state: Callable[[PlayerState], None],
        output: Callable[[Fill], Output] = PortAudioOutput,
        trial: Callable[[str], object] = tried,
    ) -> None:
        self._on_frame = on_frame
        self._on_state = on_state
        self._output = output
        self._trial = trial
        self._clock = Clock()
        self._wake = threading.Condition()
        self._telling = threading.Lock()
        self._state = PlayerState()
        self._path: str | None = None  # wish: open this
        self._target: tuple[int, bool] | None = None  # wish: (microseconds, show the key frame on the way)
        self._steps = 0  # wish: so many frames on or back
        self._fit: tuple[int, int] | None = None
        self._again = False  # wish: show the same picture in the new size
        self._closed = False
        self._wished = False  # the wanted state changed
        self._waiting_until: float | None = None  # for the first sound, by time.monotonic()
        self._running = False
        self._running_speed = 1.0
        self._file: _File | None = None
        self._thread = threading.Thread(target=self._work, name="m3desk-player", daemon=True)
        self._thread.start()

    # ------------------------------------------------------------ wishes; all return at once

    def open(self, path: str | Path) -> None:
        """Open a file and show its first picture, paused. Errors arrive as `state.error`."""
        with self._wake:
            self._path, self._target, self._steps = str(path), None, 0
            self._state = replace(self._state, playing=False, ended=False, duration=0, error=None)  # its length is not known yet
            self._wake.notify_all()

    def play(self) -> None:
        """Play; from the start if the end was reached."""
        self._wish(playing=True)

    def pause(self) -> None:
        """Pause at the current picture."""
        self._wish(playing=False)

    def seek(self, at: int, exact: bool = True) -> None:
        """Go to `at` microseconds; the newest request wins. Without `exact`, the key frame before it is shown first."""
        with self._wake:
            limit = self._state.duration or at
            self._target, self._steps = (max(0, min(at, limit)), not exact), 0
            self._wake.notify_all()

    def stop_seeking(self) -> None:
        """Stay at the picture that was reached on the way to a requested one."""
        with self._wake:
            self._target = None
            self._wake.notify_all()

    def scrub(self, at: int) -> None:
        """Follow a slider: show the key frame at once, then the exact picture unless a newer request has come."""
        self.seek(at, exact=False)

    def step(self, frames: int) -> None:
        """Pause and step this many frames forward (negative: back)."""
        with self._wake:
            self._steps += frames
            self._wake.notify_all()
        self._wish(playing=False)

    def set_speed(self, speed: float) -> None:
        """Set the playback speed, 0.25 to 4."""
        self._wish(speed=min(max(speed, SLOWEST), FASTEST))

    def set_volume(self, volume: float) -> None:
        """Set the volume, 0 to 1."""
        self._wish(volume=min(max(volume, 0.0), 1.0))

    def set_muted(self, muted: bool) -> None:
        self._wish(muted=muted)

    def set_target_size(self, width: int, height: int) -> None:
        """Limit the size of pictures (pixels), so that the window need not scale them; 0, 0: full size."""
        fit = (width, height) if width > 0 and height > 0 else None
        with self._wake:
            if fit != self._fit:
                self._fit, self._again = fit, True
                self._wake.notify_all()

    def close(self) -> None:
        """End the threads and close the file; no callback follows after this returns."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(5)

    def _wish(self, **changes: Any) -> None:
        with self._wake:
            self._state = replace(self._state, **changes)
            self._wished = True
            self._wake.notify_all()

    @property
    def state(self) -> PlayerState:
        return replace(self._state, position=self.position)

    @property
    def position(self) -> int:
        """Return the current or requested position in microseconds."""
        target = self._target
        return target[0] if target else min(self._clock.read(), self._state.duration or 0)

    @property
    def duration(self) -> int:
        return self._state.duration

    @property
    def silent_reason(self) -> str | None:
        return self._state.silent_reason

    # ------------------------------------------------------------ the picture thread

    def _work(self) -> None:
        while True:
            self._prepare_steps_back()
            with self._wake:
                if not self._pending():
                    self._wake.wait(self._until_due())
                if self._closed:
                    break
                path, self._path = self._path, None
                steps, self._steps = self._steps, 0
                again, self._again = self._again, False
                tell, self._wished = self._wished or path is not None, False
            try:
                if path is not None:
                    self._open_now(path)
                if self._file is not None:
                    tell = self._serve(self._file, steps, again) or tell
            except (M3DeskError, av.FFmpegError, OSError) as error:
                self._give_up(error)
                tell = True
            if tell and not self._closed:
                self._on_state(self.state)
        if self._file is not None:
            self._file.close()
            if self._file.speaker is not None:
                self._file.speaker.join(2)

    def _pending(self) -> bool:
        return bool(self._closed or self._path is not None or self._steps or self._again or self._wished or (self._target and self._file))

    def _prepare_steps_back(self) -> None:
        """Use the time in which nothing is wanted: a step back before the last key frame takes as long as decoding from the one before."""
        pictures = self._file.pictures if self._file is not None else None
        if pictures is not None and not self._running and not self._pending() and pictures.has_few_behind():
            pictures.recall(lambda: not self._pending())

    def _until_due(self) -> float | None:
        """Return the seconds until the next picture is due, None while nothing plays."""
        if not self._running or self._file is None:
            return None
        following = self._file.pictures.following if self._file.pictures is not None else None
        due = following.at if following is not None else self._file.duration
        if self._waiting_until is not None:
            return 0.01
        return min(max(0.0, (due - self._clock.read()) / MICROSECOND / self._running_speed), 0.1)

    def _open_now(self, path: str) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._running = False
        self._clock.set(0, running=False)
        blank = PlayerState(
            path=path, playing=self._state.playing, speed=self._state.speed, volume=self._state.volume, muted=self._state.muted
        )
        with self._wake:
            self._state = blank
        self._trial(path)
        opened = open_media(path)
        if opened.picture is not None and opened.picture.codec_context.height > _LARGE:
            opened.use_threads(min(4, config.cores()))
        pictures = Pictures(opened) if opened.picture is not None else None
        file = _File(opened, pictures, Showing(opened), None, measured(opened).there)
        self._file = file
        first = pictures.show(lambda: 0) if pictures is not None else None
        size = file.showing.size(first.frame) if first is not None else (0, 0)
        if opened.sound is not None:
            file.speaker = Speaker(lambda: open_media(path), self._heard, self._sound_told, self._output)
        with self._wake:
            self._state = replace(
                self._state,
                duration=file.duration,
                has_picture=first is not None,
                has_sound=opened.sound is not None,
                width=size[0],
                height=size[1],
            )
        if first is not None:
            self._emit(file, first)

    def _give_up(self, error: Exception) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._running = False
        text = line_of(error)
        with self._wake:
            self._target = None
            self._state = replace(self._state, playing=False, error=text)

    def _serve(self, file: _File, steps: int, again: bool) -> bool:
        """Handle requests and due pictures; return whether the state changed."""
        changed = False
        if steps:
            self._stand_still(file)
            self._step_now(file, steps)
            changed = True
        elif self._target is not None:
            self._stand_still(file)
            self._seek_now(file)
            changed = True
        if again and file.shown is not None:
            self._emit(file, file.shown)
        changed = self._follow_wishes(file) or changed
        return self._play_on(file) or changed if self._running else changed

    def _stand_still(self, file: _File) -> None:
        if self._running:
            self._running = False
            self._clock.set(running=False)
            if file.speaker is not None:
                file.speaker.stop()

    def _seek_now(self, file: _File) -> None:
        asked: tuple[int, bool] | None = None

        def wanted() -> int | None:
            nonlocal asked
            if self._closed or self._path is not None or self._target is None:
                return None
            asked = self._target
            return asked[0]

        at = wanted()
        shot = None
        if file.pictures is not None and at is not None:
            preview = partial(self._show_nearer, file, at) if asked and asked[1] else None
            shot = file.pictures.show(wanted, preview, partial(self._seek_reached, file, at))
        if asked is None:
            return
        stopped = shot is None and file.pictures is not None and self._target is None and file.shown is not None
        self._clock.set(file.shown.at if stopped and file.shown is not None else asked[0])
        with self._wake:
            if self._target == asked:
                self._target = None
            self._state = replace(self._state, ended=False, seeking=None)
        if shot is not None:
            self._emit(file, shot)

    def _show_nearer(self, file: _File, at: int, shot: TimedFrame) -> None:
        """Show a picture on the way to a wanted one if it is nearer than what is shown."""
        at = self._target[0] if self._target is not None else at
        if file.shown is None or abs(shot.at - at) < abs(file.shown.at - at):
            self._emit(file, shot)

    def _seek_reached(self, file: _File, at: int, shot: TimedFrame, share: float) -> None:
        """Tell how much of the way to a distant picture is done; show what was reached if it is nearer than what is shown."""
        if self._interrupted_by_another_file():
            return
        with self._wake:
            self._state = replace(self._state, seeking=share)
        self._show_nearer(file, at, shot)
        self._on_state(self.state)

    def _interrupted_by_another_file(self) -> bool:
        return self._closed or self._path is not None

    def _step_now(self, file: _File, steps: int) -> None:
        if file.pictures is None:
            return
        at = self._target[0] if self._target else (file.shown.at if file.shown is not None else self._clock.read())
        self._target = None

        def go_on() -> bool:
            return not self._interrupted()

        shot = file.pictures.show(lambda: at if go_on() else None, reached=partial(self._seek_reached, file, at))
        for _ in range(abs(steps)):
            if not go_on():
                return
            if steps < 0 and shot is not None:
                shot = file.pictures.before(shot.at, go_on)
            elif steps > 0 and (file.pictures.current is None or file.pictures.following is not None):
                file.pictures.advance()
                shot = file.pictures.current
        if shot is not None:
            self._clock.set(shot.at)
            with self._wake:
                self._state = replace(self._state, ended=False, seeking=None)
            self._emit(file, shot)

    def _follow_wishes(self, file: _File) -> bool:
        """Apply requested start, stop and speed; return whether the state changed."""
        wish = self._state
        if file.speaker is not None:
            file.speaker.volume, file.speaker.muted = wish.volume, wish.muted
        if not wish.playing:
            self._stand_still(file)
            return False
        if self._running and self._running_speed == wish.speed:
            return False
        self._stand_still(file)
        changed = False
        if wish.ended:
            self._target = (0, False)
            self._seek_now(file)
            changed = True
        self._running, self._running_speed = True, wish.speed
        audible = file.speaker is not None and file.speaker.silent_reason is None
        self._clock.set(running=not audible, speed=wish.speed)
        if audible and file.speaker is not None:
            self._waiting_until = time.monotonic() + _SOUND_START_SECONDS
            file.speaker.play(self._clock.read(), wish.speed)
        return changed

    def _play_on(self, file: _File) -> bool:
        """Show what is due now; return whether the end was reached."""
        if self._waiting_until is not None:
            if time.monotonic() < self._waiting_until and (file.speaker is None or file.speaker.silent_reason is None):
                return False
            self._waiting_until = None
            self._clock.set(running=True)
        pictures = file.pictures
        if pictures is not None:
            self._catch_up(file, pictures)
        if (pictures is None or pictures.following is None) and self._clock.read() >= file.duration:
            self._stand_still(file)
            self._clock.set(file.duration)
            with self._wake:
                self._state = replace(self._state, playing=False, ended=True)
            return True
        return False

    def _catch_up(self, file: _File, pictures: Pictures) -> None:
        """Decode up to the clock, show the newest picture, and convert the next one in advance."""
        following = pictures.following
        behind = self._clock.read() - following.at if following is not None else 0
        if behind > _LOST:
            pictures.show(lambda: None if self._interrupted() else self._clock.read())
        elif behind > _LATE:
            pictures.hurry(self._clock.read())
        if following is not None and pictures.current is not None and 0 <= behind < following.at - pictures.current.at:
            self._emit(file, following)  # at once: to decode the one after it takes time
        started = time.monotonic()
        while pictures.following is not None and pictures.following.at <= self._clock.read() and not self._interrupted():
            pictures.advance()
            if time.monotonic() - started > _SHOW_EVERY_SECONDS:
                break
        if pictures.current is not None and pictures.current is not file.shown:
            self._emit(file, pictures.current)
        if pictures.following is not None and not self._interrupted():
            file.picture(pictures.following, self._fit)

    def _interrupted(self) -> bool:
        return self._interrupted_by_another_file() or self._target is not None

    def _emit(self, file: _File, shot: TimedFrame) -> None:
        if self._closed or self._path is not None:
            return
        file.shown = shot
        self._on_frame(PlayedFrame(shot.at, file.picture(shot, self._fit)))

    # ------------------------------------------------------------ called by the sound's threads

    def _heard(self, at: int, wall: float) -> None:
        if self._waiting_until is None:
            self._clock.heard(at, wall)
        elif self._running and abs(at - self._clock.read()) < MICROSECOND // 2:
            now = time.monotonic()
            self._clock.set(at - round((wall - now) * self._running_speed * MICROSECOND), running=True)
            self._waiting_until = None

    def _sound_told(self, reason: str) -> None:
        with self._wake:
            self._state = replace(self._state, silent_reason=reason)
            self._wished = True
            self._wake.notify_all()
