"""Face and voice vectors of libraries in environments of their own: the program's side with a stand-in, the real ones where they are."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from m3desk_cpu.arcface import ArcFace
from m3desk_cpu.faces import ALIGNED
from m3desk_torch import vectors
from m3desk_torch.vectors import Ecapa, InsightFaceDetector, InsightFacePack, detector_file, recognition_file

from m3desk.children import child as children
from m3desk.children import environments
from m3desk.domain.calibration import calibration
from m3desk.domain.evidence import Utterance
from m3desk.errors import ModelFailed, ModelMissing
from m3desk.paths import data_dir
from m3desk.perception.voices import flac
from m3desk.ports import DetectedFace, FaceDetector, FaceEmbedder, Sound, VoiceEmbedder
from m3desk.samples.reembedding import voice_rows
from tests.torch.tiny_vectors import POINTS, SIDE, arcface, ecapa, scrfd

STAND_IN = """
import os, pathlib
import numpy
def load(request, call):
    return {"dimension": 3}
def embed(request, call):
    if os.path.exists(os.path.join(os.path.dirname(__file__), "crash")):
        os.remove(os.path.join(os.path.dirname(__file__), "crash"))
        os.abort()
    return {}, [numpy.array([[len(s), s.max(), 1] for s in request["arrays"]], numpy.float32)]
HANDLERS = {"load": load, "embed": embed}
"""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    children._done.clear()


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ecapa]:
    (tmp_path / "ecapa.py").write_text(STAND_IN)
    (tmp_path / "embedding_model.ckpt").write_bytes(b"weights")
    monkeypatch.setattr(vectors, "CHILD", tmp_path)
    made = Ecapa(tmp_path, Path(sys.executable))
    yield made
    made.close()


def sounds(*seconds: float) -> list[Sound]:
    random = np.random.default_rng(4)
    return [random.normal(0, 0.1, int(16_000 * s)).astype(np.float32) for s in seconds]


def test_sounds_are_sent_in_parts_and_stored_speech_is_embedded_for_reembed(stand_in: Ecapa) -> None:
    assert isinstance(stand_in, VoiceEmbedder) and stand_in.name == "ecapa-" + vectors.fingerprint(stand_in._model._file)
    given = sounds(*(0.5 + 0.01 * n for n in range(40)))
    rows = stand_in.embed(given)
    assert rows.shape == (40, 3) and [int(r[0]) for r in rows] == [len(s) for s in given]
    assert stand_in.embed([]).shape == (0, 3)
    [sound] = sounds(2.2)
    said = Utterance("s1.c0.u0", "s1.c0", 0, 2_000_000, "x", (), None, 0.9, "a.flac")
    stored = voice_rows(said, {"a.flac": flac(sound)}.get, stand_in)
    assert stored is not None and stored.shape[1] == 3
    assert not calibration(stand_in.name, "voice").measured and calibration("campplus-zh-en-linear-w16", "voice").measured


def test_after_a_crash_the_model_is_loaded_again(stand_in: Ecapa, tmp_path: Path) -> None:
    (tmp_path / "crash").touch()
    with pytest.raises(ModelFailed, match="speechbrain ended at a request: it crashed"):
        stand_in.embed(sounds(1))
    assert stand_in.embed(sounds(1)).shape == (1, 3)


def test_weights_that_are_not_there_are_told_before_a_process_is_started(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"embedding_model\.ckpt can't be read"):
        Ecapa(tmp_path, Path(sys.executable))
    with pytest.raises(ModelMissing, match="holds 0 recognition models"):
        recognition_file(tmp_path)
    (tmp_path / "det_10g.onnx").touch()
    assert recognition_file(arcface(tmp_path / "w600k_r50.onnx").parent).name == "w600k_r50.onnx"


# ---------------------------------------------------------------- the real libraries


def _environment(name: str) -> Path:
    """Return the interpreter of an environment with a library, or skip."""
    named = os.environ.get(f"M3DESK_TEST_{name.upper()}")
    if not named:
        pytest.skip(
            f"{name} is not here; set M3DESK_TEST_{name.upper()}=PYTHON of an environment that has it (m3desk backends install {name})"
        )
    return Path(named)


@pytest.mark.slow
def test_ecapa_of_speechbrain_gives_unit_rows_that_do_not_depend_on_the_others(tmp_path: Path) -> None:
    python = _environment("speechbrain")
    model = Ecapa(ecapa(tmp_path / "embedding_model.ckpt", python).parent, python, 2)
    given = sounds(0.3, 1.0, 2.5, 1.0)
    rows = model.embed(given)
    assert rows.shape == (4, 24) and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (rows[2] == model.embed(given[2:3])[0]).all() and not np.allclose(rows[1], rows[3])
    model.close()
    assert (model.embed(given) == rows).all(), "after its process ended and started again"
    model.close()


class _Code:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.system, ("touch ran",))


@pytest.mark.slow
def test_a_checkpoint_that_would_run_code_is_refused(tmp_path: Path) -> None:
    python = _environment("speechbrain")
    (tmp_path / "embedding_model.ckpt").write_bytes(pickle.dumps({"blocks.0.conv.conv.weight": _Code()}))
    (tmp_path / "hyperparams.yaml").write_text("x: !apply:os.system [touch ran]")
    with pytest.raises(ModelFailed, match="is no checkpoint of ECAPA-TDNN"):
        Ecapa(tmp_path, python)
    assert not (tmp_path / "ran").exists() and not (Path.cwd() / "ran").exists()


@pytest.mark.slow
def test_the_insightface_package_and_onnx_runtime_alone_give_the_same_vectors(tmp_path: Path) -> None:
    python = _environment("insightface")
    file = arcface(tmp_path / "w600k_r50.onnx", 512)
    by_package, alone = InsightFacePack(tmp_path, python), ArcFace(file, 1)
    noise = np.random.default_rng(0).integers(0, 255, (12, 16, 3), dtype=np.uint8)
    picture = cv2.resize(noise, (320, 240), interpolation=cv2.INTER_CUBIC)  # smooth as a photo: two versions of OpenCV cut the faces
    faces = [DetectedFace((0, 0, 9, 9), 0.9, (ALIGNED * scale + 20).astype(np.float32)) for scale in (0.5, 1.0, 1.4)]
    a, b = by_package.embed(picture, faces), alone.embed(picture, faces)
    by_package.close()
    assert isinstance(by_package, FaceEmbedder) and by_package.name == alone.name and a.shape == b.shape == (3, 512)
    assert np.einsum("ij,ij->i", a, b).min() > 0.9999


@pytest.mark.slow
def test_the_detector_of_a_pack_finds_faces_with_landmarks_as_ours_does(tmp_path: Path) -> None:
    python = _environment("insightface")
    arcface(tmp_path / "w600k_r50.onnx", 64)
    detector = InsightFaceDetector(scrfd(tmp_path / "det_10g.onnx").parent, python)
    assert isinstance(detector, FaceDetector) and detector.name.startswith("scrfd-det_10g-")
    picture = np.zeros((320, 320, 3), np.uint8)
    for left, top in ((64, 96), (224, 32)):
        picture[top : top + SIDE, left : left + SIDE] = 255
    found = detector.detect(picture)
    assert sorted(f.box for f in found) == [(64, 96, 32, 32), (224, 32, 32, 32)] and all(0.8 < f.score <= 1 for f in found)
    for face in found:
        assert np.allclose(face.landmarks, (np.array(POINTS) * SIDE + face.box[:2]), atol=0.01)
    large = detector.detect(np.repeat(np.repeat(picture, 4, 0), 4, 1))  # 1280 pixels are fitted into 640
    assert {tuple(round(n) for n in f.box[2:]) for f in large} == {(2 * SIDE, 2 * SIDE)} and len(large) == 8
    assert detector.detect(np.zeros((200, 320, 3), np.uint8)) == [] and detector.detect(np.zeros((4, 4, 3), np.uint8)) == []
    rows = InsightFacePack(tmp_path, python).embed(picture, found)
    assert rows.shape == (2, 64)
    with pytest.raises(ModelFailed, match="is no detector"):
        InsightFaceDetector(arcface(tmp_path / "wrong" / "det_x.onnx"), python)
    detector.close()


def test_the_detector_of_a_pack_is_found_beside_its_recognition_model(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="holds 0 detectors"):
        detector_file(tmp_path)
    file = scrfd(tmp_path / "det_500m.onnx")
    assert detector_file(tmp_path) == detector_file(arcface(tmp_path / "w600k_mbf.onnx")) == detector_file(file) == file


def test_the_entries_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from m3desk_torch import entry

    from m3desk.errors import BackendMissing

    assert data_dir().name == "data"
    monkeypatch.setattr(environments, "_is_own", lambda _one: False)
    for make, name in ((entry.ecapa, "speechbrain"), (entry.insightface_pack, "insightface")):
        with pytest.raises(BackendMissing, match=f"The backend {name} is not installed"):
            make(lambda weights: Path(weights), 1)
