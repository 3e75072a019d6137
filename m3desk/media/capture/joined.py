"""Reads the segments of a recording as one seekable file, which may still be growing."""

from __future__ import annotations

import io
import threading
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from m3desk.media.capture.recording import Recording, Segment

POLL_SECONDS = 0.1
"""How often a reader that follows looks for new data: sound always comes, and three readers of an open clip looked 75 times a second."""


@dataclass(slots=True)
class _Part:
    """A segment and its first byte's place in the joined file."""

    segment: Segment
    base: int


class Joined(io.RawIOBase):
    """The segments of a recording, one after the other. For one thread, except `waiting`.

    Without `waiting` it is what is there now. With it, reading at the end waits for more data as long as the recording has not ended and
    `waiting()` returns True and `follow` is set. Once `cut` is set, it ends where it was read to. Segments that were removed meanwhile are
    left out.
    """

    def __init__(self, recording: Recording, waiting: Callable[[], bool] | None = None) -> None:
        self._recording = recording
        self._waiting = waiting
        self._parts: list[_Part] = []
        self._at = 0
        self._file: tuple[str, BinaryIO] | None = None
        self._sleep = threading.Event()
        self.follow = False
        self.cut = False
        self._looked_last = False
        self.name = str(recording.folder)
        self._update()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence)
        self._at = max(0, (self._size() if base is None else base) + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, b"" at the end."""
        if size is None or size < 0:
            size = max(0, self._size() - self._at)
        while True:
            data = self._read_now(size)
            if data or not size or not self._may_wait():
                return data
            self._sleep.wait(POLL_SECONDS)
            self._update()

    def close(self) -> None:
        if self._file is not None:
            self._file[1].close()
            self._file = None
        super().close()

    def offset(self, kind: Literal["picture", "sound"], at: int) -> int:
        """Return the last byte offset from which that stream can be decoded at or before `at` microseconds; 0 if there is none."""
        self._update()
        for part in reversed(self._parts[: bisect_right(self._parts, at, key=lambda part: part.segment.start)]):
            points = part.segment.pictures if kind == "picture" else part.segment.sounds
            index = bisect_right(points, (at, 1 << 62)) - 1
            if index >= 0:
                return part.base + points[index][1]
        return 0

    def key_frame(self, at: int) -> int | None:
        """Return the time of the last key frame at or before `at` microseconds, None if there is none."""
        for part in reversed(self._parts[: bisect_right(self._parts, at, key=lambda part: part.segment.start)]):
            index = bisect_right(part.segment.pictures, (at, 1 << 62)) - 1
            if index >= 0:
                return part.segment.pictures[index][0]
        return None

    def _may_wait(self) -> bool:
        if self.cut or not self.follow or self._waiting is None or self._looked_last:
            return False
        ended = self._recording.ended
        if not ended and self._waiting():
            return True
        # Nothing more is waited for, but what came between the last look and this decision is still to be read: once only, because a
        # recording goes on growing after the end of a clip.
        self._looked_last = not ended
        before = self._size()
        self._update()
        return self._size() != before

    def _size(self) -> int:
        return self._parts[-1].base + self._parts[-1].segment.bytes if self._parts else 0

    def _update(self) -> None:
        """Add what was recorded since; parts that are there already keep their place."""
        last = self._parts[-1].segment if self._parts else None
        fresh = []
        for segment in reversed(self._recording.segments()):
            if last is not None and segment.number <= last.number:
                if segment.name == last.name:
                    self._parts[-1].segment = segment  # it has grown
                break
            fresh.append(segment)
        for segment in reversed(fresh):
            self._parts.append(_Part(segment, self._size()))

    def _read_now(self, size: int) -> bytes:
        if self.cut:
            return b""
        first = max(0, bisect_right(self._parts, self._at, key=lambda part: part.base) - 1)
        for part in self._parts[first:]:
            if self._at >= part.base + part.segment.bytes:
                continue
            within = self._at - part.base
            data = self._piece(part.segment.name, within, min(size, part.segment.bytes - within))
            if data:
                self._at += len(data)
                return data
            self._at = part.base + part.segment.bytes  # it was removed
        return b""

    def _piece(self, name: str, offset: int, size: int) -> bytes:
        try:
            if self._file is None or self._file[0] != name:
                if self._file is not None:
                    self._file[1].close()
                    self._file = None
                self._file = name, Path(self._recording.folder, name).open("rb", buffering=0)  # noqa: SIM115
            self._file[1].seek(offset)
            return self._file[1].read(size)
        except OSError:
            return b""
