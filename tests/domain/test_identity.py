"""Who is who: matches need a likeness and a lead, links need evidence, galleries keep what is useful."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.domain.identity import Calibration, Candidate, Gallery, Match, calibration, gallery_rows, match, similarity

RULE = Calibration(accept=0.5, margin=0.1)


def row(*values: float) -> np.ndarray:
    v = np.array([values], np.float32)
    return v / np.linalg.norm(v)


def one(*values: float, name: str = "a", duration: int = 3_000_000) -> Candidate:
    return Candidate((name,), row(*values), duration)


GALLERIES = [Gallery("face_1", "person_1", row(1, 0, 0)), Gallery("face_2", "person_2", row(0, 1, 0))]


def test_a_likeness_with_a_lead_is_accepted() -> None:
    (found,) = match([one(1, 0.2, 0)], GALLERIES, [], RULE)
    assert found.node == "face_1" and found.runner_up == "face_2" and found.margin is not None and found.margin > 0.7


def test_a_likeness_to_two_people_is_a_doubt_and_so_somebody_new() -> None:
    (found,) = match([one(1, 0.95, 0)], GALLERIES, [], RULE)
    assert found.node is None and found.score is not None and found.score > 0.7


def test_two_nodes_of_one_person_are_no_doubt() -> None:
    same = [GALLERIES[0], Gallery("face_2", "person_1", row(0, 1, 0))]
    assert match([one(1, 0.95, 0)], same, [], RULE)[0].node == "face_1"


def test_a_person_who_was_split_is_no_rival_to_themselves() -> None:
    split = [GALLERIES[0], Gallery("face_2", "person_2", row(1, 0.1, 0))]
    assert match([one(1, 0.02, 0)], split, [], RULE)[0].node == "face_1"
    kept_apart = {("person_1", "person_2"), ("person_2", "person_1")}  # twins: whoever it is, it is a doubt
    assert match([one(1, 0.02, 0)], split, [], RULE, kept_apart)[0].node is None


def test_a_stranger_is_nobody() -> None:
    assert match([one(0, 0.1, 1)], GALLERIES, [], RULE)[0].node is None
    assert match([one(1, 0, 0)], [], [], RULE) == [Match(None, None, None, None)]


def test_of_two_faces_in_one_frame_the_better_match_gets_the_person() -> None:
    clusters = [one(1, 0.3, 0, name="a"), one(1, 0.1, 0, name="b")]
    assert [m.node for m in match(clusters, GALLERIES, [("b", "a")], RULE)] == [None, "face_1"]
    assert [m.node for m in match(clusters, GALLERIES, [], RULE)] == ["face_1", "face_1"]


def test_too_little_speech_never_matches_and_longer_speech_needs_more() -> None:
    rule = calibration("campplus-zh-en-w16", "voice")
    assert match([one(1, 0, 0, duration=800_000)], GALLERIES, [], rule)[0].node is None
    assert match([one(1, 0, 0)], GALLERIES, [], rule)[0].node == "face_1"
    assert rule.threshold(1_000_000) < rule.threshold(2_000_000) < rule.threshold(3_000_000) == rule.threshold(9_000_000)


def test_vectors_of_another_size_are_not_compared() -> None:
    assert match([one(1, 0)], GALLERIES, [], RULE)[0] == Match(None, None, None, None)


def test_order_of_galleries_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    galleries = [Gallery(f"face_{i}", f"person_{i}", row(*rng.normal(size=4))) for i in range(6)]
    clusters = [one(*rng.normal(size=4), name=str(i)) for i in range(4)]
    assert match(clusters, galleries, [], RULE) == match(clusters, galleries[::-1], [], RULE)


def test_a_gallery_keeps_good_and_different_rows_the_same_each_time() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([row(1, 0.001 * i, 0) for i in range(18)] + [row(0, 1, 0), row(0, 0, 1)])
    quality = np.full(20, 0.9, np.float32) - rng.random(20).astype(np.float32) * 0.01
    chosen = gallery_rows(rows, quality, 5)
    assert len(chosen) == 5 and {18, 19} <= set(chosen) and chosen == gallery_rows(rows, quality, 5)
    quality[19] = 0.0  # blurred beyond use
    assert 19 not in gallery_rows(rows, quality, 5)


def test_one_good_row_among_bad_ones_is_enough_of_a_likeness() -> None:
    assert similarity(np.concatenate([row(1, 0), row(1, 0), row(1, 0), row(0, 1)]), row(1, 0)) == pytest.approx(1.0)
