"""The recorder's process: captures one live source and records it, until it is told to stop or its parent ends.

Its settings come as the first line on standard input (an address may hold a password, and a command line is public), then commands:
`pause`, `resume`, `key`, `stop`, one a line. It answers with reports on standard output, and ends when standard input does.
One thread for each input, one that reads commands; the main thread alone writes.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import threading
import time
import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from m3desk.domain.live import AT_ITS_END, Keep
from m3desk.media.capture import clock, reports
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.feeders import Feeder, Waiting
from m3desk.media.capture.inputs import CaptureError, Input, inputs
from m3desk.media.capture.preview import Preview
from m3desk.media.capture.recording import ABOUT, About, Recording, is_recording
from m3desk.media.capture.sounds import SoundTrack
from m3desk.media.capture.stillness import Stillness
from m3desk.media.capture.writing import RATE, RecordingWriter

RESERVE = 200 << 20
"""Bytes of the disk that stay free."""

LITTLE = 1 << 30
"""Bytes left to record from which the user is warned."""

LONGEST = 24 * 3600 * 1_000_000
"""Microseconds of a recording at most: its time stamps start again after 26.5 hours."""

MOST_WIDTH, MOST_HEIGHT = 1920, 1080
"""Pixels of recorded pictures at most; larger ones are shrunk."""

HELD_PICTURES = 60
"""Pictures that are kept while other inputs have not answered yet; older ones are left out then: they are big."""

START_SECONDS = 20.0
"""Seconds within which the first input must deliver; then recording begins with those that do."""

SLEPT_SECONDS = 5.0
"""Seconds between two turns of the main loop from which the machine is taken to have slept."""

_ORPHANED = "its program ended"
_SOONEST = 28_000  # microseconds between two pictures: 30 a second at most
_LATE = 3_000_000  # sound that is later than this is recorded as silence, while pictures come
_FILLED = 2_500_000
_ALIVE = 2_000_000
_SILENT = 5 * RATE
_LEVEL = RATE // 5


@dataclass(frozen=True, slots=True)
class Settings:
    """What is to be recorded, and how. `origin`: when time 0 is, where a recording continues (seconds of `clock.now`)."""

    folder: str
    address: str
    id: str = ""
    keep: Keep = "always"
    budget_bytes: int | None = None
    reserve_bytes: int = RESERVE
    transform: str | None = None
    argument: str = ""
    preview: str | None = None
    origin: float | None = None


class RecorderProcess:
    """The main thread's work: everything in the order in which it comes."""

    def __init__(self, settings: Settings, out: BinaryIO, sources: list[Input] | None = None) -> None:
        """`sources`: the inputs; tests pass their own."""
        self._settings = settings
        self._out = out
        self._out_lock = threading.Lock()
        self._base = settings.origin if settings.origin is not None else clock.now()
        self._shift = 0
        self._waiting = Waiting()
        found = inputs(LiveAddress.parse(settings.address)) if sources is None else sources
        self._stillness = Stillness()
        self._feeders = [Feeder(s, self._waiting, self._clock, self._tell, lambda: self._stillness.still) for s in found]
        self._writer: RecordingWriter | None = None
        self._about: About | None = None
        self._track = SoundTrack()
        self._veil: Any = None
        self._preview: Preview | None = None
        self._reformatter = VideoReformatter()
        self._paused = False
        self._ended: reports.Ended | None = None
        self._last_picture = self._last_written = -1_000_000
        self._pictures_since = 0
        self._squares, self._counted, self._zeros = 0.0, 0, 0
        self._earlier_bytes = 0
        self._told_until = -1
        self._told_little = self._told_veil = False
        self._turned = clock.now()
        self._wall = clock.wall() - clock.now()
        self._ticked = 0.0
        self._checked = 0.0

    # ------------------------------------------------------------ the course

    def run(self, commands: BinaryIO) -> int:
        """Record until the end; return the process's exit status."""
        threading.Thread(target=self._read, args=(commands,), name="m3desk-commands", daemon=True).start()
        try:
            self._begin()
            while self._ended is None:
                item = self._waiting.get(0.1)
                try:
                    self._turn(item)
                except (OSError, av.FFmpegError):
                    if self._writer is None or is_recording(self._settings.folder):
                        raise
                    self._check_place()
        except (OSError, av.FFmpegError) as error:
            self._disk_failed(error)
        except CaptureError as error:
            self._ended = reports.Ended("failed", str(error), error.hint)
        self._finish()
        return 0

    def _begin(self) -> None:
        """Open the inputs and wait for what they deliver: then size and rate are known."""
        if self._settings.transform:
            self._veil = _made(self._settings.transform, self._settings.argument)
        if self._settings.preview:
            self._preview = Preview.attach(self._settings.preview)
        for feeder in self._feeders:
            feeder.start()
        if is_recording(self._settings.folder):  # a recorder died before: what the source is like is known
            self._describe([], [])
            return
        until = time.monotonic() + START_SECONDS
        held: list[tuple[str, int, Any]] = []
        while time.monotonic() < until and self._ended is None:
            item = self._waiting.get(0.05)
            if item is not None and item[0] in ("picture", "sound"):
                held.append(item)
                shown = [i for i, (kind, _, _) in enumerate(held) if kind == "picture"]
                if len(shown) > HELD_PICTURES:
                    del held[shown[0]]
            elif item is not None:
                self._command(item)
            if self._paused:
                until = time.monotonic() + START_SECONDS
            elif self._all_known(held):
                break
        if self._ended is not None:
            return
        found = [f for f in self._feeders if f.form is not None]
        if not held:
            failed = next((f.failed for f in self._feeders if f.failed is not None), None)
            raise failed or CaptureError("Nothing came from the source.", hint="Check that it is on.")
        self._describe(found, held)
        for item in held:
            self._turn(item)

    def _all_known(self, held: list[tuple[str, int, Any]]) -> bool:
        """Return whether each input has delivered all that it has, or has failed."""
        if held and all(f.failed is not None or f.form is not None for f in self._feeders):
            delivered = {kind for kind, _, _ in held}
            wanted = {"picture" for f in self._feeders if f.form and f.form.pictures and not f.failed}
            wanted |= {"sound" for f in self._feeders if f.form and f.form.sound and not f.failed}
            late = self._clock() - held[0][1] > 3_000_000
            return wanted <= delivered or late
        return not held and all(f.failed is not None for f in self._feeders) and not self._waiting.items

    def _describe(self, found: list[Feeder], held: list[tuple[str, int, Any]]) -> None:
        folder = Path(self._settings.folder)
        if is_recording(folder):  # a recorder died before
            about = replace(Recording.open(folder).about, ended_at=None, reason=None)
            self._earlier_bytes = Recording.open(folder).bytes
        else:
            if self._settings.origin is None:
                self._shift = min(at for _, at, _ in held)
            first = next((frame for kind, _, frame in held if kind == "picture"), None)
            kinds = {k for f in self._feeders for k in (f._kinds() if f.form is not None else f.source.kinds)}
            size: tuple[int, int] | None = None
            if "camera" in kinds:
                size = _size(first.width, first.height) if first is not None else (1280, 720)
            fps = next((f.form.fps for f in found if f.form is not None and f.form.pictures and f.form.fps), None)
            started = datetime.now().astimezone() - timedelta(seconds=clock.now() - self._base - self._shift / 1e6)
            about = About(
                self._settings.id or uuid.uuid4().hex,
                LiveAddress.parse(self._settings.address).shown(),
                started.isoformat(timespec="milliseconds"),
                size[0] if size else None,
                size[1] if size else None,
                min(fps or 25.0, 30.0) if size else None,
                RATE if "microphone" in kinds else None,
                self._settings.keep,
            )
        self._about = about
        self._writer = RecordingWriter(folder, about)
        self._tell(reports.Started(about.width, about.height, about.fps, about.rate, self._base + self._shift / 1e6))

    def _turn(self, item: tuple[str, int, Any] | None) -> None:
        """Handle one item, and what is due."""
        now = clock.now()
        slept = now - self._turned
        self._turned = now
        if slept > SLEPT_SECONDS:
            self._woke(slept)
        if item is not None:
            kind, at, what = item
            if kind == "picture":
                self._picture(at - self._shift, what)
            elif kind == "sound":
                self._sound(at - self._shift, what)
            else:
                self._command(item)
        if time.monotonic() - self._ticked > 0.25:
            self._ticked = time.monotonic()
            self._tick()

    def _command(self, item: tuple[str, int, Any]) -> None:
        name = item[0]
        if name == "stop":
            self._ended = reports.Ended("stopped")
        elif name == "parent":
            self._ended = reports.Ended(_ORPHANED)
        elif name == "end":
            self._ended = reports.Ended(AT_ITS_END)
        elif name == "key":
            self._flush()
            if self._writer is not None:
                self._writer.key()
        elif name == "pause" and not self._paused:
            self._paused = True
            for feeder in self._feeders:
                feeder.stop()
            self._write_waiting()
            self._flush()
            if self._writer is not None:
                self._writer.key()
            self._report_recorded()
        elif name == "resume" and self._paused:
            self._paused = False
            for feeder in self._feeders:
                feeder.start()

    def _write_waiting(self) -> None:
        """Write what the inputs had delivered before they were closed."""
        while (item := self._waiting.get(0.0)) is not None:
            if item[0] in ("picture", "sound"):
                self._turn(item)
            elif item[0] != "end":
                self._waiting.items.appendleft(item)
                return

    def _flush(self) -> None:
        for at, samples in self._track.finish():
            self._write_sound(at, samples)
        if self._veil is not None:
            for at, picture in self._veil.finish():
                self._write_picture(at, av.VideoFrame.from_ndarray(picture, format="bgr24"))

    def _finish(self) -> None:
        """Close everything, and tell the end."""
        for feeder in self._feeders:
            feeder.stop()
        ended = self._ended or reports.Ended("stopped")
        try:
            if ended.error is None:
                self._write_waiting()
                self._flush()
            if self._writer is not None:
                self._writer.close()
                self._report_recorded()
                self._writer.recording.close(datetime.now().astimezone().isoformat(timespec="milliseconds"), ended.reason)
        except (OSError, av.FFmpegError) as error:
            if self._writer is not None:
                self._writer.abandon()
            ended = ended if ended.error else _disk(error)
        if self._preview is not None:
            if ended.reason == _ORPHANED:
                self._preview.remove()
            self._preview.close()
        self._tell(ended)

    # ------------------------------------------------------------ pictures and sound

    def _picture(self, at: int, frame: Any) -> None:
        if self._writer is None or self._about is None or not self._about.has_pictures or not 0 <= at <= LONGEST:
            return
        if at - self._last_picture < _SOONEST:
            return
        if at - self._last_picture > _ALIVE:
            self._pictures_since = at
        self._last_picture = at
        if not self._stillness.needed(at, frame):
            return
        if self._veil is None:
            self._write_picture(at, frame)
            return
        width, height = _size(frame.width, frame.height)
        try:
            ready = self._veil.put(at, self._reformatter.reformat(frame, width, height, "bgr24").to_ndarray())
        except Exception as error:  # never record what could not be transformed
            if not self._told_veil:
                self._told_veil = True
                text = f"Pictures cannot be blurred ({type(error).__name__}); none are recorded."
                self._tell(reports.Problem(text, "Stop, and start again without bystander mode."))
            return
        for ready_at, picture in ready:
            self._write_picture(ready_at, av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="bgr24"))

    def _write_picture(self, at: int, frame: Any) -> None:
        if self._writer is None:
            return
        if self._preview is not None and self._preview.wanted():
            self._preview.put(at, frame)
        self._writer.picture(at, frame)
        self._last_written = at

    def _sound(self, at: int, frame: Any) -> None:
        if self._about is None or not self._about.has_sound:
            return
        for piece_at, samples in self._track.push(at, frame):
            self._write_sound(piece_at, samples)

    def _write_sound(self, at: int, samples: NDArray[np.float32]) -> None:
        if at < 0:
            samples = samples[round(-at * RATE / 1_000_000) :]
            at = 0
        if self._writer is None or not len(samples) or at > LONGEST:  # the machine may have slept for days: then time stamps start again
            return
        self._writer.sound(at, samples)
        self._squares += float(np.dot(samples, samples))
        self._counted += len(samples)
        self._zeros = 0 if samples.any() else self._zeros + len(samples)
        if self._counted >= _LEVEL:
            mean = self._squares / self._counted
            self._tell(reports.Level(round(max(-99.0, 10 * float(np.log10(mean + 1e-12))), 1)))
            self._squares, self._counted = 0.0, 0
            for feeder in self._feeders:
                if "microphone" in feeder.source.kinds:
                    silent = self._zeros >= _SILENT
                    feeder.mark("microphone", "silent" if silent else "on", "Only silence comes from the microphone." if silent else "")

    def _fill(self, now: int) -> None:
        """Record silence for sound that is missing, while pictures come."""
        writer, about = self._writer, self._about
        if writer is None or about is None or not about.has_sound or not about.has_pictures or self._paused:
            return
        if now - self._last_picture > _ALIVE:
            return
        taken = writer.sound_taken if writer.sound_taken is not None else max(writer.begins, self._last_picture - _LATE)
        taken = max(taken, self._pictures_since)  # nothing came before that: paused, asleep or lost, which stays a gap
        if now - taken > _LATE:
            missing = round((now - _FILLED - taken) * RATE / 1_000_000)
            writer.sound(taken, np.zeros(missing, np.float32))

    # ------------------------------------------------------------ looking after it

    def _tick(self) -> None:
        now = self._clock() - self._shift
        self._fill(now)
        for feeder in self._feeders:
            if not self._paused and feeder.stalled(self._clock()):
                feeder.give_up()
        wall = clock.wall() - clock.now()
        if abs(wall - self._wall) > 2.0:
            way = "forward" if wall > self._wall else "back"
            self._tell(
                reports.Problem(f"The system's clock was set {way} by {abs(wall - self._wall):,.0f} s; the recording keeps its own time.")
            )
            self._wall = wall
        self._report_recorded()
        if time.monotonic() - self._checked > 1.0:
            self._checked = time.monotonic()
            self._check_place()
            self._check_disk()
        if now > LONGEST:
            self._ended = reports.Ended("24 hours")

    def _woke(self, slept: float) -> None:
        """The machine slept, or this process was stopped: the devices are opened again, and a new segment begins."""
        self._tell(reports.Problem(f"Nothing was recorded for {slept:,.0f} s: the machine slept."))
        self._wall = clock.wall() - clock.now()
        if self._writer is not None:
            self._writer.key()
        if not self._paused:
            for feeder in self._feeders:
                if not feeder.source.ends:
                    feeder.stop()
                    feeder.start()

    def _report_recorded(self) -> None:
        writer, about = self._writer, self._about
        if writer is None or about is None:
            return
        ends = []
        if about.has_sound:
            ends.append(writer.sound_until)
        if about.has_pictures and not self._pictures_missing():
            ends.append(writer.pictures_until)
        until = min(ends, default=0)
        if until != self._told_until:
            self._told_until = until
            self._tell(reports.Recorded(until, self._earlier_bytes + writer.bytes, self._waiting.dropped))

    def _pictures_missing(self) -> bool:
        """Return whether no pictures are written although sound is."""
        return self._about is not None and self._about.has_sound and self._clock() - self._shift - self._last_written > _ALIVE

    def _check_disk(self) -> None:
        """Warn when little is left to record, and stop before nothing is."""
        if self._writer is None:
            return
        try:
            free = shutil.disk_usage(self._settings.folder).free
        except OSError:
            return
        left = free - self._settings.reserve_bytes
        what, hint = "the disk", "Make room on it, or drop old recordings."
        little = LITTLE
        if self._settings.budget_bytes is not None:
            rest = self._settings.budget_bytes - self._earlier_bytes - self._writer.bytes
            if rest < left:
                left, what, hint = rest, "what recordings may take", "Allow more, or drop old recordings."
                little = min(LITTLE, self._settings.budget_bytes // 10)
            elif free < 2 * rest:
                little = max(little, 2 * rest - self._settings.reserve_bytes)
        if left <= 0:
            self._ended = reports.Ended("disk full", f"Recording has stopped: {what} is used up. What is recorded is kept.", hint)
        elif left < little and not self._told_little:
            self._told_little = True
            self._tell(reports.Problem(f"Recording stops in {left / 1e6:,.0f} MB: {what} is nearly used up.", hint))

    def _check_place(self) -> None:
        """Find out whether the recording's folder is still there; wait for a disk that was taken away."""
        folder = Path(self._settings.folder)
        if self._writer is not None and not is_recording(folder):
            self._writer.abandon()
            self._earlier_bytes += self._writer.bytes
            self._writer = None
            if folder.parent.is_dir():
                self._ended = reports.Ended("its folder was removed", f"Recording has stopped: its folder {folder.name} was removed.")
                return
            self._tell(reports.Problem(f"Nothing is recorded: the folder {folder.parent} is gone.", "Put it back, and recording goes on."))
        elif self._writer is None and self._about is not None and is_recording(folder):
            self._writer = RecordingWriter(folder, self._about)
            self._tell(reports.Problem(f"The folder {folder.parent} is back: recording goes on."))

    def _disk_failed(self, error: Exception) -> None:
        if self._writer is not None:
            self._writer.abandon()
            self._writer = None
        self._ended = _disk(error)

    # ------------------------------------------------------------ talking

    def _clock(self) -> int:
        """Return microseconds since the base."""
        return round((clock.now() - self._base) * 1_000_000)

    def _tell(self, report: reports.Report) -> None:
        with self._out_lock:
            try:
                self._out.write(reports.line(report))
                self._out.flush()
            except (OSError, ValueError):  # the parent has ended; standard input says so, too
                pass

    def _read(self, commands: BinaryIO) -> None:
        for text in iter(commands.readline, b""):
            name = text.strip().decode("ascii", "replace")
            if name in ("pause", "resume", "key", "stop"):
                self._waiting.put(name)
        self._waiting.put("parent")


def _size(width: int, height: int) -> tuple[int, int]:
    """Return the size in which a picture is recorded: even numbers, within the largest size."""
    scale = min(1.0, MOST_WIDTH / width, MOST_HEIGHT / height)
    return max(2, int(width * scale) // 2 * 2), max(2, int(height * scale) // 2 * 2)


def _disk(error: Exception) -> reports.Ended:
    reason = getattr(error, "strerror", None) or type(error).__name__
    text = f"Recording has stopped: the disk failed ({reason}). What was recorded before is kept."
    return reports.Ended("disk failed", text, "Check the disk and the room on it.")


def _made(name: str, argument: str) -> Any:
    """Return the transform of a dotted name, made with its argument. Raises CaptureError."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)(argument)
    except Exception as error:
        hint = getattr(error, "hint", "") or "Start without bystander mode, or check the models: m3desk doctor."
        raise CaptureError(f"Pictures cannot be blurred: {error}.", hint=hint, lasting=True) from error


def main() -> int:
    """Run as the recorder's process; see the module."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):  # FFmpeg would go through them
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    av.logging.set_level(None)
    told = json.loads(sys.stdin.buffer.readline() or b"null")
    if told is None:
        return 1
    return RecorderProcess(Settings(**told), sys.stdout.buffer).run(sys.stdin.buffer)


__all__ = ["ABOUT", "RecorderProcess", "Settings", "main"]
