"""Decodes photos and stored pictures with limits: the size is read from the header before memory is allocated."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from m3desk.errors import SourceUnreadable
from m3desk.regular import check_name, read_regular

MOST_PIXELS = 64_000_000
"""Pixels of the largest picture that is decoded: 192 MB as BGR, twice that while it is turned upright."""

MOST_BYTES = 200_000_000

_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "PPM")
_HINT = "Give a photo such as a JPEG or PNG."


def read(path: str | Path) -> NDArray[np.uint8]:
    """Return a photo as (height, width, 3) uint8 BGR, turned as its EXIF says. Raises SourceMissing, SourceUnreadable."""
    name = Path(path).name
    check_name(path)
    content = read_regular(path, MOST_BYTES)
    if not content:
        raise SourceUnreadable(f"{name} is empty (0 bytes).", "Copy or download it again.")
    size = header_size(content)
    if size is None:
        raise SourceUnreadable(f"{name} is not a picture that can be read.", _HINT)
    if size[0] * size[1] > MOST_PIXELS:
        how = f"{size[0]:,} × {size[1]:,} pixels"
        raise SourceUnreadable(f"{name} is too large: {how}, where {MOST_PIXELS // 10**6} million are read.", "Make it smaller.")
    found = _decoded(content)
    if found is None:
        raise SourceUnreadable(f"{name} is damaged: it is not a picture that can be read.", _HINT)
    return found


def stored(content: bytes | None) -> NDArray[np.uint8] | None:
    """Return a stored picture of a memory as (height, width, 3) uint8 BGR; None if it is no picture or too large to be valid."""
    size = header_size(content) if content else None
    return _decoded(content) if content and size is not None and size[0] * size[1] <= MOST_PIXELS else None


def header_size(content: bytes) -> tuple[int, int] | None:
    """Return (width, height) from the header, None if it is no picture of a known format."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=_FORMATS) as found:
                return found.size
    except Image.DecompressionBombError:
        return (1 << 16, 1 << 16)
    except Exception:  # a reader of foreign bytes: whatever it stumbles over, it is no picture
        return None


def _decoded(content: bytes) -> NDArray[np.uint8] | None:
    import cv2

    try:
        found = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)  # turns it as its EXIF says; imread knows ASCII paths only
    except cv2.error:
        return None
    return None if found is None else np.asarray(found, np.uint8)
