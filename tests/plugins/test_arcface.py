"""Face vectors by the ONNX files of InsightFace's packs and AuraFace, on a random model of the same form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from m3desk_cpu.arcface import ArcFace, _normalizes
from m3desk_cpu.faces import ALIGNED

from m3desk.domain.calibration import calibration
from m3desk.errors import ModelFailed, ModelMissing
from m3desk.paths import resources
from m3desk.ports import DetectedFace, FaceEmbedder
from tests.torch.tiny_vectors import arcface

PICTURE = np.random.default_rng(0).integers(0, 255, (200, 160, 3), dtype=np.uint8)
FACES = [DetectedFace((0, 0, 112, 112), 0.9, ALIGNED), DetectedFace((0, 0, 112, 112), 0.9, ALIGNED * 0.7 + 20)]


def test_vectors_are_unit_rows_always_the_same_and_the_name_is_the_files(tmp_path: Path) -> None:
    model = ArcFace(arcface(tmp_path / "w600k_r50.onnx"), 1)
    assert isinstance(model, FaceEmbedder) and model.dimension == 64
    rows = model.embed(PICTURE, FACES)
    assert rows.shape == (2, 64) and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (rows == model.embed(PICTURE, FACES)).all() and (rows[1] == model.embed(PICTURE, FACES[1:])[0]).all()
    assert model.embed(PICTURE, []).shape == (0, 64)
    assert model.name.startswith("arcface-w600k_r50-")
    assert ArcFace(arcface(tmp_path / "other" / "w600k_r50.onnx", seed=1), 1).name != model.name, "other weights are another model"
    assert not calibration(model.name, "face").measured and calibration("sface-2021dec-w16", "face").measured


def test_a_model_that_normalizes_its_input_gets_it_as_it_is(tmp_path: Path) -> None:
    assert not _normalizes(arcface(tmp_path / "plain.onnx"))
    assert not _normalizes(arcface(tmp_path / "half.onnx", first="_minusscalar0"))
    assert _normalizes(arcface(tmp_path / "mxnet.onnx", first="_minusscalar0 _mulscalar0"))


def test_what_is_no_recognition_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelFailed, match="no recognition model"):
        ArcFace(resources() / "models" / "face_detection_yunet_2023mar.onnx", 1)
    with pytest.raises(ModelMissing):
        ArcFace(tmp_path / "none.onnx", 1)
    (tmp_path / "broken.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelFailed):
        ArcFace(tmp_path / "broken.onnx", 1)
