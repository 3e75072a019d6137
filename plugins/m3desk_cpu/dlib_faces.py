"""Face embeddings by dlib's ResNet (Davis King, CC0): an alternative model for `m3desk reembed` or a user's profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.geometry import similarity_transform
from m3desk.errors import BackendMissing, ModelFailed
from m3desk.ports import DetectedFace, Picture
from m3desk_cpu.runtimes import need, opencv

CHIP = np.array([[46.9, 46.4], [106.9, 46.5], [77.6, 77.6], [48.7, 103.4], [103.4, 102.9]])
"""Where YuNet's five landmarks lie in dlib's own 150×150 chips (measured: medians over 34 portraits of azure_family and knn).

So the chip is cut by a similarity transform of stored landmarks, without dlib's shape predictor: on those portraits the same person is then
at most 0.58 apart (cosine ≥ .919), different ones at least 0.61 (≤ .905); with the predictor 0.52 and 0.50 (≥ .934, ≤ .943).
"""

SIDE = 150
FILE = "dlib_face_recognition_resnet_model_v1.dat"


class DlibFaces:
    """Face embeddings of 128 numbers, scaled to unit length; dlib's own have length 1.31 to 1.55 and are meant for distances (0.6)."""

    name = "dlib-resnet-v1"
    dimension = 128
    same = 0.935
    different = 0.91

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """`folder`: that of the verified weights. Raises BackendMissing without the library, ModelMissing without the weights."""
        try:
            import dlib
        except ImportError as e:
            raise BackendMissing("dlib is not installed.", "Install it: pip install 'm3desk[dlib]'") from e
        self._cv2 = opencv(threads)
        try:
            self._net: Any = dlib.face_recognition_model_v1(str(need(Path(folder) / FILE, "dlib-resnet")))
        except RuntimeError as e:
            raise ModelFailed(f"dlib's face model does not open: {e}", "Check it: m3desk models verify") from e

    def embed(self, picture: Picture, faces: Sequence[DetectedFace]) -> Floats:
        rows = np.zeros((len(faces), self.dimension), np.float32)
        for i, face in enumerate(faces):
            matrix = similarity_transform(np.asarray(face.landmarks).reshape(5, 2), CHIP)
            chip = np.ascontiguousarray(self._cv2.warpAffine(picture, matrix, (SIDE, SIDE))[:, :, ::-1])
            try:
                row = np.asarray(self._net.compute_face_descriptor(chip), np.float32)
            except RuntimeError as e:
                raise ModelFailed(f"Making a face vector failed: {e}") from e
            rows[i] = row / max(float(np.linalg.norm(row)), 1e-9)
        return rows
