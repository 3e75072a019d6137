"""Search by words: which sentences hold which words, ranked by BM25. Like the table, an index never changes; a change makes another.

BM25 as Lucene has it (k1 = 1.2, b = 0.75): a word weighs more the fewer sentences hold it, and counts for less in a long sentence. It is
what the LanceDB index ranks by, so that both give the same order. 1,000,000 sentences of ten words take about 100 MB.
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

_MERGE = 4_000
"""Rows added since the last merge above which they are merged; at most a tenth of all, where that is more."""

Split = Callable[[str], list[str]]
"""A text's words as they are searched: folded, stemmed, without stop words."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Keywords:
    """The words of the rows of one table. `rows`, `times`: per word (`begins`), the rows that hold it, and how often.

    `added`: the same for rows since the last merge, shared with later versions: rows from `count` on are theirs.
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
        """Return the words of these sentences, whose rows are their places here; they are not held all at once."""
        gathered = Gathered(split)
        for outline in outlines:
            gathered.add(outline)
        return gathered.keywords()

    def changed(self, died: Sequence[int], fresh: Sequence[Outline], split: Split) -> Keywords:
        """Return the words after rows died and sentences came as new rows at the end."""
        column = self.lengths if self.lengths.count == self.count else Column(self.lengths.data[: self.count].copy())
        added = self.added if column is self.lengths else {w: [p for p in held_ if p[0] < self.count] for w, held_ in self.added.items()}
        lengths = np.zeros(len(fresh), np.int32)
        for n, outline in enumerate(fresh):
            found = held(outline, split)
            lengths[n] = len(found)
            for word, times in Counter(found).items():
                added.setdefault(word, []).append((self.count + n, times))
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

    def holding(self, word: str) -> tuple[Rows, NDArray[np.int64]]:
        """Return the rows that hold a word, in order, and how often; rows that died are among them."""
        rows, times = np.empty(0, np.int64), np.empty(0, np.int64)
        code = self.codes.get(word)
        if code is not None and code < len(self.begins) - 1:
            a, b = self.begins[code], self.begins[code + 1]
            rows, times = self.rows[a:b].astype(np.int64), self.times[a:b].astype(np.int64)
        more = [p for p in tuple(self.added.get(word, ())) if p[0] < self.count]
        if more:
            late = np.array(more, np.int64)
            rows, times = np.concatenate([rows, late[:, 0]]), np.concatenate([times, late[:, 1]])
        return rows, times

    def ranked(self, query: Iterable[str], alive: Mask, only: Mask | None) -> tuple[Rows, NDArray[np.float64]]:
        """Return the rows that share a word with the query and their BM25, in no order. `only`: rows that may be found; None: all."""
        size = int(np.count_nonzero(alive))
        all_alive = size == self.count
        if not size or not self.total:
            return np.empty(0, np.int64), np.empty(0)
        mean = self.total / size
        lengths = self.lengths.data[: self.count]
        found: list[Rows] = []
        shares: list[NDArray[np.float64]] = []
        for word, wanted in Counter(query).items():
            rows, times = self.holding(word)
            if not all_alive:
                living = alive[rows]
                rows, times = rows[living], times[living]
            if not len(rows):
                continue
            rarity = wanted * math.log(1 + (size - len(rows) + 0.5) / (len(rows) + 0.5)) * (K1 + 1)
            if only is not None:
                allowed = only[rows]
                rows, times = rows[allowed], times[allowed]
            found.append(rows)
            shares.append(rarity * times / (times + K1 * (1 - B + B * lengths[rows] / mean)))
        if not found:
            return np.empty(0, np.int64), np.empty(0)
        if len(found) == 1:
            return found[0], shares[0]
        together, weights = np.concatenate(found), np.concatenate(shares)
        if len(together) > self.count // 16:
            scores = np.asarray(np.bincount(together, weights=weights, minlength=self.count), np.float64)
            rows = np.flatnonzero(scores)
            return rows, scores[rows]
        rows, which = np.unique(together, return_inverse=True)
        return rows, np.asarray(np.bincount(which, weights=weights), np.float64)


class Gathered:
    """Words of sentences as they come, each in the next row."""

    def __init__(self, split: Split) -> None:
        self._split = split
        self._codes: dict[str, int] = {}
        self._words, self._rows, self._times, self._lengths = array("i"), array("i"), array("H"), array("i")

    def add(self, outline: Outline) -> None:
        """Take in the words of a sentence."""
        found, row = held(outline, self._split), len(self._lengths)
        self._lengths.append(len(found))
        for word, times in Counter(found).items():
            self._words.append(self._codes.setdefault(word, len(self._codes)))
            self._rows.append(row)
            self._times.append(min(times, 0xFFFF))

    def keywords(self) -> Keywords:
        """Return what was taken in."""
        words, rows = np.frombuffer(self._words, np.int32), np.frombuffer(self._rows, np.int32)
        lengths = np.array(self._lengths, np.int32)
        by_word = _by_word(words, rows, np.frombuffer(self._times, np.uint16), len(self._codes))
        return Keywords(len(lengths), self._codes, *by_word, Column(lengths), {}, len(lengths), int(lengths.sum()))


def held(outline: Outline, split: Split) -> list[str]:
    """Return the words by which a sentence is found: its own and those of the things it speaks of."""
    return split(f"{outline.text} {' '.join(outline.entities)}")


def _by_word(
    words: NDArray[np.int32], rows: NDArray[np.int32], times: NDArray[np.uint16], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
    """Return where each word's rows begin, and rows and times by word, each word's rows in order."""
    order = np.argsort(words, kind="stable")
    begins = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(words, minlength=count), out=begins[1:])
    return begins, rows[order], times[order]
