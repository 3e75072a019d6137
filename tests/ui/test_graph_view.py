"""The graph dock: what it opens on, growing, finding, selecting, dragging, filtering and export."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from m3desk_ui.graph import canvas as canvases
from m3desk_ui.graph import painting, probe, saving
from m3desk_ui.graph import scene as scenes
from m3desk_ui.graph import view as views
from m3desk_ui.graph.labels import Room
from m3desk_ui.graph.past import DateDialog
from m3desk_ui.graph.view import GraphView
from m3desk_ui.graph.whole import Part
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.person_picker import BothFaces
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPixmap, QWheelEvent
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
    qtbot.waitUntil(lambda: len(view.canvas.scene.nodes) > 0, timeout=60_000)
    qtbot.waitUntil(lambda: not view.placing.clock.isActive(), timeout=60_000)  # the layout's process starts with the first graph
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
    view.commands.expand(single.id)
    loose = [id_ for id_ in shown(view) if id_.startswith("loose")]
    assert 5 <= len(loose) <= 8
    hub_row = view.canvas.scene.row_of[single.id]
    assert {view.canvas.scene.row_of[id_] for id_ in loose} <= set(view.canvas.painting.neighbours(hub_row).tolist())
    view.commands.collapse(tens)
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


def canvas_at_rest(qtbot: QtBot) -> tuple[canvases.GraphCanvas, np.ndarray]:
    """Return a canvas that shows so many nodes that it draws in slices, once it has done so, and where they are."""
    canvas = canvases.GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(500, 400)
    scene, at = probe.invented(2500, 5000)
    canvas.show_scene(scene, at)
    canvas.show()
    qtbot.waitUntil(lambda: canvas.at_rest, timeout=30_000)
    return canvas, at


def test_the_sharp_picture_is_drawn_in_slices_and_shown_at_rest(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "PART", 100)
    monkeypatch.setattr(canvases, "SLICE", 0.0)
    canvas, _ = canvas_at_rest(qtbot)
    assert len(canvas.slice_times) > 20
    sharp = canvas.grab().toImage()
    canvas.pan_by(3, 0)
    assert not canvas.at_rest
    canvas.pan_by(-3, 0)
    qtbot.waitUntil(lambda: canvas.at_rest, timeout=30_000)
    assert canvas.grab().toImage() == sharp


def test_what_the_layout_moves_is_drawn_in_slices_and_what_the_user_moves_at_once(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "DOTS_FROM", 100)
    canvas, at = canvas_at_rest(qtbot)
    sharp, slices = canvas._kept, len(canvas.slice_times)
    canvas.camera.take()
    canvas.move_nodes(at + 5)
    assert canvas._kept is sharp, "what is on the screen stays until the next frame is drawn"
    canvas._draw_slice()
    canvas.move_nodes(at + 9)  # while a frame of where they were is drawn
    qtbot.waitUntil(
        lambda: canvas._kept is not None and np.allclose(canvas._kept.frame.place, canvas.camera.to_screen(at + 9)), timeout=30_000
    )
    assert len(canvas.slice_times) - slices >= 5, "two frames, in parts"
    canvas.move_nodes(at + 11)
    canvas._draw_slice()
    canvas.pan_by(3, 0)
    assert canvas._kept is None and canvas._drawn is None, "what was drawn in slices shows it where it was"
    canvas.grab()
    qtbot.waitUntil(lambda: canvas.at_rest, timeout=30_000)


def test_no_face_covers_the_next_while_people_are_few(qtbot: QtBot) -> None:
    canvas = canvases.GraphCanvas()
    qtbot.addWidget(canvas)
    scene, at = probe.invented(10, 4)
    people = np.flatnonzero([node.kind == "person" for node in scene.nodes])
    at[people] = [[0, 0], [20, 0], [0, 400], [3, 400]]
    canvas.show_scene(scene, at)
    canvas.camera.zoom = 1.0
    first, second, third, fourth = canvas.painting.sizes(canvas.camera)[people]
    assert first == second == 20 and third == fourth == painting.CROWDED
    canvas.camera.zoom = 2.0
    assert (canvas.painting.sizes(canvas.camera)[people[:2]] > 30).all()


def test_in_a_narrow_dock_people_have_faces_and_nearly_all_of_its_width(qtbot: QtBot) -> None:
    canvas = canvases.GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(250, 340)
    canvas.show()
    people = tuple(
        scenes.SceneNode(f"person_{i}", "person", f"Person {i}", "", 1.0, picture=f"m{i}", person=f"person_{i}") for i in range(28)
    )
    none = np.zeros((0, 2), np.int32)
    codes = np.full(28, scenes.CODES.index("person"), np.int8)
    scene = scenes.Scene(
        people, none, np.zeros(0, np.float32), np.zeros(0, np.int8), np.zeros(28, np.int32), {n.id: i for i, n in enumerate(people)},
        codes, np.ones(28, np.float32), none, 28,
    )  # fmt: skip
    canvas.show_scene(scene, np.random.default_rng(1).uniform(-300, 300, (28, 2)))
    red = QPixmap(96, 96)
    red.fill(QColor("#ff0000"))
    for node in people:
        canvas.set_picture(node.picture or "", red)
    canvas._come_to_rest()
    across = canvas.camera.to_screen(canvas.at)[:, 0]
    assert across.max() - across.min() > 0.8 * 250
    assert (canvas.painting.sizes(canvas.camera) >= 16).all()
    drawn = canvas.grab().toImage().scaled(250, 340)
    faces = [drawn.pixelColor(round(x), round(y)) for x, y in canvas.camera.to_screen(canvas.at)]
    assert sum(colour.red() > 200 and colour.green() < 60 for colour in faces) == 28


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


def test_a_graph_that_loads_later_marks_what_was_selected_before(qtbot: QtBot, hub: Hub) -> None:
    hub.selection.select("person", "person_2")
    assert opened(qtbot, hub).canvas.selected == "person_2"


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
    qtbot.waitUntil(lambda: view.canvas.camera.route is None, timeout=30_000)
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
    qtbot.waitUntil(lambda: "fresh" in shown(view), timeout=30_000)
    qtbot.waitUntil(lambda: not view.placing.clock.isActive(), timeout=30_000)
    drift = [np.hypot(*(view.canvas.at[view.canvas.scene.row_of[i]] - at)) for i, at in before.items()]
    assert np.median(drift) / width < 0.03


def test_a_commit_is_shown_in_turns_of_its_own_and_at_once_to_who_points_at_what_is_new(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    turns: list[str] = []

    def commit(id_: str) -> None:
        view._patch(Part({id_: NodeRow(id_, "semantic", id_, id_, 2.0, "s1.c4", "s1", 0, 1)}, {}, {(id_, "n1", "mentions"): 1.0}))

    standing = view.placing.show

    def show(scene: scenes.Scene) -> None:
        turns.append("shown")
        standing(scene)

    view.placing.show = show  # type: ignore[method-assign]
    commit("fresh")
    hub.later(lambda: turns.append("something else"))
    assert "fresh" not in shown(view) and "fresh" in view.whole.row_of
    qtbot.waitUntil(lambda: "fresh" in shown(view), timeout=30_000)
    assert turns == ["something else", "shown"]
    commit("second")
    view._grow_on()  # a step of it
    commit("third")
    qtbot.waitUntil(lambda: {"second", "third"} <= shown(view), timeout=30_000)
    assert turns == ["something else", "shown", "shown"], "what came meanwhile is shown with it"
    commit("newest")
    hub.selection.select("node", "newest")
    assert view.canvas.selected == "newest" and "newest" not in view.wish.extra


def test_new_nodes_of_one_neighbour_lie_beside_it_and_each_other_before_the_layout_answers(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    view.placing.layout.take = lambda: None  # type: ignore[method-assign]
    new = [f"fresh{i}" for i in range(4)]
    rows = {id_: NodeRow(id_, "semantic", id_, id_, 2.0, "s1.c4", "s1", 0, 1) for id_ in new}
    view._patch(Part(rows, {}, {(id_, "n1", "mentions"): 1.0 for id_ in new}))
    view.catch_up()
    row_of = view.canvas.scene.row_of
    place = view.canvas.camera.to_screen(view.canvas.at[[row_of[id_] for id_ in [*new, "n1"] if id_ in row_of]])
    apart = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))[np.triu_indices(len(place), 1)]
    assert len(place) >= 4 and apart.min() > 20


def test_a_scene_made_beside_another_is_the_same() -> None:
    dice = np.random.default_rng(3)
    reader = FakeReader(World(extra_nodes=1500))
    graph = scenes.whole(reader.graph(), reader.people())
    before: dict[str, int] = {}
    for _ in range(12):
        ids = list(graph.row_of)
        change: dict[str, NodeRow | None] = {ids[n]: None for n in dice.integers(0, len(ids), dice.integers(0, 4)).tolist()}
        new = [f"x{n}" for n in dice.integers(0, 5000, 5).tolist()]
        change |= {id_: NodeRow(id_, "object", id_, id_, 1.0, None, None, None, None) for id_ in new}
        graph.change(Part(change, {}, {}))
        for wish in (scenes.Wish(everything=True), scenes.Wish()):
            fresh = scenes.scene(graph, wish)
            beside = scenes.scene(graph, wish, before=before)
            assert beside.same(fresh) and list(beside.row_of.items()) == list(fresh.row_of.items())
            before = beside.row_of


def test_arrow_keys_walk_along_links(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    view.canvas.choose("person_2")
    row = view.canvas.scene.row_of["person_2"]
    spots = view.canvas.at
    near = {view.canvas.scene.nodes[int(x)].id for x in view.canvas.painting.neighbours(row)}
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down):
        view.canvas.choose("person_2")
        qtbot.keyClick(view.canvas, key)
        found = view.canvas.scene.row_of[view.canvas.selected]
        way = {Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}[key]
        ahead = [n for n in range(len(spots)) if n != row and (spots[n] - spots[row]) @ way > 0.5 * np.hypot(*(spots[n] - spots[row]))]
        assert view.canvas.selected in near or found in (ahead or [row]), "where nothing lies ahead, it stays"


def test_arrow_keys_lead_on_where_no_link_goes(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    canvas = view.canvas
    left = canvas.scene.nodes[int(np.argmin(canvas.at[:, 0]))].id
    canvas.choose(left)
    seen = {left}
    for _ in range(len(canvas.scene.nodes)):
        qtbot.keyClick(canvas, Qt.Key.Key_Right)
        if canvas.selected in seen:
            break
        seen.add(canvas.selected)
    at, wide = canvas.at[canvas.scene.row_of[canvas.selected]], np.ptp(canvas.at[:, 0])
    ahead = canvas.at - at
    assert len(seen) > 1 and not np.any(ahead[:, 0] > np.maximum(0.5 * np.hypot(ahead[:, 0], ahead[:, 1]), 0.01 * wide)), (
        "the arrow key leads on until nothing lies to the right"
    )


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


def test_labels_of_found_nodes_cover_nodes_but_not_each_other() -> None:
    room = Room(400, 300)
    room.mark(np.array([[200.0, 150.0]]), np.array([150.0]))  # nodes everywhere
    assert room.spot(200.0, 150.0, 12.0, 90.0, 14.0) is None
    spots = [room.spot(180.0 + 3 * k, 140.0 + 2 * k, 12.0, 90.0, 14.0, must=True) for k in range(12)]
    boxes = [s for s in spots if s is not None]
    assert 2 <= len(boxes) < 12
    for i, (x, y) in enumerate(boxes):
        assert all(abs(x - u) >= 90 or abs(y - v) >= 14 for u, v in boxes[:i])
    room.mark(np.array([[330.0, 40.0]]), np.array([12.0]), for_all=True)
    assert room.spot(300.0, 40.0, 12.0, 60.0, 14.0, must=True) != (312.0, 33.0), "a found node stays in view"


def test_the_list_says_the_same_and_the_picture_is_written(qtbot: QtBot, hub: Hub, tmp_path: Path) -> None:
    view = opened(qtbot, hub)
    view.bar.as_list.setChecked(True)
    assert view.list.rows.rowCount() == len(view.canvas.scene.nodes)
    with qtbot.waitSignal(hub.notice) as told:
        view.exports.save_picture(str(tmp_path / "graph.png"))
    assert told.args[0] == "info" and not QImage(str(tmp_path / "graph.png")).isNull()
    with qtbot.waitSignal(hub.notice) as told:
        view.exports.save_picture(str(tmp_path / "not there" / "graph.png"))
    assert told.args[0] == "error"


def test_the_picture_is_written_beside_the_windows_thread(qtbot: QtBot, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view, threads = opened(qtbot, hub), []
    picture = SimpleNamespace(save=lambda _path: threads.append(threading.current_thread()) or True)
    monkeypatch.setattr(view.canvas, "picture", lambda: picture)
    with qtbot.waitSignal(hub.notice):
        view.exports.save_picture(str(tmp_path / "graph.png"))
    assert threads and threads[0] is not threading.main_thread()


def test_the_legend_hides_kinds_and_the_bar_filters(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    view.legend.chips["episodic"].setChecked(False)
    assert "episodic" not in {n.kind for n in view.canvas.scene.nodes}
    view.commands.only("person_1")
    assert view.wish.person == "person_1"
    view.reset()
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
    monkeypatch.setattr(FakeReader, "graph", lambda reader: read.wait(30) and all_(reader))
    view = GraphView(hub)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(lambda: len(view.canvas.scene.nodes) > 0, timeout=30_000)
    assert {n.kind for n in view.canvas.scene.nodes} == {"person"}
    read.set()
    qtbot.waitUntil(lambda: "semantic" in {n.kind for n in view.canvas.scene.nodes}, timeout=30_000)
    assert set(view.whole.row_of) >= {p.id for p in desk.reader().people()}


def click(qtbot: QtBot, view: GraphView, id_: str, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    x, y = view.canvas.camera.to_screen(view.canvas.at[view.canvas.scene.row_of[id_]])
    qtbot.mouseClick(view.canvas, Qt.MouseButton.LeftButton, held, QPoint(round(x), round(y)))


def test_several_people_are_selected_and_merged_after_a_question(qtbot: QtBot, hub: Hub, desk: FakeDesk) -> None:
    view = opened(qtbot, hub)
    click(qtbot, view, "person_5")
    click(qtbot, view, "person_1", Qt.KeyboardModifier.ShiftModifier)
    click(qtbot, view, "person_6", Qt.KeyboardModifier.ControlModifier)
    assert view.canvas.marked == ["person_5", "person_1", "person_6"]
    assert view.strip.isVisible()
    assert view.strip.buttons["m"].isEnabled()
    qtbot.keyClick(view.canvas, Qt.Key.Key_M)
    qtbot.waitUntil(lambda: bool(view.findChildren(BothFaces)), timeout=30_000)
    assert desk.called("correct")[-1][1].get("dry_run")
    box = view.findChildren(BothFaces)[0]
    yes = next(b for b in box.buttons.buttons() if "Ann" in b.text())
    yes.click()
    qtbot.waitUntil(lambda: not desk.called("correct")[-1][1].get("dry_run"), timeout=30_000)
    kind, args = desk.called("correct")[-1][0][:2]
    assert kind == "merge"
    assert args["keep"] == "person_1"
    assert set(args["others"]) == {"person_5", "person_6"}


def test_a_box_drawn_with_shift_selects_what_is_in_it(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    canvas = view.canvas
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, QPoint(2, 2))
    assert canvas.grabbed < 0
    qtbot.mouseMove(canvas, QPoint(300, 300))
    qtbot.mouseMove(canvas, QPoint(canvas.width() - 3, canvas.height() - 3))
    qtbot.mouseRelease(
        canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, QPoint(canvas.width() - 3, canvas.height() - 3)
    )
    assert set(canvas.marked) == shown(view)
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.marked == []
    assert not view.strip.isVisible()


def test_by_keyboard_alone_nodes_are_added_to_the_selection_and_groups_merged(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    view.canvas.choose("person_2")
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down):
        qtbot.keyClick(view.canvas, key, Qt.KeyboardModifier.ShiftModifier)
    assert len(view.canvas.marked) > 1
    assert "person_2" in view.canvas.marked
    assert view.canvas.accessibleDescription()
    view.bar.as_list.setChecked(True)
    view.list.selectAll()
    assert set(view.canvas.marked) == shown(view)
    with qtbot.waitSignal(hub.notice):
        qtbot.keyClick(view.list, Qt.Key.Key_T)


def test_a_path_between_two_nodes_is_shown_and_lit(qtbot: QtBot, hub: Hub, world: World) -> None:
    world.extra = 600
    view = opened(qtbot, hub)
    hidden = next(n.id for n in view.whole if n.id not in shown(view) and n.id.startswith("x"))
    near = {view.whole.node(row).id for row in view.whole.near[view.whole.row_of[hidden]]}
    other = next(n.id for n in view.whole if n.kind == "person" and n.id not in near)
    view.commands.show_path([hidden, other])
    assert view.canvas.path[0] == hidden
    assert view.canvas.path[-1] == other
    assert set(view.canvas.path) <= shown(view)
    assert len(view.canvas._marks().path) == len(view.canvas.path) - 1


def test_back_and_forward_show_again_what_was_on_show(qtbot: QtBot, hub: Hub, world: World) -> None:
    world.extra = 600
    view = opened(qtbot, hub)
    first = shown(view)
    assert not view.bar.back.isEnabled()
    view.commands.expand("person_1")
    more = shown(view)
    view.legend.chips["episodic"].setChecked(False)
    assert first < more
    view.bar.back.click()
    assert shown(view) == more
    assert view.legend.chips["episodic"].isChecked()
    view.bar.back.click()
    assert shown(view) == first
    view.bar.forward.click()
    assert shown(view) == more


def test_the_filters_of_source_and_time_keep_what_lies_there(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    with qtbot.waitSignal(view.bar.filter.menu().aboutToShow):
        view.bar.filter.menu().aboutToShow.emit()
    qtbot.waitUntil(lambda: view.bar.source.count() == 4, timeout=30_000)
    view.bar.source.setCurrentIndex(2)
    assert not any(n.kind == "episodic" for n in view.canvas.scene.nodes)
    view.bar.source.setCurrentIndex(1)
    everything = [n for n in view.canvas.scene.nodes if n.kind == "episodic"]
    view.bar.times[1].setValue(250)
    early = [n for n in view.canvas.scene.nodes if n.kind == "episodic"]
    end = view.bar.span()[1]  # type: ignore[index]
    assert 0 < len(early) < len(everything)
    assert all(n.start is not None and n.start < end for n in early)
    view.bar.clear.click()
    assert not view.wish.filtered


def test_the_mini_map_shows_where_the_view_is_and_leads_there(qtbot: QtBot, hub: Hub) -> None:
    view = opened(qtbot, hub)
    assert not view.map.isVisible(), "everything is in view"
    view.canvas.zoom_by(4.0)
    assert view.map.isVisible()
    qtbot.waitUntil(lambda: view.map._dots is not None, timeout=30_000)
    qtbot.mouseClick(view.map, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    low = view.canvas.at.min(axis=0)
    middle = view.canvas.at.mean(axis=0)
    assert (view.canvas.camera.centre < middle).all()
    assert (view.canvas.camera.centre > low - 400).all()
    view.bar.map.setChecked(False)
    assert not view.map.isVisible()


def test_an_earlier_state_is_read_only_and_has_a_way_back_to_now(qtbot: QtBot, hub: Hub, desk: FakeDesk) -> None:
    view = opened(qtbot, hub)
    hub.selection.watching.emit("s1", 65_000_000)
    view.earlier.show_known()
    qtbot.waitUntil(view.earlier.bar.isVisible, timeout=30_000)
    assert desk.called("earlier") == [((("s1", 2), None), {})]
    with qtbot.waitSignal(hub.notice):
        view.commands.merge(["person_1", "person_2"])
    desk.emit(events.ClipCommitted("s1.c4", "done"))
    qtbot.wait(400)
    assert view.is_past
    view.earlier.bar.back.click()
    assert not view.earlier.bar.isVisible()
    qtbot.waitUntil(lambda: view.following.loaded, timeout=30_000)


def test_a_date_or_a_correction_chooses_what_was_believed(qtbot: QtBot, hub: Hub, desk: FakeDesk) -> None:
    view = opened(qtbot, hub)
    view.earlier.choose_date()
    dialog = view.findChildren(DateDialog)[0]
    qtbot.waitUntil(lambda: dialog.steps.count() == 1, timeout=30_000)
    dialog.steps.setCurrentRow(0)
    dialog._take()
    qtbot.waitUntil(view.earlier.bar.isVisible, timeout=30_000)
    assert desk.called("earlier")[-1][0][1] == "2026-11-20T09:59:59.999000+00:00"


def test_svg_and_graphml_hold_what_is_on_show(qtbot: QtBot, hub: Hub, tmp_path: Path) -> None:
    view = opened(qtbot, hub)
    drawing = ET.fromstring(saving.svg(view.canvas))
    space = "{http://www.w3.org/2000/svg}"
    titles = [t.text or "" for t in drawing.iter(f"{space}title")]
    assert len(titles) == len(view.canvas.painting.frame(view.canvas.camera).seen)
    assert any("Ann" in t.text for t in drawing.iter(f"{space}text") if t.text)
    graph = ET.fromstring(saving.graphml(view.canvas))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert {n.get("id") for n in graph.iter(f"{space}node")} == shown(view)
    assert len(list(graph.iter(f"{space}edge"))) == len(view.canvas.scene.links)
    with qtbot.waitSignal(hub.notice):
        view.exports.save_text(str(tmp_path / "graph.graphml"), saving.graphml(view.canvas))
    with qtbot.waitSignal(hub.notice) as told:
        view.exports.save_text(str(tmp_path / "none" / "graph.graphml"), "")
    assert told.args[0] == "error"


def test_what_a_search_found_is_shown_and_marked_without_being_selected(qtbot: QtBot) -> None:
    """Marked: M must not merge what was only found."""
    desk = FakeDesk(World(extra_nodes=600))
    hub = Hub()
    hub.open(desk, desk.memory)
    view = opened(qtbot, hub)
    hidden = next(id_ for id_ in view.whole.row_of if id_ not in view.canvas.scene.row_of)
    hub.selection.found.emit((hidden, "person_2", "nobody"))
    row_of = view.canvas.scene.row_of
    assert hidden in row_of and not view.canvas.marked
    assert set(view.canvas._marks().selected) == {row_of[hidden], row_of["person_2"]}
    later = opened(qtbot, hub)
    qtbot.waitUntil(lambda: hidden in later.canvas.scene.row_of and hidden in later.canvas.found, timeout=30_000)
    hub.selection.found.emit(())
    assert hidden not in view.canvas.scene.row_of and not view.canvas._marks().selected
    hub.close()
