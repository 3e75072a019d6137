"""A reader that follows a recording misses nothing of what was written before it stops waiting."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from m3desk.media.capture.joined import Joined
from m3desk.media.capture.recording import Recording, Segment


@dataclass
class Growing:
    """A recording of one segment, of which so many bytes are written."""

    folder: Path
    bytes: int
    ended: bool = False

    def segments(self) -> tuple[Segment, ...]:
        return (Segment("000001.ts", 0, 1, self.bytes),)


def test_what_was_written_just_before_a_reader_stops_waiting_is_read_once_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "000001.ts").write_bytes(b"abcdefghi")
    recording = Growing(tmp_path, 3)

    def waiting() -> bool:
        recording.bytes = 6  # the recorder wrote on since the reader looked last
        return False

    joined = Joined(cast(Recording, recording), waiting)
    joined.follow = True
    assert joined.read(100) == b"abc"
    assert joined.read(100) == b"def"
    recording.bytes = 9  # a recording goes on after the end of a clip
    assert joined.read(100) == b""
    joined.close()


def test_a_reader_that_waits_looks_a_few_times_a_second(tmp_path: Path) -> None:
    (tmp_path / "000001.ts").write_bytes(b"abc")
    looks = 0
    until = time.monotonic() + 1.0

    def waiting() -> bool:
        nonlocal looks
        looks += 1
        return time.monotonic() < until

    joined = Joined(cast(Recording, Growing(tmp_path, 3)), waiting)
    joined.follow = True
    assert joined.read(100) == b"abc" and joined.read(100) == b""
    assert looks <= 12
    joined.close()
