"""All sentences of a memory as columns of numbers, to filter and rank them without loading a sentence. A table is immutable.

A change creates a new table that shares the unchanged parts: rows are only appended, a column is copied if an old row of it changes, and
a sentence whose words changed is removed and appended as a new row. So a question keeps its table, and adding a clip costs little.
1,000,000 sentences take about 350 MB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.ids import clip_index, numbered, source_number
from m3desk.domain.memory import Outline

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

Room = Callable[[int, int], NDArray[Any]]
"""Allocates an empty array of the given rows and columns, for instance in a file."""

ENDED, STALE, PINNED, QUOTING = 1, 2, 4, 8
"""Bits of the column `flags`. `QUOTING`: the sentence may quote somebody, so only such are read for who speaks."""

_QUOTES = re.compile(r"[,，:：] ?['\"“‘]\w")

NOBODY = -1
"""No row: before the first and after the last sentence of a source."""

_COLUMNS: dict[str, Any] = {
    "kind": np.int16, "event": np.int16, "source": np.int32, "clip": np.int32, "start": np.int64, "end": np.int64, "cast": np.int32,
    "weight": np.float64, "flags": np.uint8, "alive": np.bool_, "wording": np.int64, "place": np.int64, "number": np.int64,
    "previous": np.int32, "next": np.int32, "cites": np.object_,
}  # fmt: skip
"""`clip`: index within its source, −1 for none. `cast`: code of the people spoken of. `wording`: hash of all that is searched by words.
`place`, `number`: the numbers in the ids of source and sentence, by which sentences are in order. `previous`, `next`: rows of the
neighbours in time. `cites`: observations that a spoken sentence rests on."""


_PART = 20_000
"""Sentences that are added at a time."""


class Column:
    """An append-only array; slices that were read stay valid. `room`: allocates an array of a shape, if not in memory."""

    __slots__ = ("count", "data", "room")

    def __init__(self, data: NDArray[Any], room: Room | None = None) -> None:
        self.data, self.count, self.room = data, len(data), room

    def extend(self, values: NDArray[Any]) -> None:
        needed = self.count + len(values)
        if needed > len(self.data):
            shape = (max(needed + 1024, needed * 5 // 4), *self.data.shape[1:])
            data = np.empty(shape, self.data.dtype) if self.room is None else self.room(*shape)
            data[: self.count] = self.data[: self.count]
            self.data = data
        self.data[self.count : needed] = values
        self.count = needed


class Codes:
    """Maps repeated values to small integer codes; append-only."""

    __slots__ = ("codes", "values")

    def __init__(self) -> None:
        self.codes: dict[Any, int] = {}
        self.values: list[Any] = []

    def of(self, value: Any) -> int:
        """Return a value's code; add one if it is new."""
        code = self.codes.get(value)
        if code is None:
            code = self.codes[value] = len(self.values)
            self.values.append(value)
        return code


class SentenceTable:
    """The sentences of a memory at one version. Rows are numbered from 0; rows of removed sentences stay empty."""

    def __init__(self) -> None:
        self.count = 0
        self.ids: list[str] = []
        self.kinds, self.events, self.sources, self.casts = Codes(), Codes(), Codes(), Codes()
        self._columns = {name: Column(np.empty(0, kind)) for name, kind in _COLUMNS.items()}
        self._row_of: dict[str, int] = {}
        self._moved: dict[str, int] = {}

    # ------------------------------------------------------------ reading

    def column(self, name: str) -> NDArray[Any]:
        """Return a column, one number per row (see `_COLUMNS`); read-only."""
        return self._columns[name].data[: self.count]

    def row(self, id_: str) -> int | None:
        """Return the row of a sentence in force; None if there is none."""
        row = self._moved.get(id_)
        if row is None:
            row = self._row_of.get(id_)
        return row if row is not None and 0 <= row < self.count and self._columns["alive"].data[row] else None

    @property
    def size(self) -> int:
        """Return how many sentences are in force."""
        return int(np.count_nonzero(self.column("alive")))

    def has_kinds_but(self, kinds: Collection[str]) -> bool:
        """Return whether there may be sentences of other kinds than these."""
        return not set(self.kinds.values) <= set(kinds)

    def people(self, row: int) -> tuple[str, ...]:
        """Return the people that a sentence mentions."""
        found: tuple[str, ...] = self.casts.values[self.column("cast")[row]]
        return found

    def speaks_of(self, people: Collection[str], rows: Rows | None = None) -> Mask:
        """Return which rows, of all or of `rows`, mention any of these people."""
        wanted = set(people)
        casts = self.casts.values[:]
        holds = np.fromiter((not wanted.isdisjoint(cast) for cast in casts), np.bool_, len(casts))
        cast = self.column("cast") if rows is None else self.column("cast")[rows]
        return np.asarray(holds[cast]) if len(casts) else np.zeros(len(cast), np.bool_)

    def of_kinds(self, kinds: Iterable[str]) -> Mask:
        """Return which rows in force are of these kinds."""
        codes = sorted({self.kinds.codes[k] for k in kinds if k in self.kinds.codes})
        if len(codes) == len(self.kinds.values):
            return self.column("alive").copy()
        kind = self.column("kind")
        found: Mask = np.zeros(self.count, np.bool_)
        for code in codes:
            found |= kind == code
        found &= self.column("alive")
        return found

    def of_event(self, event: str) -> Mask:
        """Return which rows in force report such an event ("says", "text", …)."""
        found: Mask = (self.column("event") == self.events.codes.get(event, -1)) & self.column("alive")
        return found

    def of_source(self, source: str) -> Mask:
        """Return which rows are of a source."""
        found: Mask = self.column("source") == self.sources.codes.get(source, -1)
        return found

    def in_order(self, rows: Rows) -> Rows:
        """Return rows in the order of `Reader.memories`: by source, start and number."""
        place, start, number = (self.column(name)[rows] for name in ("place", "start", "number"))
        return np.asarray(rows[np.lexsort((number, start, place))])

    def best(self, rows: Rows, scores: NDArray[np.float64], k: int) -> tuple[Rows, NDArray[np.float64]]:
        """Return the k rows with the highest scores, best first, ties in time order, whatever the order of insertion."""
        if len(rows) > k:
            least = np.partition(scores, len(scores) - k)[len(scores) - k]
            held = scores >= least
            rows, scores = rows[held], scores[held]
        place, start, number = (self.column(name)[rows] for name in ("place", "start", "number"))
        order = np.lexsort((number, start, place, -scores))[:k]
        return rows[order], scores[order]

    # ------------------------------------------------------------ making

    @staticmethod
    def of(outlines: Iterable[Outline]) -> SentenceTable:
        """Build the table of these sentences, one row each in this order; they are consumed one at a time."""
        table, rest = SentenceTable(), iter(outlines)
        while part := list(islice(rest, _PART)):
            table._append(part)
        table._order(range(len(table.sources.values)))
        return table

    def changed(self, touched: Collection[str], outlines: Sequence[Outline]) -> tuple[SentenceTable, list[int], list[Outline]]:
        """Return the table after a change, the removed rows, and the sentences of the new rows in row order.

        `touched`: ids whose rows may have changed; `outlines`: those of them that are in force now.
        """
        new = self._shared()
        now = {o.id: o for o in outlines}
        rows = {id_: row for id_ in touched if (row := self.row(id_)) is not None}
        wording = self.column("wording")
        died = [row for id_, row in rows.items() if id_ not in now or wording[row] != wording_of(now[id_])]
        kept = {rows[id_]: o for id_, o in now.items() if id_ in rows and wording[rows[id_]] == wording_of(o)}
        gone = set(died)
        fresh = [o for id_, o in now.items() if id_ not in rows or rows[id_] in gone]
        sources = {int(self.column("source")[row]) for row in died}
        if died:
            new._own("alive")[died] = False
        sources |= new._overwrite(kept)
        if any(o.id in self._row_of for o in fresh):
            new._moved = dict(self._moved)
        first = new.count
        new._append(fresh)
        sources |= {int(code) for code in new.column("source")[first:]}
        if died or fresh or sources:
            new._order(sources)
        return new, died, fresh

    def _shared(self) -> SentenceTable:
        new = SentenceTable.__new__(SentenceTable)
        new.count, new.ids, new._row_of, new._moved = self.count, self.ids, self._row_of, self._moved
        if len(self.ids) != self.count:  # a later table added to them already; this one is no longer the newest
            new.ids = self.ids[: self.count]
            new._row_of = {id_: row for id_, row in self._row_of.items() if row < self.count}
        new.kinds, new.events, new.sources, new.casts = self.kinds, self.events, self.sources, self.casts
        new._columns = dict(self._columns)
        return new

    def _own(self, name: str) -> NDArray[Any]:
        """Return a writable copy of a column; other tables keep theirs."""
        self._columns[name] = Column(self.column(name).copy())
        return self._columns[name].data

    def _overwrite(self, kept: Mapping[int, Outline]) -> set[int]:
        """Write the changes of rows that stay; return the sources whose order changes."""
        if not kept:
            return set()
        rows = np.fromiter(kept, np.int64, len(kept))
        moved: set[int] = set()
        for name, values in self._values(list(kept.values())).items():
            changed = self.column(name)[rows] != values
            if not changed.any():
                continue
            if name in ("kind", "source", "start", "end"):
                moved |= {int(code) for code in self.column("source")[rows[changed]]} | {
                    int(code) for code in values[changed] if name == "source"
                }
            self._own(name)[rows[changed]] = values[changed]
        return moved

    def _append(self, outlines: Sequence[Outline]) -> None:
        if not outlines:
            return
        for row, o in enumerate(outlines, self.count):
            (self._moved if o.id in self._row_of else self._row_of)[o.id] = row
        self.ids.extend(o.id for o in outlines)
        count = len(outlines)
        values = self._values(outlines)
        values |= {
            "alive": np.ones(count, np.bool_),
            "previous": np.full(count, NOBODY, np.int32),
            "next": np.full(count, NOBODY, np.int32),
        }
        for name, column in self._columns.items():
            if column.count != self.count:  # a later table added to it already; this one is no longer the newest
                column = self._columns[name] = Column(self.column(name).copy())
            column.extend(values[name])
        self.count += count

    def _values(self, outlines: Sequence[Outline]) -> dict[str, NDArray[Any]]:
        def numbers(name: str, values: Iterable[Any]) -> NDArray[Any]:
            return np.fromiter(values, _COLUMNS[name], len(outlines))

        return {
            "kind": numbers("kind", (self.kinds.of(o.kind) for o in outlines)),
            "event": numbers("event", (self.events.of(o.event) for o in outlines)),
            "source": numbers("source", (self.sources.of(o.source) for o in outlines)),
            "clip": numbers("clip", (index_of(o.clip) for o in outlines)),
            "start": numbers("start", (o.start for o in outlines)),
            "end": numbers("end", (o.end for o in outlines)),
            "cast": numbers("cast", (self.casts.of(o.people) for o in outlines)),
            "weight": numbers("weight", (o.weight for o in outlines)),
            "flags": numbers("flags", (_flags(o) for o in outlines)),
            "wording": numbers("wording", (wording_of(o) for o in outlines)),
            "place": numbers("place", (source_number(o.source) if o.source else 0 for o in outlines)),
            "cites": numbers("cites", (o.cites for o in outlines)),
            "number": numbers("number", (numbered(o.id) for o in outlines)),
        }

    def _order(self, sources: Collection[int]) -> None:
        """Recompute the neighbours of the episodic sentences of these sources."""
        episodic = self.of_kinds(["episodic"])
        source = self.column("source")
        if len(sources) == 1:
            rows = np.flatnonzero(episodic & (source == next(iter(sources))))
        else:
            wanted = np.zeros(len(self.sources.values) + 1, np.bool_)
            wanted[list(sources)] = True
            rows = np.flatnonzero(episodic & wanted[source])
        previous, following = self._own("previous"), self._own("next")
        previous[rows], following[rows] = NOBODY, NOBODY
        rows = self._by_time(rows)
        same = source[rows[1:]] == source[rows[:-1]]
        following[rows[:-1][same]] = rows[1:][same]
        previous[rows[1:][same]] = rows[:-1][same]

    def _by_time(self, rows: Rows) -> Rows:
        """Return rows sorted by source, start, end and id."""
        source, start, end = (self.column(name)[rows] for name in ("source", "start", "end"))
        order = np.lexsort((end, start, source))
        rows, source, start, end = rows[order], source[order], start[order], end[order]
        equal = np.flatnonzero((source[1:] == source[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1]))
        if not len(equal):
            return rows
        begins = equal[np.concatenate([[True], np.diff(equal) > 1])]
        ends = equal[np.concatenate([np.diff(equal) > 1, [True]])] + 2
        for a, b in zip(begins.tolist(), ends.tolist(), strict=True):
            rows[a:b] = sorted(rows[a:b].tolist(), key=self.ids.__getitem__)
        return rows


def index_of(clip: str | None) -> int:
    """Return the number in a clip's id; −1 for a sentence without a clip, which is always known."""
    return clip_index(clip) if clip and ".c" in clip else -1


def _flags(o: Outline) -> int:
    quoting = o.kind == "episodic" and _QUOTES.search(o.text) is not None
    return ENDED * o.ended + STALE * o.stale + PINNED * o.pinned + QUOTING * quoting


def wording_of(outline: Outline) -> int:
    """Return a hash of everything that keyword search uses: equal hashes mean equal words (within one process)."""
    return hash((outline.text, outline.entities))
