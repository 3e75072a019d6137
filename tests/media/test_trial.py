"""A file is tried in a child process first: oversized tables, endless headers and crashing codecs harm only the child."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from m3desk.errors import SourceMissing, SourceUnreadable
from m3desk.media import trial
from m3desk.media.file import probe

Video = Callable[..., Path]

pytestmark = pytest.mark.timeout(60)


def box(data: bytes, name: bytes, content: bytes) -> bytes:
    """Put another content into the first box of a name of an MP4, and correct the sizes of the boxes around it."""
    at = data.index(name) - 4
    size = struct.unpack_from(">I", data, at)[0]
    changed = bytearray(data[:at] + struct.pack(">I", 8 + len(content)) + name + content + data[at + size :])
    for around in (b"moov", b"trak", b"mdia", b"minf", b"stbl"):
        place = data.index(around) - 4
        struct.pack_into(">I", changed, place, struct.unpack_from(">I", data, place)[0] + 8 + len(content) - size)
    return bytes(changed)


def attachment(size: int) -> bytes:
    """Return Matroska's element of one attached file of so many zero bytes."""

    def element(kind: bytes, content: bytes) -> bytes:
        return kind + b"\x01" + len(content).to_bytes(7, "big") + content

    inner = (
        element(b"\x46\x6e", b"a.ttf") + element(b"\x46\x60", b"font/ttf") + element(b"\x46\xae", b"\1") + element(b"\x46\x5c", bytes(size))
    )
    return element(b"\x19\x41\xa4\x69", element(b"\x61\xa7", inner))


def tags(count: int) -> bytes:
    """Return Matroska's element of so many tags."""

    def element(kind: bytes, content: bytes) -> bytes:
        return kind + b"\x01" + len(content).to_bytes(7, "big") + content

    one = [element(b"\x67\xc8", element(b"\x45\xa3", b"k%d" % k) + element(b"\x44\x87", b"v")) for k in range(count)]
    return element(b"\x12\x54\xc3\x67", b"".join(element(b"\x73\x73", element(b"\x63\xc0", b"") + t) for t in one))


def test_an_ordinary_film_is_what_it_is_without_a_child(video: Video) -> None:
    file = video("a.mp4", sound=4.0)
    assert trial.tried(file) == probe(file)


@pytest.mark.slow
def test_hours_of_sound_get_the_time_that_counting_their_packets_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "book.mp3"  # without an index: FFmpeg guesses its length, so its packets are counted
    with av.open(str(file), "w", format="mp3") as made:
        stream = made.add_stream("libmp3lame", rate=22_050, layout="mono")
        stream.bit_rate = 32_000
        for k in range(383):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 576), np.float32), "fltp", "mono")
            frame.sample_rate, frame.pts = 22_050, k * 576
            made.mux(stream.encode(frame))
        made.mux(stream.encode(None))
    one = file.read_bytes()
    file.write_bytes(one * 1080)  # three hours, 43 MB
    monkeypatch.setattr(trial, "PROCESSOR", 0.5)  # four hours more would need what is taken away here
    found = trial.tried(file)
    assert found.has_audio and found.duration is not None and abs(found.duration - 3 * 3600_000_000) < 120_000_000


def test_a_file_is_tried_once_and_anew_when_it_changed(video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    file = video("a.mp4", frames=10)
    trial.tried(file)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert trial.tried(file).width == 160
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(TypeError):
        trial.tried(file)


def test_what_the_child_refuses_is_refused_here(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_text("Dear Sir or Madam,\n" * 100)
    with pytest.raises(SourceUnreadable, match="not a video or sound file") as caught:
        trial.tried(tmp_path / "a.mp4")
    assert caught.value.hint
    with pytest.raises(SourceMissing):
        trial.tried(tmp_path / "none.mp4")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="made with limits of POSIX")
def test_a_table_that_would_fill_the_memory_is_refused(video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    data = video("a.mp4", frames=10).read_bytes()
    many = 1 << 26
    data = box(data, b"stsz", struct.pack(">III", 0, 1, many))
    data = box(data, b"stsc", struct.pack(">IIIII", 0, 1, 1, many, 1))
    data = box(data, b"stts", struct.pack(">IIII", 0, 1, many, 1))
    file = video("b.mp4", frames=1)
    file.write_bytes(data)
    assert len(data) < 10_000
    began = time.monotonic()
    with pytest.raises(SourceUnreadable, match=r"needs more memory than a video should|takes longer") as caught:
        trial.tried(file)
    assert "\n" not in caught.value.line() and time.monotonic() - began < 40


def test_attachments_that_would_fill_the_memory_are_refused(video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    file = video("a.mkv", frames=10)
    data = file.read_bytes()
    at = data.index(b"\x1f\x43\xb6\x75")
    file.write_bytes(data[:at] + attachment(60_000_000) + data[at:])
    monkeypatch.setattr(trial, "START", trial.START.replace("sys.exit", "import m3desk.media.trial as t; t.OPENING = 50 << 20; sys.exit"))
    with pytest.raises(SourceUnreadable, match="needs more memory than a video should"):
        trial.tried(file)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_header_that_takes_minutes_is_refused(video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    file = video("a.mkv", frames=10)
    data = file.read_bytes()
    at = data.index(b"\x1f\x43\xb6\x75")
    file.write_bytes(data[:at] + tags(60_000) + data[at:])
    monkeypatch.setattr(trial, "PROCESSOR", 1.0)
    with pytest.raises(SourceUnreadable, match="takes longer to open than a video should"):
        trial.tried(file)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_decoder_that_crashes_is_told_in_a_line(video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "START", "import os, signal; os.write(1, b'ready\\n'); os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(SourceUnreadable, match=r"makes the decoder fail \(signal 11\)"):
        trial.tried(video("a.mp4", frames=10))


def test_where_no_child_can_be_started_the_file_is_looked_at_here(video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "START", "raise SystemExit(3)")
    assert trial.tried(video("a.mp4", frames=10)).width == 160
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert trial.tried(video("b.mp4", frames=10)).width == 160
