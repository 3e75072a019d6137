"""What the machine does wrong while something is recorded: it sleeps, a disk is taken away, the disk is used up, the sound server dies.

A machine that sleeps is a recorder that is stopped (SIGSTOP) and continued. A disk that is taken away is the recording's parent folder with
another name. The sound server is a PulseAudio of this benchmark (where it is installed), which is killed and started again.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from m3desk.media.capture import clock, reports
from m3desk.media.capture.recording import Recording

Told = list[tuple[float, reports.Report]]


class Record(Protocol):
    """Records an address into a folder until the block ends; gives the recorder and its reports with the times at which they came."""

    def __call__(self, folder: Path, address: str, budget: int | None = None) -> contextlib.AbstractContextManager[tuple[Any, Told]]: ...


def measure(place: Path, film: Path, count: int, chance: random.Random, record: Record) -> dict[str, dict[str, Any]]:
    """Let each happen `count` times at random moments: seconds until something is recorded again, microseconds that got lost.

    Not measured where the system lacks what it needs (signals, PulseAudio): its entry says so.
    """
    found: dict[str, dict[str, Any]] = {}
    address = f"file:{film}?live&loop"
    if hasattr(signal, "SIGSTOP"):
        found["sleep"] = _again(place / "sleep" / "r", address, count, chance, record, _sleeps)
        found["folder gone"] = _again(place / "folder" / "r", address, count, chance, record, _folder_gone)
    found["disk used up"] = _used_up(place / "disk", address, count, chance, record)
    if all(map(shutil.which, ("pulseaudio", "pactl"))) and sys.platform == "linux":
        with _Pulse(place / "pulse") as pulse:
            found["sound server dies"] = _again(place / "sound" / "r", "mic:default", count, chance, record, lambda *_: pulse.restart())
    else:
        found["sound server dies"] = {"not_measured": "PulseAudio is not installed"}
    return found


def _again(
    folder: Path, address: str, count: int, chance: random.Random, record: Record, happens: Callable[[Any, Path], None]
) -> dict[str, Any]:
    back, lost, silent = [], 0.0, 0
    folder.parent.mkdir(parents=True)
    with record(folder, address) as (recorder, told):
        origin = _started(told)
        for _ in range(count):
            time.sleep(chance.uniform(1.0, 3.0))
            reported, seen = _until(told), len(told)
            happens(recorder, folder)
            right = clock.now()
            back.append(round(_back(told, origin, right) - right, 2))
            lost = max(lost, (reported - Recording.open(folder).end) / 1e6)
            silent += not any(isinstance(r, (reports.DeviceChanged, reports.Problem)) for _, r in told[seen:])
    return {"back_s": back, "recorded_lost_s": max(0.0, lost), "without_report": silent}


def _sleeps(recorder: Any, folder: Path) -> None:
    os.kill(recorder.process, signal.SIGSTOP)
    time.sleep(6.0)
    os.kill(recorder.process, signal.SIGCONT)


def _folder_gone(recorder: Any, folder: Path) -> None:
    away = folder.parent.with_name(folder.parent.name + " away")
    folder.parent.rename(away)
    time.sleep(3.0)
    away.rename(folder.parent)


def _used_up(place: Path, address: str, count: int, chance: random.Random, record: Record) -> dict[str, Any]:
    """What recordings may take is used up: the recorder ends by itself and says why; all that was reported is there."""
    lost, told_why = 0.0, 0
    for number in range(count):
        folder = place / str(number)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with record(folder, address, round(chance.uniform(1e5, 6e5))) as (recorder, told):
            recorder.wait(90)
        told_why += any(isinstance(r, reports.Ended) and r.reason == "disk full" for _, r in told)
        lost = max(lost, (_until(told) - Recording.open(folder).end) / 1e6)
    return {"back_s": [], "recorded_lost_s": max(0.0, lost), "without_report": count - told_why}


def _started(told: Told, seconds: float = 30) -> float:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := next((r for _, r in list(told) if isinstance(r, reports.Started)), None):
            return found.origin
        time.sleep(0.05)
    raise TimeoutError(f"the recorder did not start: {told}")


def _until(told: Told) -> int:
    return max((r.until for _, r in list(told) if isinstance(r, reports.Recorded)), default=0)


def _back(told: Told, origin: float, right: float, seconds: float = 40) -> float:
    """Return when something was recorded that came after `right`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := next((at for at, r in list(told) if isinstance(r, reports.Recorded) and r.until / 1e6 + origin > right), None):
            return found
        time.sleep(0.05)
    return right + seconds


class _Pulse:
    """A PulseAudio of its own, whose microphone is a sink to which nothing is played. Enter it."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._process: subprocess.Popen[bytes] | None = None
        self._before = {name: os.environ.get(name) for name in ("PULSE_SERVER", "XDG_RUNTIME_DIR", "HOME")}

    def __enter__(self) -> _Pulse:
        self._place.mkdir(parents=True)
        os.environ.update(PULSE_SERVER=f"unix:{self._place}/socket", XDG_RUNTIME_DIR=str(self._place))
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        for name, value in self._before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)

    def restart(self) -> None:
        """Kill it; start it again 3 s later."""
        self._end()
        time.sleep(3.0)
        self._begin()

    def _begin(self) -> None:
        (self._place / "socket").unlink(missing_ok=True)
        load = ["module-null-sink sink_name=null", f"module-native-protocol-unix socket={self._place}/socket auth-anonymous=1"]
        command = ["pulseaudio", "-n", "--exit-idle-time=-1", "--use-pid-file=no", *(f"-L{one}" for one in load)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(self._place)})
        end = time.monotonic() + 10
        while subprocess.run(["pactl", "info"], capture_output=True).returncode and time.monotonic() < end:
            time.sleep(0.1)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def worst(found: dict[str, dict[str, Any]]) -> tuple[float, float]:
    """Return the longest time until something was recorded again, and the most that got lost, in seconds."""
    each: Iterator[dict[str, Any]] = (f for f in found.values() if "back_s" in f)
    rows = list(each)
    return max((b for f in rows for b in f["back_s"]), default=0.0), max((f["recorded_lost_s"] for f in rows), default=0.0)
