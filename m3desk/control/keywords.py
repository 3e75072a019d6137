"""Keyword search: an inverted index ranked by BM25. An index is immutable, like `control.table`; a change creates a new one.

BM25 as in Lucene (k1 = 1.2, b = 0.75): a word weighs more the fewer sentences contain it, and less in a long sentence.
1,000,000 sentences of ten words take about 100 MB.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from m3desk.control.table import Column, Mask, Rows
from m3desk.domain.memory import Outline

K1, B = 1.2, 0.75

_ROUNDING = 1 - 1e-9
"""Tolerance: sums of the same numbers in another order differ by less."""

_MERGE = 4_000
"""Rows added since the last merge that trigger a merge; a tenth of all rows if that is more."""

_MOST = 0xFFFF
"""How often a word counts in one sentence at most: the times are kept in 16 bits."""

Scores = NDArray[np.float64]

Split = Callable[[str], list[str]]
"""Returns a text's search words: case-folded, stemmed, without stop words."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Keywords:
    """The inverted index of one table's rows. `rows`, `times`: per word (`begins`), the rows that contain it, and how often.

    `added`: the same for rows added since the last merge, shared with later versions: rows from `count` on belong to those.
    """

    count: int
    codes: dict[str, int]
    begins: NDArray[np.int64]
    rows: NDArray[np.int32]
    times: NDArray[np.uint16]
    lengths: Column
    added: dict[str, list[tuple[int, int]]]
    merged: int
    total: int
    """Words of all sentences in force."""

    @staticmethod
    def of(outlines: Iterable[Outline], split: Split) -> Keywords:
        """Build the index of these sentences, numbered in this order; they are consumed one at a time."""
        gathered = Gathered(split)
        for outline in outlines:
            gathered.add(outline)
        return gathered.keywords()

    def changed(self, died: Sequence[int], fresh: Sequence[Outline], split: Split) -> Keywords:
        """Return the index after rows were removed and sentences were appended as new rows."""
        column = self.lengths if self.lengths.count == self.count else Column(self.lengths.data[: self.count].copy())
        added = self.added if column is self.lengths else {w: [p for p in held_ if p[0] < self.count] for w, held_ in self.added.items()}
        lengths = np.zeros(len(fresh), np.int32)
        for n, outline in enumerate(fresh):
            found = held(outline, split)
            lengths[n] = len(found)
            for word, times in Counter(found).items():
                added.setdefault(word, []).append((self.count + n, min(times, _MOST)))
        column.extend(lengths)
        gone = int(column.data[list(died)].sum()) if died else 0
        count = self.count + len(fresh)
        new = replace(self, count=count, lengths=column, added=added, total=self.total + int(lengths.sum()) - gone)
        return new._merge() if count - self.merged > max(_MERGE, count // 10) else new

    def _merge(self) -> Keywords:
        codes = dict(self.codes)
        words, rows, times = [], [], []
        for word, places in list(self.added.items()):
            code = codes.setdefault(word, len(codes))
            for row, n in places:
                words.append(code)
                rows.append(row)
                times.append(n)
        before = np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))
        begins, all_rows, all_times = _by_word(
            np.concatenate([before, np.array(words, np.int32)]),
            np.concatenate([self.rows, np.array(rows, np.int32)]),
            np.concatenate([self.times, np.array(times, np.uint16)]),
            len(codes),
        )
        return replace(self, codes=codes, begins=begins, rows=all_rows, times=all_times, added={}, merged=self.count)

    def holding(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Return the rows that contain a word, in order, and how often; removed rows are included."""
        rows, times = np.empty(0, np.int32), np.empty(0, np.uint16)
        code = self.codes.get(word)
        if code is not None and code < len(self.begins) - 1:
            a, b = self.begins[code], self.begins[code + 1]
            rows, times = self.rows[a:b], self.times[a:b]
        more = [p for p in tuple(self.added.get(word, ())) if p[0] < self.count]
        if more:
            late = np.array(more, np.int64)
            rows, times = np.concatenate([rows, late[:, 0].astype(np.int32)]), np.concatenate([times, late[:, 1].astype(np.uint16)])
        return rows, times

    def ranked(self, query: Iterable[str], alive: Mask, only: Mask | None, k: int) -> tuple[Rows, Scores]:
        """Return rows that share a word with the query, and their BM25, in row order; the k best and all ties are among them.

        `only`: rows that may be found; None: all. Rare words are scored first. Once k rows score more than the remaining words together can
        add, rows that contain only those words are skipped (MaxScore: Turtle and Flood, 1995); half of a memory may contain "says".
        """
        size = int(np.count_nonzero(alive))
        if not size or not self.total:
            return np.empty(0, np.int64), np.empty(0)
        may = (None if size == self.count else alive) if only is None else only if size == self.count else alive & only
        terms = [t for word, wanted in Counter(query).items() if len((t := self._term(word, wanted, alive, size)).rows)]
        rows, sums = np.empty(0, np.int32), np.empty(0)
        rest, least = sum(t.rarity for t in terms), 0.0
        for term in sorted(terms, key=lambda t: -t.rarity):
            if len(sums) >= k:
                least = float(np.partition(sums, len(sums) - k)[len(sums) - k]) * _ROUNDING
                rows, sums = _from(least - rest, rows, sums)
            opens, rest = rest >= least, max(0.0, rest - term.rarity)
            sums = sums + self._shares_of(term, rows, size)
            if opens:
                rows, sums = _joined(rows, sums, *_from(least - rest, *self._shares(term, may, size)))
        scores = np.zeros(len(rows))
        for term in terms:  # in the order of the query: the same sums, to the last bit, as if all had been scored
            scores += self._shares_of(term, rows, size)
        return rows.astype(np.int64), scores

    def _term(self, word: str, wanted: int, alive: Mask, size: int) -> _Term:
        rows, times = self.holding(word)
        living = len(rows) if size == self.count else int(np.count_nonzero(alive[rows]))
        return _Term(rows, times, wanted * math.log(1 + (size - living + 0.5) / (living + 0.5)) * (K1 + 1))

    def _shares(self, term: _Term, may: Mask | None, size: int) -> tuple[NDArray[np.int32], Scores]:
        rows, times = term.rows, term.times
        if may is not None:
            allowed = may[rows]
            rows, times = rows[allowed], times[allowed]
        return rows, self._weighed(term.rarity, rows, times, size)

    def _shares_of(self, term: _Term, rows: NDArray[np.int32], size: int) -> Scores:
        """Return the score that a word adds to each of the given rows, in order: 0 for rows without it."""
        at = np.minimum(np.searchsorted(term.rows, rows), len(term.rows) - 1)
        return np.where(term.rows[at] == rows, self._weighed(term.rarity, rows, term.times[at], size), 0.0)

    def _weighed(self, rarity: float, rows: NDArray[np.int32], times: NDArray[np.uint16], size: int) -> Scores:
        mean = self.total / size
        times_ = times.astype(np.int64)
        return np.asarray(rarity * times_ / (times_ + K1 * (1 - B + B * self.lengths.data[rows] / mean)), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """A query word: the rows that contain it, how often, and an upper bound of its score."""

    rows: NDArray[np.int32]
    times: NDArray[np.uint16]
    rarity: float


def _from(least: float, rows: NDArray[np.int32], sums: Scores) -> tuple[NDArray[np.int32], Scores]:
    """Return the rows that score at least this much."""
    if least <= 0:
        return rows, sums
    held = sums >= least
    return rows[held], sums[held]


def _joined(rows: NDArray[np.int32], sums: Scores, more: NDArray[np.int32], shares: Scores) -> tuple[NDArray[np.int32], Scores]:
    """Merge two row lists with their scores, in order; rows of `more` that are also in `rows` are dropped."""
    if not len(rows):
        return more, shares
    at = np.minimum(np.searchsorted(rows, more), len(rows) - 1)
    new = rows[at] != more
    rows, sums = np.concatenate([rows, more[new]]), np.concatenate([sums, shares[new]])
    order = np.argsort(rows, kind="stable")  # two runs: merged
    return rows[order], sums[order]


class Gathered:
    """Collects the words of sentences; each sentence is the next row."""

    def __init__(self, split: Split) -> None:
        self._split = split
        self._codes: dict[str, int] = {}
        self._words, self._rows, self._times, self._lengths = array("i"), array("i"), array("H"), array("i")

    def add(self, outline: Outline) -> None:
        """Add the words of a sentence."""
        found, row = held(outline, self._split), len(self._lengths)
        self._lengths.append(len(found))
        for word, times in Counter(found).items():
            self._words.append(self._codes.setdefault(word, len(self._codes)))
            self._rows.append(row)
            self._times.append(min(times, _MOST))

    def keywords(self) -> Keywords:
        """Return the index of what was added."""
        words, rows = np.frombuffer(self._words, np.int32), np.frombuffer(self._rows, np.int32)
        lengths = np.array(self._lengths, np.int32)
        by_word = _by_word(words, rows, np.frombuffer(self._times, np.uint16), len(self._codes))
        return Keywords(len(lengths), self._codes, *by_word, Column(lengths), {}, len(lengths), int(lengths.sum()))


def held(outline: Outline, split: Split) -> list[str]:
    """Return the words by which a sentence is found: its own and those of the entities it mentions."""
    return split(f"{outline.text} {' '.join(outline.entities)}")


def _by_word(
    words: NDArray[np.int32], rows: NDArray[np.int32], times: NDArray[np.uint16], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
    """Return each word's first position, and the rows and counts grouped by word, each group in row order."""
    order = np.argsort(words, kind="stable")
    begins = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(words, minlength=count), out=begins[1:])
    return begins, rows[order], times[order]
