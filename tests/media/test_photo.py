"""Photos are checked before they are decoded: pictures that would fill the memory, and files that are no photo, are refused."""

from __future__ import annotations

import io
import os
import struct
import sys
import zlib
from functools import cache
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from m3desk.errors import M3DeskError, ModelFailed, SourceMissing, SourceUnreadable
from m3desk.evaluation.truth import read_truth
from m3desk.media import photo
from m3desk.media.streams import stored_sound
from m3desk.perception.voices import flac
from m3desk.samples.reembedding import decode

pytestmark = pytest.mark.timeout(20)

PICTURE = np.full((48, 64, 3), 90, np.uint8)


def encoded(ending: str) -> bytes:
    done, data = cv2.imencode(ending, PICTURE)
    assert done
    return bytes(data)


def png(width: int, height: int) -> bytes:
    """Return a PNG of one colour, as small as deflate makes it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    row = bytes(1 + (width + 7) // 8)
    packed = b"".join(packer.compress(row) for _ in range(min(height, 2000))) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@cache
def huge() -> dict[str, bytes]:
    """Return small files that declare 60,000 × 60,000 (or as much as their format can)."""
    jpg = encoded(".jpg")
    jpeg = jpg.replace(struct.pack(">HH", 48, 64), struct.pack(">HH", 60_000, 60_000), 1)
    bmp = bytearray(encoded(".bmp"))
    struct.pack_into("<ii", bmp, 18, 60_000, 60_000)
    tiff = bytearray(encoded(".tiff"))
    at = struct.unpack_from("<I", tiff, 4)[0]
    for entry in range(at + 2, at + 2 + 12 * struct.unpack_from("<H", tiff, at)[0], 12):
        if struct.unpack_from("<H", tiff, entry)[0] in (256, 257):
            struct.pack_into("<HII", tiff, entry + 2, 4, 1, 60_000)
    return {
        "a.png": png(60_000, 60_000),
        "wide.png": png(1_000_000, 1_000),
        "a.jpg": jpeg,
        "a.bmp": bytes(bmp),
        "a.tiff": bytes(tiff),
        "a.ppm": b"P6\n60000 60000\n255\n" + bytes(1000),
    }


@pytest.mark.parametrize("name", ["a.png", "wide.png", "a.jpg", "a.bmp", "a.tiff", "a.ppm"])
def test_a_bomb_is_refused_by_its_header(tmp_path: Path, name: str) -> None:
    content = huge()[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceUnreadable, match=r"is too large: [\d,]+ × [\d,]+ pixels, where 64 million are read") as caught:
        photo.read(tmp_path / name)
    assert "\n" not in caught.value.line()
    assert photo.stored(content) is None


@pytest.mark.parametrize("ending", [".jpg", ".png", ".webp", ".bmp", ".tiff", ".ppm"])
def test_photos_are_read(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"a{ending}").write_bytes(encoded(ending))
    found = photo.read(tmp_path / f"a{ending}")
    assert found.shape == (48, 64, 3) and np.abs(found.astype(int) - 90).max() < 5
    assert photo.stored(encoded(ending)) is not None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GIF89a" + bytes(50),
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"#?RADIANCE\n",
        encoded(".jpg")[:200],
        b"\xff\xd8\xff\xe0",
    ],
)
def test_what_is_no_photo_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.jpg").write_bytes(content)
    with pytest.raises(SourceUnreadable, match=r"is empty|picture that can be read"):
        photo.read(tmp_path / "a.jpg")
    assert photo.stored(content) is None


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of POSIX")
def test_pipes_and_devices_are_no_photos_and_no_truths(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jpg")
    for path, words in ((tmp_path / "a.jpg", "a named pipe"), (Path("/dev/zero"), "a device"), (tmp_path, "a folder")):
        with pytest.raises(SourceUnreadable, match=words):
            photo.read(path)
        with pytest.raises(M3DeskError, match=words):
            read_truth(path)
    with pytest.raises(SourceMissing):
        photo.read(tmp_path / "no.jpg")


def test_a_stored_snippet_is_flac_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_bytes(bytes(188))
    for content in (f"#EXTM3U\n#EXTINF:5,\n{tmp_path}/a.ts\n".encode(), b"ffconcat version 1.0\n", b"", encoded(".png")):
        with pytest.raises(ModelFailed):
            decode(content)
    assert len(decode(flac(np.zeros(16_000, np.float32)))) == 16_000


@pytest.mark.slow
def test_a_stored_snippet_of_hours_is_cut(tmp_path: Path) -> None:
    out = io.BytesIO()
    with av.open(out, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=16_000, layout="mono")
        block = av.AudioFrame.from_ndarray(np.zeros((1, 65_535), np.int16), format="s16", layout="mono")
        block.sample_rate = 16_000
        for k in range(400):
            block.pts = k * 65_535
            container.mux(stream.encode(block))
        container.mux(stream.encode())
    assert len(out.getvalue()) < 400_000
    assert len(stored_sound(out.getvalue())) <= 400 * 48_000
