"""Media files of a memory (crops, speech, thumbnails), named by their content and written before the commit that refers to them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from m3desk import private
from m3desk.errors import MemoryProblem

ROOM = 2 << 20
"""Free bytes below which a disk is called full: more than SQLite writes at once where it fails."""

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*(\.[0-9A-Za-z]+)?")
_SHA256 = re.compile(r"[0-9a-f]{64}(\.[0-9A-Za-z]+)?")


def path_of(folder: Path, id_: str) -> Path:
    """Return the relative path of a media id: `ab/ID`. Raises ValueError if it is no media id (for example a path)."""
    if not _ID.fullmatch(id_) or len(id_) > 100:
        raise ValueError(f"not a media id: {id_!r}")
    return folder / id_[:2] / id_


def keep(memory: Path, media: Mapping[str, bytes]) -> None:
    """Write media of the memory in a folder. Raises MemoryProblem: a full disk, a folder that can't be written."""
    try:
        write(memory / "media", media)
    except OSError as error:
        raise unwritten(memory, memory / "media", error, "What was memorized is kept. Mend it, then go on.") from error


def unwritten(memory: Path, where: Path, error: OSError, hint: str) -> MemoryProblem:
    """Return the error for a file of a memory that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return no_room(str(memory))
    return MemoryProblem(f"{where} can't be written: {error.strerror}.", hint)


def no_room(path: str) -> MemoryProblem:
    """Return the error of a full disk."""
    return MemoryProblem(f"the disk of {path} is full.", "Nothing is lost: what was memorized is kept. Make room, then go on.")


def not_written(path: str, error: Exception) -> MemoryProblem:
    """Return the error of a database that can't be written, though nothing is wrong with it."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(path).free >= ROOM:
            return MemoryProblem(
                f"the database of {path} can't be written: {error}.",
                "Check the disk, and your quota and limit on the size of files. What was memorized is kept.",
            )
    return no_room(path)


def write(folder: Path, media: Mapping[str, bytes]) -> None:
    """Write files that are missing, each atomically, and wait until they are on disk."""
    folders: set[Path] = set()
    for id_, content in media.items():
        path = path_of(folder, id_)
        if path.is_file() and path.stat().st_size == len(content):
            continue
        private.folder(path.parent)
        part = path.with_name(path.name + f".{os.getpid()}.part")
        with open(part, "wb", opener=private.opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        folders.add(path.parent)
    for changed in folders:
        _sync_folder(changed)


def _sync_folder(path: Path) -> None:
    with contextlib.suppress(OSError):  # Windows cannot open a folder; there the rename itself is durable enough
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(folder: Path, id_: str) -> bytes | None:
    """Return a file's bytes, None where there is none."""
    with contextlib.suppress(OSError, ValueError):
        return path_of(folder, id_).read_bytes()
    return None


def stored(folder: Path) -> Iterator[Path]:
    """Yield every media file, in name order."""
    if folder.is_dir():
        yield from sorted(p for p in folder.glob("*/*") if p.is_file())


def damaged(folder: Path, named: Iterable[str]) -> list[str]:
    """Return the faults of the named files: missing, or with content that differs from their name."""
    wrong = []
    for id_ in sorted(set(named)):
        content = read(folder, id_)
        if content is None:
            wrong.append(f"media {id_} is missing")
        elif _SHA256.fullmatch(id_) and hashlib.sha256(content).hexdigest() != id_[:64]:
            wrong.append(f"media {id_} is not what was stored")
    return wrong


def sweep(folder: Path, named: Iterable[str]) -> int:
    """Delete files that no row refers to (left by an interrupted clip); return how many."""
    keep, swept = set(named), 0
    for path in list(stored(folder)):
        if path.name not in keep:
            path.unlink()
            swept += 1
    return swept
