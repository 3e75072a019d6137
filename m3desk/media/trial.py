"""Opens an untrusted file in a child process with limits first, so that a malicious header harms only the child.

A table of a few bytes can make FFmpeg allocate gigabytes or work for minutes, and it can't be interrupted from within. The child opens
the file, decodes its first picture and sound, and reports its properties. Later decoding is limited by these; a codec that crashes in the
middle of a film still ends the process that decodes it (the memory stays intact, and the next run continues).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

import m3desk
from m3desk.domain.clip import Source
from m3desk.errors import SourceChanged, SourceError, SourceMissing, SourceUnreadable
from m3desk.media import file as media_file
from m3desk.media.capture.recording import Recording, is_recording
from m3desk.media.streams import check_file
from m3desk.regular import check_regular

VERB = "--try-media"
"""What a frozen program, which has no Python to start, is started with to be the child (see `m3desk.__main__`)."""
START = "import sys; sys.path.insert(0, sys.argv[1]); from m3desk.media.trial import main; sys.exit(main(sys.argv[2:]))"

OPENING = 400 << 20
"""Bytes that the child may take to open a file, over what it takes idle: an index of a film of 10 hours has 30 MB."""

DECODING = 1536 << 20
"""Bytes that it may take once the file is open: an 8K decoder holds up to 16 pictures."""

TOO_MUCH = 77
"""Exit status of a child that took too much memory."""

PROCESSOR = 4.0
"""Seconds of processor that it may take, and one more for each `A_SECOND` of file."""

A_SECOND = 4_000_000
"""Bytes of file: of some formats all packets are counted, some 300,000 a second. Those of speech can have 15 bytes each."""

SECONDS = 120.0
"""Seconds on the clock, and one more for each `A_SECOND` of file: a disk may have to wake up, a share may be slow."""

POLL = 0.02

_HINT = "It is damaged or malicious. Copy it again, or convert it to .mp4."
_KINDS: dict[str, type[SourceError]] = {c.__name__: c for c in (SourceMissing, SourceUnreadable, SourceChanged)}
_known: dict[tuple[Any, ...], tuple[Source, list[str]]] = {}
_lock = threading.Lock()
_KEPT = 1000


def tried(path: str | Path, warn: Callable[[str], None] = lambda _text: None) -> Source:
    """Return the result of `file.probe`, run in a child process with limits; cached per file. Raises SourceError."""
    where = Path(path).absolute()
    check_file(where)
    key, size = _state(where)
    with _lock:
        known = _known.get(key)
    if known is None:
        known = _ask(where, size)
        with _lock:
            if len(_known) >= _KEPT:
                _known.clear()
            _known[key] = known
    source, told = known
    for text in told:
        warn(text)
    return source


def _state(path: Path) -> tuple[tuple[Any, ...], int]:
    """Return what tells one state of a file or recording from another, and its size in bytes."""
    if is_recording(path):
        recording = Recording.open(path)
        return (str(path), recording.bytes, recording.end, recording.erased), recording.bytes
    found = check_regular(path)
    return (str(path), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino), found.st_size


def _ask(path: Path, size: int) -> tuple[Source, list[str]]:
    processor = PROCESSOR + size / A_SECOND
    own = [VERB] if getattr(sys, "frozen", False) else ["-I", "-c", START, str(Path(m3desk.__file__).resolve().parents[1])]
    try:
        child = subprocess.Popen(
            [sys.executable, *own, str(path), f"{processor:.0f}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # no other process can be started here
        return _here(path)
    with child:
        why = _watch(child, processor, SECONDS + size / A_SECOND)
        answer = child.stdout.read() if child.stdout is not None else b""
    if not answer.startswith(b"ready\n"):  # it never came to the file
        return _here(path)
    if why:
        raise SourceUnreadable(f"{path.name} {why}.", _HINT)
    try:
        document = json.loads(answer.removeprefix(b"ready\n"))
    except ValueError as error:
        how = f"signal {-child.returncode}" if child.returncode < 0 else f"status {child.returncode}"
        raise SourceUnreadable(f"{path.name} makes the decoder fail ({how}).", _HINT) from error
    if refused := document.get("refused"):
        raise _KINDS.get(refused["kind"], SourceUnreadable)(refused["text"], refused["hint"])
    return Source(**document["source"]), document["told"]


def _here(path: Path) -> tuple[Source, list[str]]:
    told: list[str] = []
    return media_file.probe(path, told.append), told


def _watch(child: subprocess.Popen[bytes], processor: float, seconds: float) -> str:
    """Wait for the child; end it if it exceeds a limit, and return which ("" if none)."""
    end = time.monotonic() + seconds
    try:
        process = psutil.Process(child.pid)
        while True:
            try:
                child.wait(POLL)
                return _ended(child)
            except subprocess.TimeoutExpired:
                pass
            taken = process.cpu_times()
            if taken.user + taken.system > processor + 1 or time.monotonic() > end:
                return "takes longer to open than a video should"
    except psutil.Error:  # it ended in between
        child.wait()
        return _ended(child)
    finally:
        if child.poll() is None:
            child.kill()


def _ended(child: subprocess.Popen[bytes]) -> str:
    """Return why the child was ended; "" if it was not."""
    if child.returncode == TOO_MUCH:
        return "needs more memory than a video should"
    if sys.platform != "win32":
        import signal

        if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "takes longer to open than a video should"
    return ""


# ---------------------------------------------------------------- the child


def main(arguments: list[str]) -> int:
    """Run as the child: `arguments` are a path and a CPU limit in seconds; prints one JSON document on standard output."""
    path, processor = Path(arguments[0]), float(arguments[1])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    _limit_processor(processor)
    guard = _Guard()
    guard.start()
    told: list[str] = []
    try:
        document: dict[str, Any] = {"source": asdict(media_file.probe(path, told.append, guard.is_open)), "told": told}
    except SourceError as error:
        document = {"refused": {"kind": type(error).__name__, "text": str(error), "hint": error.hint}}
    sys.stdout.write(json.dumps(document))
    sys.stdout.flush()
    return 0


def _limit_processor(processor: float) -> None:
    try:
        import resource
    except ImportError:  # Windows: the parent watches
        return
    seconds = max(1, round(processor))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _Guard(threading.Thread):
    """Ends the child if it uses too much memory; works because FFmpeg releases the interpreter lock.

    A system limit is not enough: FFmpeg ignores failed allocations and continues, and would allocate the memory where there is no limit.
    """

    def __init__(self) -> None:
        super().__init__(name="m3desk-guard", daemon=True)
        self._process = psutil.Process()
        self._most = self._process.memory_info().rss + OPENING

    def is_open(self) -> None:
        """Raise the limit to what decoding needs."""
        self._most += DECODING

    def run(self) -> None:
        while self._process.memory_info().rss <= self._most:
            time.sleep(POLL / 4)
        os._exit(TOO_MUCH)
