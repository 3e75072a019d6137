"""A list of rows of different heights measures only new rows, and keeps its position while rows come and go."""

from __future__ import annotations

import numpy as np
import pytest
from m3desk_ui.video.line_list import LineList
from PySide6.QtCore import QModelIndex, QPoint, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication
from pytestqt.qtbot import QtBot


class Lines:
    """A shown list of rows as high as their text says; notes which rows are measured."""

    def __init__(self, qtbot: QtBot, rows: list[int]) -> None:
        self.asked: list[int] = []
        self.model = QStringListModel([str(height) for height in rows])
        self.list = LineList(self._height, lambda: np.full(self.model.rowCount(), 30, np.int64))
        self.list.setModel(self.model)
        qtbot.addWidget(self.list)
        self.list.resize(200, 100)
        self.list.show()
        qtbot.waitUntil(lambda: not self.list._rest.isActive(), timeout=30_000)
        self.list.setCurrentIndex(QModelIndex())  # some platforms give a shown list the focus, and its first row is the current one then

    def _height(self, row: int) -> int:
        self.asked.append(row)
        return int(self.model.stringList()[row])

    def put(self, row: int, height: int) -> None:
        self.model.insertRows(row, 1)
        self.model.setData(self.model.index(row), str(height))

    def top(self, row: int) -> int:
        return self.list.visualRect(self.model.index(row)).top()


@pytest.fixture
def lines(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Lines:
    found = Lines(qtbot, [20 + n % 7 for n in range(3_000)])
    monkeypatch.setattr(found.list, "_measure", lambda row: found.asked.append(row) or int(found.model.stringList()[row] or 10))
    found.asked.clear()
    return found


def test_a_row_that_comes_is_measured_and_no_other(lines: Lines) -> None:
    for _ in range(3):
        lines.put(lines.model.rowCount(), 50)
    QApplication.processEvents()
    assert set(lines.asked) == {3_000, 3_001, 3_002}
    assert lines.top(3_002) - lines.top(3_001) == 50
    assert lines.list.verticalScrollBar().maximum() == sum(20 + n % 7 for n in range(3_000)) + 150 - lines.list.viewport().height()


def test_what_is_read_stays_where_it_is_while_rows_come_and_go_above(lines: Lines) -> None:
    lines.list.scrollTo(lines.model.index(1_000), QAbstractItemView.ScrollHint.PositionAtTop)
    assert lines.top(1_000) == 0
    lines.put(5, 60)
    assert lines.top(1_001) == 0
    lines.model.setData(lines.model.index(7), "90")
    assert lines.top(1_001) == 0
    lines.list.setCurrentIndex(lines.model.index(2))
    lines.list.scrollTo(lines.model.index(1_001), QAbstractItemView.ScrollHint.PositionAtTop)
    lines.model.removeRows(0, 10)
    assert lines.top(991) == 0, "nor does the row that is the current one now come into view"


@pytest.mark.slow
def test_what_is_on_a_point_is_what_is_painted_there(lines: Lines) -> None:
    lines.list.scrollTo(lines.model.index(500), QAbstractItemView.ScrollHint.PositionAtCenter)
    for row in (499, 500, 501):
        area = lines.list.visualRect(lines.model.index(row))
        assert lines.list.indexAt(area.center()).row() == row
        assert lines.list.indexAt(area.topLeft()).row() == row
    assert lines.list.indexAt(QPoint(5, lines.list.verticalScrollBar().maximum() + 10_000)).row() == -1


@pytest.mark.slow
def test_keys_walk_through_the_rows_and_bring_them_into_view(lines: Lines) -> None:
    def press(key: Qt.Key) -> int:
        lines.list.keyPressEvent(QKeyEvent(QKeyEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier))
        row = lines.list.currentIndex().row()
        assert 0 <= lines.top(row) < lines.list.viewport().height()
        return row

    assert [press(k) for k in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up)] == [0, 1, 0]
    assert press(Qt.Key.Key_End) == 2_999
    assert press(Qt.Key.Key_PageUp) < 2_999
    assert press(Qt.Key.Key_Home) == 0


@pytest.mark.slow
def test_another_width_measures_again_and_keeps_the_place(qtbot: QtBot, lines: Lines) -> None:
    lines.list.scrollTo(lines.model.index(1_000), QAbstractItemView.ScrollHint.PositionAtTop)
    lines.list.resize(300, 100)
    assert lines.top(1_000) == 0
    qtbot.waitUntil(lambda: not lines.list._rest.isActive())
    assert set(lines.asked) >= set(range(3_000))
    assert abs(lines.top(1_000)) <= 1


def test_a_row_far_away_is_in_view_though_the_rows_around_it_were_not_measured(qtbot: QtBot) -> None:
    lines = Lines(qtbot, [20 + n % 7 for n in range(3_000)])
    lines.list.forget()
    lines.list.scrollTo(lines.model.index(2_000))
    area = lines.list.visualRect(lines.model.index(2_000))
    assert area.top() >= 0 and area.bottom() < lines.list.viewport().height()
