"""A file delivered at real time, once or in a loop: for tests and demonstrations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av

from m3desk.domain.live import DeviceKind
from m3desk.errors import SourceError
from m3desk.media.capture.inputs import CaptureError, Form, Taking
from m3desk.media.capture.network import ALONE, STILL_STEP
from m3desk.media.streams import UPRIGHT, Showing, open_media

_BEHIND = 2_000_000


class FileInput:
    """A file delivered at real time, once or in a loop."""

    kinds: tuple[DeviceKind, ...] = ("camera", "microphone")
    ends = True

    def __init__(self, path: Path, loop: bool) -> None:
        self._path, self._loop = path, loop
        self._opened: Any = None

    def open(self) -> Form:
        try:
            self._opened = open_media(self._path)
        except SourceError as error:
            raise CaptureError(str(error), hint=error.hint, lasting=True) from error
        picture = self._opened.picture
        rate = (picture.average_rate or picture.guessed_rate) if picture is not None else None
        return Form(picture is not None, self._opened.sound is not None, float(rate) if rate and 1 <= rate <= 120 else None)

    def run(self, taking: Taking) -> None:
        began = taking.clock()
        decoded = -STILL_STEP
        alone = self._opened.picture is not None and self._opened.picture.codec_context.name in ALONE
        showing = Showing(self._opened)
        while not taking.stopped.is_set():
            last = began
            for packet in self._opened.packets("both"):
                if alone and packet.stream is self._opened.picture and packet.pts is not None:
                    at = began + self._opened.time(packet.stream, packet.pts)
                    if at - decoded < STILL_STEP and taking.still():
                        continue
                    decoded = at
                try:
                    frames = packet.decode()
                except (av.FFmpegError, OSError):
                    continue
                for frame in frames:
                    if frame.pts is None:
                        continue
                    at = began + self._opened.time(packet.stream, round(frame.pts * frame.time_base / packet.stream.time_base))
                    if taking.stopped.wait(max(0.0, (at - taking.clock()) / 1e6)):
                        return
                    if taking.clock() - at > _BEHIND:  # the machine slept, or can't keep up: time goes on without it
                        began += taking.clock() - at
                        at = taking.clock()
                    if packet.stream is self._opened.picture:
                        taking.picture(at, upright(frame, showing))
                        last = max(last, at + 40_000)
                    else:
                        taking.sound(at, frame)
                        last = max(last, at + round(frame.samples * 1_000_000 / frame.sample_rate))
            if not self._loop:
                return
            began = last
            self._opened.rewind()

    def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()


def upright(frame: Any, showing: Showing) -> Any:
    """Return a picture as it is displayed, with square pixels."""
    if showing.size(frame) == (frame.width, frame.height) and showing.orientation(frame) == UPRIGHT:
        return frame
    return av.VideoFrame.from_ndarray(showing.bgr(frame), format="bgr24")
