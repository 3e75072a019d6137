"""What the machine does wrong while something is recorded: it sleeps, a disk is taken away, the disk is used up, the sound server dies.

A machine that sleeps is a recorder that is stopped (SIGSTOP) and continued. A disk that is taken away is the recording's parent folder with
another name. The sound server is a PulseAudio of this benchmark (where it is installed), which is killed and started again.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from m3desk.bench.measured_recorder import after_faults, recording, until
from m3desk.bench.sound_server import SoundServer
from m3desk.media.capture import reports
from m3desk.media.capture.recorder import Recorder
from m3desk.media.capture.recording import Recording


def measure(place: Path, film: Path, count: int, chance: random.Random) -> dict[str, dict[str, Any]]:
    """Let each happen `count` times at random moments; return of each what `measured_recorder.after_faults` does.

    Not measured where the system lacks what it needs (signals, PulseAudio): its entry says so.
    """
    found: dict[str, dict[str, Any]] = {}
    address = f"file:{film}?live&loop"
    if hasattr(signal, "SIGSTOP"):
        found["sleep"] = after_faults(place / "sleep", address, count, chance, _sleeps, _told_of)
        folder = place / "folder" / "r"
        folder.parent.mkdir()
        found["folder gone"] = after_faults(folder, address, count, chance, lambda _: _goes_away(folder.parent), _told_of)
    found["disk used up"] = _used_up(place / "disk", address, count, chance)
    if all(map(shutil.which, ("pulseaudio", "pactl"))) and sys.platform == "linux":
        with SoundServer(place / "pulse") as pulse:
            found["sound server dies"] = after_faults(place / "sound", "mic:default", count, chance, lambda _: pulse.restart(), _told_of)
    else:
        found["sound server dies"] = {"not_measured": "PulseAudio is not installed"}
    return found


def _told_of(report: reports.Report) -> bool:
    return isinstance(report, (reports.DeviceChanged, reports.Problem))


def _sleeps(recorder: Recorder) -> None:
    process = recorder.process
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    time.sleep(6.0)
    os.kill(process, signal.SIGCONT)


def _goes_away(disk: Path) -> None:
    away = disk.with_name(disk.name + " away")
    disk.rename(away)
    time.sleep(3.0)
    away.rename(disk)


def _used_up(place: Path, address: str, count: int, chance: random.Random) -> dict[str, Any]:
    """What recordings may take is used up: the recorder ends by itself and says why; all that was reported is there."""
    lost, told_why = 0.0, 0
    for number in range(count):
        folder = place / str(number)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with recording(folder, address, round(chance.uniform(1e5, 6e5))) as (recorder, told):
            recorder.wait(90)
        told_why += any(isinstance(r, reports.Ended) and r.reason == "disk full" for _, r in told)
        lost = max(lost, (until(told) - Recording.open(folder).end) / 1e6)
    return {"back_s": [], "recorded_lost_s": max(0.0, lost), "without_report": count - told_why}


def worst(found: dict[str, dict[str, Any]]) -> tuple[float, float]:
    """Return the longest time until something was recorded again, and the most that got lost, in seconds."""
    each: Iterator[dict[str, Any]] = (f for f in found.values() if "back_s" in f)
    rows = list(each)
    return max((b for f in rows for b in f["back_s"]), default=0.0), max((f["recorded_lost_s"] for f in rows), default=0.0)
