"""The process of the insightface package: a pack's detector, and face vectors by its own alignment and reading of the recognition model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_model: Any = None
_detector: Any = None

SIDES = ((320, 320), (640, 640))
"""Pixels that a picture is fitted into for the detector: that of the two which is at least as large as the picture."""


def load(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Open the recognition model `file`; return its dimension."""
    global _model
    import onnxruntime
    from insightface.model_zoo.arcface_onnx import ArcFaceONNX

    file = Path(request["file"])
    if not file.is_file():
        call.refuse(f"there is no {file}.", "", "missing")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = int(request.get("threads", 1))
    try:
        providers = [p for p in ("CUDAExecutionProvider", "CPUExecutionProvider") if p in onnxruntime.get_available_providers()]
        session = onnxruntime.InferenceSession(str(file), options, providers=providers)
        _model = ArcFaceONNX(str(file), session)
    except Exception as error:  # whatever a foreign file does to the reader
        call.refuse(f"{file} is no recognition model of an InsightFace pack ({type(error).__name__}: {str(error)[:200]}).")
    return {"dimension": int(_model.output_shape[-1]), "device": session.get_providers()[0]}


def embed(request: dict[str, Any], call: Any) -> Any:
    """Return one array of rows, one for each five landmarks (n, 5, 2) on the BGR picture; unit length."""
    import numpy
    from insightface.app.common import Face

    if _model is None:
        call.refuse("no model is loaded.")
    picture, landmarks = request["arrays"]
    rows = [numpy.asarray(_model.get(picture, Face(kps=five)), numpy.float32) for five in landmarks]
    return {}, [numpy.stack([row / max(float(numpy.linalg.norm(row)), 1e-9) for row in rows])]


def load_detector(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Open the detector `file` of a pack (SCRFD)."""
    global _detector
    import onnxruntime
    from insightface.model_zoo.retinaface import RetinaFace

    file = Path(request["file"])
    if not file.is_file():
        call.refuse(f"there is no {file}.", "", "missing")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = int(request.get("threads", 1))
    try:
        providers = [p for p in ("CUDAExecutionProvider", "CPUExecutionProvider") if p in onnxruntime.get_available_providers()]
        session = onnxruntime.InferenceSession(str(file), options, providers=providers)
        _detector = RetinaFace(str(file), session)
        if not _detector.use_kps:
            raise ValueError("it gives no landmarks")
        _detector.prepare(0, input_size=SIDES[-1], det_thresh=float(request["score"]))
    except Exception as error:  # whatever a foreign file does to the reader
        call.refuse(f"{file} is no detector of an InsightFace pack ({type(error).__name__}: {str(error)[:200]}).")
    return {"dimension": 15, "device": session.get_providers()[0]}


def detect(request: dict[str, Any], _call: Any) -> Any:
    """Return (n, 15) float32 for a BGR picture: left, top, right, bottom, score, and five landmarks as x, y."""
    import numpy

    (picture,) = request["arrays"]
    small = max(picture.shape[:2]) <= SIDES[0][0] and _detector.static_input_size is None
    boxes, landmarks = _detector.detect(picture, input_size=SIDES[0] if small else None)
    return {}, [numpy.concatenate([boxes[:, :5], landmarks.reshape(-1, 10)], axis=1).astype(numpy.float32)]


HANDLERS: dict[str, Any] = {"load": load, "embed": embed, "load_detector": load_detector, "detect": detect}
