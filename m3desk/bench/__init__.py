"""Benchmarks: each measures the installed program from outside and returns one JSON document.

Material: `../shared/data` beside the checkout, or the folder `$M3DESK_BENCH_DATA`. Raises FileNotFoundError where it is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from m3desk.bench import wanted

_NAMES = {
    "speed": "memorize FILE (default: the reel): × real time, first face, first sentence, peak memory [FILE …] [--llm]",
    "profile": "where the time of a clip goes, stage by stage [FILE]",
    "reel": "on the reel: word error rate of the GRID sentences, scenes with their faces found, silent files silent",
    "kills": "kill memorize, import, forget, merge, repair N times (default 200): what is lost, what is left [N] [ROW …] [--keep DIR]",
    "questions": "twelve questions on three videos through `ask`: right, cited, absent ones refused [--llm]",
    "identity": "the figures on identity, row by row against their goals [ROW …] [--keep DIR]",
    "telling": "what memories of the test films tell: hand-written facts told, sentences true and meaningful [FILM|PART …] [--keep DIR]",
    "voices": "voices on material that no constant was chosen with, row by row [ROW …] [calibration] [N] [MODEL] [--keep DIR]",
    "constraints": "twenty corrections, three more files, another face model: broken constraints [MODEL] [--keep DIR]",
    "importing": "import M3-Agent graphs (default: the two real ones): seconds, peak memory of program and reader [FILE …] [embed]",
    "fused": "corrections that separate the fused characters of the real M3-Agent graphs, by a scripted user [GRAPH …]",
    "separating": "clicks that separate the fused characters of the real M3-Agent graphs in the window, by questions and by hand [GRAPH …]",
    "hostile": "hostile input until the minutes are over (default 10), one process a try: faults, time-outs, half-written memories "
    "[MINUTES] [commands texts media documents graphs] [--seed N] [--tries N]",
    "live_names": "known faces and voices of a live source: seconds until they are named, beside the memorizing [SCENES]",
    "bystanders": "bystander mode on films: seconds for which an approved person is blurred afterwards, others shown [FILM …]",
    "privacy": "the main jobs where every address leads here: lookups, connections, files outside of the own folders [FILE [SECONDS]]",
    "scale": "a commit at clip 5,000 against clip 10, a correction at 60,000 memories; invented clips [CLIPS]",
    "scale_search": "search at 1,000, 50,000 and 1,000,000 invented sentences: rounds, questions, memory [N …] [--keep DIR]",
    "scale_filter": "filtering the memories table of 100,000 invented sentences in the window [ROWS]",
    "scale_lancedb": "the index on disk of very large memories against brute force, at 1,000,000 vectors (half an hour) [N …]",
    "scale_opening": "opening a memory of 100,000 nodes in the window: an imported graph, multiplied [NODES] [GRAPH]",
    "scale_window": "what a commit costs the window at 160 and 2,000 invented clips [CLIPS …]",
    "live": "a live source (a film at real time, in a loop): seconds behind, memory, questions, kills, a still scene, forgetting "
    "[FILE] [course kills still forget perceive] [KILLS] [--minutes N] [--keep DIR] [--seed N]",
    "recording": "the recorder by itself: offset of sound and picture, share of a core, kills, faults of a stream and of the machine "
    "[offset cpu kills faults machine] [N] [--minutes M]",
    "live_window": "the window beside a live source (a film at real time) under Xvfb: intervals of its event loop [FILE] [SECONDS]",
    "gpu": "real architectures in full size with random weights on this machine's GPU: seconds a clip, tokens a second, peak memory "
    "--random-weights [--tiny] [ARCHITECTURE …]",
    "ui": "the window's views, row by row: frames, opening, growing, all at once, seeking, scrubbing, due pictures [ROW …]",
    "window": "the window playing and memorizing under Xvfb: longest stall, 99th percentile, first window [FILE]",
}


def names() -> dict[str, str]:
    """Return each benchmark's name and what it measures."""
    return dict(_NAMES)


def run(name: str, args: Sequence[str] = ()) -> dict[str, Any]:
    """Run one benchmark. Raises KeyError for an unknown name, UsageError for a wrong argument, FileNotFoundError without its material."""
    if name not in _NAMES:
        raise KeyError(name)
    wanted.check(name, args)
    measure: Callable[[Sequence[str]], dict[str, Any]] = import_module(f"m3desk.bench.{name}").measure
    return measure(args)


def lines(name: str, report: dict[str, Any]) -> list[str]:
    """Return a benchmark's report as people read it: its own lines where it has some, else the document."""
    own: Callable[[dict[str, Any]], list[str]] | None = getattr(import_module(f"m3desk.bench.{name}"), "lines", None)
    return own(report) if own else json.dumps(report, ensure_ascii=False, indent=1).splitlines()
