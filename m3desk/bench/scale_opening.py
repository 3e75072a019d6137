"""Measures the opening of a large memory (a multiplied M3-Agent import) in the real window until people and graph are visible.

Each figure is seconds from the start of the command `m3desk open`. The processor's time is of that process; by the clock the engine's
process takes part, and on a busy machine whatever else runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from m3desk.app import App
from m3desk.bench.importing import GRAPHS
from m3desk.bench.material import RunFailed, data
from m3desk.bench.window import screen
from m3desk.domain.clip import Clip
from m3desk.domain.evidence import FaceTrack, Utterance
from m3desk.domain.ids import clip_id, numbered_id
from m3desk.domain.imported import ForeignGraph, ForeignNode, ForeignText
from m3desk.errors import UsageError
from m3desk.store.memory import Memory

NODES = 100_000
PROGRAM = """
import time
began = time.perf_counter()
import json, os, sys
from m3desk.cli import main, window
moments, window_module = {}, window.window_module
def watched():
    launch = window_module()
    from m3desk_ui.window import opening_probe
    opening_probe.watch(began, moments)
    return launch
window.window_module = watched
main(["open", sys.argv[1]])
print(json.dumps(moments), flush=True)
os._exit(0)
"""
"""Runs `m3desk open`; nothing is loaded before the window that the command does not load itself."""

GOAL = 2.0
"""Seconds until people and graph are shown."""


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Open a memory of so many nodes (`args`: the number, default 100,000; a graph to multiply). Needs Xvfb, else it draws nowhere."""
    numbers = [a for a in args if a.isdecimal()]
    files = [Path(a) for a in args if not a.isdecimal()] or [data(GRAPHS[0])]
    if len(numbers) > 1 or len(files) > 1 or not files[0].is_file():
        raise UsageError("scale_opening takes a number of nodes and an M3-Agent graph.", "For example: m3desk bench scale_opening 100000")
    with tempfile.TemporaryDirectory(prefix="m3desk-opening-") as folder:
        path = Path(folder) / "large.m3desk"
        count = make(path, files[0], int(numbers[0]) if numbers else NODES)
        return {"goal_s": GOAL, "nodes": count, **_opened(path, Path(folder))}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    first = max(report["people"][1], report["graph"][1])
    told = [f"{report['nodes']} nodes, seconds from the start: processor (by the clock)"]
    told += [f"{name}: {report[name][1]:.2f} ({report[name][0]:.2f})" for name in ("window", "people", "graph")]
    return [*told, f"to the first useful picture {first:.2f} s, goal ≤ {GOAL:g} s: {'met' if first <= GOAL else 'NOT met'}"]


def make(path: Path, file: Path, nodes: int) -> int:
    """Write a memory of at least so many nodes: the graph again and again, one after the other in time, each with people of its own."""
    graph = App.read_graph(file).graph
    each = len(graph.nodes) + len(graph.texts)
    copies = -(-nodes // each)
    with Memory.create(path) as memory:
        memory.adopt(multiplied(graph, copies))
    return each * copies


def multiplied(graph: ForeignGraph, copies: int) -> ForeignGraph:
    """Return a graph that holds another so many times. Pictures and sounds are shared; embeddings are left out."""
    made = [_copy(graph, n) for n in range(copies)]

    def all_of(name: str) -> tuple[Any, ...]:
        return tuple(x for g in made for x in getattr(g, name))

    return replace(
        made[0],
        source=replace(graph.source, duration=graph.clips[-1].end * copies),
        clips=all_of("clips"), faces=all_of("faces"), utterances=all_of("utterances"), nodes=all_of("nodes"), texts=all_of("texts"),
        bindings={o: node for g in made for o, node in g.bindings.items()}, votes=all_of("votes"), links=all_of("links"), vectors=(),
    )  # fmt: skip


def _copy(graph: ForeignGraph, n: int) -> ForeignGraph:
    """Return the n-th copy: later by n times the length, with ids of its own."""
    numbers = 1 + max([x.number for x in graph.nodes] + [x.number for x in graph.texts])
    persons = 1 + max((x.person for x in graph.nodes), default=0)
    after = graph.clips[-1].end * n
    clips = {c.id: clip_id(c.source, c.index + n * len(graph.clips)) for c in graph.clips}
    observations: tuple[FaceTrack | Utterance, ...] = (*graph.faces, *graph.utterances)
    seen = {o.id: clips[o.clip] + o.id.removeprefix(o.clip) for o in observations}
    nodes: tuple[ForeignNode | ForeignText, ...] = (*graph.nodes, *graph.texts)
    ids = {x.id: numbered_id(_kind(x), x.number + n * numbers) for x in nodes}

    def clip(c: Clip) -> Clip:
        return replace(c, id=clips[c.id], index=c.index + n * len(graph.clips), start=c.start + after, end=c.end + after)

    def face(f: FaceTrack) -> FaceTrack:
        boxes = tuple(replace(b, at=b.at + after) for b in f.boxes)
        return replace(f, id=seen[f.id], clip=clips[f.clip], start=f.start + after, end=f.end + after, boxes=boxes, continues=None)

    def speech(u: Utterance) -> Utterance:
        words = tuple(replace(w, start=w.start + after, end=w.end + after) for w in u.words)
        return replace(u, id=seen[u.id], clip=clips[u.clip], start=u.start + after, end=u.end + after, words=words)

    def text(t: ForeignText) -> ForeignText:
        said = t.sentence
        spans = tuple(replace(s, observations=_named(s.observations, seen)) for s in said.spans)
        told = replace(said, start=said.start + after, end=said.end + after, spans=spans, citations=_named(said.citations, seen))
        return replace(t, number=t.number + n * numbers, clip=clips[t.clip], sentence=told)

    return replace(
        graph,
        clips=tuple(map(clip, graph.clips)), faces=tuple(map(face, graph.faces)), utterances=tuple(map(speech, graph.utterances)),
        nodes=tuple(replace(x, number=x.number + n * numbers, person=x.person + n * persons, clip=clips[x.clip]) for x in graph.nodes),
        texts=tuple(map(text, graph.texts)), bindings={seen[o]: ids[node] for o, node in graph.bindings.items()},
        votes=tuple(replace(v, a=seen.get(v.a, v.a), b=seen.get(v.b, v.b), clip=clips[v.clip]) for v in graph.votes),
        links=tuple((ids.get(a, a), ids.get(b, b)) for a, b in graph.links),
    )  # fmt: skip


def _kind(x: ForeignNode | ForeignText) -> str:
    return x.type if isinstance(x, ForeignNode) else x.sentence.kind


def _named(observations: Iterable[str], now: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(now[o] for o in observations)


def _opened(path: Path, folder: Path) -> dict[str, Any]:
    """Open a memory in a window of its own process, on a virtual screen where there is one; return (clock, processor) of each moment."""
    env = {**os.environ, "M3DESK_DATA": str(folder / "data"), "M3DESK_CONFIG": str(folder / "config.toml")}
    xvfb = None
    if not env.get("DISPLAY") and not env.get("QT_QPA_PLATFORM"):
        xvfb, env["DISPLAY"] = screen()
    try:
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], env=env, capture_output=True, text=True, check=False)
    finally:
        if xvfb is not None:
            xvfb.terminate()
    if done.returncode:
        raise RunFailed("the window", done.returncode, done.stderr[-500:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
