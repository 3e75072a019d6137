"""Paths of the benchmarks' material, and runs of the installed program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from m3desk.errors import M3DeskError


class RunFailed(M3DeskError, RuntimeError):
    """A run of the program that a benchmark measures ended with an error."""

    def __init__(self, what: str, code: int, errors: str) -> None:
        lines = errors.strip().splitlines() or [""]
        super().__init__(f"{what} ended with status {code}: {lines[-1].removeprefix('m3desk: ')[-500:]}")


def data(*parts: str) -> Path:
    """Return a file of the shared test material. Raises FileNotFoundError."""
    root = Path(os.environ.get("M3DESK_BENCH_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
    path = root.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(2, "no such material", str(path))
    return path


def command(*args: str) -> list[str]:
    """Return the command line that runs this very installation."""
    return [sys.executable, "-m", "m3desk", *args]


def ran(*args: str, env: dict[str, str] | None = None) -> str:
    """Run a command and return its stdout; unlike `timed`, look at nothing meanwhile. Raises RunFailed with its error line."""
    done = subprocess.run(command(*args), capture_output=True, text=True, env={**os.environ, **(env or {})}, check=False)
    if done.returncode != 0:
        raise RunFailed(f"m3desk {' '.join(args[:2])}", done.returncode, done.stderr)
    return done.stdout


def output(*args: str, env: dict[str, str] | None = None) -> Any:
    """Run a command with `--json` and return its document. Raises RunFailed with its error line."""
    return json.loads(ran(*args, "--json", env=env))


def tree_pss(pid: int) -> int:
    """Return the proportional set size of a process and its children, summed, in bytes; 0 when it is gone."""
    total = 0
    try:
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            full = one.memory_full_info()
            total += getattr(full, "pss", 0) or full.uss
    except psutil.Error:
        pass
    return total


@dataclass
class MemoryWatch:
    """Samples the memory of a process tree four times a second until stopped; `peak` in bytes."""

    pid: int
    peak: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> MemoryWatch:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(0.25):
            self.peak = max(self.peak, tree_pss(self.pid))


def timed(args: Sequence[str], env: dict[str, str] | None = None) -> tuple[float, int, str]:
    """Run a command; return its seconds, the peak of its tree's memory in bytes, and its stdout. Raises RunFailed when it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(command(*args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
    with MemoryWatch(process.pid) as watch:
        out, err = process.communicate()
    if process.returncode != 0:
        raise RunFailed(f"m3desk {' '.join(args[:2])}", process.returncode, err)
    return time.perf_counter() - began, watch.peak, out
