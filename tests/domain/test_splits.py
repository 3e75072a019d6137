"""Persons who may be two people: the vectorised comparison gives the same results as comparing pairs one by one."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.domain.calibration import calibration
from m3desk.domain.consolidation import compared, whole
from m3desk.domain.identity import similarity
from m3desk.domain.linkage import average_linkage
from m3desk.domain.log import ObservationType
from m3desk.domain.questions.splits import least_similar


def _observations(dice: np.random.Generator, count: int) -> list[np.ndarray]:
    """Return (n, 64) unit rows of each observation, all around one direction, some far from it."""
    own, found = dice.normal(size=64) / 8, []
    for _ in range(count):
        rows = own + dice.choice([0.2, 1.0, 3.0]) * dice.normal(size=(int(dice.integers(1, 6)), 64)) / 8
        found.append((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))
    return found


@pytest.mark.parametrize(("model", "type_"), [("sface", "face"), ("campplus", "voice")])
def test_the_outlier_is_the_one_found_by_comparing_each_with_the_rest(model: str, type_: ObservationType) -> None:
    rule, dice = calibration(model, type_), np.random.default_rng(5)
    for turn in range(60):
        blocks = _observations(dice, int(dice.integers(2, 40)))
        if turn % 5 == 0:
            blocks[-1] = blocks[0]
        each = []
        for i, block in enumerate(blocks):
            rest = np.concatenate([b for k, b in enumerate(blocks) if k != i])
            each.append(whole(block, rest, rule) if rule.whole else similarity(block, rest, rule))
        least = min(reversed(range(len(blocks))), key=lambda i: each[i])
        assert least_similar(blocks, rule) == (least, each[least])


@pytest.mark.slow
def test_average_linkage_joins_what_the_plain_rule_joins() -> None:
    dice = np.random.default_rng(7)
    for turn in range(60):
        blocks = _observations(dice, int(dice.integers(2, 30)))
        if turn % 5 == 0:
            blocks[-1] = blocks[0]
        rows = np.concatenate(blocks)
        ends = np.cumsum([len(b) for b in blocks])
        units = [list(range(end - len(b), end)) for b, end in zip(blocks, ends, strict=True)]
        cosines = np.round(compared(rows, rows), 6)
        found = average_linkage(cosines, -np.inf, groups=units, least=2)
        assert [np.flatnonzero(found == k).tolist() for k in sorted(set(found.tolist()))] == sorted(_plainly(cosines, units))


def _plainly(cosines: np.ndarray, groups: list[list[int]]) -> list[list[int]]:
    while len(groups) > 2:
        pairs = [(i, k) for i in range(len(groups)) for k in range(i + 1, len(groups))]
        i, k = max(pairs, key=lambda p: (round(float(cosines[np.ix_(groups[p[0]], groups[p[1]])].mean(dtype=float)), 6), -p[0], -p[1]))
        groups = [sorted(g + groups[k]) if n == i else g for n, g in enumerate(groups) if n != k]
    return groups
