"""Stand-ins for model processes, and what is left of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from m3desk.children.guard import started

STUBBORN = """
import os, signal, sys, time
def write(what):
    with open(sys.argv[1], "a") as out:
        out.write(f"{what} {os.getpid()}\\n")
write("process")
for kind in ("worker", "worker", "left the group"):
    if os.fork() == 0:
        if kind == "left the group":
            os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        write(kind)
        time.sleep(600)
        os._exit(0)
print("started", flush=True)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
"""
"""A process like vLLM: it forks workers, one of which leaves its group, and all ignore SIGTERM. Its argument: a file for their ids."""


def stubborn(noted: Path) -> list[str]:
    """Return the command of a process that ignores SIGTERM, as do its workers."""
    return [sys.executable, "-I", "-S", "-c", STUBBORN, str(noted)]


def noted(file: Path) -> list[int]:
    """Return the ids that the processes wrote."""
    return [int(line.rpartition(" ")[2]) for line in file.read_text().splitlines()] if file.is_file() else []


def running(file: Path) -> list[int]:
    """Return the ids of those that still run."""
    return [pid for pid in noted(file) if started(pid) is not None]


def until(true: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Wait until something is true; return whether it became so."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
