"""Faces on the CPU: detection by YuNet (OpenCV), embeddings by SFace (ONNX Runtime)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.geometry import similarity_transform
from m3desk.errors import ModelFailed
from m3desk.ports import DetectedFace, Picture
from m3desk_cpu.runtimes import need, onnx_session, opencv

ALIGNED = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]], np.float32)
"""Where SFace wants the five landmarks in its 112×112 picture (OpenCV modules/objdetect, FaceRecognizerSF)."""

SIDE = 112


class YuNet:
    """Finds faces of about 10 to 300 pixels; pass a smaller picture for larger faces."""

    name = "yunet-2023mar"

    def __init__(self, path: Path, threads: int = 1, score: float = 0.6) -> None:
        """`score`: faces below it are not returned."""
        self._cv2 = opencv(threads)
        # OpenCV's FaceDetectorYN keeps the size of its last picture: one call at a time.
        self._lock = threading.Lock()
        try:
            # 0.3: overlap above which the weaker of two boxes goes; 200: most faces before that.
            self._net = self._cv2.FaceDetectorYN.create(str(need(Path(path), self.name)), "", (320, 320), score, 0.3, 200)
        except self._cv2.error as e:
            raise ModelFailed(f"The face detector does not open: {e}", "Check it: m3desk models verify") from e

    def detect(self, picture: Picture) -> list[DetectedFace]:
        height, width = picture.shape[:2]
        if min(height, width) < 8:
            return []
        try:
            with self._lock:
                self._net.setInputSize((width, height))
                rows = self._net.detect(picture)[1]
        except self._cv2.error as e:
            raise ModelFailed(f"Finding faces failed: {e}") from e
        found = [
            DetectedFace(
                box=(float(r[0]), float(r[1]), float(r[2]), float(r[3])),
                score=float(r[14]),
                landmarks=np.array(r[4:14], np.float32).reshape(5, 2),
            )
            for r in (() if rows is None else rows)
        ]
        return sorted(found, key=lambda f: (-f.score, f.box))


class SFace:
    """Face embeddings. Thresholds: of 493 pairs of different people 99 % were below 0.33; same-person pairs 0.72 and more in good light."""

    name = "sface-2021dec-w16"
    dimension = 128
    same = 0.363
    """OpenCV's own threshold: two faces of one person are above it."""
    different = 0.25

    def __init__(self, path: Path, threads: int = 1) -> None:
        self._cv2 = opencv(threads)
        self._session = onnx_session(need(Path(path), self.name), threads)
        self._input = self._session.get_inputs()[0].name

    def embed(self, picture: Picture, faces: Sequence[DetectedFace]) -> Floats:
        rows = np.zeros((len(faces), self.dimension), np.float32)
        for i, face in enumerate(faces):
            # The file takes one face at a time (its batch size is fixed at 1).
            try:
                row = self._session.run(None, {self._input: self._aligned(picture, face.landmarks)})[0][0]
            except Exception as e:
                raise ModelFailed(f"Making a face vector failed: {e}") from e
            rows[i] = row / max(float(np.linalg.norm(row)), 1e-9)
        return rows

    def _aligned(self, picture: Picture, landmarks: Floats) -> Any:
        """Return (1, 3, 112, 112) float32 RGB, 0–255: the face rotated and scaled so that its landmarks are at ALIGNED."""
        matrix = similarity_transform(np.asarray(landmarks).reshape(5, 2), ALIGNED)
        face = self._cv2.warpAffine(picture, matrix, (SIDE, SIDE))
        return np.ascontiguousarray(face[:, :, ::-1].transpose(2, 0, 1)[None], np.float32)
