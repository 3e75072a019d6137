"""Runs a test of capture devices in a process of its own: a driver that hangs never stops the window."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Sequence

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal

PATIENCE = 1.5
"""Seconds that the process may take to end by itself."""
LONGEST = 100_000
"""Characters of a report beyond which it is not read."""


class Trial(QObject):
    """Starts a command that opens an address, which it reads from its input, and reports by JSON lines.

    `told` gives each report, `over` the last words of its errors.
    """

    told = Signal(object)
    over = Signal(str)
    _line = Signal(object)
    _end = Signal(str)

    def __init__(self, command: Callable[[], Sequence[str]], address: str, parent: QObject | None = None) -> None:
        """`command` is called in a thread: it may import much."""
        super().__init__(parent)
        self._command, self._address = command, address
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._ended = threading.Event()
        self._line.connect(self._pass_on, Qt.ConnectionType.QueuedConnection)
        self._end.connect(self._pass_end, Qt.ConnectionType.QueuedConnection)
        threading.Thread(target=self._work, name="trial", daemon=True).start()

    def close(self, then: Callable[[], None] | None = None) -> None:
        """End the process; nothing is told any more. `then` is called, in a thread, once it has ended and its devices are free."""
        with self._lock:
            self._closed = True
            process = self._process
        threading.Thread(target=self._let_end, args=(process, then), name="trial-ends", daemon=True).start()

    def _let_end(self, process: subprocess.Popen[str] | None, then: Callable[[], None] | None) -> None:
        """Let the process end by itself, so that it clears up; kill one that hangs."""
        if process is not None:
            with contextlib.suppress(OSError, ValueError):
                assert process.stdin is not None
                process.stdin.close()
            if not self._ended.wait(PATIENCE):
                with contextlib.suppress(OSError):
                    process.kill()
        self._ended.wait(5)
        if then is not None:
            then()

    def _work(self) -> None:
        words = ""
        try:
            command = list(self._command())
            with self._lock:
                if self._closed:
                    return
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,  # its end tells the child that the window is gone
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                )
            assert self._process.stdin is not None
            self._process.stdin.write(self._address + "\n")
            self._process.stdin.flush()
            words = self._read(self._process)
        except (OSError, ValueError) as error:
            words = str(error)
        finally:
            self._ended.set()
            if not self._closed and shiboken6.isValid(self):
                self._end.emit(words)

    def _read(self, process: subprocess.Popen[str]) -> str:
        errors: list[str] = []

        def drain() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                errors[:] = [*errors[-4:], line.strip()[:500]]

        reading = threading.Thread(target=drain, daemon=True)
        reading.start()
        assert process.stdout is not None
        while line := process.stdout.readline(LONGEST):
            with contextlib.suppress(ValueError):
                report = json.loads(line)
                if isinstance(report, dict) and not self._closed and shiboken6.isValid(self):
                    self._line.emit(report)
        process.wait()
        reading.join(1)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return errors[-1] if errors else ""

    def _pass_on(self, report: object) -> None:
        if not self._closed:
            self.told.emit(report)

    def _pass_end(self, words: str) -> None:
        if not self._closed:
            self.over.emit(words)
