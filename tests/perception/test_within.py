"""The space in which voices of one recording are compared."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from m3desk.domain import calibration as rules
from m3desk.errors import ModelMissing
from m3desk.paths import resources
from m3desk.perception.embedding import within

SHIPPED = {"campplus-zh-en-linear-w16": rules.VOICES, "campplus-zh-en-w16": rules.RECTIFIED}


@pytest.mark.parametrize("model", SHIPPED)
def test_what_all_voices_share_is_taken_out(model: str) -> None:
    random = np.random.default_rng(0)
    shared = within(np.eye(192, dtype=np.float32)[:1], "unknown")[0]
    rows = random.standard_normal((4, 192)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    moved = within(rows, model)
    assert moved.shape == rows.shape and moved.dtype == np.float32 and np.allclose(np.linalg.norm(moved, axis=1), 1, atol=1e-5)
    assert np.array_equal(shared, np.eye(192, dtype=np.float32)[0]), "vectors of a model without statistics stay as they are"
    mean = np.load(resources() / "models" / str(SHIPPED[model].within))[0].astype(np.float32)
    both = [v + mean / np.linalg.norm(mean) for v in rows[:2]]
    near = np.stack([v / np.linalg.norm(v) for v in both]).astype(np.float32)
    assert float(near[0] @ near[1]) > float(within(near, model)[0] @ within(near, model)[1]) + 0.2


def test_statistics_that_are_not_there_are_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rules.CALIBRATIONS, "lost", dataclasses.replace(rules.VOICES, within="lost.npy"))  # type: ignore[arg-type]
    with pytest.raises(ModelMissing, match="lost"):
        within(np.eye(192, dtype=np.float32), "lost-model")
