"""The default path of a video's memory: beside the video, or in the data folder."""

from __future__ import annotations

import hashlib
import os
import re
from datetime import datetime
from pathlib import Path

from m3desk import paths, regular
from m3desk.media.capture.address import LiveAddress, is_live


def default_memory(video: str | Path) -> Path:
    """Return the default path of the memory of a video or folder: beside it (`VIDEO.m3desk`), or in the data folder if its folder is
    read-only. A name too long for the suffix is cut and gets a hash, so that it stays unique. Of a live source: a new one, in the data
    folder, with the date and time.

    Raises SourceError if the path is neither a regular file nor a folder, so that no memory is created for a wrong path.
    """
    if is_live(str(video)):
        shown = LiveAddress.parse(str(video)).shown().split("?")[0]
        name = re.sub(r"[^\w.+-]+", " ", shown.removeprefix("file:").rsplit("/", 1)[-1].replace(":", " ")).strip() or "live"
        return paths.data_dir() / "memories" / _memory_name(f"{name} {datetime.now():%Y-%m-%d %H.%M.%S}")
    regular.check_name(video)
    if not _is_folder(video):
        regular.check_regular(video)
    path = Path(video).resolve()
    beside = path.with_name(_memory_name(path.name))
    if beside.exists() or os.access(path.parent, os.W_OK):
        return beside
    where = hashlib.sha256(str(path.parent).encode()).hexdigest()[:8]  # files of one name in two read-only folders are two memories
    return paths.data_dir() / "memories" / _memory_name(path.name, f"-{where}")


def _is_folder(path: str | Path) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _memory_name(name: str, which: str = "") -> str:
    ending = f"{which}.m3desk"
    room = 255 - len(ending.encode())  # what file systems allow, in bytes
    if len(name.encode()) > room:
        number = hashlib.sha256(name.encode()).hexdigest()[:8]
        name = name.encode()[: room - 9].decode("utf-8", "ignore") + "-" + number
    return name + ending
