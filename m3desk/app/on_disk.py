"""Keeps the vectors of very large memories in an index on disk instead of in the process's memory, and lets search use it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from m3desk.control.nearest import OnDisk
from m3desk.control.snapshots import SnapshotCache
from m3desk.control.table import SentenceTable
from m3desk.domain.evidence import Floats
from m3desk.store.index.scratch import room
from m3desk.store.index.vectors import VectorIndex, most_in_memory
from m3desk.store.index.words import words
from m3desk.store.place import INDEX
from m3desk.store.records import Records

log = logging.getLogger(__name__)


class VectorsOnDisk:
    """The vector index of one memory on disk, written from its store and used by its search state (`cache`)."""

    def __init__(self, memory: Path, reader: Callable[[], Records], *, told: bool) -> None:
        """`told`: whether `cache` is notified of every commit."""
        self.index = VectorIndex(memory / INDEX)
        self.cache = SnapshotCache(words, told=told, room=partial(room, memory), disk=self.of)
        self._reader = reader

    def write(self, reader: Records, stop: Callable[[], bool] = lambda: False) -> None:
        """If the vectors are too many for the process, write them to the index on disk; searches use it from then on."""
        now = self.cache.now
        if now is None or not now.model or now.table.size <= most_in_memory():
            return
        try:
            if reader.index_vectors(self.index, now.model, stop):
                self.cache.settle()
        except OSError as error:  # a full disk, a memory that can't be written to: they stay in the process
            log.warning("the index of vectors can't be written: %s", error)

    def of(self, table: SentenceTable, model: str) -> OnDisk | None:
        """Return a table's vectors on disk; None if they fit in memory or are not written yet."""
        if table.size <= most_in_memory():
            return None
        with self._reader() as reader:
            state = reader.indexed(self.index)
        if state is None or state.model != model:
            return None
        last = state.last

        def asked(vector: Floats, k: int) -> Sequence[str] | None:
            owners = self.index.near(vector, k, last)
            if owners is None:  # damaged, dropped by a forgetting, or being rebuilt: this question compares all
                self.cache.drop()
                return None
            return [owner.partition("@")[0] for owner in owners]

        def exact(ids: Collection[str] | None) -> Iterator[tuple[list[str], Floats]]:
            with self._reader() as reader:
                yield from reader.text_vectors(model, ids)

        found = OnDisk(asked, exact, table.row)
        with self._reader() as reader:
            for ids, vectors in reader.text_vectors_since(model, last):
                rows = [table.row(id_) for id_ in ids]
                held = [n for n, row in enumerate(rows) if row is not None]
                found = found.changed(table.count, [row for row in rows if row is not None], vectors[held])
        return found
