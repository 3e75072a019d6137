"""Forgetting a person outside of the memory's folder: the start page's pictures, log files, and temporary folders of killed processes.

Other files (`window.ini`, `recent.json`, `config.toml`) hold sizes, positions and paths; file names that the user chose are kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from m3desk import config, paths
from m3desk.domain.evidence import media_hash
from m3desk.store.forgetting.scrubbing import TELLING, Traces

_TEMPORARY = re.compile(r"(?:m3desk-)?[a-z]+-(\d+)-\w+")
_EARLIER = re.compile(r"m3desk-(?:index|sound|scorecard)-[a-z0-9_]{8}")
"""Names of earlier versions' temporary folders in the system's temporary folder; this version uses none of them."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Counts of what was removed (log `lines`, `pictures`, temporary `folders`), and the remaining files, which the proof searches."""

    lines: int
    pictures: int
    folders: int
    left: tuple[Path, ...]

    def counts(self) -> dict[str, int]:
        """Return the counts under the report's names."""
        return {"log_lines": self.lines, "pictures_outside": self.pictures, "temporary_folders": self.folders}


def forget(memory: Path, known: Traces) -> Reached:
    """Remove a person from all files outside of a memory's folder."""
    pictures = _pictures(memory, known.media)
    folders, running = _folders(known.media)
    logs, lines = clear_logs(paths.log_dir(), known)
    return Reached(lines, pictures, folders, (*logs, *running))


def _pictures(memory: Path, media: Collection[str]) -> int:
    """Delete the start page's picture of this memory, all copies of removed pictures, and pictures of memories no longer listed."""
    listed = config.recent_memories()
    same = {str(memory), str(memory.absolute()), str(memory.resolve())}
    same |= {p for p in listed if Path(p).resolve() == memory.resolve()}
    mine = {paths.recent_picture(p) for p in same}
    others = {paths.recent_picture(p) for p in listed} - mine
    hashes, gone = {media_hash(m) for m in media}, 0
    for path in sorted(paths.recent_dir().glob("*")):
        if path.is_file() and (path not in others or _digest(path) in hashes):
            with contextlib.suppress(OSError):
                path.unlink()
                gone += 1
    return gone


def _folders(media: Collection[str]) -> tuple[int, list[Path]]:
    """Delete temporary folders of ended processes and all copies of media; return the number of folders and running processes' files."""
    hashes, gone, running = {media_hash(m) for m in media}, 0, []
    for folder in _temporary():
        if _EARLIER.fullmatch(folder.name) or not _runs(folder):
            shutil.rmtree(folder, ignore_errors=True)
            gone += 1
            continue
        for path in (p for p in folder.rglob("*") if p.is_file()):
            with contextlib.suppress(OSError):
                if _digest(path) in hashes:
                    path.unlink()
                else:
                    running.append(path)
    return gone, running


def _temporary() -> Iterator[Path]:
    """Yield M3Desk's temporary folders, in its own and in the system's temporary folder."""
    for place in (paths.temporary_dir(), Path(tempfile.gettempdir())):
        ours = place == paths.temporary_dir()
        with contextlib.suppress(OSError):
            for path in place.iterdir():
                named = _EARLIER.fullmatch(path.name) or (_TEMPORARY.fullmatch(path.name) and (ours or path.name.startswith("m3desk-")))
                if named and path.is_dir() and not path.is_symlink() and _mine(path):
                    yield path


def _mine(path: Path) -> bool:
    return not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()


def _runs(folder: Path) -> bool:
    """Return whether the process that made a folder still runs (and is not a later one with the same process id)."""
    found = _TEMPORARY.fullmatch(folder.name)
    try:
        return found is not None and psutil.Process(int(found[1])).create_time() <= folder.stat().st_ctime + 1
    except (psutil.Error, OSError, OverflowError):
        return False


def clear_logs(folder: Path, known: Traces) -> tuple[list[Path], int]:
    """Delete log lines that hold a person's name or words; return the log files and the number of deleted lines."""
    pattern, lines = known.mention(), 0
    words = [w for w in known.words if len(w) >= TELLING]
    files = sorted(folder.glob("*.log*")) if folder.is_dir() else []
    for path in files:
        kept, gone = [], 0
        for line in path.read_text("utf-8", errors="replace").splitlines(keepends=True):
            if (pattern and pattern.search(line)) or any(w in line for w in words):
                gone += 1
            else:
                kept.append(line)
        if gone:
            path.write_text("".join(kept), "utf-8")
            lines += gone
    return files, lines


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


__all__ = ["Reached", "clear_logs", "forget"]
