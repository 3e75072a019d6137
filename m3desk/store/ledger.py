"""The ledger of a memory: its log, the projection of it, and the transactions that change both.

Every write is one transaction: rows are added to the log, the projection takes them in, and what changed of it is written to the derived
tables. If rows were removed or altered (`forget`), or things that the journal names have new ids, the whole log is read again.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from m3desk.domain.changed import Changed
from m3desk.domain.identity import Gallery
from m3desk.domain.log import Log, ObservationType
from m3desk.domain.projection.projection import Delta, Projection, Rebuilt
from m3desk.domain.sentences import State
from m3desk.errors import MemoryBusy, MemoryDamaged, MemoryProblem, UsageError
from m3desk.store import cells, derived, files, place, reading, rows, schema
from m3desk.store.galleries import Galleries
from m3desk.store.index import watching

if TYPE_CHECKING:
    from m3desk.store.recomputing import Recomputed

log = logging.getLogger(__name__)
T = TypeVar("T")

FAULTS = (sqlite3.IntegrityError, sqlite3.ProgrammingError)
"""Errors raised for wrong rows or calls: not a sign of a damaged file."""


class _TooOldError(Exception):
    """Ends the transaction of `Ledger.take` without a commit."""


class Ledger:
    """The one connection that an open memory has. `path` names the memory in errors; `damage` finds a damaged cell.

    `counts`: how often the state was brought up to date by what was added (extended), and how often it was computed as a whole.
    """

    def __init__(self, db: sqlite3.Connection, path: str, *, write: bool, damage: Callable[[], MemoryDamaged | None]) -> None:
        self.db, self.path, self.writable, self._damage = db, path, write, damage
        self.guard = threading.RLock()
        self.counts: Counter[str] = Counter()
        self._galleries = Galleries()
        self._projection: Projection | None = None
        self._loaded = 0
        self._before: tuple[Projection, int] | None = None
        self._tell: Callable[[Changed], None] | None = None
        self._ahead: Future[tuple[Projection, int]] | None = None
        self._found: tuple[tuple[Any, ...], set[int]] = (), set()

    # ------------------------------------------------------------------ transactions

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one read transaction (or inside the running write)."""
        with self.guard:
            if self.db.in_transaction:
                yield self.db
                return
            self.db.execute("BEGIN")
            try:
                yield self.db
            except FAULTS:
                raise
            except schema.UNREADABLE as error:
                raise unusable(self.path, error) from error
            except cells.WRONG as error:
                if (damage := self._damage()) is not None:
                    raise damage from error
                raise
            finally:
                self.db.rollback()

    def read(self, query: Callable[..., T], *args: Any) -> T:
        """Return the result of a query in one snapshot."""
        with self.snapshot() as db:
            return query(db, *args)

    @contextlib.contextmanager
    def writing(self, *, folds: bool = True, whole: bool = False) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one write transaction; update the state and commit at its end, or roll everything back.

        `folds`: False if no row of the log is written. `whole`: tell that everything changed.
        """
        if not self.writable:
            raise UsageError(f"{self.path} is open for reading only.")
        with self.guard:
            if folds:
                self._before = self._present(), self._loaded
            try:
                self.db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise unusable(self.path, error) from error
            try:
                yield self.db
                if folds:
                    self._refold(self.db)
                self.db.execute("INSERT INTO meta VALUES ('changes', '1') ON CONFLICT (key) DO UPDATE SET value = value + 1")
                version = reading.version(self.db)
                changed = watching.taken(self.db, version - 1, version) if self._tell is not None else None
                if changed is not None and (whole or (self._before is not None and self._projection is not self._before[0])):
                    changed = Changed(version - 1, version, whole=True)  # rows of the log were taken away or altered
                self.db.commit()
            except BaseException as error:
                self.db.rollback()
                if folds:
                    self._back()
                if isinstance(error, schema.UNREADABLE) and not isinstance(error, FAULTS):
                    raise unusable(self.path, error) from error
                if isinstance(error, cells.WRONG) and (damage := self._damage()) is not None:
                    raise damage from error
                raise
            if folds:
                self._present().settle()
                self._galleries.settle()
                self._before = None
            if changed is not None and self._tell is not None:
                self._tell(changed)

    def watch(self, tell: Callable[[Changed], None]) -> None:
        """Call `tell` after every commit with what it changed, on the thread that wrote; it must return at once."""
        with self.guard:
            watching.watch(self.db)
            self._tell = tell

    # ------------------------------------------------------------------ the state

    def state(self) -> State:
        """Return the state of the derived tables (a writer updates it in place, so copy what must last)."""
        with self.guard:
            return self._present().state

    def log(self) -> Log:
        """Return the log, up to the last commit."""
        with self.guard:
            return self._present().log

    def born_in(self) -> Mapping[str, str]:
        """Return node → the person it was created in, by the corrections in force (`fold.born_in`), up to the last commit."""
        with self.guard:
            return self._present().born_in

    def state_with(self, db: sqlite3.Connection) -> State:
        """Return the state with the rows that the open transaction has added so far (undone if it is rolled back)."""
        last = last_sequence(db)
        present = self._present()
        if last != self._loaded:
            new = list(rows.load(db, self._loaded))
            if present.can_extend(new):
                moved = present.extend(new).moved
                self._galleries.move(moved.given, moved.taken)
                self.counts["extended"] += 1
            else:
                present = self._projection = self._whole(db)
            self._loaded = last
        return present.state

    def changes(self, db: sqlite3.Connection) -> Delta | Rebuilt:
        """Return the changes of the open transaction so far; valid until its next change."""
        self.state_with(db)
        present = self._present()
        assert self._before is not None
        return Delta(present) if self._before[0] is present else Rebuilt(Delta(self._before[0]).before, present)

    def found_steps(self) -> set[int]:
        """Return the steps of which nothing is missing, to be added to (`corrections.anchors.found_again`); none at first, and none again
        where the journal, or the log as a whole, is another."""
        present = self._present()
        journal = present, len(present.log.steps), len(present.log.marks), len(present.log.renamed)
        if self._found[0] != journal:
            self._found = journal, set()
        return self._found[1]

    def galleries(self, type_: ObservationType, model: str) -> Sequence[Gallery]:
        """Return the gallery of each node for a model, by the state last returned (`state`, `state_with`)."""
        with self.snapshot() as db:
            return self._galleries.of(db, self._present().state.who, type_, model)

    def forget_galleries(self) -> None:
        """Drop the kept galleries: vectors were written outside of the log."""
        self._galleries.forget()

    def read_ahead(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Start to compute the state, in a separate thread with its own connection; returns at once.

        Meanwhile this ledger answers what needs no state; what needs it waits for the rest.
        """
        with self.guard:
            if self._projection is not None or self._ahead is not None:
                return
            ahead: Future[tuple[Projection, int]] = Future()
            try:
                threading.Thread(target=_compute, args=(connect, ahead), name="m3desk-projection", daemon=True).start()
            except RuntimeError:  # no thread can be started now: the state is computed by the call that needs it
                log.exception("the state can't be computed ahead")
                return
            self._ahead = ahead

    def take(self, found: Recomputed) -> bool:
        """Commit a state that another thread computed, extended by what was committed meanwhile, and keep it from now on.

        Return False, and write nothing, if that can't be: rows of the log were altered, or it has rows of its own and others came first.
        """
        try:
            with self.guard, self.writing(folds=False, whole=True) as db:
                new = list(rows.load(db, found.since))
                if not found.fits(db, new):
                    raise _TooOldError
                found.write(db)
                if new:
                    found.projection.extend(new)
                    derived.write_changes(db, Delta(found.projection).tables())
                last = last_sequence(db)
        except _TooOldError:
            return False
        with self.guard:
            found.projection.settle()
            self._projection, self._loaded, self._ahead = found.projection, last, None
            self._found = (), set()
            self._galleries.forget()
            self.counts["taken"] += 1
        return True

    def forget(self) -> None:
        """Drop the kept state; the next call reads the log again."""
        self._projection, self._loaded, self._ahead = None, 0, None
        self._found = (), set()
        self._galleries.forget()
        gc.unfreeze()

    def _present(self) -> Projection:
        if self._ahead is not None:
            ahead, self._ahead = self._ahead, None
            with contextlib.suppress(Exception):  # what can't be read says so below
                self._projection, self._loaded = ahead.result()
                self.counts["ahead"] += 1
        if self._projection is None:
            with self.snapshot() as db:
                self._projection, self._loaded = self._whole(db), last_sequence(db)
        return self._projection

    def _whole(self, db: sqlite3.Connection) -> Projection:
        self._galleries.forget()
        self.counts["whole"] += 1
        return projected(rows.load(db))

    def _refold(self, db: sqlite3.Connection) -> None:
        if self._projection is not None:
            self.state_with(db)
        present = self._present()
        if self._before is not None and present is self._before[0]:
            derived.write_changes(db, Delta(present).tables())
        else:
            derived.write(db, derived.stored(db), derived.tables(present.state))

    def _back(self) -> None:
        """Restore the state from before the transaction that was rolled back."""
        self._found = (), set()
        if self._before is not None:
            rebuilt = self._projection is not self._before[0]
            self._projection, self._loaded = self._before
            self._projection.back()
            if rebuilt:
                self._galleries.forget()  # they are of the state that was computed as a whole and is dropped
            else:
                self._galleries.back()
            self._before = None


def projected(log: Iterable[Any]) -> Projection:
    """Return the projection of a whole log."""
    projection = Projection()
    with _uncollected():
        projection.extend(log)
    projection.settle()
    return projection


def _compute(connect: Callable[[], sqlite3.Connection], found: Future[tuple[Projection, int]]) -> None:
    """Set `found` to the projection of the whole log, and to its last commit."""
    try:
        with contextlib.closing(connect()) as db:
            db.execute("BEGIN")
            last, log = last_sequence(db), list(rows.load(db))
        found.set_result((projected(log), last))
    except BaseException as error:  # a ledger that was closed needs no answer; one that is open reads again and tells
        found.set_exception(error)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python's garbage collector from the objects created here.

    A projection is millions of objects and no garbage. The collector would look at all of them again and again while they are made, and
    later stop a commit for a third of a second now and then.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        gc.freeze()


def unusable(path: str, error: sqlite3.DatabaseError | UnicodeDecodeError) -> MemoryProblem:
    """Return the M3DeskError for an error of SQLite."""
    if schema.is_busy(error):
        return MemoryBusy(f"{path} is busy: {error}.", "Try again in a moment.")
    if schema.code(error) == sqlite3.SQLITE_FULL:
        return files.no_room(path)
    if schema.is_write_failure(error):
        return files.not_written(path, error)
    return place.unreadable(Path(path), error)


def last_sequence(db: sqlite3.Connection) -> int:
    """Return the number of the last commit."""
    return int(db.execute("SELECT coalesce(max(sequence), 0) FROM commits").fetchone()[0])
