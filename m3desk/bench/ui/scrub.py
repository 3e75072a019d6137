"""Measures scrubbing in a film of 1280×720 with a key frame each 10 s, and steps of one picture back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from m3desk.bench.ui import films, on_screen

SECONDS = 3.0
"""How long each drag takes on a machine that does nothing else."""
A_SECOND, STEP = 25.0, 50.0
"""Goals: useful pictures a second, and milliseconds of a step back."""


def measure() -> dict[str, Any]:
    """Return pictures a second of each drag, and what steps back took."""
    with tempfile.TemporaryDirectory(prefix="m3desk-scrub-") as folder:
        film = films.make(Path(folder), films.RECIPES[0])
        found: dict[str, Any] = on_screen.run("m3desk_ui.video.probe", "scrub", str(film.path), SECONDS)
    fast = all(d["a_free_second"] >= A_SECOND for d in found["drags"].values())
    steps = all(found[row]["longest_cpu"] <= STEP for row in ("in_a_row", "after_a_seek"))
    return found | {"goal_a_second": A_SECOND, "goal_step_ms": STEP, "met": fast and steps}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    told = [f"1280×720, a key frame each 10 s, load {report['load']}: useful pictures a second that the machine gives (by the clock)"]
    for name, d in report["drags"].items():
        told.append(
            f"{name}: {d['a_free_second']} ({d['a_second']}), goal ≥ {A_SECOND:g}; {d['pictures']} pictures of {d['asked']} positions, "
            f"{d['cpu_s']} s of the processor; released, it stands after {d['settled_cpu_s']} s of the processor ({d['settled_s']})"
        )
    for name, row in (("one picture back, after a seek", "after_a_seek"), ("30 in a row", "in_a_row")):
        s = report[row]
        told.append(
            f"{name}: median {s['median_cpu']} ({s['median']}), longest {s['longest_cpu']} ({s['longest']}) ms of the processor (by the "
            f"clock), goal ≤ {STEP:g} ms"
        )
    loop = report["loop"]
    return [*told, f"event loop: longest {loop['ready_longest']} ms without waiting for a core ({loop['clock_longest']} by the clock)"]
