"""Plays a file's sound for the player through PortAudio, and reports to the clock which media time is heard when."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import av
import numpy as np
from av.filter import Graph
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND
from m3desk.media.streams import OpenContainer, audible, frame_time

Block = NDArray[np.float32]
"""(samples, 2) float32 in −1…1: left and right."""

Fill = Callable[[Block, float], None]
"""Fill a block that will be heard from that moment (seconds of time.monotonic) on."""

# Decoded ahead: enough for a busy machine, little enough to drop at a seek.
_AHEAD_SECONDS = 0.6
_SETTLE = 200_000
_GAP = 50_000


class Silent(Exception):
    """No sound can be played here; the text says why."""


class Output(Protocol):
    """A sound device that requests blocks of samples while it runs."""

    rate: int

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...


def _sounddevice() -> Any:
    """Import sounddevice, which starts PortAudio. Raises ImportError, OSError.

    PortAudio asks for a JACK server too, and libjack leaves an empty database of properties in shared memory for it (Debian 12's: 0.2 MB,
    until the machine is restarted). If it was not there before and no server runs, it is deleted.
    """
    if "sounddevice" in sys.modules or not hasattr(os, "getuid"):
        import sounddevice

        return sounddevice
    shared = Path("/dev/shm")
    left, user = shared / f"jack_db-{os.getuid()}", os.getuid()
    was_there = os.path.lexists(left)
    import sounddevice

    with contextlib.suppress(OSError):
        if not was_there and left.lstat().st_uid == user and not list(shared.glob(f"jack_*_{user}_*")):
            shutil.rmtree(left)
    return sounddevice


class PortAudioOutput:
    """The default sound device. Raises Silent if PortAudio or a device is missing."""

    def __init__(self, fill: Fill) -> None:
        try:
            sounddevice = _sounddevice()
        except (ImportError, OSError) as error:
            raise Silent("no sound: the system library PortAudio is missing (Debian, Ubuntu: apt install libportaudio2)") from error
        try:
            device = sounddevice.query_devices(kind="output")
            self.rate = int(device["default_samplerate"]) or 48_000

            def callback(block: Block, _frames: int, when: Any, _status: Any) -> None:
                ahead = when.outputBufferDacTime - when.currentTime
                # Some drivers leave these times at zero: then the latency they promise is all there is.
                fill(block, time.monotonic() + (ahead if 0 < ahead < 2 else float(self._stream.latency)))

            self._stream = sounddevice.OutputStream(samplerate=self.rate, channels=2, dtype="float32", latency="high", callback=callback)
        except (sounddevice.PortAudioError, ValueError, OSError) as error:
            raise Silent(f"no sound: there is no output device that can be used ({error})") from error
        self._failed = sounddevice.PortAudioError

    def start(self) -> None:
        if not self._stream.active:
            self._stream.start()

    def stop(self) -> None:
        if self._stream.active:
            self._stream.abort()

    def close(self) -> None:
        self._stream.close()


class Speaker:
    """Decodes sound ahead in its own thread and passes it to an output. All methods return at once.

    `heard(at, wall)`: called from the output's thread for each block, with the media time of its first sample.
    `told(reason)`: called if sound cannot be played.
    """

    def __init__(
        self,
        open_file: Callable[[], OpenContainer],
        heard: Callable[[int, float], None],
        told: Callable[[str], None],
        output: Callable[[Fill], Output] = PortAudioOutput,
    ) -> None:
        self.silent_reason: str | None = None
        self.volume = 1.0
        self.muted = False
        self._open_file = open_file
        self._heard = heard
        self._told = told
        self._make_output = output
        self._wake = threading.Condition()
        self._wish: tuple[int, float] | None = None  # play from (microseconds, speed); None: be still
        self._wishes = 0
        self._ended = False
        self._speed = 1.0
        self._rate = 48_000
        self._ahead: deque[tuple[int, Block]] = deque()
        self._thread = threading.Thread(target=self._work, name="m3desk-sound", daemon=True)
        self._thread.start()

    def play(self, at: int, speed: float = 1.0) -> None:
        """Play from `at` microseconds."""
        self._tell((at, speed))

    def stop(self) -> None:
        """Stop playing."""
        self._tell(None)

    def _tell(self, wish: tuple[int, float] | None) -> None:
        with self._wake:
            self._wish = wish
            self._wishes += 1
            self._ahead.clear()
            self._wake.notify_all()

    def close(self) -> None:
        with self._wake:
            self._ended = True
            self._ahead.clear()
            self._wake.notify_all()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    # ------------------------------------------------------------ the sound thread

    def _work(self) -> None:
        output: Output | None = None
        opened: OpenContainer | None = None
        try:
            output = self._make_output(self._fill)
            self._rate = output.rate
            opened = self._open_file()
            self._serve(output, opened)
        except Silent as reason:
            self.silent_reason = str(reason)
            self._told(self.silent_reason)
        except Exception as error:  # a driver that fails costs the sound, not the picture
            self.silent_reason = f"no sound: {error}"
            self._told(self.silent_reason)
        finally:
            if output is not None:
                output.close()
            if opened is not None:
                opened.close()

    def _serve(self, output: Output, opened: OpenContainer) -> None:
        done = 0
        while True:
            with self._wake:
                while self._wishes == done and not self._ended:
                    self._wake.wait()
                if self._ended:
                    return
                wish, done = self._wish, self._wishes
            output.stop()
            if wish is None:
                continue
            at, self._speed = wish
            started = False
            for piece in self._pieces(opened, at, self._speed, output.rate):
                with self._wake:
                    if self._wishes != done or self._ended:
                        break
                    self._ahead.append(piece)
                    full = self._stored() > _AHEAD_SECONDS
                    while started and self._stored() > _AHEAD_SECONDS / 2 and self._wishes == done and not self._ended and full:
                        self._wake.wait(1.0)
                if full and not started:
                    output.start()
                    started = True
            if not started:
                output.start()

    def _stored(self) -> float:
        """Return the seconds of sound that are decoded ahead."""
        return sum(len(block) for _, block in self._ahead) / self._rate

    def _pieces(self, opened: OpenContainer, at: int, speed: float, rate: int) -> Iterator[tuple[int, Block]]:
        """Yield (media time, block) from `at` on, at the device's rate; at other speeds the pitch is kept (FFmpeg's atempo)."""
        opened.seek("sound", at - _SETTLE)
        graph: Graph | None = None
        shape: tuple[Any, ...] = ()
        made = 0
        begin = due = at
        for now, frame in _sound_frames(opened):
            ends = now + round(frame.samples * MICROSECOND / frame.sample_rate)
            if ends <= at:
                continue
            if now - due > _GAP:
                yield from _silence(due, now, speed, rate)
                graph = None
            if graph is None or shape != (frame.format.name, frame.layout.name, frame.sample_rate):
                shape = (frame.format.name, frame.layout.name, frame.sample_rate)
                graph, made, begin = _graph(frame, speed, rate), 0, now
            due = ends
            frame.pts = None
            graph.push(frame)
            for block in _pulled(graph):
                when = begin + round(made * speed * MICROSECOND / rate)
                made += len(block)
                early = round((at - when) * rate / speed / MICROSECOND)
                if early < len(block):
                    yield max(when, at), block[max(early, 0) :]

    # ------------------------------------------------------------ the device's thread

    def _fill(self, block: Block, wall: float) -> None:
        """Give the device its next samples, or silence."""
        filled = 0
        first: int | None = None
        with self._wake:
            while filled < len(block) and self._ahead:
                at, piece = self._ahead.popleft()
                first = at if first is None else first
                n = min(len(piece), len(block) - filled)
                block[filled : filled + n] = piece[:n]
                filled += n
                if n < len(piece):
                    self._ahead.appendleft((at + round(n * self._speed * MICROSECOND / self._rate), piece[n:]))
            self._wake.notify_all()
        block[filled:] = 0
        block *= 0.0 if self.muted else self.volume
        if first is not None:
            self._heard(first, wall)


def _silence(start: int, end: int, speed: float, rate: int) -> Iterator[tuple[int, Block]]:
    """Yield silent blocks of 0.1 s for [start, end) microseconds."""
    step = MICROSECOND // 10
    for at in range(start, end, step):
        yield at, np.zeros((round(min(step, end - at) * rate / speed / MICROSECOND), 2), np.float32)


def _sound_frames(opened: OpenContainer) -> Iterator[tuple[int, Any]]:
    at: int | None = None
    for packet in opened.packets("sound"):
        try:
            frames = packet.decode()
        except (av.FFmpegError, OSError):
            continue
        for frame in frames:
            at = frame_time(opened, frame, at)
            if audible(frame.sample_rate):
                yield at, frame


def _graph(frame: Any, speed: float, rate: int) -> Graph:
    """Return a filter graph from frames like this to stereo float at the device's rate, `speed` times as fast at the same pitch."""
    graph = Graph()
    nodes = [graph.add_abuffer(sample_rate=frame.sample_rate, format=frame.format, layout=frame.layout, time_base=frame.time_base)]
    while abs(speed - 1.0) > 1e-3:  # one atempo does 0.5 … 100
        step = max(speed, 0.5)
        nodes.append(graph.add("atempo", f"{step:.4f}"))
        speed /= step
    nodes.append(graph.add("aformat", f"sample_fmts=flt:sample_rates={rate}:channel_layouts=stereo"))
    nodes.append(graph.add("abuffersink"))
    graph.link_nodes(*nodes)
    graph.configure()
    return graph


def _pulled(graph: Graph) -> Iterator[Block]:
    while True:
        try:
            frame: Any = graph.pull()
        except (av.BlockingIOError, av.EOFError):
            return
        yield np.asarray(frame.to_ndarray(), np.float32).reshape(-1, 2)
