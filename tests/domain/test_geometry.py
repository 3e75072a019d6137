"""Overlap of boxes and spans, and the similarity transform between two sets of points."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.domain.geometry import intersection, iou, overlap, share_of_smaller, similarity_transform, span_iou, without


def test_boxes_share_what_lies_in_both() -> None:
    a, b = (0.0, 0.0, 10.0, 10.0), (5.0, 0.0, 10.0, 10.0)
    assert intersection(a, b) == 50 and iou(a, b) == pytest.approx(1 / 3) and share_of_smaller(a, b) == 0.5
    assert iou(a, a) == 1 and share_of_smaller(a, (2.0, 2.0, 1.0, 1.0)) == 1


@pytest.mark.parametrize("other", [(10.0, 0.0, 5.0, 5.0), (20.0, 20.0, 1.0, 1.0), (3.0, 3.0, 0.0, 5.0)])
def test_boxes_that_touch_or_have_no_area_share_nothing(other: tuple[float, float, float, float]) -> None:
    box = (0.0, 0.0, 10.0, 10.0)
    assert intersection(box, other) == iou(box, other) == share_of_smaller(box, other) == 0
    assert iou(other, other) in (0, 1)


def test_spans_overlap_by_the_time_in_both() -> None:
    assert overlap((0, 10), (4, 20)) == 6 and overlap((0, 10), (10, 20)) == 0 and overlap((0, 1), (5, 6)) == 0
    assert span_iou((0, 10), (5, 15)) == pytest.approx(1 / 3) and span_iou((0, 0), (0, 0)) == 0


def test_what_other_spans_take_is_left_out_of_spans() -> None:
    assert without([(0, 10), (20, 30)], [(3, 5), (8, 22)]) == [(0, 3), (5, 8), (22, 30)]
    assert without([(0, 10)], [(0, 10)]) == [] and without([(0, 10)], [(12, 14)]) == [(0, 10)] == without([(0, 10)], [])


def test_a_similarity_transform_brings_points_back_to_where_they_were() -> None:
    points = np.array([[0, 0], [4, 0], [2, 3], [1, 5], [3, 5]], np.float32)
    angle, scale, shift = 0.3, 2.5, np.array([7.0, -2.0])
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = scale * points @ rotation.T + shift
    found = similarity_transform(points, moved)
    assert np.allclose(points @ found[:, :2].T + found[:, 2], moved, atol=1e-5)


def test_points_that_are_all_one_give_a_finite_transform() -> None:
    assert np.isfinite(similarity_transform(np.ones((5, 2)), np.zeros((5, 2)))).all()
