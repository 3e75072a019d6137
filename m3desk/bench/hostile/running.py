"""Runs hostile cases one by one, each in its own process with limits, and judges the results."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from m3desk.bench.hostile.case import PERCEIVING, Case
from m3desk.bench.material import command

SECONDS = 30.0
"""A try that takes longer is a time-out."""

MEMORY = 3 << 30
"""Bytes that a try's process may own; the embedded models in full take 2.5 GB."""

RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What must not reach a terminal: control characters but tab and newline, marks that turn or break lines, and what was no UTF-8."""

DOCUMENT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""What must not be in a document on standard output: its format's own line ends and the marks of right-to-left languages may be."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a try. `code`: its exit status, negative for a signal. `peak`: bytes of its largest process over the idle program's.

    `again`: it was late or crashed at first, and was run once more.
    """

    code: int
    seconds: float
    peak: int
    late: bool
    output: str
    errors: str
    again: bool = False

    @property
    def verdict(self) -> str:
        """Return done, refused, late or crashed."""
        return "late" if self.late else "crashed" if self.code < 0 else "done" if self.code == 0 else "refused"


class Runner:
    """Runs tries in a scratch folder, through a server that forks where the system can. Use it in a `with`."""

    def __init__(self, folder: Path, *, seconds: float = SECONDS, memory: int = MEMORY, fork: bool = hasattr(os, "fork")) -> None:
        self.folder, self.seconds, self.memory = folder, seconds, memory
        self.place = folder / "here"
        self.place.mkdir(parents=True, exist_ok=True)
        self._server = self._serve() if fork else None
        self.idle = 0
        self.idle = self._forked((), {}).peak if fork else 0

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._server is not None and self._server.stdin is not None:
            self._server.stdin.close()
            self._server.wait(10)
            assert self._server.stdout is not None
            self._server.stdout.close()

    @staticmethod
    def _serve() -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "m3desk.bench.hostile.server"]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    # ------------------------------------------------------------------ one try

    def run(self, case: Case) -> Outcome:
        """Run a try. One that was late or crashed is run once more in a process that was not forked, whose outcome then counts."""
        environment = self._environment(case)
        if self._server is None:
            return self._alone(case.arguments, environment)
        outcome = self._forked(case.arguments, environment)
        if outcome.verdict in ("late", "crashed") and (case.memory is None or not (case.new and case.memory.exists())):
            return replace(self._alone(case.arguments, self._environment(case)), again=True)
        return outcome

    def sound(self, memory: Path) -> str | None:
        """Return what `check` finds wrong with a memory, None where it is sound."""
        done = self.run(Case("check", "check", ("check", "-m", str(memory))))
        return None if done.code == 0 else (done.output + done.errors).strip()[-400:]

    def holds(self, memory: Path) -> bool:
        """Return whether a memory holds something that was committed whole."""
        done = self.run(Case("check", "holds", ("export", "-m", str(memory), "-o", "-", "--format", "json")))
        try:
            return any(c["state"] in ("episodic", "done") for c in json.loads(done.output)["clips"])
        except (ValueError, KeyError):
            return False

    def _environment(self, case: Case) -> dict[str, str]:
        """Recreate the settings and folders of a test case, in the scratch folder only."""
        own = self.folder / "own"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        (own / "config.toml").write_bytes(case.settings)
        places = {"M3DESK_CONFIG": str(own / "config.toml"), "M3DESK_DATA": str(own / "data"), "M3DESK_MODELS": str(own / "models")}
        screen = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}  # no window may open
        quiet = {"TMPDIR": str(self._temporary()), "HOME": str(own), "M3DESK_MEMORY": "", "OMP_NUM_THREADS": "1"}
        return {**places, **screen, **quiet, **case.environment}

    def _temporary(self) -> Path:
        place = self.folder / "tmp"
        place.mkdir(exist_ok=True)
        return place

    def _forked(self, arguments: tuple[str, ...], environment: dict[str, str]) -> Outcome:
        assert self._server is not None and self._server.stdin is not None and self._server.stdout is not None
        out, err = self.folder / "out.txt", self.folder / "err.txt"
        request = {
            "arguments": arguments, "environment": environment, "output": str(out), "errors": str(err), "folder": str(self.place),
            "seconds": self.seconds, "memory": self.memory,
        }  # fmt: skip
        self._server.stdin.write(json.dumps(request).encode() + b"\n")
        self._server.stdin.flush()
        reply: dict[str, Any] = json.loads(self._server.stdout.readline())
        peak = max(0, reply["peak"] - self.idle)
        return Outcome(reply["code"], reply["seconds"], peak, reply["late"], _text(out), _text(err))

    def _alone(self, arguments: tuple[str, ...], environment: dict[str, str]) -> Outcome:
        """Run a try as a program of its own, without a limit of memory; its peak is not known."""
        began = time.monotonic()
        out, err = self.folder / "out.txt", self.folder / "err.txt"
        with out.open("wb") as output, err.open("wb") as errors:
            process = subprocess.Popen(
                command(*arguments), stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=self.place,
                env={**os.environ, **environment}, start_new_session=True,
            )  # fmt: skip
            try:
                process.wait(self.seconds)
                late = False
            except subprocess.TimeoutExpired:
                late = True
            if hasattr(os, "killpg"):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            code = process.wait()
        return Outcome(code, time.monotonic() - began, 0, late, _text(out), _text(err))


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def wrong(case: Case, outcome: Outcome) -> list[str]:
    """Return what is wrong with how a try ended, apart from its memory; [] when all is well."""
    found = []
    said = outcome.output + outcome.errors
    if outcome.late:
        found.append("time-out")
    elif outcome.code < 0:
        found.append(f"crash: signal {-outcome.code}")
    elif outcome.code not in (0, 1, 2):
        found.append(f"exit code {outcome.code}")
    if "a fault of M3Desk" in said:
        found.append("fault")
    if "Traceback (most recent call last)" in said:
        found.append("traceback")
    if case.marker is not None and case.marker.exists():
        found.append("ran: code in the input was run")
    if outcome.code in (1, 2) and not outcome.late and "m3desk" not in outcome.errors and not outcome.output.strip():
        found.append("no message")
    if raw := RAW.search(outcome.errors) or (DOCUMENT if case.document else RAW).search(outcome.output):
        found.append(f"raw character {raw.group()!a}")
    return found


def left(case: Case, outcome: Outcome, runner: Runner, *, checked: bool) -> list[str]:
    """Return what is wrong with the memory that a try leaves.

    One that was there before must still be whole in the eyes of SQLite; `checked`: also in those of `m3desk check`.
    """
    if case.memory is not None and not case.new and (why := _lost(case.memory / "memory.sqlite")) is not None:
        return [f"lost: {why}"]
    if case.memory is None or not (case.memory / "memory.sqlite").exists():
        leftover = case.memory is not None and case.new and outcome.code != 0 and case.memory.is_dir()
        return ["half-written: an empty folder is left"] if leftover else []
    if case.new and outcome.code != 0:
        if case.kind in ("json", "pickle") or not runner.holds(case.memory):
            return ["half-written: the command was refused, and its memory is there"]
        checked = True
    if checked and (why := runner.sound(case.memory)) is not None:
        return [f"not clean: {why}"]
    return []


def _lost(database: Path) -> str | None:
    """Return why a database can no longer be read, None where it can."""
    if not database.is_file():
        return "the memory is gone"
    if not database.stat().st_size:
        return "its database is empty"
    try:
        with contextlib.closing(sqlite3.connect(database)) as opened:
            found = str(opened.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return None if found == "ok" else found


__all__ = ["PERCEIVING", "Outcome", "Runner", "left", "wrong"]
