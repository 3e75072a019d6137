"""`m3desk bench ui`: its rows and what they say; measuring itself needs a screen and minutes."""

from __future__ import annotations

from importlib import import_module

import pytest

from m3desk.bench import ui
from m3desk.errors import UsageError


def test_every_row_has_a_measure_and_lines() -> None:
    for name in ui.ROWS:
        module = import_module(f"m3desk.bench.ui.{name}")
        assert callable(module.measure)
        assert callable(module.lines)


def test_an_unknown_row_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(UsageError) as refused:
        ui.measure(["graph_frame"])
    assert "graph_frames" in refused.value.hint


def test_the_lines_say_whether_the_goals_are_met() -> None:
    figures = {"median_cpu_ms": 5.8, "p95_cpu_ms": 8.1, "median_ms": 18.1, "p95_ms": 59.4, "slice_cpu_ms": 7.8, "slice_ms": 9.0}
    row = figures | {
        "nodes": 10_000,
        "links": 25_000,
        "load": 3.0,
        "slices": 16,
        "sharp_after_ms": 500,
        "still_cpu_ms": 2.6,
        "still_ms": 3.0,
    }
    row |= {"goal_ms": [8.0, 12.0, 16.0], "met": True}
    stream = {"nodes": 10_000, "batches": 200, "batch": 20, "load": 3.0, "median_percent": 1.4, "p95_percent": 3.0, "whole_percent": 2.0}
    stream |= {"gui_cpu_ms": 60.0, "goal_percent": 1.0, "met": False}
    told = ui.lines({"graph_frames": {"rows": [row], "met": True}, "graph_stream": stream})
    assert told[0].endswith(": met")
    assert any("5.8 (18.1)" in line and "met" in line for line in told)
    assert any(line.endswith("NOT met") for line in told)
