"""Measures the import of an M3-Agent graph: seconds and peak memory of the program and of the child that reads the file."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk.bench.material import RunFailed, data

GRAPHS = ("pickles/kitchen_03.rebuilt.pkl.gz", "pickles/living_room_06.rebuilt.pkl.gz")

_RUN = """
import json, resource, sys, time
began = time.perf_counter()
from pathlib import Path
from m3desk.app import App
graph = App.read_graph(Path(sys.argv[1]))
read = time.perf_counter()
with App(sys.argv[2]) as app:
    report = app.import_read(graph)
    written = time.perf_counter()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    busy = time.process_time()
    embedded = app.embed_lacking() if sys.argv[3:] else 0
    done, busy = time.perf_counter(), time.process_time() - busy
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps({
    "nodes": report["nodes"], "edges": report["edges"], "seconds": round(written - began, 2), "reading_seconds": round(read - began, 2),
    "processor_seconds": round(sum(u.ru_utime + u.ru_stime for u in used), 2),
    "peak_mb": round(used[0].ru_maxrss * unit / 1e6, 1), "child_peak_mb": round(report["reader_peak_bytes"] / 1e6, 1),
    **({
        "embedded": embedded, "embedding_seconds": round(done - written, 1), "embedding_processor_seconds": round(busy, 1),
    } if sys.argv[3:] else {}),
}))
"""
"""The program as `m3desk import` runs it: start, read, write. Embedding the sentences comes after, and is not part of `seconds`: from
then on they are found by their words, and by meaning 256 at a time."""


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Import graphs (default: both real ones) into new memories; with the word `embed` also time embedding their sentences."""
    embed = ["embed"] if "embed" in args else []
    files = [Path(a) for a in args if a != "embed"] or [data(g) for g in GRAPHS]
    found = {}
    for file in files:
        with tempfile.TemporaryDirectory(prefix="m3desk-import-") as folder:
            command = [sys.executable, "-c", _RUN, str(file), str(Path(folder) / "m.m3desk"), *embed]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RunFailed(f"import of {file.name}", done.returncode, done.stderr)
            found[file.name] = json.loads(done.stdout.splitlines()[-1])
    return found
