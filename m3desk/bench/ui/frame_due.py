"""Measures how late a picture that is due comes to the screen, and that the boxes over it are those of the same picture."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from m3desk.bench.ui import films, on_screen

SECONDS = 12.0
GOAL = 10.0
"""Milliseconds, 95th percentile."""
APART = 3.0
"""Pixels of the screen that box and picture may be apart: the square moves by 14 in a picture."""
SAMPLED = 5
"""Each so many pictures the box is known, as in a memory; between them it is interpolated."""


def measure() -> dict[str, Any]:
    """Return how late pictures are, in milliseconds, and how far boxes are from what they are around."""
    recipe = films.RECIPES[0]
    with tempfile.TemporaryDirectory(prefix="m3desk-due-") as folder:
        film = films.make(Path(folder), recipe)
        side = round(films.SIDE * recipe.height)
        rows = [[at, *films.square(n, recipe.width, recipe.height), side, side] for n, at in enumerate(film.times) if n % SAMPLED == 0]
        boxes = Path(folder) / "boxes.json"
        boxes.write_text(json.dumps(rows))
        found: dict[str, Any] = on_screen.run("m3desk_ui.video.probe", "due", str(film.path), str(boxes), SECONDS)
    met = found["cpu"]["p95"] <= GOAL and found["apart"] <= APART and found["compared"] > 0
    return found | {"goal_ms": GOAL, "goal_apart": APART, "met": met}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    r = report
    return [
        f"1280×720 at 25 a second, load {r['load']}: {r['pictures']} pictures shown in {r['seconds']:g} s",
        f"due → on the screen by the clock: median {r['on_screen']['median']}, 95th percentile {r['on_screen']['p95']} ms; of it until the "
        f"window has it {r['given']['p95']}, painted {r['painted']['p95']}; goal ≤ {GOAL:g} ms",
        f"of the processor: median {r['cpu']['median']}, 95th percentile {r['cpu']['p95']} ms (player {r['player_cpu']['p95']}, window "
        f"{r['gui_cpu']['p95']})",
        f"box and picture on the screen, {r['compared']} pictures compared: at most {r['apart']} pixels apart, goal ≤ {APART:g}",
    ]
