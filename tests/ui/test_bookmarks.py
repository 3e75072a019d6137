"""Bookmarks in the window: added with one key, shown on the ruler, listed, changed, removed, and gone to."""

from __future__ import annotations

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.timeline import marking
from m3desk_ui.timeline.bookmarks_dialog import BookmarksDialog
from m3desk_ui.timeline.canvas import GUTTER
from m3desk_ui.timeline.view import TimelineView
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from tests.ui.fakes import FakeDesk

S = 1_000_000


@pytest.fixture
def view(hub: Hub, qtbot: QtBot) -> TimelineView:
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(700, 200)
    with qtbot.waitExposed(view):
        view.show()
    qtbot.waitUntil(lambda: view.canvas.plan.source is not None, timeout=30_000)
    hub.selection.watching.emit("s1", 20 * S)
    return view


def add(qtbot: QtBot, hub: Hub, view: TimelineView, at: int, note: str = "") -> None:
    before = len(view.bookmarks)
    hub.selection.watching.emit("s1", at)
    marking.add(hub, note)
    qtbot.waitUntil(lambda: len(view.bookmarks) == before + 1, timeout=30_000)


def test_the_moment_of_the_picture_or_the_chosen_span_is_bookmarked(hub: Hub, desk: FakeDesk, qtbot: QtBot, view: TimelineView) -> None:
    offered: list[str] = []
    hub.offer.connect(lambda _text, label, _act: offered.append(label))
    view.mark.click()
    qtbot.waitUntil(lambda: [(b.start, b.end) for b in view.canvas.bookmarks] == [(20 * S, 20 * S)], timeout=30_000)
    assert offered == ["undo"]
    hub.selection.span.emit("s1", 30 * S, 40 * S)
    marking.add(hub)
    qtbot.waitUntil(lambda: [(b.start, b.end) for b in view.canvas.bookmarks][1:] == [(30 * S, 40 * S)], timeout=30_000)
    hub.undo()
    qtbot.waitUntil(lambda: len(view.canvas.bookmarks) == 1, timeout=30_000)


def test_while_no_picture_is_shown_a_bookmark_is_refused_with_a_word(
    hub: Hub, desk: FakeDesk, qtbot: QtBot, view: TimelineView, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(plain, "_typed", lambda *_: asked.append("note"))
    hub.selection.forget()
    for add_one in (lambda: marking.add(hub), lambda: marking.add_with_note(hub, view)):
        with qtbot.waitSignal(hub.notice) as told:
            add_one()
        assert told.args[0] == "info" and "no picture to bookmark yet" in told.args[1]
    assert not asked and not desk.called("correct")


def test_with_a_note_but_without_words_it_is_added_and_cancelled_it_is_not(
    hub: Hub, qtbot: QtBot, view: TimelineView, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [None, " "]
    monkeypatch.setattr(plain, "_typed", lambda *_: answers.pop(0))
    marking.add_with_note(hub, view)
    marking.add_with_note(hub, view)
    qtbot.waitUntil(lambda: [(b.start, b.note) for b in view.bookmarks] == [(20 * S, "")], timeout=30_000)
    assert answers == []


def test_a_flag_on_the_ruler_is_hit_and_told(hub: Hub, qtbot: QtBot, view: TimelineView) -> None:
    add(qtbot, hub, view, 50 * S, "the vase falls")
    canvas = view.canvas
    x = canvas.x_of(50 * S)
    assert canvas.hit(QPointF(x + 3, 6)) == ("bookmark", view.bookmarks[0].id, 50 * S)
    assert canvas.hit(QPointF(x + 40, 6))[0] == "" and x > GUTTER
    sought: list[tuple[str, int, bool]] = []
    hub.selection.seek.connect(lambda *what: sought.append(what))
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPointF(x + 3, 6).toPoint())
    assert sought == [("s1", 50 * S, False)] and hub.selection.current == ("", "")
    hub.selection.watching.emit("s1", 10 * S)  # the play head is over it
    colour = canvas.grab().toImage().pixelColor(round(x) + 2, 6)
    view.canvas.bookmarks = ()
    canvas.redraw()
    assert canvas.grab().toImage().pixelColor(round(x) + 2, 6) != colour


def test_the_next_bookmark_and_the_one_before_are_gone_to(hub: Hub, qtbot: QtBot, view: TimelineView) -> None:
    for at in (10, 30, 50):
        add(qtbot, hub, view, at * S)
    sought: list[int] = []
    hub.selection.seek.connect(lambda _source, at, _play: sought.append(at // S))
    hub.selection.watching.emit("s1", 30 * S)
    view.to_bookmark()
    view.to_bookmark(back=True)
    hub.selection.watching.emit("s1", 50 * S)
    view.to_bookmark()  # there is none
    assert sought == [50, 10]


def test_the_list_finds_goes_changes_and_removes(hub: Hub, desk: FakeDesk, qtbot: QtBot, view: TimelineView, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    dialog = BookmarksDialog(hub)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    assert dialog.none.isVisible()
    add(qtbot, hub, view, 10 * S, "the vase falls")
    add(qtbot, hub, view, 70 * S)
    rows = dialog.rows
    qtbot.waitUntil(lambda: rows.topLevelItemCount() == 2, timeout=30_000)
    assert [rows.topLevelItem(i).text(0) for i in (0, 1)] == ["00:10", "01:10"]
    dialog.search.setText("VASE")
    assert rows.topLevelItemCount() == 1
    dialog.search.setText("")
    rows.setCurrentItem(rows.topLevelItem(1))
    sought: list[int] = []
    hub.selection.seek.connect(lambda _source, at, _play: sought.append(at))
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert sought == [70 * S] and dialog.isVisible()
    monkeypatch.setattr(plain, "edited", lambda *_a, **_k: "they leave")
    qtbot.keyClick(rows, Qt.Key.Key_F2)
    qtbot.waitUntil(lambda: rows.topLevelItem(1) is not None and rows.topLevelItem(1).text(1) == "they leave", timeout=30_000)
    rows.setCurrentItem(rows.topLevelItem(0))
    qtbot.keyClick(rows, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: rows.topLevelItemCount() == 1, timeout=30_000)
    assert rows.currentItem().text(1) == "they leave"
    hub.undo()
    qtbot.waitUntil(lambda: rows.topLevelItemCount() == 2, timeout=30_000)
    dialog.reject()
