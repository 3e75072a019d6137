"""Measures the real graph widget on invented graphs: frames while it moves, slices at rest, how far nodes move. For the benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from m3desk.domain.changed import Edge
from m3desk.domain.graph import NodeRow
from m3desk.domain.ids import person_id
from m3desk.domain.people import Person
from m3desk_ui import launch
from m3desk_ui.graph.canvas import GraphCanvas
from m3desk_ui.graph.scene import CODES, Scene, SceneNode
from m3desk_ui.graph.view import GraphView
from m3desk_ui.graph.whole import Part
from m3desk_ui.hub.bridge import Hub
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
        {n.id: i for i, n in enumerate(rows)}, np.array([CODES.index(n.kind) for n in rows], np.int8),
        np.array([n.weight for n in rows], np.float32), np.zeros((0, 2), np.int32), nodes,
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


BATCH = 20
"""Nodes that each batch brings."""
EVERY = 0.25
"""Seconds between two batches, as the hub puts changes together."""
UPDATES = 4
"""Times that the layout has moved the nodes before the next batch comes, however busy the machine is."""


def stream(nodes: int, batches: int) -> dict[str, float]:
    """Let batches come into a real view that shows everything; return how far placed nodes move on the screen, in percent of its width."""
    app = launch.make_app()
    theme.apply(app, "light")
    view = GraphView(Hub())
    view.resize(*SIZE)
    view.show()
    dice = np.random.default_rng(5)
    people = [_person(i) for i in range(1, max(4, nodes // 200) + 1)]
    first = Part({n.id: n for n in map(_voice, people)}, {p.id: p for p in people}, {})
    view.whole.change(first)
    view.whole.change(_batch(len(people), nodes - len(people), len(people), dice))
    view.bar.everything.setChecked(True)
    view._rescene()
    _until(lambda: not view.placing.clock.isActive(), 300)
    canvas, began = view.canvas, time.thread_time()
    start = dict(zip(canvas.scene.row_of, canvas.camera.to_screen(canvas.at), strict=True))
    moved = []
    updates = [0]
    move = canvas.move_nodes

    def count(places: NDArray[np.float64]) -> None:
        updates[0] += 1
        move(places)

    canvas.move_nodes = count  # type: ignore[assignment, method-assign]
    for number in range(batches):
        row_of, before = canvas.scene.row_of, canvas.camera.to_screen(canvas.at)
        view._patch(_batch(nodes + number * BATCH, BATCH, len(people), dice))
        end, heard = time.monotonic() + EVERY, updates[0] + UPDATES
        _until(lambda end=end, heard=heard: time.monotonic() > end and updates[0] >= heard, 10)  # type: ignore[misc]
        now = canvas.camera.to_screen(canvas.at)
        rows = np.array([canvas.scene.row_of[id_] for id_ in row_of])
        moved.append(np.hypot(*(now[rows] - before).T))
    gui = (time.thread_time() - began) * 1e3 / batches
    now = canvas.camera.to_screen(canvas.at)
    whole = [float(np.hypot(*(now[canvas.scene.row_of[id_]] - place))) for id_, place in start.items()]
    all_ = np.concatenate(moved) / canvas.width() * 100
    view.close()
    return {
        "nodes": nodes, "batches": batches, "batch": BATCH, "load": round(_load(), 1), "gui_cpu_ms": round(gui, 1),
        "median_percent": round(float(np.median(all_)), 3), "p95_percent": round(float(np.percentile(all_, 95)), 3),
        "whole_percent": round(float(np.median(whole)) / canvas.width() * 100, 2),
    }  # fmt: skip


def _person(number: int) -> Person:
    id_ = person_id(number)
    return Person(id_, number, None, "none", f"Person {number}", (), (), (), (f"v{number}",), ("s1", 0), ("s1", 1), 0, 1, (), False, None)


def _voice(person: Person) -> NodeRow:
    return NodeRow(f"v{person.number}", "voice", person.shown, "", 1.0, "s1.c0", "s1", 0, 1, person.id, (person.id,))


def _batch(first: int, count: int, people: int, dice: np.random.Generator) -> Part:
    """Return sentences of later clips, 40 a clip, each linked to one or two of the clip's people, now and then to an earlier one."""
    nodes: dict[str, NodeRow | None] = {}
    edges: dict[Edge, float | None] = {}
    for number in range(first, first + count):
        clip = number // 40
        id_ = f"e{number}"
        nodes[id_] = NodeRow(
            id_, "episodic", f"event {number}", f"event {number}", 1.0, f"s1.c{clip}", "s1", clip * 30_000_000, clip * 30_000_000 + 1
        )
        for who in {(clip * 7 + int(k)) % people + 1 for k in dice.integers(0, 4, 2)}:
            edges[id_, f"v{who}", "mentions"] = 1.0
        if dice.random() < 0.3 and number > people + 40:
            edges[id_, f"e{max(people, number - int(dice.integers(1, 40)))}", "before"] = 1.0
    return Part(nodes, {}, edges)


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
