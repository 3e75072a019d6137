"""Average linkage gives the results of a plain implementation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from m3desk.domain.linkage import average_linkage


def plainly(
    similarity: NDArray[np.float64], needed: NDArray[np.float64], groups: list[list[int]], apart: NDArray[np.bool_], least: int
) -> list[int]:
    """Return what `average_linkage` says, by its definition."""
    groups = sorted(groups)
    while len(groups) > least:
        best: tuple[float, int, int] | None = None
        for a, b in combinations(range(len(groups)), 2):
            pairs = np.ix_(groups[a], groups[b])
            mean = round(float(similarity[pairs].mean()), 6)
            if not apart[pairs].any() and mean >= min(needed[groups[a] + groups[b]]) and (best is None or mean > best[0]):
                best = (mean, a, b)
        if best is None:
            break
        both = sorted(groups[best[1]] + groups[best[2]])
        groups = sorted([*(g for n, g in enumerate(groups) if n not in best[1:]), both])
    return [next(k for k, g in enumerate(groups) if i in g) for i in range(len(similarity))]


@pytest.mark.parametrize("seed", range(40))
def test_clusters_are_those_of_the_definition(seed: int) -> None:
    chance = np.random.default_rng(seed)
    n = int(chance.integers(1, 12))
    rows = chance.normal(size=(n, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    similarity = np.round(rows @ rows.T, 2)  # two decimals make ties
    needed = np.where(chance.random(n) < 0.3, 0.5, 0.4)
    apart = chance.random((n, n)) < 0.1
    apart = (apart | apart.T) & ~np.eye(n, dtype=bool)
    least = int(chance.integers(1, 3))
    groups = [[i] for i in range(n)]
    assert average_linkage(similarity, needed, cannot_link=apart, least=least).tolist() == plainly(similarity, needed, groups, apart, least)


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_are_together_from_the_start_stay_together(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(9, 3))
    similarity = np.round(rows @ rows.T, 6)
    groups = [[0, 4], [1], [2, 3, 8], [5, 6], [7]]
    found = average_linkage(similarity, -np.inf, groups=groups, least=2).tolist()
    assert found == plainly(similarity, np.full(9, -np.inf), groups, np.zeros((9, 9), bool), 2)
    assert len(set(found)) == 2


def test_nothing_to_join_is_no_cluster() -> None:
    assert average_linkage(np.zeros((0, 0)), 0.5).tolist() == []
