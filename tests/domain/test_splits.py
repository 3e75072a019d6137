"""Persons who may be two people: the vectorised comparison gives the same results as comparing pairs one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.calibration import RECTIFIED, VOICES, Calibration, Space, calibration
from m3desk.domain.consolidation import compared, whole
from m3desk.domain.identity import mean_of, similarity
from m3desk.domain.linkage import average_linkage
from m3desk.domain.log import ObservationType
from m3desk.domain.questions.splits import OUTLIER_WIDTH, _unit, least_likely, least_similar, outlier


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


@pytest.mark.parametrize(("model", "cosine", "likely"), [(VOICES, 0.39, 0.4), (RECTIFIED, 0.55, 2)])
def test_a_short_utterance_that_sounds_less_alike_is_no_other_person_and_a_strangers_is(
    model: Calibration, cosine: float, likely: float
) -> None:
    rule = replace(model, space=Space(np.zeros(16, np.float32), np.eye(16, dtype=np.float32)))
    long, short, stranger = (np.zeros((1, 16), np.float32) for _ in range(3))
    long[0, 0], short[0, :2], stranger[0, 2] = 1.0, (cosine, np.sqrt(1 - cosine**2)), 1.0
    assert whole(short, long, rule) < rule.equal_odds, "by similarity alone it would be asked about"
    place, ratio = least_likely([long, short, long], ["s1"] * 3, [4.0, 1.1, 2.5], rule)
    assert place == 1 and ratio > likely
    place, ratio = least_likely([long, short, stranger], ["s1"] * 3, [4.0, 1.1, 2.5], rule)
    assert place == 2 and ratio < -2


def test_an_utterance_is_compared_with_its_own_recording_and_if_alone_with_all() -> None:
    rule, dice = replace(VOICES, space=Space(np.zeros(16, np.float32), np.eye(16, dtype=np.float32))), np.random.default_rng(2)
    assert rule.evidence is not None and rule.across is not None
    for _ in range(20):
        blocks = [_unit(dice.normal(size=(1, 16)).astype(np.float32) + 1) for _ in range(5)]
        sources, seconds = ["s1", "s1", "s1", "s2", "s2"], list(dice.uniform(0.5, 6, 5))
        if dice.random() < 0.5:
            sources[4] = "s3"
        ratios = []
        for i in range(5):
            near = [k for k in range(5) if k != i and sources[k] == sources[i]]
            rest, weights = (near, rule.evidence) if near else ([k for k in range(5) if k != i], rule.across)
            cosine = float(mean_of(blocks[i]) @ mean_of(np.concatenate([blocks[k] for k in rest])))
            ratios.append(float(weights.ratio(cosine, seconds[i], sum(seconds[k] for k in rest))))
        place, ratio = least_likely(blocks, sources, seconds, rule)
        assert ratios[place] == pytest.approx(min(ratios), abs=1e-4) and ratio == pytest.approx(min(ratios), abs=1e-4)


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


def test_the_outlier_of_a_voice_is_judged_by_its_recordings_and_without_evidence_by_similarity() -> None:
    rule = replace(VOICES, space=Space(np.zeros(16, np.float32), np.eye(16, dtype=np.float32)))
    dice = np.random.default_rng(4)
    blocks = [_unit(dice.normal(size=(2, 16)).astype(np.float32) + 1) for _ in range(4)]
    for sources in (["s1"] * 4, ["s1", "s1", "s2", "s2"]):
        place, ratio = least_likely(blocks, sources, [1.0, 2.0, 3.0, 4.0], rule)
        assert outlier(blocks, sources, [1.0, 2.0, 3.0, 4.0], rule) == (place, pytest.approx(1 / (1 + np.exp(ratio))))
    place, cosine = least_similar(blocks, rule)
    alike = outlier(blocks, ["s1"] * 4, [1.0] * 4, replace(rule, evidence=None))
    assert alike == (place, pytest.approx(1 / (1 + np.exp((cosine - rule.equal_odds) / (OUTLIER_WIDTH * rule.margin)))))
