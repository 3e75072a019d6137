"""YuNet and SFace, from the files that ship with us."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from m3desk_cpu.faces import ALIGNED, SFace, YuNet

from m3desk.domain.geometry import similarity_transform
from m3desk.errors import ModelFailed, ModelMissing
from m3desk.paths import resources
from m3desk.ports import DetectedFace

MODELS = resources() / "models"


@pytest.fixture(scope="module")
def yunet() -> YuNet:
    return YuNet(MODELS / "face_detection_yunet_2023mar.onnx", 1)


@pytest.fixture(scope="module")
def sface() -> SFace:
    return SFace(MODELS / "sface_w16.onnx", 1)


def test_importing_the_plugin_imports_no_model_library() -> None:
    modules = "m3desk_cpu.entry, m3desk_cpu.faces, m3desk_cpu.objects, m3desk_cpu.runtimes, m3desk_cpu.screen_text"
    code = f"import {modules}, sys; print([m for m in ('cv2', 'onnxruntime', 'rapidocr') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_missing_weights_say_how_to_download_them(tmp_path: Path) -> None:
    for make in (YuNet, SFace):
        with pytest.raises(ModelMissing) as said:
            make(tmp_path / "none.onnx", 1)
        assert "models pull" in said.value.hint


def test_broken_weights_say_so(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    for make in (YuNet, SFace):
        with pytest.raises(ModelFailed):
            make(broken, 1)


def test_an_empty_picture_has_no_faces(yunet: YuNet) -> None:
    assert yunet.detect(np.full((360, 640, 3), 128, np.uint8)) == []
    assert yunet.detect(np.zeros((2, 2, 3), np.uint8)) == []


def test_alignment_brings_landmarks_to_their_place() -> None:
    turn = np.array([[1.2, -0.5], [0.5, 1.2]])
    moved = ALIGNED.astype(float) @ turn.T + (30, -12)
    back = similarity_transform(moved, ALIGNED.astype(float))
    assert np.allclose(moved @ back[:, :2].T + back[:, 2], ALIGNED, atol=1e-6)


def test_face_vectors_are_unit_rows_and_always_the_same(sface: SFace) -> None:
    picture = np.random.default_rng(0).integers(0, 255, (112, 112, 3), dtype=np.uint8)
    faces = [DetectedFace((0, 0, 112, 112), 0.9, ALIGNED), DetectedFace((0, 0, 112, 112), 0.9, ALIGNED + 5)]
    rows = sface.embed(picture, faces)
    assert rows.shape == (2, SFace.dimension)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (rows == sface.embed(picture, faces)).all()
    assert sface.embed(picture, []).shape == (0, SFace.dimension)


@pytest.mark.data
def test_photos_of_one_person_are_similar_and_of_others_are_not(shared_data: Path, yunet: YuNet, sface: SFace) -> None:
    def row(name: str) -> np.ndarray:
        photo = cv2.imread(str(shared_data / "faces" / "azure_family" / f"{name}.jpg"))
        photo = cv2.resize(photo, None, fx=400 / max(photo.shape), fy=400 / max(photo.shape))
        return sface.embed(photo, yunet.detect(photo)[:1])[0]

    dad, dad2, mom, mom2 = (row(f"Family1-{n}") for n in ("Dad1", "Dad2", "Mom1", "Mom2"))
    assert min(dad @ dad2, mom @ mom2) > SFace.same
    assert max(dad @ mom, dad @ mom2, dad2 @ mom, dad2 @ mom2) < SFace.different
