"""Measures the window's cost per commit against memory size: real window with all docks, real engine, synthetic clips.

Figures are milliseconds of the processor a commit, less what the window takes at rest: of the GUI thread and of the reading thread.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m3desk import events
from m3desk.bench import scale
from m3desk.bench.material import RunFailed
from m3desk.bench.window import screen
from m3desk.commands import Engine
from m3desk.desk import EngineDesk
from m3desk.domain.clip import Clip, Source
from m3desk.domain.ids import clip_id
from m3desk.errors import UsageError
from m3desk.store.memory import Memory

if TYPE_CHECKING:
    from m3desk.ports import Desk

CLIPS = (160, 2_000)
COMMITS = 8
SECONDS = 4.0
"""How long the window is watched after each commit."""

GOAL = 20.0
"""Milliseconds of GUI and reading thread together, at 2,000 clips."""


@dataclass(frozen=True, slots=True)
class CommitInvented:
    """A command that commits one more invented clip."""

    source: str
    index: int

    def run(self, engine: Engine) -> None:
        clip = Clip(clip_id(self.source, self.index), self.source, self.index, self.index * scale.SECONDS, (self.index + 1) * scale.SECONDS)
        perceived, draft, vectors = scale.invented(clip, random.Random(self.index))
        engine.app.write(
            lambda m: m.commit_episodic(clip, perceived, draft, text_vectors=vectors, text_model=scale.TEXTS, models=scale.MODELS)
        )
        engine.emit(events.ClipCommitted(clip.id, "episodic"))


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a commit costs the window at each number of clips (`args`; else 160 and 2,000). Needs Xvfb, else it draws nowhere."""
    try:
        counts = [int(a) for a in args] or list(CLIPS)
    except ValueError as error:
        raise UsageError("scale_window takes numbers of clips.", "For example: m3desk bench scale_window 160 2000") from error
    folder = Path(tempfile.mkdtemp(prefix="m3desk-scale-window-"))
    try:
        return {"goal_ms": GOAL, "rows": [_row(folder / f"{count}.m3desk", count) for count in counts]}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    told = ["milliseconds of the processor a commit: GUI thread, reading thread; longest turn of the event loop (by the clock)"]
    for row in report["rows"]:
        both = row["gui"] + row["reading"]
        met = f"; together {both:.1f}, goal ≤ {GOAL:g} ms: {'met' if both <= GOAL else 'NOT met'}"
        told.append(f"{row['clips']} clips: {row['gui']}, {row['reading']}; {row['turn']} ({row['turn_clock']}){met}")
        told.append(f"  why an observation is bound to its person: {row['why']} ms by the clock, reading thread {row['why_reading']} ms")
    return told


def _row(path: Path, count: int) -> dict[str, Any]:
    """Make a memory of so many clips, and measure in a process of its own, on a virtual screen where there is one."""
    grow(path, count)
    env = {**os.environ, "M3DESK_DATA": str(path.parent / "data"), "M3DESK_CONFIG": str(path.parent / "config.toml")}
    xvfb = None
    if not env.get("DISPLAY") and not env.get("QT_QPA_PLATFORM"):
        xvfb, env["DISPLAY"] = screen()
    try:
        program = "from m3desk.bench import scale_window; scale_window.inside()"
        done = subprocess.run([sys.executable, "-c", program, str(path), str(count)], env=env, capture_output=True, text=True, check=False)
    finally:
        if xvfb is not None:
            xvfb.terminate()
    if done.returncode:
        raise RunFailed("the window", done.returncode, done.stderr[-500:])
    return {"clips": count, **json.loads(done.stdout.splitlines()[-1])}


def grow(path: Path, count: int, more: int = COMMITS, film: str = "/invented.mp4", size: tuple[int, int] = (640, 360)) -> None:
    """Make a memory of so many invented clips of a film, with `more` planned, which are committed later."""
    with Memory.create(path) as memory:
        memory.set_setting("imported_without_media", "1")
        whole = count + more
        source = memory.add_source(Source("", film, whole * scale.SECONDS, *size, 25.0, True, "0" * 64, None, 1000)).id
        clips = [Clip(clip_id(source, i), source, i, i * scale.SECONDS, (i + 1) * scale.SECONDS) for i in range(whole)]
        memory.plan_clips(source, clips, fps=5.0)
        dice = random.Random(7)
        for clip in clips[:count]:
            perceived, draft, vectors = scale.invented(clip, dice)
            memory.commit_episodic(clip, perceived, draft, text_vectors=vectors, text_model=scale.TEXTS, models=scale.MODELS)
        memory.set_source(source, state="done")


def inside() -> None:
    """Measure, in the window's process; print one JSON line."""
    from m3desk_ui.window import work_probe

    path, count = sys.argv[1], int(sys.argv[2])

    def commit(desk: Desk, number: int) -> None:
        assert isinstance(desk, EngineDesk)
        done: Future[None] = desk.run(CommitInvented("s1", count + number))
        done.add_done_callback(lambda f: f.exception() and print(f.exception(), file=sys.stderr))

    print(json.dumps(work_probe.measure(path, EngineDesk, commit, COMMITS, SECONDS, f"s1.c{count // 2}.f0")), flush=True)
    os._exit(0)
