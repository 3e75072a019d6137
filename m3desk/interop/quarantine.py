"""Reads an untrusted file in a child process (`interop.videograph`) with limits; only data comes back."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil

import m3desk
from m3desk.domain.evidence import Floats
from m3desk.errors import ImportProblem
from m3desk.interop.unpickle import KEPT, MEBIBYTE
from m3desk.regular import open_regular

VERB = "--read-graph"
"""What a frozen program, which has no Python to start, is started with to be the child (see `m3desk.__main__`)."""
START = "import sys; sys.path.append(sys.argv[1]); from m3desk.interop.videograph import main; sys.exit(main(sys.argv[2:]))"
HINT = "Nothing was written. Take an M3-Agent graph (.pkl, .pkl.gz) from somebody you trust."
KILLED = {-getattr(signal, name) for name in ("SIGKILL", "SIGXCPU") if hasattr(signal, name)}
"""How a child ends that the system itself stops at its limit of processor time."""
POLL = 0.02
"""Seconds between looks at the child where the system sets no limits itself."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for reading a file: bytes of memory, CPU seconds, elapsed seconds, bytes of the objects built.

    kitchen_03 (2,498 nodes, 1.9 MB zipped, 68 MB unzipped) takes 56 MB and 1 s.
    """

    memory: int = 3 << 30
    processor: int = 120
    seconds: float = 240.0
    kept: int = KEPT


def limits_for(size: int) -> Limits:
    """Return limits for a file of this many bytes: what is small may take little, yet three times what a real graph takes (kitchen_03 is
    37 MiB when built). The processor is the limit; the clock is for a child that waits: on a busy machine a real graph took more than
    twice its processor time.
    """
    mebibytes = size / MEBIBYTE
    kept = min(KEPT, 64 * MEBIBYTE + 32 * size)
    processor = min(120, round(8 + 4 * mebibytes))
    return Limits(memory=min(3 << 30, 256 * MEBIBYTE + 4 * kept), processor=processor, seconds=10.0 * processor, kept=kept)


LARGEST = 2 << 30
"""Bytes of a file at most: 50,000 nodes of kitchen_03's kind are 1.4 GB unzipped."""


@dataclass(frozen=True, slots=True)
class Raw:
    """What `videograph.graph` found, the embeddings it kept in order of the nodes, and bytes of memory the child took at most."""

    document: dict[str, Any]
    vectors: Floats
    peak: int


def read(path: Path, limits: Limits | None = None, going: Callable[[int, int], None] = lambda _done, _total: None) -> Raw:
    """Read a graph's pickle without executing it. Raises ImportProblem. `limits`: default: those for its size.

    `going`: called from another thread with the bytes read so far and the file's; if it raises, the reading ends, and this raises that.
    """
    with open_regular(path, ImportProblem, ImportProblem) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise ImportProblem(f"{path.name} is larger than {LARGEST >> 30} GiB, which no memory graph is.", HINT)
        return _answer(path.name, *_run(file, limits or limits_for(size), lambda: going(os.lseek(file.fileno(), 0, os.SEEK_CUR), size)))


def command(limits: Limits) -> list[str]:
    """Return the child's command line: without site packages or environment, so that nothing else is loaded."""
    given = [str(limits.memory), str(limits.processor + 2), str(limits.kept)]  # the watch, which can say why, comes first
    if getattr(sys, "frozen", False):
        return [sys.executable, VERB, *given]
    return [sys.executable, "-I", "-S", "-c", START, str(Path(m3desk.__file__).resolve().parents[1]), *given]


def _run(file: IO[bytes], limits: Limits, going: Callable[[], None]) -> tuple[bytes, int, str, int]:
    """Return the child's answer, its exit status, why it was ended ("" where it was not) and its peak of memory in bytes.

    The child inherits the file's position with its standard input, so that `going` can tell how far it has read.
    """
    child = subprocess.Popen(command(limits), stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    watch = _Watch(child, limits, going)
    watch.start()
    try:
        assert child.stdout is not None
        answer = child.stdout.read()
    finally:
        with contextlib.suppress(OSError):
            child.kill()
        status = child.wait()
        watch.join()
        if child.stdout is not None:
            child.stdout.close()
    if watch.stopped is not None:
        raise watch.stopped
    return answer, status, watch.why, watch.peak


class _Watch(threading.Thread):
    """Ends a child that exceeds its limits, on systems that don't enforce them, or that is not wanted any more: then `going` raises."""

    def __init__(self, child: subprocess.Popen[bytes], limits: Limits, going: Callable[[], None]) -> None:
        super().__init__(name="m3desk-quarantine", daemon=True)
        self.why = ""
        self.stopped: Exception | None = None
        self._going = going
        self.peak = 0
        self._child = child
        self._limits = limits

    def run(self) -> None:
        end = time.monotonic() + self._limits.seconds
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self._child.pid)
            while self._child.poll() is None:
                try:
                    self._going()
                except Exception as error:
                    self.stopped = error
                    self._child.kill()
                    return
                memory = process.memory_info()
                self.peak = max(self.peak, memory.rss, getattr(memory, "peak_wset", 0))
                taken = process.cpu_times()
                if memory.rss > self._limits.memory:
                    self.why = "it wants more memory than a memory graph needs"
                elif taken.user + taken.system > self._limits.processor:
                    self.why = "reading it takes longer than a memory graph needs"
                elif time.monotonic() > end:
                    self.why = f"reading it did not end in {self._limits.seconds:.3g} s; if the machine is busy, try again later"
                if self.why:
                    self._child.kill()
                    return
                time.sleep(POLL)


def _answer(name: str, answer: bytes, status: int, why: str, peak: int) -> Raw:
    """Parse the child's answer; it is untrusted data and checked as such."""
    if why:
        raise ImportProblem(f"{name} is not a memory graph that can be read: {why}.", HINT)
    try:
        size = struct.unpack(">Q", answer[:8])[0]
        document = json.loads(answer[8 : 8 + size])
        vectors = np.frombuffer(answer, dtype="<f4", offset=8 + size)
    except (struct.error, ValueError, RecursionError) as error:
        if status in KILLED:
            raise ImportProblem(
                f"{name} is not a memory graph that can be read: it takes more time than a memory graph needs.", HINT
            ) from error
        how = f"signal {-status}" if status < 0 else f"status {status}"
        raise ImportProblem(f"{name} is not a memory graph that can be read: the reader ended with {how}.", HINT) from error
    if "refused" in document:
        raise ImportProblem(f"{name} is not a memory graph that can be read: {document['refused']}.", HINT)
    return Raw(document, vectors, peak)
