"""The graph dock: what it opens on, growing, finding, selecting, dragging, filtering and export."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from m3desk_ui.graph import canvas as canvases
from m3desk_ui.graph import painting, probe
from m3desk_ui.graph import scene as scenes
from m3desk_ui.graph import view as views
from m3desk_ui.graph.labels import Room
from m3desk_ui.graph.view import GraphView
from m3desk_ui.hub.bridge import Hub
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from pytestqt.qtbot import QtBot

from m3desk import events
from m3desk.domain.graph import EdgeRow, NodeRow
from tests.ui.fakes import FakeDesk, FakeReader, World


def shown(view: GraphView) -> set[str]:
    return {n.id for n in view.canvas.scene.nodes}


def opened(qtbot: QtBot, hub: Hub) -> GraphView:
    view = GraphView(hub)
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    qtbot.waitUntil(lambda: len(view.canvas.scene.nodes) > 0, timeout=5000)
    qtbot.waitUntil(lambda: not view._clock.isActive(), timeout=15000)
    return view


def test_people_stand_for_their_faces_and_voices() -> None:
    reader = FakeReader(World(extra_nodes=0))
    graph = scenes.whole(reader.graph(), reader.people())
    start = scenes.scene(graph, scenes.Wish())
    kinds = {n.kind for n in start.nodes}
    assert "person" in kinds
    assert "face" not in kinds
    ann = next(i for i, n in enumerate(start.nodes) if n.id == "person_1")
    assert (start.links == ann).any()


def test_a_large_graph_opens_on_people_and_their_strongest_memories() -> None:
    reader = FakeReader(World(extra_nodes=600))
    graph = scenes.whole(reader.graph(), reader.people())
    start = scenes.scene(graph, scenes.Wish())
    assert len(start.nodes) < 120
    assert sum(n.kind == "person" for n in start.nodes) == 8
    assert {"k1", "k2"} <= {n.id for n in start.nodes}
    assert len(scenes.scene(graph, scenes.Wish(everything=True)).nodes) > 600


def test_expanding_shows_all_neighbours_and_collapsing_hides_what_hangs_on_it_alone() -> None:
    reader = FakeReader(World(extra_nodes=600))
    graph = scenes.whole(reader.graph(), reader.people())
    near = {graph.nodes[x].id for x in graph.near[graph.row_of["person_1"]]}
    open_ = {n.id for n in scenes.scene(graph, scenes.Wish(unfolded=frozenset({"person_1"}))).nodes}
    assert near <= open_
    closed = {n.id for n in scenes.scene(graph, scenes.Wish(closed=frozenset({"person_1"}))).nodes}
    assert "person_1" in closed
    assert len(closed & near) < len(open_ & near) / 3


def test_filters_keep_kind_person_and_weight() -> None:
    reader = FakeReader(World(extra_nodes=50))
    graph = scenes.whole(reader.graph(), reader.people())
    only = scenes.scene(graph, scenes.Wish(everything=True, kinds=frozenset({"person", "semantic"})))
    assert {n.kind for n in only.nodes} == {"person", "semantic"}
    heavy = scenes.scene(graph, scenes.Wish(everything=True, least_weight=3))
    assert all(n.weight >= 3 or n.kind == "person" for n in heavy.nodes)
    ann = scenes.scene(graph, scenes.Wish(everything=True, person="person_1"))
    assert all("person_1" in n.people or n.kind in ("person", "object", "place", "episodic") for n in ann.nodes)
    assert len(ann.nodes) < len(graph.nodes) / 2


def imported_world(world: World, count: int = 400) -> World:
    """Return a memory as imports are: most sentences mention nobody and are linked to nothing."""
    old = world.graph

    def graph():  # type: ignore[no-untyped-def]
        g = old()
        loose = tuple(
            NodeRow(f"loose{k}", "semantic" if k % 2 else "episodic", f"a plate lies there {k}", f"a plate lies there {k}", 1.0,
                    f"s1.c{k % 60}", "s1", k % 60 * 30_000_000, (k % 60 + 1) * 30_000_000)
            for k in range(count)
        )  # fmt: skip
        return type(g)((*g.nodes, *loose), g.edges, g.version)

    world.graph = graph  # type: ignore[method-assign]
    return world


def test_memories_without_a_person_hang_on_their_clips_which_open_on_demand(qtbot: QtBot, hub: Hub, world: World) -> None:
    imported_world(world)
    view = opened(qtbot, hub)
    clips = [n for n in view.canvas.scene.nodes if n.kind == "clip"]
    assert 2 <= len(clips) <= 24
    assert not any(id_.startswith("loose") for id_ in shown(view))
    assert sum(int(view.canvas.scene.hidden[view.canvas.scene.row_of[n.id]]) for n in clips) >= 400
    unlinked = set(range(len(view.canvas.scene.nodes))) - set(view.canvas.scene.links.ravel().tolist())
    assert not {view.canvas.scene.nodes[row].kind for row in unlinked} & {"clip", "topic", "episodic", "semantic"}
    tens = clips[0].id
    view.canvas.choose(tens)
    qtbot.keyClick(view.canvas, Qt.Key.Key_Return)
    single = next(n for n in view.canvas.scene.nodes if n.clip is not None and n.kind == "clip")
    view.expand(single.id)
    loose = [id_ for id_ in shown(view) if id_.startswith("loose")]
    assert 5 <= len(loose) <= 8
    hub_row = view.canvas.scene.row_of[single.id]
    assert {view.canvas.scene.row_of[id_] for id_ in loose} <= set(view.canvas.painting.neighbours(hub_row).tolist())
    view.collapse(tens)
    assert not any(id_.startswith("loose") for id_ in shown(view))


def test_knowledge_about_nobody_hangs_on_its_topic() -> None:
    reader = FakeReader(World(extra_nodes=100))
    g = reader.graph()
    about = tuple(NodeRow(f"t{k}", "semantic", "rain", "rain", 1.0, "s1.c0", "s1", 0, 1, extra={"topic": "plot"}) for k in range(20))
    graph = scenes.whole(type(g)((*g.nodes, *about), g.edges, 1), reader.people())
    start = scenes.scene(graph, scenes.Wish())
    assert start.nodes[-1].id == "topic:plot" or "topic:plot" in start.row_of
    assert "t3" not in start.row_of
    assert "t3" in scenes.scene(graph, scenes.Wish(unfolded=frozenset({"topic:plot"}))).row_of


def test_the_sharp_picture_is_drawn_in_slices_and_shown_at_rest(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "PART", 100)
    monkeypatch.setattr(canvases, "SLICE", 0.0)
    canvas = canvases.GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(500, 400)
    scene, at = probe.invented(2500, 5000)
    canvas.show_scene(scene, at)
    canvas.show()
    qtbot.waitUntil(lambda: canvas.at_rest, timeout=10000)
    assert len(canvas.slice_times) > 20
    sharp = canvas.grab().toImage()
    canvas.pan_by(3, 0)
    assert not canvas.at_rest
    canvas.pan_by(-3, 0)
    qtbot.waitUntil(lambda: canvas.at_rest, timeout=10000)
    assert canvas.grab().toImage() == sharp


def test_a_graph_without_anything_is_empty_and_paints_a_hint(qtbot: QtBot, hub: Hub, world: World) -> None:
    world.people, world.sentences, world.extra = [], [], 0
    view = GraphView(hub)
    qtbot.addWidget(view)
    view.resize(500, 400)
    assert not view.canvas.picture(1.0).isNull()
    assert scenes.scene(scenes.Whole(), scenes.Wish()).nodes == ()


def test_selecting_a_node_tells_the_other_views(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    row = view.canvas.scene.row_of["person_2"]
    x, y = view.canvas.camera.to_screen(view.canvas.at[row])
    with qtbot.waitSignal(hub.selection.selected) as told:
        qtbot.mouseClick(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    assert told.args == ["person", "person_2"]


def test_double_click_plays_the_moment(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    x, y = view.canvas.camera.to_screen(view.canvas.at[view.canvas.scene.row_of["m2"]])
    with qtbot.waitSignal(hub.selection.seek) as told:
        qtbot.mouseDClick(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    node = view.whole.nodes[view.whole.row_of["m2"]]
    assert told.args == [node.source, node.start, True]


def test_dragging_moves_and_pins(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    row = view.canvas.scene.row_of["person_2"]
    x, y = (round(v) for v in view.canvas.camera.to_screen(view.canvas.at[row]))
    qtbot.mousePress(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    for step in (10, 30, 50):
        qtbot.mouseMove(view.canvas, QPoint(x + step, y + step))
    assert "person_2" in view.canvas.pinned
    held = view.canvas.at[row].copy()
    qtbot.mouseRelease(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(x + 50, y + 50))
    qtbot.wait(300)
    assert np.allclose(view.canvas.at[row], held, atol=0.01)


def test_the_wheel_zooms_about_the_pointer(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    canvas = view.canvas
    before, zoom = canvas.camera.to_world(120, 90), canvas.camera.zoom
    where = QPointF(120, 90)
    none, phase = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    canvas.wheelEvent(QWheelEvent(where, where, QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton, none, phase, False))
    assert canvas.camera.zoom > zoom
    assert np.allclose(canvas.camera.to_world(120, 90), before)


def test_finding_flies_to_a_node_and_shows_it_where_it_was_hidden(qtbot: QtBot, hub: Hub, world: World) -> None:
    world.extra = 400
    view = opened(qtbot, hub)
    hidden = next(n for n in view.whole.nodes if n.id not in shown(view) and n.id.startswith("x"))
    qtbot.keyClicks(view.bar.search, hidden.content)
    assert hidden.id in shown(view)
    qtbot.waitUntil(lambda: view.canvas.camera.route is None, timeout=3000)
    assert view.bar.hits[0] == hidden.id


def test_a_committed_clip_grows_the_graph_and_keeps_what_stands(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = opened(qtbot, hub)
    before = {n.id: view.canvas.at[i].copy() for i, n in enumerate(view.canvas.scene.nodes)}
    width = float(np.ptp(view.canvas.at, axis=0).max())
    old = World.graph

    def grown(self: World):  # type: ignore[no-untyped-def]
        g = old(self)
        new = NodeRow("fresh", "semantic", "something new", "something new", 2.0, "s1.c4", "s1", 0, 1)
        return type(g)((*g.nodes, new), (*g.edges, EdgeRow("fresh", "n1", 1.0, "mentions")), g.version + 1)

    monkeypatch.setattr(World, "graph", grown)
    desk.emit(events.ClipCommitted("s1.c4", "done"))
    qtbot.waitUntil(lambda: "fresh" in shown(view), timeout=5000)
    qtbot.waitUntil(lambda: not view._clock.isActive(), timeout=15000)
    drift = [np.hypot(*(view.canvas.at[view.canvas.scene.row_of[i]] - at)) for i, at in before.items()]
    assert np.median(drift) / width < 0.03


def test_arrow_keys_walk_along_links(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    view.canvas.choose("person_2")
    row = view.canvas.scene.row_of["person_2"]
    near = {view.canvas.scene.nodes[int(x)].id for x in view.canvas.painting.neighbours(row)}
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down):
        view.canvas.choose("person_2")
        qtbot.keyClick(view.canvas, key)
        assert view.canvas.selected in near | {"person_2"}


def test_labels_do_not_cover_each_other_or_leave_the_widget() -> None:
    room = Room(400, 300)
    room.mark(np.array([[100.0, 100.0], [104.0, 118.0]]), np.array([8.0, 8.0]))
    spots = [room.spot(100.0 + 4 * k, 100.0 + 3 * k, 12.0, 90.0, 14.0) for k in range(12)]
    boxes = [s for s in spots if s is not None]
    assert 2 <= len(boxes) < 12
    for i, (x, y) in enumerate(boxes):
        assert 0 <= x <= 310
        assert 0 <= y <= 286
        assert all(abs(x - u) >= 90 or abs(y - v) >= 14 for u, v in boxes[:i])
    assert room.spot(390.0, 10.0, 12.0, 390.0, 14.0, must=True) is None


def test_the_list_says_the_same_and_the_picture_is_written(qtbot: QtBot, hub: Hub, tmp_path: Path) -> None:
    view = opened(qtbot, hub)
    view.bar.as_list.setChecked(True)
    assert view._rows.rowCount() == len(view.canvas.scene.nodes)
    with qtbot.waitSignal(hub.notice):
        assert view.save_picture(str(tmp_path / "graph.png"))
    assert not QImage(str(tmp_path / "graph.png")).isNull()


def test_the_legend_hides_kinds_and_the_bar_filters(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    view.legend.chips["episodic"].setChecked(False)
    assert "episodic" not in {n.kind for n in view.canvas.scene.nodes}
    view._only("person_1")
    assert view.wish.person == "person_1"
    view._reset()
    assert view.legend.chips["episodic"].isChecked()
    assert view.wish == scenes.Wish()


def test_another_memory_starts_empty(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    hub.open(None)
    assert view.canvas.scene.nodes == ()


def test_of_a_large_memory_the_people_are_shown_before_the_rest_is_read(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, all_ = threading.Event(), FakeReader.graph
    monkeypatch.setattr(views, "MANY", 1)
    monkeypatch.setattr(FakeReader, "graph", lambda reader: read.wait(5) and all_(reader))
    view = GraphView(hub)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(lambda: len(view.canvas.scene.nodes) > 0, timeout=5000)
    assert {n.kind for n in view.canvas.scene.nodes} == {"person"}
    read.set()
    qtbot.waitUntil(lambda: "semantic" in {n.kind for n in view.canvas.scene.nodes}, timeout=5000)
    assert set(view.whole.row_of) >= {p.id for p in desk.reader().people()}
