"""The proof that a person is forgotten: searches every cell of every table, every row of the index and every byte for what was theirs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from m3desk.locks import FileLock
from m3desk.store.forgetting import pending
from m3desk.store.forgetting.scrubbing import TELLING, Traces, mention
from m3desk.store.index.vectors import connect


@dataclass(frozen=True, slots=True)
class ProofResult:
    """How much was searched, and what was found (place and what, in words; never the words themselves)."""

    tables: int
    cells: int
    index_rows: int
    files: int
    bytes: int
    findings: tuple[str, ...]


def search(db: sqlite3.Connection, folder: Path, found: Traces, elsewhere: Sequence[Path] = ()) -> ProofResult:
    """Search a memory's tables, index and files, and the files `elsewhere` (logs), for names, words, ids and media of a person.

    Names are searched as whole words in any case; words from 20 code points on; what others demonstrably say too is theirs, and what a
    user called a file is the user's.
    """
    pattern = found.mention()
    others_too = [n for n in found.names if (whole := mention([n])) and any(whole.search(s) for s in found.spared)]
    names = [n for n in found.names if n not in others_too]
    ids = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(found.observations | found.told | found.nodes)))})(?!\w)") if (
        found.observations | found.told | found.nodes
    ) else None  # fmt: skip
    others = "\n".join(r[0] for r in db.execute("SELECT text FROM utterance"))
    words = [w for w in dict.fromkeys(found.words) if len(w) >= TELLING and w not in others]
    files = _called([r[0] for r in db.execute("SELECT uri FROM source")])
    findings: list[str] = []

    def look(place: str, text: str, *, identifiers: bool = True) -> None:
        if pattern and pattern.search(text):
            findings.append(f"{place}: their name")
        if any(w in text for w in words):
            findings.append(f"{place}: their words")
        if identifiers and ids and ids.search(text):
            findings.append(f"{place}: the id of something that went")

    tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    cells = 0
    for table in tables:
        for row in db.execute(f'SELECT * FROM "{table}"'):
            for column, value in zip(row.keys(), tuple(row), strict=True):
                cells += 1
                if isinstance(value, str):
                    for file in files if table == "source" else ():
                        value = value.replace(file, "")
                    look(f"table {table}, {column}", value)
    rows = 0
    with _still(folder / "vectors") as index:
        for text in _index(index):
            rows += 1
            look("search index", text)
    count, size = 0, 0
    marks = pending.marks(folder)  # they say themselves who is being forgotten, and go when this has found nothing
    for path in [*sorted(p for p in folder.rglob("*") if p.is_file() and p not in marks and not p.name.endswith("-shm")), *elsewhere]:
        content = _content(path)
        count, size = count + 1, size + len(content)
        if path.name in found.media:
            findings.append(f"file {path.name}: a picture or sound of them")
        if what := _bytes(content, names, words, found.media):
            for file in files if path.parent == folder else ():
                content = content.replace(file.encode(), b"")
            what = _bytes(content, names, words, found.media)
        findings += [f"file {_short(path, folder)}: {w}" for w in what]
    return ProofResult(len(tables), cells, rows, count, size, tuple(dict.fromkeys(findings)))


def _called(uris: Iterable[str]) -> list[str]:
    """Return the paths of files and, where they have an ending and so are more than a name, what the files are called."""
    whole = set(uris)
    return [*sorted(whole, key=len, reverse=True), *sorted({Path(u).name for u in whole if Path(u).suffix}, key=len, reverse=True)]


def _content(path: Path) -> bytes:
    """Return a file's bytes. A database's handle stays open until the process ends: closing it would drop all locks that SQLite has on
    the database in this process (sqlite.org/howtocorrupt.html, 2.2); `-shm`, where others are, holds nothing but places in the journal.
    """
    if os.name != "posix" or path.suffix != ".sqlite":
        try:
            return path.read_bytes()
        except FileNotFoundError:  # a part of the index of vectors, which is written again meanwhile
            return b""
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC), "rb", closefd=False) as file:
        return file.read()


def _short(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _bytes(content: bytes, names: Iterable[str], words: Iterable[str], media: Iterable[str]) -> list[str]:
    """Return what raw bytes hold: names (not inside of longer words), words, media ids; as UTF-8 and as JSON writes them."""
    found = []
    for name in names:
        if len(name) < 3:
            continue  # two bytes are found in any picture
        forms = {f.encode() for f in (name, name.casefold(), name.upper(), json.dumps(name)[1:-1])}
        hits = (m for f in forms for m in re.finditer(rb"(?<![A-Za-z])" + re.escape(f) + rb"(?![A-Za-z])", content))
        if any(len(m[0]) >= TELLING_BYTES or _in_words(content, *m.span()) for m in hits):
            found.append("their name")
            break
    if any(w.encode() in content or json.dumps(w)[1:-1].encode() in content for w in words):
        found.append("their words")
    if any(m.encode() in content for m in media):
        found.append("the name of a picture or sound of them")
    return found


TELLING_BYTES = 5
"""Bytes from which a name is no chance: noise (pictures, sounds, vectors) holds three given bytes once in 16 MB, five once in 1 TB."""

AROUND = 16
"""Bytes of text that a shorter name stands among, where it is one: in noise less than one in 10,000 does."""

_TEXT = rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3})*"


def _in_words(content: bytes, start: int, end: int) -> bool:
    """Return whether what stands at a place in raw bytes stands in a text, or is with its text all there is."""
    before = content[max(0, start - AROUND) : start]
    left = len(max(re.findall(_TEXT + rb"\Z", before), key=len, default=b""))
    right = re.match(_TEXT, content[end : end + AROUND])
    assert right is not None
    return left + right.end() >= AROUND or (left == start and end + right.end() == len(content))


@contextlib.contextmanager
def _still(folder: Path) -> Iterator[Path]:
    """Keep the index of vectors as it is: a search may be about to write it again, of what is left."""
    if not folder.is_dir():
        yield folder
        return
    with FileLock(folder / "lock", wait=True):
        yield folder


def _index(folder: Path) -> list[str]:
    """Return the texts of the rows of all versions of every index table, each once."""
    if not folder.is_dir():
        return []
    import pyarrow as pa

    texts: list[str] = []
    db = connect(folder)
    listed = db.list_tables() if hasattr(db, "list_tables") else db.table_names()
    for name in getattr(listed, "tables", listed):
        table = db.open_table(name)
        seen = pa.array([], pa.string())
        for version in [v["version"] for v in table.list_versions()]:
            table.checkout(version)
            named = [field.name for field in table.schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
            if named:  # not the vectors: a large index has hundreds of versions
                for column in table.search().select(named).limit(None).to_arrow().columns:
                    seen = pa.chunked_array([seen, *column.cast(pa.string()).chunks], pa.string()).unique()
        texts += [text for text in seen.to_pylist() if text is not None]
        table.checkout_latest()
    return texts
