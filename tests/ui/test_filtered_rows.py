"""The filtering and sorting proxy model always shows the rows of its table, and selections stay on their rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from m3desk_ui.memory.filtered_rows import FilteredRows
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot


class Numbers(QAbstractTableModel):
    """A table of numbers; odd ones are left out by the filter."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[int] = []
        self.all = False

    def rowCount(self, parent: Any = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Any = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 2

    def data(self, index: Any, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return self.rows[index.row()] if role == Qt.ItemDataRole.DisplayRole else None

    def fitting(self, among: Sequence[int]) -> list[int]:
        return [n for n in among if self.all or self.rows[n] % 2 == 0]

    def keys(self, column: int, among: Sequence[int]) -> list[int] | None:
        return [self.rows[n] for n in among] if column == 1 else None

    def insert(self, at: int, values: list[int]) -> None:
        self.beginInsertRows(QModelIndex(), at, at + len(values) - 1)
        self.rows[at:at] = values
        self.endInsertRows()

    def remove(self, at: int, count: int) -> None:
        self.beginRemoveRows(QModelIndex(), at, at + count - 1)
        del self.rows[at : at + count]
        self.endRemoveRows()

    def move(self, at: int, before: int, value: int) -> None:
        """Move a row, which changes, as `SortedRows` does."""
        if before in (at, at + 1):
            return
        self.beginMoveRows(QModelIndex(), at, at, QModelIndex(), before)
        del self.rows[at]
        at = before - (before > at)
        self.rows.insert(at, value)
        self.endMoveRows()
        self.dataChanged.emit(self.index(at, 0), self.index(at, 1))

    def alter(self, at: int, value: int) -> None:
        self.rows[at] = value
        self.dataChanged.emit(self.index(at, 0), self.index(at, 1))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_whatever_comes_goes_or_changes_the_rows_are_those_that_fit_in_order(qtbot: QtBot, seed: int) -> None:
    dice, table, owner = random.Random(seed), Numbers(), QObject()
    proxy = FilteredRows(table, table.fitting, table.keys, owner)
    tester = QAbstractItemModelTester(proxy, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for turn in range(150):
        size = len(table.rows)
        action = dice.choice(["insert", "insert", "remove", "alter", "move", "sort", "filter"])
        if action == "insert":
            count = 300 if turn == 100 else dice.randint(1, 4)
            table.insert(dice.randint(0, size), [dice.randrange(1000) for _ in range(count)])
        elif action == "remove" and size > 3:
            at = dice.randrange(size - 2)
            table.remove(at, dice.randint(1, 2))
        elif action == "alter" and size:
            table.alter(dice.randrange(size), dice.randrange(1000))
        elif action == "move" and size:
            table.move(dice.randrange(size), dice.randint(0, size), dice.randrange(1000))
        elif action == "sort":
            proxy.sort(dice.choice([0, 1]), dice.choice([Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder]))
        elif action == "filter":
            table.all = not table.all
            proxy.fit()
        wanted = [table.rows[n] for n in table.fitting(range(len(table.rows)))]
        if proxy._column == 1:
            wanted.sort(reverse=proxy._descending)
        elif proxy._descending:
            wanted.reverse()
        assert [proxy.index(n, 0).data() for n in range(proxy.rowCount())] == wanted, (seed, turn, action)
        fitting = set(table.fitting(range(len(table.rows))))
        for row in range(len(table.rows)):
            there = proxy.mapFromSource(table.index(row, 0))
            assert there.isValid() == (row in fitting)
            assert not there.isValid() or proxy.mapToSource(there).row() == row
    del tester


def test_a_marked_row_stays_marked_while_others_come_and_go_and_the_order_changes(qtbot: QtBot) -> None:
    table, owner = Numbers(), QObject()
    proxy = FilteredRows(table, table.fitting, table.keys, owner)
    table.insert(0, [10, 3, 40, 20])
    mark = QPersistentModelIndex(proxy.index(1, 0))
    assert mark.data() == 40
    table.insert(0, [2, 5])
    table.remove(2, 1)
    proxy.sort(1, Qt.SortOrder.DescendingOrder)
    assert mark.data() == 40
    table.alter(table.rows.index(20), 60)
    assert [proxy.index(n, 0).data() for n in range(proxy.rowCount())] == [60, 40, 2]
    assert mark.data() == 40
    table.move(table.rows.index(2), len(table.rows), 80)
    assert [proxy.index(n, 0).data() for n in range(proxy.rowCount())] == [80, 60, 40]
    assert mark.data() == 40
    table.alter(table.rows.index(40), 41)
    assert not mark.isValid()
