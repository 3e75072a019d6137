"""How right the memory is: pairs answered by keys or buttons, the result with its interval, or a comparison with a truth file."""

from __future__ import annotations

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.scorecard import Scorecard
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from m3desk.errors import M3DeskError
from tests.ui.fakes import FakeDesk


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub) -> Scorecard:
    made = Scorecard(hub)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: bool(made.pairs), timeout=30_000)
    return made


def table(dialog: Scorecard) -> dict[str, str]:
    items = [dialog.table.topLevelItem(i) for i in range(dialog.table.topLevelItemCount())]
    return {item.text(0): item.text(1) for item in items if item is not None}


def test_pairs_are_answered_by_keys_and_the_result_has_its_interval(dialog: Scorecard, desk: FakeDesk, qtbot: QtBot) -> None:
    assert "1 of 3" in dialog.said.text() and dialog.left.sample is not None
    assert dialog.focusWidget() is dialog.yes, "Space answers, it does not ask for a truth file"
    QTest.keyClick(dialog, Qt.Key.Key_Y)
    QTest.keyClick(dialog, Qt.Key.Key_N)
    assert "3 of 3" in dialog.said.text() and dialog.left.sample.crop is None
    QTest.keyClick(dialog, Qt.Key.Key_D)
    qtbot.waitUntil(lambda: bool(table(dialog)), timeout=30_000)
    assert list(desk.called("score")[0][0][0].values()) == [True, False]
    assert table(dialog)["Precision"] == "97 % (88–100 %)" and "2 pairs answered" in dialog.said.text()


def test_an_answer_can_be_changed_and_the_result_shown_early(dialog: Scorecard, desk: FakeDesk, qtbot: QtBot) -> None:
    dialog.yes.click()
    dialog.before.click()
    assert "1 of 3" in dialog.said.text()
    dialog.no.click()
    dialog.enough.click()
    qtbot.waitUntil(lambda: bool(table(dialog)), timeout=30_000)
    assert list(desk.called("score")[0][0][0].values()) == [False]


def test_a_side_is_played(dialog: Scorecard, hub: Hub, qtbot: QtBot) -> None:
    with qtbot.waitSignal(hub.selection.seek) as told:
        QTest.keyClick(dialog, Qt.Key.Key_2)
    assert dialog.right.sample is not None and told.args[:2] == [dialog.right.sample.source, dialog.right.sample.at]


REPORT = {
    "faces": {"labelled": 120, "true_people": 4, "pairwise": {"precision": 0.981, "recall": 0.9}, "people_per_person": 1.25},
    "voices": {"labelled": 0},
    "links": {"right": 3, "possible": 4, "wrong": 1},
    "attribution_detail": {"sentences": {"accuracy": 0.875, "right": 7, "wrong": 1}},
    "people": [{"true": "A", "person": "person_1", "people": ["person_1", "person_3"]}, {"true": "B", "person": None, "people": []}],
}


def test_the_memory_is_compared_with_a_chosen_truth_file(
    dialog: Scorecard, desk: FakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.report_of_truth = REPORT
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (["/truth/kitchen.rttm"], ""))
    dialog.truth.click()
    qtbot.waitUntil(lambda: bool(table(dialog)), timeout=30_000)
    assert desk.called("evaluate") == [((("/truth/kitchen.rttm",),), {})]
    shown = table(dialog)
    assert shown["Faces: precision"] == "98.1 %" and shown["Faces: people for each"] == "1.25" and shown["Voices"] == "–"
    assert shown["Face and voice"] == "75.0 %" and shown["Sentences"] == "87.5 %" and shown["B"] == "–"


def test_a_file_that_is_no_truth_is_told_and_the_pairs_go_on(dialog: Scorecard, desk: FakeDesk, qtbot: QtBot) -> None:
    desk.fail["evaluate"] = M3DeskError("notes.txt is no truth.", "Known: RTTM.")
    dialog.compare(["/notes.txt"])
    qtbot.waitUntil(lambda: "no truth" in dialog.said.text(), timeout=30_000)
    assert dialog.yes.isEnabled() and dialog.truth.isEnabled()
