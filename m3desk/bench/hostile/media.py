"""Hostile video, sound and photos: damaged copies of small films, headers that lie, playlists, pipes, invalid file names."""

from __future__ import annotations

import os
import random
import shutil
import socket
import struct
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from m3desk.bench.hostile import films
from m3desk.bench.hostile.case import Case
from m3desk.store.memory import Memory

PLAYLISTS = (
    "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{0}\n#EXTINF:5,\n{0}\n#EXT-X-ENDLIST\n",
    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n{0}\n",
    "ffconcat version 1.0\nfile '{0}'\nfile '{0}'\n",
    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
    '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><BaseURL>{0}</BaseURL></Period></MPD>',
    ";FFMETADATA1\ntitle={0}\n",
    "[playlist]\nFile1={0}\nNumberOfEntries=1\n",
    "rtsp://127.0.0.1:9/{0}\n",
    "{0}\n" * 50,
)

NAMES = ("x.mp4", "x.m3u8", "x.ffconcat", "x.sdp", "x.mpd", "x.ts", "x%03d.mp4", "concat:x.mp4", "-x.mp4", "x", "x.jpg", "语é 🎬.mkv")


def cases(folder: Path, chance: random.Random) -> Iterator[Case]:
    """Give tries without end: four of five a damaged copy of a film that is memorized, the others photos, playlists and no files at all."""
    (folder / "whole").mkdir(parents=True)
    whole = [(p.name.removeprefix("whole."), p.read_bytes()) for p in films.films(folder / "whole")]
    shown = [(p.name.removeprefix("whole."), p.read_bytes()) for p in films.photos(folder / "whole")]
    known = folder / "known.m3desk"
    Memory.create(known).close()  # empty, and so open to the models of the settings
    for number in count():
        place = folder / f"{number}"
        place.mkdir()
        kind = chance.random()
        if kind < 0.78:
            yield _film(number, place, whole, chance)
        elif kind < 0.88:
            yield _photo(number, place, shown, whole, known, chance)
        else:
            yield _other(number, place, whole, chance)


def _memorize(number: int, what: str, place: Path, path: Path | str, chance: random.Random) -> Case:
    memory = place.with_name(f"{place.name}.m3desk")
    words = ["memorize", str(path), "-m", str(memory), "--no-semantic"]
    if chance.random() < 0.3:
        words += chance.choice(
            (["--clip-seconds", "5"], ["--fps", "30"], ["--fps", "0.2"], ["--start", "1"], ["--end", "1"], ["-q"], ["--json"])
        )
    return Case("media", f"{number} {what}", tuple(words), memory, True, (place,))


def _film(number: int, place: Path, whole: list[tuple[str, bytes]], chance: random.Random) -> Case:
    ending, content = chance.choice(whole)
    done, data = films.damaged(content, chance.choice(whole)[1], chance)
    path = place / f"film.{chance.choice(whole)[0] if chance.random() < 0.1 else ending}"
    path.write_bytes(data)
    return _memorize(number, f"{ending} {done}", place, path, chance)


def _photo(
    number: int, place: Path, shown: list[tuple[str, bytes]], whole: list[tuple[str, bytes]], known: Path, chance: random.Random
) -> Case:
    ending, content = chance.choice(shown)
    done, data = films.damaged(content, chance.choice(whole)[1], chance)
    if chance.random() < 0.15:
        ending, done, data = "png", "bomb", _bomb(chance)
    path = place / f"photo.{ending}"
    path.write_bytes(data)
    memory = place / "known.m3desk"
    shutil.copytree(known, memory)
    ask = (
        ("search", "nodes", "-m", str(memory), "--image", str(path))
        if chance.random() < 0.6
        else ("people", "enroll", "Ann", str(path), "-m", str(memory))
    )
    if chance.random() < 0.2:
        return _memorize(number, f"photo {ending} {done}", place, path, chance)
    return Case("media", f"{number} photo {ending} {done}", ask, memory, False, (place,))


def _bomb(chance: random.Random) -> bytes:
    """Return a small PNG of many pixels."""
    width, height = chance.choice(((60_000, 60_000), (1_000_000, 1_000), (20_000, 20_000), (8_000, 7_999), (1, 1_000_000), (0, 0)))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packed = zlib.compress(bytes(1 << 20), 9)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
        + chunk(b"IDAT", packed)
        + chunk(b"IEND", b"")
    )


def _other(number: int, place: Path, whole: list[tuple[str, bytes]], chance: random.Random) -> Case:
    """Give playlists, pipes, sockets, links, folders, other formats, and whole films under names that are no text."""
    ending, content = chance.choice(whole)
    (place / "real.ts").write_bytes(dict(whole).get("ts", content))
    path: Path | str = place / chance.choice(NAMES)
    how = chance.choice(("playlist", "playlist", "playlist", "pipe", "socket", "link", "folder", "name", "text", "gone"))
    if how == "playlist":
        text = chance.choice(PLAYLISTS).format(
            chance.choice((Path(path).name, "real.ts", str(place / "real.ts"), "/dev/zero", "/etc/passwd"))
        )
        Path(path).write_text(text)
    elif how == "pipe" and hasattr(os, "mkfifo"):
        os.mkfifo(path)
    elif how == "socket" and hasattr(socket, "AF_UNIX") and len(str(path)) < 90:
        with socket.socket(socket.AF_UNIX) as ear:
            ear.bind(str(path))
    elif how == "link":
        Path(path).symlink_to(chance.choice(("/dev/zero", "/dev/tty", "/proc/self/mem", "/proc/kmsg", str(path), str(place), "real.ts")))
    elif how == "folder":
        Path(path).mkdir()
        for k in range(3):
            (Path(path) / f"{k}.{ending}").write_bytes(films.damaged(content, content, chance)[1])
        if hasattr(os, "mkfifo"):
            os.mkfifo(Path(path) / "pipe.mp4")
    elif how == "name":
        odd = chance.choice(
            (b"\xff\xfe.mp4", b"caf\xe9.mkv", b"\x1b[31m.mp4", b"a\nb.ts", b"\xe2\x80\xae4pm.mp4", b"a'b\"c;d.mp4", b"%s%n.mp4")
        )
        path = os.fsdecode(os.fsencode(place) + b"/" + odd)
        Path(path).write_bytes(content)
        how = f"name {odd!r} {ending}"
    elif how == "text":
        Path(path).write_text("Dear Sir or Madam,\n" * chance.choice((1, 400)))
    return _memorize(number, how, place, path, chance)
