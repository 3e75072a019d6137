"""Kills writing commands repeatedly, half of them just after a commit, then opens the memory and checks it.

A row is one command. After each kill the memory is opened for writing (which finishes what was begun) and checked. Then: `memorize` and
`import`, run again, must end as an undisturbed run does; `merge` must be wholly there or not at all; `repair`, run again, must leave what
an undisturbed one leaves; of somebody to `forget` nothing may be left in the memory or beside it, unless nothing had begun yet.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from m3desk import paths
from m3desk.app import App
from m3desk.bench import small_memory
from m3desk.bench.material import command, data
from m3desk.bench.traces import Marks, marks, traces
from m3desk.interop.exports import export, export_json, same_memory
from m3desk.store.memory import Memory

SEED = 20261121
ROWS = ("memorize", "import", "forget", "merge", "repair")
AFTER_COMMIT = 0.1
"""Seconds after a commit within which half of the kills fall."""

_PROFILE = """profile = "kills"
[profiles.kills]
faces = "yunet"
face_vectors = "sface"
voice_vectors = "campplus"
"""
"""What the proof of a forgetting asks; no sentence is embedded."""


@dataclass
class KillCounts:
    """What a row found. `ended`: how memories were found after a kill, in words, with counts."""

    kills: int = 0
    after_commit: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        bad = {n: getattr(self, n) for n in ("problems", "differences", "traces")}
        ended = dict(sorted(self.ended.items()))
        return {"kills": self.kills, "after_commit": self.after_commit, "ended": ended} | {
            name: {"count": len(found), "first": found[:10]} for name, found in bad.items()
        }


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Kill `N` times (default 200) over the rows (default all). `--keep DIR`: memories with something wrong are kept there."""
    given = list(args)
    keep = Path(given.pop(given.index("--keep") + 1)) if "--keep" in given else None
    given = [a for a in given if a != "--keep"]
    count = next((int(a) for a in given if a.isdigit()), 200)
    rows = [r for r in ROWS if r in given] or list(ROWS)
    video = next((Path(a) for a in given if not a.isdigit() and a not in ROWS), None)
    folder = Path(tempfile.mkdtemp(prefix="m3desk-kills-"))
    began, found = time.perf_counter(), {}
    try:
        for number, row in enumerate(rows):
            share = count // len(rows) + (number < count % len(rows))
            place = folder / row
            place.mkdir()
            with _own_settings(place, row):
                found[row] = _Row(row, place, keep, video).run(share).report()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    wrong = sum(found[r][what]["count"] for r in found for what in ("problems", "differences", "traces"))
    return {"ok": not wrong, "kills": sum(r["kills"] for r in found.values()), "seconds": round(time.perf_counter() - began), "rows": found}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the report as people read it."""
    out = []
    for name, row in report["rows"].items():
        ended = ", ".join(f"{n} {how}" for how, n in row["ended"].items())
        bad = ", ".join(f"{row[what]['count']} {what}" for what in ("problems", "differences", "traces"))
        out.append(f"{name:<9} {row['kills']} kills, {row['after_commit']} just after a commit: {bad} ({ended})")
        out += [f"  {text}" for what in ("problems", "differences", "traces") for text in row[what]["first"]]
    return [
        *out,
        f"{report['kills']} kills in {report['seconds']} s: {'nothing lost, nothing left' if report['ok'] else 'NOT as it should be'}",
    ]


@contextmanager
def _own_settings(place: Path, row: str) -> Iterator[None]:
    """Give the program, here and as a command, settings and a data folder of its own; the weights stay where they are."""
    models = str(paths.models_dir())
    (place / "config.toml").write_text("" if row == "memorize" else _PROFILE, "utf-8")
    own = {"M3DESK_CONFIG": str(place / "config.toml"), "M3DESK_DATA": str(place / "data"), "M3DESK_MODELS": models}
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


class _Row:
    """One command, killed many times on fresh copies of what it works on."""

    def __init__(self, name: str, place: Path, keep: Path | None, video: Path | None) -> None:
        self.name, self.place, self.keep = name, place, keep
        self.memory = place / "killed.m3desk"  # always the same path: what lies outside of a memory is known by it
        self.base = place / "base.m3desk"
        self.outside = place / "outside"
        self.tally = KillCounts()
        self.chance = random.Random(f"{SEED} {name}")
        self.marks = Marks((), frozenset(), ())
        self.argv = self._prepare(video)
        self.begun = self._document(self.base) if self.base.exists() else None
        self.seconds, self.first, self.changes = self._undisturbed()
        self.calm = self._document(self.memory)

    # ------------------------------------------------------------------ what is killed

    def _prepare(self, video: Path | None) -> list[str]:
        m = str(self.memory)
        if self.name == "memorize":
            # A few seconds in short clips, so that the kills meet every stage many times.
            film = str(video or data("video", "reel", "reel_shared.mp4"))
            return command("memorize", film, "-m", m, "--clip-seconds", "5", "--end", "10", "--no-semantic", "-q")
        small_memory.make(self.base)
        if self.name == "import":
            with Memory.open(self.base) as reader:
                export(reader, self.place / "exported.json", with_media=True)
            shutil.rmtree(self.base)
            return command("import", str(self.place / "exported.json"), "-m", m, "-q")
        if self.name == "forget":
            self._leave_outside()
            return command("people", "forget", small_memory.NAMES[0], "-m", m, "--yes", "-q")
        if self.name == "merge":
            return command("people", "merge", small_memory.NAMES[0], small_memory.NAMES[1], "-m", m, "-q")
        self._harm()
        return command("check", "--repair", "-m", m, "-q")

    def _leave_outside(self) -> None:
        """Put outside of the memory what the window and killed processes leave there."""
        with Memory.open(self.base) as reader:
            self.marks = marks(reader, small_memory.NAMES[0])
            thumbnail = reader.media(reader.thumbnail("s1.c0") or "")
            sound = next(r.utterance.audio for r in reader.speech("s1") if r.utterance.text == small_memory.SAYS[0])
            speech = reader.media(sound or "")
        assert thumbnail is not None and speech is not None
        picture = self.outside / paths.recent_picture(self.memory).relative_to(paths.data_dir())
        left = self.outside / paths.temporary_dir().relative_to(paths.data_dir()) / "sound-999999999-abcd"  # no process has that number
        log = self.outside / paths.log_dir().relative_to(paths.data_dir()) / "engine.log"
        for path, content in (
            (picture, thumbnail),
            (left / "said.flac", speech),
            (log, f"where is {small_memory.NAMES[0]}\nfine\n".encode()),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _harm(self) -> None:
        """Put the folded tables, the media and the index wrong: what `check --repair` mends."""
        db = sqlite3.connect(self.base / "memory.sqlite")
        with db:
            db.execute("UPDATE now_node SET weight = weight + 1, shown = 'wrong'")
            db.execute("DELETE FROM now_edge")
        db.close()
        stray = self.base / "media" / "zz" / "zz-stray.jpg"
        stray.parent.mkdir()
        stray.write_bytes(b"nothing names this")
        (self.base / "vectors").mkdir()
        (self.base / "vectors" / "state.json").write_text("{}", "utf-8")

    def _reset(self) -> None:
        shutil.rmtree(self.memory, ignore_errors=True)
        if self.base.exists():
            shutil.copytree(self.base, self.memory)
        if self.outside.exists():
            shutil.rmtree(paths.data_dir(), ignore_errors=True)
            shutil.copytree(self.outside, paths.data_dir())

    # ------------------------------------------------------------------ killing

    def _undisturbed(self) -> tuple[float, float, int]:
        """Run the command once in peace; return its seconds, when it first wrote, and how often it wrote."""
        self._reset()
        process, began, last, first, changes = self._start(), time.perf_counter(), self._written(), 0.0, 0
        while process.poll() is None:
            if (now := self._written()) != last:
                last, changes = now, changes + 1
                first = first or time.perf_counter() - began
            time.sleep(0.001)
        _, err = process.communicate()
        if process.returncode not in (0, 1):
            raise RuntimeError(f"{self.name}: exit {process.returncode}: {err[-500:]!r}")
        return time.perf_counter() - began, first, max(changes, 1)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def _written(self) -> tuple[Any, ...]:
        """Return what changes when the database commits, seen from outside."""
        seen: list[Any] = []
        for ending in ("", "-wal"):
            try:
                stat = Path(f"{self.memory}/memory.sqlite{ending}").stat()
                seen += [stat.st_ino, stat.st_size, stat.st_mtime_ns]
            except OSError:
                seen.append(None)
        return tuple(seen)

    def _killed(self, after_commit: bool) -> bool:
        """Run the command and kill it; say whether that was in time."""
        process, began = self._start(), time.perf_counter()
        if after_commit:
            last, left = self._written(), round(self._moment(1, self.changes))
            while process.poll() is None and left:
                if (now := self._written()) != last:
                    last, left = now, left - 1
                time.sleep(0.0005)
            time.sleep(self.chance.uniform(0, AFTER_COMMIT))
        else:
            until = began + self._moment(0.8 * self.first, self.seconds)
            while process.poll() is None and time.perf_counter() < until:
                time.sleep(0.001)
        in_time = process.poll() is None
        if in_time:
            os.kill(process.pid, signal.SIGKILL)
        elif not after_commit:  # the machine is less busy than it was
            self.first, self.seconds = (t * (time.perf_counter() - began) / self.seconds for t in (self.first, self.seconds))
        process.communicate()
        return in_time

    def _moment(self, first: float, last: float) -> float:
        """Return a random moment; of `memorize`, which goes on after a kill, rather a late one: else no clip would ever be reached."""
        return self.chance.triangular(first, last, (first + 2 * last) / 3) if self.name == "memorize" else self.chance.uniform(first, last)

    def run(self, count: int) -> KillCounts:
        late = 0
        self._reset()
        while self.tally.kills < count and late < 5 * count + 20:
            after = self.tally.kills % 2 == 0
            if not self._killed(after):
                late += 1
                if self.name == "memorize":  # it goes on where it was killed, until it gets to its end
                    self._compare(self._document(self.memory))
                    self.tally.ended["run to the end and compared"] += 1
                self._reset()
                continue
            self.tally.kills += 1
            self.tally.after_commit += after
            wrong = self._wrong()
            self._look()
            if self.keep and self._wrong() != wrong:
                shutil.copytree(self.memory, self.keep / f"{self.name}-{self.tally.kills}", dirs_exist_ok=True)
            if self.name != "memorize":
                self._reset()
        return self.tally

    # ------------------------------------------------------------------ looking

    def _wrong(self) -> int:
        return len(self.tally.problems) + len(self.tally.differences) + len(self.tally.traces)

    def _look(self) -> None:
        look: Callable[[], str] = getattr(self, f"_after_{self.name}")
        try:
            how = look()
        except Exception as error:  # whatever it is, it is what the benchmark looks for
            self.tally.problems.append(f"{type(error).__name__}: {error}")
            how = "not opened"
        self.tally.ended[how] += 1

    def _check(self, app: App) -> None:
        report = app.check()
        if not report["ok"]:
            self.tally.problems.append(json.dumps({k: report[k] for k in ("integrity", "index", "constraints", "findings")})[:500])

    def _document(self, memory: Path) -> dict[str, Any]:
        with Memory.open(memory) as reader:
            return export_json(reader)

    def _compare(self, document: dict[str, Any]) -> None:
        self.tally.differences += same_memory(self.calm, document)

    def _after_memorize(self) -> str:
        if not self.memory.exists():
            return "before anything was made"
        with App(self.memory) as app:
            self._check(app)
            with app.reader() as reader:
                done = sum(c.state == "episodic" for c in reader.clips())
        return f"with {done} clips"

    def _after_import(self) -> str:
        with App(self.memory) as app, app.reader() as reader:
            absent = not reader.sources()
            if absent:
                app.import_read(app.read_export(self.place / "exported.json"))
            self._check(app)
        self._compare(self._document(self.memory))
        return "absent, imported by the next try" if absent else "whole"

    def _after_forget(self) -> str:
        with App(self.memory) as app:
            finished = len(app.finished)
            self._check(app)
        document = self._document(self.memory)
        if any(p["name"] == small_memory.NAMES[0] for p in document["people"]):
            assert self.begun is not None
            self.tally.differences += same_memory(self.begun, document)
            return "not begun"
        self._compare(document)
        self.tally.traces += traces(self.marks, (self.memory, paths.data_dir()))
        return "finished by the next opening" if finished else "finished"

    def _after_merge(self) -> str:
        with App(self.memory) as app:
            self._check(app)
        document = self._document(self.memory)
        assert self.begun is not None
        if not same_memory(self.begun, document):
            return "absent"
        self._compare(document)
        return "whole"

    def _after_repair(self) -> str:
        with App(self.memory) as app:
            mended = app.check()["ok"]
            app.check(repair=True)
            self._check(app)
        self._compare(self._document(self.memory))
        if (self.memory / "media" / "zz" / "zz-stray.jpg").exists():
            self.tally.differences.append("a file that nothing names is still there")
        return "whole" if mended else "mended by the next try"


__all__ = ["lines", "measure"]
