"""Measures search cost against memory size: search rounds, questions answered from the evidence, first loading; synthetic data.

A round is what a question does once: it is read against people, clips and times, and the eight best sentences are found by words, meaning,
persons and neighbours. The embedding of the query is not counted. `processor`: the same without waiting for other work on the machine.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import psutil

from m3desk.app import App
from m3desk.bench import invented, original
from m3desk.control.nearest import Nearest
from m3desk.control.search import Search
from m3desk.domain.evidence import Floats
from m3desk.errors import UsageError

SIZES = (1_000, 50_000, 1_000_000)
LEAST = 100
ROUNDS = 300
COMPARED = 50_000
"""Sentences at which the original's search is timed on the same vectors, in the same run."""

GOALS: dict[tuple[str, int], float] = {
    ("round", 1_000): 2, ("round", 50_000): 10, ("round", 1_000_000): 40, ("from_evidence", 50_000): 150,
    ("people_list", 50_000): 100, ("transcript_of_an_hour", 50_000): 100,
}  # fmt: skip
"""Milliseconds of the processor at the 99th percentile that a row at a number of sentences may take."""

TIMES_FASTER = 200
"""How many times as fast as the original a round is to be, at `COMPARED`."""

ASKED_OF = 100_000
"""Sentences up to which whole questions are asked."""

QUESTIONS = ("Who appears?", "How many people appear?", "What does {name} say?", "When is {name} seen?", "Who is {name}?")


class Meaning:
    """A text model that has an invented vector for every query, at once."""

    name, dimension, near = invented.MODEL, invented.DIMENSION, (0.86, 0.8)

    def __init__(self) -> None:
        self._vectors = invented.Invention(5).vectors(4_096)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        return self._vectors[[crc32(text.encode()) % len(self._vectors) for text in texts]]


class Backends:
    """Nothing but the invented text model."""

    problem = None

    def __init__(self) -> None:
        self._meaning = Meaning()

    def get(self, port: str) -> Any:
        return self._meaning if port == "text_vectors" else None


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Measure memories of these many sentences (default: 1,000, 50,000 and 1,000,000). `--keep FOLDER`: make and leave them there."""
    words, keep = list(args), None
    if "--keep" in words[:-1]:
        at = words.index("--keep")
        keep = Path(words[at + 1])
        words[at : at + 2] = []
    for w in words:
        if not (w.isascii() and w.isdecimal() and len(w) < 9 and int(w) >= LEAST):
            raise UsageError(f"scale_search has no use for “{w}”.", f"It takes numbers of sentences from {LEAST}, and --keep FOLDER.")
    return {"rows": rows([int(w) for w in words] or SIZES, keep)}


def rows(sizes: Sequence[int] = SIZES, keep: Path | None = None) -> list[dict[str, Any]]:
    """Return one document a size; times are milliseconds."""
    with tempfile.TemporaryDirectory(prefix="m3desk-scale-") as folder:
        return [_one(keep or Path(folder), size) for size in sizes]


def _one(folder: Path, size: int) -> dict[str, Any]:
    memory = folder / f"{size}.m3desk"
    if not memory.exists():
        invented.make(memory, size).close()
    before = psutil.Process().memory_info().rss
    with App(memory, backends=Backends()) as app:  # type: ignore[arg-type]
        first = _times(lambda: _searched(app), 1)
        found: dict[str, Any] = {"sentences": size, "first_question": first["median"], "first_question_processor": first["processor"]}
        with app.reader() as reader:
            search = app.answering.search(reader)
            asked = list(_queries(ROUNDS))
            for text in asked[:20]:
                search.hits(search.read(text), 8)
            found["round"] = _times(lambda text: search.hits(search.read(text), 8), asked)
            found["nearest_100_found"] = _recall(search)
            found["people_list"] = _times(lambda: reader.people(), 20)
            found["transcript_of_an_hour"] = _times(lambda: reader.speech("s1"), 20)
            if size == COMPARED:
                found |= _against_the_original(search, found["round"])
        found["memory_mb"] = round((psutil.Process().memory_info().rss - before) / 1e6)
        found["search_command"] = _times(lambda text: app.answering.search_nodes(text), asked[:100])
        if size <= ASKED_OF:
            found |= _questions(app)
    return found


def _against_the_original(search: Search, own: dict[str, float]) -> dict[str, Any]:
    """Time the original's round over the same sentences and vectors."""
    table, near = search.known.table, _in_memory(search)
    texts = [f"<face_{row % original.ENTITIES}> said {id_}." for row, id_ in enumerate(table.ids)]
    theirs = original.measured(texts, near.rows.data[: table.count], invented.Invention(6).vectors(3))
    return {"original": theirs, "times_faster": round(theirs["processor"] / own["processor"])}


def _searched(app: App) -> None:
    with app.reader() as reader:
        app.answering.search(reader)


def _questions(app: App) -> dict[str, Any]:
    asked = [q.format(name=name) for name in invented.NAMES[:8] for q in QUESTIONS]
    first = _times(lambda: list(app.answering.ask(asked[0])), 1)
    found: dict[str, Any] = {"first_from_evidence": first["median"], "from_evidence": _times(lambda q: list(app.answering.ask(q)), asked)}
    updates: list[float] = []

    def corrected(name: str) -> None:
        with app.reader() as reader:
            app.answering.search(reader).evidence  # noqa: B018 (as the thread that keeps up reads it)

    renamed = []
    for n, name in enumerate(invented.NAMES[:3]):
        app.write(lambda m, name=name, n=n: m.correct("name", {"person": name, "name": f"{name} {n}"}))  # type: ignore[misc]
        renamed.append(name)
        updates.append(_times(corrected, [name])["processor"])
    for n, name in enumerate(renamed):
        app.write(lambda m, name=name, n=n: m.correct("name", {"person": f"{name} {n}", "name": name}))  # type: ignore[misc]
    return found | {"brought_up_to_date": updates}


def _queries(count: int) -> list[str]:
    """Return invented queries: one to four words rare and frequent, in part with a person, a time or a thing."""
    dice = random.Random(4)
    found = []
    for _ in range(count):
        words = [invented.word(dice.choice([dice.randrange(30), dice.randrange(3000)])) for _ in range(dice.randint(1, 4))]
        if dice.random() < 0.3:
            words = ["what", "does", dice.choice(invented.NAMES), "say", "about", *words]
        if dice.random() < 0.1:
            words.append(dice.choice(["at 0:30", "clip 7", "after 50:00", "laptop", "kitchen"]))
        found.append(" ".join(words))
    return found


def _in_memory(search: Search) -> Nearest:
    near = search.known.nearest
    if not isinstance(near, Nearest):
        raise UsageError("this machine keeps the vectors of so many sentences on disk.", "Measure fewer.")
    return near


def _recall(search: Search) -> float:
    """Return the share of the 100 nearest rows, by comparing all, that search by meaning finds."""
    near, held = _in_memory(search), 0.0
    table = search.known.table
    vectors = invented.Invention(6).vectors(20)
    for vector in vectors:
        scores = np.vecdot(near.rows.data[: table.count], vector)
        scores[~near.has] = -2
        best = np.argpartition(scores, -min(100, len(scores)))[-100:]
        found = search.known.by_vector(vector, 100)
        held += len({table.ids[row] for row in best.tolist()} & {id_ for id_, _ in found}) / min(100, len(best))
    return round(held / len(vectors), 4)


def _times(call: Callable[..., object], asked: Sequence[str] | int) -> dict[str, float]:
    """Return the median and 99th percentile of calls, and the processor's part of both, in milliseconds."""
    wall, own = [], []
    for one in range(asked) if isinstance(asked, int) else asked:
        began, busy = time.perf_counter(), time.thread_time()
        call() if isinstance(asked, int) else call(one)
        wall.append(1000 * (time.perf_counter() - began))
        own.append(1000 * (time.thread_time() - busy))
    return {
        "median": round(statistics.median(wall), 2), "p99": round(float(np.percentile(wall, 99)), 2),
        "processor": round(statistics.median(own), 2), "processor_p99": round(float(np.percentile(own, 99)), 2),
    }  # fmt: skip


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them, each with its goal where it has one."""
    told = []
    for r in report["rows"]:
        size = r["sentences"]
        told.append(f"{size:,} sentences: {r['memory_mb']} MB; of the 100 nearest, {100 * r['nearest_100_found']:.2f} % found")
        for name in ("round", "search_command", "from_evidence", "people_list", "transcript_of_an_hour"):
            if name in r:
                t = r[name]
                told.append(
                    f"  {name.replace('_', ' ')}: median {t['median']} ms, 99th percentile {t['p99']} ms "
                    f"(processor {t['processor']}, {t['processor_p99']}){_against(t['processor_p99'], GOALS.get((name, size)))}"
                )
        if "original" in r:
            held = "reached" if r["times_faster"] >= TIMES_FASTER else "missed"
            told.append(
                f"  a round of the original on the same vectors: {r['original']['median']} ms (processor {r['original']['processor']}): "
                f"{r['times_faster']} × as long; goal {TIMES_FASTER} ×, {held}"
            )
        told.append(
            f"  read by the first question: {r['first_question'] / 1000:.1f} s (processor {r['first_question_processor'] / 1000:.1f} s)"
        )
        if "brought_up_to_date" in r:
            told.append(f"  brought up to date after renaming somebody: {max(r['brought_up_to_date'])} ms of the processor")
    return told


def _against(figure: float, goal: float | None) -> str:
    return "" if goal is None else f"; goal {goal:g} ms, {'reached' if figure <= goal else 'missed'}"
