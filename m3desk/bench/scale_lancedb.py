"""Measures the index on disk of very large memories (LanceDB) against brute force, on vectors shaped like those of real sentences.

Sentences of LoCoMo conversations are embedded; a vector is one of them with noise of the same covariance, so that mean, covariance and
neighbourhoods are those of real sentences. It is asked with LoCoMo's questions. Times are of the processor: of all threads.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from m3desk import models
from m3desk.backends import Backends
from m3desk.bench.material import data
from m3desk.control.nearest import Nearest
from m3desk.domain.evidence import Floats
from m3desk.domain.ids import numbered
from m3desk.errors import ModelMissing, UsageError
from m3desk.store.index.scratch import room
from m3desk.store.index.vectors import VectorIndex

COUNT = 1_000_000
LEAST = 10_000
MATERIAL = ("memory", "locomo", "locomo7.json")
MODEL = "shaped like e5 1"
REAL = 1_500
"""Sentences that are embedded."""

ASKED = 100
NEAREST = 20
_BATCH = 10_000
_OWN = 0.5
"""The share of the variance that is a vector's own, not its sentence's."""


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Measure at these many vectors (default: 1,000,000, which takes half an hour of the processor)."""
    for a in args:
        if not (a.isascii() and a.isdecimal() and LEAST <= int(a) < 10**8):
            raise UsageError(f"scale_lancedb has no use for “{a}”.", f"It takes numbers of vectors from {LEAST}.")
    sentences, questions = _embedded()
    rows = []
    for count in [int(a) for a in args] or [COUNT]:
        with tempfile.TemporaryDirectory(prefix="m3desk-lancedb-") as folder:
            rows.append(_one(Path(folder), count, sentences, questions))
    return {"rows": rows}


def _embedded() -> tuple[Floats, Floats]:
    """Return the vectors of sentences and of questions. Raises ModelMissing, FileNotFoundError."""
    text_vectors = Backends(models.weights).get("text_vectors")
    if text_vectors is None:
        raise ModelMissing("the model of sentences is not installed.", "m3desk models list")
    said, asked = [], []
    for row in json.loads(data(*MATERIAL).read_text("utf-8")):
        spoken = [
            turn for name, part in row["conversation"].items() if name.startswith("session_") and isinstance(part, list) for turn in part
        ]
        said += [f"{turn['speaker']} says: “{turn['text']}”" for turn in spoken]
        asked += [q["question"] for q in row["qa"]]
    texts, wanted = list(dict.fromkeys(said)), list(dict.fromkeys(asked))
    return (
        text_vectors.embed(texts[:: max(1, len(texts) // REAL)][:REAL]),
        text_vectors.embed(wanted[:: max(1, len(wanted) // ASKED)][:ASKED], query=True),
    )


def shaped(count: int, real: Floats, seed: int = 3) -> Iterator[tuple[int, Floats]]:
    """Yield the first number and unit rows of vectors with the mean, covariance and neighbourhoods of real ones, thousands at a time."""
    random = np.random.default_rng(seed)
    mean = real.mean(axis=0)
    own = (real - mean) / np.float32(np.sqrt(len(real)))  # normal numbers times these have the covariance of the real ones
    _, size, axes = np.linalg.svd(own, full_matrices=False)
    spread = np.asarray(size[:, None] * axes, np.float32)
    for at in range(0, count, _BATCH):
        n = min(_BATCH, count - at)
        noise = random.standard_normal((n, len(spread)), dtype=np.float32) @ spread
        rows = mean + np.sqrt(1 - _OWN) * (real[random.integers(0, len(real), n)] - mean) + np.sqrt(_OWN) * noise
        yield at, np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _one(folder: Path, count: int, sentences: Floats, questions: Floats) -> dict[str, Any]:
    db = sqlite3.connect(folder / "embeddings.sqlite")
    db.executescript(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE commits (sequence INTEGER PRIMARY KEY, kind);"
        "CREATE TABLE embedding (owner, kind, model, n, d, vectors, sequence)"
    )
    for at, rows in shaped(count, sentences):
        made = [(f"episodic_{n}", "text", MODEL, 1, len(row), row.tobytes(), 1) for n, row in enumerate(rows, at)]
        db.executemany("INSERT INTO embedding VALUES (?, ?, ?, ?, ?, ?, ?)", made)
    db.commit()
    began, busy = time.perf_counter(), time.process_time()
    own = Nearest.of(count, ((range(at, at + len(rows)), rows) for at, rows in shaped(count, sentences)), partial(room, folder))
    found: dict[str, Any] = {"vectors": count, "brute_force_loaded": _since(began, busy)}
    whole, everywhere = own.rows.data[:count], np.ones(count, np.bool_)
    best, took = _asked(lambda q: _nearest(np.arange(count), np.vecdot(whole, q)), questions)
    found["all_compared"] = took | {"recall": 1.0}
    first, took = _asked(lambda q: _nearest(*own.near(q, NEAREST, everywhere)), questions)
    found["first_pass_then_in_full"] = took | {"recall": _recall(first, best)}
    index = VectorIndex(folder / "vectors")
    began, busy = time.perf_counter(), time.process_time()
    index.sync(db, MODEL)
    found["lancedb_built"] = _since(began, busy)
    found["lancedb_mb"] = round(sum(p.stat().st_size for p in index.folder.rglob("*") if p.is_file()) / 1e6)
    graph, took = _asked(lambda q: {numbered(owner) for owner in index.near(q, NEAREST) or ()}, questions)
    found["lancedb"] = took | {"recall": _recall(graph, best)}
    db.close()
    return found


def _since(began: float, busy: float) -> dict[str, float]:
    return {"seconds": round(time.perf_counter() - began, 1), "processor_seconds": round(time.process_time() - busy, 1)}


def _nearest(rows: Any, scores: Any) -> set[int]:
    return set(rows[np.argpartition(scores, -NEAREST)[-NEAREST:]].tolist())


def _recall(found: Sequence[set[int]], best: Sequence[set[int]]) -> float:
    return round(sum(len(f & b) for f, b in zip(found, best, strict=True)) / (NEAREST * len(best)), 4)


def _asked(near: Callable[[Floats], set[int]], questions: Floats) -> tuple[list[set[int]], dict[str, float]]:
    """Return what is nearest to each question, and milliseconds of the processor: median and 99th percentile."""
    near(questions[0])
    found, took = [], []
    for q in questions:
        busy = time.process_time()
        found.append(near(q))
        took.append(1000 * (time.process_time() - busy))
    return found, {"processor": round(statistics.median(took), 1), "processor_p99": round(float(np.percentile(took, 99)), 1)}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    told = []
    for r in report["rows"]:
        built = r["lancedb_built"]
        told += [f"{r['vectors']:,} vectors; a query's ms of the processor (median, 99th percentile), recall of the {NEAREST} nearest:"]
        for name in ("all_compared", "first_pass_then_in_full", "lancedb"):
            t = r[name]
            told.append(f"  {name.replace('_', ' ')}: {t['processor']}, {t['processor_p99']}; {100 * t['recall']:.1f} %")
        told.append(f"  LanceDB's build: {built['processor_seconds']} s of the processor, {built['seconds']} s; {r['lancedb_mb']} MB")
    return told
