"""Creates searches over one open memory, and updates their search state in the background after each commit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

from m3desk.control.keywords import Split
from m3desk.control.search import ResultReader, Search
from m3desk.control.snapshots import Snapshot, SnapshotCache
from m3desk.domain.changed import Changed
from m3desk.ports import TextEmbedder

log = logging.getLogger(__name__)

SETTLE = 0.3
"""Seconds from a commit to the update of the search state; commits often come in groups."""


class AsOfCommit(Protocol):
    """The part of `store.as_of.AsOf` that search needs.

    `sequence`: the last commit of what was believed at a date; None for what was known by a clip.
    """

    @property
    def sequence(self) -> int | None: ...


class SearchableReader(ResultReader, Protocol):
    """What search needs from a memory, in its current or an earlier state."""

    @property
    def as_of(self) -> AsOfCommit | None: ...
    def settings(self) -> dict[str, str]: ...


S = TypeVar("S", bound=SearchableReader)


class Searching(Generic[S]):
    """Creates searches. `reader` opens the current memory; `beside` is called after the background update of `cache`."""

    def __init__(
        self,
        cache: SnapshotCache,
        split: Split,
        reader: Callable[[], AbstractContextManager[S]],
        beside: Callable[[S, Callable[[], bool]], None],
    ) -> None:
        self.cache = cache
        self._split, self._reader, self._beside = split, reader, beside
        self._changed = threading.Event()
        self._closing = threading.Event()

    def over(self, reader: SearchableReader, embedder: TextEmbedder | None) -> Search:
        """Return a search over what `reader` reads; keywords only without a text model. Updates the search state first.

        An earlier state is read separately: at an earlier date sentences had other words too (edited or deleted since). What was known by a
        clip is found with the current index.
        """
        model = embedder.name if embedder else ""
        if reader.as_of is None:
            now = self.cache.snapshot(reader, model)
            return Search(reader, now, embedder, now, self.cache)
        if reader.as_of.sequence is not None:
            then = Snapshot.read(reader, self._split, model)
            return Search(reader, then, embedder, then)
        with self._reader() as everything:
            now = self.cache.snapshot(everything, model)
        return Search(reader, now, embedder, Snapshot.read(reader, self._split))

    def note(self, changed: Changed) -> None:
        """Note that something was committed; returns at once."""
        self.cache.note(changed)
        self._changed.set()

    def start(self) -> None:
        """Load the search state now and update it after commits, in a thread that ends with `close`."""
        threading.Thread(target=self._follow, name="m3desk-search", daemon=True).start()

    def close(self) -> None:
        """End the thread; returns at once."""
        self._closing.set()
        self._changed.set()

    def _follow(self) -> None:
        while not self._closing.is_set():
            try:
                with self._reader() as reader:
                    model = self.cache.model  # what questions use; before the first, no model is opened for this
                    model = reader.settings().get("text_vectors", "") if model is None else model
                    self.cache.snapshot(reader, model).evidence(reader)
                    self._beside(reader, self._closing.is_set)
            except Exception:  # questions read what they need by themselves
                log.exception("what search keeps was not brought up to date")
            self._changed.wait()
            self._closing.wait(SETTLE)  # what follows at once is read together
            self._changed.clear()
