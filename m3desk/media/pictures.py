"""Finds pictures of an open file for the player: the one shown at a time, the next, the previous."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import av

from m3desk.domain.clip import MICROSECOND
from m3desk.media.streams import Opened, frame_time

# Pictures up to this far ahead are reached by decoding on; further ones by seeking, if a key frame lies between.
_NEAR = MICROSECOND

# An index may be incomplete (Matroska reads its own on the first seek): beyond this a seek is tried whatever it says.
_FAR = 15 * MICROSECOND

# On the way to a distant picture, those that no other refers to are not decoded until this close to it (`qt.md` §5: a third faster).
_EXACT = 500_000


@dataclass(frozen=True, slots=True)
class Shot:
    """A decoded frame (PyAV's) and when it is shown, in microseconds."""

    at: int
    frame: Any


class Pictures:
    """The pictures of one file, read from the current position. For one thread."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._run: Iterator[Shot] | None = None
        self._exact_from = 0
        self._from_start = False
        self.current: Shot | None = None
        self.following: Shot | None = None

    def show(self, wanted: Callable[[], int | None], preview: Callable[[Shot], None] | None = None) -> Shot | None:
        """Return the picture shown at the time that `wanted` returns; None if it returns None, or there is no picture.

        `wanted` is called again before each decoded picture: a newer target replaces the older, and decoding continues towards it if that
        is faster than a seek. `preview` gets the key frame at which a seek starts. Before the first picture, the first one is returned.
        """
        while (at := wanted()) is not None:
            if not self._reachable(at):
                self._seek(at)
                if preview and self.following is not None and self.following.at < at:
                    preview(self.following)
            if self.following is None or self.following.at > at:
                return self.current or self.following
            self.advance()
        return None

    def advance(self) -> bool:
        """Go to the next picture; return False at the end."""
        if self._run is None:
            self._seek(0)
        if self.following is None:
            return False
        self.current = self.following
        self.following = next(self._run, None) if self._run is not None else None
        return True

    def hurry(self, at: int) -> None:
        """Skip frames up to `at` that no other frame depends on, because the machine is too slow for all."""
        self._exact_from = max(self._exact_from, at)

    def before(self, at: int) -> Shot | None:
        """Return the last picture that starts before `at`, or the first picture."""
        return self.show(lambda: at - 1)

    def _reachable(self, at: int) -> bool:
        """Return whether `at` is reached faster by decoding on than by a seek to a later key frame."""
        if self._run is None:
            return False
        if self.current is None:  # just sought: the key frame is `following`
            return self._from_start or (self.following is not None and self._exact_from <= at and self.following.at <= at)
        if at < self.current.at or at < self._exact_from:
            return False
        if at - self.current.at <= _NEAR or self.following is None:
            return True
        key = self._key_frame(at)
        if key is None or key > self.current.at or at - self.current.at > _FAR:
            return False
        self._exact_from = max(self._exact_from, at - _EXACT)
        return True

    def _key_frame(self, at: int) -> int | None:
        """Return the decoding time of the last key frame at or before `at`, by the container's index."""
        stream = self._opened.picture
        assert stream is not None
        entries = stream.index_entries
        index = entries.search_timestamp(int((at + self._opened.zero) / MICROSECOND / stream.time_base), backward=True)
        return self._opened.time(stream, entries[index].timestamp) if index >= 0 else None

    def _seek(self, at: int) -> None:
        """Seek to a key frame at or before `at`: it becomes `following`."""
        for back in (0, MICROSECOND, 4 * MICROSECOND, 16 * MICROSECOND, 64 * MICROSECOND, None):
            beginning = back is None or at - back <= 0
            if beginning:
                self._opened.rewind()
            else:
                self._opened.seek("picture", at - (back or 0))
            self._exact_from = max(0, at - _EXACT)
            self._from_start = beginning
            self._run = self._decode()
            self.current, self.following = None, next(self._run, None)
            if beginning or (self.following is not None and self.following.at <= at):
                return

    def _decode(self) -> Iterator[Shot]:
        at: int | None = None
        for packet in self._opened.packets("picture"):
            if packet.pts is not None:
                far = self._opened.time(packet.stream, packet.pts) < self._exact_from
                packet.stream.codec_context.skip_frame = "NONREF" if far else "DEFAULT"
            try:
                frames = packet.decode()
            except (av.FFmpegError, OSError):
                continue
            for frame in frames:
                now = frame_time(self._opened, frame, at)
                if at is None or now > at:
                    at = now
                    yield Shot(now, frame)
