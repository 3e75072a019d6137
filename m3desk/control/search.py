"""Hybrid search in a memory: vectors, keywords and the graph together; every result says why it was found.

The ranks of vector and keyword search are fused; persons named in the query restrict and boost, neighbours in time add to the score, and
a clip or time named in the query is fetched. Without a text model the search uses keywords only and says so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from m3desk.control.query import ParsedQuestion, read
from m3desk.control.snapshots import Appearances, SearchReader, Snapshot, SnapshotCache
from m3desk.control.table import ENDED, NOBODY, PINNED, QUOTING, STALE, Mask, Rows, index_of
from m3desk.control.times import FOREVER, TimeSpan
from m3desk.control.wording import GENERIC
from m3desk.domain.clip import Clip, clock
from m3desk.domain.evidence import Floats, ObjectSeen, TextOnScreen
from m3desk.domain.graph import NodeRow
from m3desk.domain.live import OBJECTS_AND_TEXTS
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person, TrackRow
from m3desk.errors import CorrectionError
from m3desk.ports import FoundClip, FoundNode, TextEmbedder

Numbers = NDArray[np.float64]

Before = tuple[str, int]
"""A source and the index of its last known clip (−1: none): what was learned from later clips is hidden."""

TEXT_KINDS = ("episodic", "semantic")
_POOL = 100
"""Candidates taken from each of the two searches."""

NO_NEAR = (2.0, 2.0)
"""For a text model without calibrated cosines: vectors rank, but a high cosine alone never counts as evidence."""

NEIGHBOUR = 0.25
"""Share of its neighbours' scores that is added to a sentence's score: context before and after helps (models.md, 5b)."""

RRF = 10
"""Rank at which the weight has halved (reciprocal rank fusion); the usual 60 was measured worse here."""


class SentenceIndex(Protocol):
    """Finds sentences by vector and by keywords (`control.snapshots.Snapshot`).

    `only`: kinds, source, start, end, before (source, time).
    """

    def words(self, text: str) -> list[str]: ...
    def by_vector(self, vector: Floats, k: int, **only: Any) -> list[tuple[str, float]]: ...
    def by_words(self, query: Sequence[str], k: int, **only: Any) -> list[tuple[str, float]]: ...


class ResultReader(SearchReader, Protocol):
    """What is needed from a memory to search it and to show results (part of `Reader`)."""

    def node(self, id_: str) -> NodeRow: ...
    def things(self) -> list[NodeRow]: ...
    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]: ...
    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]: ...
    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]: ...


@dataclass(slots=True)
class Hit:
    """A found sentence. `score`: 0–1. `similarity`: cosine to the query, None without vectors. `words`: stems it shares with the query.

    `cover`: share of the query's significant words that it contains, weighted by rarity (a word in no sentence counts like one in one).
    """

    sentence: StoredSentence
    score: float = 0.0
    similarity: float | None = None
    words: tuple[str, ...] = ()
    cover: float = 0.0
    why: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Candidates:
    """Candidate rows for a query, in order, with their scores. `open`: which table rows may be returned at all."""

    rows: Rows
    score: Numbers
    similarity: Numbers
    cover: Numbers
    holds: dict[str, Mask]
    open: Mask


class Search:
    """Search over one snapshot of a memory (create a new one for each question)."""

    def __init__(
        self,
        reader: ResultReader,
        index: SentenceIndex,
        text_vectors: TextEmbedder | None,
        known: Snapshot | None = None,
        cache: SnapshotCache | None = None,
    ) -> None:
        """Search the snapshot `known` (None: read it now) with the results of `index`.

        `cache`: keeps the sentences that were read; None: kept as long as this search.
        """
        self.reader = reader
        self.notices: list[str] = []
        self._index = index
        self._text_vectors = text_vectors
        self.near: tuple[float, float] = getattr(text_vectors, "near", NO_NEAR)
        self.known = known or Snapshot.read(reader, index.words)
        self._table = self.known.table
        self.sources = list(self.known.sources)
        self._clips = self.known.clips
        self.people = self.known.shown
        self.unmemorized: TimeSpan | None = None
        """The time of a live source that is not memorized yet."""
        self._read: dict[str, StoredSentence] = {}
        self._cache = cache
        if text_vectors is None:
            self.notices.append("Searched by keywords only: the text model is not installed.")

    # ------------------------------------------------------------ what commands and the window ask for

    def nodes(
        self,
        query: str,
        k: int = 20,
        kinds: Collection[str] | None = None,
        before: Before | None = None,
        source: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> list[FoundNode]:
        """Return the k best nodes for a query, best first; `kinds`: face, voice, episodic, semantic, object, place (None = all)."""
        asked = self.read(query, _span(source, start, end))
        texts = [t for t in TEXT_KINDS if kinds is None or t in kinds]
        hits = self.hits(asked, max(k, 20), kinds=texts or TEXT_KINDS, before=before)
        found = self._entities(asked, hits, kinds, before)
        if texts:
            found += [self.found(h) for h in hits]
        return sorted(found, key=lambda f: (-f.score, f.id))[:k]

    def clips(
        self,
        query: str,
        k: int = 2,
        before: Before | None = None,
        source: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> list[FoundClip]:
        """Return the k best clips, each with its found memories in time order; a clip that the query names comes first."""
        asked = self.read(query, _span(source, start, end))
        by_clip: dict[str, list[Hit]] = {}
        for hit in self.hits(asked, _POOL, before=before):
            by_clip.setdefault(hit.sentence.clip, []).append(hit)
        found = [self._found_clip(self._clips[c], hits, c in asked.clips) for c, hits in by_clip.items() if c in self._clips]
        return sorted(found, key=lambda f: (-f.score, f.start, f.clip))[:k]

    # ------------------------------------------------------------ the search itself

    def read(self, query: str, span: TimeSpan | None = None) -> ParsedQuestion:
        """Parse a query with the people, sources and clips of this memory."""
        return read(query, self.people, self.sources, self._clips, span, self.known.names)

    def hits(
        self,
        asked: ParsedQuestion,
        k: int = 20,
        *,
        kinds: Collection[str] = TEXT_KINDS,
        before: Before | None = None,
        skip: Collection[str] = (),
    ) -> list[Hit]:
        """Return the k best sentences for a query, best first. `skip`: ids already shown."""
        words = self._index.words(asked.plain)
        found = self._candidates(asked, words, tuple(kinds), before)
        self._cover(words, found)
        self._boost(asked, found)
        rows, scores = self._lend(found)
        shown = [row for id_ in skip if (row := self._table.row(id_)) is not None]
        allowed = (scores > 0) & ~np.isin(rows, shown) if shown else scores > 0
        rows, scores = rows[allowed], scores[allowed]
        if len(rows) > k:
            least = np.partition(scores, len(scores) - k)[len(scores) - k]
            rows, scores = rows[scores >= least], scores[scores >= least]
        ids = self._table.ids
        best = sorted(zip(scores.tolist(), rows.tolist(), strict=True), key=lambda x: (-x[0], ids[x[1]]))[:k]
        if self._cache is not None:
            self._cache.read_ahead([ids[row] for _, row in best], self.reader.memories_of)
        return [hit for score, row in best if (hit := self._hit(asked, found, row, score)) is not None]

    def visible(self, sentence: StoredSentence, before: Before | None) -> bool:
        """Return whether a sentence was known by then."""
        return before is None or sentence.source != before[0] or index_of(sentence.clip) <= before[1]

    def _may_be_found(self, kinds: tuple[str, ...], spans: Sequence[TimeSpan], before: Before | None) -> Mask:
        """Return which rows are of these kinds, were known by then, and overlap the time spans asked for."""
        table = self._table
        found = table.of_kinds(kinds)
        if before is not None:
            found &= ~table.of_source(before[0]) | (table.column("clip") <= before[1])
        if spans:
            start, end = table.column("start"), table.column("end")
            inside = np.zeros(table.count, np.bool_)
            for t in spans:
                inside |= table.of_source(t.source) & (start < t.end) & (end >= t.start)
            found &= inside
        return found

    def _candidates(self, asked: ParsedQuestion, words: Sequence[str], kinds: tuple[str, ...], before: Before | None) -> _Candidates:
        """Collect candidates by vectors, keywords, persons and times, scored by the ranks of the first two."""
        table, may = self._table, self._may_be_found(kinds, asked.spans, before)
        found: list[Rows] = [np.empty(0, np.int64)]
        votes: list[Numbers] = [np.empty(0)]
        similar: list[Numbers] = [np.empty(0)]
        vector = None if self._text_vectors is None else self._text_vectors.embed([asked.plain], query=True)[0]
        for only in self._filters(asked, kinds, before):
            for nearest in (False, True) if vector is not None else (False,):
                rows, scores = self._best(words, vector if nearest else None, only)
                held = (rows != NOBODY) & may[rows]
                found.append(rows[held])
                votes.append(_votes(len(rows))[held])
                similar.append(scores[held] if nearest else np.full(int(held.sum()), np.nan))
        rows, which = np.unique(np.concatenate(found), return_inverse=True)
        score: Numbers = np.asarray(np.bincount(which, np.concatenate(votes), len(rows)), np.float64)
        similarity_ = np.full(len(rows), np.nan)
        of = np.concatenate(similar)
        similarity_[which[~np.isnan(of)]] = of[~np.isnan(of)]
        if asked.spans or asked.people:
            more = np.flatnonzero(may if asked.spans else may & table.speaks_of(asked.people))
            every = np.sort(np.concatenate([rows[~_places(more, rows)[1]], more]), kind="stable")  # two runs: merged
            at = np.searchsorted(every, rows)
            score, similarity_ = _spread(score, at, len(every), 0.0), _spread(similarity_, at, len(every), np.nan)
            rows = every
        return _Candidates(rows, score, similarity_, np.zeros(len(rows)), {}, may)

    def _best(self, words: Sequence[str], vector: Floats | None, only: Mapping[str, Any]) -> tuple[Rows, Numbers]:
        """Return the best rows by vector or, without one, by keywords, best first; `NOBODY` for ids that this table does not have."""
        if self._index is self.known:
            return self.known.best_by_words(words, _POOL, **only) if vector is None else self.known.best_by_vector(vector, _POOL, **only)
        found = self._index.by_words(words, _POOL, **only) if vector is None else self._index.by_vector(vector, _POOL, **only)
        rows = (self._table.row(id_) for id_, _ in found)
        return (
            np.fromiter((NOBODY if row is None else row for row in rows), np.int64, len(found)),
            np.fromiter((score for _, score in found), np.float64, len(found)),
        )

    def _filters(self, asked: ParsedQuestion, kinds: tuple[str, ...], before: Before | None) -> Iterable[dict[str, Any]]:
        hidden: dict[str, Any] = {"kinds": kinds}
        if before is not None:
            ends = [c.end for c in self._clips.values() if c.source == before[0] and c.index <= before[1]]
            hidden["before"] = (before[0], max(ends, default=0))
        if not asked.spans:
            yield hidden
        for span in asked.spans:
            yield hidden | {"source": span.source, "start": span.start, "end": span.end}

    def telling(self, text: str) -> list[str]:
        """Return the significant words of a question, which evidence must contain (no stop words, no question words)."""
        return _significant(self._index.words(text))

    def _cover(self, words: Sequence[str], found: _Candidates) -> None:
        """Compute which of the query's words each candidate contains, and the share of them; rare words weigh more."""
        wanted = _significant(words) or list(dict.fromkeys(words))
        found.holds = {w: self._holding(w, found.rows) for w in wanted}
        count = len(found.rows) or 1
        weight = {w: math.log(1 + count / (0.5 + max(1, int(np.count_nonzero(held))))) for w, held in found.holds.items()}
        total = sum(weight.values())
        if total:
            for w, held in found.holds.items():
                found.cover += weight[w] * held
            found.cover /= total

    def _holding(self, word: str, rows: Rows) -> Mask:
        """Return which of the given rows (in order) contain a word."""
        holding, _ = self.known.keywords.holding(word)
        return _places(holding, rows.astype(np.int32))[1]

    def _boost(self, asked: ParsedQuestion, found: _Candidates) -> None:
        """Apply the graph: named persons restrict and boost, a named time is fetched, superseded knowledge counts less."""
        rows = found.rows
        score = 0.75 * found.score + 0.25 * found.cover
        if asked.people:
            named = sum(self._table.speaks_of([p], rows).astype(np.int64) for p in asked.people)
            share = named / len(asked.people)
            score = np.where(share > 0, 0.15 * share + score * 0.85, 0.4 * score)
        if asked.spans:
            score = 0.2 + 0.8 * score
        flags = self._table.column("flags")[rows]
        pinned = np.where(flags & PINNED, np.minimum(1.0, 1.1 * score), score)
        found.score = np.where(flags & ENDED, score * 0.6, np.where(flags & STALE, score * 0.8, pinned))

    def _lend(self, found: _Candidates) -> tuple[Rows, Numbers]:
        """Return rows and scores after each row adds a share to its neighbours in time, which may become candidates by it."""
        lent = np.zeros(len(found.rows))
        strong: list[Rows] = []
        lends: list[Numbers] = []
        for name in ("previous", "next"):  # whoever is the one's next has the one as its previous
            near = self._table.column(name)[found.rows].astype(np.int64)
            at, among = _places(found.rows, near)
            lent = np.maximum(lent, np.where(among, found.score[at], 0.0))
            alone = ~among & (near != NOBODY) & (found.score >= 0.5)
            strong.append(near[alone])
            lends.append(found.score[alone])
        score = found.score / (1 + NEIGHBOUR)
        borrows = lent > 0
        score[borrows] = (found.score[borrows] + NEIGHBOUR * lent[borrows]) / (1 + NEIGHBOUR)
        borrowers, which = np.unique(np.concatenate(strong), return_inverse=True)
        most = np.zeros(len(borrowers))
        np.maximum.at(most, which, np.concatenate(lends))
        new = found.open[borrowers]
        return np.concatenate([found.rows, borrowers[new]]), np.concatenate([score, (NEIGHBOUR * most[new]) / (1 + NEIGHBOUR)])

    def _hit(self, asked: ParsedQuestion, found: _Candidates, row: int, score: float) -> Hit | None:
        """Return a row as a hit with the reasons why it was found; None if the sentence no longer exists."""
        sentence = self.sentence(self._table.ids[row])
        if sentence is None:
            return None
        chinese = asked.language == "zh"
        at = int(np.searchsorted(found.rows, row))
        if at >= len(found.rows) or found.rows[at] != row:
            return Hit(sentence, score, why=["紧邻另一条结果" if chinese else "next to another result"])
        words = tuple(w for w, held in found.holds.items() if held[at])
        similarity = None if math.isnan(found.similarity[at]) else float(found.similarity[at])
        why = []
        if words:
            why.append(("词：" if chinese else "words: ") + ", ".join(words))
        if similarity is not None:
            why.append(("语义 " if chinese else "meaning ") + f"{similarity:.2f}")
        if asked.people:
            why += [self._shown[p] for p in asked.people if p in self._table.people(row) and p in self._shown]
        if asked.spans:
            why.append(f"{clock(sentence.start)}–{clock(sentence.end)}")
        return Hit(sentence, score, similarity, words, float(found.cover[at]), why)

    # ------------------------------------------------------------ results

    def sentence(self, node: str) -> StoredSentence | None:
        """Return a sentence of this snapshot."""
        if self._table.row(node) is None:
            return None
        try:
            if self._cache is not None:
                return self._cache.sentence(node, self.reader.sentence)
            return self._read.get(node) or self._read.setdefault(node, self.reader.sentence(node))
        except CorrectionError:  # it went a moment ago
            return None

    def known_of(self, people: Collection[str], before: Before | None, k: int) -> list[StoredSentence]:
        """Return the k semantic sentences of greatest weight about any of these people that are in force; ties: the earliest."""
        table = self._table
        rows = self._may_be_found(("semantic",), (), before) & table.speaks_of(people) & (table.column("flags") & ENDED == 0)
        found = table.in_order(np.flatnonzero(rows))
        best = found[np.lexsort((table.column("start")[found], -table.column("weight")[found]))][:k]
        return [s for row in best.tolist() if (s := self.sentence(table.ids[row])) is not None]

    def captions(self, words: Collection[str], before: Before | None) -> Iterator[StoredSentence]:
        """Yield, in order, the sentences about on-screen texts that are linked to a person and contain all these words."""
        table = self._table
        rows = table.in_order(np.flatnonzero(table.of_event("text") & self._may_be_found(TEXT_KINDS, (), before)))
        for word in words:
            rows = rows[np.isin(rows, self.known.keywords.holding(word)[0])]
        for row in rows.tolist():
            if table.people(row) and (s := self.sentence(table.ids[row])) is not None and set(words) <= set(self.telling(s.text)):
                yield s

    def unattributed(self, spans: Sequence[TimeSpan], before: Before | None) -> Iterator[StoredSentence]:
        """Yield, in order, the spoken sentences in these time spans (none: everywhere) of which nobody knows who says them."""
        table = self._table
        said = table.of_event("says") & self._may_be_found(TEXT_KINDS, spans, before)
        for row in table.in_order(np.flatnonzero(said)).tolist():
            if not table.people(row) and (s := self.sentence(table.ids[row])) is not None:
                yield s

    def story(self, asked: ParsedQuestion, events: Collection[str]) -> list[str]:
        """Return the ids of the sentences in the time asked for (none: everywhere), in order: of these events and the people asked for.

        Where no sentence tells of these events, of all; where none tells of these people, of everybody. Of what follows a moment those that
        begin after it, if any do.
        """
        table = self._table
        start, end = table.column("start"), table.column("end")
        rows = table.of_kinds(["episodic"])
        if asked.spans:
            inside = np.zeros(table.count, np.bool_)
            later = np.zeros(table.count, np.bool_)
            for t in asked.spans:
                inside |= table.of_source(t.source) & (start < t.end) & (end > t.start)
                later |= start >= t.start
            rows &= inside & later if asked.follows and (rows & inside & later).any() else inside
        if asked.people and (rows & table.speaks_of(asked.people)).any():
            rows &= table.speaks_of(asked.people)
        telling = np.zeros(table.count, np.bool_)
        for event in events:
            telling |= table.of_event(event)
        chosen = np.flatnonzero(rows & telling) if (rows & telling).any() else np.flatnonzero(rows)
        return [table.ids[row] for row in table.in_order(chosen).tolist()]

    def in_time(self, asked: ParsedQuestion, before: Before | None, *, quoting: bool = False) -> Iterator[StoredSentence]:
        """Yield what happens with the people and in the time asked for, in order; from the end for a question of the last.

        `quoting`: only sentences that may quote somebody; the others are not read.
        """
        table = self._table
        rows = self._may_be_found(("episodic",), asked.spans, before)
        if asked.people:
            rows &= table.speaks_of(asked.people)
        if quoting:
            rows &= table.column("flags") & QUOTING != 0
        found = table.in_order(np.flatnonzero(rows)).tolist()
        for row in reversed(found) if asked.order == "last" else found:
            if (s := self.sentence(table.ids[row])) is not None and not self.precedes(s, asked):
                yield s

    @staticmethod
    def precedes(sentence: StoredSentence, asked: ParsedQuestion) -> bool:
        """Return whether a sentence begins before a time of which only what follows is asked for."""
        return asked.follows and any(t.source == sentence.source and sentence.start < t.start for t in asked.spans)

    @cached_property
    def _shown(self) -> dict[str, str]:
        """Return the names that people go by."""
        return {p.id: p.shown for p in self.people}

    @property
    def tellers(self) -> Mapping[str, str]:
        """Return, for each utterance, the sentence that tells of it."""
        return self.known.tellers

    @property
    def evidence(self) -> Appearances:
        """Return when people are seen and heard."""
        return self.known.evidence(self.reader)

    def waiting_clips(self) -> list[Clip]:
        """Return the clips that are not memorized yet."""
        return [c for c in self._clips.values() if c.state == "queued"]

    def unwatched(self, span: TimeSpan) -> bool:
        """Return whether a clip of this time could not be memorized."""
        return any(c.state in ("failed", "skipped") for c in self._within(span))

    def waits(self, span: TimeSpan) -> bool:
        """Return whether nothing of this time is memorized yet."""
        within = self._within(span)
        return bool(within) and all(c.state == "queued" for c in within)

    def bodies_left_out(self, span: TimeSpan) -> bool:
        """Return whether people without a face were not looked for in some of a time: memorizing was behind."""
        return any(OBJECTS_AND_TEXTS in c.given_up for c in self._within(span))

    def _within(self, span: TimeSpan) -> list[Clip]:
        return [c for c in self._clips.values() if c.source == span.source and c.start < span.end and c.end > span.start]

    def end_of(self, source: str) -> int:
        """Return when the last clip of a source ends, 0 if it has none."""
        return max((c.end for c in self._clips.values() if c.source == source), default=0)

    def known_until(self, source: str) -> int:
        """Return until when something can be known of a source: its end, of a live source what is memorized."""
        end, lacks = self.end_of(source), self.unmemorized
        return min(end, lacks.start) if lacks is not None and lacks.source == source else end

    def clip_at(self, source: str, at: int) -> Clip | None:
        """Return the clip that contains a time of a source."""
        mine = [c for c in self._clips.values() if c.source == source]
        return next((c for c in mine if c.start <= at < c.end), mine[-1] if mine else None)

    def found(self, hit: Hit) -> FoundNode:
        """Return a hit as a search result."""
        s = hit.sentence
        return FoundNode(
            s.id, s.kind, s.shown, round(min(1.0, hit.score), 4), " · ".join(hit.why), s.clip, s.source, s.start, s.end, s.people
        )  # fmt: skip

    def _found_clip(self, clip: Clip, hits: list[Hit], named: bool) -> FoundClip:
        best = sorted((h.score for h in hits), reverse=True)
        score = min(1.0, best[0] + 0.1 * sum(best[1:3])) if not named else 1.0
        ordered = sorted(hits if named else hits[:10], key=lambda h: (h.sentence.kind, h.sentence.start, h.sentence.id))
        return FoundClip(clip.id, clip.source, clip.start, clip.end, round(score, 4), tuple(self.found(h) for h in ordered))

    def _entities(
        self, asked: ParsedQuestion, hits: Sequence[Hit], kinds: Collection[str] | None, before: Before | None
    ) -> list[FoundNode]:
        """Return other nodes: persons and things that the query names, and, if only such nodes are wanted, the people that hits mention."""
        by_id = {p.id: p for p in self.people}
        wanted: dict[str, tuple[float, str]] = dict.fromkeys(
            asked.people, (1.0, "点名" if asked.language == "zh" else "named in the query")
        )
        if kinds is not None and not set(kinds) & set(TEXT_KINDS) and not asked.people:
            for hit in hits:
                for person in hit.sentence.people:
                    wanted.setdefault(person, (round(min(1.0, hit.score), 4), f"{hit.sentence.id}: {hit.sentence.shown}"))
        found = []
        for person, (score, why) in wanted.items():
            for kind, nodes in (("face", by_id[person].faces), ("voice", by_id[person].voices)) if person in by_id else ():
                if kinds is None or kind in kinds:
                    found += [self._entity(n, kind, by_id[person], score, why) for n in nodes]
        if kinds is not None and set(kinds) & {"object", "place"}:
            found += self._things(asked, kinds)
        return [f for f in found if before is None or f.source != before[0] or f.clip is None or index_of(f.clip) <= before[1]]

    def _entity(self, node: str, kind: str, person: Person, score: float, why: str) -> FoundNode:
        row = self.reader.node(node)
        return FoundNode(node, kind, person.shown, score, why, row.clip, row.source, row.start, row.end, (person.id,))

    def _things(self, asked: ParsedQuestion, kinds: Collection[str]) -> list[FoundNode]:
        wanted = set(self._index.words(asked.plain))
        found = []
        for row in self.reader.things():
            if row.type in kinds and (held := wanted & set(self._index.words(row.label))):
                why = "words: " + ", ".join(sorted(held))
                found.append(FoundNode(row.id, row.type, row.content, 1.0, why, row.clip, row.source, row.start, row.end, row.people))
        return found


def _significant(words: Iterable[str]) -> list[str]:
    return [w for w in dict.fromkeys(words) if w not in GENERIC]


def _votes(count: int) -> Numbers:
    """Return the weight of each rank; first in both lists gives 1."""
    return 0.5 * RRF / (RRF + np.arange(count))


def _places(ordered: NDArray[Any], values: NDArray[Any]) -> tuple[Rows, Mask]:
    """Return the positions of values in a sorted list, and which values are in it."""
    if not len(ordered):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return at, np.asarray(ordered[at] == values)


def _spread(values: Numbers, at: Rows, count: int, empty: float) -> Numbers:
    """Return an array of `count` numbers: `values` at their positions, `empty` elsewhere."""
    found = np.full(count, empty)
    found[at] = values
    return found


def _span(source: str | None, start: int | None, end: int | None) -> TimeSpan | None:
    return None if source is None else TimeSpan(source, start or 0, FOREVER if end is None else end)
