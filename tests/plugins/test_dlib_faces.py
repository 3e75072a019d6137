"""dlib's face model: unit rows from stored landmarks, the same for the same picture, and a clear word where it is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from m3desk_cpu.dlib_faces import CHIP, DlibFaces

from m3desk import models
from m3desk.backends import Backends, available
from m3desk.domain.calibration import calibration
from m3desk.errors import BackendMissing, ModelMissing
from m3desk.ports import DetectedFace

FACE = DetectedFace((40.0, 40.0, 60.0, 60.0), 0.9, CHIP.astype(np.float32))


def opened() -> DlibFaces:
    pytest.importorskip("dlib", reason="the extra [dlib] is not installed")
    try:
        return DlibFaces(models.weights("dlib-resnet"))
    except ModelMissing as error:
        pytest.skip(str(error))


def test_rows_have_unit_length_and_do_not_depend_on_chance() -> None:
    faces = opened()
    picture = np.random.default_rng(1).integers(0, 255, (150, 150, 3), np.uint8)
    rows = faces.embed(picture, [FACE, FACE])
    assert rows.shape == (2, 128) and rows.dtype == np.float32 and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (rows[0] == rows[1]).all() and (faces.embed(picture, [FACE]) == rows[:1]).all()
    assert faces.embed(picture, []).shape == (0, 128)


def test_it_is_found_by_its_name_and_has_figures_of_its_own() -> None:
    assert "dlib-resnet" in available("face_vectors") and calibration(DlibFaces.name, "face").accept == 0.935


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "dlib", None)
    with pytest.raises(BackendMissing) as caught:
        DlibFaces(tmp_path)
    assert "m3desk[dlib]" in caught.value.line()


def test_a_memory_whose_model_nobody_has_says_so() -> None:
    with pytest.raises(ModelMissing, match="recognises faces with the model somebody's model 3, which is not installed"):
        Backends(models.weights).of_model("face_vectors", "somebody's model 3")
