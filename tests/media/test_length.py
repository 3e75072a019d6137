"""A declared length is used only if the file can contain it; the planned clips exist."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from m3desk.media.cutter import plan
from m3desk.media.file import probe
from m3desk.media.length import spelled

Video = Callable[..., Path]


def declare(file: Path, milliseconds: float) -> Path:
    """Write another length into a Matroska file: in the header and in the tag of each stream."""
    data = bytearray(file.read_bytes())
    at = data.index(b"\x44\x89\x88") + 3
    data[at : at + 8] = struct.pack(">d", milliseconds)
    at = 0
    while (at := data.find(b"DURATIOND\x87", at)) > 0:
        data[at + 12 : at + 30] = b"99999:00:00.000000"
        at += 1
    file.write_bytes(bytes(data))
    return file


def planned(file: Path) -> tuple[int, list[str]]:
    """Return how many clips of 30 s are planned of a file, and what is told of its length."""
    told: list[str] = []
    return len(plan(replace(probe(file, told.append), id="s1"))), told


def slide_show(file: Path, seconds: int, step: int) -> Path:
    """Write a film that shows a picture every `step` seconds."""
    with av.open(str(file), "w") as out:
        stream = out.add_stream("libvpx-vp9" if file.suffix == ".webm" else "libx264", rate=1)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for at in range(0, seconds, step):
            frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 90, np.uint8), format="bgr24")
            frame.pts, frame.time_base = at, Fraction(1, 1)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    return file


@pytest.mark.timeout(20)
@pytest.mark.parametrize("milliseconds", [1e12, 1e15, 65e6, 1e300, float("inf"), float("nan"), -1e12])
def test_a_small_file_that_declares_years_is_planned_as_what_it_holds(video: Video, milliseconds: float) -> None:
    file = declare(video("a.mkv", frames=75), milliseconds)
    clips, told = planned(file)
    assert clips == 1
    assert all("declares a length of" in t and "holds only 00:0" in t for t in told)
    if milliseconds in (1e12, 65e6):
        assert len(told) == 1


@pytest.mark.timeout(20)
def test_one_damaged_time_stamp_does_not_make_three_seconds_eighteen_hours(video: Video) -> None:
    file = video("a.mp4", frames=75, times=[k / 25 + (0.001 if k == 40 else 0) for k in range(75)])
    data = bytearray(file.read_bytes())
    at = data.index(b"stts") + 8
    (count,) = struct.unpack_from(">I", data, at)
    assert count > 2
    scale = struct.unpack_from(">I", data, data.index(b"mdhd") + 16)[0]
    struct.pack_into(">I", data, at + 4 + 8 * 1 + 4, 18 * 3600 * scale)
    for box, place in ((b"mvhd", 20), (b"tkhd", 24), (b"mdhd", 20)):
        struct.pack_into(">I", data, data.index(box) + place, 18 * 3600 * scale if box == b"mdhd" else 18 * 3600 * 1000)
    file.write_bytes(bytes(data))
    clips, told = planned(file)
    assert clips <= 125  # an hour: a still picture may be held so long
    assert len(told) == 1 and "declares a length of 18:00:0" in told[0]


@pytest.mark.parametrize("ending", ["mp4", "mkv", "webm", "ts"])
@pytest.mark.parametrize("step", [10, 600])
def test_a_film_that_shows_a_picture_now_and_then_stays_whole(tmp_path: Path, ending: str, step: int) -> None:
    clips, told = planned(slide_show(tmp_path / f"a.{ending}", 7200, step))
    assert told == []
    assert 7200 // 30 - step // 30 <= clips <= 240


def test_an_ordinary_film_is_planned_from_what_it_declares(video: Video) -> None:
    file = video("a.mkv", frames=250, sound=10.0)
    source = probe(file, pytest.fail)
    assert source.duration is not None and abs(source.duration - 10_000_000) < 100_000


def test_lengths_are_spelled_as_people_read_them() -> None:
    assert [spelled(round(s * 1e6)) for s in (3, 64_803, 3e6, 1e9, 1e12)] == ["00:03", "18:00:03", "35 days", "32 years", "31,688 years"]
