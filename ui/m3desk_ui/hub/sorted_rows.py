"""Sorted rows of a list or table, updated row by row, so that views keep their scroll position and selection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractItemModel, QModelIndex

R = TypeVar("R")
X = TypeVar("X")
Key = tuple[Any, ...]

MOST = 500
"""Rows that come, go or move at once above which the model is reset: each single change costs the view as much."""


class SortedRows(Generic[R, X]):
    """The rows of `model`, sorted by `key`. `name`: a row's id; `key` must be unique, so let it end with the id.

    `beside`: computes a value per row, kept in the list `extra`, such as the text that a filter searches.
    """

    def __init__(
        self,
        model: QAbstractItemModel,
        name: Callable[[R], str],
        key: Callable[[R], Key],
        beside: Callable[[R], X],
        *,
        columns: int = 1,
    ) -> None:
        self._model, self._name, self._key, self._beside, self._columns = model, name, key, beside, columns
        self.rows: list[R] = []
        """Always the same list: a model may hold it."""
        self.extra: list[X] = []
        self._keys: list[Key] = []
        self._key_of: dict[str, Key] = {}

    def __contains__(self, id_: object) -> bool:
        return id_ in self._key_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._key_of)

    def row_of(self, id_: str) -> int:
        """Return the position of a row, −1 if the id is unknown."""
        key = self._key_of.get(id_)
        return -1 if key is None else bisect_left(self._keys, key)

    def get(self, id_: str) -> R | None:
        row = self.row_of(id_)
        return self.rows[row] if row >= 0 else None

    def show(self, rows: Iterable[R]) -> None:
        """Replace all rows."""
        keyed = sorted(((self._key(r), r) for r in rows), key=lambda k: k[0])
        self._model.beginResetModel()
        self._keys = [k for k, _ in keyed]
        self.rows[:] = [r for _, r in keyed]
        self._key_of = {self._name(r): k for k, r in keyed}
        self.extra = [self._beside(r) for r in self.rows]
        self._model.endResetModel()

    def patch(self, rows: Iterable[R], gone: Iterable[str] = ()) -> None:
        """Insert or change these rows, and remove those with the ids `gone`; unknown ids are ignored."""
        put = {self._name(r): r for r in rows}
        out = {id_ for id_ in gone if id_ in self._key_of and id_ not in put}
        same: list[tuple[Key, str, R]] = []
        moved: list[tuple[Key, str, R]] = []
        new: list[tuple[Key, str, R]] = []
        for id_, row in put.items():
            key, old = self._key(row), self._key_of.get(id_)
            (new if old is None else same if old == key else moved).append((key, id_, row))
        if len(out) + len(moved) + len(new) > MOST:
            kept = [r for r in self.rows if (id_ := self._name(r)) not in out and id_ not in put]
            self.show([*kept, *put.values()])
            return
        self._change(same)
        self._take_out(out)
        for key, id_, row in moved:
            self._move(key, id_, row)
        self._put_in(sorted(new, key=lambda n: n[0]))

    def _change(self, rows: Sequence[tuple[Key, str, R]]) -> None:
        places = []
        for key, _, row in rows:
            place = bisect_left(self._keys, key)
            self.rows[place], self.extra[place] = row, self._beside(row)
            places.append(place)
        for first, last in _runs(sorted(places)):
            self._tell(first, last)

    def _tell(self, first: int, last: int) -> None:
        model = self._model
        model.dataChanged.emit(model.index(first, 0), model.index(last, self._columns - 1))

    def _take_out(self, ids: Iterable[str]) -> None:
        for first, last in reversed(_runs(sorted(self.row_of(id_) for id_ in ids))):
            self._model.beginRemoveRows(QModelIndex(), first, last)
            for row in self.rows[first : last + 1]:
                del self._key_of[self._name(row)]
            del self.rows[first : last + 1], self.extra[first : last + 1], self._keys[first : last + 1]
            self._model.endRemoveRows()

    def _move(self, key: Key, id_: str, row: R) -> None:
        old = self.row_of(id_)
        before = bisect_left(self._keys, key)  # as if it were still where it is
        moves = before not in (old, old + 1)
        if moves:
            self._model.beginMoveRows(QModelIndex(), old, old, QModelIndex(), before)
        del self.rows[old], self.extra[old], self._keys[old]
        place = bisect_left(self._keys, key)
        self.rows.insert(place, row)
        self.extra.insert(place, self._beside(row))
        self._keys.insert(place, key)
        self._key_of[id_] = key
        if moves:
            self._model.endMoveRows()
        self._tell(place, place)

    def _put_in(self, rows: Sequence[tuple[Key, str, R]]) -> None:
        """Insert rows (in order), from the end, so that earlier positions stay valid."""
        for first, group in reversed([(place, list(g)) for place, g in groupby(rows, key=lambda n: bisect_left(self._keys, n[0]))]):
            self._model.beginInsertRows(QModelIndex(), first, first + len(group) - 1)
            self.rows[first:first] = [row for _, _, row in group]
            self.extra[first:first] = [self._beside(row) for _, _, row in group]
            self._keys[first:first] = [key for key, _, _ in group]
            self._key_of |= {id_: key for key, id_, _ in group}
            self._model.endInsertRows()


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return increasing positions as contiguous runs (first, last)."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], place
        else:
            runs.append((place, place))
    return runs
