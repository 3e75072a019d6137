"""The file of an unfinished forgetting: what is needed to finish and prove it, kept in the memory's folder until the proof has passed.

It is written before the commit that forgets, so that whenever a process is killed either nothing has happened yet or the next opening
finishes it. A file and not rows: deleting rows leaves their words in the database's freed pages and its journal, deleting a file does not.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from m3desk import private
from m3desk.store import files
from m3desk.store.forgetting.scrubbing import Traces

How = Literal["forget", "spans", "never", "span"]
"""forget: they may reappear as somebody new; spans: nothing is stored any more where they were, whoever else is there; never: keep a
template so as to leave them out wherever they appear. span: no person, but a span of a source (`spans`), the mark's only interval."""

PATTERN = "forgetting-*.json"
LARGEST = 256 << 20
"""Bytes of a mark that are read; thousands of observations take some megabytes."""

_SETS = ("persons", "nodes", "observations", "told", "media", "former")
_LISTS = ("names", "words", "spared", "telling")


@dataclass(frozen=True, slots=True)
class Pending:
    """Who is being forgotten (`person`, an id), how, since when (`at`: of its commit), whether the sources go too, and for the report:
    what it says (`text`, `counts`), which files still show them (`sources`, uris), by what they are found (`known`).

    `name`: of the mark's file. `whole` is False where that could not be read: then what can be done without it is done.
    """

    person: str
    how: How
    at: str
    with_sources: bool
    text: str
    counts: Mapping[str, int] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    known: Traces = field(default_factory=Traces)
    name: str = ""
    whole: bool = True

    @property
    def file(self) -> str:
        return self.name or f"forgetting-{re.sub(r'[^0-9]', '', self.at)}.json"


def marks(folder: Path) -> list[Path]:
    """Return the marks of unfinished forgettings, oldest first."""
    return sorted(p for p in folder.glob(PATTERN) if p.is_file())


def keep(folder: Path, mark: Pending) -> None:
    """Keep a mark. Raises MemoryProblem: a full disk, a folder that can't be written."""
    try:
        write(folder, mark)
    except OSError as error:
        raise files.unwritten(folder, folder, error, "Nobody was forgotten.") from error


def write(folder: Path, mark: Pending) -> None:
    """Write a mark atomically and wait until it is on disk. Raises OSError."""
    k = mark.known
    document = {
        "person": mark.person, "how": mark.how, "at": mark.at, "with_sources": mark.with_sources, "text": mark.text,
        "counts": dict(mark.counts),
        "sources": list(mark.sources), **{name: sorted(getattr(k, name)) for name in _SETS}, **{name: getattr(k, name) for name in _LISTS},
        "intervals": [list(i) for i in k.intervals], "mixed": {o: sorted(parts) for o, parts in k.mixed.items()},
        "vectors": [[*key, *rows.shape, base64.b64encode(rows.astype("<f4").tobytes()).decode()] for key, rows in k.vectors.items()],
    }  # fmt: skip
    part = folder / f"{mark.file}.part"
    try:
        private.write(part, json.dumps(document, ensure_ascii=False).encode("utf-8"))
        private.settle(part)
        part.replace(folder / mark.file)
        private.settle(folder)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def read(folder: Path) -> list[Pending]:
    """Return what has begun here and is not finished, oldest first; a mark that can't be read comes back without what it knew."""
    return [_read(path) for path in marks(folder)]


def _read(path: Path) -> Pending:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        return replace(_pending(json.loads(content) if len(content) <= LARGEST else {}), name=path.name)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Pending("", "forget", "", False, "", name=path.name, whole=False)


def _pending(d: Any) -> Pending:
    sets: dict[str, Any] = {name: set(_texts(d[name])) for name in _SETS}
    lists: dict[str, Any] = {name: _texts(d[name]) for name in _LISTS}
    vectors = {}
    for kind, model, n, width, packed in d["vectors"]:
        rows = np.frombuffer(base64.b64decode(packed, validate=True), "<f4").reshape(int(n), int(width))
        vectors[_text(kind), _text(model)] = rows.astype(np.float32)
    intervals = [(_text(source), int(start), int(end)) for source, start, end in d["intervals"]]
    mixed = {_text(o): set(_texts(parts)) for o, parts in d["mixed"].items()}
    known = Traces(**sets, **lists, vectors=vectors, intervals=intervals, mixed=mixed)
    if d["how"] not in ("forget", "spans", "never", "span"):
        raise ValueError(d["how"])
    counts = {_text(name): int(count) for name, count in d["counts"].items()}
    return Pending(
        _text(d["person"]), d["how"], _text(d["at"]), bool(d["with_sources"]), _text(d["text"]), counts, tuple(_texts(d["sources"])), known
    )


def _texts(values: Any) -> list[str]:
    if not isinstance(values, list):
        raise TypeError(values)
    return [_text(v) for v in values]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def committed(db: sqlite3.Connection, mark: Pending) -> bool:
    """Return whether the forgetting is committed, so that only traces are left to remove."""
    if not mark.whole:
        return True
    return db.execute("SELECT 1 FROM commits WHERE kind = 'forget' AND at = ?", (mark.at,)).fetchone() is not None


def remove(folder: Path, mark: Pending) -> None:
    """Remove a mark. Raises OSError."""
    (folder / mark.file).unlink(missing_ok=True)
    private.settle(folder)


def sweep(folder: Path) -> None:
    """Delete the partial file of an interrupted write: nothing had been forgotten yet then."""
    for part in folder.glob(f"{PATTERN}.part"):
        with contextlib.suppress(OSError):
            part.unlink()


__all__ = ["How", "Pending", "committed", "marks", "read", "remove", "sweep", "write"]
