"""Measures the speed of memorizing: × real time, first face box, first sentence, peak memory of the process tree."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk import events
from m3desk.bench.material import data, timed
from m3desk.desk import EngineDesk


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Memorize each file in a fresh memory; with `--llm` also write the knowledge (needs the language model)."""
    llm = "--llm" in args
    files = [Path(a) for a in args if not a.startswith("--")] or [data("video", "reel", "reel_shared.mp4")]
    return {"files": [_one(f, llm) for f in files]}


def _one(video: Path, llm: bool) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="m3desk-bench-"))
    try:
        memory = str(folder / "bench.m3desk")
        seconds, peak, out = timed(["memorize", str(video), "-m", memory, "--no-semantic", "--json"])
        report = json.loads(out)
        length = _length(memory)
        result: dict[str, Any] = {
            "file": video.name,
            "length": round(length, 2),
            "episodic": {
                "seconds": round(seconds, 1),
                "real_time": round(length / seconds, 2),
                "without_start": report["real_time"],
                "peak_pss_mb": round(peak / 1e6),
            },
            "clips": report["clips"],
            "people": report["people"],
        }
        if llm:
            more, peak, out = timed(["memorize", str(video), "-m", memory, "--json"])
            result["semantic"] = {
                "seconds": round(more, 1),
                "overall_real_time": round(length / (seconds + more), 2),
                "peak_pss_mb": round(peak / 1e6),
                "memories": json.loads(out)["memories"]["semantic"],
            }
        result["drop"] = _drop(video, str(folder / "drop.m3desk"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result


def _length(memory: str) -> float:
    from m3desk.bench.material import output

    return float(output("sources", "list", "-m", memory)[0]["duration"])


def _drop(video: Path, memory: str) -> dict[str, float | None]:
    """Time from giving a file to a running engine to the first face box and the first sentence, as the window hears of them."""
    seen: dict[str, float] = {}
    both = threading.Event()
    ready = threading.Event()

    def hear(event: Any) -> None:
        if isinstance(event, events.EngineReady):
            ready.set()
        if isinstance(event, events.EvidenceSeen) and event.faces:
            seen.setdefault("face", time.perf_counter())
        if isinstance(event, events.ClipCommitted):
            seen.setdefault("sentence", time.perf_counter())
            both.set()

    desk = EngineDesk(memory)
    desk.subscribe(hear)
    ready.wait(60)
    began = time.perf_counter()
    desk.memorize([str(video)])
    both.wait(180)
    desk.close()
    return {f"first_{name}_seconds": round(at - began, 2) for name, at in seen.items()}
