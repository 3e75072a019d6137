"""Text recognition (OCR) on the CPU: PP-OCRv6 small by RapidOCR, English and Chinese; its weights come with the package."""

from __future__ import annotations

import logging
import threading
from typing import Any, NoReturn

import numpy as np

from m3desk import privacy
from m3desk.errors import BackendMissing, ModelFailed
from m3desk.ports import Picture, ReadText

SIDE = 960
"""Longest side in pixels at which text is looked for: 0.1 s for a frame of 640 × 360, 0.2 s for larger ones, instead of 0.45 s at
RapidOCR's own 1308 × 736; lines are then read from the picture as given."""


def _refuse(url: str, _logger: object) -> NoReturn:
    """Replace RapidOCR's download of missing or damaged weights with an error: nothing is downloaded unasked."""
    raise RuntimeError(f"{url.rsplit('/', 1)[-1]} is missing or damaged")


class RapidOcr:
    """Reads lines of text. `score`: minimum confidence of returned lines."""

    name = "pp-ocrv6-small"

    def __init__(self, threads: int = 1, score: float = 0.5, side: int = SIDE) -> None:
        try:
            from rapidocr import RapidOCR
            from rapidocr.utils.download_file import DownloadFile
        except ImportError as e:
            raise BackendMissing("RapidOCR is not installed.", "Install it: pip install rapidocr==3.10.0") from e
        downloads: Any = DownloadFile
        downloads._make_http_request = staticmethod(_refuse)
        privacy.switch_off()  # RapidOCR has imported ONNX Runtime
        settings = {
            "Global.log_level": "critical",  # it says in red that a picture holds no text
            "Global.text_score": score,
            "Global.use_cls": False,  # upside-down lines are not worth a third network
            "Det.limit_type": "max",
            "Det.limit_side_len": side,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
        self._lock = threading.Lock()
        try:
            self._reader = RapidOCR(params=settings)
            # Its networks load on first use; do that now, so that what is missing or broken is said here.
            self._reader(np.full((64, 256, 3), 255, np.uint8))
        except Exception as e:
            raise ModelFailed(
                f"The text reader does not open: {e}", "Install it again: pip install --force-reinstall rapidocr==3.10.0"
            ) from e
        logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)

    def read(self, picture: Picture) -> list[ReadText]:
        try:
            with self._lock:
                answer: Any = self._reader(picture)
        except Exception as e:
            raise ModelFailed(f"Reading text in the picture failed: {e}") from e
        if answer.txts is None or answer.boxes is None:
            return []
        height, width = picture.shape[:2]
        found = []
        for text, score, corners in zip(answer.txts, answer.scores, answer.boxes, strict=True):
            corners = np.clip(np.asarray(corners, float), 0, (width, height))
            (x, y), (right, bottom) = corners.min(0), corners.max(0)
            if text.strip() and right > x and bottom > y:
                found.append(ReadText(text.strip(), float(score), (float(x), float(y), float(right - x), float(bottom - y))))
        return sorted(found, key=lambda t: (round(t.box[1] + t.box[3] / 2), t.box[0]))
