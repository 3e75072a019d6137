"""Incremental sums equal sums computed at once."""

from __future__ import annotations

import random

import numpy as np
import pytest

from m3desk.domain.equivalence import in_all, in_total, weigh
from m3desk.domain.galleries import TYPICAL, GrowingGallery
from m3desk.domain.identity import GALLERY
from m3desk.domain.ids import clip_order
from m3desk.domain.tally import joined


def test_votes_come_to_the_same_however_they_are_added() -> None:
    dice = random.Random(1)
    cast = [(f"s1.c{i // 2}", dice.choice(("lips", "in turn", "somebody")), dice.uniform(-0.5, 1.3)) for i in range(400)]
    whole = list(weigh(cast).values())
    sums, total = in_all(()), 0.0
    for i in range(0, 400, 8):  # whole clips
        sums, total = in_all(weigh(cast[i : i + 8]).values(), sums), in_total(cast[i : i + 8], total)
    assert sums == in_all(whole) and total == in_total(cast)
    assert sums[1] == max(whole) and sums[0] == pytest.approx(sum(whole))
    assert in_all([-0.5]) == (-0.5, 0.0, 0)


def test_clips_are_joined_in_order_wherever_they_belong() -> None:
    clips: tuple[str, ...] = ()
    for more in (("s1.c4",), ("s1.c10",), ("s1.c2",), ("s2.c0", "s1.c4"), ("s1.c11", "s1.c3"), tuple(f"s3.c{i}" for i in range(10))):
        clips = joined(clips, more)
        assert list(clips) == sorted(set(clips), key=clip_order) and set(more) <= set(clips)
    assert joined(clips, ("s1.c10",)) is clips


def _rows(dice: np.random.Generator, own: np.ndarray, noise: float) -> np.ndarray:
    rows = own + noise * dice.normal(size=(3, len(own)))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_the_gallery_of_a_voice_that_is_heard_for_hours_stays_small_and_typical() -> None:
    dice = np.random.default_rng(3)
    own, other = dice.normal(size=(2, 24))
    kept, asked = GrowingGallery("voice"), GrowingGallery("voice")
    for place in range(TYPICAL):
        rows = _rows(dice, other if place % 50 == 7 else own, 0.1)
        for grown in (kept, asked):
            grown.add(place, rows, 1.0, 4_000_000)
        asked.gallery("voice_1", "person_1")  # between additions: changes nothing
    gallery = kept.gallery("voice_1", "person_1")
    assert len(kept._vectors) <= 4 * TYPICAL and len(gallery.vectors) == GALLERY
    assert (gallery.vectors @ (own / np.linalg.norm(own))).min() > 0.9
    assert np.array_equal(gallery.vectors, asked.gallery("voice_1", "person_1").vectors)
    assert gallery.duration == TYPICAL * 4_000_000


def test_a_face_that_is_no_better_than_those_kept_leaves_the_gallery_as_it_is() -> None:
    dice = np.random.default_rng(4)
    own = dice.normal(size=24)
    grown = GrowingGallery("face")
    for place in range(60):
        grown.add(place, _rows(dice, own, 0.3), 0.9, 1_000_000)
    before = grown.gallery("face_1", "person_1")
    grown.add(60, _rows(dice, own, 0.3), 0.5, 1_000_000)
    after = grown.gallery("face_1", "person_2")
    assert np.array_equal(before.vectors, after.vectors) and after.duration == before.duration + 1_000_000 and after.person == "person_2"
