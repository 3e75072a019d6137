"""One model process under its guard: started, watched, ended; its errors say the cause and quote its log."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from m3desk import paths, private
from m3desk.children import guard, orphans
from m3desk.children.causes import failure
from m3desk.errors import BackendMissing, Cancelled, ModelError, ModelFailed

GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL: 5 s after the program's end nothing is left. vLLM ends within 1.5 s, unless it hangs."""

_NOT_INHERITED = re.compile(
    r"PYTHON(?!UNBUFFERED|UTF8|IOENC)|VIRTUAL_ENV|QT_|M3DESK_.*KEY|HF_TOKEN|HUGGING_FACE_HUB_TOKEN|LD_PRELOAD|.*_API_KEY$"
    r"|ONEDNN_PRIMITIVE_CACHE_CAPACITY$"
)
"""Variables of this program's own environment, and keys, which no model process gets unless they are given to it. The few operations that
oneDNN keeps for speech here are too few elsewhere: a network of 48 convolutions in torch took 24 % more of the processor."""

_cleaned = threading.Lock()
_done: set[Path] = set()


def free_port() -> int:
    """Return a port of the loopback address that nobody uses now (somebody may take it before its server does: then another try helps)."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def log_file(name: str) -> Path:
    """Return the log of a backend's process; forgetting a person searches it, as it does all logs."""
    return paths.log_dir() / f"backend-{name}.log"


class Child:
    """A process that is running, or ended; starts on creation. Thread-safe.

    `name`: the backend's, for messages, its record and its log. `env`: added to this process's environment, without Python's own variables
    and keys. `port`: the one it will listen on, for its record. `piped`: its standard input and output are pipes (`stdin`, `stdout`); else
    its output goes to the log. `folder`: its current folder.
    Raises BackendMissing if it can't be started.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        port: int | None = None,
        piped: bool = False,
        grace: float = GRACE,
        log: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        self.name = name
        self.log = log or log_file(name)
        self.port = port
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.code: int | None = None
        """The exit code once it ended: 128 + N for signal N."""
        self.ended = threading.Event()
        end_orphans_once()
        try:
            token = secrets.token_hex(8)
            self._record = orphans.new_record(token)
            private.folder(self.log.parent)
            with open(self.log, "ab", opener=private.opener) as log_out:
                self._log_from = os.fstat(log_out.fileno()).st_size
                if self._log_from > guard.LOG_BYTES:
                    log_out.truncate(0)
                    self._log_from = 0
                log_out.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} {Path(command[0]).name} starts\n".encode())
                log_out.flush()
                self._log_from = os.fstat(log_out.fileno()).st_size
                self._guard = self._start(command, env or {}, token, grace, piped, log_out, folder)
        except OSError as error:
            raise BackendMissing(
                f"the backend {name} cannot be started: {error.strerror or error}.", "Check the disk and permissions."
            ) from error
        self.stdin, self.stdout = self._guard.stdin, self._guard.stdout
        threading.Thread(target=self._wait, name=f"waits for {name}", daemon=True).start()

    def _start(
        self,
        command: Sequence[str | Path],
        env: Mapping[str, str],
        token: str,
        grace: float,
        piped: bool,
        log: IO[bytes],
        folder: Path | None,
    ) -> subprocess.Popen[bytes]:
        reads, self._life = os.pipe()  # neither is inherited, but for `reads` by the guard
        try:
            inherited, options = _handed_on(reads)
            settings = {
                "record": str(self._record),
                "life": inherited,
                "grace": grace,
                "log": None if piped else str(self.log),
                "about": {"name": self.name, "program": [os.getpid(), guard.started(os.getpid())], "port": self.port, "token": token},
            }
            own = [_guards_python(), "-I", "-S", guard.__file__, json.dumps(settings), *map(str, command)]
            kept = {key: value for key, value in os.environ.items() if not _NOT_INHERITED.match(key)}
            return subprocess.Popen(
                own,
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else log,
                stderr=log,
                env={**kept, "PYTHONUNBUFFERED": "1", **env, "M3DESK_CHILD": token},
                cwd=folder,
                **options,
            )
        except BaseException:
            os.close(self._life)
            raise
        finally:
            os.close(reads)

    def _wait(self) -> None:
        code = self._guard.wait()
        if code < 0:  # the guard was killed: the processes it guarded may still run
            with contextlib.suppress(OSError):
                orphans.end_recorded(self._record)
        self.code = code
        self._close_life()
        self.ended.set()

    # ------------------------------------------------------------ how it is

    @property
    def alive(self) -> bool:
        """Whether the process runs, as far as its guard has said."""
        return not self.ended.is_set()

    def log_tail(self, lines: int = 20) -> list[str]:
        """Return the last lines of what this process wrote to its log."""
        try:
            with self.log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(min(self._log_from, size), size - 400 * lines))
                return log.read().decode("utf-8", "replace").splitlines()[-lines:]
        except OSError:
            return []

    def failure(self, doing: str = "") -> ModelError:
        """Return the error that explains why the process ended; `doing`: when, such as “while it started”."""
        self.ended.wait(2.0)
        return failure(self.name, self.code, self.log_tail(60), doing=doing)

    def wait_ready(
        self,
        ready: Callable[[], bool],
        *,
        seconds: float = 600.0,
        every: float = 0.2,
        cancelled: Callable[[], bool] = lambda: False,
        told: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Wait until `ready()`; `told` gets each new last line of the log. Ends the process when it does not succeed.

        Raises ModelFailed or BackendMissing with the cause when it ends or takes longer than `seconds`, Cancelled.
        """
        until = time.monotonic() + seconds
        said = ""
        try:
            while True:
                if self.ended.wait(0):
                    raise self.failure("while it started")
                if ready():
                    return
                if (line := next(iter(self.log_tail(1)), "")) != said:
                    said = line
                    told(line)
                if cancelled():
                    raise Cancelled(f"The start of {self.name} was stopped.")
                if time.monotonic() > until:
                    last = " ⏎ ".join(self.log_tail(3))
                    raise ModelFailed(
                        f"The backend {self.name} did not start within {seconds:.0f} s. Its last lines: {last}", f"See {self.log}."
                    )
                self.ended.wait(every)
        except BaseException:
            self.stop()
            raise

    # ------------------------------------------------------------ its end

    def stop(self, seconds: float = 20.0) -> None:
        """End the process with all its workers and wait for it; safe to call twice. After `seconds` they are killed."""
        self._close_life()
        if not self.ended.wait(seconds):
            with contextlib.suppress(OSError):
                self._guard.kill()  # its end ends what is left (`_wait`)
            self.ended.wait(10.0)
        for pipe in (self.stdin, self.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()

    def _close_life(self) -> None:
        with contextlib.suppress(OSError):
            life, self._life = self._life, -1
            if life >= 0:
                os.close(life)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def end_orphans_once() -> None:
    """End what earlier runs left running, once a process and data folder."""
    with _cleaned:
        if (folder := orphans.folder()) not in _done:
            _done.add(folder)
            orphans.end_orphans()


def _handed_on(reads: int) -> tuple[int, dict[str, Any]]:
    """Return the number by which the guard knows the pipe's reading end, and the options of Popen that hand it on."""
    if sys.platform == "win32":
        import msvcrt

        handle = msvcrt.get_osfhandle(reads)
        os.set_handle_inheritable(handle, True)
        startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
        return handle, {"startupinfo": startup, "creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return reads, {"pass_fds": (reads,), "start_new_session": True}


def _guards_python() -> str:
    """Return the interpreter that runs the guard: this one, whatever the backend's own is."""
    return getattr(sys, "_base_executable", None) or sys.executable


__all__ = ["GRACE", "Child", "end_orphans_once", "free_port", "log_file"]
