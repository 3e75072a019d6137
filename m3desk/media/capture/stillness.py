"""Tells whether a camera's pictures show anything new: of a still scene few are decoded and recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STILL_AFTER = 1_500_000
"""Microseconds without a change after which a scene is still."""

STILL_STEP = 190_000
"""Microseconds between two recorded pictures of a still scene: the rate at which pictures are analysed."""

CHANGED = 5.0
"""Mean difference of brightness (0 to 255) within a block from which it has changed; a sensor's noise makes 2 to 3."""

_EVERY = 4  # of the picture's pixels and rows one of so many is compared
_BLOCK = 8  # compared pixels on a side of a block


class Stillness:
    """Watches one stream of pictures. `still`: nothing has changed for a while; may be read by other threads."""

    def __init__(self) -> None:
        self.still = False
        self._reference: NDArray[np.int16] | None = None
        self._changed_at = 0
        self._last = 0

    def needed(self, at: int, frame: Any) -> bool:
        """Return whether a picture (PyAV's frame, planar, brightness first) is worth recording at `at` microseconds."""
        now = _brightness(frame)
        if now is None or self._reference is None or now.shape != self._reference.shape or _differ(now, self._reference):
            self._reference, self._changed_at = now, at
        self.still = at - self._changed_at >= STILL_AFTER
        if self.still and at - self._last < STILL_STEP:
            return False
        self._last = at
        return True


def _brightness(frame: Any) -> NDArray[np.int16] | None:
    """Return the brightness of some pixels, None for a format whose first plane is not 8 bits of brightness a pixel."""
    if not frame.format.name.startswith(("yuv4", "yuvj4", "nv12", "gray")) or frame.format.components[0].bits != 8:
        return None
    plane = frame.planes[0]
    rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: frame.height, : frame.width]
    return rows[::_EVERY, ::_EVERY].astype(np.int16)


def _differ(one: NDArray[np.int16], two: NDArray[np.int16]) -> bool:
    height, width = (n // _BLOCK * _BLOCK for n in one.shape)
    if not height or not width:
        return True
    difference = np.abs(one[:height, :width] - two[:height, :width])
    blocks = difference.reshape(height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK).sum(axis=(1, 3), dtype=np.int32)
    return bool(blocks.max() > CHANGED * _BLOCK * _BLOCK)
