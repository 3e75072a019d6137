"""Average-linkage clustering, used for faces, voices and nodes. Pure.

Not scipy's: that has no cannot-link constraints and no thresholds by row, and M3Desk needs no other part of scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def average_linkage(
    similarity: NDArray[Any],
    threshold: float | NDArray[Any],
    *,
    groups: Sequence[Sequence[int]] | None = None,
    cannot_link: NDArray[np.bool_] | None = None,
    least: int = 1,
) -> NDArray[np.int64]:
    """Return a cluster number for each row of an (n, n) similarity matrix.

    The two clusters with the highest mean similarity are joined, again and again, while that mean reaches the threshold.
    `threshold`: one for all, or (n,), a row's own; two clusters need the lowest of their rows'. `groups`: rows that are together from the
    start (a row is in one group at most). `cannot_link`: (n, n) pairs of rows that must not be in one cluster. `least`: clusters at
    which to stop. Numbers count from 0 in order of first appearance. Means are compared to 6 decimals, so that processors agree; of
    equals the clusters with the lowest rows are joined.
    """
    taken = {i for group in groups or () for i in group}
    units = sorted([*(sorted(g) for g in groups or () if g), *([i] for i in range(len(similarity)) if i not in taken)])
    n = len(units)
    if not n:
        return np.zeros(0, np.int64)
    # No product of matrices: for one of this size the library may start threads, which wait for each other where the processor is busy.
    order = [row for unit in units for row in unit]
    starts = np.cumsum([0, *(len(unit) for unit in units[:-1])])
    sums = _gathered(np.asarray(similarity, np.float64)[np.ix_(order, order)], starts)
    sizes = np.array([len(unit) for unit in units], np.float64)
    lowest = np.broadcast_to(threshold, len(similarity))
    needed = np.array([lowest[unit].min() for unit in units], np.float64)
    never = np.eye(n, dtype=bool)
    if cannot_link is not None:
        never |= _gathered(cannot_link[np.ix_(order, order)].astype(np.float64), starts) > 0

    def score(k: slice) -> NDArray[np.float64]:
        """Return the means of clusters with all clusters, -inf where these are not to be joined."""
        means = np.round(sums[k] / np.outer(sizes[k], sizes), 6)
        return np.where(never[k] | (means < np.minimum.outer(needed[k], needed)), -np.inf, means)

    scores = score(slice(None))
    left = n
    while left > least:
        a, b = divmod(int(np.argmax(scores)), n)  # the scores are symmetric, so a < b
        if scores[a, b] == -np.inf:
            break
        units[a] = sorted(units[a] + units[b])
        sums[a] += sums[b]
        sums[:, a] += sums[:, b]
        sizes[a] += sizes[b]
        needed[a] = min(needed[a], needed[b])
        never[a] |= never[b]
        never[:, a] |= never[:, b]
        never[b] = never[:, b] = True
        scores[a] = scores[:, a] = score(slice(a, a + 1))[0]
        scores[b] = scores[:, b] = -np.inf
        units[b] = []
        left -= 1
    found = np.zeros(len(similarity), np.int64)
    for number, unit in enumerate(u for u in units if u):
        found[unit] = number
    return found


def _gathered(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of the blocks of an (n, n) matrix; `starts`: the first row of each block."""
    found: NDArray[np.float64] = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    return found
