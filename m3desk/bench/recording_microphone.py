"""How late a microphone's sound is in a recording: clicks whose moments are known, from a PulseAudio of this benchmark.

Its microphone is a pipe (`module-pipe-source`), into which samples are written when a device would deliver them: 10 ms of sound as soon as
they are over. So the true moment of each click is known by the clock that cameras' pictures are stamped with.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.bench.measured_recorder import recording, started
from m3desk.bench.sound_server import SoundServer
from m3desk.media.capture import clock
from m3desk.media.capture.recording import Recording
from m3desk.media.capture.transport import ZERO
from m3desk.media.streams import open_media

RATE, BLOCK, EVERY = 48_000, 480, 2.0
"""Samples a second, samples of a block (10 ms), seconds between two clicks."""

LOUD = 0.3

LISTENING = 20
"""Blocks that were read at once, after which somebody listens."""


def measure(place: Path, seconds: float) -> dict[str, Any]:
    """Record the microphone alone for some seconds; return how much later than it happened a click is, in ms, at the start and the end."""
    if not all(map(shutil.which, ("pulseaudio", "pactl"))) or sys.platform != "linux":
        return {"not_measured": "PulseAudio is not installed"}
    pipe = place / "pulse" / "microphone"
    source = f"module-pipe-source source_name=clicks file={pipe} format=s16le rate={RATE} channels=1"
    with SoundServer(place / "pulse", source):
        clicks: list[float] = []
        over = threading.Event()
        thread = threading.Thread(target=_speak, args=(pipe, clicks, over), daemon=True)
        thread.start()
        try:
            with recording(place / "recording", "mic:default") as (_, told):
                origin = started(told).origin
                time.sleep(seconds)
        finally:
            over.set()
            thread.join()
    heard = [at + origin for at in clicks_of(place / "recording")]
    late = [] if not clicks else [(h - c) * 1000 for h in heard if abs(h - (c := min(clicks, key=lambda c: abs(c - h)))) < EVERY / 2]
    if not late:
        return {"not_measured": "no click was recorded"}
    return {
        "seconds": round(Recording.open(place / "recording").end / 1e6, 1),
        "pairs": len(late),
        "first_ms": round(float(np.median(late[:5])), 1),
        "last_ms": round(float(np.median(late[-5:])), 1),
        "worst_ms": round(float(max(map(abs, late))), 1),
    }


def _speak(pipe: Path, clicks: list[float], over: threading.Event) -> None:
    """Write silence with a click at each whole `EVERY` seconds of the clock into the pipe, each block when it is over.

    Until somebody listens, PulseAudio reads nothing: blocks are dropped, as a device does it, instead of waiting in the pipe.
    """
    click = (0.8 * 32_767 * np.sin(2 * np.pi * 1000 * np.arange(RATE // 20) / RATE)).astype("<i2")
    sound = np.zeros(round(EVERY * RATE), "<i2")
    sound[: len(click)] = click
    began = clock.now()
    first = round((EVERY - began % EVERY) * RATE)
    end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    count = read = 0
    try:
        while not over.is_set():
            time.sleep(max(0.0, began + (count + BLOCK) / RATE - clock.now()))
            place = np.arange(count, count + BLOCK) - first
            read += not _waiting(end)
            if read > LISTENING or not _waiting(end):
                os.write(end, np.where(place >= 0, sound[place % len(sound)], 0).astype("<i2").tobytes())
            starts = np.flatnonzero((place >= 0) & (place % len(sound) == 0))
            clicks += [began + (count + int(k)) / RATE for k in starts]
            count += BLOCK
    except OSError:  # it is full: nobody listens any more
        pass
    finally:
        os.close(end)


def _waiting(pipe: int) -> int:
    """Return the bytes in a pipe."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def clicks_of(folder: Path) -> list[float]:
    """Return when clicks begin in a recording, in seconds from its start."""
    found: list[float] = []
    with open_media(folder) as opened:
        for packet in opened.packets("sound"):
            for frame in packet.decode():
                loud = np.flatnonzero(np.abs(frame.to_ndarray()[0]) > LOUD)
                at = float(frame.pts * frame.time_base) - ZERO + (loud[0] / RATE if len(loud) else 0.0)
                if len(loud) and (not found or at - found[-1] > 0.5):
                    found.append(at)
    return found
