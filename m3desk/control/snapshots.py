"""The search state of a memory, kept between questions and updated by what each commit changed (`Changed`).

A `Snapshot` is immutable: a question uses one snapshot from start to end. The next snapshot shares everything that did not change. A
question always sees the newest commit: if the state was not updated yet, the question itself reads the few changed rows.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from m3desk.control.keywords import Gathered, Keywords, Split
from m3desk.control.nearest import Near, Nearest, OnDisk
from m3desk.control.query import NameFinder
from m3desk.control.table import Mask, Room, Rows, SentenceTable
from m3desk.domain.changed import Changed
from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import Floats
from m3desk.domain.ids import source_of
from m3desk.domain.memory import Outline, StoredSentence
from m3desk.domain.people import Observed, Person

SENTENCES = 20_000
"""Size of the cache of most recently read sentences; about 30 MB."""

WAIT = 0.2
"""Seconds that a question waits for the notice of what a commit changed, which comes right after the commit."""

Disk = Callable[[SentenceTable, str], Near | None]
"""Returns a table's vectors of a text model on disk; None if they are to be kept in the process."""

_DEAD = 2_000
"""Number of empty rows above which everything is read again, if they are a quarter of all."""


class SearchReader(Protocol):
    """What search needs from a memory (part of `Reader`)."""

    def version(self) -> int: ...
    def sources(self) -> list[Source]: ...
    def clips(self, source: str | None = None) -> list[Clip]: ...
    def people(self) -> list[Person]: ...
    def sentence(self, node: str) -> StoredSentence: ...
    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]: ...
    def outlines(self, ids: Collection[str] | None = None) -> Iterable[Outline]: ...
    def text_vectors(self, model: str, ids: Collection[str] | None = None) -> Iterator[tuple[list[str], Floats]]: ...
    def observed(self, ids: Collection[str] | None = None) -> list[Observed]: ...


@dataclass(slots=True)
class Appearances:
    """The times at which people are seen and heard, by source, in time order. `presences`: those of `control.presence`, of all of it."""

    seen: dict[str, list[Observed]]
    heard: dict[str, list[Observed]]
    presences: Any = None

    @staticmethod
    def of(observed: Sequence[Observed]) -> Appearances:
        """Build an Evidence from observations."""
        return Appearances({}, {}).changed((), observed)

    def changed(self, touched: Collection[str], observed: Sequence[Observed]) -> Appearances:
        """Return the evidence with the observations of these ids replaced by their new state."""
        gone = set(touched)
        sources = {o.source for o in observed} | {source_of(id_) for id_ in gone}
        new = Appearances(dict(self.seen), dict(self.heard))
        for by_source in (new.seen, new.heard):
            for source in sources:
                by_source[source] = [o for o in by_source.get(source, ()) if o.id not in gone]
        for o in observed:
            (new.seen if o.words is None else new.heard)[o.source].append(o)
        for by_source in (new.seen, new.heard):
            for source in sources:
                by_source[source].sort(key=lambda o: (o.start, o.id))
        return new


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Snapshot:
    """The search state of a memory at one version. `model`: the embedding model of the vectors, "" for none."""

    version: int
    model: str
    split: Split
    table: SentenceTable
    keywords: Keywords
    nearest: Near
    people: tuple[Person, ...]
    sources: tuple[Source, ...]
    clips: Mapping[str, Clip]
    lazy: dict[str, Any] = field(default_factory=dict)
    """What is made on first use: `tellers`, `texts`, `evidence`, `names`."""

    @staticmethod
    def read(reader: SearchReader, split: Split, model: str = "", room: Room | None = None, disk: Disk | None = None) -> Snapshot:
        """Read a whole memory. `room`: allocates the array for very many vectors, see `control.nearest`. `disk`: finds them on disk."""
        version, words = reader.version(), Gathered(split)
        table = SentenceTable.of(_each(reader.outlines(), words.add))
        return Snapshot(
            version,
            model,
            split,
            table,
            words.keywords(),
            (disk and disk(table, model)) or Nearest.of(table.count, _vectors(reader, table, model), room),
            tuple(reader.people()),
            tuple(reader.sources()),
            {c.id: c for c in reader.clips()},
        )

    def changed(self, reader: SearchReader, changed: Changed) -> Snapshot | None:
        """Return the snapshot after a change; None if reading everything again is better."""
        if changed.whole:
            return None
        table, died, fresh = self.table, list[int](), list[Outline]()
        if changed.nodes:
            table, died, fresh = table.changed(changed.nodes, list(reader.outlines(changed.nodes)))
        dead = table.count - table.size
        if dead > _DEAD and dead > table.count // 4:
            return None
        lazy = self._still(reader, changed)
        return replace(
            self,
            version=changed.version,
            table=table,
            keywords=self.keywords.changed(died, fresh, self.split) if died or fresh else self.keywords,
            nearest=self._nearest(reader, table, changed.vectors | {o.id for o in fresh}),
            people=tuple(reader.people()) if changed.people else self.people,
            sources=tuple(reader.sources()) if changed.sources else self.sources,
            clips={c.id: c for c in reader.clips()} if changed.clips else self.clips,
            lazy=lazy,
        )

    def _nearest(self, reader: SearchReader, table: SentenceTable, ids: Collection[str]) -> Near:
        places = {id_: row for id_ in ids if (row := table.row(id_)) is not None}
        if not places and table.count == self.table.count:
            return self.nearest
        parts = list(_vectors(reader, table, self.model, places)) if places else []
        rows = [row for at, _ in parts for row in at]
        vectors = np.concatenate([v for _, v in parts]) if parts else np.zeros((0, 0), np.float32)
        nearest = replace(self.nearest, row=table.row) if isinstance(self.nearest, OnDisk) else self.nearest
        return nearest.changed(table.count, rows, vectors, sorted(set(places.values()) - set(rows)))

    def _still(self, reader: SearchReader, changed: Changed) -> dict[str, Any]:
        """Return the lazily computed parts that are still valid."""
        lazy = dict(self.lazy)
        if changed.people:
            lazy.pop("names", None)
        if changed.nodes:
            lazy.pop("tellers", None)
            lazy.pop("texts", None)
        evidence = lazy.get("evidence")
        if evidence is not None and changed.observations:
            lazy["evidence"] = evidence.changed(changed.observations, reader.observed(changed.observations))
        elif evidence is not None and (changed.people or changed.nodes):
            lazy["evidence"] = Appearances(evidence.seen, evidence.heard)
        return lazy

    # ------------------------------------------------------------ an index (`control.search.SentenceIndex`)

    def words(self, text: str) -> list[str]:
        """Return the search words (stems) of a text."""
        return self.split(text)

    def by_vector(self, vector: Floats, k: int, **only: Any) -> list[tuple[str, float]]:
        """Return (node id, cosine similarity) of the k nearest sentences, nearest first; `only` as in `mask`."""
        return self._named(*self.best_by_vector(vector, k, **only))

    def by_words(self, query: Sequence[str], k: int, **only: Any) -> list[tuple[str, float]]:
        """Return (node id, BM25) of the k best sentences for these words (from `words`), best first."""
        return self._named(*self.best_by_words(query, k, **only))

    def best_by_vector(self, vector: Floats, k: int, **only: Any) -> tuple[Rows, NDArray[np.float64]]:
        """Return the result of `by_vector` as table rows and similarities."""
        may = self.mask(**only)
        return self.table.best(*self.nearest.near(vector, k, self.table.column("alive") if may is None else may), k)

    def best_by_words(self, query: Sequence[str], k: int, **only: Any) -> tuple[Rows, NDArray[np.float64]]:
        """Return the result of `by_words` as table rows and BM25 scores."""
        return self.table.best(*self.keywords.ranked(query, self.table.column("alive"), self.mask(**only), k), k)

    def _named(self, rows: Rows, scores: NDArray[np.float64]) -> list[tuple[str, float]]:
        return [(self.table.ids[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]

    def mask(
        self,
        *,
        kinds: Sequence[str] | None = None,
        source: str | None = None,
        start: int | None = None,
        end: int | None = None,
        before: tuple[str, int] | None = None,
    ) -> Mask | None:
        """Return which rows may be found: of these kinds, of this source, overlapping [start, end) microseconds; None: all current ones.

        `before`: (source, microseconds): excludes rows of that source that start at this time or later.
        """
        table = self.table
        if (source, start, end, before) == (None, None, None, None) and (kinds is None or not table.has_kinds_but(kinds)):
            return None
        found = table.column("alive") if kinds is None else table.of_kinds(kinds)
        if source is not None:
            found = found & table.of_source(source)
        if start is not None:
            found = found & (table.column("end") >= start)
        if end is not None:
            found = found & (table.column("start") < end)
        if before is not None:
            found = found & ~(table.of_source(before[0]) & (table.column("start") >= before[1]))
        return found

    # ------------------------------------------------------------ what answers from the evidence need

    @property
    def shown(self) -> list[Person]:
        """Return the people who are seen or heard; those who are only mentioned are left out."""
        return [p for p in self.people if p.faces or p.voices]

    @property
    def names(self) -> NameFinder:
        """Return the names of these people."""
        if "names" not in self.lazy:
            self.lazy["names"] = NameFinder.of(self.shown)
        found: NameFinder = self.lazy["names"]
        return found

    @property
    def tellers(self) -> Mapping[str, str]:
        """Return, for each utterance, the sentence that reports it."""
        if "tellers" not in self.lazy:
            rows = self.table.in_order(np.flatnonzero(self.table.of_event("says")))
            ids, cites = self.table.ids, self.table.column("cites")
            self.lazy["tellers"] = {o: ids[row] for row in rows.tolist() for o in cites[row]}
        found: dict[str, str] = self.lazy["tellers"]
        return found

    @property
    def texts(self) -> Mapping[tuple[str, int], str]:
        """Return, for each source and time at which a text appears, the sentence that reports it."""
        if "texts" not in self.lazy:
            rows = self.table.in_order(np.flatnonzero(self.table.of_event("text")))
            start, source, sources = self.table.column("start"), self.table.column("source"), self.table.sources.values
            self.lazy["texts"] = {(sources[source[row]], int(start[row])): self.table.ids[row] for row in rows.tolist()}
        found: dict[tuple[str, int], str] = self.lazy["texts"]
        return found

    def evidence(self, reader: SearchReader) -> Appearances:
        """Return when people are seen and heard; read on first use."""
        if "evidence" not in self.lazy:
            self.lazy["evidence"] = Appearances.of(reader.observed())
        found: Appearances = self.lazy["evidence"]
        return found


def _each(outlines: Iterable[Outline], take: Callable[[Outline], None]) -> Iterator[Outline]:
    """Yield outlines, and pass each to `take`."""
    for outline in outlines:
        take(outline)
        yield outline


def _vectors(
    reader: SearchReader, table: SentenceTable, model: str, ids: Collection[str] | None = None
) -> Iterator[tuple[list[int], Floats]]:
    """Yield table rows and their vectors."""
    if not model:
        return
    for names, vectors in reader.text_vectors(model, ids):
        rows = [table.row(id_) for id_ in names]
        held = [n for n, row in enumerate(rows) if row is not None]
        yield [row for row in rows if row is not None], vectors if len(held) == len(rows) else vectors[held]


class SnapshotCache:
    """The current search state of one memory; thread-safe. `told`: whether `note` is called after every commit."""

    def __init__(self, split: Split, *, told: bool = False, room: Room | None = None, disk: Disk | None = None) -> None:
        self._split, self._told, self._room, self._disk = split, told, room, disk
        self._now: Snapshot | None = None
        self._lock = threading.Lock()
        self._news = threading.Condition()
        self._changed: Changed | None = None
        self._sentences: OrderedDict[str, StoredSentence] = OrderedDict()
        self._keeping = threading.Lock()
        """Held for a moment, where `_now` is replaced and `_sentences` follow it; `_lock` is held while a memory is read."""

    def note(self, changed: Changed) -> None:
        """Note what a commit changed; returns at once."""
        with self._news:
            old = self._changed
            self._changed = old.then(changed) if old is not None and old.version == changed.before else changed
            self._news.notify_all()

    def drop(self) -> None:
        """Drop the state; the next question reads everything."""
        with self._lock:
            self._replace(None, None)

    def settle(self) -> None:
        """Replace the vectors in the process by those on disk, once they are written."""
        with self._lock:
            now = self._now
            if now is not None and self._disk is not None and (nearest := self._disk(now.table, now.model)) is not None:
                with self._keeping:
                    self._now = replace(now, nearest=nearest)

    @property
    def now(self) -> Snapshot | None:
        """Return the current snapshot."""
        return self._now

    @property
    def version(self) -> int | None:
        """Return the version of the current snapshot; None if there is none."""
        now = self._now
        return None if now is None else now.version

    @property
    def model(self) -> str | None:
        """Return the embedding model of the current snapshot; None if there is none."""
        now = self._now
        return None if now is None else now.model

    def snapshot(self, reader: SearchReader, model: str = "") -> Snapshot:
        """Return a snapshot that is at least as new as the memory at the time of the call. `model`: the embedding model to search with."""
        with self._lock:
            now, version = self._now, reader.version()
            if now is not None and now.model == model:
                if now.version >= version:
                    return now
                changed = self._since(now.version, version)
                try:
                    new = None if changed is None else now if changed.nothing else now.changed(reader, changed)
                except ValueError:  # vectors of another length: another text model of the same name
                    new = None
                if new is not None and changed is not None:
                    now = new if new.version == changed.version else replace(new, version=changed.version)
                    self._replace(now, changed.nodes)
                    return now
            now = Snapshot.read(reader, self._split, model, self._room, self._disk)
            self._replace(now, None)
            with self._news:
                if self._changed is not None and self._changed.version <= now.version:
                    self._changed = None  # it was read with the rest
            return now

    def beside(self, now: Snapshot, reader: SearchReader, changed: Changed) -> Snapshot | None:
        """Return a snapshot with a change that is in no memory, for one question; None if there is too much to add. It is not kept."""
        with self._lock:  # what snapshots share is appended to by one thread at a time
            return now.changed(reader, changed)

    def _replace(self, now: Snapshot | None, touched: Collection[str] | None) -> None:
        """Replace the snapshot, and keep the cached sentences that it did not change (None: keep none)."""
        with self._keeping:
            self._now = now
            if touched is None:
                self._sentences.clear()
            else:
                for id_ in touched:
                    self._sentences.pop(id_, None)

    def _since(self, old: int, version: int) -> Changed | None:
        """Return what changed from version `old` to `version` or later, and clear it; None if that is not known."""
        with self._news:
            if self._told:
                self._news.wait_for(lambda: self._changed is not None and self._changed.version >= version, WAIT)
            changed, self._changed = self._changed, None
        # Older changes were read already; reading them again does no harm.
        return changed if changed is not None and changed.before <= old and changed.version >= version else None

    def sentence(self, id_: str, read: Callable[[str], StoredSentence]) -> StoredSentence:
        """Return a sentence, from the cache or read."""
        found = self._sentences.get(id_)
        if found is not None:
            return found
        version = self.version
        found = read(id_)
        self._keep([found], version)
        return found

    def read_ahead(self, ids: Collection[str], read: Callable[[Collection[str]], Sequence[StoredSentence]]) -> None:
        """Read those of these sentences that are not in the cache, all at once: a fifth of what one at a time takes."""
        missing = [id_ for id_ in ids if id_ not in self._sentences]
        if missing:
            version = self.version
            self._keep(read(missing), version)

    def _keep(self, sentences: Sequence[StoredSentence], version: int | None) -> None:
        with self._keeping:
            if self.version == version:  # else they may have changed since they were read
                self._sentences |= {s.id: s for s in sentences}
                while len(self._sentences) > SENTENCES:
                    self._sentences.popitem(last=False)
