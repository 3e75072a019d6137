"""All sources on one axis: one after the other, each with its own times, clicked and chosen as itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.timeline import marking
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.axis import ALL, Axis
from m3desk_ui.timeline.canvas import CLIPS, RULER
from m3desk_ui.timeline.rows import Rows
from m3desk_ui.timeline.view import TimelineView
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from m3desk.domain.clip import Clip, Source
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source
from tests.ui.fakes import FakeDesk

S = 1_000_000


def two() -> Axis:
    return Axis((("s1", 0, 100 * S), ("s2", 100 * S, 50 * S)))


def test_places_of_the_axis_are_times_of_sources_and_back() -> None:
    axis = two()
    assert [axis.at(t * S) for t in (0, 99, 100, 149, 400)] == [("s1", 0), ("s1", 99 * S), ("s2", 0), ("s2", 49 * S), ("s2", 50 * S)]
    assert axis.within(90 * S, 130 * S) == ("s1", 90 * S, 100 * S)
    assert axis.within(110 * S, 130 * S) == ("s2", 10 * S, 30 * S)
    clip = Clip("s2.c0", "s2", 0, 10 * S, 20 * S)
    assert axis.on(clip).start == 110 * S and axis.own(axis.on(clip)) == clip
    assert axis.start_of("s3") is None and axis.length == 150 * S


def test_the_last_source_grows_and_another_one_moves_the_rest() -> None:
    axis = two()
    files = [Source(n, n, d, None, None, None, False, None) for n, d in (("s1", 100 * S), ("s2", None))]
    late = Clip("s2.c9", "s2", 9, 50 * S, 60 * S)
    assert axis.after(None, [Clip("s1.c0", "s1", 0, 0, 9 * S)]) is axis
    grown = axis.after(files, [late])
    assert grown is not None and grown.parts == (("s1", 0, 100 * S), ("s2", 100 * S, 60 * S))
    assert axis.after(None, [replace(late, id="s1.c9", source="s1", end=101 * S)]) is None
    assert axis.after([*files, replace(files[0], id="s3")], []) is None
    assert axis.after(files[:1], []) is None


def test_what_follows_commits_on_the_axis_is_what_is_read_anew(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        for name in ("a", "b"):
            added = memory.add_source(replace(source(), uri=f"/{name}.mp4", sha256=name * 64))
            memory.plan_clips(added.id, clips(added.id), fps=5.0)
        remember(memory, memory.next_clips("s1")[0], (1,))
        remember(memory, memory.next_clips("s2")[0], (1, 2))
        told = []
        memory.watch(told.append)
        plan = timeline_rows.plan(memory, ALL)
        rows = Rows().changed(timeline_rows.pieces(memory, plan.kept(plan.place_of), plan.axis), (), plan.names)
        begins = plan.axis.start_of("s2") if plan.axis is not None else None
        assert begins and plan.source is not None and plan.source.duration == 2 * begins
        assert any(m[0] >= begins for m in rows.memories) and any(m[0] < begins for m in rows.memories)
        remember(memory, memory.next_clips("s2")[0], (2,))
        for changed in told:
            stale = frozenset(clip for node in changed.nodes if (clip := rows.clip_of.get(node)) is not None)
            part = timeline_rows.read_part(memory, ALL, changed, stale)
            plan = timeline_rows.patched(plan, part)
            rows = timeline_rows.read_on(memory, plan.kept(part.stale), rows, (), plan.names, plan.axis)[0]
        again = timeline_rows.plan(memory, ALL)
        assert (plan.clips, plan.axis, plan.source) == (again.clips, again.axis, again.source)
        fresh = Rows().changed(timeline_rows.pieces(memory, again.kept(again.place_of), again.axis), (), again.names)
        assert rows.memories == fresh.memories and rows.pieces == fresh.pieces


@pytest.fixture
def view(hub: Hub, qtbot: QtBot) -> TimelineView:
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(800, 220)
    with qtbot.waitExposed(view):
        view.show()
    qtbot.waitUntil(lambda: view.sources.count() > 1 and view.sources.findData(ALL) == 0, timeout=30_000)
    view.sources.setCurrentIndex(0)
    view.sources.activated.emit(0)
    qtbot.waitUntil(lambda: view.canvas.plan.axis is not None, timeout=30_000)
    return view


def test_all_sources_are_chosen_clicked_spanned_and_bookmarked_as_themselves(
    hub: Hub, desk: FakeDesk, qtbot: QtBot, view: TimelineView
) -> None:
    canvas = view.canvas
    begins = canvas.plan.axis.start_of("s2")  # type: ignore[union-attr]
    assert begins and canvas.duration > begins and {c.source for c in canvas.plan.clips} >= {"s1"}
    sought: list[tuple[str, int]] = []
    hub.selection.seek.connect(lambda where, at, _play: sought.append((where, at)))
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(canvas.x_of(begins + 10 * S)), RULER + CLIPS // 2))
    assert sought[0][0] == "s2" and abs(sought[0][1] - 10 * S) < 2 * S
    hub.selection.watching.emit("s2", 20 * S)
    assert view._source == ALL and canvas.head == begins + 20 * S
    view._spanned(begins - 10 * S, begins + 10 * S)
    assert hub.selection.chosen_span == ("s1", begins - 10 * S, begins) and canvas.span == (begins - 10 * S, begins)
    view.clear_span()
    marking.add(hub)
    qtbot.waitUntil(lambda: [b.start for b in canvas.bookmarks] == [begins + 20 * S], timeout=30_000)
    assert [(b.source, b.start) for b in view.bookmarks] == [("s2", 20 * S)]
    hub.selection.highlighted.emit((("s1", 1 * S, 2 * S), ("s2", 3 * S, 4 * S)))
    assert canvas.hits == ((ALL, 1 * S, 2 * S), (ALL, begins + 3 * S, begins + 4 * S))
    assert canvas.told_time(begins + 5 * S).startswith("00:05")
    view.show_source("s1")
    qtbot.waitUntil(lambda: canvas.plan.axis is None, timeout=30_000)
    assert canvas.hits == (("s1", 1 * S, 2 * S),)
