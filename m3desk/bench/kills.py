"""Kill a run at random moments, again and again, and compare what it ends with to an undisturbed run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk.bench.material import command, data, output

SEED = 20261121


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Kill `N` runs (default 100). After every kill the memory must open and `check` must find nothing wrong."""
    count = next((int(a) for a in args if a.isdigit()), 100)
    video = next((Path(a) for a in args if not a.isdigit()), None) or data("video", "reel", "reel_shared.mp4")
    folder = Path(tempfile.mkdtemp(prefix="m3desk-kills-"))
    try:
        return _kill(video, folder, count)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(video: Path, memory: Path) -> list[str]:
    # A few seconds in short clips, so that a hundred kills meet every stage many times.
    return command("memorize", str(video), "-m", str(memory), "--clip-seconds", "5", "--end", "10", "--no-semantic", "-q")


def _kill(video: Path, folder: Path, count: int) -> dict[str, Any]:
    calm = folder / "calm.m3desk"
    began = time.perf_counter()
    subprocess.run(_run(video, calm), check=True, capture_output=True)
    undisturbed = time.perf_counter() - began
    chance = random.Random(SEED)
    rounds = kills = wrong = 0
    differences: list[str] = []
    problems: list[str] = []
    while kills < count:
        memory = folder / f"killed{rounds}.m3desk"
        rounds += 1
        finished = False
        while not finished and kills < count:
            process = subprocess.Popen(_run(video, memory), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                process.communicate(timeout=chance.uniform(0.2, undisturbed))
                finished = True
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
                kills += 1
                problems += _problems(memory)
        if not finished:
            subprocess.run(_run(video, memory), check=True, capture_output=True)
        found = _differences(calm, memory, folder)
        differences += found
        wrong += bool(found)
        shutil.rmtree(memory, ignore_errors=True)
    return {
        "ok": not problems and not differences,
        "kills": kills,
        "runs": rounds,
        "undisturbed_seconds": round(undisturbed, 1),
        "problems_after_a_kill": problems[:20],
        "runs_that_differ": wrong,
        "differences": differences[:20],
    }


def _problems(memory: Path) -> list[str]:
    if not (memory / "memory.sqlite").exists():
        return []
    done = subprocess.run(command("check", "-m", str(memory), "-q"), capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"]


def _differences(a: Path, b: Path, folder: Path) -> list[str]:
    import json

    from m3desk.interop.exports import same_memory

    documents = []
    for memory in (a, b):
        target = folder / "export.json"
        subprocess.run(command("export", "-m", str(memory), "-o", str(target), "-q", "--force"), check=True, capture_output=True)
        documents.append(json.loads(target.read_text()))
    return same_memory(*documents)


__all__ = ["measure", "output"]
