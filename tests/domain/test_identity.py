"""Binding: a match needs similarity and a margin, uncertain matches stay visible, galleries keep useful embeddings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.calibration import Calibration, Space, calibration
from m3desk.domain.identity import Candidate, Gallery, Match, gallery_rows, match, similarities, similarity, top_similarity, typical_rows

RULE = Calibration(accept=0.5, margin=0.1)


def row(*values: float) -> np.ndarray:
    v = np.array([values], np.float32)
    return v / np.linalg.norm(v)


def one(*values: float, name: str = "a", duration: int = 3_000_000) -> Candidate:
    return Candidate((name,), row(*values), duration)


GALLERIES = [Gallery("face_1", "person_1", row(1, 0, 0)), Gallery("face_2", "person_2", row(0, 1, 0))]


def test_a_similarity_with_a_margin_is_accepted() -> None:
    (found,) = match([one(1, 0.2, 0)], GALLERIES, [], RULE)
    assert found.node == "face_1" and found.runner_up == "face_2" and found.margin is not None and found.margin > 0.7


def test_a_similarity_to_two_people_is_uncertain_and_so_gives_a_new_person() -> None:
    (found,) = match([one(1, 0.95, 0)], GALLERIES, [], RULE)
    assert found.node is None and found.score is not None and found.score > 0.7
    assert found.runner_up == "face_1" and found.margin is None  # the near miss, for suggestions and reasons


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


def test_too_little_speech_never_matches() -> None:
    rule = calibration("campplus-zh-en-w16", "voice")
    assert match([one(1, 0, 0, duration=800_000)], GALLERIES, [], rule)[0].node is None
    assert match([one(1, 0, 0)], GALLERIES, [], rule)[0].node == "face_1"


def test_several_utterances_with_a_margin_may_be_less_similar_than_one() -> None:
    rule = calibration("campplus-zh-en-w16", "voice")
    asking, known = one(0.56, 0.1, 0.8), [replace(g, count=3) for g in GALLERIES]
    assert match([asking], known, [], rule)[0].node is None
    assert match([replace(asking, count=2)], known, [], rule)[0].node == "face_1"
    assert match([replace(asking, count=2)], known[:1], [], rule)[0].node is None  # ahead of nobody
    assert match([replace(one(0.56, 0.5, 0.65), count=2)], known, [], rule)[0].node is None  # hardly ahead


def test_a_similar_voice_that_evidence_speaks_against_is_somebody_new() -> None:
    rule = calibration("campplus-zh-en-w16", "voice")
    # What all voices share counts little in the space of the evidence: there these two are opposites.
    space = Space(np.zeros(3, np.float32), np.diag([0.1, 1, 1]).astype(np.float32))
    asking, known = one(1, 0.3, 0), [Gallery("voice_1", "person_1", row(1, -0.3, 0), 8_000_000)]
    assert match([asking], known, [], rule)[0].node == "voice_1"
    (found,) = match([asking], known, [], replace(rule, space=space))
    assert (found.node, found.runner_up, found.margin) == (None, "voice_1", None) and found.score is not None and found.score > 0.8
    assert match([asking], known, [], replace(rule, space=space), held=["voice_1"])[0].node == "voice_1"  # it goes on from the clip before
    assert match([asking], [Gallery("voice_2", "person_1", row(1, 0.3, 0), 8_000_000)], [], replace(rule, space=space))[0].node == "voice_2"


def test_a_model_may_need_more_of_longer_speech() -> None:
    rule = Calibration(accept=0.5, margin=0.1, accept_long=0.6, least=1_000_000, long=3_000_000)
    assert [rule.threshold(d) for d in (500_000, 1_000_000, 2_000_000, 3_000_000, 9_000_000)] == [0.5, 0.5, 0.55, 0.6, 0.6]


def test_two_poor_faces_must_be_more_similar_than_a_poor_and_a_good_one() -> None:
    rule = calibration("sface-2021dec-w16", "face")
    assert rule.threshold(0, 0.3, 0.9) == rule.threshold(0, 0.9, 0.9) == rule.accept
    assert rule.threshold(0, 0.3, 0.35) > rule.accept and rule.threshold(0, 0.05, 0.9) > rule.accept
    poor = Candidate(("a",), row(1, 1.4, 0), 1_000_000, quality=0.3)
    known = [Gallery("face_1", "person_1", row(1, 0, 0), quality=0.9)]
    assert match([poor], known, [], rule)[0].node == "face_1"
    assert match([poor], [replace(known[0], quality=0.3)], [], rule)[0].node is None


def test_a_poor_node_does_not_hide_a_good_one_of_the_same_person() -> None:
    rule = calibration("sface-2021dec-w16", "face")
    poor = Gallery("face_1", "person_1", row(1, 1.3, 0), quality=0.3)
    good = Gallery("face_2", "person_1", row(1, 0, 1.4), quality=0.9)
    asking = Candidate(("a",), row(1, 0, 0), 1_000_000, quality=0.3)
    assert match([asking], [poor], [], rule)[0].node is None
    assert match([asking], [poor, good], [], rule)[0].node == "face_2"
    other = match([asking], [poor, replace(good, person="person_2")], [], rule)[0]
    assert (other.node, other.runner_up) == (None, "face_1")


def test_a_track_that_goes_on_over_the_border_needs_less_to_be_the_same_person() -> None:
    rule = Calibration(accept=0.5, margin=0.1, carried=0.3)
    turned = one(0.4, 0, 1)
    assert match([turned], GALLERIES, [], rule)[0].node is None
    found = match([turned], GALLERIES, [], rule, held=["face_1"])[0]
    assert found.node == "face_1" and found.runner_up == "face_2"
    assert match([one(0.4, 0.9, 0.2)], GALLERIES, [], rule, held=["face_1"])[0].node == "face_2"  # somebody else took the place


def test_who_is_seen_beside_somebody_is_no_rival_of_theirs() -> None:
    two = [GALLERIES[0], Gallery("face_2", "person_2", row(0.5, 1, 0))]
    doubtful, clear = one(1, 0.554, 0, name="a"), one(0.5, 1, 0, name="b")
    assert match([doubtful], two, [], RULE)[0].node is None
    assert [m.node for m in match([doubtful, clear], two, [("a", "b")], RULE)] == ["face_1", "face_2"]


def test_a_few_rows_of_somebody_else_do_not_draw_them_into_a_voice() -> None:
    rule = calibration("campplus-zh-en-w16", "voice")
    mixed = np.concatenate([row(1, 0, 0)] * 6 + [row(0, 1, 0)] * 2)
    assert top_similarity(row(0, 1, 0), mixed) > 0.6  # by the best rows it would be them
    found = match([one(0, 1, 0), one(1, 0, 0, name="b")], [Gallery("voice_1", "person_1", mixed)], [], rule)
    assert [m.node for m in found] == [None, "voice_1"]


def test_a_voice_is_remembered_by_its_typical_rows() -> None:
    rows = np.concatenate([row(1, 0.02 * i, 0) for i in range(12)] + [row(0, 0, 1)])
    chosen = typical_rows(rows, np.ones(13, np.float32), 6)
    assert len(chosen) == 6 and 12 not in chosen and chosen == typical_rows(rows, np.ones(13, np.float32), 6)


def test_vectors_of_another_size_are_not_compared() -> None:
    assert match([one(1, 0)], GALLERIES, [], RULE)[0] == Match(None, None, None, None)


@pytest.mark.parametrize("model", ["sface", "campplus"])
def test_all_at_once_is_the_same_as_one_by_one(model: str) -> None:
    rng, rule = np.random.default_rng(3), calibration(model, "face")
    made = [rng.normal(size=(n, 8)).astype(np.float32) for n in (1, 2, 3, 7, 20, 4)]
    made = [m / np.linalg.norm(m, axis=1, keepdims=True) for m in made]
    asking = [Candidate((str(i),), m, 0) for i, m in enumerate(made)]
    known = [Gallery(f"face_{i}", f"person_{i}", m) for i, m in enumerate([*made, np.zeros((0, 8), np.float32), row(1, 0)])]
    table = similarities(asking, known, rule)
    singly = [[similarity(c.vectors, g.vectors, rule) for g in known[:6]] for c in asking]
    assert np.allclose(table[:, :6], singly, atol=2e-6) and (table[:, 6:] == -1).all()


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


def test_one_good_embedding_among_bad_ones_is_enough_similarity() -> None:
    assert top_similarity(np.concatenate([row(1, 0), row(1, 0), row(1, 0), row(0, 1)]), row(1, 0)) == pytest.approx(1.0)


def test_a_photo_in_a_search_may_be_less_similar_if_its_margin_is_large() -> None:
    rule = calibration("sface-2021dec-w16", "face")
    turned = one(0.45, 0, 0.9)
    assert match([turned], GALLERIES, [], rule)[0].node is None
    assert match([turned], GALLERIES, [], rule, asked=True)[0].node == "face_1"
    assert match([one(0.45, 0.4, 0.8)], GALLERIES, [], rule, asked=True)[0].node is None  # like two people a little
    assert match([turned], GALLERIES[:1], [], rule, asked=True)[0].node is None  # nobody to be ahead of
