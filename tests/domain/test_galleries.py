"""Galleries updated incrementally have the embeddings that a gallery computed at once has."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.domain.galleries import GrowingGallery, worth_of
from m3desk.domain.identity import gallery_rows, typical_rows


@pytest.mark.parametrize("type_", ["face", "voice"])
def test_a_roll_chooses_the_rows_that_all_rows_together_would(type_) -> None:
    dice = np.random.default_rng(3)
    grown, rows, worths = GrowingGallery(type_), [], []
    for place in range(60):
        n, good, duration = int(dice.integers(1, 5)), float(dice.uniform(0.3, 1.0)), int(dice.integers(500_000, 6_000_000))
        vectors = dice.normal(size=(n, 8)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        grown.add(place, vectors, good, duration)
        rows.append(vectors)
        worths.append(worth_of(type_, good, duration)[0] * np.power(0.95, np.arange(n)))
        every, worth = np.concatenate(rows), np.concatenate(worths).astype(np.float32)
        chosen = every[gallery_rows(every, worth) if type_ == "face" else typical_rows(every, worth)]
        gallery = grown.gallery("face_1", "person_1")
        assert np.array_equal(gallery.vectors, chosen)
        assert grown.gallery("face_1", "person_1") is gallery and grown.gallery("face_1", "person_2").person == "person_2"
