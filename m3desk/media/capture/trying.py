"""Tries a live source without recording it: shares its newest picture, and tells how loud it is.

Run as a process of its own, so that a driver that hangs stops nobody else. The address comes as the first line on standard input (it may
hold a password, and a command line is public); the child ends when standard input does. Reports are JSON lines on standard output.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any, BinaryIO

import av
import numpy as np

from m3desk.errors import M3DeskError
from m3desk.media.capture import clock
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.inputs import CaptureError, Input, Taking, inputs
from m3desk.media.capture.preview import Preview

VERB = "--try-source"
"""What a frozen program, which has no Python to start, is started with (see `m3desk.__main__`)."""

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from m3desk.media.capture.trying import main; sys.exit(main())"
LEVEL_SECONDS = 0.2
QUIETEST = -99.0


def command() -> list[str]:
    """Return the command that starts the child; write the address to its standard input."""
    own = [VERB] if getattr(sys, "frozen", False) else ["-c", START, json.dumps([p for p in sys.path if p])]
    return [sys.executable, *own]


class Trier:
    """Opens the inputs of an address, each in a thread of its own, until `stop`.

    Reports: `started` (preview, width, height, fps) with the first picture, or the first sound of a source without pictures; `level`
    (dBFS) five times a second; `problem` (message, hint) for each input that fails.
    """

    def __init__(self, sources: list[Input], preview: Preview | None, out: BinaryIO) -> None:
        self._sources, self._preview, self._out = sources, preview, out
        self._lock = threading.Lock()
        self._began = clock.now()
        self._started = False
        self._pictures = any("camera" in s.kinds for s in sources)
        self._squares, self._count, self._told = 0.0, 0, time.monotonic()
        self._takings = [Taking(self._clock, self._picture, self._sound) for _ in sources]

    def start(self) -> None:
        """Open the inputs; return at once."""
        for source, taking in zip(self._sources, self._takings, strict=True):
            threading.Thread(target=self._run, args=(source, taking), name="try", daemon=True).start()

    def stop(self) -> None:
        """Tell the inputs to end; does not wait."""
        for taking in self._takings:
            taking.stopped.set()

    def _clock(self) -> int:
        return round((clock.now() - self._began) * 1e6)

    def _run(self, source: Input, taking: Taking) -> None:
        try:
            form = source.open()
            self._pictures = self._pictures and (form.pictures or len(self._sources) > 1)
            source.run(taking)
        except CaptureError as error:
            self._tell({"report": "problem", "message": str(error), "hint": error.hint})
        finally:
            source.close()

    def _picture(self, at: int, frame: Any) -> None:
        if self._preview is not None and self._preview.wanted():
            self._preview.put(at, frame)
        self._start_once({"width": frame.width, "height": frame.height})

    def _sound(self, _at: int, frame: Any) -> None:
        samples = frame.to_ndarray()
        scale = np.iinfo(samples.dtype).max if samples.dtype.kind == "i" else 1.0
        with self._lock:
            self._squares += float(np.sum(np.square(samples.astype(np.float64) / scale)))
            self._count += samples.size
        if time.monotonic() - self._told >= LEVEL_SECONDS:
            self._told = time.monotonic()
            with self._lock:
                mean, self._squares, self._count = self._squares / max(1, self._count), 0.0, 0
            self._tell({"report": "level", "level": round(max(QUIETEST, 10 * float(np.log10(mean + 1e-12))), 1)})
        if not self._pictures:
            self._start_once({})

    def _start_once(self, more: dict[str, Any]) -> None:
        with self._lock:
            first, self._started = not self._started, True
        if first:
            self._tell({"report": "started", "preview": self._preview.name if self._preview is not None else "", **more})

    def _tell(self, report: dict[str, Any]) -> None:
        with self._lock:
            try:
                self._out.write(json.dumps(report).encode() + b"\n")
                self._out.flush()
            except (OSError, ValueError):
                self.stop()


def main() -> int:
    """Run as the child."""
    av.logging.set_level(None)
    out = sys.stdout.buffer
    try:
        sources = inputs(LiveAddress.parse(sys.stdin.readline().strip()))
        preview = Preview.create()
    except (M3DeskError, OSError) as error:
        out.write(json.dumps({"report": "problem", "message": str(error), "hint": getattr(error, "hint", "")}).encode() + b"\n")
        out.flush()
        return 1
    trier = Trier(sources, preview, out)
    trier.start()
    sys.stdin.read()  # until the window closes it, or ends
    trier.stop()
    preview.close()
    os._exit(0)  # a driver that hangs keeps its thread
