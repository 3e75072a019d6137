"""Makes the films that the player is measured on: each picture carries its number, and a square that moves with it.

They are what makes seeking hard: key frames far apart or only one, variable rates, rotation, no index, pictures that refer forward.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk.media.streams import frame_time, open_media

BITS = 14
FRAME_RATE = 25

SWEEP = 80
"""Pictures in which the square crosses the picture, then it goes back."""
SIDE = 0.1
"""The square's side, as a share of the picture's height."""


@dataclass(frozen=True, slots=True)
class Film:
    """One film. `times`: microseconds at which picture 0, 1, 2 … are shown. `numbered`: the pictures carry their numbers.

    `turns`: by how many quarters, counter-clockwise, a picture as displayed is turned so that its number can be read.
    """

    path: Path
    what: str
    times: tuple[int, ...]
    numbered: bool = True
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one film is made. `pace`: seconds at which each picture is shown, of its number; default: 25 a second.

    `gop`: pictures from one key frame to the next. `delay`: seconds by which all pictures are shown later: AVI knows no times, so where
    pictures refer forward FFmpeg's are late by one.
    """

    name: str
    what: str
    seconds: float = 20.0
    width: int = 1280
    height: int = 720
    codec: str = "libx264"
    gop: int = 250
    format: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    container: dict[str, str] = field(default_factory=dict)
    pace: Callable[[int], float] | None = None
    matrix: tuple[int, int, int, int] | None = None
    delay: float = 0.0


def _uneven(number: int) -> float:
    """Return times of a camera that takes fewer pictures in the dark: 30, then 8 a second, and now and then a pause of 2 s."""
    block, rest = divmod(number, 76)
    return block * 6.0 + (rest / 30 if rest < 60 else 2.0 + (rest - 60) / 8)


_QUICK = {"preset": "ultrafast", "crf": "30"}
QUARTER, HALF = (0, 1, -1, 0), (-1, 0, 0, -1)
_LIVE = {"live": "1"}
_PIECES = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
_HEVC = {"preset": "ultrafast", "x265-params": "log-level=none"}
_VPX = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"}
RECIPES = (
    Recipe("gop250.mp4", "1280×720, a key frame each 10 s", options=_QUICK | {"bf": "3"}),
    Recipe("one_key.mp4", "10 minutes of 640×360, one key frame", 600.0, 640, 360, gop=100_000, options=_QUICK, pace=lambda n: n / 5),
    Recipe("one_key_720.mp4", "60 s of 1280×720, one key frame", 60.0, gop=100_000, options=_QUICK),
    Recipe("one_key.webm", "40 s of VP8 in WebM, one key frame", 40.0, 640, 360, "libvpx", 100_000, options=_VPX),
    Recipe("uneven.mp4", "variable rate", 30.0, 640, 360, options=_QUICK, pace=_uneven),
    Recipe("uneven.mkv", "variable rate, Matroska", 30.0, 640, 360, options=_QUICK, pace=_uneven),
    Recipe("turned_90.mp4", "turned by 90°", 10.0, options=_QUICK, matrix=QUARTER),
    Recipe("turned_180.mp4", "turned by 180°", 10.0, 640, 360, options=_QUICK, matrix=HALF),
    Recipe("transport.ts", "MPEG-TS, which has no index", 20.0, 640, 360, options=_QUICK),
    Recipe("raw.h264", "H.264 without a container: no index, no times", 10.0, 640, 360, options=_QUICK),
    Recipe("live.mkv", "Matroska written live: no index, no length", 20.0, 640, 360, format="matroska", options=_QUICK, container=_LIVE),
    Recipe("pieces.mp4", "fragmented MP4", 20.0, 640, 360, options=_QUICK, container=_PIECES),
    Recipe("old.avi", "MPEG-4 in AVI, pictures that refer forward", 20.0, 640, 360, "mpeg4", 300, options={"bf": "2"}, delay=0.04),
    Recipe("open.mkv", "H.264, open groups of pictures", 12.0, 640, 360, gop=50, options=_QUICK | {"bf": "3", "x264-params": "open-gop=1"}),
    Recipe("large.mp4", "1920×1080, a key frame each 10 s", 11.0, 1920, 1080, options=_QUICK),
    Recipe("hevc.mp4", "HEVC, a key frame each 10 s", 8.0, 640, 360, "libx265", 200, options=_HEVC),
)


def make(folder: Path, recipe: Recipe) -> Film:
    """Write one film."""
    path = folder / recipe.name
    times = []
    with av.open(str(path), "w", format=recipe.format, options=recipe.container) as out:
        stream: Any = out.add_stream(recipe.codec, rate=FRAME_RATE, options=recipe.options)
        stream.width, stream.height, stream.pix_fmt = recipe.width, recipe.height, "yuv420p"
        stream.codec_context.gop_size = recipe.gop
        if recipe.pace is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        for number, picture in enumerate(_pictures(recipe.width, recipe.height)):
            at = recipe.pace(number) if recipe.pace is not None else number / FRAME_RATE
            if at >= recipe.seconds:
                break
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = round(at * 1000), Fraction(1, 1000)
            times.append(round((at + recipe.delay) * 1000) * 1000)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    if recipe.matrix is not None:
        _turn(path, recipe.matrix)
    turns = {None: 0, QUARTER: 1, HALF: 2}[recipe.matrix]
    return Film(path, recipe.what, tuple(times), turns=turns)


def _pictures(width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures 0, 1, 2 … in YUV 4:2:0: a ground that moves slowly, the number at the top, the square."""
    dice = np.random.default_rng(1)
    rough = dice.integers(70, 170, (height // 8, width // 4), np.uint8).repeat(8, axis=0).repeat(8, axis=1)
    whole = np.full((height * 3 // 2, width), 128, np.uint8)
    side = round(SIDE * height)
    for number in range(1 << BITS):
        shift = number // 5 % width
        whole[:height] = rough[:height, shift : shift + width]
        bits = (number >> np.arange(BITS) & 1).astype(np.uint8) * 255
        edges = np.linspace(0, width, BITS + 1).round().astype(int)
        whole[: height // 8] = np.repeat(bits, np.diff(edges))
        x, y = square(number, width, height)
        whole[y : y + side, x : x + side] = 255
        yield whole


def square(number: int, width: int, height: int) -> tuple[int, int]:
    """Return the upper left corner of the square in a picture."""
    step = round(width * 0.8 / SWEEP)
    turn = number % (2 * SWEEP)
    return round(width * 0.05) + step * (turn if turn <= SWEEP else 2 * SWEEP - turn), height // 2


def number_of(picture: NDArray[np.uint8]) -> int:
    """Read the number of an upright grey picture (h, w) of any size."""
    height, width = picture.shape
    row = picture[height // 16]
    return sum(1 << bit for bit in range(BITS) if row[int((bit + 0.5) * width / BITS)] > 128)


def _turn(path: Path, matrix: tuple[int, int, int, int]) -> None:
    """Write a display matrix (a, b, c, d) into the first track header of an MP4 file."""
    content = bytearray(path.read_bytes())
    at = content.index(b"tkhd") + 4 + 4 + 20 + 8 + 8
    a, b, c, d = (v * 65536 for v in matrix)
    content[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(bytes(content))


def real(path: Path, size: tuple[int, int]) -> tuple[Film, list[NDArray[np.uint8]]]:
    """Return a film of somebody else and its pictures, decoded from the beginning: grey, shrunk to `size`."""
    times: list[int] = []
    pictures = []
    with open_media(path) as opened:
        for frame in opened.container.decode(video=0):
            times.append(frame_time(opened, frame, times[-1] if times else None))
            pictures.append(np.asarray(cv2.resize(frame.to_ndarray(format="gray"), size, interpolation=cv2.INTER_AREA), np.uint8))
    return Film(path, path.name, tuple(times), False), pictures
