"""The lanes of the timeline: people in view first, scrolled by wheel and key; spans that were forgotten are drawn as such."""

from __future__ import annotations

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.timeline import in_view
from m3desk_ui.timeline.canvas import CLIPS, GUTTER, LANE, RULER, TimelineCanvas
from m3desk_ui.timeline.rows import Piece, Plan, Rows
from m3desk_ui.timeline.view import TimelineView
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from pytestqt.qtbot import QtBot

from m3desk.domain.clip import Clip, Source

S = 1_000_000
SOURCE = Source("s1", "/a.mp4", 100 * S, 640, 360, 25.0, True, None, "a" * 64)


def filled(canvas: TimelineCanvas, people: int = 10) -> None:
    """Ten clips of 10 s; person n is seen in clip n only, person_0 the longest."""
    clips = tuple(Clip(f"s1.c{i}", "s1", i, i * 10 * S, (i + 1) * 10 * S, "done") for i in range(10))
    canvas.plan = Plan(SOURCE, clips, {}, {})
    pieces = {}
    for i, clip in enumerate(clips):
        mine = [(f"person_{p}", clip.start + S, clip.end - S - p * 1000) for p in range(people) if p % 10 == i]
        pieces[clip.id] = Piece(clip.id, tuple(mine), (), ())
    canvas.rows = Rows().changed(pieces, (), {})
    canvas.fit()


def order(canvas: TimelineCanvas) -> list[int]:
    return [int(lane.person.removeprefix("person_")) for lane in canvas.lanes()]


@pytest.fixture
def canvas(qtbot: QtBot) -> TimelineCanvas:
    canvas = TimelineCanvas(Hub())
    qtbot.addWidget(canvas)
    canvas.resize(600, 200)
    filled(canvas)
    with qtbot.waitExposed(canvas):
        canvas.show()
    return canvas


def test_the_lanes_of_people_in_view_come_first_once_the_view_rests(canvas: TimelineCanvas, qtbot: QtBot) -> None:
    assert order(canvas) == list(range(10))
    canvas.start, canvas.end = 61 * S, 79 * S
    canvas._go(61 * S, 18 * S)
    assert order(canvas) == list(range(10))  # not while it moves
    qtbot.waitUntil(lambda: order(canvas)[:2] == [6, 7], timeout=30_000)
    assert order(canvas)[2:] == [0, 1, 2, 3, 4, 5, 8, 9]
    assert canvas.hit(QPointF(5, canvas.lanes_top() + LANE // 2))[1] == "person_6"
    assert "person_6, person_7" in canvas.accessibleDescription() and "01:01" in canvas.accessibleDescription()
    canvas.fit()
    qtbot.waitUntil(lambda: order(canvas) == list(range(10)), timeout=30_000)


def test_who_is_in_view_is_looked_for_in_the_clips_on_show_only(canvas: TimelineCanvas, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, rows = canvas.plan, canvas.rows
    assert in_view.people(plan, rows, 61 * S, 68 * S) == {"person_6"}
    assert in_view.people(plan, rows, 70 * S, 71 * S) == frozenset()  # nobody yet
    assert in_view.people(plan, rows, 0, 100 * S) is None
    assert canvas.hit(QPointF(canvas.x_of(65 * S), RULER + 20))[:2] == ("clip", "s1.c6")
    told = (65 * S, 66 * S, "episodic_1", "episodic", "They talk.")
    canvas.rows = rows.changed({"s1.c6": Piece("s1.c6", (), (), (told,))}, (), {})
    assert canvas._memory("episodic_1") == told and canvas._memory("episodic_2") is None
    monkeypatch.setattr(in_view, "MOST_CLIPS", 1)
    assert in_view.people(plan, rows, 45 * S, 75 * S) is None


def test_what_is_repainted_after_the_order_changed_is_the_same_as_everything(canvas: TimelineCanvas, qtbot: QtBot) -> None:
    canvas._go(40 * S, 20 * S)
    qtbot.waitUntil(lambda: order(canvas)[:2] == [4, 5], timeout=30_000)
    canvas.repaint()
    seen = Piece("s1.c5", (("person_9", 51 * S, 58 * S),), (), ())
    canvas.rows = canvas.rows.changed({"s1.c5": seen}, (), {})
    canvas.refresh()
    canvas.repaint()
    assert order(canvas)[:2] == [9, 4] and canvas._picture is not None
    image = canvas._picture.toImage()
    canvas.redraw()
    canvas.repaint()
    assert image == canvas._picture.toImage()


def wheel(at: QPointF, turn: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> QWheelEvent:
    return QWheelEvent(at, at, QPoint(), QPoint(0, turn), Qt.MouseButton.NoButton, keys, Qt.ScrollPhase.NoScrollPhase, False)


def test_the_wheel_scrolls_lanes_that_do_not_fit_and_zooms_elsewhere(hub: Hub, qtbot: QtBot) -> None:
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(700, 170)
    with qtbot.waitExposed(view):
        view.show()
    canvas = view.canvas
    qtbot.waitUntil(lambda: view.bar.maximum() > 0, timeout=30_000)

    def turned(at: QPointF, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> tuple[int, int]:
        view.bar.setValue(0)
        canvas.fit()
        event = wheel(at, -120, keys)
        canvas.wheelEvent(event)
        if not event.isAccepted():
            view.wheelEvent(event)
        return canvas.scrolled, canvas.end - canvas.start

    whole = canvas.duration
    on_lanes, on_names, on_clips = (QPointF(x, y) for x, y in ((400, canvas.lanes_top() + 5), (20, 40), (400, RULER + CLIPS // 2)))
    canvas.zoom(0.5)
    assert turned(on_lanes)[0] > 0 and turned(on_lanes)[1] == whole
    assert turned(on_names)[0] > 0
    assert turned(on_clips)[0] == 0
    assert turned(on_lanes, Qt.KeyboardModifier.ControlModifier)[0] == 0
    view.bar.setValue(0)
    qtbot.keyClick(canvas, Qt.Key.Key_Down)
    assert canvas.scrolled == LANE
    qtbot.keyClick(canvas, Qt.Key.Key_PageUp)
    assert canvas.scrolled == 0


def test_a_forgotten_span_is_drawn_as_such(hub: Hub, qtbot: QtBot) -> None:
    assert hub.desk is not None
    hub.desk.world.forgotten = [("s1", 30 * S, 60 * S), ("s2", 0, 9 * S)]  # type: ignore[attr-defined]
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(800, 220)
    with qtbot.waitExposed(view):
        view.show()
    canvas = view.canvas
    qtbot.waitUntil(lambda: canvas.forgotten == ((30 * S, 60 * S),) and canvas.plan.source is not None, timeout=30_000)
    area = canvas.rect().adjusted(round(canvas.x_of(31 * S)), RULER + 4, 0, 0)
    area.setWidth(20)
    area.setHeight(CLIPS - 20)
    hatched = canvas.grab(area).toImage()
    canvas.forgotten = ()
    canvas.redraw()
    assert canvas.grab(area).toImage() != hatched and area.x() > GUTTER
