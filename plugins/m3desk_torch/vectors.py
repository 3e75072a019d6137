"""Face and voice vectors by libraries in environments of their own: the insightface package, and ECAPA-TDNN of speechbrain.

Settings: `[backends.insightface]` with `pack` (a folder of a pack, or its recognition model; without: the weights buffalo-l, whose terms
must be accepted), `[backends.speechbrain]` with `model` (a folder or a checkpoint; without: the weights ecapa-voxceleb).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.children.pipe import Worker
from m3desk.domain.evidence import Floats
from m3desk.errors import ModelFailed, ModelMissing
from m3desk.ports import DetectedFace, Picture, Sound

CHILD = Path(__file__).parent / "child"

AT_ONCE = 16
"""Sounds sent at a time: a message of a few megabytes."""


class _Loaded:
    """A model in a process of its own, which is loaded again after a crash."""

    def __init__(self, backend: str, python: Path, program: str, file: Path, threads: int, call: str = "load", **more: Any) -> None:
        """`call`, `more`: the request that loads it."""
        self._file, self._call = file, call
        self._request = {"file": str(file), "threads": threads, **more}
        self._worker = Worker(backend, python, CHILD / program)
        self._process: object = None
        self.dimension = 0
        self.load()

    def load(self) -> None:
        """Load the model, if its process is a new one. Raises ModelError."""
        if self._process is None or self._worker.process is not self._process or not self._worker.alive:
            self.dimension = int(self._worker.ask(self._call, self._request).body["dimension"])
            self._process = self._worker.process

    def rows(self, arrays: Sequence[Any], count: int | None, call: str = "embed") -> Floats:
        """Return (count, dimension) float32 rows, as many as there are for None. Raises ModelError."""
        self.load()
        answer = self._worker.ask(call, {}, arrays).arrays
        expected = (answer[0].shape[0] if answer and count is None else count, self.dimension)
        if len(answer) != 1 or answer[0].shape != expected or not np.isfinite(answer[0]).all():
            raise ModelFailed(f"The process of {self._worker.name} gave no vectors of {self.dimension} numbers.")
        return np.asarray(answer[0], np.float32)

    def close(self) -> None:
        """End the process; it is started again when it is needed."""
        self._worker.stop()


class InsightFacePack:
    """Face vectors of a pack's recognition model, by the insightface package. Named by the file, as the same one by ONNX Runtime alone."""

    def __init__(self, place: Path, python: Path, threads: int = 1) -> None:
        """`place`: a pack's folder, or its recognition model. Raises ModelError."""
        file = recognition_file(place)
        self.name = f"arcface-{file.stem}-{fingerprint(file)}"
        self._model = _Loaded("insightface", python, "insightface_pack.py", file, threads)
        self.dimension = self._model.dimension

    def embed(self, picture: Picture, faces: Sequence[DetectedFace]) -> Floats:
        if not faces:
            return np.zeros((0, self.dimension), np.float32)
        landmarks = np.stack([np.asarray(face.landmarks, np.float32).reshape(5, 2) for face in faces])
        return self._model.rows([np.ascontiguousarray(picture), landmarks], len(faces))

    def close(self) -> None:
        self._model.close()


class InsightFaceDetector:
    """The detector of a pack (SCRFD) by the insightface package: faces with the same five landmarks as YuNet's."""

    def __init__(self, place: Path, python: Path, threads: int = 1, score: float = 0.5) -> None:
        """`place`: a pack's folder, or its detector. `score`: faces below it are not returned. Raises ModelError."""
        file = detector_file(place)
        self.name = f"scrfd-{file.stem}-{fingerprint(file)}"
        self._model = _Loaded("insightface", python, "insightface_pack.py", file, threads, "load_detector", score=score)

    def detect(self, picture: Picture) -> list[DetectedFace]:
        """Find faces, best score first."""
        if min(picture.shape[:2]) < 8:
            return []
        found = [
            DetectedFace((float(r[0]), float(r[1]), float(r[2] - r[0]), float(r[3] - r[1])), float(r[4]), r[5:].reshape(5, 2).copy())
            for r in self._model.rows([np.ascontiguousarray(picture)], None, "detect")
            if r[2] > r[0] and r[3] > r[1]
        ]
        return sorted(found, key=lambda f: (-f.score, f.box))

    def close(self) -> None:
        self._model.close()


class Ecapa:
    """Voice vectors of ECAPA-TDNN, by speechbrain."""

    def __init__(self, place: Path, python: Path, threads: int = 2) -> None:
        """`place`: a checkpoint, or the folder of one. Raises ModelError."""
        file = place / "embedding_model.ckpt" if place.is_dir() else place
        self.name = f"ecapa-{fingerprint(file)}"
        self._model = _Loaded("speechbrain", python, "ecapa.py", file, threads)
        self.dimension = self._model.dimension

    def embed(self, sounds: Sequence[Sound]) -> Floats:
        rows = np.zeros((len(sounds), self.dimension), np.float32)
        for at in range(0, len(sounds), AT_ONCE):
            part = [np.ascontiguousarray(sound, np.float32) for sound in sounds[at : at + AT_ONCE]]
            rows[at : at + len(part)] = self._model.rows(part, len(part))
        return rows

    def close(self) -> None:
        self._model.close()


def fingerprint(file: Path) -> str:
    """Return the first 8 digits of a file's sha256: the version in a model's name. Raises ModelMissing."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:8]
    except OSError as error:
        raise ModelMissing(
            f"{file} can't be read ({error.strerror}).", "Mend its path in the settings, or download it: m3desk models pull."
        ) from error


def recognition_file(place: Path) -> Path:
    """Return the recognition model of a pack: the file itself, or the one in the folder that has its name. Raises ModelMissing."""
    if not place.is_dir():
        return place
    known = [file for file in sorted(place.glob("*.onnx")) if file.stem.startswith(("w600k", "glint", "arcface", "webface"))]
    if len(known) != 1:
        raise ModelMissing(f"{place} holds {len(known)} recognition models of a pack.", "Name the file itself: pack = “…/w600k_r50.onnx”.")
    return known[0]


def detector_file(place: Path) -> Path:
    """Return the detector of a pack: the file itself, or the one in the folder that has its name. Raises ModelMissing."""
    folder = place if place.is_dir() else place.parent
    if not place.is_dir() and place.stem.startswith(_DETECTORS):
        return place
    known = [file for file in sorted(folder.glob("*.onnx")) if file.stem.startswith(_DETECTORS)]
    if len(known) != 1:
        raise ModelMissing(
            f"{folder} holds {len(known)} detectors of a pack (det_10g.onnx).", "Set the folder of a whole pack: pack = “FOLDER”."
        )
    return known[0]


_DETECTORS = ("det_", "scrfd")

__all__ = ["Ecapa", "InsightFaceDetector", "InsightFacePack", "detector_file", "fingerprint", "recognition_file"]
