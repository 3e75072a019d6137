"""Folders and files that only their user may read: 0700 and 0600, on creation and on opening what an older version made.

What protects is the folder: whoever may not enter it reads nothing in it, whatever a library makes there. The files' own modes come on
top. On Windows there is nothing to do: a user's profile is closed to others by its access list, and modes mean nothing there.
Whatever can't be changed (another owner, a read-only disc) is left as it is: it must not keep anybody from their memory.
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
    """Make a folder (and missing ones above it) for the user alone, or close one that is there. Raises OSError when it can't be made."""
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
    """Make an empty file for the user alone where there is none, or close one that is there. Raises OSError."""
    if POSIX:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0), FILE))
        _close(path)
    return path


def opener(path: str, flags: int) -> int:
    """Open a file as `open` does, and where it is made make it for the user alone (`open(…, opener=private.opener)`)."""
    return os.open(path, flags, FILE)


def write(path: Path, content: bytes) -> None:
    """Write a file of the user's alone. Raises OSError."""
    with open(path, "wb", opener=opener) as out:
        out.write(content)
    _close(path)


def settle(path: Path) -> None:
    """Wait until the disk has a file's bytes (raises OSError), or a folder's names (where the system can)."""
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
    """Close a folder and all that lies in it to others. A link is left alone.

    One that is closed already is not walked through, nor is one that can't be closed: a file system without modes, another owner, a
    folder that many share on purpose (with the sticky bit, as `/tmp`). It would be walked through at each opening.
    """
    if not POSIX or path.is_symlink() or not path.is_dir() or not path.stat().st_mode & 0o077:
        return
    _close(path)
    if not path.stat().st_mode & 0o077:
        everything(path)


def close_file(path: Path) -> None:
    """Close a file to others, where there is one."""
    _close(path)


def everything(path: Path) -> None:
    """Close everything in a folder to others (a library made it with modes of its own)."""
    if not POSIX:
        return
    for above, folders, files in os.walk(path):
        for name in (*folders, *files):
            _close(Path(above, name))


def _close(path: Path) -> None:
    """Take what a mode grants to others away, where it grants something and may be changed."""
    if not POSIX:
        return
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or mode & stat.S_ISVTX or not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            return
        if mode & 0o077:
            path.chmod(stat.S_IMODE(mode) & 0o700)


__all__ = ["FILE", "FOLDER", "close", "close_file", "everything", "file", "folder", "opener", "settle", "write"]
