"""`m3desk bench hostile [MINUTES] [--seed N] [--tries N] [KIND …]`: runs many hostile cases, counts results by kind, keeps failures."""

from __future__ import annotations

import contextlib
import random
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from m3desk.bench.hostile.case import Case
from m3desk.bench.hostile.running import Outcome, Runner, left, wrong
from m3desk.errors import UsageError

KINDS = {"commands": "command lines", "texts": "hostile texts", "media": "video and sound", "documents": "JSON", "graphs": "pickles"}
"""The generator modules of this folder, and what each makes."""

MINUTES = 10.0
SAMPLE = 5
"""Of the memories that tries are done with, one in so many is checked."""


@dataclass
class TryCounts:
    """What came of the tries of one kind. `peak`: bytes over the idle program. `again`: those that were run a second time."""

    tries: int = 0
    done: int = 0
    refused: int = 0
    faults: int = 0
    tracebacks: int = 0
    crashes: int = 0
    time_outs: int = 0
    half_written: int = 0
    not_clean: int = 0
    lost: int = 0
    code_ran: int = 0
    other: int = 0
    again: int = 0
    longest: float = 0.0
    longest_name: str = ""
    peak: int = 0
    peak_name: str = ""

    def add(self, case: Case, outcome: Outcome, problems: Sequence[str]) -> None:
        """Count one try."""
        self.tries += 1
        self.done += outcome.verdict == "done"
        self.refused += outcome.verdict == "refused"
        self.again += outcome.again
        for problem in problems:
            field_ = next((f for start, f in _COUNTED.items() if problem.startswith(start)), "other")
            setattr(self, field_, getattr(self, field_) + 1)
        if outcome.seconds > self.longest:
            self.longest, self.longest_name = outcome.seconds, case.name
        if outcome.peak > self.peak:
            self.peak, self.peak_name = outcome.peak, case.name

    @property
    def wrong(self) -> int:
        """Return how many things went wrong."""
        return sum(getattr(self, f) for f in (*_COUNTED.values(), "other"))


_COUNTED = {
    "fault": "faults", "traceback": "tracebacks", "crash": "crashes", "time-out": "time_outs", "half-written": "half_written",
    "not clean": "not_clean", "lost": "lost", "ran": "code_ran",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run is asked for. `tries`: end after so many; None: after so many minutes."""

    kinds: tuple[str, ...]
    minutes: float = MINUTES
    seed: int = 1
    tries: int | None = None
    keep: Path | None = None


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Try each kind in turn until the time is over; `ok` is false when anything went wrong. Raises UsageError."""
    asked = _asked(args)
    folder = Path(tempfile.mkdtemp(prefix="m3desk-hostile-"))
    keep = asked.keep or folder.with_name(folder.name + "-kept")
    try:
        return _run(asked, folder, keep)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(asked: RunLimits, folder: Path, keep: Path) -> dict[str, Any]:
    generators = {kind: generator(kind, folder / kind, asked.seed) for kind in asked.kinds}
    tallies = {kind: TryCounts() for kind in asked.kinds}
    kept: list[dict[str, Any]] = []
    began = time.monotonic()
    with Runner(folder / "runner") as runner:
        tries = 0
        while (tries < asked.tries) if asked.tries is not None else (time.monotonic() < began + 60 * asked.minutes):
            kind = asked.kinds[tries % len(asked.kinds)]
            case = next(generators[kind])
            outcome = runner.run(case)
            problems = wrong(case, outcome)
            problems += left(case, outcome, runner, checked=tallies[kind].tries % SAMPLE == 0)
            tallies[kind].add(case, outcome, problems)
            if problems:
                kept.append(_kept(case, outcome, problems, keep / f"{tries:05d}"))
            clear(case)
            tries += 1
            if tries % 50 == 0:
                print(f"{tries} tries, {sum(t.wrong for t in tallies.values())} wrong", file=sys.stderr, flush=True)
        idle = runner.idle
    return {
        "ok": not kept,
        "seed": asked.seed,
        "tries": tries,
        "minutes": round((time.monotonic() - began) / 60, 2),
        "idle_mb": round(idle / 1e6, 1),
        "kinds": {kind: _row(t) for kind, t in tallies.items()},
        "kept": str(keep) if kept else None,
        "wrong": kept,
    }


def generator(kind: str, folder: Path, seed: int) -> Iterator[Case]:
    """Return the tries of a kind, the same for the same seed."""
    folder.mkdir(parents=True, exist_ok=True)
    cases: Iterator[Case] = import_module(f"m3desk.bench.hostile.{kind}").cases(folder, random.Random(f"{seed} {kind}"))
    return cases


def clear(case: Case) -> None:
    """Delete what was made for a try."""
    for path in (*case.files, *([case.memory] if case.memory is not None and case.new else []), *([case.marker] if case.marker else [])):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _kept(case: Case, outcome: Outcome, problems: list[str], place: Path) -> dict[str, Any]:
    """Keep the arguments, files and output of a try that went wrong."""
    place.mkdir(parents=True, exist_ok=True)
    named = [Path(a) for a in case.arguments if len(a) < 1000 and a.startswith("/")]
    for path in {*case.files, *named, *([case.memory] if case.memory else [])}:
        if path.is_file():
            shutil.copy2(path, place / path.name)
        elif path.is_dir() and "m3desk-hostile-" in str(path):
            with contextlib.suppress(shutil.Error):  # of what can't be copied, such as a named pipe; the rest is there
                shutil.copytree(path, place / path.name, dirs_exist_ok=True, ignore_dangling_symlinks=True)
    (place / "arguments.txt").write_text(f"{case.name}\n{case.arguments!a}\n{shlex.join(case.arguments)}\n", "utf-8", errors="replace")
    (place / "settings.toml").write_bytes(case.settings)
    (place / "output.txt").write_text(outcome.output + "\n---- errors\n" + outcome.errors, "utf-8", errors="replace")
    return {
        "kind": case.kind, "name": case.name, "arguments": [ascii(a)[1:-1][:200] for a in case.arguments], "problems": problems,
        "code": outcome.code, "seconds": round(outcome.seconds, 2), "said": ascii(outcome.errors[-600:])[1:-1], "folder": str(place),
    }  # fmt: skip


def _row(t: TryCounts) -> dict[str, Any]:
    counts = {f: getattr(t, f) for f in ("tries", "done", "refused", *_COUNTED.values(), "other", "again")}
    longest = {"longest_seconds": round(t.longest, 2), "longest": ascii(t.longest_name)[1:-1]}
    return {**counts, **longest, "peak_mb": round(t.peak / 1e6, 1), "peak": ascii(t.peak_name)[1:-1]}


def _asked(args: Sequence[str]) -> RunLimits:
    """Read the words of the command. Raises UsageError."""
    here = tuple(k for k in KINDS if find_spec(f"m3desk.bench.hostile.{k}") is not None)
    kinds: list[str] = []
    minutes, seed, tries, keep = MINUTES, 1, None, None
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word in ("--seed", "--tries") and rest:
            number = _whole(word, rest.pop(0))
            seed, tries = (number, tries) if word == "--seed" else (seed, number)
        elif word == "--keep" and rest:
            keep = Path(rest.pop(0))
        elif word in here:
            kinds.append(word)
        else:
            minutes = _minutes(word, here)
    return RunLimits(tuple(dict.fromkeys(kinds)) or here, minutes, seed, tries, keep)


def _whole(option: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise UsageError(f"“{text}” is no number for {option}.", f"For example {option} 7.")
    return int(text)


def _minutes(text: str, here: Sequence[str]) -> float:
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", text):
        raise UsageError(f"“{text}” is no kind of hostile input.", f"There are: {', '.join(here)}; or give minutes.")
    if not (minutes := float(text)):
        raise UsageError("no time is left for a try.", "Give a number of minutes above 0.")
    return minutes


def lines(report: dict[str, Any]) -> list[str]:
    """Return a report as people read it."""
    told = [f"{report['tries']} tries in {report['minutes']} minutes, seed {report['seed']}; the idle program takes {report['idle_mb']} MB"]
    for kind, r in report["kinds"].items():
        bad = ", ".join(f"{r[f]} {f.replace('_', ' ')}" for f in (*_COUNTED.values(), "other"))
        twice = f"; {r['again']} were late or crashed at first, and were run again" if r["again"] else ""
        told.append(f"{KINDS[kind]}: {r['tries']} tries, {r['done']} done, {r['refused']} refused; {bad}{twice}")
        told.append(f"  longest {r['longest_seconds']} s ({r['longest']}), most memory {r['peak_mb']} MB over idle ({r['peak']})")
    for w in report["wrong"]:
        told.append(f"wrong: {'; '.join(w['problems'])}: {w['name']}: {w['folder']}")
    return told
