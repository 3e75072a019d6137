"""A plain implementation of search: it loads every sentence and scores them one by one. `control.search` must give equal results.

It is how the program itself searched before it kept columns between questions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence

from m3desk.control.query import ParsedQuestion, read
from m3desk.control.search import TEXT_KINDS, Before, Hit, SentenceIndex
from m3desk.control.times import TimeSpan
from m3desk.control.wording import GENERIC
from m3desk.domain.clip import clock
from m3desk.domain.memory import StoredSentence
from m3desk.ports import Reader, TextEmbedder

_POOL, NEIGHBOUR, RRF = 100, 0.25, 10


class PlainSearch:
    """Search over one reader, as `control.search.Search` does it: `read` and `hits`."""

    def __init__(self, reader: Reader, index: SentenceIndex | None, text_vectors: TextEmbedder | None) -> None:
        self.reader = reader
        self._index = index
        self._text_vectors = text_vectors
        self.sources = reader.sources()
        self.clip_list = reader.clips()
        self._clips = {c.id: c for c in self.clip_list}
        self.people = [p for p in reader.people() if p.faces or p.voices]
        self._sentences = {s.id: s for s in reader.memories()}
        self._order = self._neighbours()

    # ------------------------------------------------------------ the search itself

    def read(self, query: str, span: TimeSpan | None = None) -> ParsedQuestion:
        """Read a query against the people, sources and clips of this memory."""
        return read(query, self.people, self.sources, self.clip_list, span)

    def hits(
        self,
        asked: ParsedQuestion,
        k: int = 20,
        *,
        kinds: Collection[str] = TEXT_KINDS,
        before: Before | None = None,
        skip: Collection[str] = (),
    ) -> list[Hit]:
        """Return the k best sentences for a query, best first. `skip`: ids that were shown already."""
        hits = self._candidates(asked, tuple(kinds), before)
        self._cover(asked, hits)
        self._boost(asked, hits)
        self._lend(hits, asked, tuple(kinds), before)
        ranked = sorted((h for h in hits.values() if h.sentence.id not in skip and h.score > 0), key=lambda h: (-h.score, h.sentence.id))
        return ranked[:k]

    def visible(self, sentence: StoredSentence, before: Before | None) -> bool:
        """Return whether a sentence was known by then."""
        return before is None or sentence.source != before[0] or _index_of(sentence.clip) <= before[1]

    def _candidates(self, asked: ParsedQuestion, kinds: tuple[str, ...], before: Before | None) -> dict[str, Hit]:
        """Gather what meaning, words, persons and times bring up, scored by the ranks of the first two."""
        hits: dict[str, Hit] = {}

        def add(node: str) -> Hit | None:
            sentence = self._sentences.get(node)
            if sentence is None or sentence.kind not in kinds or not self.visible(sentence, before) or not _inside(sentence, asked.spans):
                return None
            return hits.setdefault(node, Hit(sentence))

        for only in self._filters(asked, kinds, before):
            if self._index is not None:
                for rank, (node, _) in enumerate(self._index.by_words(self._index.words(asked.plain), _POOL, **only)):
                    if (hit := add(node)) is not None:
                        hit.score += _vote(rank)
            if self._index is not None and self._text_vectors is not None:
                vector = self._text_vectors.embed([asked.plain], query=True)[0]
                for rank, (node, similarity) in enumerate(self._index.by_vector(vector, _POOL, **only)):
                    if (hit := add(node)) is not None:
                        hit.similarity = similarity
                        hit.score += _vote(rank)
        if asked.spans or asked.people:
            for sentence in self._sentences.values():
                if asked.spans or set(sentence.people) & set(asked.people):
                    add(sentence.id)
        return hits

    def _filters(self, asked: ParsedQuestion, kinds: tuple[str, ...], before: Before | None) -> Iterable[dict[str, object]]:
        hidden: dict[str, object] = {"kinds": kinds}
        if before is not None:
            ends = [c.end for c in self.clip_list if c.source == before[0] and c.index <= before[1]]
            hidden["before"] = (before[0], max(ends, default=0))
        if not asked.spans:
            yield hidden
        for span in asked.spans:
            yield hidden | {"source": span.source, "start": span.start, "end": span.end}

    def telling(self, text: str) -> list[str]:
        """Return the words of a question that evidence has to hold (neither stop words nor words of asking)."""
        if self._index is None:
            return []
        return [w for w in dict.fromkeys(self._index.words(text)) if w not in GENERIC]

    def _cover(self, asked: ParsedQuestion, hits: dict[str, Hit]) -> None:
        """Say of each candidate which of the query's words it holds and what share that is; rare words weigh more."""
        if self._index is None:
            return
        wanted = self.telling(asked.plain) or list(dict.fromkeys(self._index.words(asked.plain)))
        holds = {
            node: set(self._index.words(f"{h.sentence.text} {' '.join(h.sentence.entities)}")) & set(wanted) for node, h in hits.items()
        }
        count = len(hits) or 1
        weight = {w: math.log(1 + count / (0.5 + max(1, sum(w in held for held in holds.values())))) for w in wanted}
        total = sum(weight.values())
        for node, hit in hits.items():
            hit.words = tuple(w for w in wanted if w in holds[node])
            hit.cover = sum(weight[w] for w in hit.words) / total if total else 0.0

    def _boost(self, asked: ParsedQuestion, hits: dict[str, Hit]) -> None:
        """Let the graph speak: named persons restrict and boost, a named time is fetched, old knowledge counts less."""
        shown = {p.id: p.shown for p in self.people}
        for hit in hits.values():
            s = hit.sentence
            hit.score = 0.75 * hit.score + 0.25 * hit.cover
            if hit.words:
                hit.why.append(("词：" if asked.language == "zh" else "words: ") + ", ".join(hit.words))
            if hit.similarity is not None:
                hit.why.append(("语义 " if asked.language == "zh" else "meaning ") + f"{hit.similarity:.2f}")
            if asked.people:
                named = [p for p in asked.people if p in s.people]
                share = len(named) / len(asked.people)
                hit.score = (0.15 * share + hit.score * 0.85) if named else 0.4 * hit.score
                hit.why += [shown[p] for p in named if p in shown]
            if asked.spans:
                hit.score = 0.2 + 0.8 * hit.score
                hit.why.append(f"{clock(s.start)}–{clock(s.end)}")
            if s.valid_until:
                hit.score *= 0.6
            elif s.stale:
                hit.score *= 0.8
            elif s.pinned:
                hit.score = min(1.0, 1.1 * hit.score)

    def _lend(self, hits: dict[str, Hit], asked: ParsedQuestion, kinds: tuple[str, ...], before: Before | None) -> None:
        """Give each sentence a share of its neighbours' scores; a neighbour that nothing else found comes in by it."""
        lent: dict[str, float] = {}
        for node, hit in hits.items():
            for near in self._order.get(node, ()):
                lent[near] = max(lent.get(near, 0.0), hit.score)
        for node, score in lent.items():
            sentence = self._sentences[node]
            if node not in hits:
                if score < 0.5 or sentence.kind not in kinds or not self.visible(sentence, before) or not _inside(sentence, asked.spans):
                    continue
                hits[node] = Hit(sentence, why=["紧邻另一条结果" if asked.language == "zh" else "next to another result"])
            hits[node].score = (hits[node].score + NEIGHBOUR * score) / (1 + NEIGHBOUR)
        for node, hit in hits.items():
            if node not in lent:
                hit.score /= 1 + NEIGHBOUR

    def _neighbours(self) -> dict[str, list[str]]:
        """Return the episodic sentences before and after each, within one source."""
        told = sorted((s for s in self._sentences.values() if s.kind == "episodic"), key=lambda s: (s.source or "", s.start, s.end, s.id))
        near: dict[str, list[str]] = {}
        for a, b in itertools.pairwise(told):
            if a.source == b.source:
                near.setdefault(a.id, []).append(b.id)
                near.setdefault(b.id, []).append(a.id)
        return near


def _vote(rank: int) -> float:
    """Return what a rank is worth: the first of both lists makes 1."""
    return 0.5 * RRF / (RRF + rank)


def _index_of(clip: str | None) -> int:
    """Return the number in a clip's id; −1 for a memory of no clip, which is always known."""
    return int(clip.rsplit(".c", 1)[1]) if clip and ".c" in clip else -1


def _inside(s: StoredSentence, spans: Sequence[TimeSpan]) -> bool:
    return not spans or any(s.source == t.source and s.start < t.end and s.end >= t.start for t in spans)
