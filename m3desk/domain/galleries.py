"""Incremental galleries (the embeddings a node is compared by): adding an observation costs the same however many there are. Pure.

`identity.gallery_rows` and `identity.typical_rows` choose the embeddings of a gallery; a growing gallery keeps what these two need.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.evidence import Floats
from m3desk.domain.identity import GALLERY, Gallery, gallery_rows, typical_rows
from m3desk.domain.log import ObservationType

LATER = 0.95
"""Factor on the weight of each further row of an observation; rows come best first."""

POOL = 4 * GALLERY
"""The best rows of a face, among which `gallery_rows` chooses."""

TYPICAL = 8 * GALLERY
"""Rows of a voice, among which `typical_rows` chooses; of twice as many the most typical ones are kept."""

UTTERANCE = 5_000_000
"""A long utterance, as in enrolment, counts as one utterance for each 5 seconds."""

CLEAR = 4_000_000
"""Microseconds of clear speech from which a longer utterance has no more weight."""


def worth_of(type_: ObservationType, good: float, duration: int) -> tuple[float, int]:
    """Return the weight of an observation (0–1), and its informative microseconds.

    `good`: a face's quality; of an utterance, its part without overlap. A long utterance has more weight than a word.
    """
    clear = duration if type_ == "face" else round(good * duration)
    return (good if type_ == "face" else min(1.0, clear / CLEAR)), clear


def many(observations: int, duration: int) -> int:
    """Return the number of observations that this evidence counts as."""
    return max(observations, duration // UTTERANCE)


@dataclass(slots=True)
class GrowingGallery:
    """The gallery of one node for one model; observations come in the order of their writing. `last`: the last one's place."""

    type: ObservationType
    last: int = -1
    _count: int = 0
    _length: int = 0
    _best: float = 0.0
    _rows: int = 0
    _vectors: Floats = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    _worths: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    _sum: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    _chosen: list[int] | None = None
    _gallery: Gallery | None = None

    def add(self, place: int, vectors: Floats, good: float, duration: int) -> None:
        """Add an observation: (n, d) unit rows, best first."""
        worth, clear = worth_of(self.type, good, duration)
        self.last, self._gallery = place, None
        self._count += 1
        self._length += clear
        self._best = max(self._best, worth)
        if not len(vectors):
            return
        worths = (worth * np.power(LATER, np.arange(len(vectors)))).astype(np.float32)
        if not len(self._vectors):
            self._vectors, self._sum = np.zeros((0, vectors.shape[1]), np.float32), np.zeros(vectors.shape[1])
        if self.type == "face":
            self._pool(vectors, worths)
        else:
            self._append(vectors, worths)

    def _pool(self, vectors: Floats, worths: Floats) -> None:
        """Keep the best rows, in the order in which they were added; of equals the earlier."""
        if self._rows == POOL and worths.max() <= self._worths.min():
            return
        self._chosen = None
        both, worth = np.concatenate([self._vectors, vectors]), np.concatenate([self._worths, worths])
        kept = np.sort(np.argsort(-worth, kind="stable")[:POOL])
        self._vectors, self._worths, self._rows = both[kept], worth[kept], len(kept)

    def _append(self, vectors: Floats, worths: Floats) -> None:
        end = self._rows + len(vectors)
        if end > len(self._vectors):
            room = max(end, 2 * len(self._vectors))
            self._vectors = np.concatenate([self._vectors, np.zeros((room - len(self._vectors), vectors.shape[1]), np.float32)])
            self._worths = np.concatenate([self._worths, np.zeros(room - len(self._worths), np.float32)])
        self._vectors[self._rows : end], self._worths[self._rows : end] = vectors, worths
        self._sum = self._sum + (vectors.astype(np.float64) * worths[:, None]).sum(0)
        self._rows, self._chosen = end, None
        if end > 2 * TYPICAL:
            kept = typical_rows(self._vectors[:end], self._worths[:end], TYPICAL, self._mean())
            self._vectors, self._worths, self._rows = self._vectors[kept], self._worths[kept], len(kept)

    def _mean(self) -> Floats:
        """Return the (d,) unit mean of all rows that were ever added, weighted."""
        return np.asarray(self._sum / max(float(np.linalg.norm(self._sum)), 1e-9), np.float32)

    def gallery(self, node: str, person: str) -> Gallery:
        """Return the node's gallery."""
        if self._gallery is not None:
            if self._gallery.person != person:
                self._gallery = replace(self._gallery, person=person)
        else:
            vectors, worths = self._vectors[: self._rows], self._worths[: self._rows]
            if self._chosen is None:
                self._chosen = gallery_rows(vectors, worths) if self.type == "face" else typical_rows(vectors, worths, mean=self._mean())
            best = self._best if self.type == "face" else 1.0
            self._gallery = Gallery(node, person, vectors[self._chosen], self._length, best, many(self._count, self._length))
        return self._gallery
