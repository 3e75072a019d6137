"""Fetches the newest picture of a live source from shared memory, in a thread of its own: at most 30 a second, nothing is queued."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import cv2
import shiboken6
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QImage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PERIOD = 1 / 30
"""Seconds between two looks."""
LARGEST = 2560
"""Pixels of the longer side of a picture that is enlarged here."""
IDLE_PERIOD = 0.2
"""The same after `IDLE_LOOKS` looks without a new picture: the source is paused, or has no picture."""
IDLE_LOOKS = 60


class Preview(Protocol):
    """What is read here of `m3desk.media.capture.preview.Preview`."""

    def newest(self) -> tuple[int, NDArray[np.uint8]] | None:
        """Return the time (microseconds of the source) and the BGR picture that came last; None before the first."""
        ...

    def close(self) -> None: ...


class NewestPicture(QObject):
    """Calls `show(image, at, size)` on the GUI thread; a picture that came while one waits to be shown replaces it.

    `size`: width and height of the picture as it was captured; the image is scaled to fit the target size.
    """

    _came = Signal()

    def __init__(
        self, attach: Callable[[], Preview], show: Callable[[QImage, int, tuple[int, int]], None], parent: QObject | None = None
    ) -> None:
        """`attach` opens the shared memory, in the thread; while it raises OSError, it is tried again."""
        super().__init__(parent)
        self._attach, self._show = attach, show
        self._lock = threading.Lock()
        self._frame: tuple[QImage, Any, int, tuple[int, int]] | None = None
        self._keep: Any = None
        self._told = False
        self._fit = (0, 0)
        self._ended = threading.Event()
        self._came.connect(self._hand_over, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="newest-picture", daemon=True)
        self._thread.start()

    def fit(self, width: int, height: int) -> None:
        """Scale pictures to fit so many device pixels from now on, so that painting need not scale; none is enlarged beyond `LARGEST`."""
        self._fit = (width, height)

    def close(self) -> None:
        """Stop; nothing is shown any more. Does not wait."""
        self._ended.set()

    def _work(self) -> None:
        preview: Preview | None = None
        last, idle = None, 0
        while not self._ended.wait(PERIOD if idle < IDLE_LOOKS else IDLE_PERIOD):
            try:
                preview = preview or self._attach()
                found = preview.newest()
            except (OSError, ValueError):
                preview, found = None, None
            if found is None or found[0] == last:
                idle += 1
                continue
            idle, last = 0, found[0]
            self._put(*found)
        if preview is not None:
            preview.close()

    def _put(self, at: int, picture: NDArray[np.uint8]) -> None:
        height, width = picture.shape[:2]
        room = self._fit
        scale = min(room[0] / width, room[1] / height) if room[0] and room[1] else 1.0
        scale = min(scale, max(1.0, LARGEST / max(width, height)))
        if scale != 1.0:
            size = (max(1, round(width * scale)), max(1, round(height * scale)))
            scaled = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 0.6 else cv2.INTER_LINEAR)
        else:
            scaled = picture
        shown = cv2.cvtColor(scaled, cv2.COLOR_BGR2BGRA)
        image = QImage(shown.data, shown.shape[1], shown.shape[0], int(shown.strides[0]), QImage.Format.Format_RGB32)
        with self._lock:
            self._frame = (image, shown, at, (width, height))
            ring, self._told = not self._told, True
        if ring and not self._ended.is_set() and shiboken6.isValid(self):
            self._came.emit()

    def _hand_over(self) -> None:
        with self._lock:
            frame, self._frame, self._told = self._frame, None, False
        if frame is not None and not self._ended.is_set():
            image, self._keep, at, size = frame  # the array must outlive the QImage that looks into it
            self._show(image, at, size)
