"""Measures how far placed nodes move while 200 batches come into a graph of 10,000 nodes, one each 250 ms."""

from __future__ import annotations

from typing import Any

from m3desk.bench.ui import on_screen

NODES, BATCHES = 10_000, 200
GOAL = 1.0
"""Percent of the view's width."""


def measure() -> dict[str, Any]:
    """Return the movement, and what a batch costs the window."""
    found: dict[str, Any] = on_screen.run("m3desk_ui.graph.probe", "stream", NODES, BATCHES)
    return found | {"goal_percent": GOAL, "met": found["median_percent"] <= GOAL}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    r = report
    return [
        f"{r['nodes']} nodes, then {r['batches']} batches of {r['batch']}, load {r['load']}: on the screen a placed node moves "
        f"{r['median_percent']} % of the view's width a batch (median; 95th percentile {r['p95_percent']} %), goal ≤ {GOAL:g} %",
        f"from the first batch to the last: {r['whole_percent']} % (median)",
        f"a batch takes {r['gui_cpu_ms']} ms of the GUI thread's processor, drawing included",
    ]
