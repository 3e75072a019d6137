"""A recorder without devices, in this process: writes a drawn film with speech to disk, faster than real time or as a test says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import av
import numpy as np

from m3desk.media.capture import reports
from m3desk.media.capture.recording import About
from m3desk.media.capture.writing import RATE, RecordingWriter
from m3desk.ports import SAMPLE_RATE
from tests.perception.invented import draw
from tests.perception.invented_speech import speech

S = 1_000_000
PICTURES = 10


class DrawnRecorder:
    """Answers `live.session.Recorder`: writes `seconds` of film, `speed` times as fast as real time; ends then unless `goes_on`."""

    preview = "none"
    made: ClassVar[list[DrawnRecorder]] = []

    def __init__(
        self,
        folder: Path,
        _address: Any,
        report: Callable[[reports.Report], None],
        *,
        seconds: float = 6.0,
        speed: float = 6.0,
        goes_on: bool = False,
        keep: Any = "always",
        **_how: Any,
    ) -> None:
        self.report, self.speed, self.seconds, self.goes_on = report, speed, seconds, goes_on
        about = About("0" * 64, "drawn", datetime.now().astimezone().isoformat(), 320, 240, float(PICTURES), RATE, keep)
        self.writer = RecordingWriter(folder, about)
        self.stopping, self.paused, self.keyed = threading.Event(), threading.Event(), threading.Event()
        self.jump = 0
        self.killed = False
        self.thread = threading.Thread(target=self._write, daemon=True)
        DrawnRecorder.made.append(self)

    def start(self) -> None:
        self.report(reports.Started(320, 240, float(PICTURES), RATE, 0.0))
        self.report(reports.DeviceChanged("camera", "on"))
        self.thread.start()

    def pause(self) -> None:
        self.paused.set()

    def resume(self) -> None:
        self.jump += 8 * S  # time went on meanwhile
        self.keyed.set()  # a gap begins a new segment
        self.paused.clear()

    def stop(self) -> None:
        self.stopping.set()

    def key(self) -> None:
        self.keyed.set()

    def kill(self) -> None:
        self.killed = True
        self.stopping.set()

    def _write(self) -> None:
        sound = np.repeat(speech(2, [(0.5, "we drink tea")]), RATE // SAMPLE_RATE)
        step = S // PICTURES
        n = 0
        while not self.stopping.is_set() and (self.goes_on or n < self.seconds * PICTURES):
            if self.paused.is_set():
                time.sleep(0.01)
                continue
            if self.keyed.is_set():
                self.keyed.clear()
                self.writer.key()
            at = n * step + self.jump
            picture = draw([("ann", 20 + n % 100, 60, 60)])
            self.writer.picture(at, av.VideoFrame.from_ndarray(picture, format="bgr24"))
            first = (n * RATE // PICTURES) % len(sound)
            self.writer.sound(at, sound[first : first + RATE // PICTURES])
            n += 1
            if n % PICTURES == 0:
                self.report(reports.Recorded(at, self.writer.bytes))
            time.sleep(1 / PICTURES / self.speed)
        self.writer.close()
        self.report(reports.Ended("stopped" if self.stopping.is_set() else "the stream ended"))
