"""Measures the window's views, row by row: the real widgets on a virtual screen, each row in a process of its own.

A row is a module of this package with `measure() -> dict`, whose "met" says whether its goals are met, and `lines(report)`. The machine is
often shared: goals are compared with the processor's time of the GUI thread; the clock's time stands beside it, with the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from m3desk.errors import UsageError

ROWS = {
    "graph_frames": "a frame of the graph while panning and zooming, and the sharp picture in slices, at 10,000 and 100,000 nodes",
    "graph_open": "a memory of 100,000 nodes: seconds from the command to people and graph on the screen",
    "graph_stream": "200 batches that come into a graph of 10,000 nodes: how far placed nodes move",
    "together": "a growing graph of 10,000 nodes, a film with boxes and an answer being written, all at once: the event loop",
    "seek": "any seek in any of 22 films: how long controls are dead, the first useful picture, the exact one",
    "scrub": "scrubbing a film of 1280×720, and one picture back",
    "frame_due": "a picture that is due until it is on the screen, and the box over it",
}


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Measure these rows (default: all). Raises UsageError for another name."""
    for name in args:
        if name not in ROWS:
            raise UsageError(f"there is no row “{name}”.", f"Rows: {' '.join(ROWS)}")
    return {name: import_module(f"m3desk.bench.ui.{name}").measure() for name in args or ROWS}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    told = []
    for name, row in report.items():
        told.append(f"{name}: {ROWS[name]}: {'met' if row['met'] else 'NOT met'}")
        told += [f"  {line}" for line in import_module(f"m3desk.bench.ui.{name}").lines(row)]
    return told
