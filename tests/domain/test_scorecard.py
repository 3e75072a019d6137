"""The scorecard: which pairs are asked, and how often its interval contains the truth of a simulated memory."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from m3desk.domain.calibration import Calibration, calibration
from m3desk.domain.log import ObservationType
from m3desk.domain.questions.scorecard import Card, OwnedObservation, card, draw, estimate, strata

RULES: dict[ObservationType, Calibration] = {"face": calibration("sface", "face"), "voice": calibration("campplus", "voice")}


def simulated(seed: int, noise: float) -> tuple[list[OwnedObservation], dict[str, str]]:
    """Return a memory of 8 people, 60 faces and 40 utterances, with mistakes where people are similar, and the truth of each observation.

    One or two people are split in two, one pair of people may be merged, and a few observations are with the wrong person.
    """
    rng = np.random.default_rng(seed)
    items: list[OwnedObservation] = []
    truth: dict[str, str] = {}
    for type_, count in (("face", 60), ("voice", 40)):
        own = rng.normal(size=(8, 64)) + 0.4 * rng.normal(size=64)
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        split = set(rng.choice(8, int(rng.integers(0, 3)), replace=False).tolist())
        merged = tuple(rng.choice(8, 2, replace=False).tolist()) if rng.random() < 0.3 else ()
        for k in range(count):
            who = int(rng.integers(8))
            row = own[who] + noise * rng.normal(size=64) / 8
            row /= np.linalg.norm(row)
            held = f"person_{who}" + ("b" if who in split and rng.random() < 0.5 else "")
            if merged and who == merged[1]:
                held = f"person_{merged[0]}"
            if rng.random() < 0.03:
                held = f"person_{int(np.argsort(own @ row)[-2])}"
            id_ = f"s1.c0.{type_[0] if type_ == 'face' else 'u'}{k}"
            items.append(OwnedObservation(id_, type_, held, row.astype(np.float32)))  # type: ignore[arg-type]
            truth[id_] = f"{type_}{who}"
    return items, truth


def true_figures(of: Card, truth: dict[str, str]) -> tuple[float, float]:
    really = np.array([truth[of.ids[a]] == truth[of.ids[b]] for a, b in zip(of.a, of.b, strict=True)])
    right = int((of.same & really).sum())
    return right / int(of.same.sum()), right / int(really.sum())


def answered(pairs: list[tuple[str, str]], truth: dict[str, str]) -> dict[tuple[str, str], bool]:
    return {(a, b): truth[a] == truth[b] for a, b in pairs}


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.5, 0.9])
def test_the_interval_holds_the_truth_in_nine_of_ten_simulated_memories(noise: float) -> None:
    held: Counter[str] = Counter()
    widths = []
    for seed in range(200):
        items, truth = simulated(seed, noise)
        of = card(items, RULES)
        precision, recall = true_figures(of, truth)
        score = estimate(of, answered(draw(of, 20, seed), truth))
        assert score.precision and score.recall and score.answered == 20
        held["precision"] += score.precision[0] <= precision <= score.precision[2]
        held["recall"] += score.recall[0] <= recall <= score.recall[2]
        widths.append((score.precision[2] - score.precision[0], score.recall[2] - score.recall[0]))
    assert held["precision"] >= 180 and held["recall"] >= 180
    assert np.mean(widths) < 0.25  # not by saying nothing


def test_the_same_memory_is_asked_the_same_pairs() -> None:
    items, _ = simulated(1, 0.5)
    assert draw(card(items, RULES), 20) == draw(card(list(reversed(items)), RULES), 20)


def test_only_pairs_of_one_kind_are_asked_and_none_twice() -> None:
    items, _ = simulated(2, 0.5)
    pairs = draw(card(items, RULES), 50)
    assert len(set(pairs)) == 50 and all(a.split(".")[2][0] == b.split(".")[2][0] and a < b for a, b in pairs)


def test_pairs_in_doubt_are_asked_more_often_than_sure_ones() -> None:
    items, _ = simulated(3, 0.5)
    of = card(items, RULES)
    sure = sum(len(p) for p in (strata(of)[0], strata(of)[3]))
    asked = draw(of, 20)
    likely = {of.pair(i): of.likely[i] for i in range(len(of.same))}
    assert sure > 0.5 * len(of.same)
    assert np.mean([min(likely[p], 1 - likely[p]) for p in asked]) > 5 * np.mean(np.minimum(of.likely, 1 - of.likely))


def test_when_every_pair_is_answered_the_figures_are_exact() -> None:
    items, truth = simulated(4, 0.5)
    of = card(items[:12], RULES)
    score = estimate(of, answered(draw(of, 10_000), truth))
    precision, recall = true_figures(of, truth)
    assert score.answered == 66
    assert score.precision == pytest.approx((precision,) * 3, abs=1e-4) and score.recall == pytest.approx((recall,) * 3, abs=1e-4)


def test_pairs_nobody_could_tell_are_as_if_they_had_not_been_asked() -> None:
    items, truth = simulated(5, 0.5)
    of = card(items, RULES)
    replies = answered(draw(of, 20), truth)
    some = dict(list(replies.items())[:15])
    assert estimate(of, some).answered == 15
    assert estimate(of, {**some, ("s9.c0.f0", "s9.c0.f1"): True}) == estimate(of, some)


def test_a_wrong_answer_widens_the_doubt_and_lowers_the_figure() -> None:
    items, _ = simulated(6, 0.5)
    of = card(items, RULES)
    pairs = draw(of, 20)
    same = {of.pair(i): bool(of.same[i]) for i in range(len(of.same))}
    right = estimate(of, {p: same[p] for p in pairs})
    held = next(p for p in pairs if same[p])
    worse = estimate(of, {p: same[p] and p != held for p in pairs})
    assert right.precision and worse.precision and worse.precision[1] < right.precision[1] and worse.precision[0] < right.precision[0]


def test_an_empty_memory_and_one_of_a_single_face_have_no_figures() -> None:
    for items in ([], [OwnedObservation("s1.c0.f0", "face", "person_1", None)]):
        of = card(items, RULES)
        assert draw(of, 20) == [] and estimate(of, {}).precision is None and estimate(of, {}).recall is None


def test_observations_without_a_vector_are_asked_too() -> None:
    items = [OwnedObservation(f"s1.c0.u{i}", "voice", f"person_{i % 2}", None) for i in range(6)]
    of = card(items, RULES)
    assert len(draw(of, 20)) == 15 and set(of.likely) == {0.9, 0.02}
