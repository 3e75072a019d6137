"""Consolidation: nodes that turn out to be one person are found, whole persons against each other; a node of two people is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.calibration import FACES, VOICES, Calibration, Space
from m3desk.domain.consolidation import overwhelming, similar_pairs, two_groups
from m3desk.domain.evidence import Floats
from m3desk.domain.identity import Gallery


def around(*direction: float, n: int = 8, spread: float = 0.35, seed: int = 0) -> Floats:
    """Return (n, 16) unit rows that scatter about a direction of the first axes."""
    rng = np.random.default_rng(seed)
    centre = np.zeros(16)
    centre[: len(direction)] = direction
    rows = centre / np.linalg.norm(centre) + spread * rng.normal(size=(n, 16)) / 4
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def node(number: int, rows: Floats, person: int | None = None, seconds: float = 10, quality: float = 0.9) -> Gallery:
    return Gallery(f"face_{number}", f"person_{person or number}", rows, round(seconds * 1e6), quality)


RULES = [FACES, VOICES]


@pytest.mark.parametrize("rule", RULES)
def test_two_nodes_of_one_person_are_surely_one_and_a_stranger_is_not_mentioned(rule: Calibration) -> None:
    known = [node(1, around(1, 0)), node(2, around(1, 0, seed=1)), node(3, around(0, 1))]
    (found,) = similar_pairs(known, rule)
    assert found[:2] == ("face_1", "face_2") and found.score > 0.85 and found.certainty == 1.0
    assert overwhelming([found], {g.node: g for g in known}, rule) == [found]
    assert similar_pairs(known[::-1], rule) == [found]


@pytest.mark.parametrize("rule", RULES)
def test_nodes_of_one_person_or_with_a_cannot_link_are_no_question(rule: Calibration) -> None:
    rows = around(1, 0), around(1, 0, seed=1)
    assert similar_pairs([node(1, rows[0]), node(2, rows[1], person=1)], rule) == []
    assert similar_pairs([node(1, rows[0]), node(2, rows[1])], rule, {("person_1", "person_2"), ("person_2", "person_1")}) == []
    assert similar_pairs([node(1, rows[0]), node(2, rows[1])], rule, touched={"face_3"}) == []


def test_an_uncertain_similarity_is_left_to_the_user() -> None:
    known = [node(1, around(1, 0)), node(2, around(1, 1.45, seed=1))]
    (found,) = similar_pairs(known, FACES)
    assert 0 < found.certainty < 1 and overwhelming([found], {g.node: g for g in known}, FACES) == []


def test_little_speech_or_a_poor_face_is_never_sure() -> None:
    rows = around(1, 0), around(1, 0, seed=1)
    assert similar_pairs([node(1, rows[0]), node(2, rows[1], seconds=1.5)], VOICES)[0].certainty == 0.9
    assert similar_pairs([node(1, rows[0]), node(2, rows[1], quality=0.2)], FACES)[0].certainty == 0.9


def test_voices_that_evidence_does_not_speak_for_are_left_to_the_user() -> None:
    mean = np.zeros(16, np.float32)
    mean[0] = 0.9  # what all voices have in common
    rule = replace(VOICES, space=Space(mean, np.eye(16, dtype=np.float32)))
    known = [node(1, around(1, 0.35)), node(2, around(1, -0.2, seed=1)), node(3, around(1, 0.35, seed=2))]
    pairs = similar_pairs(known, rule)
    assert len(pairs) == 3 and all(p.certainty == 1.0 for p in pairs)
    assert [p[:2] for p in overwhelming(pairs, {g.node: g for g in known}, rule)] == [("face_1", "face_3")]


def test_a_node_that_holds_two_people_is_surely_neither() -> None:
    mixed = np.concatenate([around(1, 0, n=6), around(0, 1, n=6)])
    assert all(p.certainty < 1 for rule in RULES for p in similar_pairs([node(1, around(1, 0, seed=1)), node(2, mixed)], rule))


def test_of_twins_nobody_is_sure() -> None:
    known = [node(1, around(1, 0)), node(2, around(1, 0.1, seed=1)), node(3, around(1, 0.05, seed=2))]
    pairs = similar_pairs(known, FACES, {("person_1", "person_2"), ("person_2", "person_1")})
    assert {p[:2] for p in pairs} == {("face_1", "face_3"), ("face_2", "face_3")} and all(p.certainty <= 0.5 for p in pairs)


def test_a_chain_of_similar_items_does_not_join_its_ends() -> None:
    known = [node(i, around(np.cos(a), np.sin(a), seed=i, spread=0.1)) for i, a in enumerate((0, 0.9, 1.8), 1)]
    pairs = similar_pairs(known, FACES)
    assert [p[:2] for p in pairs if p.certainty == 1] == [("face_2", "face_3"), ("face_1", "face_2")] or len(pairs) == 2
    joined = overwhelming(pairs, {g.node: g for g in known}, FACES)
    assert len(joined) == 1  # the ends are strangers to each other, so the middle goes with one of them only


def test_a_person_of_several_nodes_joins_only_as_a_whole() -> None:
    known = [node(1, around(1, 0)), node(2, around(0, 1, seed=1), person=1), node(3, around(1, 0, seed=2))]
    (pair,) = similar_pairs(known, FACES)
    assert pair.certainty == 1 and overwhelming([pair], {g.node: g for g in known}, FACES) == []


@pytest.mark.parametrize("rule", RULES)
def test_a_node_of_two_people_falls_into_their_rows(rule: Calibration) -> None:
    found = two_groups(np.concatenate([around(1, 0, n=7), around(0, 1, n=4)]), rule)
    assert found is not None and found.a == tuple(range(7)) and found.b == (7, 8, 9, 10) and found.score < 0.3


@pytest.mark.parametrize("rule", RULES)
def test_one_person_is_never_two_groups(rule: Calibration) -> None:
    for seed in range(6):
        assert two_groups(around(1, 0, n=14, spread=0.5 if rule.whole else 0.8, seed=seed), rule) is None
    assert two_groups(np.concatenate([around(1, 0, n=12), around(0, 1, n=1)]), rule) is None  # one bad crop
    assert two_groups(around(1, 0, n=3), rule) is None


def test_rows_of_one_observation_stay_together() -> None:
    rows = np.concatenate([around(1, 0, n=3), around(0, 1, n=3), around(1, 0, n=3, seed=1), around(0, 1, n=3, seed=1)])
    owners = ["a"] * 3 + ["b"] * 3 + ["c"] * 3 + ["d"] * 3
    found = two_groups(rows, FACES, owners)
    assert found is not None and {found.a, found.b} == {(0, 1, 2, 6, 7, 8), (3, 4, 5, 9, 10, 11)}
    assert two_groups(rows[:6], FACES, ["a"] * 6) is None
