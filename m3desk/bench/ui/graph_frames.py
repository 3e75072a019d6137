"""Measures frames of the graph while it is panned and zoomed, and the slices in which its sharp picture is drawn at rest."""

from __future__ import annotations

from typing import Any

from m3desk.bench.ui import on_screen

SIZES = ((10_000, 25_000, 8.0, 12.0), (100_000, 250_000, 12.0, 20.0))
"""Nodes, links, and the goals in milliseconds: median and 95th percentile."""
SLICE = 16.0


def measure() -> dict[str, Any]:
    """Return the figures of both sizes."""
    rows = []
    for nodes, links, median, p95 in SIZES:
        found = on_screen.run("m3desk_ui.graph.probe", "frames", nodes, links)
        met = found["median_cpu_ms"] <= median and found["p95_cpu_ms"] <= p95 and found["slice_cpu_ms"] <= SLICE
        rows.append(found | {"goal_ms": [median, p95, SLICE], "met": met})
    return {"rows": rows, "met": all(row["met"] for row in rows)}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    told = ["milliseconds of the processor (by the clock)"]
    for r in report["rows"]:
        median, p95, slice_ = r["goal_ms"]
        told.append(
            f"{r['nodes']} nodes, {r['links']} links, load {r['load']}: median {r['median_cpu_ms']} ({r['median_ms']}), 95th percentile "
            f"{r['p95_cpu_ms']} ({r['p95_ms']}), goals ≤ {median:g}; {p95:g}: {'met' if r['met'] else 'NOT met'}"
        )
        told.append(
            f"  at rest: {r['slices']} slices, longest {r['slice_cpu_ms']} ({r['slice_ms']}), goal ≤ {slice_:g}; sharp after "
            f"{r['sharp_after_ms']} ms; a frame then {r['still_cpu_ms']} ({r['still_ms']})"
        )
    return told
