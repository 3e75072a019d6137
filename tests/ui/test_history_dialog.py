"""The history lists the corrections of a memory and takes one of them back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.window.history_dialog import HistoryDialog
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, world: World) -> HistoryDialog:
    first = world.steps[0]
    world.steps[:] = [
        first,
        replace(first, step=2, kind="merge", text="merged Person 2 into Ann", undone=True),
        replace(first, step=3, kind="split", text="split Ann", at="2026-11-21T09:30:00.000+00:00"),
        replace(first, step=4, kind="revert", text="took back step 2"),
    ]
    dialog = HistoryDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.rows.topLevelItemCount() > 0, timeout=30_000)
    return dialog


def shown(dialog: HistoryDialog) -> list[str]:
    return [dialog.rows.topLevelItem(i).text(1) for i in range(dialog.rows.topLevelItemCount())]  # type: ignore[union-attr]


def test_corrections_are_listed_newest_first_and_those_taken_back_on_request(dialog: HistoryDialog) -> None:
    assert shown(dialog) == ["split Ann", "named Person 1 Ann"]
    dialog.also_undone.setChecked(True)
    assert shown(dialog) == ["split Ann", "(taken back) merged Person 2 into Ann", "named Person 1 Ann"]
    dialog.rows.setCurrentItem(dialog.rows.topLevelItem(1))
    assert not dialog.back.isEnabled()
    first = dialog.rows.topLevelItem(0)
    assert first is not None and first.text(2) == "you"


def test_an_older_correction_is_taken_back_after_its_effect_was_shown(
    qtbot: QtBot, dialog: HistoryDialog, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(plain, "sure", lambda *given: asked.append(given[3]) or True)
    dialog.rows.setCurrentItem(dialog.rows.topLevelItem(1))
    with qtbot.waitSignal(hub.offer):
        dialog.back.click()
    assert asked == ["revert: changes 3 memories"]
    assert desk.called("revert") == [((1,), {})]


def test_a_forgetting_can_not_be_chosen_to_be_taken_back(qtbot: QtBot, dialog: HistoryDialog, world: World) -> None:
    world.steps.append(replace(world.steps[0], step=5, kind="forget", text="forgets somebody for good"))
    dialog.following.restart()
    qtbot.waitUntil(lambda: len(shown(dialog)) == 3, timeout=30_000)
    dialog.rows.setCurrentItem(dialog.rows.topLevelItem(0))
    assert not dialog.back.isEnabled()
    dialog.rows.setCurrentItem(dialog.rows.topLevelItem(1))
    assert dialog.back.isEnabled()


def test_a_new_correction_appears_at_once(qtbot: QtBot, dialog: HistoryDialog, hub: Hub) -> None:
    hub.correct("name", {"person": "person_2", "name": "Bob"})
    qtbot.waitUntil(lambda: len(shown(dialog)) == 3, timeout=30_000)


def test_it_closes_with_its_memory(qtbot: QtBot, dialog: HistoryDialog, hub: Hub) -> None:
    hub.open(None)
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=30_000)


@pytest.fixture
def beside(qtbot: QtBot, hub: Hub, world: World) -> Iterator[HistoryDialog]:
    """A dialog as the window shows it: it is deleted when it closes."""
    window = QWidget()
    qtbot.addWidget(window)
    dialog = HistoryDialog(hub, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.rows.topLevelItemCount() > 0, timeout=30_000)
    yield dialog
    assert isValid(window)  # which keeps it


def test_a_correction_or_another_memory_after_it_was_closed_is_no_fault(
    qtbot: QtBot, beside: HistoryDialog, hub: Hub, desk: FakeDesk
) -> None:
    beside.reject()
    qtbot.waitUntil(lambda: not isValid(beside), timeout=30_000)
    with qtbot.waitSignal(hub.corrected):
        hub.correct("name", {"person": "person_2", "name": "Bob"})
    hub.open(desk)
    qtbot.wait(50)


def test_a_preview_that_comes_after_it_was_closed_asks_nothing(
    qtbot: QtBot, beside: HistoryDialog, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "sure", lambda *_: True)
    beside.take_back()
    beside.reject()
    qtbot.waitUntil(lambda: bool(desk.called("correct")), timeout=30_000)
    qtbot.wait(50)
    assert desk.called("revert") == []
