"""Lets a question see what a live source gave that is not memorized yet: words heard, people seen, as if they were in the memory.

Nothing is stored, and nothing of it stays in the search state that later questions use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from m3desk.control.search import ResultReader, Search
from m3desk.control.snapshots import SnapshotCache
from m3desk.control.times import TimeSpan
from m3desk.control.wording import say
from m3desk.domain.changed import Changed
from m3desk.domain.clip import Source
from m3desk.domain.evidence import Floats
from m3desk.domain.ids import clip_id
from m3desk.domain.live import Heard, Seen, Unmemorized
from m3desk.domain.memory import Outline, StoredSentence
from m3desk.domain.people import Observed
from m3desk.events import AskDone, AskRound
from m3desk.ports import TextEmbedder

_NODE = "live_"
"""How the ids of these sentences begin: no node of a memory has such an id."""

_HAN = re.compile("[\u4e00-\u9fff]")
"""A Chinese character, which a Chinese sentence holds."""


class Unwritten:
    """What is known of a live source but not memorized, laid over a reader; has all of the reader's methods."""

    def __init__(
        self,
        reader: ResultReader,
        sources: Sequence[Source],
        place: Callable[[int], str],
        heard: Sequence[Heard],
        seen: Sequence[Seen],
        vectors: TextEmbedder | None,
    ) -> None:
        """`place`: returns the id of the clip that a time is, or will be, part of."""
        self._reader, self._sources, self._vectors = reader, list(sources), vectors
        self._told: dict[str, StoredSentence] = {}
        self._observed: dict[str, Observed] = {}
        for n, h in enumerate(heard, 1):
            clip = place(h.start)
            one = Observed(f"{clip}.ulive_{n}", clip, h.source, h.start, h.end, None, h.person or "", h.text)
            self._told[f"{_NODE}{n}"] = _sentence(f"{_NODE}{n}", h, one)
            if h.person:
                self._observed[one.id] = one
        for n, s in enumerate(seen, 1):
            clip = place(s.start)
            one = Observed(f"{clip}.flive_{n}", clip, s.source, s.start, s.end, None, s.person, None)
            self._observed[one.id] = one

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def changed(self, version: int) -> Changed:
        """Return what it adds, as a change of a memory at this version."""
        return Changed(
            version,
            version,
            nodes=frozenset(self._told),
            observations=frozenset(self._observed),
            sources=frozenset(s.id for s in self._sources),
        )

    def sources(self) -> list[Source]:
        return self._sources

    def sentence(self, node: str) -> StoredSentence:
        return self._told[node] if node in self._told else self._reader.sentence(node)

    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]:
        return [*self._reader.memories_of([i for i in ids if i not in self._told]), *(self._told[i] for i in ids if i in self._told)]

    def outlines(self, ids: Collection[str] | None = None) -> Iterable[Outline]:
        mine = [s for s in self._told.values() if ids is None or s.id in ids]
        yield from self._reader.outlines(None if ids is None else [i for i in ids if i not in self._told])
        for s in mine:
            yield Outline(s.id, s.kind, s.text, s.clip, s.source, s.start, s.end, people=s.people, event=s.event, cites=s.citations)

    def text_vectors(self, model: str, ids: Collection[str] | None = None) -> Iterator[tuple[list[str], Floats]]:
        yield from self._reader.text_vectors(model, None if ids is None else [i for i in ids if i not in self._told])
        mine = [s for s in self._told.values() if ids is None or s.id in ids]
        if mine and self._vectors is not None:
            yield [s.id for s in mine], np.asarray(self._vectors.embed([s.shown for s in mine]), np.float32)

    def observed(self, ids: Collection[str] | None = None) -> list[Observed]:
        there = self._reader.observed(None if ids is None else [i for i in ids if i not in self._observed])
        return [*there, *(o for o in self._observed.values() if ids is None or o.id in ids)]


def _sentence(node: str, heard: Heard, observed: Observed) -> StoredSentence:
    language = "zh" if _HAN.search(heard.text) else "en"
    who = heard.name or say("somebody", language)
    shown = say("says", language, who=who, words=heard.text).strip()
    at = shown.index(heard.text, len(who))
    people = (heard.person,) if heard.person else ()
    return StoredSentence(
        node, "episodic", shown, shown, shown, observed.clip, heard.source, heard.start, heard.end, 1.0, people, (observed.id,),
        event="says", quoted=((at, at + len(heard.text)),), language=language,
    )  # fmt: skip


def with_unwritten(cache: SnapshotCache, search: Search, lacking: Unmemorized, vectors: TextEmbedder | None) -> Search:
    """Return a search that also sees these words and stays of one live source, and knows which time of it is not memorized."""
    source, known = lacking.source, search.known
    if source not in {s.id for s in known.sources}:
        return search
    sources = [replace(s, duration=max(s.duration or 0, lacking.end)) if s.id == source else s for s in known.sources]
    found = _laid_over(cache, search, lacking, sources, vectors) if lacking.heard or lacking.seen else search
    found.sources = sources
    found.unmemorized = TimeSpan(source, lacking.start, lacking.end)
    return found


def _laid_over(
    cache: SnapshotCache, search: Search, lacking: Unmemorized, sources: Sequence[Source], vectors: TextEmbedder | None
) -> Search:
    """Return a search over a snapshot that also holds these words and stays; the same one if there is too much to add."""
    source, known = lacking.source, search.known
    clips = sorted((c for c in known.clips.values() if c.source == source), key=lambda c: c.index)

    def place(at: int) -> str:
        return next((c.id for c in clips if c.start <= at < c.end), clip_id(source, clips[-1].index + 1 if clips else 0))

    people = {p.id: p for p in search.people}
    words = [replace(h, name=people[h.person].shown) if h.person in people else replace(h, person=None, name="") for h in lacking.heard]
    seen = [s for s in lacking.seen if s.person in people]
    over = Unwritten(search.reader, sources, place, words, seen, vectors if known.model else None)
    more = cache.beside(known, over, over.changed(known.version))
    return search if more is None else Search(over, more, vectors, more)


def unmemorized_from(search: Search, source: str) -> int:
    """Return the end of the last memorized clip of a source in microseconds: what is later is not in the memory."""
    return max((c.end for c in search.known.clips.values() if c.source == source and c.state in ("episodic", "done")), default=0)


def without_ids(event: Any) -> Any:
    """Return an event of an answer without the ids of sentences that are not in the memory."""
    if isinstance(event, AskRound):
        return replace(event, results=tuple(r for r in event.results if not r.startswith(_NODE)))
    if isinstance(event, AskDone):
        return replace(event, citations=tuple(replace(c, node=None) if (c.node or "").startswith(_NODE) else c for c in event.citations))
    return event
