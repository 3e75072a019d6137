"""The window without a mouse: from the first page through every layout and dialog to each kind of correction, and its undo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from m3desk_ui.chat.turn import ChatTurn
from m3desk_ui.look import plain
from m3desk_ui.look.focus_ring import FocusRing
from m3desk_ui.people.person_picker import PersonPicker
from m3desk_ui.people.split_board import SplitBoard
from m3desk_ui.people.voice_links import VoiceLinks
from m3desk_ui.window.main_window import MainWindow
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QScrollArea, QTabBar, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from tests.ui import walking
from tests.ui.fakes import FakeDesk
from tests.ui.test_accessible import DIALOGS, shown

Key, Mods = Qt.Key, Qt.KeyboardModifier


class Walk:
    """Somebody at the keyboard: keys go to what has the focus."""

    def __init__(self, qtbot: QtBot, window: MainWindow, desk: FakeDesk) -> None:
        self.qtbot, self.window, self.desk = qtbot, window, desk

    def press(self, *keys: Qt.Key, held: Qt.KeyboardModifier = Mods.NoModifier) -> None:
        for key in keys:
            QTest.keyClick(self._focus(), key, held)

    def write(self, text: str) -> None:
        QTest.keyClicks(self._focus(), text)

    @staticmethod
    def _focus() -> QWidget:
        popup = QApplication.activePopupWidget()
        found = popup or QApplication.focusWidget() or QApplication.activeWindow()
        assert found is not None, "nothing has the focus"
        return found

    def to(self, widget: QWidget) -> None:
        """Press Tab until a widget has the focus."""
        for _ in range(150):
            if QApplication.focusWidget() is widget:
                return
            self.press(Key.Key_Tab)
        raise AssertionError(f"Tab does not lead to {walking.where(widget)}")

    def from_menu(self, text: str) -> None:
        """Open the context menu by its key and take an entry."""
        at = self._focus()
        point = at.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()  # as Qt does when the key comes from the screen
        QApplication.sendEvent(at, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, point, at.mapToGlobal(point)))
        self.qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu), timeout=60_000)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        for _ in menu.actions():
            self.press(Key.Key_Down)
            if (at := menu.activeAction()) is not None and at.text() == text:
                self.press(Key.Key_Return)
                return
        raise AssertionError(f"no “{text}” among {[a.text() for a in menu.actions()]}")

    def dialog(self, kind: type[QWidget]) -> QWidget:
        """Wait for a dialog, which gets the focus as a desktop would give it."""
        shown = lambda: next((w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()), None)  # noqa: E731
        self.qtbot.waitUntil(lambda: shown() is not None, timeout=60_000)
        found = shown()
        assert found is not None
        found.activateWindow()
        self.qtbot.waitUntil(found.isActiveWindow, timeout=60_000)
        return found

    def corrected(self, kind: str, **expected: Any) -> None:
        """Wait for a correction, and undo it by its key."""

        def done() -> bool:
            return any(
                args[0] == kind and all(args[1].get(k) == v for k, v in expected.items())
                for args, how in self.desk.called("correct")
                if not how.get("dry_run")
            )

        self.qtbot.waitUntil(done, timeout=60_000)
        self.undone()

    def undone(self) -> None:
        before = len(self.desk.called("undo"))
        self.window.activateWindow()
        self.qtbot.waitUntil(self.window.isActiveWindow, timeout=60_000)
        self.qtbot.waitUntil(lambda: self.window.actions_.all["undo"].isEnabled(), timeout=60_000)
        self.press(Key.Key_Z, held=Mods.ControlModifier)
        self.qtbot.waitUntil(lambda: len(self.desk.called("undo")) == before + 1, timeout=60_000)


@pytest.fixture
def walk(qtbot: QtBot, whole_window: Callable[[FakeDesk], MainWindow]) -> Walk:
    """The window on its first page, active."""
    desk = FakeDesk()
    window = whole_window(desk)
    with qtbot.waitActive(window, timeout=60_000):
        window.activateWindow()
    return Walk(qtbot, window, desk)


@pytest.fixture
def opened(walk: Walk, tmp_path: Path) -> Walk:
    """The same with a memory open."""
    walk.window.open_memory(str(tmp_path / "kitchen.m3desk"))
    walk.qtbot.waitUntil(lambda: walk.window.video.canvas.image is not None, timeout=60_000)
    walk.qtbot.waitUntil(lambda: walk.window.dock_area.views["people"].model.rowCount() == 8, timeout=60_000)  # type: ignore[attr-defined]
    walk.qtbot.waitUntil(lambda: QApplication.focusWidget() is walk.window.video.canvas, timeout=60_000)
    return walk


def test_from_the_first_page_a_memory_is_opened(walk: Walk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "kitchen.m3desk"
    folder.mkdir()
    (folder / "memory.sqlite").write_bytes(b"x")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    if QApplication.focusWidget() is None:
        walk.press(Key.Key_Tab)
    stops = walking.tabbed()
    assert walking.unreached(walk.window, stops) == []
    card = next(w for w in stops if "Open a memory" in walking.told(w))
    walk.to(card)
    walk.press(Key.Key_Space)
    walk.qtbot.waitUntil(lambda: walk.window.hub.path == str(folder), timeout=60_000)


def test_in_every_layout_each_stop_is_seen_and_the_film_can_be_played_from_it(opened: Walk) -> None:
    window = opened.window
    played: list[int] = []
    window.actions_.all["play_anywhere"].triggered.connect(lambda: played.append(1))
    for layout in ("explore", "people", "live"):
        window.dock_area.use_layout(layout)
        opened.qtbot.wait(50)
        window.video.canvas.setFocus()
        stops = walking.tabbed()
        assert walking.unreached(window, stops) == [], layout
        for stop in stops:
            walk_at = QApplication.focusWidget()
            assert walk_at is stop
            opened.press(Key.Key_Tab)
            now = QApplication.focusWidget()
            assert now is not None
            ring, place = window._ring.geometry(), QRect(now.mapTo(window, QPoint(0, 0)), now.size())
            assert window._ring.isVisible() and ring.intersects(place) and window.rect().intersects(place), (layout, walking.where(now))
            count = len(played)
            opened.press(Key.Key_Space, held=Mods.ControlModifier)
            assert len(played) == count + 1, (layout, walking.where(now))
        opened.press(Key.Key_Tab, held=Mods.ShiftModifier)
        assert QApplication.focusWidget() is stops[-1], layout


def test_space_and_k_play_where_they_mean_nothing_else(opened: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    window = opened.window
    views = window.dock_area.views
    played: list[int] = []
    monkeypatch.setattr(type(window.video), "pause", lambda _view: played.append(1))
    monkeypatch.setattr(type(window.video), "play", lambda _view: played.append(1))
    window.docks["memories"].raise_()
    window.docks["transcript"].raise_()
    opened.qtbot.waitUntil(lambda: window.transcript.lines.rowCount() > 0 and not window.transcript.list.isHidden(), timeout=60_000)
    for widget in (views["memories"].table, window.transcript.list, views["graph"].canvas):  # type: ignore[attr-defined]
        widget.setFocus()
        for key in (Key.Key_Space, Key.Key_K):
            count = len(played)
            opened.press(key)
            assert len(played) == count + 1, (walking.where(widget), key)
    window.docks["chat"].raise_()
    views["chat"].question.setFocus()  # type: ignore[attr-defined]
    opened.write("k k")
    assert views["chat"].question.text() == "k k"  # type: ignore[attr-defined]


def test_tab_goes_round_every_dialog(opened: Walk, subtests: pytest.Subtests) -> None:
    for name, make in DIALOGS.items():
        with subtests.test(name), shown(opened.qtbot, make(opened.window)) as dialog:
            dialog.activateWindow()
            opened.qtbot.waitUntil(
                lambda dialog=dialog: QApplication.focusWidget() is not None and dialog.isAncestorOf(QApplication.focusWidget()),
                timeout=60_000,
            )
            opened.qtbot.waitUntil(
                lambda dialog=dialog: walking.unreached(dialog, walking.tabbed()) == [], timeout=30_000
            )  # some of it is read first


def test_people_are_named_merged_hidden_and_that_is_undone(opened: Walk) -> None:
    people: Any = opened.window.dock_area.views["people"]
    opened.to(people.list)
    opened.press(Key.Key_Home)
    opened.press(Key.Key_F2)
    opened.qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QLineEdit), timeout=60_000)
    opened.press(Key.Key_A, held=Mods.ControlModifier)
    opened.write("Zoe")
    opened.press(Key.Key_Return)
    opened.corrected("name", name="Zoe")
    opened.qtbot.waitUntil(lambda: people.following.at_rest, timeout=60_000)
    opened.to(people.list)
    opened.press(Key.Key_Home)
    opened.press(Key.Key_Down, held=Mods.ShiftModifier)
    assert len(people.list.selectedIndexes()) == 2
    opened.press(Key.Key_M)
    opened.corrected("merge")
    opened.to(people.list)
    opened.press(Key.Key_Home)
    opened.from_menu("Hide person")
    opened.corrected("ignore", ignored=True)
    opened.to(people.list)
    opened.from_menu("Same person as…")
    opened.dialog(PersonPicker)
    opened.press(Key.Key_Escape)


def test_a_question_is_answered_and_undone(opened: Walk) -> None:
    people: Any = opened.window.dock_area.views["people"]
    opened.qtbot.waitUntil(people.ask.isVisible, timeout=60_000)
    opened.to(people.ask)
    opened.press(Key.Key_Space)
    opened.qtbot.waitUntil(lambda: people.questions.card.isVisible() and people.questions.card.shown is not None, timeout=60_000)
    opened.to(people.questions.card)
    opened.press(Key.Key_N)
    opened.qtbot.waitUntil(lambda: bool(opened.desk.called("reject")), timeout=60_000)
    opened.undone()


def test_memories_and_words_are_corrected_and_that_is_undone(opened: Walk) -> None:
    window = opened.window
    memories: Any = window.dock_area.views["memories"]
    window.docks["memories"].raise_()
    window.docks["transcript"].raise_()
    opened.qtbot.waitUntil(lambda: memories.model.rowCount() > 0, timeout=60_000)
    opened.to(memories.table)
    opened.press(Key.Key_Home)
    opened.from_menu("Pin")
    opened.corrected("pin")
    opened.to(memories.table)
    opened.press(Key.Key_Delete)
    opened.corrected("delete")
    lines = window.transcript.list
    opened.qtbot.waitUntil(lambda: window.transcript.lines.rowCount() > 0 and lines.isVisible(), timeout=60_000)
    opened.to(lines)
    opened.press(Key.Key_Home)
    opened.from_menu("Not speech")
    opened.corrected("set-aside")
    opened.to(lines)
    opened.from_menu("This is…")
    chip = window.transcript.chip
    assert chip is not None
    opened.qtbot.waitUntil(lambda: chip.isVisible(), timeout=60_000)
    QTest.keyClicks(chip.edit, "Zoe")
    QTest.keyClick(chip.edit, Key.Key_Return)
    opened.qtbot.waitUntil(lambda: any(a[0] in ("name", "assign") for a, _ in opened.desk.called("correct")), timeout=60_000)
    opened.undone()


def test_faces_and_speech_of_somebody_are_moved_to_somebody_new_and_to_somebody_known(opened: Walk) -> None:
    people: Any = opened.window.dock_area.views["people"]
    opened.to(people.list)
    opened.press(Key.Key_Home)
    opened.from_menu("Several people: separate…")
    board: Any = opened.dialog(SplitBoard)
    first, second = (group.list for group in board.groups)
    opened.qtbot.waitUntil(lambda: first.count() > 3 and QApplication.focusWidget() is first, timeout=60_000)
    assert walking.unreached(board, walking.tabbed()) == []
    whole = first.count()
    opened.press(Key.Key_Home, Key.Key_Space)
    assert (first.count(), second.count()) == (whole - 1, 1)
    opened.press(Key.Key_Space)
    assert (first.count(), second.count()) == (whole - 2, 2), "the next one is ready to be moved"
    opened.to(second)
    opened.press(Key.Key_Home)
    opened.press(Key.Key_1, held=Mods.ControlModifier)
    assert (first.count(), second.count()) == (whole - 1, 1)
    opened.to(first)
    opened.press(Key.Key_Home)
    opened.press(Key.Key_Down, held=Mods.ShiftModifier)
    opened.press(Key.Key_2, held=Mods.ControlModifier)
    assert (first.count(), second.count()) == (whole - 3, 3)
    opened.to(board.groups[1].who)
    opened.press(Key.Key_Space)
    opened.dialog(PersonPicker)
    opened.write("Bob")
    opened.press(Key.Key_Return)
    opened.qtbot.waitUntil(lambda: board.groups[1].who.text() == "Bob", timeout=60_000)
    opened.dialog(SplitBoard)
    opened.to(board.add)
    opened.press(Key.Key_Space)
    third = board.groups[2].list
    opened.to(first)
    opened.press(Key.Key_End)
    opened.press(Key.Key_3, held=Mods.ControlModifier)
    assert third.count() == 1
    known, new = second.observations(), third.observations()
    opened.to(board.apply)
    opened.press(Key.Key_Space)
    opened.corrected("assign", observations=known, person="person_2")
    opened.corrected("split", observations=new)


def test_selected_faces_of_a_page_are_split_off_and_that_is_undone(opened: Walk) -> None:
    people: Any = opened.window.dock_area.views["people"]
    opened.to(people.list)
    opened.press(Key.Key_Home, Key.Key_Return)
    faces, tabs = people.page.faces, people.page.tabs
    opened.qtbot.waitUntil(lambda: faces.count() > 2 and tabs.isVisible(), timeout=60_000)
    opened.to(tabs.tabBar())
    for _ in range(tabs.indexOf(faces)):
        opened.press(Key.Key_Right)
    assert tabs.currentWidget() is faces
    opened.to(faces)
    opened.press(Key.Key_Home)
    opened.press(Key.Key_Right, held=Mods.ShiftModifier)
    opened.from_menu("Two people: split off the selected ones")
    opened.corrected("split")


def test_a_face_and_a_voice_are_separated_joined_and_given_to_another(opened: Walk) -> None:
    people: Any = opened.window.dock_area.views["people"]
    opened.to(people.list)
    opened.write("Ann")
    opened.from_menu("Face and voice…")
    links: Any = opened.dialog(VoiceLinks)
    opened.qtbot.waitUntil(lambda: links.rows.topLevelItemCount() == 2 and QApplication.focusWidget() is links.rows, timeout=60_000)
    assert walking.unreached(links, walking.tabbed()) == []
    opened.to(links.toggle)
    opened.press(Key.Key_Space)
    opened.corrected("unlink", face="n1", voice="n2")
    links.activateWindow()
    opened.qtbot.waitUntil(lambda: links.isActiveWindow() and links.rows.topLevelItemCount() == 2, timeout=60_000)
    opened.to(links.rows)
    opened.press(Key.Key_Down)
    opened.to(links.toggle)
    opened.press(Key.Key_Space)
    opened.corrected("link", face="n1", voice="n4")
    links.activateWindow()
    opened.qtbot.waitUntil(links.isActiveWindow, timeout=60_000)
    opened.to(links.other)
    opened.press(Key.Key_Space)
    opened.dialog(PersonPicker)
    opened.write("Bob")
    opened.press(Key.Key_Return)
    opened.corrected("link")
    links.activateWindow()
    opened.qtbot.waitUntil(links.isActiveWindow, timeout=60_000)
    opened.press(Key.Key_Escape)
    opened.qtbot.waitUntil(lambda: not isValid(links), timeout=60_000)


def test_f6_goes_from_area_to_area_and_back(opened: Walk) -> None:
    window, views = opened.window, opened.window.dock_area.views
    seen: list[QWidget] = []
    for _ in range(12):
        opened.press(Key.Key_F6)
        now = QApplication.focusWidget()
        assert now is not None and not now.visibleRegion().isEmpty(), "the focus is where it can be seen"
        if now in seen:
            break
        seen.append(now)
    assert {views["people"].list, views["graph"].canvas, views["timeline"].canvas, views["chat"].question} <= set(seen)  # type: ignore[attr-defined]
    assert window.video.canvas in seen and len(seen) == 5, "views behind others are left out"
    views["people"].open_page("person_1")  # type: ignore[attr-defined]
    window.video.canvas.setFocus()
    opened.press(Key.Key_F6, held=Mods.ShiftModifier)
    page = QApplication.focusWidget()
    assert page is not None and not isinstance(page, QTabBar) and views["people"].isAncestorOf(page)
    before = QApplication.focusWidget()
    opened.press(Key.Key_F6)
    opened.press(Key.Key_F6, held=Mods.ShiftModifier)
    assert QApplication.focusWidget() is before


def test_who_was_found_by_search_can_be_named_and_merged_at_once(opened: Walk) -> None:
    opened.press(Key.Key_K, held=Mods.ControlModifier)
    palette = opened.window.palette_
    assert palette is not None
    opened.qtbot.waitUntil(lambda: bool(palette._index.people), timeout=30_000)
    QTest.keyClicks(palette.search, "Bob")
    opened.qtbot.waitUntil(lambda: _is_person(palette), timeout=30_000)
    QTest.keyClick(palette.search, Key.Key_Return)
    people: Any = opened.window.dock_area.views["people"]
    opened.qtbot.waitUntil(lambda: opened.window.focusWidget() is people.list, timeout=30_000)
    opened.qtbot.waitUntil(lambda: bool(people.list.selectedIndexes()), timeout=30_000)
    QTest.keyClick(people.list, Key.Key_M)
    opened.qtbot.waitUntil(lambda: people.findChild(PersonPicker) is not None, timeout=30_000)
    people.findChild(PersonPicker).reject()
    assert opened.window.focusWidget() is people.list


def _is_person(palette: Any) -> bool:
    item = palette.tree.currentItem()
    return item is not None and item.data(0, Qt.ItemDataRole.UserRole).group == "people"


def test_who_was_found_by_search_is_shown_in_place_of_somebody_elses_page_and_escape_leads_back(opened: Walk) -> None:
    people: Any = opened.window.dock_area.views["people"]
    people.list.setFocus()
    opened.press(Key.Key_Down, Key.Key_Return)
    opened.qtbot.waitUntil(lambda: people.stack.currentWidget() is people.page, timeout=30_000)
    opened.press(Key.Key_K, held=Mods.ControlModifier)
    palette = opened.window.palette_
    assert palette is not None
    opened.qtbot.waitUntil(lambda: bool(palette._index.people), timeout=30_000)
    palette.search.setText("李梅")
    opened.qtbot.waitUntil(lambda: _is_person(palette), timeout=30_000)
    QTest.keyClick(palette.search, Key.Key_Return)
    opened.qtbot.waitUntil(lambda: people.page.person_id == "person_4", timeout=30_000)
    opened.qtbot.waitUntil(lambda: (w := opened.window.focusWidget()) is not None and people.page.isAncestorOf(w), timeout=30_000)
    QTest.keyClick(opened.window.focusWidget(), Key.Key_Escape)
    assert people.stack.currentIndex() == 0 and opened.window.focusWidget() is people.list


def test_a_citation_of_an_answer_is_reached_and_followed(opened: Walk) -> None:
    chat: Any = opened.window.dock_area.views["chat"]
    opened.press(Key.Key_L, held=Mods.ControlModifier)
    opened.qtbot.waitUntil(lambda: QApplication.focusWidget() is chat.question, timeout=30_000)
    for question in ("Who asked for coffee?", "Who asked for tea?"):
        opened.press(Key.Key_L, held=Mods.ControlModifier)
        opened.write(question)
        opened.press(Key.Key_Return)
        opened.qtbot.waitUntil(lambda q=question: _is_answered(chat, q), timeout=30_000)
    turn = lambda: chat.findChildren(ChatTurn)[-1]  # noqa: E731
    followed: list[str] = []
    turn().followed.connect(followed.append)
    above: list[QWidget | None] = []
    while QApplication.focusWidget() is not chat.area and len(above) < 40:
        opened.press(Key.Key_Tab, held=Mods.ShiftModifier)
        above.append(QApplication.focusWidget())
    shown = list(dict.fromkeys(w for w in above if isinstance(w, plain.Stream)))
    assert shown[0] is turn().answer and above.index(turn().answer) <= 1, "it stands right above the question"
    places = [w.mapTo(chat, w.rect().topLeft()).y() for w in shown]
    assert len(shown) == len(chat.findChildren(ChatTurn)) and places == sorted(places, reverse=True)
    opened.to(turn().answer)
    for _ in range(3):
        opened.press(Key.Key_Return)
        if followed:
            break
        opened.press(Key.Key_Tab)
    assert followed and QApplication.focusWidget() is turn().answer


def _is_answered(chat: Any, question: str) -> bool:
    return any(t.question == question and t.done is not None for t in chat.findChildren(ChatTurn))


def test_the_ring_stays_where_its_widget_can_be_seen(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(300, 300)
    area = QScrollArea(window)
    area.setGeometry(20, 20, 200, 100)
    field = QLineEdit()
    field.setFixedSize(150, 400)
    area.setWidget(field)
    ring = FocusRing(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=30_000)
    field.setFocus()
    ring.moving(False)
    assert ring.isVisible() and area.geometry().adjusted(-2, -2, 2, 2).contains(ring.geometry())


def test_enter_presses_a_tool_button_of_the_window(opened: Walk) -> None:
    people: Any = opened.window.dock_area.views["people"]
    shown = people.grid.isChecked()
    opened.to(people.grid)
    opened.press(Key.Key_Return)
    assert people.grid.isChecked() is not shown
