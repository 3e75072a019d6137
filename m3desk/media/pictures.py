"""Finds pictures of an open file for the player: the one shown at a time, the next, the previous."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import av

from m3desk.domain.clip import MICROSECOND
from m3desk.errors import M3DeskError
from m3desk.media.streams import OpenContainer, frame_time, open_media

# Pictures up to this far ahead are reached by decoding on; further ones by seeking, if a key frame lies between.
_NEAR = MICROSECOND

# An index may be incomplete (Matroska reads its own on the first seek): beyond this the file itself is asked for a key frame.
_FAR = 15 * MICROSECOND

# Decoded pictures that are kept for steps back: at most so many, and at most so many pixels in all (1.5 bytes each).
_KEPT_FRAMES, _KEPT_PIXELS = 24, 25_000_000

# While a distant picture is decoded, the one that was reached is reported this often.
_REPORT_SECONDS = 0.25

# On the way to a distant picture, those that no other refers to are not decoded until this close to it (`qt.md` §5: a third faster),
# or until the pictures that are kept for steps back.
_EXACT = 500_000


@dataclass(frozen=True, slots=True)
class TimedFrame:
    """A decoded frame (PyAV's) and when it is shown, in microseconds."""

    at: int
    frame: Any


class Pictures:
    """The pictures of one file, read from the current position. For one thread. Close it."""

    def __init__(self, opened: OpenContainer) -> None:
        self._opened = opened
        self._run: Iterator[TimedFrame] | None = None
        rate = opened.picture.average_rate if opened.picture is not None else None
        self._exact = max(_EXACT, round(_KEPT_FRAMES * MICROSECOND / rate)) if rate else _EXACT
        self._exact_from = 0
        self._from_start = False
        self._landed = (0, 0)  # the last seek, to the second time, landed at the first: no usable key frame lies between them
        self._asked: OpenContainer | None = None  # the same file, open a second time to look for key frames
        self._earlier: Pictures | None = None  # the same file, open a second time to decode what is before the kept pictures
        self._nothing_before = -1  # the time of a picture before which `recall` found none
        self._behind: deque[TimedFrame] = deque()  # decoded pictures before `current`, oldest first
        self._ahead: deque[TimedFrame] = deque()  # decoded pictures after `following`, of which steps back have left some
        self.current: TimedFrame | None = None
        self.following: TimedFrame | None = None

    def close(self) -> None:
        """Close what was opened beside the given file."""
        if self._asked is not None:
            self._asked.close()
            self._asked = None
        if self._earlier is not None:
            self._earlier.close()
            self._earlier._opened.close()
            self._earlier = None

    def show(
        self,
        wanted: Callable[[], int | None],
        preview: Callable[[TimedFrame], None] | None = None,
        reached: Callable[[TimedFrame, float], None] | None = None,
    ) -> TimedFrame | None:
        """Return the picture shown at the time that `wanted` returns; None if it returns None, or there is no picture.

        `wanted` is called again before each decoded picture: a newer target replaces the older, and decoding continues towards it if that
        is faster than a seek. `preview` gets the key frame at which a seek starts. `reached` gets, four times a second while a distant
        picture is decoded, the picture reached and the share of the way (0 to 1). Before the first picture, the first one is returned.
        """
        report_at = time.monotonic() + _REPORT_SECONDS
        while (at := wanted()) is not None:
            if not self._reachable(at):
                self._seek(at)
                if preview and self.following is not None and self.following.at < at:
                    preview(self.following)
            if self.following is None or self.following.at > at:
                return self.current or self.following
            self.advance()
            if reached is not None and self.current is not None and time.monotonic() >= report_at:
                began = min(self._landed[0], self.current.at)
                reached(self.current, (self.current.at - began) / max(1, at - began))
                report_at = time.monotonic() + _REPORT_SECONDS
        return None

    def advance(self) -> bool:
        """Go to the next picture; return False at the end."""
        if self._run is None:
            self._seek(0)
        if self.following is None:
            return False
        if self.current is not None:
            self._behind.append(self.current)
            while len(self._behind) > self._room():
                self._behind.popleft()
        self.current = self.following
        self.following = self._ahead.popleft() if self._ahead else next(self._run, None) if self._run is not None else None
        return True

    def _room(self) -> int:
        """Return how many pictures before the current one are kept."""
        frame = self.current.frame if self.current is not None else None
        return max(2, min(_KEPT_FRAMES, _KEPT_PIXELS // max(1, frame.width * frame.height))) if frame is not None else 2

    def has_few_behind(self) -> bool:
        """Return whether `recall` may find pictures for steps back."""
        if self.current is None or self.current.at < self._exact_from:
            return False
        whole = [shot.at for shot in self._behind if shot.at >= self._exact_from]
        oldest = whole[0] if whole else self.current.at
        return len(whole) <= self._room() // 2 and 0 < oldest != self._nothing_before

    def recall(self, go_on: Callable[[], bool]) -> None:
        """Decode pictures before those that are kept, in a second opening of the file, so that a step back finds them.

        Stops once `go_on` returns False; the next call goes on from there.
        """
        if self.current is None:
            return
        while self._behind and self._behind[0].at < self._exact_from:  # between these some were left out
            self._behind.popleft()
        oldest = self._behind[0] if self._behind else self.current
        found: list[TimedFrame] = []
        with contextlib.suppress(M3DeskError, av.FFmpegError, OSError):
            if self._earlier is None:
                self._earlier = Pictures(open_media(self._opened.path))
            reached = self._earlier.before(oldest.at, go_on)
            if reached is None:
                return
            found = [shot for shot in (*self._earlier._behind, reached) if self._earlier._exact_from <= shot.at < oldest.at]
        found = found[len(self._behind) - self._room() :]
        if found:
            self._behind.extendleft(reversed(found))
            self._exact_from = min(self._exact_from, found[0].at)
        else:
            self._nothing_before = oldest.at

    def _back_to(self, at: int) -> bool:
        """Go back to the picture shown at `at` if it is still kept; return whether it is."""
        kept = next((shot.at for shot in reversed(self._behind) if shot.at <= at), -1)
        if kept < self._exact_from:  # between it and the next one pictures may have been left out
            return False
        while self.current is not None and self.current.at > at:
            if self.following is not None:
                self._ahead.appendleft(self.following)
            self.current, self.following = self._behind.pop(), self.current
        return True

    def hurry(self, at: int) -> None:
        """Skip frames up to `at` that no other frame depends on, because the machine is too slow for all."""
        self._exact_from = max(self._exact_from, at)

    def before(self, at: int, go_on: Callable[[], bool] = lambda: True) -> TimedFrame | None:
        """Return the last picture that starts before `at`, or the first picture; None once `go_on` returns False."""
        return self.show(lambda: at - 1 if go_on() else None)

    def _reachable(self, at: int) -> bool:
        """Return whether `at` is reached by decoding on (or among the pictures kept), and not faster by a seek to a later key frame."""
        if self._run is None:
            return False
        if self.current is None:  # just sought: the key frame is `following`
            return self._from_start or (self.following is not None and self._exact_from <= at and self.following.at <= at)
        if at < self._exact_from:
            return False
        if at < self.current.at:
            return self._back_to(at)
        if at - self.current.at <= _NEAR or self.following is None:
            return True
        if self._later_key_frame(self.current.at, at):
            return False
        self._exact_from = max(self._exact_from, at - self._exact)
        return True

    def _later_key_frame(self, now: int, at: int) -> bool:
        """Return whether a key frame is known within (now, at], from which decoding would start sooner."""
        landed, sought = self._landed
        known = max(sought, now) if landed <= now else now  # none lies between `now` and this
        if at <= known:
            return False
        key = self._opened.key_frame(at)
        if key is not None and key > known:
            return True
        if at - known <= _FAR and key is not None:
            return False
        if at - known <= _FAR and landed <= now:
            return False  # a seek that was nearly the same was in vain
        found = self._ask(at)
        if found <= now:
            self._landed = (min(landed, found), at)
        return found > known

    def _ask(self, at: int) -> int:
        """Return the time of the first packet after a seek to `at`, in a second opening of the file; 0 where that fails."""
        with contextlib.suppress(M3DeskError, av.FFmpegError, OSError):
            if self._asked is None:
                self._asked = open_media(self._opened.path)
            self._asked.seek("picture", at)
            for packet in self._asked.packets("picture"):
                if packet.pts is not None:
                    return self._asked.time(packet.stream, packet.pts)
        return 0

    def _seek(self, at: int) -> None:
        """Seek to a key frame at or before `at`: it becomes `following`."""
        for back in (0, MICROSECOND, 4 * MICROSECOND, 16 * MICROSECOND, 64 * MICROSECOND, None):
            beginning = back is None or at - back <= 0
            if beginning:
                self._opened.rewind()
            else:
                self._opened.seek("picture", at - (back or 0))
            self._exact_from = max(0, at - self._exact)
            self._from_start = beginning
            self._run = self._decode()
            self._behind.clear()
            self._ahead.clear()
            self.current, self.following = None, next(self._run, None)
            self._landed = (self.following.at if self.following is not None else 0, at)
            if beginning or (self.following is not None and self.following.at <= at):
                return

    def _decode(self) -> Iterator[TimedFrame]:
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
                    yield TimedFrame(now, frame)
