"""What M3Desk keeps of a memory outside of its folder, and how forgetting somebody reaches it: pictures of the start page, logs, and what
processes that were killed left in temporary folders.

Other settings (`window.ini`, `recent.json`, `config.toml`) hold sizes, positions and paths: what a user calls a file is theirs to keep.
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
from m3desk.store.forgetting.scrubbing import TELLING, Known

_TEMPORARY = re.compile(r"(?:m3desk-)?[a-z]+-(\d+)-\w+")
_EARLIER = re.compile(r"m3desk-(?:index|sound|scorecard)-[a-z0-9_]{8}")
"""How earlier versions called their temporary folders, in the system's place; this one uses none of them."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What was removed (`lines` of logs, `pictures`, temporary `folders`), and the files that are still there, for the proof."""

    lines: int
    pictures: int
    folders: int
    left: tuple[Path, ...]

    def counts(self) -> dict[str, int]:
        """Return what was removed, as the report names it."""
        return {"log_lines": self.lines, "pictures_outside": self.pictures, "temporary_folders": self.folders}


def forget(memory: Path, known: Known) -> Reached:
    """Take somebody out of everything outside of a memory's folder."""
    pictures = _pictures(memory, known.media)
    folders, running = _folders(known.media)
    logs, lines = clear_logs(paths.log_dir(), known)
    return Reached(lines, pictures, folders, (*logs, *running))


def _pictures(memory: Path, media: Collection[str]) -> int:
    """Delete the start page's picture of this memory, every copy of a picture that went, and those of memories that are listed no more."""
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
    """Delete what processes left that are gone, and copies of media anywhere; return how many folders, and files of running ones."""
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
    """Yield our temporary folders: those in our own place, and those of ours in the system's."""
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
    """Say whether the process that made a folder is still there (and is not a later one of the same number)."""
    found = _TEMPORARY.fullmatch(folder.name)
    try:
        return found is not None and psutil.Process(int(found[1])).create_time() <= folder.stat().st_ctime + 1
    except (psutil.Error, OSError, OverflowError):
        return False


def clear_logs(folder: Path, known: Known) -> tuple[list[Path], int]:
    """Take lines that hold a person's name or words out of our own log files; return the files and how many lines that was."""
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
