"""Waveforms of sources, beside the database: files that are computed from the sound and can be computed again.

One file a source, named by its id and content, so that an old one is not taken for that of another content.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from m3desk import private
from m3desk.domain.clip import Source
from m3desk.domain.waveform import LONGEST, peaks_of
from m3desk.errors import M3DeskError
from m3desk.regular import read_regular

FOLDER = "waveforms"


def _file(memory: Path, source: Source) -> Path | None:
    content = (source.sha256 or "")[:16]
    return memory / FOLDER / f"{source.id}-{content}.peaks" if re.fullmatch(r"[0-9a-f]{16}", content) else None


def read(memory: Path, source: Source, silent: Iterable[tuple[int, int]] = ()) -> bytes | None:
    """Return the waveform of a source, None if it is not computed yet. `silent`: spans (microseconds) of which nothing is told: 0.

    They are in a file only while a forgetting has not deleted it yet.
    """
    place = _file(memory, source)
    if place is None or not place.is_file():
        return None
    try:
        found = bytearray(read_regular(place, LONGEST))
    except M3DeskError:
        return None
    for start, end in silent:
        there = peaks_of(start, end)
        found[there] = bytes(len(found[there]))
    return bytes(found)


def keep(memory: Path, source: Source, content: bytes) -> None:
    """Write the waveform of a source, in place of an older one. What can't be written is computed again next time."""
    place = _file(memory, source)
    if place is None:
        return
    with contextlib.suppress(OSError):
        private.folder(memory / FOLDER)
        drop(memory, source.id)
        new = place.with_suffix(".new")
        private.write(new, content)
        new.replace(place)


def drop(memory: Path, source: str = "") -> list[str]:
    """Delete the waveform of a source, or all of them, with what a killed writer left; return the files that can't be deleted."""
    left = []
    try:
        found = sorted((memory / FOLDER).glob(f"{source}-*" if source else "*"))
    except OSError:
        return [FOLDER]
    for file in found:
        try:
            file.unlink(missing_ok=True)
        except OSError:
            left.append(f"{FOLDER}/{file.name}")
    return left
