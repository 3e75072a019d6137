"""Writes small recordings whose pictures carry their number and whose sound tells the time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import av
import pytest

from m3desk.media.capture.recording import About
from m3desk.media.capture.writing import RATE, RecordingWriter

from ..conftest import HEIGHT, WIDTH, numbered, tone

ABOUT = About("r1", "file:x?live", "2026-11-22T10:00:00+00:00", WIDTH, HEIGHT, 25.0, RATE)


def feed(writer: RecordingWriter, start: float, end: float, *, pictures: bool = True, sound: bool = True) -> None:
    """Write [start, end) seconds: picture k at k / 25 s, and `tone`, both in the order of time."""
    for k in range(round(start * 25), round(end * 25)):
        at = k * 40_000
        if pictures and writer.about.has_pictures:
            writer.picture(at, av.VideoFrame.from_ndarray(numbered(k), format="bgr24"))
        if sound and writer.about.has_sound:
            writer.sound(at, tone(0.04, RATE, k / 25))


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a closed recording of so many seconds, and returns its folder."""

    def record(seconds: float, about: About = ABOUT, name: str = "r1") -> Path:
        writer = RecordingWriter(tmp_path / name, about)
        feed(writer, 0, seconds)
        writer.close()
        writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
        return tmp_path / name

    return record
