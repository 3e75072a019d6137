"""The files by which a veil in the recorder's process and its parent talk: a folder of small files, and arrays as bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from m3desk import private


class Mailbox:
    """The files by which a veil and its parent talk; each is written whole, by renaming."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, int] = {}

    def put(self, name: str, content: bytes) -> None:
        """Write a file. Raises OSError."""
        new = self.folder / f".{name}"
        private.write(new, content)
        new.replace(self.folder / name)

    def news(self, name: str) -> bytes | None:
        """Return a file's content if it was written since the last call, else None."""
        path = self.folder / name
        try:
            stamp = path.stat().st_mtime_ns
            if self._read.get(name) == stamp:
                return None
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        self._read[name] = stamp
        return content

    def drop(self, name: str) -> None:
        """Remove a file, if it is there."""
        (self.folder / name).unlink(missing_ok=True)


def packed(**arrays: Any) -> bytes:
    """Return arrays as an .npz file."""
    target = io.BytesIO()
    np.savez(target, **arrays)
    return target.getvalue()


def unpacked(content: bytes) -> dict[str, Any]:
    """Return the arrays of an .npz file; nothing in it is run."""
    with np.load(io.BytesIO(content), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
