"""A list whose rows differ in height. The heights are in an array: one more row costs the others nothing, however many there are.

`QListView` lays out every row again, with two calls into Python each, whenever one comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
)
from PySide6.QtGui import QCursor, QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyleOptionViewItem, QWidget

Index = QModelIndex | QPersistentModelIndex
AT_ONCE = 100
"""Rows measured in one turn of the event loop."""
STEP = 40


class LineList(QListView):
    """Shows a list model; `measure(row)` gives the height of a row in pixels, `guess()` estimates of all, until they are measured."""

    def __init__(self, measure: Callable[[int], int], guess: Callable[[], NDArray[np.int64]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._measure, self._guess = measure, guess
        self._heights: NDArray[np.int64] = np.zeros(0, np.int64)
        self._exact = np.zeros(0, np.bool_)
        self._tops: NDArray[np.int64] | None = None
        self._still = False
        self._rest = QTimer(self, interval=0)
        self._rest.timeout.connect(self._measure_some)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)
        if model is not None:
            model.rowsInserted.connect(self._inserted)
            model.rowsRemoved.connect(self._removed)
            model.rowsMoved.connect(lambda *_: self.forget())
            model.modelReset.connect(self.forget)
        self.forget()

    # ------------------------------------------------------------ heights

    def forget(self) -> None:
        """Measure all rows again: other rows, another font or width."""
        self._heights = self._guess()
        self._exact = np.zeros(len(self._heights), np.bool_)
        self._changed()
        self._rest.start()

    def _top(self) -> NDArray[np.int64]:
        """Return the top of each row, and the bottom of the last one."""
        if self._tops is None:
            self._tops = np.concatenate([[0], np.cumsum(self._heights)])
        return self._tops

    def _row_at(self, y: int) -> int:
        """Return the row at a height of the whole list, clipped to the rows there are."""
        return max(0, min(int(np.searchsorted(self._top(), y, side="right")) - 1, len(self._heights) - 1))

    def _changed(self) -> None:
        """Show heights that changed."""
        self._tops = None
        self.updateGeometries()
        self.viewport().update()

    def _know(self, rows: Sequence[int]) -> bool:
        """Measure rows; return whether a height changed. What is at the top of the view stays there."""
        new = np.array([self._measure(row) for row in rows], np.int64)
        self._exact[list(rows)] = True
        if np.array_equal(new, self._heights[list(rows)]):
            return False
        anchor = self._row_at(self.verticalOffset())
        above = int(self._top()[anchor])
        self._heights[list(rows)] = new
        self._tops = None
        self._shift(int(self._top()[anchor]) - above)
        return True

    def _shift(self, by: int) -> None:
        """Move the scroll offset with rows inserted, removed or measured above the view, so that nothing moves on the screen."""
        self._still = True
        at = self.verticalOffset() + by
        self.updateGeometries()
        self.verticalScrollBar().setValue(at)
        self._still = False

    def _measure_some(self) -> None:
        """Measure some unmeasured rows: those below the top of the view first."""
        if not self.isVisible():
            self._rest.stop()
            return
        todo = np.flatnonzero(~self._exact)
        if not len(todo):
            self._rest.stop()
            return
        below = todo[todo >= self._row_at(self.verticalOffset())]
        if self._know((below if len(below) else todo)[:AT_ONCE].tolist()):
            self.viewport().update()

    def _shown(self) -> range:
        """Return the rows in view, all of them measured."""
        if not len(self._heights):
            return range(0)
        while True:
            first = self._row_at(self.verticalOffset())
            last = self._row_at(self.verticalOffset() + self.viewport().height())
            unknown = [row for row in range(first, last + 1) if not self._exact[row]]
            if not unknown:
                return range(first, last + 1)
            if self._know(unknown):
                self.viewport().update()

    # ------------------------------------------------------------ the model changes

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        QAbstractItemView.rowsInserted(self, parent, start, end)  # not QListView's, which lays out all rows

    def rowsAboutToBeRemoved(self, parent: Index, start: int, end: int) -> None:
        """Let another row be the current one where that goes, without a jump to it: what is read stays where it is."""
        follows = self.hasAutoScroll()
        self.setAutoScroll(False)
        QAbstractItemView.rowsAboutToBeRemoved(self, parent, start, end)
        self.setAutoScroll(follows)

    def dataChanged(self, top: Index, bottom: Index, roles: Sequence[int] = ()) -> None:
        rows = [r for r in range(top.row(), bottom.row() + 1) if r < len(self._heights)]
        if rows and self._know(rows):
            self.viewport().update()
        elif rows:
            tops, at = self._top(), self.verticalOffset()
            self.viewport().update(0, int(tops[rows[0]]) - at, self.viewport().width(), int(tops[rows[-1] + 1] - tops[rows[0]]))

    def _inserted(self, _parent: Index, first: int, last: int) -> None:
        offset, at = self.verticalOffset(), int(self._top()[first])
        new = np.array([self._measure(row) for row in range(first, last + 1)], np.int64)
        self._heights = np.insert(self._heights, first, new)
        self._exact = np.insert(self._exact, first, np.ones(len(new), np.bool_))
        self._tops = None
        if at < offset:
            self._shift(int(new.sum()))
            return
        self.updateGeometries()
        if at < offset + self.viewport().height():
            self.viewport().update()

    def _removed(self, _parent: Index, first: int, last: int) -> None:
        offset, begin, end = self.verticalOffset(), int(self._top()[first]), int(self._top()[last + 1])
        self._heights = np.delete(self._heights, range(first, last + 1))
        self._exact = np.delete(self._exact, range(first, last + 1))
        self._tops = None
        if end <= offset:
            self._shift(begin - end)
            return
        self.updateGeometries()
        self.viewport().update()

    # ------------------------------------------------------------ what a view answers

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def horizontalOffset(self) -> int:
        return 0

    def doItemsLayout(self) -> None:
        """Lay out nothing but what is in view: the heights are known."""
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:
        room = self.viewport().height()
        bar = self.verticalScrollBar()
        bar.setSingleStep(STEP)
        bar.setPageStep(room)
        bar.setRange(0, max(0, int(self._top()[-1]) - room))

    def visualRect(self, index: Index) -> QRect:
        row = index.row()
        if not index.isValid() or row >= len(self._heights):
            return QRect()
        return QRect(0, int(self._top()[row]) - self.verticalOffset(), self.viewport().width(), int(self._heights[row]))

    def indexAt(self, point: QPoint) -> QModelIndex:
        y = point.y() + self.verticalOffset()
        if not 0 <= y < int(self._top()[-1]):
            return QModelIndex()
        return self.model().index(self._row_at(y), 0)

    def scrollTo(self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible) -> None:
        if not index.isValid() or index.row() >= len(self._heights):
            return
        for _ in range(4):  # rows come into view that are measured now, and move the others
            self._go_to(index.row(), hint)
            place = self.visualRect(index)
            self._shown()
            if self.visualRect(index) == place:
                break

    def _go_to(self, row: int, hint: QAbstractItemView.ScrollHint) -> None:
        room, bar = self.viewport().height(), self.verticalScrollBar()
        if not self._exact[row]:
            self._know([row])
        at, height = int(self._top()[row]), int(self._heights[row])
        top, bottom = at, at + height - room
        hints = QAbstractItemView.ScrollHint
        if hint == hints.PositionAtCenter:
            bar.setValue(at - (room - height) // 2)
        elif hint == hints.PositionAtTop or (hint == hints.EnsureVisible and (top < bar.value() or height > room)):
            bar.setValue(top)
        elif hint == hints.PositionAtBottom or bottom > bar.value():
            bar.setValue(bottom)

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        count, row, actions = len(self._heights), self.currentIndex().row(), QAbstractItemView.CursorAction
        if not count:
            return QModelIndex()
        page = self.viewport().height()
        if action in (actions.MoveUp, actions.MovePrevious, actions.MoveLeft):
            row -= 1
        elif action in (actions.MoveDown, actions.MoveNext, actions.MoveRight):
            row += 1
        elif action == actions.MovePageUp:
            row = self._row_at(int(self._top()[max(row, 0)]) - page)
        elif action == actions.MovePageDown:
            row = self._row_at(int(self._top()[max(row, 0)]) + page)
        elif action == actions.MoveHome:
            row = 0
        elif action == actions.MoveEnd:
            row = count - 1
        return self.model().index(max(0, min(row, count - 1)), 0)

    def setSelection(self, rect: QRect, flags: QItemSelectionModel.SelectionFlag) -> None:
        index = self.indexAt(rect.topLeft())
        self.selectionModel().select(QItemSelection(index, index) if index.isValid() else QItemSelection(), flags)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        region = QRegion()
        for index in selection.indexes():
            region += QRegion(self.visualRect(index))
        return region

    # ------------------------------------------------------------ painting

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if not self._still:
            self.viewport().scroll(0, dy)

    def resizeEvent(self, event: QResizeEvent) -> None:
        QAbstractItemView.resizeEvent(self, event)
        if event.oldSize().width() != event.size().width():
            anchor = self._row_at(self.verticalOffset())
            into = self.verticalOffset() - int(self._top()[anchor]) if len(self._heights) else 0
            self.forget()
            self.verticalScrollBar().setValue(int(self._top()[max(0, anchor)]) + into)
        self.updateGeometries()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._rest.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        rows = self._shown()
        painter = QPainter(self.viewport())
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        plain, tops, at = option.state, self._top(), self.verticalOffset()
        mouse = self.viewport().mapFromGlobal(QCursor.pos()) if self.viewport().underMouse() else None
        chosen = {index.row() for index in self.selectionModel().selectedIndexes()}
        for row in rows:
            area = QRect(0, int(tops[row]) - at, self.viewport().width(), int(self._heights[row]))
            if not event.rect().intersects(area):
                continue
            option.rect = area
            option.state = plain
            if row in chosen:
                option.state |= QStyle.StateFlag.State_Selected
            if mouse is not None and area.contains(mouse):
                option.state |= QStyle.StateFlag.State_MouseOver
            self.itemDelegate().paint(painter, option, self.model().index(row, 0))
        painter.end()
