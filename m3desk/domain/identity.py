"""Binding: decides which known node, if any, the faces or the speech of one clip belong to. Pure and deterministic.

A doubtful match creates a new node: a user repairs two nodes of one person with one click, but one node of two people often not at all.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.calibration import Calibration, calibration
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.domain.ids import numbered

GALLERY = 20
"""Embeddings in a gallery: enough for the poses of a face or the tones of a voice, few enough to compare thousands of nodes quickly."""

TOP = 3
"""A row's similarity to a gallery is the mean of its best few: a single high cosine may be chance."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster of one clip to be matched. `vectors`: (n, d) unit rows, best first. `duration`: microseconds of face or speech.

    `quality`: of its best face, 0–1. `continues`: observations of the clip before that its tracks go on from. `count`: how many of
    its observations have rows.
    """

    observations: tuple[str, ...]
    vectors: Floats
    duration: int
    quality: float = 1.0
    continues: tuple[str, ...] = ()
    count: int = 1


@dataclass(frozen=True, slots=True)
class Gallery:
    """The embeddings of a node: (n ≤ GALLERY, d) unit rows; `person` owns the node now.

    `duration`: microseconds of face or speech it rests on, 0 where that is unknown. `quality`: of its best face, 0–1. `count`: how many
    observations it rests on.
    """

    node: str
    person: str
    vectors: Floats
    duration: int = 0
    quality: float = 1.0
    count: int = 1
    _means: list[Floats] = field(default_factory=list, compare=False, repr=False)

    @property
    def mean(self) -> Floats:
        """Return the (d,) mean of the rows."""
        return self._both()[0]

    @property
    def direction(self) -> Floats:
        """Return the (d,) unit mean of the rows."""
        return self._both()[1]

    def _both(self) -> list[Floats]:
        if not self._means:
            self._means.extend((self.vectors.mean(0), mean_of(self.vectors)))
        return self._means


@dataclass(frozen=True, slots=True)
class Match:
    """The result for a candidate. Matched: `score` is its similarity to `node`, `runner_up` the next person's node, `margin` the lead.

    `node` None = somebody new: then `runner_up` is the best node that was not good enough, `score` the similarity to it, no `margin`.
    """

    node: str | None
    score: float | None
    runner_up: str | None
    margin: float | None


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """Who can be recognised by one model: the galleries of all nodes, the names that are shown, and pairs of persons that are two.

    A snapshot of a memory after a commit; `distinct` may already know of later ones.
    """

    galleries: tuple[Gallery, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    distinct: Container[tuple[str, str]] = frozenset()


def gallery_rows(vectors: Floats, quality: Floats, limit: int = GALLERY) -> list[int]:
    """Choose the most useful rows: good ones first, then those dissimilar to the chosen, weighted by quality; same input, same choice.

    vectors: (n, d) unit rows. quality: (n,) in 0–1.
    """
    if len(vectors) <= limit:
        return list(range(len(vectors)))
    pool = np.argsort(-quality, kind="stable")[: 4 * limit]
    rows, weight = vectors[pool], quality[pool]
    chosen = [0]
    nearest = np.round(rows @ rows[0], 6)
    while len(chosen) < limit:
        gain = weight * (1.0 - nearest)
        gain[chosen] = -np.inf
        best = int(np.argmax(gain))
        chosen.append(best)
        nearest = np.maximum(nearest, np.round(rows @ rows[best], 6))
    return sorted(int(pool[i]) for i in chosen)


def typical_rows(vectors: Floats, quality: Floats, limit: int = GALLERY, mean: Floats | None = None) -> list[int]:
    """Choose the rows most similar to the mean, weighted by quality: outliers of a voice are crosstalk or noise.

    vectors: (n, d) unit rows. quality: (n,) in 0–1. mean: (d,) the rows' weighted mean, where it is known.
    """
    if len(vectors) <= limit:
        return list(range(len(vectors)))
    typical = np.round(vectors @ (mean_of(vectors, quality) if mean is None else mean), 6)
    return sorted(int(i) for i in np.argsort(-(quality * typical), kind="stable")[:limit])


def mean_of(vectors: Floats, quality: Floats | None = None) -> Floats:
    """Return the (d,) unit mean of (n, d) rows, weighted by `quality`."""
    total = vectors.sum(0) if quality is None else (vectors * quality[:, None]).sum(0)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-9), np.float32)


def top_similarity(vectors: Floats, gallery: Floats) -> float:
    """Return the similarity of a cluster (n, d) and a gallery (m, d) by their best rows: the mean of the top matches of the best rows."""
    cosines = vectors @ gallery.T
    top = min(TOP, cosines.shape[1])
    by_row = np.sort(cosines, axis=1)[:, -top:].mean(axis=1)
    best = min(TOP, len(by_row))
    return round(float(np.sort(by_row)[-best:].mean()), 6)  # rounded: last bits differ between BLAS builds


def similarity(vectors: Floats, gallery: Floats, rule: Calibration) -> float:
    """Return the similarity of a cluster and a gallery, in the way the model was calibrated for.

    Faces: by the best rows, since poses differ. Voices: all rows with all, so that a gallery with a few rows of somebody else does not
    draw that person in.
    """
    if rule.whole:
        return round(float(vectors.mean(0) @ gallery.mean(0)), 6)
    return top_similarity(vectors, gallery)


def similarities(candidates: Sequence[Candidate], galleries: Sequence[Gallery], rule: Calibration) -> NDArray[np.float64]:
    """Return (candidates, galleries) the `similarity` of each pair, −1 where rows are missing or of another model; all at once.

    A memory of weeks has thousands of nodes: 6 candidates against 2,000 galleries take 30 ms, one by one 300.
    """
    table = np.full((len(candidates), len(galleries)), -1.0, np.float32)
    sizes = [g.vectors.shape[1] if len(g.vectors) else 0 for g in galleries]
    for d in sorted({*sizes} - {0}):
        places = [j for j, size in enumerate(sizes) if size == d]
        asking = [i for i, c in enumerate(candidates) if len(c.vectors) and c.vectors.shape[1] == d]
        if rule.whole:
            means = np.concatenate([galleries[j].mean for j in places]).reshape(-1, d)
            for i in asking:
                table[i, places] = means @ candidates[i].vectors.mean(0)
            continue
        counts = np.array([len(galleries[j].vectors) for j in places])
        padded = padded_rows([galleries[j].vectors for j in places])
        missing = np.arange(padded.shape[1])[None] >= counts[:, None]
        flat = padded.reshape(-1, d)
        top = min(TOP, padded.shape[1])
        for i in asking:
            rows = candidates[i].vectors
            cosines = (rows @ flat.T).reshape(len(rows), *missing.shape)
            cosines[:, missing] = -np.inf
            best = np.sort(np.partition(cosines, -top, axis=2)[:, :, -top:], axis=2)
            by_row = np.where(np.isfinite(best), best, 0.0).sum(axis=2) / np.minimum(TOP, counts)
            kept = min(TOP, len(rows))
            table[i, places] = np.sort(by_row, axis=0)[-kept:].mean(axis=0)
    return np.asarray(np.round(table.astype(np.float64), 6), np.float64)


def padded_rows(vectors: Sequence[Floats]) -> Floats:
    """Return (n, m_1 | m_2 …, d) unit rows as one (n, most, d) array, where rows are missing zeros."""
    most = max(len(rows) for rows in vectors)
    if all(len(rows) == most for rows in vectors):  # full galleries: five times as fast
        return np.concatenate(vectors).reshape(len(vectors), most, -1)
    padded = np.zeros((len(vectors), most, vectors[0].shape[1]), np.float32)
    for place, rows in zip(padded, vectors, strict=True):
        place[: len(rows)] = rows
    return padded


def match(
    candidates: Sequence[Candidate],
    galleries: Sequence[Gallery],
    cannot_link: Iterable[tuple[str, str]],
    rule: Calibration,
    distinct: Container[tuple[str, str]] = frozenset(),
    held: Sequence[str | None] = (),
    asked: bool = False,
) -> list[Match]:
    """Decide for each candidate which node it belongs to, best match first, so that two people of one frame never share a person.

    `cannot_link`: pairs of observations that can't be one person. `distinct`: pairs of persons that can't (both orders). `held`: for each
    candidate the node of the tracks, or the speech, that it goes on from. `asked`: a search by photo or recording, where
    the user sees the figures: less similarity is enough with a large lead. A runner-up similar to the best match, which may be the same
    person, is no rival: else one over-split would make every later match doubtful, and so a new node. Nor is a person matched with another
    candidate of the same frame. Voices must agree by evidence too, unless they go on from the clip before.
    """
    together = sorted(galleries, key=lambda g: numbered(g.node))
    forbidden = _cannot_link_sets(candidates, cannot_link)
    scores: list[list[float]] = similarities(candidates, together, rule).tolist()
    taken: list[Match | None] = [None] * len(candidates)
    missed: dict[int, Match] = {}
    owner: dict[int, str] = {}

    carried = {
        (i, j)
        for i, (candidate, node) in enumerate(zip(candidates, held, strict=False))
        if node is not None and rule.carried is not None and candidate.duration >= rule.least
        for j, s in enumerate(scores[i])
        if together[j].node == node and s >= rule.carried
    }
    # A track that continues over the clip's border is matched before those that are only similar.
    pairs = sorted([((i, j) not in carried, -s, i, j) for i, row in enumerate(scores) for j, s in enumerate(row) if s > -1.0])
    for looks, negative, i, j in pairs:
        if taken[i] is not None:
            continue
        best, score = together[j], -negative
        excluded = {owner[k] for k in forbidden[i] if k in owner}
        if best.person in excluded:
            continue
        enough = score >= _needed(candidates[i], best, rule) and candidates[i].duration >= rule.least
        ahead = _ahead(candidates[i], best, score, rule, asked)
        if looks and (enough or ahead is not None) and evidence(candidates[i], best, rule) < rule.agreed:
            enough, ahead = False, None
        if looks and not enough and ahead is None:
            missed.setdefault(i, Match(None, score, best.node, None))
            continue
        others = [
            (s, together[n].node) for n, s in enumerate(scores[i])
            if together[n].person != best.person
            and together[n].person not in excluded
            and s > -1.0
            and not (s > score - rule.margin and _double(best, together[n], rule, distinct))
        ]  # fmt: skip
        runner = max(others, key=itemgetter(0), default=None)  # of equals the first, which has the lowest number
        margin = None if runner is None else round(score - runner[0], 6)
        if not looks:
            certain = margin is None or margin >= rule.carried_margin
        else:
            certain = enough and (margin is None or margin >= rule.margin)
            certain = certain or (ahead is not None and margin is not None and margin >= ahead)
        if certain:
            taken[i] = Match(best.node, score, runner[1] if runner else None, margin)
            owner[i] = best.person
        elif looks:  # a further node of the same person may still match, another person's can't: this one would lead it
            missed.setdefault(i, Match(None, score, best.node, None))
    return [m or missed.get(i) or Match(None, None, None, None) for i, m in enumerate(taken)]


def evidence(asking: Candidate | Gallery, gallery: Gallery, rule: Calibration) -> float:
    """Return the log-likelihood ratio of one person against two, by directions and seconds of clear speech; +inf for a rule without any."""
    if rule.across is None or rule.space is None or not asking.vectors.shape[1] == gallery.vectors.shape[1] == len(rule.space.mean):
        return np.inf
    one, two = rule.space.moved(np.stack([mean_of(asking.vectors), gallery.direction]))
    seconds = asking.duration / MICROSECOND
    return round(float(rule.across.ratio(float(one @ two), seconds, gallery.duration / MICROSECOND or seconds)), 4)


def _needed(candidate: Candidate, gallery: Gallery, rule: Calibration) -> float:
    """Return the similarity that this comparison needs: more for short speech and poor faces."""
    duration = min(candidate.duration, gallery.duration or candidate.duration)
    quality = sorted((candidate.quality, gallery.quality))
    return rule.threshold(duration, quality[0], quality[1])


def _ahead(candidate: Candidate, gallery: Gallery, score: float, rule: Calibration, asked: bool) -> float | None:
    """Return the lead that makes up for a similarity that is not enough by itself; None if no lead does."""
    leads = []
    if asked and rule.asked is not None and score >= rule.asked:
        leads.append(rule.asked_margin)
    several = candidate.count >= 2 and gallery.count >= 3 and candidate.duration >= rule.least
    if several and rule.several is not None and score >= rule.several:
        leads.append(rule.several_margin)
    return min(leads, default=None)


def _double(a: Gallery, b: Gallery, rule: Calibration, distinct: Container[tuple[str, str]]) -> bool:
    """Return whether two nodes of different persons may be one person."""
    if (a.person, b.person) in distinct:
        return False
    similarity = round(float(a.mean @ b.mean), 6) if rule.whole else top_similarity(a.vectors, b.vectors)
    return similarity >= rule.accept + rule.margin


def _cannot_link_sets(candidates: Sequence[Candidate], cannot_link: Iterable[tuple[str, str]]) -> list[set[int]]:
    of = {o: i for i, c in enumerate(candidates) for o in c.observations}
    forbidden: list[set[int]] = [set() for _ in candidates]
    for a, b in cannot_link:
        if a in of and b in of and of[a] != of[b]:
            forbidden[of[a]].add(of[b])
            forbidden[of[b]].add(of[a])
    return forbidden


__all__ = [
    "GALLERY",
    "TOP",
    "Calibration",
    "Candidate",
    "Gallery",
    "KnownPeople",
    "Match",
    "calibration",
    "gallery_rows",
    "match",
    "mean_of",
    "padded_rows",
    "similarities",
    "similarity",
    "top_similarity",
    "typical_rows",
]  # fmt: skip
