"""Measures the window's stalls while it plays a file that the engine memorizes, on a virtual screen."""

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

SCREEN = "1600x1000x24"


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Play FILE (default: the reel) until its memory is done; needs Xvfb and xdotool, or a display of its own."""
    video = next((Path(a) for a in args if not a.startswith("--")), None) or data("video", "reel", "reel_shared.mp4")
    folder = Path(tempfile.mkdtemp(prefix="m3desk-window-"))
    try:
        return _measure(video, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(video: Path, folder: Path) -> dict[str, Any]:
    memory, log = folder / "window.m3desk", folder / "stall.json"
    env = {**os.environ, "M3DESK_STALL_LOG": str(log), "M3DESK_DATA": str(folder / "data"), "M3DESK_MODELS": models()}
    xvfb = None
    if not shutil.which("xdotool"):
        raise FileNotFoundError(2, "this benchmark needs Xvfb and xdotool", "xdotool")
    if not env.get("DISPLAY"):
        xvfb, env["DISPLAY"] = screen()
    began = time.perf_counter()
    process = subprocess.Popen(command("play", str(video), "-m", str(memory)), env=env)
    try:
        shown = wait_for_window(process, env)
        first = time.perf_counter() - began
        with MemoryWatch(process.pid) as watch:
            done = _wait_for_memory(memory, process)
        close(shown, env)
        process.wait(30)
    finally:
        process.kill()
        if xvfb:
            xvfb.terminate()
    report = json.loads(log.read_text())
    return {
        "file": video.name,
        "first_window_seconds": round(first, 2),
        "memorized_after_seconds": done,
        "peak_pss_mb": round(watch.peak / 1e6),
        **report,
    }


def models() -> str:
    from m3desk.paths import models_dir

    return str(models_dir())


def screen() -> tuple[subprocess.Popen[bytes], str]:
    """Start a virtual screen; return its process and the name of the display. Raises FileNotFoundError without Xvfb."""
    if not shutil.which("Xvfb"):
        raise FileNotFoundError(2, "this benchmark needs Xvfb", "Xvfb")
    read, write = os.pipe()
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", SCREEN, "-nolisten", "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        return screen, ":" + pipe.readline().strip()


def wait_for_window(process: subprocess.Popen[bytes], env: dict[str, str]) -> str:
    for _ in range(600):
        if process.poll() is not None:
            raise RunFailed("the window", process.returncode, "it closed by itself")
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(process.pid)], env=env, capture_output=True, text=True, check=False
        )
        if found.stdout.split():
            return found.stdout.split()[-1]
        time.sleep(0.05)
    raise RunFailed("the window", 1, "none came within 30 s")


def _wait_for_memory(memory: Path, process: subprocess.Popen[bytes], limit: float = 900) -> float | None:
    began = time.perf_counter()
    while time.perf_counter() - began < limit and process.poll() is None:
        time.sleep(3)
        if (memory / "memory.sqlite").exists():
            states = {s["state"] for s in output("sources", "list", "-m", str(memory))}
            if states and states <= {"done", "partial", "failed"}:
                return round(time.perf_counter() - began, 1)
    return None


def close(window: str, env: dict[str, str]) -> None:
    """Close the window as a window manager would: there is none on the bare screen, so ask with its own shortcut."""
    subprocess.run(["xdotool", "windowfocus", window], env=env, check=False, capture_output=True)
    subprocess.run(["xdotool", "key", "--window", window, "ctrl+q"], env=env, check=False, capture_output=True)
