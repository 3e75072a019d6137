"""Removes, once, the files that ONNX Runtime's telemetry wrote on this machine under an earlier M3Desk.

ONNX Runtime 1.29 and later keep a queue of events and a made-up device number in `Microsoft/DeveloperTools/.onnxruntime` of the user's
cache folder, and the number of the session in `.ses` in the temporary folder (onnxruntime/core/platform/posix; seen with 1.31.1). Other
programs may have files beside those, so only what is proven to be ONNX Runtime's goes.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import tempfile
from pathlib import Path

from m3desk import paths, private

MARK = "telemetry-removed"
"""The file in the data folder that says it has been done: what is written later is another program's."""

_DATABASE = "onnxruntime.db"
_OURS = {_DATABASE, f"{_DATABASE}-journal", f"{_DATABASE}-wal", f"{_DATABASE}-shm", "deviceid"}
_SESSION = re.compile(rb"(\d{13})\n([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n")
_NEAR_SECONDS = 60.0


def remove_once() -> list[Path]:
    """Remove ONNX Runtime's files once per data folder; return the removed files. Never raises.

    Without a data folder M3Desk has never run here, so the files belong to another program and stay.
    """
    data = paths.data_dir()
    mark = data / MARK
    with contextlib.suppress(OSError):
        if mark.exists():
            return []
        gone = remove() if data.is_dir() else []
        private.folder(data)
        mark.touch(mode=0o600)
        return gone
    return []


def remove() -> list[Path]:
    """Remove the event database, the device number and the session file that are proven to be ONNX Runtime's; return the removed files."""
    folder = _folder()
    try:
        found = {file.name: file for file in folder.iterdir() if file.is_file() and not file.is_symlink()}
        alone = len(list(folder.iterdir())) == len(found) and found.keys() <= _OURS
        if folder.is_symlink() or _DATABASE not in found or not found[_DATABASE].read_bytes().startswith(b"SQLite format 3\0"):
            return []
    except OSError:
        return []
    going = []
    session = Path(tempfile.gettempdir()) / ".ses"
    if _same_session(session, found[_DATABASE]):
        going.append(session)
    # Microsoft's Olive keeps its files in the same folder: where there are others, the number may be theirs too.
    going += [file for name, file in found.items() if name in _OURS and (alone or name != "deviceid")]
    gone = []
    for file in going:
        with contextlib.suppress(OSError):
            file.unlink()
            gone.append(file)
    for empty in (folder, folder.parent, folder.parent.parent):
        with contextlib.suppress(OSError):  # another program's files are in it
            empty.rmdir()
    return gone


def _folder() -> Path:
    """Return where ONNX Runtime keeps its events (GetDeviceIdStorageDir of its telemetry)."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "Microsoft" / "DeveloperTools" / ".onnxruntime"


def _same_session(file: Path, database: Path) -> bool:
    """Return whether a session file belongs to a database: it holds the session's number, or both were created within a minute.

    Other programs with Microsoft's uploader write the same name in the same form.
    """
    try:
        about = file.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > 100 or (hasattr(os, "getuid") and about.st_uid != os.getuid()):
            return False
        written = _SESSION.fullmatch(file.read_bytes())
        if written is None:
            return False
        begun = [about_it.stat().st_mtime for about_it in (database.with_name("deviceid"), database) if about_it.is_file()]
        near = any(abs(int(written[1]) / 1000 - when) < _NEAR_SECONDS for when in begun)
        return near or written[2] in database.read_bytes()
    except OSError:
        return False
