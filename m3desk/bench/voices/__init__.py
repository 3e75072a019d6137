"""Measures how well voices are distinguished, on material that was not used to choose any constant; each row has a goal.

Sound is heard and remembered in this process by the engine itself, with the cuts of the pictures and nothing else of them, but for the
row `links`, which runs the installed program. What models say is kept in a temporary folder between runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from m3desk.backends import EMBEDDED, available
from m3desk.bench.voices import division
from m3desk.bench.voices.rows import CALIBRATION, ROWS, Bench
from m3desk.errors import UsageError


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Measure rows (all without a name). `calibration`: on the other side of the division. A number: so many simulated conversations (200).

    `--keep DIR`: memories of `links` stay there. The name of a voice model: with that one, but for `links`. Raises UsageError for an
    unknown word.
    """
    words = list(args)
    kept = Path(words.pop(at + 1)) if (at := words.index("--keep") if "--keep" in words else -1) >= 0 else None
    words = [w for w in words if w != "--keep"]
    models = [w for w in words if w in available("voice_vectors")]
    voices = models[-1] if models else EMBEDDED["voice_vectors"]
    calibrating = "calibration" in words
    known = CALIBRATION if calibrating else ROWS
    numbers = [int(w) for w in words if w.isascii() and w.isdigit() and 0 < len(w) < 5]
    names = [w for w in words if w != "calibration" and not w.isdigit() and w not in models]
    if unknown := [w for w in names if w not in known]:
        raise UsageError(f"there is no row “{unknown[0]}”.", f"There are: {', '.join(known)}.")
    with Bench(calibrating, max(1, numbers[-1]) if numbers else 200, kept, voices) as bench:
        rows = {name: _timed(known[name], bench) for name in (names or known)}
    return {
        "ok": all(r["ok"] for r in rows.values()), "side": "calibration" if calibrating else "validation", "division": division.told(),
        "model": voices, "rows": rows,
    }  # fmt: skip


def lines(report: dict[str, Any]) -> list[str]:
    """Return the division, then the goals row by row, reached or not."""
    told = [f"Measured: {report['side']}; voices by {report['model']}."]
    for side, parts in report["division"].items():
        told.append(f"{side}: {'; '.join(parts)}")
    for name, row in report["rows"].items():
        told.append(f"{name}: {'reached' if row['ok'] else 'not reached'} ({row['seconds']:.0f} s processor)")
        told += [f"  {'✓' if g['reached'] else '✗'} {g['what']}: {g['figure']} (goal {g['goal']})" for g in row["goals"]]
    return told


def _timed(row: Callable[[Bench], dict[str, Any]], bench: Bench) -> dict[str, Any]:
    began = time.process_time()
    found = row(bench)
    goals = [_judged(*g) for g in found.pop("goals")]
    return {"ok": all(g["reached"] for g in goals), "goals": goals, **found, "seconds": round(time.process_time() - began, 1)}


def _judged(what: str, figure: float | None, way: str, goal: float) -> dict[str, Any]:
    reached = figure is not None and {">=": figure >= goal, "<=": figure <= goal, "==": figure == goal}[way]
    return {"what": what, "figure": figure, "goal": f"{way} {goal:g}", "reached": reached}
