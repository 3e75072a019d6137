"""Measures the real graph widget on invented graphs: frames while it moves, slices at rest, how far nodes move. For the benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from m3desk.domain.ids import person_id
from m3desk_ui import launch
from m3desk_ui.graph.canvas import GraphCanvas
from m3desk_ui.graph.scene import Scene, SceneNode
from m3desk_ui.look import theme

SIZE = (1500, 920)
KINDS = ("episodic", "episodic", "episodic", "semantic", "object")
FRAMES = 240


def invented(nodes: int, links: int, seed: int = 1) -> tuple[Scene, NDArray[np.float64]]:
    """Return a scene like a long memory's (clips one after the other, people who recur), and places as a settled layout has them."""
    rng = np.random.default_rng(seed)
    people = max(4, nodes // 100)
    clips = max(4, nodes // 40)
    rows = [SceneNode(person_id(i + 1), "person", f"Person {i + 1}", "", 4.0, person=person_id(i + 1)) for i in range(people)]
    rows += [SceneNode(f"n{i}", KINDS[i % 5], f"something happens {i}", "", 1.0) for i in range(nodes - people)]
    side = 14.0 * nodes**0.5
    middle = rng.uniform(-side, side, (clips, 2))
    clip = rng.integers(0, clips, nodes)
    at = middle[clip] + rng.normal(0, side / clips**0.5 * 0.35, (nodes, 2))
    a = rng.integers(people, nodes, links)
    by_clip = np.argsort(clip, kind="stable")
    first, count = np.searchsorted(clip[by_clip], np.arange(clips)), np.bincount(clip, minlength=clips)
    b = by_clip[first[clip[a]] + (rng.random(links) * count[clip[a]]).astype(int)]
    told = rng.random(links) < 0.3
    b[told] = (clip[a][told] + rng.integers(0, 4, int(told.sum()))) % people
    ends = np.stack([a, b], axis=1).astype(np.int32)
    scene = Scene(
        tuple(rows), ends, rng.uniform(0.5, 4, links).astype(np.float32), np.zeros(links, np.int8), np.zeros(nodes, np.int32),
        {n.id: i for i, n in enumerate(rows)}, nodes,
    )  # fmt: skip
    return scene, at


def frames(nodes: int, links: int) -> dict[str, float]:
    """Pan and zoom a canvas in a window of its own; return milliseconds a frame and at rest (`_cpu`: of the thread's processor)."""
    app = launch.make_app()
    theme.apply(app, "light")
    canvas = GraphCanvas()
    canvas.resize(*SIZE)
    scene, at = invented(nodes, links)
    canvas.show_scene(scene, at)
    canvas.show()
    _until(lambda: canvas.at_rest, 60)
    took: dict[str, list[tuple[float, float]]] = {"pan": [], "zoom": []}
    for number in range(FRAMES):
        kind = "pan" if number % 60 < 30 else "zoom"
        if kind == "pan":
            canvas.pan_by(*(9.0 if number % 120 < 60 else -9.0, 4.0))
        else:
            canvas.zoom_by(1.05 if number % 120 < 60 else 1 / 1.05)
        clock, own = time.perf_counter(), time.thread_time()
        canvas.repaint()
        took[kind].append(((time.perf_counter() - clock) * 1e3, (time.thread_time() - own) * 1e3))
    canvas.slice_times.clear()
    began = time.perf_counter()
    _until(lambda: canvas.at_rest, 60)
    rest = time.perf_counter() - began
    canvas.paint_times.clear()
    clock, own = time.perf_counter(), time.thread_time()
    canvas.repaint()
    still = ((time.perf_counter() - clock) * 1e3, (time.thread_time() - own) * 1e3)
    canvas.close()
    all_ = np.array(took["pan"][5:] + took["zoom"][5:])
    found = {"nodes": nodes, "links": links, "load": round(_load(), 1)}
    for column, end in ((0, "_ms"), (1, "_cpu_ms")):
        found[f"median{end}"] = round(float(np.median(all_[:, column])), 2)
        found[f"p95{end}"] = round(float(np.percentile(all_[:, column], 95)), 2)
        found[f"still{end}"] = round(still[column], 2)
    slices = np.array(canvas.slice_times or [(0.0, 0.0)])
    longest, longest_cpu = slices.max(axis=0).round(2).tolist()
    return found | {"slices": len(slices), "slice_ms": longest, "slice_cpu_ms": longest_cpu, "sharp_after_ms": round(rest * 1e3)}


def _load() -> float:
    import os

    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _until(done: Callable[[], bool], seconds: float) -> None:
    """Run the event loop until it is so, or give up."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        loop = QEventLoop()
        QTimer.singleShot(5, loop.quit)
        loop.exec()
    QApplication.processEvents()
