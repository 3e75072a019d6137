"""Who is who: when a cluster of one clip is somebody the memory knows. Pure and deterministic.

A doubtful match makes a new node: an over-split is one click to mend, an over-merge can be beyond repair.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.log import ObservationType, numbered

GALLERY = 20
"""Rows a node is compared with: enough for a face's poses or a voice's moods, few enough to compare thousands of nodes in milliseconds."""

TOP = 3
"""A row's similarity to a gallery is the mean of its best few: one good likeness is luck, three are a person."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cosines of one embedding model. `accept`: same person; `margin`: lead over the best other person.

    `least`: microseconds of speech (voices) below which a cluster is never matched across clips; `accept_long` holds from
    `long` microseconds on, in between is interpolated (scores of longer speech are higher for strangers too).
    """

    accept: float
    margin: float
    accept_long: float | None = None
    least: int = 0
    long: int = 0

    def threshold(self, duration: int) -> float:
        """Return the similarity needed by a cluster of `duration` microseconds."""
        if self.accept_long is None or self.long <= self.least:
            return self.accept
        share = min(1.0, max(0.0, (duration - self.least) / (self.long - self.least)))
        return self.accept + share * (self.accept_long - self.accept)


# SFace: strangers ≤ .36 (493 pairs; models.md §1), one person across rooms and clothes .75–.85, within a scene ≥ .95.
# CAM++ at 1.5 s: .50, at 3 s: .55.
CALIBRATIONS: Mapping[str, Calibration] = {
    "sface": Calibration(accept=0.50, margin=0.08),
    "campplus": Calibration(accept=0.50, margin=0.06, accept_long=0.55, least=1_000_000, long=3_000_000),
    "cam++": Calibration(accept=0.50, margin=0.06, accept_long=0.55, least=1_000_000, long=3_000_000),
}
FACE_DEFAULT = Calibration(accept=0.55, margin=0.08)
VOICE_DEFAULT = Calibration(accept=0.60, margin=0.08, least=1_000_000)


def calibration(model: str, type_: ObservationType) -> Calibration:
    """Return the thresholds of a model by the first word of its name; cautious ones for a model nobody has calibrated."""
    name = model.lower()
    for key, value in CALIBRATIONS.items():
        if name.startswith(key):
            return value
    return FACE_DEFAULT if type_ == "face" else VOICE_DEFAULT


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster of one clip that wants an owner. `vectors`: (n, d) unit rows, best first. `duration`: microseconds of face or speech."""

    observations: tuple[str, ...]
    vectors: Floats
    duration: int


@dataclass(frozen=True, slots=True)
class Gallery:
    """What a node looks or sounds like: (n ≤ GALLERY, d) unit rows; `person` owns the node now."""

    node: str
    person: str
    vectors: Floats


@dataclass(frozen=True, slots=True)
class Match:
    """The verdict on a candidate: `node` None = somebody new. `score`: similarity to the best node, if there was any."""

    node: str | None
    score: float | None
    runner_up: str | None
    margin: float | None


def gallery_rows(vectors: Floats, quality: Floats, limit: int = GALLERY) -> list[int]:
    """Choose the most useful rows: good ones first, then those unlike the chosen, weighted by quality; same input, same choice.

    vectors: (n, d) unit rows. quality: (n,) in 0–1.
    """
    if len(vectors) <= limit:
        return list(range(len(vectors)))
    pool = np.argsort(-quality, kind="stable")[: 4 * limit]
    rows, weight = vectors[pool], quality[pool]
    chosen = [0]
    nearest = rows @ rows[0]
    while len(chosen) < limit:
        gain = weight * (1.0 - nearest)
        gain[chosen] = -np.inf
        best = int(np.argmax(gain))
        chosen.append(best)
        nearest = np.maximum(nearest, rows @ rows[best])
    return sorted(int(pool[i]) for i in chosen)


def similarity(vectors: Floats, gallery: Floats) -> float:
    """Return how alike a cluster (n, d) and a gallery (m, d) are: the mean over the cluster's best rows of their mean of top matches."""
    cosines = vectors @ gallery.T
    top = min(TOP, cosines.shape[1])
    by_row = np.sort(cosines, axis=1)[:, -top:].mean(axis=1)
    best = min(TOP, len(by_row))
    return round(float(np.sort(by_row)[-best:].mean()), 6)  # rounded: last bits differ between BLAS builds


def match(
    candidates: Sequence[Candidate],
    galleries: Sequence[Gallery],
    apart: Iterable[tuple[str, str]],
    rule: Calibration,
    distinct: Container[tuple[str, str]] = frozenset(),
) -> list[Match]:
    """Decide for each candidate which node it belongs to, best match first, so that two people of one frame never share a person.

    `apart`: pairs of observations that can't be one person. `distinct`: pairs of persons that can't (both orders). A runner-up who looks
    like the best match and may be the same person is no rival: else one over-split would make every later match a doubt, and so a new node.
    """
    together = sorted(galleries, key=lambda g: numbered(g.node))
    enemies = _enemies(candidates, apart)
    scores = [[similarity(c.vectors, g.vectors) if _comparable(c, g) else -1.0 for g in together] for c in candidates]
    taken: list[Match | None] = [None] * len(candidates)
    owner: dict[int, str] = {}
    pairs = sorted(((-s, i, j) for i, row in enumerate(scores) for j, s in enumerate(row) if s > -1.0))
    for negative, i, j in pairs:
        if taken[i] is not None:
            continue
        person = together[j].person
        if any(owner.get(k) == person for k in enemies[i]):
            continue
        score = -negative
        others = [
            (s, together[n].node) for n, s in enumerate(scores[i])
            if together[n].person != person
            and s > -1.0
            and not (s > score - rule.margin and _double(together[j], together[n], rule, distinct))
        ]  # fmt: skip
        runner = max(others, key=lambda o: (o[0], -numbered(o[1])), default=None)
        margin = None if runner is None else round(score - runner[0], 6)
        certain = score >= rule.threshold(candidates[i].duration) and candidates[i].duration >= rule.least
        certain = certain and (margin is None or margin >= rule.margin)
        taken[i] = Match(together[j].node if certain else None, score, runner[1] if runner else None, margin)
        if certain:
            owner[i] = person
    return [m or Match(None, None, None, None) for m in taken]


def _double(a: Gallery, b: Gallery, rule: Calibration, distinct: Container[tuple[str, str]]) -> bool:
    """Say whether two nodes of different persons may well be one person that was split."""
    return (a.person, b.person) not in distinct and similarity(a.vectors, b.vectors) >= rule.accept + rule.margin


def _comparable(candidate: Candidate, gallery: Gallery) -> bool:
    return len(candidate.vectors) > 0 and len(gallery.vectors) > 0 and candidate.vectors.shape[1] == gallery.vectors.shape[1]


def _enemies(candidates: Sequence[Candidate], apart: Iterable[tuple[str, str]]) -> list[set[int]]:
    of = {o: i for i, c in enumerate(candidates) for o in c.observations}
    enemies: list[set[int]] = [set() for _ in candidates]
    for a, b in apart:
        if a in of and b in of and of[a] != of[b]:
            enemies[of[a]].add(of[b])
            enemies[of[b]].add(of[a])
    return enemies
