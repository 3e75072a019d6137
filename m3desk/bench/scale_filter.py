"""Measures the filter of the memories table over 100,000 invented sentences: in the window's own view, until it is painted.

Milliseconds of the processor, of the thread that paints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from m3desk.bench import invented
from m3desk.bench.material import RunFailed
from m3desk.bench.window import screen
from m3desk.domain.ids import clip_id, numbered_id, person_id, source_id
from m3desk.domain.memory import StoredSentence
from m3desk.errors import UsageError

ROWS = 100_000
GOAL = 50.0
"""Milliseconds at the 95th percentile of all filters, painting included."""

WORDS = ("someone", "Ann", "bababa", invented.word(3), invented.word(40), invented.word(900), "comes view", f"says {invented.word(7)}")
"""In most sentences, in some, in few, in none; two words."""


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Filter so many rows (`args`; else 100,000). Needs Xvfb, else it draws nowhere."""
    if len(args) > 1 or not all(a.isascii() and a.isdecimal() and 0 < int(a) < 10**7 for a in args):
        raise UsageError("scale_filter takes a number of rows.", "For example: m3desk bench scale_filter 100000")
    env, xvfb = dict(os.environ), None
    if not env.get("DISPLAY") and not env.get("QT_QPA_PLATFORM"):
        xvfb, env["DISPLAY"] = screen()
    try:
        program = "from m3desk.bench import scale_filter; scale_filter.inside()"
        command = [sys.executable, "-c", program, args[0] if args else str(ROWS)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    finally:
        if xvfb is not None:
            xvfb.terminate()
    if done.returncode:
        raise RunFailed("the window", done.returncode, done.stderr[-500:])
    return {"goal_ms": GOAL, **_summed(json.loads(done.stdout.splitlines()[-1]))}


def _summed(found: dict[str, Any]) -> dict[str, Any]:
    kinds: dict[str, list[tuple[float, float]]] = {}
    for what, _, filtered, painted in found["filters"]:
        kinds.setdefault(what, []).append((filtered, painted))
        kinds.setdefault("all", []).append((filtered, painted))
    return {
        "rows": found["rows"],
        "milliseconds": {
            what: {
                "filters": len(took),
                "median": round(float(np.median([p for _, p in took])), 1),
                "p95": round(float(np.percentile([p for _, p in took], 95)), 1),
                "longest": max(p for _, p in took),
                "without_painting_p95": round(float(np.percentile([f for f, _ in took], 95)), 1),
            }
            for what, took in kinds.items()
        },
    }


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    told = [f"{report['rows']:,} rows; milliseconds of the processor: median, 95th percentile, longest (without painting: 95th percentile)"]
    for what, t in report["milliseconds"].items():
        told.append(f"  {what} ({t['filters']}): {t['median']}, {t['p95']}, {t['longest']} ({t['without_painting_p95']})")
    found = report["milliseconds"]["all"]["p95"]
    return [*told, f"95th percentile {found} ms, goal ≤ {GOAL:g} ms: {'met' if found <= GOAL else 'NOT met'}"]


def inside() -> None:
    """Measure, in the window's process; print one JSON line."""
    from m3desk_ui.window import filter_probe

    rows, names = sentences(int(sys.argv[1]))
    print(json.dumps(filter_probe.measure(rows, names, WORDS)), flush=True)
    os._exit(0)


def sentences(count: int) -> tuple[list[StoredSentence], dict[str, str]]:
    """Return invented sentences as a memory gives them back, and the names of the people in them."""
    invention = invented.Invention(9)
    names = {person_id(n): name for n, name in enumerate(invented.NAMES, 1)}
    rows = []
    draws = invention.random.random((count, 3))
    for n, (who, what, length) in enumerate(draws.tolist()):
        number = 1 + int(who * len(names))
        said = " ".join(invention.said(4 + int(9 * length)))
        text = (
            f"someone says: “{said}”" if what < 0.7 else "someone comes into view." if what < 0.85 else f"someone often speaks of {said}."
        )
        kind = "semantic" if what >= 0.85 else "episodic"
        source, start = 1 + n // 10_000, n % 10_000 * 3_000_000
        rows.append(
            StoredSentence(
                numbered_id(kind, n + 1), kind, text, names[person_id(number)] + text[7:], text,
                clip_id(source_id(source), n % 10_000 // 10), source_id(source),
                start, start + 2_000_000, 1.0 + n % 3, (person_id(number),), topic="habit" if kind == "semantic" else None,
            )
        )  # fmt: skip
    return rows, names
