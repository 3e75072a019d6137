"""Stored pictures (face crops, thumbnails) as QPixmaps: decoded and scaled in the reading thread, kept in a small cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPixmap

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub

KEPT = 600
"""Pixmaps kept; at 160 × 160 pixels of 4 bytes that is 60 MB at most."""
BATCH = 12
"""Pictures decoded per read, so that other reads get their turn."""


_KINDS = ((b"\xff\xd8", "JPEG"), (b"\x89PNG", "PNG"), (b"RIFF", "WEBP"))
"""How stored pictures begin, and what Qt calls them."""


def whole(data: bytes | None) -> QImage:
    """Return a stored picture (any thread); a null image where there is none or it is broken.

    Its kind is told to Qt and no device of Python's is handed to it. Guessing, Qt asks its SVG reader, which takes a lock of the signals
    while Python's own is held; reading from a device, it calls Python while it holds the lock of its image plugins. Either made the
    window wait for ever now and then (seen in test runs, with the stacks of both threads).
    """
    kind = next((k for magic, k in _KINDS if data and data.startswith(magic)), None)
    if data is None or kind is None:
        return QImage()
    return QImage.fromData(data, kind)  # type: ignore[arg-type]  # the stub says bytes; PySide 6.11 takes str only


def decode(data: bytes | None, width: int, height: int) -> QImage | None:
    """Return a picture scaled to cover width × height and cut to it (any thread); None where there is none or it is broken."""
    image = whole(data)
    if image.isNull():
        return None
    size = QSize(width, height)
    image = image.scaled(size, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation)
    return image.copy((image.width() - width) // 2, (image.height() - height) // 2, width, height)


class Pictures(QObject):
    """`get` answers at once from the cache, or None and later `ready` (and the `then` given)."""

    ready = Signal(str)
    """media id: a picture that was asked for is here now; paint again."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self._hub = hub
        self._kept: OrderedDict[tuple[str, int, int], QPixmap | None] = OrderedDict()
        self._wanted: OrderedDict[tuple[str, int, int], list[Callable[[QPixmap], None]]] = OrderedDict()
        self._reading: dict[tuple[str, int, int], list[Callable[[QPixmap], None]]] = {}
        self._kick = QTimer(self)
        self._kick.setSingleShot(True)
        self._kick.setInterval(0)
        self._kick.timeout.connect(self._read)

    def get(
        self, media: str | None, width: int, height: int | None = None, then: Callable[[QPixmap], None] | None = None
    ) -> QPixmap | None:
        """Return a stored picture cut to width × height device pixels (square without height), or None while it is read."""
        if not media:
            return None
        key = (media, width, height or width)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        waiting = self._reading.get(key)
        if waiting is None:
            waiting = self._wanted.setdefault(key, [])
            if not self._kick.isActive() and not self._reading:
                self._kick.start()
        if then is not None:
            waiting.append(then)
        return None

    def clear(self) -> None:
        """Forget everything: another memory is open."""
        self._kept.clear()
        self._wanted.clear()
        self._reading.clear()

    def _read(self) -> None:
        if self._reading or not self._wanted:
            return
        # The newest wishes first: what the user looks at now.
        while self._wanted and len(self._reading) < BATCH:
            key, thens = self._wanted.popitem(last=True)
            self._reading[key] = thens
        keys = list(self._reading)
        self._hub.read(
            "pictures",
            lambda reader: [(key, decode(reader.media(key[0]), key[1], key[2])) for key in keys],
            self._arrived,
            self._not_read,
        )

    def _not_read(self, error: Exception) -> None:
        """Drop the pending requests; pictures are requested again when they are painted."""
        self._reading.clear()
        if self._wanted:
            self._kick.start()

    def _arrived(self, pictures: list[tuple[tuple[str, int, int], QImage | None]]) -> None:
        for key, image in pictures:
            pixmap = QPixmap.fromImage(image) if image is not None else None
            self._kept[key] = pixmap
            for then in self._reading.pop(key, []):
                if pixmap is not None:
                    then(pixmap)
            if pixmap is not None:
                self.ready.emit(key[0])
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        if self._wanted:
            self._kick.start()
