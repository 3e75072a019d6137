"""What the window remembers between runs: its size, layouts, and the position in each memory's videos."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from m3desk import paths, private


class WindowState:
    """A small settings file beside the user's configuration (`window.ini`); nothing in it matters if it is lost."""

    def __init__(self) -> None:
        path = paths.window_file()
        with contextlib.suppress(OSError):
            if not path.parent.exists():
                private.folder(path.parent)
            private.file(path)
        self._file = QSettings(str(path), QSettings.Format.IniFormat)

    def bytes(self, key: str) -> QByteArray | None:
        value = self._file.value(key)
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    def text(self, key: str, default: str = "") -> str:
        return str(self._file.value(key, default))

    def number(self, key: str, default: int = 0) -> int:
        try:
            return int(str(self._file.value(key, default)))
        except ValueError:
            return default

    def put(self, key: str, value: Any) -> None:
        self._file.setValue(key, value)

    def save(self) -> None:
        self._file.sync()

    # ------------------------------------------------------------ memories

    def position(self, memory: str) -> tuple[str, int]:
        """Return the source and time at which a memory was last watched."""
        source, _, at = self.text(f"watched/{paths.memory_key(memory)}").partition("@")
        return source, int(at) if at.isdigit() else 0

    def watched(self, memory: str, source: str, at: int) -> None:
        self.put(f"watched/{paths.memory_key(memory)}", f"{source}@{at}")


def picture_of(memory: str) -> Path:
    """Return where the small picture of a recent memory is kept (it may not exist)."""
    return paths.recent_picture(memory)
