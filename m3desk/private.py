"""Makes folders and files readable by their user only (modes 0700 and 0600), on creation and when opening those of older versions.

The folder's mode protects everything in it, including files that libraries create; the files' own modes are a second layer. On
Windows there is nothing to do: a user's profile is protected by its access list, and modes have no meaning there.
If a mode can't be changed (another owner, a read-only disc) it stays, so that the memory can still be opened.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

FOLDER = 0o700
FILE = 0o600
POSIX = os.name == "posix"


def folder(path: Path) -> Path:
    """Create a private folder (and missing parents), or make an existing one private. Raises OSError if it can't be created."""
    missing = []
    above = path
    while not above.exists() and above != above.parent:
        missing.append(above)
        above = above.parent
    for one in reversed(missing):
        one.mkdir(mode=FOLDER, exist_ok=True)
    if not missing:
        path.mkdir(exist_ok=True)  # says what is wrong where a file lies there
    _close(path)
    return path


def file(path: Path) -> Path:
    """Create an empty private file, or make an existing one private. Raises OSError."""
    if POSIX:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0), FILE))
        _close(path)
    return path


def opener(path: str, flags: int) -> int:
    """Open a file as `open` does and create it as private if missing (`open(…, opener=private.opener)`)."""
    return os.open(path, flags, FILE)


def write(path: Path, content: bytes) -> None:
    """Write a private file. Raises OSError."""
    with open(path, "wb", opener=opener) as out:
        out.write(content)
    _close(path)


def settle(path: Path) -> None:
    """Flush a file's bytes to disk (raises OSError), or a folder's entries (if the system supports it)."""
    if path.is_dir():
        with contextlib.suppress(OSError):  # Windows can't open a folder
            _synced(path, os.O_RDONLY)
    else:
        _synced(path, os.O_RDWR)


def _synced(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def close(path: Path) -> None:
    """Make a folder and everything in it private. A link is left alone.

    A folder that is already private is not walked through, nor is one that can't be made private (a file system without modes, another
    owner, a shared folder with the sticky bit such as `/tmp`): else it would be walked through at each opening.
    """
    if not POSIX or path.is_symlink() or not path.is_dir() or not path.stat().st_mode & 0o077:
        return
    _close(path)
    if not path.stat().st_mode & 0o077:
        everything(path)


def close_file(path: Path) -> None:
    """Make a file private, if it exists."""
    _close(path)


def everything(path: Path) -> None:
    """Make everything in a folder private (a library created it with other modes)."""
    if not POSIX:
        return
    for above, folders, files in os.walk(path):
        for name in (*folders, *files):
            _close(Path(above, name))


def _close(path: Path) -> None:
    """Remove the access of other users from a mode, if it grants any and may be changed."""
    if not POSIX:
        return
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or mode & stat.S_ISVTX or not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            return
        if mode & 0o077:
            path.chmod(stat.S_IMODE(mode) & 0o700)


__all__ = ["FILE", "FOLDER", "close", "close_file", "everything", "file", "folder", "opener", "settle", "write"]
