"""Measures the opening of a memory of 100,000 nodes until people and graph are on the screen: the benchmark `scale_opening`, as a row."""

from __future__ import annotations

import os
from typing import Any

from m3desk.bench import scale_opening


def measure() -> dict[str, Any]:
    """Return the seconds of each moment; needs the imported graphs."""
    found = scale_opening.measure()
    first = max(found["people"][1], found["graph"][1])
    return found | {"first_s": first, "load": round(os.getloadavg()[0], 1), "met": first <= found["goal_s"]}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    return [*scale_opening.lines(report), f"load {report['load']}"]
