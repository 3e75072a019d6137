"""Measures the window's event loop while everything happens at once: a film of 1280×720 plays with its boxes, clips are committed to a
graph that shows 10,000 nodes and more, and an answer is written, with the real engine in its process.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m3desk import events
from m3desk.bench.scale_window import CommitInvented, grow
from m3desk.bench.ui import films, on_screen
from m3desk.commands import Engine
from m3desk.desk import EngineDesk

if TYPE_CHECKING:
    from m3desk.ports import Desk

CLIPS = 830
"""Clips of twelve sentences each, of the people in it and what they handle."""
LEAST = 10_000
SECONDS = 20.0
COMMITS = 40
GOAL_P99, GOAL_LONGEST = 20.0, 50.0
PIECES = 25
"""Pieces of the answer a second, each a word."""


@dataclass(frozen=True, slots=True)
class TellInvented:
    """A command that writes an answer to a question, word by word as a language model does."""

    ask: str
    seconds: float

    def run(self, engine: Engine) -> None:
        threading.Thread(target=self._write, args=(engine,), daemon=True).start()

    def _write(self, engine: Engine) -> None:
        end, number = time.monotonic() + self.seconds, 0
        while time.monotonic() < end:
            number += 1
            engine.emit(events.AskText(self.ask, f"word{number}" + (". " if number % 12 == 0 else " ")))
            time.sleep(1 / PIECES)


def measure() -> dict[str, Any]:
    """Return the intervals of the event loop, in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="m3desk-together-") as folder:
        film = films.make(Path(folder), replace(films.RECIPES[0], name="together.mp4", seconds=30.0))
        memory = Path(folder) / "together.m3desk"
        grow(memory, CLIPS, COMMITS, str(film.path), (1280, 720))
        found: dict[str, Any] = on_screen.run("m3desk.bench.ui.together", "inside", str(memory))
    loop = found["loop"]
    met = loop["ready_p99"] <= GOAL_P99 and loop["ready_longest"] <= GOAL_LONGEST
    return found | {"goal_ms": [GOAL_P99, GOAL_LONGEST], "met": met}


def inside(path: str) -> dict[str, Any]:
    """Measure, in the window's process."""
    from m3desk_ui.window import together_probe

    def told(done: Future[None]) -> None:
        done.add_done_callback(lambda f: f.exception() and print(f.exception(), file=sys.stderr))

    def commit(desk: Desk, number: int) -> Future[None]:
        assert isinstance(desk, EngineDesk)
        done = desk.run(CommitInvented("s1", CLIPS + number))
        told(done)
        return done

    def tell(desk: Desk, ask: str) -> None:
        assert isinstance(desk, EngineDesk)
        told(desk.run(TellInvented(ask, SECONDS + 2)))

    return together_probe.measure(path, EngineDesk, commit, tell, LEAST, SECONDS) | {"cores": os.cpu_count() or 0}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    r, loop = report, report["loop"]
    return [
        f"{r['nodes']} nodes and {r['grown']} more in {r['commits']} commits, {r['pictures']} pictures of the film, {r['graph_frames']} of "
        f"the graph and {r['answer_frames']} of the answer a second, {r['seconds']} s, {r['cores']} cores, load {r['load']}",
        f"interval of the event loop by the clock: 99th percentile {loop['clock_p99']}, longest {loop['clock_longest']} ms; without "
        f"waiting for a core {loop['ready_p99']}; {loop['ready_longest']} ms; goal ≤ {GOAL_P99:g}; {GOAL_LONGEST:g} ms",
        f"of the GUI thread's processor: {loop['own_p99']}; {loop['own_longest']} ms; it is busy {r['gui_share']:.0%} of the time, all "
        f"threads of the window {r['process_share']:.0%}",
    ]
