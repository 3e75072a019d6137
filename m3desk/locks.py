"""File locks by portalocker: the operating system releases them when the process ends, even if it is killed."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from m3desk import private


class Locked(Exception):
    """Another process, or another part of this one, holds the lock."""


class FileLock:
    """Holds a lock on a file until `release`. The file is created if missing and is never deleted.

    `wait`: wait while another process holds it, else raise Locked. Raises OSError if the file can't be opened or locked at all.
    """

    def __init__(self, path: Path, *, wait: bool = False) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, private.FILE)
        try:
            _lock(self._file, wait)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock; safe to call twice."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _lock(file: int, wait: bool) -> None:
    import portalocker  # here, so that what locks nothing does not load it

    how = portalocker.LockFlags.EXCLUSIVE | (portalocker.LockFlags(0) if wait else portalocker.LockFlags.NON_BLOCKING)
    while True:
        try:
            portalocker.lock(file, how)
            return
        except portalocker.AlreadyLocked as error:
            if not wait:
                raise Locked from error
            # Windows gives up after ten seconds.
        except portalocker.LockException as error:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)) from error
