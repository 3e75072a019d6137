"""A still scene is recorded with few pictures; whatever moves, however small, is recorded at once and completely."""

from __future__ import annotations

import av
import numpy as np
from numpy.typing import NDArray

from m3desk.media.capture.stillness import Stillness

CHANCE = np.random.default_rng(1)
SCENE = CHANCE.integers(0, 255, (24, 32, 3), np.uint8).repeat(10, 0).repeat(10, 1)


def noisy(scene: NDArray[np.uint8]) -> object:
    picture = np.clip(scene + CHANCE.normal(0, 2.5, scene.shape), 0, 255).astype(np.uint8)
    return av.VideoFrame.from_ndarray(picture, format="bgr24").reformat(format="yuv420p")


def test_noise_is_still_and_a_small_motion_is_not() -> None:
    stillness = Stillness()
    needed = [stillness.needed(k * 40_000, noisy(SCENE)) for k in range(125)]
    assert all(needed[:37]), "at first everything is recorded"
    assert stillness.still
    assert 12 <= sum(needed[50:]) <= 20, "then 5 pictures a second"
    moved = SCENE.copy()
    moved[100:130, 150:180] = 255 - moved[100:130, 150:180]  # a face far away
    assert stillness.needed(5_000_000, noisy(moved))
    assert not stillness.still
    assert stillness.needed(5_040_000, noisy(moved))


def test_a_slow_change_is_noticed() -> None:
    stillness = Stillness()
    for k in range(100):
        stillness.needed(k * 40_000, noisy(SCENE))
    assert stillness.still
    needed = 0
    for k in range(100, 200):
        needed += stillness.needed(k * 40_000, noisy((SCENE * (1 - (k - 100) / 150)).astype(np.uint8)))
    assert needed > 60


def test_a_format_that_is_not_known_is_recorded_completely() -> None:
    stillness = Stillness()
    frame = av.VideoFrame.from_ndarray(SCENE, format="bgr24")
    assert all(stillness.needed(k * 40_000, frame) for k in range(100))
