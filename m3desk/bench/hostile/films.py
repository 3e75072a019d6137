"""Small films, sounds and photos, and functions that damage them."""

from __future__ import annotations

import random
import struct
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

SECONDS = 2
WIDTH, HEIGHT, RATE = 96, 64, 10

CODECS = {
    "mp4": ("libx264", "aac"),
    "mov": ("mjpeg", "pcm_s16le"),
    "mkv": ("libx264", "aac"),
    "webm": ("libvpx", "libopus"),
    "avi": ("mpeg4", "libmp3lame"),
    "ts": ("mpeg2video", "mp2"),
    "flv": ("flv", "libmp3lame"),
    "hevc.mp4": ("libx265", "aac"),
    "vp9.mkv": ("libvpx-vp9", "flac"),
    "lossless.avi": ("utvideo", "pcm_s16le"),
    "animation.gif": ("gif", None),
    "mp3": (None, "libmp3lame"),
    "flac": (None, "flac"),
    "ogg": (None, "libopus"),
    "m4a": (None, "aac"),
    "aac": (None, "aac"),
}
"""Endings, with the codecs of picture and sound."""


def films(folder: Path) -> list[Path]:
    """Write one small film or sound of each kind that this FFmpeg can write; return them."""
    made = []
    for ending, (picture, sound) in CODECS.items():
        path = folder / f"whole.{ending}"
        try:
            _film(path, picture, sound)
        except (av.FFmpegError, ValueError):  # this FFmpeg lacks an encoder
            path.unlink(missing_ok=True)
        else:
            made.append(path)
    with wave.open(str(folder / "whole.wav"), "wb") as out:
        out.setparams((1, 2, 16_000, 0, "NONE", ""))
        out.writeframes((_tone(16_000) * 32_000).astype("<i2").tobytes())
    return [*made, folder / "whole.wav"]


def photos(folder: Path) -> list[Path]:
    """Write one small photo of each kind; return them."""
    made = []
    for ending in ("jpg", "png", "webp", "bmp", "tiff", "ppm"):
        path = folder / f"whole.{ending}"
        done, data = cv2.imencode(path.suffix, picture(3))
        if done:
            path.write_bytes(data.tobytes())
            made.append(path)
    return made


def picture(k: int) -> np.ndarray:
    """Return (HEIGHT, WIDTH, 3) uint8 BGR: a disc that moves over a slope."""
    slope = np.linspace(30, 220, WIDTH, dtype=np.uint8)
    shown = np.repeat(np.repeat(slope[None, :, None], HEIGHT, 0), 3, 2).copy()
    cv2.circle(shown, (10 + 4 * k % WIDTH, HEIGHT // 2), 9, (40, 40, 200), -1)
    return shown


def _tone(rate: int) -> np.ndarray:
    return 0.3 * np.sin(2 * np.pi * 220 * np.arange(SECONDS * rate) / rate)


def _film(path: Path, picture_codec: str | None, sound_codec: str | None) -> None:
    with av.open(str(path), "w") as out:
        video: Any = None
        voice: Any = None
        if picture_codec:
            video = out.add_stream(picture_codec, rate=RATE)
            video.width, video.height = WIDTH, HEIGHT
            video.pix_fmt = {"gif": "rgb8", "mjpeg": "yuvj420p"}.get(picture_codec, "yuv420p")
            video.codec_context.gop_size = 8
            if picture_codec == "libx265":
                video.codec_context.options = {"x265-params": "log-level=none"}
        if sound_codec:
            rate = 48_000 if sound_codec == "libopus" else 44_100 if picture_codec == "flv" else 16_000
            voice = out.add_stream(sound_codec, rate=rate, layout="mono")
        for k in range(SECONDS * RATE if video is not None else 0):
            frame = av.VideoFrame.from_ndarray(picture(k), format="bgr24").reformat(format=video.pix_fmt)
            frame.pts = k
            out.mux(video.encode(frame))
        if video is not None:
            out.mux(video.encode())
        if voice is not None:
            _sound(out, voice)


def _sound(out: Any, voice: Any) -> None:
    rate = voice.codec_context.sample_rate
    samples = _tone(rate).astype(np.float32)
    size, sort = voice.codec_context.frame_size or 1024, voice.codec_context.format.name
    for at in range(0, len(samples), size):
        piece = samples[None, at : at + size]
        if sort.startswith("s"):
            whole = np.int16 if "16" in sort else np.int32
            piece = (piece.astype(np.float64) * np.iinfo(whole).max).astype(whole)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(piece), format=sort, layout="mono")
        frame.sample_rate, frame.pts = rate, at
        out.mux(voice.encode(frame))
    out.mux(voice.encode())


# ---------------------------------------------------------------- ways of damage

Damage = Callable[[bytearray, random.Random], bytearray]

EXTREMES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 50_000_000, 60_000)

# Where headers of the formats begin: lengths, rates, sizes, tables and time stamps lie behind these marks.
MARKS = (
    b"mvhd", b"mdhd", b"tkhd", b"stts", b"stsz", b"stsc", b"stco", b"ctts", b"elst", b"stsd", b"avcC", b"avc1", b"hvc1", b"mp4a", b"esds",
    b"stss", b"trak", b"moov", b"mdat", b"ftyp", b"dref", b"hdlr", b"udta",
    b"\x44\x89", b"\x2a\xd7\xb1", b"\xb5", b"\xb0", b"\xba", b"\xe7", b"\xa3", b"\x9b", b"\x1f\x43\xb6\x75", b"\x16\x54\xae\x6b",
    b"\x63\xa2", b"\x23\xe3\x83", b"DURATION",
    b"avih", b"strh", b"strf", b"idx1", b"movi", b"00dc", b"01wb", b"fmt ", b"data", b"RIFF", b"LIST",
    b"\x00\x00\x01\xb3", b"\x00\x00\x01\xe0", b"\x00\x00\x01\xc0", b"\x00\x00\x01\x67", b"\x00\x00\x01\xb6", b"\x47\x40", b"\x9d\x01\x2a",
    b"fLaC", b"OggS", b"OpusHead", b"ID3", b"Xing", b"Info", b"\xff\xfb", b"\xff\xf1", b"onMetaData", b"duration", b"GIF89a", b"IHDR",
    b"\xff\xc0", b"\xff\xc2", b"\xff\xe1", b"\xff\xda", b"VP8 ", b"VP8L", b"II*\x00", b"P6",
)  # fmt: skip


def flip(data: bytearray, chance: random.Random) -> bytearray:
    """Change up to 40 single bytes anywhere."""
    for _ in range(chance.choice((1, 3, 10, 40))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return data


def flip_header(data: bytearray, chance: random.Random) -> bytearray:
    """Change single bits near either end, where headers and indexes are."""
    near = min(len(data), 1500)
    for _ in range(chance.choice((1, 2, 8))):
        at = chance.randrange(near)
        data[at if chance.random() < 0.6 else len(data) - 1 - at] ^= 1 << chance.randrange(8)
    return data


def lie(data: bytearray, chance: random.Random) -> bytearray:
    """Write extreme numbers behind marks of headers: lengths, rates, sizes, counts, time stamps."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        there = [m for m in MARKS if m in data]
        if not there:
            return flip(data, chance)
        mark = chance.choice(there)
        places: list[int] = []
        at = -1
        while (at := data.find(mark, at + 1)) >= 0 and len(places) < 50:
            places.append(at)
        at = chance.choice(places) + len(mark) + chance.choice((0, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36))
        form = chance.choice((">I", "<I", ">H", "<H", "B", ">d", ">Q"))
        value = chance.choice((1e12, 1e300, float("inf"), float("nan"), -1e9, 5e7)) if form == ">d" else chance.choice(EXTREMES)
        size = struct.calcsize(form)
        if at + size <= len(data):
            struct.pack_into(form, data, at, value if form == ">d" else int(value) % (1 << 8 * size))
    return data


def cut(data: bytearray, chance: random.Random) -> bytearray:
    """Keep only a beginning."""
    return data[: chance.randrange(1, len(data))]


def behead(data: bytearray, chance: random.Random) -> bytearray:
    """Lose a beginning."""
    return data[chance.randrange(1, len(data)) :]


def blank(data: bytearray, chance: random.Random) -> bytearray:
    """Overwrite a part with one byte, or with noise."""
    length = chance.randrange(1, max(2, len(data) // 3))
    at = chance.randrange(len(data))
    stretch = chance.randbytes(length) if chance.random() < 0.4 else bytes([chance.choice((0, 0xFF, 0x41))]) * length
    data[at : at + length] = stretch[: len(data) - at]
    return data


def swap(data: bytearray, chance: random.Random) -> bytearray:
    """Exchange two stretches."""
    length = chance.randrange(1, max(2, len(data) // 4))
    a, b = sorted(chance.randrange(max(1, len(data) - length)) for _ in range(2))
    first, second = data[a : a + length], data[b : b + length]
    data[b : b + length] = first
    data[a : a + length] = second
    return data


def repeat(data: bytearray, chance: random.Random) -> bytearray:
    """Insert a part again, up to 50 times."""
    length = chance.randrange(1, max(2, min(2000, len(data) // 3)))
    at = chance.randrange(len(data))
    return data[:at] + data[at : at + length] * chance.choice((1, 2, 50)) + data[at:]


def boxes(data: bytearray, chance: random.Random) -> bytearray:
    """Shuffle, drop or repeat the outer boxes of an MP4."""
    found = list(_boxes(bytes(data)))
    if len(found) < 2:
        return swap(data, chance)
    how = chance.randrange(3)
    if how == 0:
        chance.shuffle(found)
    elif how == 1:
        found.pop(chance.randrange(len(found)))
    else:
        found.insert(chance.randrange(len(found)), chance.choice(found))
    return bytearray(b"".join(found))


def _boxes(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if not 8 <= size <= len(data) - at:
            break
        yield data[at : at + size]
        at += size
    if data[at:]:
        yield data[at:]


DAMAGES: tuple[Damage, ...] = (flip, flip, flip_header, flip_header, lie, lie, lie, cut, behead, blank, swap, repeat, boxes)


def damaged(whole: bytes, other: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Return a damaged copy and what was done to it; `other`: a file that may be joined on."""
    data, done = bytearray(whole), []
    for _ in range(chance.choice((1, 1, 2, 3))):
        if not data:
            break
        damage = chance.choice(DAMAGES)
        data = damage(data, chance)
        done.append(damage.__name__)
    if chance.random() < 0.05:
        at = chance.randrange(len(data) + 1)
        data = data[:at] + other + data[at:]
        done.append("join")
    return "+".join(done), bytes(data)
