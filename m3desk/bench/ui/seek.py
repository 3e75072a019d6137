"""Measures any seek in any film: how long the window's controls are dead, when the first useful and when the exact picture comes.

Sixteen films are made for it (`films`), the others are of the shared material. Each is sought forward, far on, back and to its middle.
"""

from __future__ import annotations

import json
import tempfile
from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.bench.material import data
from m3desk.bench.ui import films, on_screen

SHARES = (0.62, 0.97, 0.05, 0.5)
REAL = (
    ("webrtc_two_men", "vp9_webrtc_2.webm"),
    ("tos", "tears_of_steel_16s.webm"),
    ("vrt", "vrt_3.mp4"),
    ("obama", "obama_speech.mp4"),
    ("mie", "sample-video.mp4"),
    ("hamilton", "short_hamilton_clip.mp4"),
)
DEAD, FIRST = 100.0, 2.0
"""Goals: milliseconds that the controls are dead at most, and seconds until the first useful picture."""
SIZE = (280, 160)
SAME = 1.0
"""Mean difference in brightness up to which two pictures are one: they are shrunk in two ways."""


def measure() -> dict[str, Any]:
    """Return what each seek took, and whether the exact picture came."""
    with tempfile.TemporaryDirectory(prefix="m3desk-seek-") as folder:
        place = Path(folder)
        others = _real()
        all_ = [films.make(place, recipe) for recipe in films.RECIPES] + [film for film, _ in others]
        rows: list[dict[str, Any]] = []
        for film in all_:
            targets = [round(share * film.times[-1]) for share in SHARES]
            expected = [film.times[max(0, bisect_right(film.times, at) - 1)] for at in targets]
            rows.append({
                "path": str(film.path), "what": film.what, "stop": "one key frame" in film.what,
                "targets": [{"at": at, "expected": e} for at, e in zip(targets, expected, strict=True)],
            })  # fmt: skip
        (place / "films.json").write_text(json.dumps(rows))
        found: dict[str, Any] = on_screen.run("m3desk_ui.video.probe", "seek", folder)
        for number, (film, asked, row) in enumerate(zip(all_, rows, found["films"], strict=True)):
            pictures = [np.load(place / f"{number}-{k}.npy") for k in range(len(SHARES))]
            decoded = next((whole for other, whole in others if other is film), [])
            right = _right(film, [t["expected"] for t in asked["targets"]], pictures, decoded)
            for seek, good in zip(row["seeks"], right, strict=True):
                seek["exact"] = seek["came"] and good
    seeks = [s for row in found["films"] for s in row["seeks"]]
    found |= {
        "seeks": len(seeks),
        "exact": sum(s["exact"] for s in seeks),
        "first_s": max(s["first_s"] for s in seeks),
        "first_cpu_s": max(s["first_cpu_s"] for s in seeks),
        "goal_ms": DEAD,
        "goal_first_s": FIRST,
    }
    met = found["loop"]["ready_longest"] <= DEAD and found["first_cpu_s"] <= FIRST and found["exact"] == len(seeks)
    return found | {"met": met}


def _real() -> list[tuple[films.Film, list[Any]]]:
    """Return the films of the shared material that are there, and their pictures."""
    there = []
    for parts in REAL:
        try:
            there.append(films.real(data("video", *parts), SIZE))
        except FileNotFoundError:
            continue
    return there


def _right(film: films.Film, expected: list[int], shown: list[Any], decoded: list[Any]) -> list[bool]:
    """Return of each picture on the screen whether it is the one of that time: by its number, else as decoded from the beginning."""
    numbers = [film.times.index(at) for at in expected]
    if film.numbered:
        return [films.number_of(np.rot90(p, film.turns)) == n for p, n in zip(shown, numbers, strict=True)]
    right = []
    for picture, number in zip(shown, numbers, strict=True):
        beside = range(max(0, number - 1), min(len(decoded), number + 2))
        away = {n: float(np.abs(decoded[n].astype(int) - picture).mean()) for n in beside}
        right.append(away[number] <= min(away.values()) + SAME)
    return right


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    r, loop = report, report["loop"]
    told = [
        f"{len(r['films'])} films, {r['seeks']} seeks, load {r['load']}: the exact picture came {r['exact']} times",
        f"controls dead: longest interval of the event loop {loop['clock_longest']} ms by the clock, {loop['ready_longest']} ms without "
        f"waiting for a core, {loop['own_longest']} ms of the thread's processor; goal ≤ {DEAD:g} ms",
        f"first useful picture after at most {r['first_cpu_s']} s of the processor ({r['first_s']} s by the clock), goal ≤ {FIRST:g} s",
    ]
    for row in r["films"]:
        wrong = [s for s in row["seeks"] if not s["exact"]]
        first, exact = (max(s[k] for s in row["seeks"]) for k in ("first_cpu_s", "exact_cpu_s"))
        first_clock, exact_clock = (max(s[k] for s in row["seeks"]) for k in ("first_s", "exact_s"))
        line = (
            f"{row['what']}: first {first} ({first_clock}), exact {exact} ({exact_clock}) s; loop {row['loop']['ready_longest']} "
            f"({row['loop']['clock_longest']}) ms"
        )
        if row["stopped_s"] is not None:
            line += f"; stopped on the way within {row['stopped_s']} s by the clock"
        told.append(line + (f"; WRONG: {[(s['at'], s['got']) for s in wrong]}" if wrong else ""))
    return told
