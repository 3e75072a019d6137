"""The search index of a memory, in LanceDB: the vector and the words of each sentence. Rebuildable from the truth at any time.

Nothing rests on it: a missing, damaged, old or foreign index is made anew from the sentences and embeddings in SQLite, with a notice. Each
commit to it is whole (Lance writes a new version and then names it), rows are keyed by node id, and a state file written last says which
sequence of the truth it is in step with; so a kill leaves an older index, and the next `sync` brings the rest.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from m3desk import paths, private
from m3desk.domain.evidence import Floats
from m3desk.domain.memory import StoredSentence
from m3desk.locks import FileLock, Locked
from m3desk.store.index.words import words

log = logging.getLogger(__name__)

FORMAT = 3
"""Raise it when rows or words change their meaning (also by another version of the stemmer): older indexes are then made anew."""

_TIDY_EVERY = 64
"""Commits between tidying: each leaves a small file and a version; 64 cost a search about a millisecond."""

_BATCH = 2_000


class Sentences(Protocol):
    """What the index asks of the truth (a `Reader` has it)."""

    def version(self) -> int: ...
    def memories(
        self, *, kind: str | None = None, person: str | None = None, source: str | None = None, clip: str | None = None
    ) -> list[StoredSentence]: ...
    def vectors(self, kind: str, model: str) -> tuple[Sequence[str], Floats]:
        """Return the ids of sentences (kind "text") and their (n, d) float32 unit rows by `model`."""
        ...


@dataclass(frozen=True, slots=True)
class State:
    """What the index is in step with. `vectors`: rows that had an embedding when they were written."""

    format: int
    sequence: int
    model: str
    dimension: int
    rows: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did. `rebuilt`: why the index was made anew, None where it was not."""

    added: int
    removed: int
    rebuilt: str | None = None


class VectorIndex:
    """The index in one folder, for one process at a time to write (others wait, or read what is there). Safe from any thread."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.notices: list[str] = []
        self._lock = threading.RLock()
        self._table: Any = None
        self._elsewhere: tempfile.TemporaryDirectory[str] | None = None

    # ------------------------------------------------------------ keeping in step

    def state(self) -> State | None:
        """Return what the index on disk is in step with; None where there is none that can be used."""
        try:
            found = json.loads((self.folder / "state.json").read_text("utf-8"))
            state = State(**found)
        except (OSError, ValueError, TypeError):
            return None
        return state if state.format == FORMAT else None

    def sync(self, reader: Sentences, model: str = "") -> Synced:
        """Bring the index in step with the truth: new and changed sentences are written, deleted ones removed.

        `model`: whose embeddings to take; a sentence without one is found by its words alone, until a later sync has it.
        """
        with self._lock:
            self._move_if_read_only()
            with _writing(self.folder) as mine:
                return self._synced(reader, model) if mine else Synced(0, 0)

    def _synced(self, reader: Sentences, model: str) -> Synced:
        """Bring the index in step, with the locks held."""
        version, state, why = reader.version(), self.state(), None
        same = state is not None and (state.sequence, state.model) == (version, model) and self._opened() is not None
        if same and state is not None and state.vectors == state.rows:
            return Synced(0, 0)
        vectors = _vectors(reader, model)
        if same and state is not None and state.vectors >= len(vectors):
            return Synced(0, 0)
        dimension = next((len(v) for v in vectors.values()), 0)
        if why := self._unusable(state, model, dimension):
            self._begin(dimension)
        sentences = reader.memories()
        try:
            added, removed, rows, with_vector = self._write(sentences, vectors)
            self._tidy()
        except Exception as error:  # Whatever Lance raises on files that it can't read: they can be made anew.
            log.warning("the search index in %s can't be written: %s", self.folder, error)
            why = "it was damaged"
            self._begin(dimension)
            added, removed, rows, with_vector = self._write(sentences, vectors)
            self._tidy()
        private.everything(self.folder)  # Lance writes with modes of its own
        self._put_state(State(FORMAT, version, model, dimension or (state.dimension if state and not why else 0), rows, with_vector))
        if why and why != "new":
            self.notices.append(f"The search index was made anew ({why}); nothing was lost.")
        return Synced(added, removed, why)

    def rebuild(self, reader: Sentences, model: str = "") -> Synced:
        """Throw the index away, every old version with it, and make it anew (after `forget`, `check --repair`)."""
        with self._lock:
            with _writing(self.folder, wait=True):
                self._drop()
            return self.sync(reader, model)

    def problems(self, reader: Sentences) -> list[str]:
        """Return how the index differs from the truth, in words; [] when it is in step (for `check`)."""
        with self._lock:
            state, table = self.state(), self._opened()
            if state is None or table is None:
                return ["there is no search index (it is made on the next search)"]
            truth = {s.id: _digest(s) for s in reader.memories()}
            try:
                there = self._digests()
            except Exception as error:
                (self.folder / "state.json").unlink(missing_ok=True)
                return [f"the search index can't be read and will be made anew ({type(error).__name__})"]
        missing, extra = truth.keys() - there.keys(), there.keys() - truth.keys()
        changed = [i for i in truth.keys() & there.keys() if there[i].removesuffix("+") != truth[i]]
        found = [
            (missing, "is not in the search index"),
            (extra, "is in the search index but no longer a memory"),
            (changed, "has other words"),
        ]
        return [f"{node} {what}" for nodes, what in found for node in sorted(nodes)]

    def _move_if_read_only(self) -> None:
        """Where the memory can't be written to (a disc, another user's folder), keep the index in a temporary folder."""
        try:
            private.folder(self.folder)
            (self.folder / "lock").open("a+b").close()
        except OSError as error:
            self._elsewhere = paths.temporary("index")
            self.notices.append(f"The search index can't be kept in {self.folder} ({error.strerror}); a temporary one is used.")
            self.folder, self._table = Path(self._elsewhere.name), None

    def _unusable(self, state: State | None, model: str, dimension: int) -> str | None:
        """Return why the index has to be made anew, None when it can go on."""
        if state is None:
            return "it was damaged or of another version" if self.folder.is_dir() and (self.folder / "sentences.lance").exists() else "new"
        if self._opened() is None:
            return "it was damaged"
        if model != state.model and state.vectors:
            return "another text model"
        return "another text model" if dimension and state.dimension != dimension else None

    def _begin(self, dimension: int) -> None:
        import pyarrow as pa

        self._drop()
        columns = [pa.field(n, pa.string()) for n in ("id", "kind", "clip", "source", "digest", "words")]
        columns += [pa.field("start", pa.int64()), pa.field("end", pa.int64())]
        if dimension:
            columns.append(pa.field("vector", pa.list_(pa.float32(), dimension)))
        self._table = _connect(self.folder).create_table("sentences", schema=pa.schema(columns))

    def _drop(self) -> None:
        self._table = None
        (self.folder / "state.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "sentences.lance", ignore_errors=True)

    def _opened(self) -> Any:
        """Return the table, newest version, or None where it is missing or doesn't open."""
        try:
            if self._table is None:
                if not (self.folder / "sentences.lance").is_dir():
                    return None
                self._table = _connect(self.folder).open_table("sentences")
                self._table.count_rows()
            else:
                self._table.checkout_latest()
        except Exception as error:  # Lance raises its own, OSError, ValueError, RuntimeError: all mean that it can't be read.
            log.warning("the search index in %s does not open: %s", self.folder, error)
            self._table = None
        return self._table

    def _digests(self) -> dict[str, str]:
        rows = self._table.search().select(["id", "digest"]).limit(None).to_arrow()
        return dict(zip(rows["id"].to_pylist(), rows["digest"].to_pylist(), strict=True))

    def _write(self, sentences: Sequence[StoredSentence], vectors: Mapping[str, Any]) -> tuple[int, int, int, int]:
        """Write what is new or changed and remove what is gone. Return how many: added, removed, rows, rows with a vector."""
        import pyarrow as pa

        there, table = self._digests(), self._table
        has_vectors = "vector" in table.schema.names
        digests = {s.id: _digest(s) + ("+" if has_vectors and s.id in vectors else "") for s in sentences}
        fresh = [s for s in sentences if there.get(s.id) != digests[s.id]]
        gone = sorted(there.keys() - digests.keys())
        for at in range(0, len(fresh), _BATCH):
            rows = [_row(s, digests[s.id], vectors.get(s.id) if has_vectors else None, has_vectors) for s in fresh[at : at + _BATCH]]
            batch = pa.Table.from_pylist(rows, schema=table.schema)
            table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(batch, on_bad_vectors="null")
        for at in range(0, len(gone), _BATCH):
            table.delete(_among("id", gone[at : at + _BATCH]))
        return len(fresh), len(gone), len(digests), sum(d.endswith("+") for d in digests.values())

    def _tidy(self) -> None:
        """Make the keyword index where there is none, and now and then fold small files and drop old versions."""
        from lancedb.index import FTS

        table = self._table
        if not table.list_indices():
            # Words come ready-made (see words.py): the index only splits them at spaces.
            plain = FTS(
                base_tokenizer="whitespace",
                stem=False,
                remove_stop_words=False,
                lower_case=False,
                ascii_folding=False,
                max_token_length=None,
            )
            table.create_index("words", config=plain)
        elif len(table.list_versions()) > _TIDY_EVERY:
            table.optimize(cleanup_older_than=timedelta(minutes=5))

    def _put_state(self, state: State) -> None:
        handle, name = tempfile.mkstemp(dir=self.folder, prefix="state.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(state), file)
        Path(name).replace(self.folder / "state.json")

    # ------------------------------------------------------------ searching

    @staticmethod
    def words(text: str) -> list[str]:
        """Return the words of a text as the index knows them."""
        return words(text)

    def by_vector(self, vector: Floats, k: int, **only: Any) -> list[tuple[str, float]]:
        """Return (node id, cosine similarity) of the k nearest sentences, nearest first; `only` as in `where`."""
        query = np.asarray(vector, np.float32)
        rows = self._rows(
            lambda t: t.search(query, vector_column_name="vector").distance_type("cosine"), "_distance", k, where(**only), "vector"
        )
        return list({r["id"]: 1.0 - float(r["_distance"]) for r in rows if r["_distance"] is not None}.items())

    def by_words(self, query: Sequence[str], k: int, **only: Any) -> list[tuple[str, float]]:
        """Return (node id, BM25) of the k sentences that share most with these words (as `words` gives them), best first."""
        if not query:
            return []
        rows = self._rows(lambda t: t.search(" ".join(query), query_type="fts", fts_columns="words"), "_score", k, where(**only), "words")
        return list({r["id"]: float(r["_score"]) for r in rows}.items())

    def _rows(self, query: Callable[[Any], Any], score: str, k: int, only: str | None, column: str) -> list[dict[str, Any]]:
        """Run a query; an index that can't be read finds nothing, says so, and is made anew by the next sync."""
        with self._lock:
            table = self._opened()
            if table is None or column not in table.schema.names:
                return []
            try:
                asked = query(table)
                asked = asked.where(only, prefilter=True) if only else asked
                found: list[dict[str, Any]] = asked.limit(k).select(["id", score]).to_list()
            except Exception as error:  # Lance raises its own, OSError, ValueError, RuntimeError.
                log.warning("the search index in %s can't be read: %s", self.folder, error)
                self.notices.append("The search index can't be read; it will be made anew.")
                (self.folder / "state.json").unlink(missing_ok=True)
                return []
        return found


def where(
    *,
    kinds: Sequence[str] | None = None,
    source: str | None = None,
    start: int | None = None,
    end: int | None = None,
    clips: Sequence[str] | None = None,
    before: tuple[str, int] | None = None,
) -> str | None:
    """Return the filter of a search: these kinds, this source, touching [start, end) microseconds, these clips; None for all.

    `before`: (source, microseconds): nothing of that source that starts at this time or later.
    """
    parts = []
    if kinds is not None:
        parts.append(_among("kind", kinds))
    if clips is not None:
        parts.append(_among("clip", clips))
    if source is not None:
        parts.append(_among("source", [source]))
    if start is not None:
        parts.append(f'"end" >= {int(start)}')
    if end is not None:
        parts.append(f'"start" < {int(end)}')
    if before is not None:
        parts.append(f"NOT ({_among('source', [before[0]])} AND start >= {int(before[1])})")
    return " AND ".join(parts) or None


def _among(column: str, values: Sequence[str]) -> str:
    quoted = ", ".join("'" + v.replace("'", "''") + "'" for v in values)
    return f"{column} IN ({quoted})" if quoted else "1 = 0"


def _vectors(reader: Sentences, model: str) -> Mapping[str, Floats]:
    if not model:
        return {}
    ids, rows = reader.vectors("text", model)
    return dict(zip(ids, rows, strict=True))


def _row(s: StoredSentence, digest: str, vector: Any, has_vectors: bool) -> dict[str, Any]:
    entities = " ".join(s.entities)
    row: dict[str, Any] = {
        "id": s.id, "kind": s.kind, "clip": s.clip, "source": s.source, "digest": digest,
        "words": " ".join(words(f"{s.text} {entities}")), "start": s.start, "end": s.end,
    }  # fmt: skip
    if has_vectors:
        row["vector"] = None if vector is None else np.asarray(vector, np.float32)
    return row


def _digest(s: StoredSentence) -> str:
    fields = "\0".join((s.kind, s.clip, s.source, str(s.start), str(s.end), s.text, *s.entities))
    return blake2b(fields.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _connect(folder: Path) -> Any:
    os.environ.setdefault("LANCE_LOG", "error")
    os.environ.setdefault("RUST_LOG", "error")
    import lancedb

    return lancedb.connect(str(folder))


@contextlib.contextmanager
def _writing(folder: Path, wait: bool = False) -> Iterator[bool]:
    """Hold the index's write lock (the system drops it when the process ends); yield False when another process has it."""
    private.folder(folder)
    try:
        lock = FileLock(folder / "lock", wait=wait)
    except Locked:
        yield False
        return
    with lock:
        yield True
