"""Face tracks: which tracks of a clip are one cluster."""

from __future__ import annotations

import numpy as np

from m3desk.perception.tracks import clusters


def row(*angles: float) -> np.ndarray:
    """Return unit vectors in a plane, by angle in degrees."""
    a = np.radians(angles)
    return np.stack([np.cos(a), np.sin(a)], 1).astype(np.float32)


GOOD = [0.9] * 9


def test_similar_tracks_are_one_cluster_numbered_by_first_appearance() -> None:
    assert clusters([row(0), row(90), row(10)], GOOD, set()) == [0, 1, 0]


def test_tracks_with_a_cannot_link_stay_two_however_similar() -> None:
    assert clusters([row(0), row(1)], GOOD, {(0, 1)}) == [0, 1]


def test_a_group_with_somebody_who_can_not_be_it_takes_no_more_in() -> None:
    assert clusters([row(0), row(2), row(1)], GOOD, {(0, 1)}) in ([0, 1, 0], [0, 1, 1])


def test_a_chain_of_similar_items_does_not_join_its_ends() -> None:
    assert len(set(clusters([row(0), row(55), row(110), row(165)], GOOD, set()))) > 1


def test_poor_faces_must_be_more_similar() -> None:
    pair = [row(0), row(62)]
    assert clusters(pair, GOOD, set()) == [0, 0]
    assert clusters(pair, [0.2, 0.2], set()) == [0, 1]


def test_nothing_has_no_clusters() -> None:
    assert clusters([], [], set()) == []
