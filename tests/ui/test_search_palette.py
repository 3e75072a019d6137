"""Search everywhere finds people, memories, words spoken, clips and actions, marks them in all views, and goes there."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.hub.selection_trail import SelectionTrail
from m3desk_ui.window.search_hits import Hit, person_hit
from m3desk_ui.window.search_palette import HIT, SearchPalette
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from m3desk.errors import SourceUnreadable
from m3desk.ports import FoundNode
from tests.ui.fakes import FakeDesk

SOON = 30_000


@pytest.fixture
def palette(qtbot: QtBot, hub: Hub) -> SearchPalette:
    action = QAction("Export…", hub)
    palette = SearchPalette(hub, [("File", action)])
    palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(palette)
    palette.show()
    qtbot.waitUntil(lambda: bool(palette._index.people), timeout=SOON)
    return palette


def rows(palette: SearchPalette) -> list[Hit]:
    tops = [palette.tree.topLevelItem(i) for i in range(palette.tree.topLevelItemCount())]
    return [top.child(k).data(0, HIT) for top in tops for k in range(top.childCount())]


def type_(qtbot: QtBot, palette: SearchPalette, text: str, group: str) -> list[Hit]:
    palette.search.setText(text)
    qtbot.waitUntil(lambda: not palette._later.isActive(), timeout=SOON)
    qtbot.waitUntil(lambda: any(h.group == group for h in rows(palette)), timeout=SOON)
    return [h for h in rows(palette) if h.group == group]


def test_who_is_seen_shortly_is_not_found_with_0_s(desk: FakeDesk) -> None:
    person = replace(desk.world.people[0], screen_time=400_000, speech_time=0)
    assert person_hit(person).detail == "1 s"


def test_one_field_finds_people_memories_words_clips_and_actions(qtbot: QtBot, palette: SearchPalette, desk: FakeDesk) -> None:
    assert type_(qtbot, palette, "李梅", "people")[0].id == "person_4"
    assert all("green tea" in h.text for h in type_(qtbot, palette, "green tea", "memories"))
    assert desk.called("search")[-1] == (("green tea", 20), {})
    spoken = type_(qtbot, palette, "TEA green", "spoken")
    assert spoken and all(h.kind == "observation" and h.start is not None for h in spoken)
    assert [h.text for h in type_(qtbot, palette, "clip 3", "clips")] == ["Clip 3", "Clip 3"]
    assert type_(qtbot, palette, "1:20", "clips")[0].start == 80_000_000
    assert type_(qtbot, palette, "kitchen", "clips")[0].kind == "source"
    assert type_(qtbot, palette, "export", "actions")[0].text == "Export"


def test_a_bookmark_is_found_by_its_note_and_all_of_them_by_their_name(qtbot: QtBot, hub: Hub, desk: FakeDesk) -> None:
    for args in ({"source": "s1", "start": 90_000_000, "end": 120_000_000, "text": "the vase falls"}, {"source": "s1", "start": 7_000_000}):
        desk.correct("bookmark", args).result(30)
    palette = SearchPalette(hub, [])
    palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(palette)
    spans: list[tuple[object, ...]] = []
    sought: list[tuple[object, ...]] = []
    hub.selection.highlighted.connect(spans.append)
    hub.selection.seek.connect(lambda *to: sought.append(to))
    qtbot.waitUntil(lambda: bool(palette._index.bookmarks), timeout=SOON)
    (hit,) = type_(qtbot, palette, "VASE", "bookmarks")
    assert hit.text == "the vase falls" and hit.detail.startswith("01:30 – 02:00")
    assert ("s1", 90_000_000, 120_000_000) in spans[-1]
    assert len(type_(qtbot, palette, "bookmark", "bookmarks")) == 2
    type_(qtbot, palette, "vase", "bookmarks")
    palette._go()
    assert sought == [("s1", 90_000_000, False)]


def test_who_has_no_picture_is_listed_with_a_sign_of_their_own(qtbot: QtBot, palette: SearchPalette) -> None:
    palette._index = replace(palette._index, people=tuple(replace(p, portrait=None) for p in palette._index.people))
    type_(qtbot, palette, "person", "people")
    top = palette.tree.topLevelItem(0)
    assert top is not None and top.childCount()
    for row in range(top.childCount()):
        item = top.child(row)
        assert item.data(0, HIT).picture is None and not item.icon(0).isNull()


def test_hits_are_marked_in_graph_and_timeline_and_escape_takes_the_marks_back(qtbot: QtBot, palette: SearchPalette, hub: Hub) -> None:
    found: list[tuple[str, ...]] = []
    spans: list[tuple[object, ...]] = []
    hub.selection.found.connect(found.append)
    hub.selection.highlighted.connect(spans.append)
    memory = type_(qtbot, palette, "green tea", "memories")[0]
    assert memory.id in found[-1] and (memory.source, memory.start, memory.end) in spans[-1]
    qtbot.keyClick(palette.search, Qt.Key.Key_Escape)
    assert found[-1] == () and spans[-1] == () and not palette.isVisible()


def test_enter_selects_the_hit_and_plays_its_time(qtbot: QtBot, palette: SearchPalette, hub: Hub) -> None:
    played: list[tuple[object, ...]] = []
    hub.selection.seek.connect(lambda *to: played.append(to))
    spoken = type_(qtbot, palette, "green tea", "spoken")
    while palette.tree.currentItem().data(0, HIT) != spoken[0]:
        qtbot.keyClick(palette.search, Qt.Key.Key_Down)
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert hub.selection.current == ("observation", spoken[0].id)
    assert played == [(spoken[0].source, spoken[0].start, True)]


def test_enter_right_after_typing_does_not_go_to_the_hit_of_the_words_before(qtbot: QtBot, palette: SearchPalette, hub: Hub) -> None:
    type_(qtbot, palette, "Grace", "people")
    palette.search.setText("李梅")
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert hub.selection.current == ("person", "person_4")


def test_an_action_is_run(qtbot: QtBot, palette: SearchPalette) -> None:
    run: list[bool] = []
    palette._actions[0][1].triggered.connect(lambda checked: run.append(checked))
    type_(qtbot, palette, "export", "actions")
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert run == [False]


def test_a_dropped_picture_finds_the_people_in_it(qtbot: QtBot, palette: SearchPalette, desk: FakeDesk) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/photos/ann.jpg")])
    palette.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier))
    qtbot.waitUntil(lambda: bool(rows(palette)), timeout=SOON)
    assert desk.called("search_sample") == [(("/photos/ann.jpg", 20), {})]
    assert [(h.id, h.detail) for h in rows(palette)] == [("person_1", "similarity 0.80")]


def test_a_file_that_can_not_be_read_says_so_in_the_search(qtbot: QtBot, palette: SearchPalette, desk: FakeDesk) -> None:
    desk.fail["search_sample"] = SourceUnreadable("x.jpg is not a picture.", "Choose another one.")
    palette.search_file("/photos/x.jpg")
    qtbot.waitUntil(lambda: "is not a picture" in palette.said.text(), timeout=SOON)
    assert isValid(palette) and palette.isVisible()


def test_every_hit_is_told_to_a_screen_reader_with_its_group(qtbot: QtBot, palette: SearchPalette) -> None:
    type_(qtbot, palette, "李梅", "people")
    told = palette.tree.currentItem().data(0, Qt.ItemDataRole.AccessibleTextRole)
    assert told.startswith("People: 李梅")
    assert palette.search.accessibleName() and palette.tree.accessibleName()


def test_back_and_forward_step_through_what_was_selected(qapp: QApplication, hub: Hub) -> None:
    trail, selection = SelectionTrail(hub.selection), hub.selection
    for stop in ("person_1", "person_2", "person_4"):
        selection.select("person", stop)
    trail.go(back=True)
    trail.go(back=True)
    assert selection.current == ("person", "person_1") and trail.can_go == (False, True)
    trail.go(back=False)
    selection.select("node", "m1")
    assert trail.can_go == (True, False)
    selection.select("", "")
    trail.go(back=True)
    assert selection.current == ("node", "m1")
    trail.clear()
    assert trail.can_go == (False, False)


def test_what_holds_the_words_comes_before_memories_of_similar_meaning(
    qtbot: QtBot, palette: SearchPalette, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: Future[list[FoundNode]] = Future()
    node = FoundNode("s1.c1.e1", "episodic", "A woman cooks dinner.", 0.4, "meaning 0.83", "s1.c1", "s1", 1_000_000, 2_000_000)
    done.set_result([node, replace(node, id="s1.c1.e2", content="Ann says: “Green tea, please.”")])
    monkeypatch.setattr(desk, "search", lambda *_a, **_k: done)
    type_(qtbot, palette, "green tea", "alike")
    groups = [h.group for h in rows(palette)]
    assert groups[0] == "memories" and "spoken" in groups and groups[-1] == "alike"
    assert [h.id for h in rows(palette) if h.group == "alike"] == ["s1.c1.e1"]


def test_nothing_is_said_to_be_not_there_while_it_is_searched(
    qtbot: QtBot, palette: SearchPalette, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer: Future[list[FoundNode]] = Future()
    monkeypatch.setattr(desk, "search", lambda *_: answer)
    palette.search.setText("zebra")
    qtbot.waitUntil(lambda: not palette._later.isActive(), timeout=SOON)
    assert rows(palette) == [] and palette.said.text() == "Searching …"
    answer.set_result([])
    qtbot.waitUntil(lambda: palette.said.text() == "0 found", timeout=SOON)
