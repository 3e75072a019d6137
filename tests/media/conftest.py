"""Makes tiny videos whose pictures carry their own number, so that a test can tell which frame it was given."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

SIDE = 16
BITS = 10
WIDTH, HEIGHT = SIDE * BITS, 96


def numbered(number: int) -> NDArray[np.uint8]:
    """Return a (96, 160, 3) picture: the top 48 rows are the bits of `number`, lowest left; the lower left corner is grey."""
    picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    for bit in range(BITS):
        if number >> bit & 1:
            picture[: HEIGHT // 2, bit * SIDE : (bit + 1) * SIDE] = 255
    picture[HEIGHT // 2 :, : WIDTH // 2] = 128
    return picture


def number_of(picture: NDArray[np.uint8]) -> int:
    """Read the number of a displayed, upright picture of any size."""
    h, w = picture.shape[:2]
    row = picture[h // 4].astype(int).sum(1) / picture.shape[2]
    return sum(1 << bit for bit in range(BITS) if row[int((bit + 0.5) * w / BITS)] > 100 + (picture.shape[2] == 4) * 40)


def tone(seconds: float, rate: int, at: float = 0.0) -> NDArray[np.float32]:
    """Return a sound whose shape tells the time: a 440 Hz tone whose loudness climbs within each second."""
    t = at + np.arange(round(seconds * rate)) / rate
    return (0.6 * (t % 1.0) * np.sin(2 * np.pi * 440 * t)).astype(np.float32)


def make_video(
    path: Path,
    *,
    times: Sequence[float] | None = None,
    frames: int = 100,
    fps: int = 25,
    codec: str = "libx264",
    gop: int = 50,
    sound: float | None = None,
    sound_codec: str = "aac",
    rate: int = 44_100,
    sound_at: float = 0.0,
    picture_at: float = 0.0,
    faststart: bool = False,
) -> Path:
    """Write a file with frames 0, 1, 2 … at `times` (seconds; default k / fps), and `sound` seconds of `tone` (None: no sound)."""
    options = {"movflags": "faststart"} if faststart else {}
    with av.open(str(path), "w", options=options) as out:
        video = voice = None
        if frames:
            video = out.add_stream(codec, rate=fps)
            video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
            video.codec_context.gop_size = gop
            video.codec_context.time_base = Fraction(1, fps if times is None else 1000)
        if sound is not None:
            voice = out.add_stream(sound_codec, rate=rate, layout="mono")
        if video is not None:
            for k, at in enumerate(times if times is not None else [k / fps for k in range(frames)]):
                frame = av.VideoFrame.from_ndarray(numbered(k), format="bgr24")
                frame.pts, frame.time_base = round((at + picture_at) * 1000), Fraction(1, 1000)
                out.mux(video.encode(frame))
            out.mux(video.encode())
        if voice is not None and sound is not None:
            samples = tone(sound, rate)
            size = voice.codec_context.frame_size or 1024
            sort = voice.codec_context.format.name
            for start in range(0, len(samples), size):
                piece = samples[start : start + size][None]
                if sort.startswith("s"):
                    kind = np.int16 if "16" in sort else np.int32
                    piece = (piece.astype(np.float64) * np.iinfo(kind).max).astype(kind)
                block = av.AudioFrame.from_ndarray(np.ascontiguousarray(piece), format=sort, layout="mono")
                block.sample_rate, block.time_base = rate, Fraction(1, rate)
                block.pts = start + round(sound_at * rate)
                out.mux(voice.encode(block))
            out.mux(voice.encode())
    return path


def rotate(path: Path, matrix: tuple[int, int, int, int]) -> Path:
    """Write a display matrix (a, b, c, d as whole numbers) into the first track header of an MP4 file."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4 + 4 + 20 + 8 + 8
    a, b, c, d = (v * 65536 for v in matrix)
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(bytes(data))
    return path


@pytest.fixture
def video(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes a video in this test's folder: name, then `make_video`'s settings."""
    return lambda name, **settings: make_video(tmp_path / name, **settings)
