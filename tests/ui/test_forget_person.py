"""Forgetting a person: what would go, a dangerous button that is never the default, then the proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people import person_menu
from m3desk_ui.people.forget_person import ForgetPerson
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from m3desk.errors import CorrectionError
from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, world: World) -> Iterator[ForgetPerson]:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = ForgetPerson(hub, next(p for p in world.people if p.id == "person_1"), parent)
    made.show()
    qtbot.waitUntil(lambda: made.go.isEnabled(), timeout=30_000)
    yield made


def forgotten(desk: FakeDesk) -> list[tuple[object, ...]]:
    return [(*args, kw["sources"]) for args, kw in desk.called("forget_person") if not kw["dry_run"]]


def test_it_shows_what_would_go_and_enter_cancels(dialog: ForgetPerson, desk: FakeDesk, qtbot: QtBot) -> None:
    shown = dialog.effect.toPlainText()
    assert "Ann" in dialog.question.text()
    assert "faces and utterances: 12" in shown and "memories that rest on them: 9" in shown and "still show" in shown
    assert not dialog.go.isDefault() and not dialog.go.autoDefault() and dialog.cancel.isDefault()
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible(), timeout=30_000)
    assert forgotten(desk) == []


@pytest.mark.parametrize("on", ["way", "go"])
def test_enter_cancels_wherever_the_focus_is(dialog: ForgetPerson, desk: FakeDesk, qtbot: QtBot, on: str) -> None:
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow, timeout=30_000)
    dialog.ways["forget"].setFocus()  # buttons that the focus passes by become the default, and it goes back to the dialog's own
    at = dialog.go if on == "go" else dialog.ways["forget"]
    at.setFocus()
    QTest.keyClick(at, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible(), timeout=30_000)
    assert forgotten(desk) == []


def test_each_way_is_previewed_again_and_done_as_chosen(dialog: ForgetPerson, desk: FakeDesk, qtbot: QtBot) -> None:
    dialog.ways["never"].setChecked(True)
    assert not dialog.go.isEnabled()
    qtbot.waitUntil(lambda: dialog.go.isEnabled(), timeout=30_000)
    dialog.sources.setChecked(True)
    qtbot.waitUntil(lambda: dialog.go.isEnabled() and "22 memories" in dialog.effect.toPlainText(), timeout=30_000)
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.question.text() == "Forgotten.", timeout=30_000)
    assert forgotten(desk) == [("person_1", "never", True)]


def test_the_proof_says_what_was_searched_and_nothing_is_left(dialog: ForgetPerson, qtbot: QtBot) -> None:
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.question.text() == "Forgotten.", timeout=30_000)
    shown = dialog.effect.toPlainText()
    assert "Searched 30 tables, 20 files" in shown and "80 pictures and 12 sounds: nothing of them is left." in shown
    assert not dialog.go.isVisible() and dialog.cancel.text() == "Close"


def test_what_is_left_and_who_looks_alike_is_listed_with_links(dialog: ForgetPerson, desk: FakeDesk, hub: Hub, qtbot: QtBot) -> None:
    desk.forgotten = replace(desk.forgotten, found=("file note.txt: their name",), alike=(("s1.c1.f0", "person_2"), ("s1.c2.f0", None)))
    dialog.go.click()
    qtbot.waitUntil(lambda: "something is left" in dialog.question.text(), timeout=30_000)
    qtbot.waitUntil(lambda: "note.txt" in dialog.effect.toPlainText(), timeout=30_000)
    shown = dialog.effect.toPlainText()
    assert "Bob" in shown and "nobody's" in shown
    dialog.effect.anchorClicked.emit("m3://person/person_2")
    assert hub.selection.current == ("person", "person_2")


def test_it_can_not_be_closed_while_it_forgets(dialog: ForgetPerson) -> None:
    dialog._working = True
    dialog.reject()
    dialog.close()
    assert dialog.isVisible()
    dialog._working = False


def test_what_went_wrong_is_told_in_its_place(dialog: ForgetPerson, desk: FakeDesk, qtbot: QtBot) -> None:
    desk.fail["forget_person"] = CorrectionError("Nobody here is called person_1.", "Check the name.")
    dialog.go.click()
    qtbot.waitUntil(lambda: "Nobody here" in dialog.effect.toPlainText(), timeout=30_000)


def test_it_is_in_the_menu_of_a_person_and_asks_who_where_nobody_is_selected(hub: Hub, qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    menu = QMenu(parent)
    person_menu.fill(menu, hub, "person_1", parent)
    next(a for a in menu.actions() if a.text().startswith("Forget")).trigger()
    qtbot.waitUntil(lambda: any(isinstance(w, ForgetPerson) for w in parent.children()), timeout=30_000)
    person_menu.forget(hub, parent)
    picker = person_menu.PersonPicker
    qtbot.waitUntil(lambda: any(isinstance(w, picker) for w in parent.children()), timeout=30_000)
