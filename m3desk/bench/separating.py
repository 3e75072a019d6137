"""Counts the clicks that separate the fused people of real M3-Agent graphs in the window: by its questions, and by hand on its board.

The scripted user knows who some faces and voices are (`bench.fused.LABELS`), and looks at the evidence that the window shows. What is
counted: every click but those that select what belongs to one person. Seconds are the program's; nobody reads or thinks in them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk import models
from m3desk.bench.fused import LABELS
from m3desk.bench.material import RunFailed, data
from m3desk.bench.window import screen
from m3desk.interop import m3agent
from m3desk.store.memory import Memory

ROADS = ("cards", "board")
GOAL = 10
"""Clicks for each graph, beyond choosing."""


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Return per graph and road the clicks. `args`: names of graphs (default: both). Needs Xvfb, else it draws nowhere."""
    env, xvfb = dict(os.environ), None
    if not env.get("DISPLAY") and env.get("QT_QPA_PLATFORM") in (None, "", "xcb"):
        xvfb, env["DISPLAY"] = screen()
    try:
        return {name: {road: _walk(name, road, env) for road in ROADS} for name in args or LABELS}
    finally:
        if xvfb is not None:
            xvfb.terminate()


def _walk(name: str, road: str, env: dict[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="m3desk-separating-") as folder:
        path = Path(folder) / f"{name}.m3desk"
        with Memory.create(path) as memory:
            memory.adopt(m3agent.load(data() / "pickles" / f"{name}.rebuilt.pkl.gz").graph)
        places = {
            "M3DESK_MODELS": str(models.folder()),
            "M3DESK_DATA": str(Path(folder) / "data"),
            "M3DESK_CONFIG": str(Path(folder) / "config.toml"),
        }
        command = [sys.executable, "-m", "m3desk.bench.separating", str(path), name, road]
        done = subprocess.run(command, env={**env, **places}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed("the window", done.returncode, done.stderr[-500:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    told = []
    for name, roads in report.items():
        for road, t in roads.items():
            met = "met" if t["separated"] and t["clicks"] <= GOAL else "NOT met"
            told.append(
                f"{name}, by the {road}: {t['clicks']} clicks (goal ≤ {GOAL}: {met}), {t['choosing']} to choose; "
                f"separated: {'yes' if t['separated'] else 'no'}; {t['seconds']} s of the program"
            )
    return told


def inside(path: str, name: str, road: str) -> None:
    """Walk, in the window's process; print one JSON line."""
    from m3desk_ui.people import separating_probe

    labels = {node: who for node, who, _, _ in LABELS[name]}
    print(json.dumps(separating_probe.measure(path, labels, road)), flush=True)
    os._exit(0)


if __name__ == "__main__":
    inside(*sys.argv[1:])
