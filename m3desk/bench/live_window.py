"""Measures the intervals of the window's event loop while a live source is recorded, named and memorized, on a virtual screen.

The source is a film that is delivered at real time and in a loop. Goals once it is built: 99th percentile ≤ 20 ms, longest ≤ 60 ms.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk.bench.material import MemoryWatch, RunFailed, command, data, output
from m3desk.bench.window import models, screen
from m3desk.errors import UsageError

SECONDS = 180.0
GOAL_P99, GOAL_LONGEST = 20.0, 60.0


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Show FILE (default: the reel) as a live source for so many seconds (default 180). Needs Xvfb, or a display."""
    seconds, video = SECONDS, None
    for arg in args:
        try:
            seconds = float(arg)
        except ValueError:
            video = Path(arg).absolute()
    if not 5 <= seconds <= 86_400:
        raise UsageError("The seconds must be from 5 to 86400.", "For example: m3desk bench live_window 180")
    video = video or data("video", "reel", "reel_shared.mp4")
    folder = Path(tempfile.mkdtemp(prefix="m3desk-live-window-"))
    try:
        return _measure(video, folder, seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(video: Path, folder: Path, seconds: float) -> dict[str, Any]:
    memory, log = folder / "live.m3desk", folder / "stall.json"
    env = {
        **os.environ,
        "M3DESK_STALL_LOG": str(log),
        "M3DESK_DATA": str(folder / "data"),
        "M3DESK_CONFIG": str(folder / "config.toml"),
        "M3DESK_MODELS": models(),
    }
    xvfb = None
    if not env.get("DISPLAY"):
        xvfb, env["DISPLAY"] = screen()
    process = subprocess.Popen(command("play", f"file:{video}?live&loop", "-m", str(memory)), env=env)
    try:
        with MemoryWatch(process.pid) as watch:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                if process.poll() is not None:
                    raise RunFailed("the window", process.returncode, "it closed by itself")
                time.sleep(0.5)
            load = os.getloadavg()[0]
        process.terminate()  # the window closes as by its own button, and writes what it measured
        process.wait(60)
    finally:
        process.kill()
        if xvfb:
            xvfb.terminate()
    clips = output("sources", "list", "-m", str(memory))
    report = json.loads(log.read_text())
    settled, period = report["after_start"], report["period_ms"]
    return {
        "file": video.name,
        "seconds": seconds,
        "load": round(load, 1),
        "interval_ms": {"p99": round(settled["stall_p99"] + period, 2), "longest": round(settled["stall_longest"] + period, 2)},
        "goal_ms": {"p99": GOAL_P99, "longest": GOAL_LONGEST},
        "peak_pss_mb": round(watch.peak / 1e6),
        "sources": [{"id": s["id"], "state": s["state"]} for s in clips],
        "probe": report,
    }


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    found, own, ours = report["interval_ms"], report["probe"]["own_ms_after_start"], report["probe"]["ours_ms_after_start"]
    met = found["p99"] <= GOAL_P99 and found["longest"] <= GOAL_LONGEST
    return [
        f"event loop of the window beside a live source, {report['seconds']:g} s, load {report['load']}: "
        f"99th percentile {found['p99']} ms, longest {found['longest']} ms; "
        f"goal ≤ {GOAL_P99:g}; {GOAL_LONGEST:g} ms: {'met' if met else 'NOT met'}",
        f"of it the thread's own processor time: {own['p99']}; {own['longest']} ms; "
        f"stall without the wait for a core: {ours['p99']}; {ours['longest']} ms",
        f"peak memory of all processes (PSS): {report['peak_pss_mb']} MB",
    ]
