"""Face vectors by the recognition models of InsightFace's packs and AuraFace (ArcFace, 512 numbers), by ONNX Runtime alone.

On a random pack the vectors are the same as the insightface package's, to a cosine of 1.000000: it aligns by the same five points.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.geometry import similarity_transform
from m3desk.errors import ModelFailed
from m3desk.ports import DetectedFace, Picture
from m3desk_cpu.faces import ALIGNED, SIDE
from m3desk_cpu.runtimes import need, onnx_session, opencv


class ArcFace:
    """Face vectors of one file; its name has the file's sha256, so that the same file by the insightface package has the same name."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        """Raises ModelMissing, ModelFailed."""
        self._cv2 = opencv(threads)
        self._session = onnx_session(need(Path(path), Path(path).stem), threads)
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        if (
            len(inputs) != 1
            or len(outputs) != 1
            or list(inputs[0].shape[1:]) != [3, SIDE, SIDE]
            or not isinstance(outputs[0].shape[-1], int)
        ):
            raise ModelFailed(f"{path} is no recognition model of faces: it takes {inputs[0].shape}.", "Check it: m3desk models verify")
        self._input = inputs[0].name
        self.dimension = int(outputs[0].shape[-1])
        self._middle, self._scale = (0.0, 1.0) if _normalizes(Path(path)) else (127.5, 127.5)
        with Path(path).open("rb") as stream:
            self.name = f"arcface-{Path(path).stem}-{hashlib.file_digest(stream, 'sha256').hexdigest()[:8]}"

    def embed(self, picture: Picture, faces: Sequence[DetectedFace]) -> Floats:
        rows = np.zeros((len(faces), self.dimension), np.float32)
        for i, face in enumerate(faces):
            try:
                row = self._session.run(None, {self._input: self._aligned(picture, face.landmarks)})[0][0]
            except Exception as e:
                raise ModelFailed(f"Making a face vector failed: {e}") from e
            rows[i] = row / max(float(np.linalg.norm(row)), 1e-9)
        return rows

    def _aligned(self, picture: Picture, landmarks: Floats) -> Any:
        """Return (1, 3, 112, 112) float32 RGB: the face rotated and scaled so that its landmarks are at ALIGNED."""
        matrix = similarity_transform(np.asarray(landmarks).reshape(5, 2), ALIGNED)
        face = self._cv2.warpAffine(picture, matrix, (SIDE, SIDE))[:, :, ::-1].astype(np.float32)
        return np.ascontiguousarray(((face - self._middle) / self._scale).transpose(2, 0, 1)[None], np.float32)


def _normalizes(path: Path) -> bool:
    """Return whether a file begins by subtracting and multiplying, as those made with MXNet do: it wants 0–255 (the package's own rule)."""
    with path.open("rb") as stream:
        begin = stream.read(2048)
    return all(re.search(rb"[\x00-\x20](?:%s)" % name, begin) for name in (rb"Sub|_minus", rb"Mul|_mul"))


__all__ = ["ArcFace"]
