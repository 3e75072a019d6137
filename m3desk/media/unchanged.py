"""Detects that a file changed while it is being memorized: replaced, grown, truncated, deleted, or overwritten in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from m3desk.errors import SourceChanged, SourceMissing
from m3desk.media.capture.recording import Recording, is_recording
from m3desk.media.file import fingerprint
from m3desk.regular import check_regular

Stamp = tuple[int, int, int, int, int]


class HashedFile:
    """One file or recording and its SHA-256. `cancelled`: called while the file is hashed."""

    def __init__(self, path: str | Path, sha256: str | None = None, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Without `sha256` the file is hashed now. Raises SourceError, Cancelled."""
        self.path = Path(path)
        self._cancelled = cancelled
        self._stamp: Stamp | None = None
        self.sha256 = sha256
        if sha256 is None:
            self.sha256 = self._digest()

    def look(self) -> None:
        """Check size, times and inode; hash the file again only if these changed. Raises SourceChanged, SourceMissing."""
        if self._now() != self._stamp:
            self.prove()

    def prove(self) -> None:
        """Hash the file and compare. Raises SourceChanged, SourceMissing."""
        if self._digest() != self.sha256:
            self._stamp = None  # it stays another file until it has been read through again
            raise self._changed()

    def _digest(self) -> str:
        self._stamp = None
        before = self._now()
        digest = fingerprint(self.path, self._cancelled)
        if self._now() != before:
            raise SourceChanged(f"{self.path} is being written to.", "Wait until it is complete, and memorize it then.")
        self._stamp = before
        return digest

    def _now(self) -> Stamp:
        try:
            if is_recording(self.path):
                return self._recorded()
            found = check_regular(self.path)
        except SourceMissing as error:
            if self.sha256 is None:
                raise
            hint = "Put it back, or give its new path: m3desk sources relink. What was memorized of it is kept."
            raise SourceMissing(f"{self.path} no longer exists.", hint) from error
        return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)

    def _recorded(self) -> Stamp:
        """Return a recording's stamp: growing does not change it, erasing a part does."""
        recording = Recording.open(self.path)
        where = recording.folder.stat()
        return (len(recording.erased), 0, 0, where.st_ino, where.st_dev)

    def _changed(self) -> SourceChanged:
        return SourceChanged(
            f"{self.path} has changed since memorizing started.",
            "What was memorized is kept. Restore the original file and run the same command, or memorize the new one with --rebuild.",
        )
