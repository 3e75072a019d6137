"""Decides where an export may be written: never into a memory, never over an existing file unasked; writes atomically."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from m3desk.errors import UsageError

TRUTH = "memory.sqlite"
"""The file by which a folder is known as a memory (`store.memory.FILE`)."""

EMBEDDINGS = "embeddings.f32"
"""The file by which a media folder is known as an export's."""

_OURS = re.compile(r"[0-9a-f]{64}\.[a-z0-9]{1,8}|embeddings\.(f32|json)")
"""The names that `exports.write_media` gives."""


def target(output: str | Path) -> Path:
    """Return the file that an export to `output` writes, with links resolved. Raises UsageError if it may not be written."""
    given = Path(output)
    try:
        place = Path(os.path.realpath(given))
        kind = _kind(place)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file can have this name"
        raise UsageError(f"{output} can't be written ({why}).", "Give another name with -o.") from error
    if str(output).endswith(("/", os.sep)) or (kind is not None and stat.S_ISDIR(kind)):
        raise UsageError(f"{output} is a folder.", "Give the name of a file, such as -o memory.json.")
    if kind is not None and not stat.S_ISREG(kind):
        raise UsageError(f"{output} is no ordinary file.", "Give the name of a file, or -o - for standard output.")
    for folder in place.parents:
        if os.path.lexists(folder / TRUTH):
            raise UsageError(
                f"{output} would be inside of the memory {folder}.", "Choose a place outside of it: nothing else is kept there."
            )
    if not place.parent.is_dir():
        raise UsageError(f"there is no folder {given.parent}.", "Make it first, or give another name with -o.")
    return place


def _kind(place: Path) -> int | None:
    try:
        return place.lstat().st_mode
    except FileNotFoundError:
        return None


def media_folder(path: Path) -> Path:
    """Return the folder beside a .json that holds its crops, speech and embeddings."""
    return path.with_name(path.stem + ".media")


def in_the_way(output: str | Path, *, with_media: bool = False) -> list[Path]:
    """Return what an export to `output` would replace: the file, and with media an earlier export's folder.

    Raises UsageError for what may never be replaced: a memory, or a folder that holds anything but an export's media.
    """
    if str(output) == "-":
        return []
    place = target(output)
    found = [place] if place.exists() else []
    if with_media and os.path.lexists(folder := media_folder(place)):
        if not _is_ours(folder):
            raise UsageError(f"{folder} is there already and is no export of M3Desk.", "Move it away, or give -o another name.")
        if any(folder.iterdir()):
            found.append(folder)
    return found


def _is_ours(folder: Path) -> bool:
    """Return whether a folder may be replaced: it is empty, or holds only the files of an earlier export."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    names = [p.name for p in folder.iterdir()]
    return not names or (EMBEDDINGS in names and all(_OURS.fullmatch(n) for n in names))


@contextlib.contextmanager
def beside(place: Path) -> Iterator[Path]:
    """Provide a temporary private folder beside `place`; it is deleted at the end with everything still in it."""
    folder = Path(tempfile.mkdtemp(prefix=".m3desk-export-", dir=place.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_text(place: Path, text: str) -> None:
    """Write a text and flush it to disk. Raises OSError."""
    with place.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def put(new: Path, place: Path, aside: Path) -> None:
    """Move a result into place; an existing folder is moved aside first, and back if that fails."""
    if place.is_dir():
        place.replace(aside)
        try:
            new.replace(place)
        except OSError:
            aside.replace(place)
            raise
    else:
        new.replace(place)
