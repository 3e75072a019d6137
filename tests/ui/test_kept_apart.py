"""The walls of a memory: who is kept apart, since when and why; one is taken back after its effect was shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.people.kept_apart import KeptApart
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from tests.ui.fakes import FakeDesk


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, desk: FakeDesk) -> KeptApart:
    (wall,) = desk.kept_apart
    text = "unlinks a face of Ann and a voice of Carol"
    desk.kept_apart.append(replace(wall, step=2, text=text, b="person_3", state="waiting", why=None))
    dialog = KeptApart(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.rows.topLevelItemCount() == 2, timeout=30_000)
    return dialog


def test_each_wall_tells_who_why_and_since_when(dialog: KeptApart) -> None:
    first, second = (dialog.rows.topLevelItem(i) for i in range(2))
    assert first is not None and second is not None
    assert [first.text(0), first.text(1)] == ["Ann", "Bob"]
    assert first.text(2) == "Noted that Ann and Bob are two people — twins" and first.text(3)
    assert second.text(2).startswith("(its evidence is missing now)")


def test_the_chosen_pair_is_shown_in_all_views(dialog: KeptApart, hub: Hub, qtbot: QtBot) -> None:
    with qtbot.waitSignal(hub.selection.found) as told:
        dialog.rows.setCurrentItem(dialog.rows.topLevelItem(1))
    assert told.args[0] == ("person_1", "person_3") and hub.selection.current == ("person", "person_1")


def test_a_wall_is_taken_back_after_its_effect_was_shown_and_undo_is_offered(
    dialog: KeptApart, hub: Hub, desk: FakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(plain, "sure", lambda *given: asked.append(given[3]) or True)
    dialog.rows.setCurrentItem(dialog.rows.topLevelItem(0))
    with qtbot.waitSignal(hub.offer) as told:
        dialog.back.click()
    assert asked == ["revert: changes 3 memories"] and desk.called("revert") == [((1,), {})]
    assert told.args[1] == "undo"


def test_without_walls_it_says_how_they_come(dialog: KeptApart, desk: FakeDesk, qtbot: QtBot) -> None:
    desk.kept_apart.clear()
    dialog.read()
    qtbot.waitUntil(lambda: dialog.none.isVisible(), timeout=30_000)
    assert not dialog.back.isEnabled()


def test_a_correction_after_it_was_closed_is_no_fault(hub: Hub, desk: FakeDesk, qtbot: QtBot) -> None:
    closed = KeptApart(hub)
    closed.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    closed.show()
    closed.close()
    qtbot.waitUntil(lambda: not isValid(closed), timeout=30_000)
    with qtbot.waitSignal(hub.corrected):
        hub.correct("name", {"person": "person_1", "name": "Anne"})
