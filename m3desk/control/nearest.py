"""Semantic search: the sentences whose vectors are nearest to the query's, by brute force over one contiguous array.

Few vectors are compared in full. For many, a first pass compares their projections onto the principal directions (computed once, from a
sample), and the best thousands are then compared in full. Recall of the 20 nearest, measured against comparing all, on vectors shaped like
e5's and real questions: 98.6 % at 50,000, 98 % at 200,000 and 94 % at 1,000,000 rows; `m3desk bench scale_search` measures it on invented
ones. Above `IN_MEMORY` rows only the projections are in memory (384 bytes a row); the full vectors are in a temporary file. If that is
still too much, LanceDB holds them (`OnDisk`; why only then: ARCHITECTURE.md). All products are computed row by row (`np.vecdot`): on a
busy machine the threads of a matrix library wait for each other for a scheduler slice, 8 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from m3desk.control.table import Column, Mask, Room, Rows
from m3desk.domain.evidence import Floats

WHOLE = 20_000
"""Up to this many rows, all are compared in full."""

IN_MEMORY = 200_000
"""Up to this many rows, everything is in memory: 1,536 bytes each at 384 numbers, plus 384 for the first pass."""

WIDE = 96
"""Dimensions of the first pass: the principal directions."""

_SAMPLE = 20_000

MOST_ASKED = 20_000
"""Maximum number of sentences requested from an index on disk if a filter removes most of what it finds."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nearest:
    """The vectors of one table's rows. `has`: which rows have one.

    `turn`, `look`: the principal directions, and the rows projected onto them; None for few rows.
    """

    rows: Column
    has: Mask
    turn: Floats | None = None
    look: Column | None = None

    @staticmethod
    def of(count: int, parts: Iterable[tuple[Sequence[int], Floats]], room: Room | None = None) -> Nearest:
        """Build the vectors of a table of `count` rows; `parts`: rows and their vectors, in batches of thousands. Raises ValueError.

        `room`: allocates the array for more than `IN_MEMORY` rows.
        """
        rows = Column(np.zeros((count, 0), np.float32), room if count > IN_MEMORY else None)
        found = Nearest(rows, np.zeros(count, np.bool_))
        for at, vectors in parts:
            found = found._written(at, vectors)
        return found._looked(count, ())

    @property
    def dimension(self) -> int:
        """Return the dimension of the vectors, 0 if there are none yet."""
        return int(self.rows.data.shape[1])

    def changed(self, count: int, at: Sequence[int], vectors: Floats, without: Sequence[int] = ()) -> Nearest:
        """Return the vectors of the table grown to `count` rows, with these written. Raises ValueError if the dimension differs.

        `without`: rows that no longer have a vector.
        """
        old = len(self.has)
        rows = self.rows if self.rows.count == old else Column(self.rows.data[:old].copy(), self.rows.room)
        rows.extend(np.zeros((count - old, self.dimension), np.float32))
        has = np.zeros(count, np.bool_)
        has[:old] = self.has
        has[list(without)] = False
        return replace(self, rows=rows, has=has)._written(at, vectors)._looked(old, at)

    def _written(self, at: Sequence[int], vectors: Floats) -> Nearest:
        """Write in place the rows that no older version has, or that had no vector there."""
        if not len(vectors):
            return self
        new = self
        if self.dimension != vectors.shape[1]:
            if self.has.any():
                raise ValueError(f"vectors of {vectors.shape[1]} numbers among those of {self.dimension}")
            shape, room = (len(self.has), vectors.shape[1]), self.rows.room
            rows = Column(np.zeros(shape, np.float32) if room is None else room(*shape), room)
            new = replace(self, rows=rows, turn=None, look=None)
        units, good = _unit(vectors)
        places = np.asarray(at, np.int64)
        new.rows.data[places[good]] = units[good]
        new.has[places] = good
        return new

    def _looked(self, old: int, at: Sequence[int]) -> Nearest:
        """Update the projections, or create them once there are enough rows. `old`: previous number of rows; `at`: rows written."""
        count = len(self.has)
        if self.turn is None or self.look is None:
            if np.count_nonzero(self.has) <= WHOLE or self.dimension <= WIDE:
                return self
            held = np.flatnonzero(self.has)
            sample = self.rows.data[held[:: max(1, len(held) // _SAMPLE)]]
            _, axes = np.linalg.eigh((sample.T @ sample).astype(np.float64))
            turn = np.ascontiguousarray(axes[:, ::-1][:, :WIDE].T, np.float32)
            look = np.empty((count, WIDE), np.float32)
            for a in range(0, count, 65_536):
                look[a : a + 65_536] = self.rows.data[a : min(count, a + 65_536)] @ turn.T
            return replace(self, turn=turn, look=Column(look))
        looked = self.look if self.look.count == old else Column(self.look.data[:old].copy())
        looked.extend(np.zeros((count - old, len(self.turn)), np.float32))
        if len(at):
            places = np.asarray(at, np.int64)
            looked.data[places] = self.rows.data[places] @ self.turn.T
        return replace(self, look=looked)

    def near(self, vector: Floats, k: int, only: Mask) -> tuple[Rows, NDArray[np.float64]]:
        """Return rows and their cosines to a vector, unordered; the k nearest of `only` are among them."""
        count = len(self.has)
        query, good = _unit(np.asarray(vector, np.float32)[None])
        if not count or not good[0] or query.shape[1] != self.dimension:
            return np.empty(0, np.int64), np.empty(0)
        may = self.has & only
        size = int(np.count_nonzero(may))
        again = max(again_of(count), 4 * k)
        if self.turn is not None and self.look is not None and size > max(WHOLE, again):
            first = np.vecdot(self.look.data[:count], self.turn @ query[0])
            if size < count:
                first[~may] = -np.inf
            rows = _best(first, again)
            return rows, np.vecdot(self.rows.data[rows], query[0]).astype(np.float64)
        rows = np.flatnonzero(may)
        if size * 2 > count:  # most of them: no copy
            return rows, np.vecdot(self.rows.data[:count], query[0]).astype(np.float64)[rows]
        return rows, np.vecdot(self.rows.data[rows], query[0]).astype(np.float64)


class Near(Protocol):
    """The vectors of a table, in the process (`Nearest`) or on disk (`OnDisk`)."""

    def changed(self, count: int, at: Sequence[int], vectors: Floats, without: Sequence[int] = ()) -> Near: ...
    def near(self, vector: Floats, k: int, only: Mask) -> tuple[Rows, NDArray[np.float64]]: ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OnDisk:
    """The vectors of a table in an index on disk, which finds candidates; their cosines are computed from the vectors in the database.

    `asked`: returns the ids of about that many sentences nearest to a vector, nearest first; None if the index was deleted meanwhile.
    `exact`: returns ids and vectors of sentences from the database (None: of all). `row`: a sentence's row. `late`: rows added since the
    index was written, with their vectors.
    """

    asked: Callable[[Floats, int], Sequence[str] | None]
    exact: Callable[[Collection[str] | None], Iterable[tuple[Sequence[str], Floats]]]
    row: Callable[[str], int | None]
    late: tuple[NDArray[np.int64], Floats] | None = None

    def changed(self, count: int, at: Sequence[int], vectors: Floats, without: Sequence[int] = ()) -> OnDisk:
        """Return the vectors with these written; see `Nearest.changed`."""
        if not len(vectors):
            return self
        units, good = _unit(vectors)
        rows = np.asarray(at, np.int64)[good]
        if self.late is None:
            return replace(self, late=(rows, units[good]))
        kept = ~np.isin(self.late[0], rows)
        return replace(self, late=(np.concatenate([self.late[0][kept], rows]), np.concatenate([self.late[1][kept], units[good]])))

    def near(self, vector: Floats, k: int, only: Mask) -> tuple[Rows, NDArray[np.float64]]:
        """Return rows and their cosines to a vector, unordered; the k nearest of `only` are among them as far as the index finds them."""
        query, good = _unit(np.asarray(vector, np.float32)[None])
        if not good[0]:
            return np.empty(0, np.int64), np.empty(0)
        held: dict[str, int] = {}
        wanted = 2 * k
        while True:
            ids = self.asked(query[0], wanted)
            if ids is None:
                return self._all(query[0], only)
            rows = {id_: row for id_ in dict.fromkeys(ids) if (row := self.row(id_)) is not None}
            held = {id_: row for id_, row in rows.items() if row < len(only) and only[row]}
            if len(held) >= k or len(ids) < wanted or wanted >= MOST_ASKED:
                break
            wanted = min(MOST_ASKED, 8 * wanted)  # a filter leaves few: look further
        found: dict[int, float] = {}
        for names, vectors in self.exact(held):
            units, _ = _unit(vectors)
            found |= dict(zip((held[id_] for id_ in names), np.vecdot(units, query[0]).tolist(), strict=True))
        if self.late is not None:
            rows_, units = self.late
            may = only[rows_]
            found |= dict(zip(rows_[may].tolist(), np.vecdot(units[may], query[0]).tolist(), strict=True))
        return np.fromiter(found, np.int64, len(found)), np.fromiter(found.values(), np.float64, len(found))

    def _all(self, query: Floats, only: Mask) -> tuple[Rows, NDArray[np.float64]]:
        """Compare all vectors in the memory with a query: its index went a moment ago."""
        found: dict[int, float] = {}
        for names, vectors in self.exact(None):
            units, _ = _unit(vectors)
            for id_, score in zip(names, np.vecdot(units, query).tolist(), strict=True):
                if (row := self.row(id_)) is not None and row < len(only) and only[row]:
                    found[row] = score
        return np.fromiter(found, np.int64, len(found)), np.fromiter(found.values(), np.float64, len(found))


def again_of(count: int) -> int:
    """Return how many of `count` rows are compared in full after the first pass."""
    return min(8_000, max(2_000, count // 33))


def _best(scores: Floats, k: int) -> Rows:
    """Return the positions of at least the k highest scores, unordered; a sample gives the threshold."""
    step = 64
    sample = scores[::step]
    wanted = min(len(sample) - 1, 2 * k // step + 8)
    least = np.partition(sample, len(sample) - 1 - wanted)[len(sample) - 1 - wanted]
    rows = np.flatnonzero(scores >= least)
    if not k <= len(rows) <= 16 * k:
        return np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    return rows[np.argpartition(scores[rows], len(rows) - k)[len(rows) - k :]]


def _unit(vectors: Floats) -> tuple[Floats, Mask]:
    """Return the rows scaled to length 1, and which rows could be (non-zero, all finite)."""
    lengths = np.linalg.norm(vectors, axis=1)
    good = np.isfinite(lengths) & (lengths > 0)
    units = np.divide(vectors, lengths[:, None], out=np.zeros_like(vectors), where=good[:, None])
    return units, np.asarray(good)
