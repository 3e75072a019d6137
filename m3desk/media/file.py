"""Properties of a video or sound file: length, size, kind, fingerprint, and up to what time it can be read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import av

from m3desk.domain.clip import MICROSECOND, Source
from m3desk.errors import Cancelled, SourceMissing, SourceUnreadable
from m3desk.media import length
from m3desk.media.capture.recording import Recording, is_recording
from m3desk.media.streams import Kind, OpenContainer, audible, open_media, orientation, square_size
from m3desk.regular import is_regular, open_regular

MEDIA_ENDINGS = frozenset((
    ".3g2", ".3gp", ".aac", ".avi", ".flac", ".flv", ".m2ts", ".m4a", ".m4v", ".mka", ".mkv", ".mov", ".mp3", ".mp4", ".mpeg", ".mpg",
    ".mts", ".mxf", ".oga", ".ogg", ".ogv", ".opus", ".ts", ".vob", ".wav", ".webm", ".wma", ".wmv",
))  # fmt: skip
"""File name endings that a folder is searched for. A file given by name is tried whatever its ending."""

# A first frame comes within a few packets; where 500 give none, the stream cannot be decoded.
_TRIED_PACKETS = 500


def probe(path: str | Path, warn: Callable[[str], None] = lambda _text: None, is_open: Callable[[], None] = lambda: None) -> Source:
    """Return the properties of a file or recording as a Source, with `id` and `sha256` left empty. `uri`: its absolute path.

    `warn` is called if it declares more than it holds; `is_open` is called before the first picture is decoded.
    For untrusted files use `trial.tried`.

    Raises SourceMissing, SourceUnreadable.
    """
    file = Path(path).absolute()
    with open_media(file) as opened:
        is_open()
        size = _picture_size(opened)
        sound = _first_frame(opened, "sound") is not None
        if size is None and not sound:
            hint = "Copy or download it again, or convert it to .mp4 of at most 8192 × 4352 pixels."
            raise SourceUnreadable(f"Nothing in {file.name} can be decoded.", hint)
        long = length.measured(opened)
        if text := long.told(file.name):
            warn(text)
        recording = opened.recording
        rate: Any = None
        if recording is not None:
            rate = recording.about.fps if size else None
        elif size and opened.picture is not None:
            rate = opened.picture.average_rate or opened.picture.guessed_rate
        return Source(
            id="",
            uri=str(file),
            duration=long.there,
            width=size[0] if size else None,
            height=size[1] if size else None,
            fps=round(float(rate), 3) if rate else None,
            has_audio=sound,
            sha256=None,
            started_at=recording.about.started_at if recording is not None else None,
            bytes=recording.bytes if recording is not None else file.stat().st_size,
        )


def _first_frame(opened: OpenContainer, kind: Kind) -> Any | None:
    """Return the first frame that can be decoded, from the start of the file; None if none can."""
    if opened.stream(kind) is None:
        return None
    opened.rewind()
    for packet in islice(opened.packets(kind), _TRIED_PACKETS):
        try:
            frames = packet.decode()
        except (av.FFmpegError, OSError):
            continue
        if frames and (kind == "picture" or audible(frames[0].sample_rate)):
            return frames[0]
    return None


def _picture_size(opened: OpenContainer) -> tuple[int, int] | None:
    """Return the displayed (width, height), or None if no picture can be decoded."""
    frame = _first_frame(opened, "picture")
    if frame is None:
        return None
    assert opened.picture is not None
    return orientation(frame).size(*square_size(frame.width, frame.height, opened.picture.sample_aspect_ratio))


def readable_until(path: str | Path, duration: int) -> int:
    """Return the time (microseconds) up to which a file of that declared length can be read: `duration` unless it is truncated.

    Checks the end first; if it is missing, finds the last readable packet by binary search (about 15 seeks per hour of video).
    """
    with open_media(path) as opened:
        if opened.recording is not None:
            return duration
        kind = length.main(opened)
        opened.seek(kind, duration - MICROSECOND)
        end = length.end_of_packets(opened)
        if end is None:
            low, high = 0, duration
            while high - low > MICROSECOND:
                middle = (low + high) // 2
                opened.seek(kind, middle)
                readable = any(packet.size for packet in islice(opened.packets("both"), 1))
                low, high = (middle, high) if readable else (low, middle)
            opened.seek(kind, low)
            end = length.end_of_packets(opened) or 0
        # Streams may end a little before the container says; a missing second is no damage.
        return duration if end > duration - MICROSECOND else end


def fingerprint(path: str | Path, cancelled: Callable[[], bool] = lambda: False) -> str:
    """Return the SHA-256 of a file as hex, read in pieces of 4 MB; of a recording, its `fingerprint`.

    Raises SourceMissing, SourceUnreadable, Cancelled.
    """
    file = Path(path)
    if is_recording(file):
        return Recording.open(file).fingerprint()
    digest = hashlib.sha256()
    try:
        with open_regular(file) as stream:
            while piece := stream.read(1 << 22):
                if cancelled():
                    raise Cancelled(f"Stopped while reading {file.name}.")
                digest.update(piece)
    except OSError as error:
        raise SourceUnreadable(f"{file.name} cannot be read: {error.strerror or error}.", "Check that you may read it.") from error
    return digest.hexdigest()


def is_there(path: str | Path) -> bool:
    """Return whether a source is there: a regular file or a recording."""
    return is_regular(path) or is_recording(path)


def media_files(folder: str | Path) -> list[Path]:
    """Return the media files directly in a folder, by name (case ignored); hidden ones are left out.

    Raises SourceMissing when there is no such folder, SourceUnreadable when there is nothing to use in it.
    """
    place = Path(folder).absolute()
    if not place.is_dir():
        raise SourceMissing(f"There is no folder {place}.", "Check the path and its spelling.")
    found = [f for f in place.iterdir() if f.suffix.lower() in MEDIA_ENDINGS and not f.name.startswith(".") and f.is_file()]
    if not found:
        raise SourceUnreadable(f"There is no video or sound file in {place}.", "Give a folder that holds some, or a file.")
    return sorted(found, key=lambda f: (f.name.casefold(), f.name))
