"""Search in a memory: meaning, words and the graph together; every result says why it was found.

Dense vectors and keywords are fused, persons named in the query restrict and boost, neighbours in time help, and a clip or a time that the
query names is fetched. Without a text model it goes by words alone and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from m3desk.control.kept import Evidence, SearchReader, Snapshot
from m3desk.control.query import Asked, read
from m3desk.control.table import ENDED, NOBODY, PINNED, STALE, Mask, Rows, index_of
from m3desk.control.times import FOREVER, Stretch
from m3desk.control.wording import GENERIC
from m3desk.domain.clip import Clip, clock
from m3desk.domain.evidence import Floats, ObjectSeen, TextOnScreen
from m3desk.domain.graph import NodeRow
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person
from m3desk.errors import CorrectionError
from m3desk.ports import Found, FoundClip, TextEmbedder

Numbers = NDArray[np.float64]

Before = tuple[str, int]
"""A source and the last clip of it that is known, by index (−1: none): what was learned from later ones is hidden."""

TEXT_KINDS = ("episodic", "semantic")
_POOL = 100
"""Candidates taken from each of the two searches."""

NO_NEAR = (2.0, 2.0)
"""For a text model whose cosines nobody has calibrated: meaning ranks, but by itself it never proves that something is there."""

NEIGHBOUR = 0.25
"""Share of its neighbours' scores that a sentence gets: what was said just before and after an answer helps (models.md, 5b)."""

RRF = 10
"""Rank at which a vote has lost half its weight; 60 is usual for long lists, measured worse here."""


class Index(Protocol):
    """What finds sentences by meaning and by words (`control.kept.Snapshot`).

    `only`: kinds, source, start, end, before (source, time).
    """

    def words(self, text: str) -> list[str]: ...
    def by_vector(self, vector: Floats, k: int, **only: Any) -> list[tuple[str, float]]: ...
    def by_words(self, query: Sequence[str], k: int, **only: Any) -> list[tuple[str, float]]: ...


class ResultReader(SearchReader, Protocol):
    """What is asked of a memory to search it and to show what was found (a `Reader` has it)."""

    def node(self, id_: str) -> NodeRow: ...
    def things(self) -> list[NodeRow]: ...
    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]: ...
    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]: ...


@dataclass(slots=True)
class Hit:
    """A sentence that was found. `score`: 0–1. `similarity`: cosine to the query, None without vectors. `words`: stems it shares with it.

    `cover`: share of the query's telling words that it holds, weighted by how rare they are (one that nothing holds like one held once).
    """

    sentence: StoredSentence
    score: float = 0.0
    similarity: float | None = None
    words: tuple[str, ...] = ()
    cover: float = 0.0
    why: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Candidates:
    """Rows that may answer a query, in order, with what speaks for each. `open`: which rows of the table may be given out at all."""

    rows: Rows
    score: Numbers
    similarity: Numbers
    cover: Numbers
    holds: dict[str, Mask]
    open: Mask


class Search:
    """Search over one snapshot of a memory (make a new one for a new question)."""

    def __init__(
        self,
        reader: ResultReader,
        index: Index,
        text_vectors: TextEmbedder | None,
        known: Snapshot | None = None,
        sentence: Callable[[str, Callable[[str], StoredSentence]], StoredSentence] | None = None,
    ) -> None:
        """Search `known`, what was read of a memory before (None: read it now), by what `index` finds.

        `sentence`: gives a sentence that it keeps, or reads it by the function that it is given (`Kept.sentence`).
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
        self._read: dict[str, StoredSentence] = {}
        self._sentence = sentence or (lambda id_, read: self._read.get(id_) or self._read.setdefault(id_, read(id_)))
        if text_vectors is None:
            self.notices.append("Searched by words alone: the text model is not here.")

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
    ) -> list[Found]:
        """Return the k best nodes for a query, best first; `kinds`: face, voice, episodic, semantic, object, place (None = all)."""
        asked = self.read(query, _stretch(source, start, end))
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
        """Return the k best clips, each with those of its memories that were found, in time order; a clip the query names comes first."""
        asked = self.read(query, _stretch(source, start, end))
        by_clip: dict[str, list[Hit]] = {}
        for hit in self.hits(asked, _POOL, before=before):
            by_clip.setdefault(hit.sentence.clip, []).append(hit)
        found = [self._found_clip(self._clips[c], hits, c in asked.clips) for c, hits in by_clip.items() if c in self._clips]
        return sorted(found, key=lambda f: (-f.score, f.start, f.clip))[:k]

    # ------------------------------------------------------------ the search itself

    def read(self, query: str, stretch: Stretch | None = None) -> Asked:
        """Read a query against the people, sources and clips of this memory."""
        return read(query, self.people, self.sources, self._clips, stretch, self.known.names)

    def hits(
        self, asked: Asked, k: int = 20, *, kinds: Collection[str] = TEXT_KINDS, before: Before | None = None, skip: Collection[str] = ()
    ) -> list[Hit]:
        """Return the k best sentences for a query, best first. `skip`: ids that were shown already."""
        found = self._candidates(asked, tuple(kinds), before)
        self._cover(asked, found)
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
        return [hit for score, row in best if (hit := self._hit(asked, found, row, score)) is not None]

    def visible(self, sentence: StoredSentence, before: Before | None) -> bool:
        """Say whether a sentence was known by then."""
        return before is None or sentence.source != before[0] or index_of(sentence.clip) <= before[1]

    def _may_be_found(self, kinds: tuple[str, ...], stretches: Sequence[Stretch], before: Before | None) -> Mask:
        """Return which rows are of these kinds, were known by then, and touch what is asked for."""
        table = self._table
        found = table.of_kinds(kinds)
        if before is not None:
            found &= ~table.of_source(before[0]) | (table.column("clip") <= before[1])
        if stretches:
            start, end = table.column("start"), table.column("end")
            inside = np.zeros(table.count, np.bool_)
            for t in stretches:
                inside |= table.of_source(t.source) & (start < t.end) & (end >= t.start)
            found &= inside
        return found

    def _candidates(self, asked: Asked, kinds: tuple[str, ...], before: Before | None) -> _Candidates:
        """Gather what meaning, words, persons and times bring up, scored by the ranks of the first two."""
        table, may = self._table, self._may_be_found(kinds, asked.stretches, before)
        found: list[Rows] = [np.empty(0, np.int64)]
        votes: list[Numbers] = [np.empty(0)]
        similar: list[Numbers] = [np.empty(0)]
        words = self._index.words(asked.plain)
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
        if asked.stretches or asked.people:
            more = np.flatnonzero(may if asked.stretches else may & table.speaks_of(asked.people))
            every = np.sort(np.concatenate([rows[~_places(more, rows)[1]], more]), kind="stable")  # two runs: merged
            at = np.searchsorted(every, rows)
            score, similarity_ = _spread(score, at, len(every), 0.0), _spread(similarity_, at, len(every), np.nan)
            rows = every
        return _Candidates(rows, score, similarity_, np.zeros(len(rows)), {}, may)

    def _best(self, words: Sequence[str], vector: Floats | None, only: Mapping[str, Any]) -> tuple[Rows, Numbers]:
        """Return the rows of the best by meaning or, without a vector, by words, best first; `NOBODY` for what this table has not."""
        if self._index is self.known:
            return self.known.best_by_words(words, _POOL, **only) if vector is None else self.known.best_by_vector(vector, _POOL, **only)
        found = self._index.by_words(words, _POOL, **only) if vector is None else self._index.by_vector(vector, _POOL, **only)
        rows = (self._table.row(id_) for id_, _ in found)
        return (
            np.fromiter((NOBODY if row is None else row for row in rows), np.int64, len(found)),
            np.fromiter((score for _, score in found), np.float64, len(found)),
        )

    def _filters(self, asked: Asked, kinds: tuple[str, ...], before: Before | None) -> Iterable[dict[str, Any]]:
        hidden: dict[str, Any] = {"kinds": kinds}
        if before is not None:
            ends = [c.end for c in self._clips.values() if c.source == before[0] and c.index <= before[1]]
            hidden["before"] = (before[0], max(ends, default=0))
        if not asked.stretches:
            yield hidden
        for stretch in asked.stretches:
            yield hidden | {"source": stretch.source, "start": stretch.start, "end": stretch.end}

    def telling(self, text: str) -> list[str]:
        """Return the words of a question that evidence has to hold (neither stop words nor words of asking)."""
        return [w for w in dict.fromkeys(self._index.words(text)) if w not in GENERIC]

    def _cover(self, asked: Asked, found: _Candidates) -> None:
        """Say of each candidate which of the query's words it holds and what share that is; rare words weigh more."""
        wanted = self.telling(asked.plain) or list(dict.fromkeys(self._index.words(asked.plain)))
        found.holds = {w: self._holding(w, found.rows) for w in wanted}
        count = len(found.rows) or 1
        weight = {w: math.log(1 + count / (0.5 + max(1, int(np.count_nonzero(held))))) for w, held in found.holds.items()}
        total = sum(weight.values())
        if total:
            for w, held in found.holds.items():
                found.cover += weight[w] * held
            found.cover /= total

    def _holding(self, word: str, rows: Rows) -> Mask:
        """Return which of some rows (in order) hold a word."""
        holding, _ = self.known.keywords.holding(word)
        return _places(holding, rows.astype(np.int32))[1]

    def _boost(self, asked: Asked, found: _Candidates) -> None:
        """Let the graph speak: named persons restrict and boost, a named time is fetched, old knowledge counts less."""
        rows = found.rows
        score = 0.75 * found.score + 0.25 * found.cover
        if asked.people:
            named = sum(self._table.speaks_of([p], rows).astype(np.int64) for p in asked.people)
            share = named / len(asked.people)
            score = np.where(share > 0, 0.15 * share + score * 0.85, 0.4 * score)
        if asked.stretches:
            score = 0.2 + 0.8 * score
        flags = self._table.column("flags")[rows]
        pinned = np.where(flags & PINNED, np.minimum(1.0, 1.1 * score), score)
        found.score = np.where(flags & ENDED, score * 0.6, np.where(flags & STALE, score * 0.8, pinned))

    def _lend(self, found: _Candidates) -> tuple[Rows, Numbers]:
        """Return rows and scores after each gave its neighbours a share; a neighbour that nothing else found comes in by it."""
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

    def _hit(self, asked: Asked, found: _Candidates, row: int, score: float) -> Hit | None:
        """Return a row as a hit, with the reasons why it was found; None where the sentence is gone by now."""
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
        shown = {p.id: p.shown for p in self.people} if asked.people else {}
        why += [shown[p] for p in asked.people if p in self._table.people(row) and p in shown]
        if asked.stretches:
            why.append(f"{clock(sentence.start)}–{clock(sentence.end)}")
        return Hit(sentence, score, similarity, words, float(found.cover[at]), why)

    # ------------------------------------------------------------ results

    def sentence(self, node: str) -> StoredSentence | None:
        """Return a sentence of this snapshot."""
        if self._table.row(node) is None:
            return None
        try:
            return self._sentence(node, self.reader.sentence)
        except CorrectionError:  # it went a moment ago
            return None

    def known_of(self, people: Collection[str], before: Before | None, k: int) -> list[StoredSentence]:
        """Return the k weightiest semantic sentences about any of these people that still hold, of equal weight the earliest."""
        table = self._table
        rows = self._may_be_found(("semantic",), (), before) & table.speaks_of(people) & (table.column("flags") & ENDED == 0)
        found = table.in_order(np.flatnonzero(rows))
        best = found[np.lexsort((table.column("start")[found], -table.column("weight")[found]))][:k]
        return [s for row in best.tolist() if (s := self.sentence(table.ids[row])) is not None]

    def captions(self, words: Collection[str], before: Before | None) -> Iterator[StoredSentence]:
        """Yield, in order, the sentences about texts on screen that stand with a person and hold all these words."""
        table = self._table
        rows = table.in_order(np.flatnonzero(table.of_event("text") & self._may_be_found(TEXT_KINDS, (), before)))
        for word in words:
            rows = rows[np.isin(rows, self.known.keywords.holding(word)[0])]
        for row in rows.tolist():
            if table.people(row) and (s := self.sentence(table.ids[row])) is not None and set(words) <= set(self.telling(s.text)):
                yield s

    def story(self, stretches: Sequence[Stretch], events: Collection[str]) -> list[str]:
        """Return the ids of what happens in these spans (none: at all), in order: of these events, or all where there is none of them."""
        table = self._table
        start, end = table.column("start"), table.column("end")
        rows = table.of_kinds(["episodic"])
        if stretches:
            inside = np.zeros(table.count, np.bool_)
            for t in stretches:
                inside |= table.of_source(t.source) & (start < t.end) & (end > t.start)
            rows &= inside
        telling = np.zeros(table.count, np.bool_)
        for event in events:
            telling |= table.of_event(event)
        chosen = np.flatnonzero(rows & telling) if (rows & telling).any() else np.flatnonzero(rows)
        source, names = table.column("source"), table.sources.values
        return [table.ids[row] for row in sorted(chosen.tolist(), key=lambda row: (names[source[row]], start[row], table.ids[row]))]

    @property
    def tellers(self) -> Mapping[str, str]:
        """Return, for each utterance, the sentence that tells of it."""
        return self.known.tellers

    @property
    def evidence(self) -> Evidence:
        """Return who is seen and heard when."""
        return self.known.evidence(self.reader)

    def clip_at(self, source: str, at: int) -> Clip | None:
        """Return the clip that holds a moment of a source."""
        mine = [c for c in self._clips.values() if c.source == source]
        return next((c for c in mine if c.start <= at < c.end), mine[-1] if mine else None)

    def found(self, hit: Hit) -> Found:
        """Return a hit as searches give it out."""
        s = hit.sentence
        return Found(
            s.id, s.kind, s.shown, round(min(1.0, hit.score), 4), " · ".join(hit.why), s.clip, s.source, s.start, s.end, s.people
        )  # fmt: skip

    def _found_clip(self, clip: Clip, hits: list[Hit], named: bool) -> FoundClip:
        best = sorted((h.score for h in hits), reverse=True)
        score = min(1.0, best[0] + 0.1 * sum(best[1:3])) if not named else 1.0
        ordered = sorted(hits if named else hits[:10], key=lambda h: (h.sentence.kind, h.sentence.start, h.sentence.id))
        return FoundClip(clip.id, clip.source, clip.start, clip.end, round(score, 4), tuple(self.found(h) for h in ordered))

    def _entities(self, asked: Asked, hits: Sequence[Hit], kinds: Collection[str] | None, before: Before | None) -> list[Found]:
        """Return other nodes: of persons the query names, things it names, and, where only these are asked for, whom hits speak of."""
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

    def _entity(self, node: str, kind: str, person: Person, score: float, why: str) -> Found:
        row = self.reader.node(node)
        return Found(node, kind, person.shown, score, why, row.clip, row.source, row.start, row.end, (person.id,))

    def _things(self, asked: Asked, kinds: Collection[str]) -> list[Found]:
        wanted = set(self._index.words(asked.plain))
        found = []
        for row in self.reader.things():
            if row.type in kinds and (held := wanted & set(self._index.words(row.label))):
                why = "words: " + ", ".join(sorted(held))
                found.append(Found(row.id, row.type, row.content, 1.0, why, row.clip, row.source, row.start, row.end, row.people))
        return found


def _votes(count: int) -> Numbers:
    """Return what each rank is worth: the first of both lists makes 1."""
    return 0.5 * RRF / (RRF + np.arange(count))


def _places(ordered: NDArray[Any], values: NDArray[Any]) -> tuple[Rows, Mask]:
    """Return where values stand in an ordered list, and which do."""
    if not len(ordered):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return at, np.asarray(ordered[at] == values)


def _spread(values: Numbers, at: Rows, count: int, empty: float) -> Numbers:
    """Return `count` numbers, `values` at their places and `empty` between them."""
    found = np.full(count, empty)
    found[at] = values
    return found


def _stretch(source: str | None, start: int | None, end: int | None) -> Stretch | None:
    return None if source is None else Stretch(source, start or 0, FOREVER if end is None else end)
