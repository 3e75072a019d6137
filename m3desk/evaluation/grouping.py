"""Clustering metrics: pairwise and B-cubed precision and recall, fragmentation, and the best match of found to true people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabelledObservation:
    """One observation with its true and its found person. `weight`: its length in seconds. `source`: its file."""

    true: str
    found: str
    weight: float = 1.0
    source: str = ""


Scores = dict[str, float | None]
Key = Callable[[LabelledObservation], Hashable]


def _scores(precision: float | None, recall: float | None) -> Scores:
    f1 = 2 * precision * recall / (precision + recall) if precision and recall else (None if None in (precision, recall) else 0.0)
    return {"precision": _short(precision), "recall": _short(recall), "f1": _short(f1)}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def pairwise(items: Sequence[LabelledObservation], *, weighted: bool = False, across: bool = False) -> Scores:
    """Return pairwise precision and recall: of pairs found as one person, the share that is; of true pairs, the share found as one.

    `weighted`: a pair counts the product of its items' lengths. `across`: only pairs of different sources. None where there is no pair.
    """
    together = _pairs(items, lambda i: i.found, weighted, across)
    one = _pairs(items, lambda i: i.true, weighted, across)
    right = _pairs(items, lambda i: (i.found, i.true), weighted, across)
    return {
        **_scores(right / together if together else None, right / one if one else None),
        "pairs_found": None if weighted else round(together),
        "pairs_true": None if weighted else round(one),
    }


def _pairs(items: Sequence[LabelledObservation], key: Key, weighted: bool, across: bool) -> float:
    """Return how many pairs of items share a key (with `weighted`, the sum of the products of their lengths)."""
    total = _sharing(items, key, weighted)
    if across:
        total -= _sharing(items, lambda i: (key(i), i.source), weighted)
    return max(0.0, total)


def _sharing(items: Sequence[LabelledObservation], key: Key, weighted: bool) -> float:
    sums: dict[Hashable, float] = defaultdict(float)
    squares: dict[Hashable, float] = defaultdict(float)
    for i in items:
        weight = i.weight if weighted else 1.0
        sums[key(i)] += weight
        squares[key(i)] += weight * weight
    return sum((sums[k] ** 2 - squares[k]) / 2 for k in sums)


def bcubed(items: Sequence[LabelledObservation], *, weighted: bool = False) -> Scores:
    """Return B-cubed precision and recall (Bagga and Baldwin 1998): for each item, the share of those taken for the same person that are,
    and the share of those of the same person that are taken so (itself included); the mean over items, with `weighted` by length."""
    if not items:
        return _scores(None, None)
    found: dict[str, float] = defaultdict(float)
    true: dict[str, float] = defaultdict(float)
    both: dict[tuple[str, str], float] = defaultdict(float)
    for i in items:
        weight = i.weight if weighted else 1.0
        found[i.found] += weight
        true[i.true] += weight
        both[i.found, i.true] += weight
    total = sum(both.values())
    precision = sum(n * n / found[f] for (f, _), n in both.items()) / total
    recall = sum(n * n / true[t] for (_, t), n in both.items()) / total
    return _scores(precision, recall)


def fragmentation(items: Iterable[LabelledObservation]) -> float | None:
    """Return the mean number of nodes per true person; 1 is ideal. `LabelledObservation.found` is the node."""
    nodes: dict[str, set[str]] = defaultdict(set)
    for i in items:
        nodes[i.true].add(i.found)
    return round(sum(len(n) for n in nodes.values()) / len(nodes), 4) if nodes else None


def matching(items: Iterable[LabelledObservation]) -> dict[str, str]:
    """Return the one-to-one matching found → true person with the greatest total agreed length; ties by name."""
    overlap: dict[tuple[str, str], float] = defaultdict(float)
    for i in items:
        overlap[i.found, i.true] += i.weight
    found = sorted({f for f, _ in overlap})
    true = sorted({t for _, t in overlap})
    if not found:
        return {}
    chosen = _assign([[round(overlap.get((f, t), 0.0), 6) for t in true] for f in found])
    return {found[a]: true[b] for a, b in chosen.items() if overlap.get((found[a], true[b]), 0.0) > 0}


def _assign(gain: Sequence[Sequence[float]]) -> dict[int, int]:
    """Return row → column with the greatest sum of gains (the Hungarian method by shortest augmenting paths; no library, one result)."""
    rows, columns = len(gain), len(gain[0])
    if rows > columns:
        turned = _assign([[gain[r][c] for r in range(rows)] for c in range(columns)])
        return {r: c for c, r in turned.items()}
    up, down = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner, way = [0] * (columns + 1), [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0], at = row, 0
        least, used = [float("inf")] * (columns + 1), [False] * (columns + 1)
        while owner[at]:
            used[at] = True
            here, step, following = owner[at], float("inf"), 0
            for c in range(1, columns + 1):
                if used[c]:
                    continue
                cost = -gain[here - 1][c - 1] - up[here] - down[c]
                if cost < least[c]:
                    least[c], way[c] = cost, at
                if least[c] < step:
                    step, following = least[c], c
            for c in range(columns + 1):
                if used[c]:
                    up[owner[c]] += step
                    down[c] -= step
                else:
                    least[c] -= step
            at = following
        while at:
            owner[at], at = owner[way[at]], way[at]
    return {owner[c] - 1: c - 1 for c in range(1, columns + 1) if owner[c]}


def spread(items: Iterable[LabelledObservation]) -> Mapping[str, list[str]]:
    """Return true person → the found persons that contain observations of them, sorted."""
    held: dict[str, set[str]] = defaultdict(set)
    for i in items:
        held[i.true].add(i.found)
    return {t: sorted(f) for t, f in sorted(held.items())}
