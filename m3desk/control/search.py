"""Search in a memory: meaning, words and the graph together; every result says why it was found.

Dense vectors and keywords are fused, persons named in the query restrict and boost, neighbours in time help, and a clip or a time that the
query names is fetched. Without a text model it goes by words alone and says so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from m3desk.control.query import Asked, read
from m3desk.control.times import FOREVER, Stretch
from m3desk.control.wording import GENERIC
from m3desk.domain.clip import Clip, clock
from m3desk.domain.evidence import Floats
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person
from m3desk.ports import Found, FoundClip, Reader, TextEmbedder

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
    """The search index, as `store.vectors.VectorIndex` has it. `only`: kinds, source, start, end, clips, before (source, time)."""

    notices: list[str]

    def words(self, text: str) -> list[str]: ...
    def by_vector(self, vector: Floats, k: int, **only: object) -> list[tuple[str, float]]: ...
    def by_words(self, query: Sequence[str], k: int, **only: object) -> list[tuple[str, float]]: ...


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


class Search:
    """Search over one snapshot of a memory (make a new one for a new question)."""

    def __init__(self, reader: Reader, index: Index | None, text_vectors: TextEmbedder | None) -> None:
        self.reader = reader
        self.notices: list[str] = []
        self._index = index
        self._text_vectors = text_vectors
        self.near: tuple[float, float] = getattr(text_vectors, "near", NO_NEAR)
        self.sources = reader.sources()
        self.clip_list = reader.clips()
        self._clips = {c.id: c for c in self.clip_list}
        self.people = [p for p in reader.people() if p.faces or p.voices]
        self._sentences = {s.id: s for s in reader.memories()}
        self._order = self._neighbours()
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
        return read(query, self.people, self.sources, self.clip_list, stretch)

    def hits(
        self, asked: Asked, k: int = 20, *, kinds: Collection[str] = TEXT_KINDS, before: Before | None = None, skip: Collection[str] = ()
    ) -> list[Hit]:
        """Return the k best sentences for a query, best first. `skip`: ids that were shown already."""
        hits = self._candidates(asked, tuple(kinds), before)
        self._cover(asked, hits)
        self._boost(asked, hits)
        self._lend(hits, asked, tuple(kinds), before)
        ranked = sorted((h for h in hits.values() if h.sentence.id not in skip and h.score > 0), key=lambda h: (-h.score, h.sentence.id))
        return ranked[:k]

    def visible(self, sentence: StoredSentence, before: Before | None) -> bool:
        """Say whether a sentence was known by then."""
        return before is None or sentence.source != before[0] or _index_of(sentence.clip) <= before[1]

    def _candidates(self, asked: Asked, kinds: tuple[str, ...], before: Before | None) -> dict[str, Hit]:
        """Gather what meaning, words, persons and times bring up, scored by the ranks of the first two."""
        hits: dict[str, Hit] = {}

        def add(node: str) -> Hit | None:
            sentence = self._sentences.get(node)
            if (
                sentence is None
                or sentence.kind not in kinds
                or not self.visible(sentence, before)
                or not _inside(sentence, asked.stretches)
            ):
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
        if asked.stretches or asked.people:
            for sentence in self._sentences.values():
                if asked.stretches or set(sentence.people) & set(asked.people):
                    add(sentence.id)
        return hits

    def _filters(self, asked: Asked, kinds: tuple[str, ...], before: Before | None) -> Iterable[dict[str, object]]:
        hidden: dict[str, object] = {"kinds": kinds}
        if before is not None:
            ends = [c.end for c in self.clip_list if c.source == before[0] and c.index <= before[1]]
            hidden["before"] = (before[0], max(ends, default=0))
        if not asked.stretches:
            yield hidden
        for stretch in asked.stretches:
            yield hidden | {"source": stretch.source, "start": stretch.start, "end": stretch.end}

    def telling(self, text: str) -> list[str]:
        """Return the words of a question that evidence has to hold (neither stop words nor words of asking)."""
        if self._index is None:
            return []
        return [w for w in dict.fromkeys(self._index.words(text)) if w not in GENERIC]

    def _cover(self, asked: Asked, hits: dict[str, Hit]) -> None:
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

    def _boost(self, asked: Asked, hits: dict[str, Hit]) -> None:
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
            if asked.stretches:
                hit.score = 0.2 + 0.8 * hit.score
                hit.why.append(f"{clock(s.start)}–{clock(s.end)}")
            if s.valid_until:
                hit.score *= 0.6
            elif s.stale:
                hit.score *= 0.8
            elif s.pinned:
                hit.score = min(1.0, 1.1 * hit.score)

    def _lend(self, hits: dict[str, Hit], asked: Asked, kinds: tuple[str, ...], before: Before | None) -> None:
        """Give each sentence a share of its neighbours' scores; a neighbour that nothing else found comes in by it."""
        lent: dict[str, float] = {}
        for node, hit in hits.items():
            for near in self._order.get(node, ()):
                lent[near] = max(lent.get(near, 0.0), hit.score)
        for node, score in lent.items():
            sentence = self._sentences[node]
            if node not in hits:
                if (
                    score < 0.5
                    or sentence.kind not in kinds
                    or not self.visible(sentence, before)
                    or not _inside(sentence, asked.stretches)
                ):
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

    # ------------------------------------------------------------ results

    def sentence(self, node: str) -> StoredSentence | None:
        """Return a sentence of this snapshot."""
        return self._sentences.get(node)

    def sentences(self) -> Iterable[StoredSentence]:
        """Return every sentence of this snapshot."""
        return self._sentences.values()

    def clip_at(self, source: str, at: int) -> Clip | None:
        """Return the clip that holds a moment of a source."""
        mine = [c for c in self.clip_list if c.source == source]
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
        return [f for f in found if before is None or f.source != before[0] or f.clip is None or _index_of(f.clip) <= before[1]]

    def _entity(self, node: str, kind: str, person: Person, score: float, why: str) -> Found:
        row = self.reader.node(node)
        return Found(node, kind, person.shown, score, why, row.clip, row.source, row.start, row.end, (person.id,))

    def _things(self, asked: Asked, kinds: Collection[str]) -> list[Found]:
        if self._index is None:
            return []
        wanted = set(self._index.words(asked.plain))
        found = []
        for row in self.reader.graph().nodes:
            if row.type in ("object", "place") and row.type in kinds and (held := wanted & set(self._index.words(row.label))):
                why = "words: " + ", ".join(sorted(held))
                found.append(Found(row.id, row.type, row.content, 1.0, why, row.clip, row.source, row.start, row.end, row.people))
        return found


def _vote(rank: int) -> float:
    """Return what a rank is worth: the first of both lists makes 1."""
    return 0.5 * RRF / (RRF + rank)


def _index_of(clip: str | None) -> int:
    """Return the number in a clip's id; −1 for a memory of no clip, which is always known."""
    return int(clip.rsplit(".c", 1)[1]) if clip and ".c" in clip else -1


def _inside(s: StoredSentence, stretches: Sequence[Stretch]) -> bool:
    return not stretches or any(s.source == t.source and s.start < t.end and s.end >= t.start for t in stretches)


def _stretch(source: str | None, start: int | None, end: int | None) -> Stretch | None:
    return None if source is None else Stretch(source, start or 0, FOREVER if end is None else end)
