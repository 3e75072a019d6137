"""A search index in memory, made anew for one question, for when none can be kept on disk (it is full, or can't be written to)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.memory import StoredSentence
from m3desk.store.vectors import Sentences
from m3desk.store.words import words


class PlainIndex:
    """Searches the sentences and vectors of the truth one by one: slower on a large memory than `VectorIndex`, with the same answers by
    meaning and nearly the same by words (shared words weighted by how rare they are).
    """

    def __init__(self, reader: Sentences, model: str = "") -> None:
        self.notices: list[str] = []
        self._sentences = {s.id: s for s in reader.memories()}
        self._words = {i: Counter(words(f"{s.text} {' '.join(s.entities)}")) for i, s in self._sentences.items()}
        self._held = Counter(w for counted in self._words.values() for w in counted)
        ids, rows = reader.vectors("text", model) if model else ((), np.zeros((0, 0), np.float32))
        self._vectors = dict(zip(ids, rows, strict=True))

    @staticmethod
    def words(text: str) -> list[str]:
        """Return the words of a text as the index knows them."""
        return words(text)

    def by_vector(self, vector: Floats, k: int, **only: object) -> list[tuple[str, float]]:
        """Return (node id, cosine similarity) of the k nearest sentences, nearest first; `only` as in `store.vectors.where`."""
        near = {i: float(np.dot(self._vectors[i], vector)) for i in self._visible(only) if i in self._vectors}
        return sorted(near.items(), key=lambda f: (-f[1], f[0]))[:k]

    def by_words(self, query: Sequence[str], k: int, **only: object) -> list[tuple[str, float]]:
        """Return (node id, score) of the k sentences that share most with these words, best first."""
        rare = {w: float(np.log(1 + len(self._sentences) / self._held[w])) for w in set(query) if w in self._held}
        shared = {i: sum(weight for w, weight in rare.items() if w in self._words[i]) for i in self._visible(only)}
        return sorted(((i, s) for i, s in shared.items() if s), key=lambda f: (-f[1], f[0]))[:k]

    def _visible(self, only: dict[str, object]) -> list[str]:
        return [i for i, s in self._sentences.items() if _fits(s, **only)]  # type: ignore[arg-type]


def _fits(
    s: StoredSentence,
    *,
    kinds: Sequence[str] | None = None,
    source: str | None = None,
    start: int | None = None,
    end: int | None = None,
    before: tuple[str, int] | None = None,
) -> bool:
    return (
        (kinds is None or s.kind in kinds)
        and (source is None or s.source == source)
        and (start is None or s.end >= start)
        and (end is None or s.start < end)
        and (before is None or s.source != before[0] or s.start < before[1])
    )
