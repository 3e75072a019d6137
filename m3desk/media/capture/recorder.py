"""Starts, commands and hears the recorder's process (`process.py`), and starts it again when it dies.

A process of its own: a driver or decoder that crashes ends the recorder, not the engine, and capture never waits for perception.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from m3desk.domain.live import Keep
from m3desk.media.capture import reports
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.preview import Preview
from m3desk.media.capture.process import RESERVE, Settings

VERB = "--record-live"
"""What a frozen program, which has no Python to start, is started with to be the recorder (see `m3desk.__main__`)."""

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from m3desk.media.capture.process import main; sys.exit(main())"

MOST_RESTARTS = 5
"""Times that a dead recorder is started again within a minute."""


class Recorder:
    """Records a live source into a folder. `on_report` is called from a thread of the recorder's, never concurrently.

    The last report is `Ended`. A recorder that dies is started again: the recording goes on after a gap.
    """

    def __init__(
        self,
        folder: str | Path,
        address: LiveAddress,
        on_report: Callable[[reports.Report], None],
        *,
        keep: Keep = "always",
        budget_bytes: int | None = None,
        reserve_bytes: int = RESERVE,
        transform: str | None = None,
        argument: str = "",
    ) -> None:
        """`budget_bytes`: the recording's size at most. `transform`: dotted name of what changes each picture; see `process.py`."""
        self._on_report = on_report
        self._preview: Preview | None = None
        with contextlib.suppress(OSError):
            self._preview = Preview.create()
        self._settings = Settings(
            str(Path(folder).absolute()),
            str(address),
            uuid.uuid4().hex,
            keep,
            budget_bytes,
            reserve_bytes,
            transform,
            argument,
            self.preview or None,
        )
        self._child: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._stopping = False
        self._paused = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._hear, name="m3desk-recorder", daemon=True)

    @property
    def preview(self) -> str:
        """Name of the shared memory with the newest picture (`preview.Preview.attach`); "" if there is none."""
        return self._preview.name if self._preview is not None else ""

    @property
    def process(self) -> int | None:
        """Process number of the recorder, None while there is none."""
        return self._child.pid if self._child is not None else None

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start recording; return at once. What fails is told as `Ended`."""
        self._thread.start()

    def pause(self) -> None:
        """Close the devices; the recording has a gap."""
        self._paused = True
        self._send("pause")

    def resume(self) -> None:
        """Open the devices again."""
        self._paused = False
        self._send("resume")

    def key(self) -> None:
        """Close the segment that is being written, so that it can be erased."""
        self._send("key")

    def stop(self) -> None:
        """End the recording; `Ended` tells when it is closed."""
        self._stopping = True
        self._send("stop")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the recorder has ended; return whether it has."""
        return self._over.wait(seconds)

    def kill(self) -> None:
        """End a recorder that does not answer; the recording is as after a crash."""
        self._stopping = True
        if self._child is not None:
            self._child.kill()

    def _send(self, command: str) -> None:
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._child is not None and self._child.stdin is not None:
                self._child.stdin.write(command.encode() + b"\n")
                self._child.stdin.flush()

    def _hear(self) -> None:
        ended: reports.Report | None = None
        try:
            ended = self._record()
        finally:
            if self._preview is not None:
                self._preview.close()
            try:
                self._on_report(ended or reports.Ended("failed", "The recorder failed."))
            finally:
                self._over.set()

    def _record(self) -> reports.Ended:
        """Run recorders until one ends by itself; return how."""
        restarts: deque[float] = deque()
        while True:
            try:
                ended = self._run_one()
            except OSError as error:
                return reports.Ended("failed", f"The recorder cannot be started: {error.strerror or error}.")
            if ended is not None:
                return ended
            if self._stopping:
                return reports.Ended("stopped")
            while restarts and restarts[0] < time.monotonic() - 60:
                restarts.popleft()
            if len(restarts) >= MOST_RESTARTS:
                return reports.Ended(
                    "failed", "Recording has stopped: the recorder has ended again and again.", "What is recorded is kept."
                )
            restarts.append(time.monotonic())
            self._on_report(reports.Problem("The recorder has ended unexpectedly; it is started again.", "What is recorded is kept."))
            time.sleep(0.2 * len(restarts))

    def _run_one(self) -> reports.Ended | None:
        """Run a recorder and hear its reports; return its last word, None if it died without one."""
        own = [VERB] if getattr(sys, "frozen", False) else ["-c", START, json.dumps([p for p in sys.path if p])]
        child = subprocess.Popen(
            [sys.executable, *own], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert child.stdin is not None
        assert child.stdout is not None
        ended: reports.Ended | None = None
        with child:
            with self._lock, contextlib.suppress(OSError):
                child.stdin.write(json.dumps(asdict(self._settings)).encode() + b"\n")
                child.stdin.flush()
                self._child = child
            if self._paused:
                self._send("pause")
            if self._stopping:
                self._send("stop")
            for text in child.stdout:
                report = reports.parsed(text)
                if isinstance(report, reports.Ended):
                    ended = report
                    break
                if isinstance(report, reports.Started):
                    self._settings = replace(self._settings, origin=report.origin)
                if report is not None:
                    self._on_report(report)
            with self._lock:
                self._child = None
                with contextlib.suppress(OSError):
                    child.stdin.close()
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
        return ended
