"""Consolidation, after each clip: which nodes are one person after all, and which nodes look like two people. Pure and deterministic.

Whole galleries are compared, never single embeddings: two nodes are similar only if each gallery is similar to the other, so that no chain
of similar embeddings joins two people, and a gallery that holds two people is similar to neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from m3desk.domain.calibration import Calibration
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.domain.identity import TOP, Gallery, evidence, mean_of, padded_rows
from m3desk.domain.ids import numbered
from m3desk.domain.linkage import average_linkage

CONSOLIDATION = "consolidation"
"""Votes of this module are cast by "consolidation MODEL" (see equivalence.weigh)."""

SMALL = 0.2
"""Share of a node's rows that a second person in it must have to be noticed: fewer are bad crops."""

SMALL_PRODUCT = 1 << 18
"""Multiplications of a product of matrices that OpenBLAS makes on the calling thread."""

GULF = 0.2
"""How much more similar the rows of each of two people are to each other than to the other person's. Measured (with
`Calibration.split_below`) on the galleries of 36 faces and 33 voices and on mixtures of every two, with half, a third or a fifth of the
second (voices by the rectified CAM++): the similarity of the two groups is .55 (faces) and .64 (voices) or more for one person, .28 and
.60 or less for two, so all mixtures and no single person are noticed."""


DOUBT = 2.0
"""How much less than `Calibration.apart` the ratio of two voices may be that are still worth a question (probability .12)."""


SPOKEN_FOR = 2.0
"""Stands for the similarity of two voices that evidence speaks for; no cosine is as large."""


class Pair(NamedTuple):
    """Two nodes that may be one person, the older first. `score`: similarity of the galleries. `certainty`: 0–1, 1 = overwhelming,
    0.5 = equal odds. `twins`: one of them is as similar to a third node that has a cannot-link with the other."""

    a: str
    b: str
    score: float
    certainty: float
    twins: bool = False


class Groups(NamedTuple):
    """Places of rows that look like two people, the larger group first, and the similarity of the groups."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    score: float


def whole(a: Floats, b: Floats, rule: Calibration) -> float:
    """Return the similarity of two whole galleries; (n, d) and (m, d) unit rows.

    Voices: the cosine of their means. Faces: every row's mean of its best few in the other, averaged, the lower of both directions; poses
    differ, but each must be found in the other. Unlike with a single best row, one pair of similar rows is not enough.
    """
    if rule.whole:
        return round(float(mean_of(a) @ mean_of(b)), 6)
    cosines = a @ b.T
    one = np.sort(cosines, axis=1)[:, -min(TOP, cosines.shape[1]) :].mean()
    other = np.sort(cosines, axis=0)[-min(TOP, cosines.shape[0]) :, :].mean()
    return round(min(float(one), float(other)), 6)


def compared(a: Floats, b: Floats) -> Floats:
    """Return the (n, m) cosines of (n, d) and (m, d) unit rows, on this thread alone.

    For one large product the linear algebra library starts threads, which wait for each other where the processor is busy: 180 rows with
    themselves took 17 ms of two processors instead of 1 of one. So it is made of products too small for that (OpenBLAS: 2^18 steps).
    """
    step = max(1, SMALL_PRODUCT // max(1, b.shape[0] * b.shape[1]))
    return np.concatenate([a[i : i + step] @ b.T for i in range(0, len(a), step)])


def as_wholes(a: Gallery, b: Gallery, rule: Calibration) -> float:
    """Return the similarity of two galleries (`whole`)."""
    return round(float(a.direction @ b.direction), 6) if rule.whole else whole(a.vectors, b.vectors, rule)


def similar_pairs(
    galleries: Sequence[Gallery],
    rule: Calibration,
    distinct: Container[tuple[str, str]] = frozenset(),
    touched: Container[str] | None = None,
) -> list[Pair]:
    """Return the pairs of nodes of different persons that may be one, most certain first.

    `distinct`: pairs of persons (both orders) that can't be one; they are left out. `touched`: only pairs with one of these nodes. A
    pair is overwhelming (certainty 1) only if both have enough evidence (`rule.sound`) and neither is as similar to a third node that has
    a cannot-link with the other: twins are never certain.
    """
    if rule.similar is None or rule.sure is None:
        return []
    nodes = sorted((g for g in galleries if len(g.vectors)), key=lambda g: numbered(g.node))
    found: list[tuple[Gallery, Gallery, float]] = []
    for i, k, spoken_for in _possible(nodes, rule.similar, rule, touched):
        a, b = nodes[i], nodes[k]
        if a.person == b.person or a.vectors.shape[1] != b.vectors.shape[1]:
            continue
        score = as_wholes(a, b, rule)
        if score >= rule.similar or spoken_for:
            found.append((a, b, score))
    near: dict[str, list[tuple[Gallery, float]]] = defaultdict(list)
    for a, b, score in found:
        near[a.node].append((b, score))
        near[b.node].append((a, score))
    pairs = []
    for a, b, score in found:
        if (a.person, b.person) in distinct:
            continue
        twins = any(
            s >= score - rule.margin and c is not y and (y.person, c.person) in distinct
            for x, y in ((a, b), (b, a)) for c, s in near[x.node]
        )  # fmt: skip
        certainty = _certainty(score - _poor(a, b, rule), min(_amount(a, rule), _amount(b, rule)), rule)
        pairs.append(Pair(a.node, b.node, score, min(certainty, 0.5) if twins else certainty, twins))
    return sorted(pairs, key=lambda p: (-p.certainty, -p.score, numbered(p.a), numbered(p.b)))


def _possible(nodes: Sequence[Gallery], least: float, rule: Calibration, touched: Container[str] | None) -> Iterable[tuple[int, int, bool]]:
    """Return the places (i < k) of the pairs whose similarity can reach `least`, in order, quickly: of 500 nodes few of 125,000 pairs.

    `touched`: only of pairs with one of these nodes. Faces: no mean of cosines is above their maximum. Voices that are compared by
    evidence: also those that it speaks for, which the third value tells.
    """
    mine = [i for i, g in enumerate(nodes) if touched is None or g.node in touched]
    if not mine:
        return []
    if len({g.vectors.shape[1] for g in nodes}) != 1:
        return [(i, k, False) for i, k in sorted({(min(i, k), max(i, k)) for i in mine for k in range(len(nodes)) if i != k})]
    if rule.whole:
        directions = np.concatenate([g.direction for g in nodes]).reshape(len(nodes), -1)
        near = directions[mine] @ directions.T
        if rule.across is not None and rule.space is not None and directions.shape[1] == len(rule.space.mean):
            moved, seconds = rule.space.moved(directions), np.array([g.duration for g in nodes]) / MICROSECOND
            for row, i in zip(near, mine, strict=True):  # one by one: thousands with thousands would not fit
                row[rule.across.ratio(moved @ moved[i], seconds[i], seconds) >= rule.apart - DOUBT] = SPOKEN_FOR
    else:
        rows = padded_rows([g.vectors for g in nodes])
        # Many small products: for a large one the library starts threads, which wait for each other where the processor is busy.
        near = np.stack([(rows @ nodes[i].vectors.T).max(axis=(1, 2)) for i in mine])
    places = np.argwhere(near >= least - 1e-4)
    found: dict[tuple[int, int], bool] = {}
    for (row, k), one in zip(places.tolist(), near[tuple(places.T)].tolist(), strict=True):
        if (i := mine[row]) != k:
            pair = min(i, k), max(i, k)
            found[pair] = one == SPOKEN_FOR or found.get(pair, False)
    return [(i, k, spoken_for) for (i, k), spoken_for in sorted(found.items())]


def _poor(a: Gallery, b: Gallery, rule: Calibration) -> float:
    """Return how much more similarity than good faces these need: blurred and faint faces are more similar, also of strangers."""
    if rule.whole:
        return 0.0
    worse, better = sorted((a.quality, b.quality))
    return rule.threshold(rule.long, worse, better) - rule.threshold(rule.long, 1.0, 1.0)


def _amount(gallery: Gallery, rule: Calibration) -> float:
    return float(gallery.duration) if rule.whole else gallery.quality


def _certainty(score: float, amount: float, rule: Calibration) -> float:
    """Return 0 at `similar`, 0.5 at `equal_odds`, 1 at `sure`; never more than 0.9 where either side rests on too little."""
    assert rule.similar is not None and rule.sure is not None
    if score < rule.equal_odds:
        value = 0.5 * (score - rule.similar) / max(1e-9, rule.equal_odds - rule.similar)
    else:
        value = 0.5 + 0.5 * (score - rule.equal_odds) / max(1e-9, rule.sure - rule.equal_odds)
    return round(min(1.0 if amount >= rule.sound else 0.9, max(0.0, value)), 6)


def overwhelming(
    pairs: Sequence[Pair], galleries: Mapping[str, Gallery], rule: Calibration, distinct: Container[tuple[str, str]] = frozenset()
) -> list[Pair]:
    """Return the pairs to join by themselves. Of persons with several nodes, all nodes of one must be similar to all of the other.

    Voices must agree by evidence too, as in `identity.match`.

    `galleries`: by node, of the type of the pairs. Nodes joined here count as one person for the pairs after them.
    """
    if all(pair.certainty < 1.0 for pair in pairs):
        return []
    of_person: dict[str, list[Gallery]] = defaultdict(list)
    for g in galleries.values():
        of_person[g.person].append(g)
    groups = {n: of_person[g.person] for n, g in galleries.items()}
    joined = []
    for pair in pairs:
        mine, theirs = groups[pair.a], groups[pair.b]
        if pair.certainty < 1.0 or mine is theirs:
            continue
        if all(_agree(x, y, rule) and (x.person, y.person) not in distinct for x in mine for y in theirs):
            joined.append(pair)
            both = mine + theirs
            groups |= {g.node: both for g in both}
    return joined


def _agree(a: Gallery, b: Gallery, rule: Calibration) -> bool:
    return as_wholes(a, b, rule) >= rule.equal_odds and evidence(a, b, rule) >= rule.agreed


def two_groups(rows: Floats, rule: Calibration, owners: Sequence[str] | None = None) -> Groups | None:
    """Return the rows of one node as two groups if they look like two people, else None.

    rows: (n, d) unit rows. `owners`: the observation of each row; rows of one stay together (a track is one face). The two groups are those
    of average linkage; they count as two people if they are less similar than `rule.split_below`, each is as similar to itself as one
    person is, and the smaller has a fifth of the rows and two of them.
    """
    if rule.split_below is None or len(rows) < 4:
        return None
    names = list(owners) if owners is not None else [str(i) for i in range(len(rows))]
    units = [[i for i, n in enumerate(names) if n == name] for name in dict.fromkeys(names)]
    cosines = np.round(compared(rows, rows), 6)
    if len(units) < 2:
        return None
    second = average_linkage(cosines, -np.inf, groups=units, least=2) == 1
    big, small = sorted((np.flatnonzero(~second).tolist(), np.flatnonzero(second).tolist()), key=lambda g: (-len(g), g))
    if len(small) < max(2, round(SMALL * len(rows))):
        return None
    score = round(float(mean_of(rows[big]) @ mean_of(rows[small])) if rule.whole else whole(rows[big], rows[small], rule), 6)
    inside = [float(cosines[np.ix_(g, g)].mean()) for g in (big, small)]
    between = float(cosines[np.ix_(big, small)].mean())
    if score >= rule.split_below or min(inside) < rule.accept - 0.1 or min(inside) < between + GULF:
        return None
    return Groups(tuple(sorted(big)), tuple(sorted(small)), score)


__all__ = ["CONSOLIDATION", "Groups", "Pair", "compared", "overwhelming", "similar_pairs", "two_groups", "whole"]
