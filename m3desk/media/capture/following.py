"""One clip of a recording that is still growing: gives what `FileClip` would give later, as soon as it is recorded."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import av
import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.media.capture.joined import POLL_SECONDS
from m3desk.media.capture.recording import Recording
from m3desk.media.cutter import APART, OVERRUN, FileClip
from m3desk.media.streams import Kind, OpenContainer, frame_time, open_recording
from m3desk.ports import SAMPLE_RATE, Sound

_PIECE = 250_000

_LATE_SECONDS = 5.0
"""How long a closed clip waits for its last data where none comes any more."""


class FollowingClip(FileClip):
    """The open clip of a live source; implements `ports.ClipMedia`. frames() and sound() wait for what is not recorded yet.

    They end when the clip's end is recorded, when the recording ends, at the time given to `closed`, or at once after `stop`. The same
    calls of `FileClip` give the same pictures and samples afterwards, bit for bit. `clip.end` is final once one of them has ended.
    """

    def __init__(self, source: Source, clip: Clip, path: str, fps: float = 5.0, overrun: int = OVERRUN) -> None:
        super().__init__(source, clip, path, fps, overrun, threads=1)  # several threads would hold pictures back
        self._closed_at: float | None = None
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._given = -1

    def closed(self, at: int, overrun: int | None = None) -> int:
        """End the clip at `at` microseconds, up to which must be recorded; return its end.

        The end is later than `at` where pictures after it were already given: at the next moment of the grid then.
        `overrun`: how much sound past the end is waited for.
        """
        with self._lock:
            step = round(MICROSECOND / self._fps)
            end = min(at if self._given < at else self._given + step, self.clip.end)
            self._overrun = self._overrun if overrun is None else overrun
            self.clip = replace(self.clip, end=end)
            self._closed_at = time.monotonic()
        return end

    def stop(self) -> None:
        """Stop waiting: frames() and sound() end with what is recorded."""
        self._stopped.set()

    @property
    def overrun(self) -> int:
        """Microseconds of sound past the clip's end."""
        return self._overrun

    def _gives(self, moment: int) -> bool:
        with self._lock:
            if moment >= self.clip.end:
                return False
            self._given = max(self._given, moment)
            return True

    def _open(self, kind: Kind, threads: int = 1) -> OpenContainer:
        folder = Path(self.path)
        recording = Recording(folder)
        while not recording.has_begun() and not self._stopped.wait(POLL_SECONDS):
            pass
        return open_recording(folder, threads, lambda: self._waiting(recording))

    def _waiting(self, recording: Recording) -> bool:
        """Return whether more of the clip may come: one stream may be written later than the other."""
        if self._stopped.is_set():
            return False
        if self._closed_at is None:
            return True
        return recording.end <= self._stop() + APART and time.monotonic() - self._closed_at < _LATE_SECONDS


def sound_pieces(folder: str | Path, start: int, stopped: Callable[[], bool]) -> Iterator[tuple[int, Sound]]:
    """Yield (time, samples) of the sound from `start` microseconds on as it is recorded: one channel, 16 kHz, up to 0.25 s each.

    Times are microseconds; pauses are left out. Ends with the recording, at once if that has no sound, or once `stopped()` returns True.
    Raises SourceError.
    """
    recording = Recording(folder)
    while not (recording.has_begun() or stopped()):
        time.sleep(POLL_SECONDS)
    if stopped():
        return
    with open_recording(Path(folder).absolute(), waiting=lambda: not stopped()) as opened:
        if opened.sound is None:
            return
        opened.seek("sound", start)
        due: int | None = None
        resampler = av.AudioResampler("flt", "mono", SAMPLE_RATE)
        waiting: list[Sound] = []
        for packet in opened.packets("sound"):
            try:
                frames = packet.decode()
            except av.FFmpegError:
                continue
            for frame in frames:
                at = frame_time(opened, frame, due)
                if due is None or abs(at - due) > _PIECE // 4:
                    if waiting and due is not None:
                        yield _piece(waiting, due)
                    resampler, waiting = av.AudioResampler("flt", "mono", SAMPLE_RATE), []
                due = at + round(frame.samples * MICROSECOND / frame.sample_rate)
                frame.pts = None
                waiting += [f.to_ndarray()[0] for f in resampler.resample(frame)]
                if at >= start and sum(map(len, waiting)) >= _PIECE * SAMPLE_RATE // MICROSECOND - 400:
                    yield _piece(waiting, due)
                    waiting = []
                elif at < start:
                    waiting = []
            if stopped():
                return
        if waiting and due is not None:
            yield _piece(waiting, due)


def _piece(waiting: list[Sound], end: int) -> tuple[int, Sound]:
    samples = np.concatenate(waiting).astype(np.float32)
    return end - len(samples) * MICROSECOND // SAMPLE_RATE, samples
