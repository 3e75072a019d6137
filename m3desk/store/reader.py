"""The read-only view of a memory that a window gets (`ports.Reader`); each call reads one consistent snapshot.

Must not know: models, video, windows, the search index.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Self, TypeVar

from m3desk.domain.bookmark import Bookmark
from m3desk.domain.changed import Edge
from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Step
from m3desk.domain.evidence import ObjectSeen, TextOnScreen
from m3desk.domain.graph import EdgeRow, GraphSnapshot, NodeRow
from m3desk.domain.live import WatchRule
from m3desk.domain.log import Log
from m3desk.domain.memory import StoredSentence, TimelineSentence
from m3desk.domain.people import Binding, Person, PresenceSpan, SpeechRow, TrackRow
from m3desk.domain.questions.types import Suggestion, Verdict
from m3desk.domain.sentences import State, fold
from m3desk.errors import MemoryDamaged
from m3desk.locks import FileLock
from m3desk.store import (
    as_of,
    bookmarks,
    cells,
    files,
    notes,
    opening,
    place,
    questions,
    reading,
    rows,
    waveforms,
)
from m3desk.store.ledger import Ledger

T = TypeVar("T")


class Reader:
    """Answers `ports.Reader`. Open it, and close it; or use it in a `with`.

    Calls may come from any one thread at a time; a lock inside keeps accidents apart. What the engine itself reads and writes is added
    by `store.records.Records` and `store.memory.Memory`, over the same connection.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection, lock: FileLock | None = None) -> None:
        self.path = str(folder)
        self.folder = folder
        self._lock = lock
        self._db = db
        self._ledger = Ledger(self._db, self.path, write=lock is not None, damage=self.damage)
        self._guard = self._ledger.guard
        self._closed = False
        self._folded: tuple[int, State, Log] | None = None
        self.as_of: as_of.AsOf | None = None

    @classmethod
    def open(cls, path: Path | str, *, before: tuple[str, int] | None = None, believed_at: str | None = None) -> Self:
        """Open a memory for reading. Raises MemoryMissing, MemoryTooNew, MemoryDamaged.

        `before`: (source, clip index): show only what was known by then (inclusive; −1 = nothing of that source).
        `believed_at`: an ISO date: show what was believed then, corrections included (`store.as_of`). Raises UsageError.
        """
        folder = Path(path)
        memory = cls(folder, opening.for_reading(folder))
        try:
            if before is not None or believed_at is not None:
                memory.as_of = as_of.read_as_of(memory._db, before, believed_at)
        except BaseException:
            memory.close()
            raise
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> None:
        try:
            if isinstance(error, cells.WRONG) and (damage := self.damage()) is not None:
                raise damage from error
        finally:
            self.close()

    def damage(self) -> MemoryDamaged | None:
        """Return the error text if a value caused an error because its cell is damaged; None if no cell is damaged."""
        with self._guard, contextlib.suppress(sqlite3.Error):
            if (what := cells.first_of_truth(self._db)) is not None:
                return place.damaged(self.folder, what)
            if (what := cells.first_of_projection(self._db)) is not None:
                text = f"the memory at {self.folder} is damaged: {what}."
                return MemoryDamaged(text, f"Rebuild it: m3desk check --repair -m {self.folder}")
        return None

    def close(self) -> None:
        """Close; safe to call twice."""
        with self._guard:
            if not self._closed:
                self._closed = True
                self._db.close()
                self._ledger.forget()

    def snapshot(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Give a connection inside one read transaction (or inside the running write)."""
        return self._ledger.snapshot()

    def _read(self, query: Callable[..., T], *args: Any) -> T:
        return self._ledger.read(query, *args)

    def _present(self, db: sqlite3.Connection) -> tuple[State, Log]:
        """Return state and log of this snapshot; a reader keeps them until something is written."""
        if self._lock is not None:
            return self._ledger.state_with(db), self._ledger.log()
        version = reading.version(db)
        if self._folded is None or self._folded[0] != version:
            log = rows.full_log(db)
            self._folded = version, fold(log), log
        return self._folded[1:]

    # ------------------------------------------------------------------ sources and clips

    def version(self) -> int:
        return self._read(reading.version)

    def sources(self) -> list[Source]:
        return self._read(reading.sources)

    def clips(self, source: str | None = None) -> list[Clip]:
        return self._read(reading.clips, source)

    def clips_of(self, ids: Collection[str]) -> list[Clip]:
        return self._read(reading.clips_of, ids)

    def clips_between(self, source: str, start: int, end: int) -> list[Clip]:
        return self._read(reading.clips_between, source, start, end)

    def thumbnails(self, clips: Collection[str]) -> dict[str, str]:
        """Return clip → media id of its picture, of those that have one."""
        return self._read(reading.thumbnails, clips)

    def thumbnail(self, clip: str) -> str | None:
        return self._read(reading.thumbnail, clip)

    def bookmarks(self) -> list[Bookmark]:
        """Return the bookmarks, by source and time."""
        return self._read(bookmarks.bookmarks)

    def waveform(self, source: str) -> bytes | None:
        """Return the peaks of a source's sound, a hundred bytes a second; None if they are not computed yet, or nothing is there."""
        known = next((s for s in self.sources() if s.id == source), None)
        silent = [(start, end) for s, start, end in self.forgotten_spans() if s == source]
        return None if known is None else waveforms.read(self.folder, known, silent)

    def forgotten_spans(self) -> list[tuple[str, int, int]]:
        """Return (source, start, end) of each span that was forgotten, in order of time."""
        return self._read(reading.forgotten_spans)

    def watches(self) -> list[WatchRule]:
        """Return the rules of *watch for*, oldest first, with the ids that persons have now."""
        return self._read(notes.watches_now)

    def consents(self) -> dict[str, str]:
        """Return person id → the note on their consent, of those who have one."""
        return self._read(notes.consents)

    # ------------------------------------------------------------------ evidence and people

    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]:
        return self._read(reading.tracks, source, start, end)

    def tracks_of(self, ids: Collection[str]) -> list[TrackRow]:
        return self._read(reading.tracks_of, ids)

    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]:
        return self._read(reading.speech, source, start, end)

    def speech_of(self, ids: Collection[str]) -> list[SpeechRow]:
        return self._read(reading.speech_of, ids)

    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]:
        return self._read(reading.objects, source, start, end)

    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]:
        return self._read(reading.texts, source, start, end)

    def people(self) -> list[Person]:
        return self._read(reading.people)

    def people_of(self, ids: Collection[str]) -> list[Person]:
        return self._read(reading.people_of, ids)

    def person(self, ref: str) -> Person:
        return self._read(reading.person, ref)

    def bindings(self, observation: str | None = None, node: str | None = None) -> list[Binding]:
        return self._read(reading.bindings, observation, node)

    def why(self, observation: str) -> Verdict:
        """Return why an observation is bound to its person. Raises CorrectionError if there is no such observation."""
        with self.snapshot() as db:
            return questions.why(db, *self._present(db), observation)

    def suggestions(self) -> list[Suggestion]:
        """Return the open questions to the user, most useful first (`domain.questions.ranking`)."""
        with self.snapshot() as db:
            return questions.suggestions(db, *self._present(db))

    # ------------------------------------------------------------------ sentences, graph, journal

    def memories(
        self,
        *,
        kind: str | None = None,
        person: str | None = None,
        source: str | None = None,
        clip: str | None = None,
        before: tuple[str, int] | None = None,
    ) -> list[StoredSentence]:
        """Return sentences in time order; with `before` only those known by then (see `visible_nodes`)."""
        with self.snapshot() as db:
            found = reading.memories(db, kind, person, source, clip)
            known = reading.visible_nodes(db, before) if before is not None else None
        return found if known is None else [s for s in found if s.id in known]

    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]:
        return self._read(reading.memories_of, ids)

    def presence(self, clips: Collection[str]) -> list[PresenceSpan]:
        return self._read(reading.presence, clips)

    def moments(self, clips: Collection[str]) -> list[TimelineSentence]:
        return self._read(reading.moments, clips)

    def sentence(self, node: str) -> StoredSentence:
        return self._read(reading.sentence, node)

    def node(self, id_: str) -> NodeRow:
        return self._read(reading.node, id_)

    def neighbours(self, id_: str) -> list[EdgeRow]:
        return self._read(reading.neighbours, id_)

    def graph(self) -> GraphSnapshot:
        return self._read(reading.graph)

    def nodes_of(self, ids: Collection[str]) -> list[NodeRow]:
        return self._read(reading.nodes_of, ids)

    def edges_of(self, keys: Collection[Edge]) -> list[EdgeRow]:
        return self._read(reading.edges_of, keys)

    def journal(self) -> list[Step]:
        return self._read(reading.journal)

    def chats(self, newest: int | None = None) -> list[dict[str, Any]]:
        return self._read(reading.chats, newest)

    def media(self, id_: str) -> bytes | None:
        return files.read(self.folder / "media", id_)
