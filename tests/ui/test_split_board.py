"""Separating one person into several: faces and voices are moved into groups by key, button or drag, then each group is one correction."""

from __future__ import annotations

from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.evidence_list import ITEM
from m3desk_ui.people.split_board import SplitBoard
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def board(qtbot: QtBot, hub: Hub) -> SplitBoard:
    board = SplitBoard(hub, "person_2")
    board.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(board)
    board.show()
    qtbot.waitUntil(lambda: board.groups[0].list.count() > 3, timeout=30_000)
    return board


def held(board: SplitBoard, group: int) -> list[str]:
    return [o for row in board.groups[group].list.rows() for o in row.data(ITEM).observations]


def test_nothing_can_be_separated_before_something_is_moved(board: SplitBoard) -> None:
    assert not board.apply.isEnabled() and not board.groups[1].take.isEnabled()
    assert board.groups[0].who.text() == "Bob" and "Somebody new" in board.groups[1].who.text()


def test_a_group_says_what_it_has_of_each_kind(board: SplitBoard) -> None:
    first, second = board.groups[:2]
    kinds = [r.data(ITEM).kind for r in first.list.rows()]
    faces, said = kinds.count("face"), len(kinds) - kinds.count("face")
    assert faces > 1 and said > 1, "the made memory has both"
    assert first.count.text() == f"{faces} faces · {said} utterances" and second.count.text() == "nothing yet"
    second.list.take_from(first.list, first.list.rows()[0])
    assert second.count.text() in ("1 face", "1 utterance")
    assert first.list.viewMode() == second.list.viewMode(), "groups look alike"


def test_groups_are_filled_by_keys_and_each_becomes_somebody(qtbot: QtBot, board: SplitBoard, desk: FakeDesk) -> None:
    first = board.groups[0].list
    everything = held(board, 0)
    first.setCurrentRow(0)
    qtbot.keyClick(first, Qt.Key.Key_Space)
    third = board.add_group()
    first.setCurrentRow(1)
    qtbot.keyClick(first, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert [len(held(board, n)) for n in (0, 1, 2)] == [len(everything) - 2, 1, 1]
    third.new_name = "Carol"
    moved = held(board, 1), held(board, 2)
    board.apply.click()
    qtbot.waitUntil(lambda: not board.isVisible(), timeout=30_000)
    assert [call[0] for call in desk.called("correct")] == [
        ("split", {"person": "person_2", "observations": moved[0]}),
        ("split", {"person": "person_2", "observations": moved[1], "name": "Carol"}),
    ]


def test_a_group_can_be_somebody_known(qtbot: QtBot, board: SplitBoard, hub: Hub, desk: FakeDesk) -> None:
    board.groups[0].list.setCurrentRow(0)
    board.groups[1].take.click()
    board.groups[1].person = hub.desk.reader().person("person_1")  # type: ignore[union-attr]
    moved = held(board, 1)
    board.apply.click()
    qtbot.waitUntil(lambda: bool(desk.called("correct")), timeout=30_000)
    assert desk.called("correct")[-1][0] == ("assign", {"observations": moved, "person": "person_1", "name": None})


def test_the_suggestion_of_the_memory_can_be_filled_in(qtbot: QtBot, board: SplitBoard, world: World) -> None:
    qtbot.waitUntil(lambda: board.suggest.isVisible(), timeout=30_000)
    last = held(board, 0)[-1]
    asked = next(q for q in world.questions if q.kind == "two_people")
    board._suggestions([replace(asked, groups=(("s1.c0.f1",), (last,)))])
    board.suggest.click()
    assert held(board, 1) == [last]


def test_words_find_what_is_said(board: SplitBoard) -> None:
    board.search.setText("tea")
    rows = board.groups[0].list.rows()
    assert any(r.isHidden() for r in rows) and any(not r.isHidden() for r in rows)


def test_a_board_closes_with_its_memory(qtbot: QtBot, board: SplitBoard, hub: Hub) -> None:
    hub.open(None)
    assert not board.isVisible()
