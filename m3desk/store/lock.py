"""One writer at a time: a lock on a file that the operating system releases when its process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from m3desk import private
from m3desk.errors import MemoryBusy


class WriterLock:
    """Holds `folder/writer.lock` until `release`. Raises MemoryBusy when another process (or another part of this one) holds it."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "writer.lock", os.O_RDWR | os.O_CREAT, private.FILE)
        try:
            _lock(self._file)
        except OSError:
            os.close(self._file)
            raise MemoryBusy(
                f"another M3Desk is writing to {folder}.",
                "Close it there, or wait until it is done. Commands that only read work meanwhile.",
            ) from None

    def release(self) -> None:
        """Let others write; safe to call twice."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
