"""Connects the engine and the widgets: events become Qt signals; results of reads and futures are delivered on the GUI thread.

The GUI thread never reads a file, a database or JSON: views call `hub.read(key, fn, then)`, where `fn(reader)` runs in the one
reading thread and `then(result)` on the GUI thread. A view is made with one argument, the `Hub`.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from m3desk import events
from m3desk.domain.changed import Changed
from m3desk.errors import Cancelled, CorrectionError, M3DeskError, MemoryBusy, MemoryMissing, is_slip
from m3desk_ui.hub.called import called
from m3desk_ui.hub.collector import Collector
from m3desk_ui.hub.selection import Selection
from m3desk_ui.hub.shared_reads import SharedReads
from m3desk_ui.hub.turns import turns
from m3desk_ui.look import deeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from m3desk.domain.correction import Effect
    from m3desk.ports import Desk, Reader
    from m3desk_ui.look.pictures import Pictures

log = logging.getLogger(__name__)
T = TypeVar("T")
EVENTS_PER_TICK = 50
BUDGET = 0.002
"""Seconds after which a turn of the event loop takes no more events, or answers: an eighth of a 16 ms frame."""
SETTLE_MS = 250
"""Milliseconds in which changes are put together before `changed` tells them, however fast clips and corrections come."""

LAST = ("graph", "memories")
"""Keys whose first read takes seconds in a large memory: whatever else waits is read before them."""

TOGETHER_MS = 15
"""Milliseconds that an answer waits for those of the other reads in the queue, so that the window is painted once for all."""

PATIENCE = 30.0
"""Seconds to wait for the engine to make a new memory before its absence is an error."""


class _Courier(QObject):
    """Runs functions on the thread that created it (the GUI thread); may be called from any thread."""

    _go = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._go.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def deliver(self, run: Callable[[], None]) -> None:
        if shiboken6.isValid(self):
            self._go.emit(run)

    def _run(self, run: Callable[[], None]) -> None:
        run()


def _answer(to: Callable[[Any], None], value: Any) -> None:
    """Call a function with an answer. One of a widget that was deleted meanwhile, such as a closed dialog, may fail.

    It is called all the same: what was asked of the engine has an outcome that the user is told, also where the dialog is closed.
    """
    try:
        to(value)
    except RuntimeError:
        if all(shiboken6.isValid(x) for x in _held(to)):
            raise


def _owner(by: Callable[..., Any]) -> Any:
    """Return whose method a function is, or the one that a partial is of; None if it is nobody's."""
    return getattr(by.func if isinstance(by, partial) else by, "__self__", None)


def _held(by: Any, depth: int = 3) -> Iterator[QObject]:
    """Yield the Qt objects that a function holds: whose method it is, what it was given, and what it and the functions in it refer to."""
    if isinstance(by, QObject):
        yield by
    elif depth and callable(by):
        within = [_owner(by)]
        if isinstance(by, partial):
            within += [*by.args, *by.keywords.values()]
            by = by.func
        for cell in getattr(by, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # not yet assigned
                within.append(cell.cell_contents)
        for one in within:
            yield from _held(one, depth - 1)


class Reads(QObject):
    """One reading thread with one Reader. A newer request replaces an older one of the same key, whose result is dropped."""

    def __init__(self, courier: _Courier, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._courier = courier
        self._waiting: OrderedDict[str, tuple[int, Callable[[Any], Any], Callable[[Any], None], Callable[[Exception], None]]] = (
            OrderedDict()
        )
        self._latest: dict[str, int] = {}
        self._answers: deque[Callable[[], None]] = deque()
        self._together = QTimer(self, singleShot=True, interval=TOGETHER_MS)
        self._together.timeout.connect(self._hand_over)
        self._next = QTimer(self, singleShot=True, interval=0)  # after what is painted in this turn
        self._next.timeout.connect(self._hand_over)
        self._opening: Callable[[], Reader] | None = None
        self._making: threading.Event | None = None
        self._changed = threading.Condition()
        self._number = 0
        self._generation = 0
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="reads", daemon=True)
        self._thread.start()

    def open(self, opening: Callable[[], Reader] | None, making: threading.Event | None = None) -> None:
        """Switch to another memory; drop pending and running requests of the old one. `making`: set once the memory is created."""
        with self._changed:
            if self._making is not None:
                self._making.set()
            self._making = making
            self._opening = opening
            self._generation += 1
            self._waiting.clear()
            self._latest.clear()
            self._changed.notify()

    def read(self, key: str, fn: Callable[[Any], Any], then: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        with self._changed:
            self._number += 1
            self._latest[key] = self._number
            self._waiting[key] = (self._number, fn, then, failed)
            self._waiting.move_to_end(key)
            self._changed.notify()

    def thread_id(self) -> int:
        return self._thread.ident or 0

    def drop(self, key: str) -> None:
        with self._changed:
            self._waiting.pop(key, None)
            self._latest.pop(key, None)

    def close(self) -> None:
        with self._changed:
            self._ended = True
            if self._making is not None:
                self._making.set()
            self._changed.notify()
        self._thread.join(timeout=2)

    def _work(self) -> None:
        reader: Reader | None = None
        generation = 0
        while True:
            with self._changed:
                while not self._ended and generation == self._generation and not self._waiting:
                    self._changed.wait()
                if self._ended:
                    break
                stale, generation = generation != self._generation, self._generation
                opening = self._opening
                first = min(self._waiting, key=lambda key: LAST.index(key) + 1 if key in LAST else 0, default=None)
                job = None if first is None else (first, self._waiting.pop(first))
            if stale and reader is not None:
                reader.close()
                reader = None
            if job is None or opening is None:
                continue
            key, (number, fn, then, failed) = job
            try:
                reader = reader or self._open_reader(opening, generation)
                if reader is None:
                    continue
                answer = fn(reader)
            except Exception as error:
                self._give(generation, key, number, failed, error)
            else:
                self._give(generation, key, number, then, answer)
        if reader is not None:
            reader.close()

    def _open_reader(self, opening: Callable[[], Reader], generation: int) -> Reader | None:
        """Open a reader; wait for a memory that the engine is creating. None if another memory was opened meanwhile."""
        until = time.monotonic() + PATIENCE
        if self._making is not None and not self._making.is_set():
            self._making.wait(PATIENCE / 3)
        while True:
            try:
                return opening()
            except (MemoryMissing, MemoryBusy):
                if self._ended or generation != self._generation:
                    return None
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def _give(self, generation: int, key: str, number: int, to: Callable[[Any], None], value: Any) -> None:
        def run() -> None:
            of = _owner(to)
            gone = isinstance(of, QObject) and not shiboken6.isValid(of)
            if generation == self._generation and self._latest.get(key) == number and not gone:
                _answer(to, value)

        with self._changed:
            self._answers.append(run)
            more = bool(self._waiting)
        self._courier.deliver(self._hold if more else self._hand_over)

    def _hold(self) -> None:
        """Wait for the next answers (on the GUI thread)."""
        if not self._together.isActive():
            self._together.start()

    def _hand_over(self) -> None:
        """Deliver the waiting answers (on the GUI thread) until the time budget is used; the rest in the next turn of the event loop."""
        self._together.stop()
        if self._answers and turns().put_off(self._next):
            return
        until = time.perf_counter() + BUDGET
        try:
            while self._answers:
                self._answers.popleft()()
                if time.perf_counter() > until:
                    break
        finally:
            if self._answers:  # also where one view failed: the others get theirs
                self._next.start()


class Hub(QObject):
    """All that a view needs: `desk` (None until a memory is open), `selection`, `pictures`, reads, and the engine's events."""

    happened = Signal(object)
    """Every event, in order. The ones below are the same, sorted by type."""
    engine_ready = Signal(object)
    engine_lost = Signal(object)
    source_changed = Signal(object)
    """SourceQueued or SourceChanged."""
    progress = Signal(object)
    evidence_seen = Signal(object)
    clip_committed = Signal(object)
    corrected = Signal(object)
    suggested = Signal(object)
    asking = Signal(object)
    """AskStarted, AskWaits, AskRound, AskText or AskDone."""
    downloading = Signal(object)
    loading = Signal(object)
    leaves = Signal(object)
    """ModelLoading."""
    live = Signal(object)
    """LiveStarted, LiveEnded, LiveStatus, LiveFaces, LiveWords or WatchHit."""
    erased = Signal(object)
    """Erased: material of a source is gone; whoever shows or keeps pictures of it drops them. Stored pictures are dropped here."""
    opened = Signal(str)
    """Another memory is open now (its path): forget the old one and read again."""
    changed = Signal(object)
    """What was committed since the last time (a `Changed`): see `hub.following`. Told at most four times a second."""
    notice = Signal(str, str, str, str)
    """level ("info", "warning", "error"), text, hint, report: for the notice bar."""
    offer = Signal(str, str, object)
    """text, label, action: a notice with a button ("Undo")."""
    trouble = Signal(str, str, str)
    """key, text, hint: a notice that stays until its key is told again with an empty text, when the trouble is over."""
    themed = Signal()
    """The theme or the language changed: read colours and texts again."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        from m3desk_ui.look.pictures import Pictures

        Collector(self)
        self.desk: Desk | None = None
        self.path = ""
        self.selection = Selection(self)
        self._courier = _Courier(self)
        self._reads = Reads(self._courier, self)
        self.pictures: Pictures = Pictures(self)
        self._inbox: deque[Any] = deque()
        self._woken = False
        self._made: threading.Event | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._say_changed)
        self._unsaid: Changed | None = None
        self._shared: SharedReads | None = None
        self._version: int | None = None
        self._ready_at = 0
        self.questions = 0
        """How many the memory has to a person, as last told."""
        self.can_undo = self.can_redo = False
        """Whether there is a correction to undo, one to redo, as last told."""
        self._by_type: dict[type, Any] = {
            events.EngineReady: self.engine_ready,
            events.EngineLost: self.engine_lost,
            events.SourceQueued: self.source_changed,
            events.SourceChanged: self.source_changed,
            events.Erased: self.erased,
            events.Progress: self.progress,
            events.EvidenceSeen: self.evidence_seen,
            events.ClipCommitted: self.clip_committed,
            events.Corrected: self.corrected,
            events.Suggested: self.suggested,
            events.AskStarted: self.asking,
            events.AskRound: self.asking,
            events.AskText: self.asking,
            events.AskWaits: self.asking,
            events.AskDone: self.asking,
            events.Downloading: self.downloading,
            events.ModelLoading: self.loading,
            events.Leaves: self.leaves,
            events.LiveStarted: self.live,
            events.LiveEnded: self.live,
            events.LiveStatus: self.live,
            events.LiveFaces: self.live,
            events.LiveWords: self.live,
            events.WatchHit: self.live,
        }

    # ------------------------------------------------------------ the engine

    def open(self, desk: Desk | None, path: str = "", *, new: bool = False, told: Sequence[Any] = ()) -> None:
        """Switch the window to another memory (or none). The old desk is closed in a thread.

        `new`: the engine has yet to create the memory; nothing is read before it reports that it exists. `told`: what it sent before.
        """
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        old, self.desk, self.path = self.desk, desk, path
        if old is not None and old is not desk:
            threading.Thread(target=old.close, name="closing", daemon=True).start()
        self._inbox.clear()
        self._settle.stop()
        self._unsaid = self._version = None
        self._ready_at = 0
        self.questions = 0
        self.can_undo = self.can_redo = False
        self.pictures.clear()
        self.selection.forget()
        made = threading.Event() if new else None
        self._made = made
        if desk is not None:  # before anything is read: what is committed after that is told
            self._unsubscribe = desk.subscribe(self._heard)
        self._reads.open((lambda: called(desk.reader())) if desk is not None else None, made)
        self.read("version", lambda reader: reader.version(), self._began_at, lambda _error: None)  # before anything else is
        self.opened.emit(path)
        for event in told:
            self._heard(event)

    def close(self) -> None:
        """End the reading thread and the desk, when the window is closed."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._reads.close()
        if self.desk is not None:
            self.desk.close()
            self.desk = None

    def _heard(self, event: Any) -> None:
        """Receive an event, on any thread."""
        self._inbox.append(event)
        if self._made is not None and isinstance(event, (events.EngineReady, events.Notice)):
            self._made.set()
        if not self._woken:
            self._woken = True
            self._courier.deliver(self._tick)

    def _tick(self) -> None:
        """Deliver events until the time budget is used; the rest waits for the next turn of the event loop, after painting."""
        self._woken = False
        until = time.perf_counter() + BUDGET
        for _ in range(EVENTS_PER_TICK):
            if not self._inbox:
                return
            self._pass_on(self._inbox.popleft())
            if time.perf_counter() > until:
                break
        if self._inbox and not self._woken:
            self._woken = True
            QTimer.singleShot(4, self._tick)

    def _pass_on(self, event: Any) -> None:
        if isinstance(event, events.Suggested):
            self.questions = event.count
        if isinstance(event, events.Erased) and event.memory:
            self.pictures.clear()
        if isinstance(event, (events.EngineReady, events.Corrected)):
            self.can_undo, self.can_redo = event.can_undo, event.can_redo
        self.happened.emit(event)
        signal = self._by_type.get(type(event))
        if signal is not None:
            signal.emit(event)
        if isinstance(event, events.Notice):
            self.notice.emit(event.level, event.text, event.hint, event.report)
        if isinstance(event, events.MemoryChanged):
            self._note_changed(event.changed)
        if isinstance(event, events.EngineReady):
            self._ready_at = event.version
            self._note_missed()

    def _began_at(self, version: int) -> None:
        """Set the version at which the views started to read, if no change was announced before."""
        if self._version is None:
            self._version = version
            self._note_missed()

    def _note_missed(self) -> None:
        """Note that anything may have changed if the engine opened a later version than announced (its predecessor ended first)."""
        if self._version is not None and self._ready_at > self._version:
            self._note_changed(Changed(self._version, self._ready_at, whole=True))

    def _note_changed(self, changed: Changed) -> None:
        """Merge changes until they are delivered; after a missed one (the engine was restarted), anything may have changed."""
        if self._version not in (None, changed.before):
            changed = Changed(self._version or 0, changed.version, whole=True)
        self._version = changed.version
        self._unsaid = changed if self._unsaid is None else self._unsaid.then(changed)
        if not self._settle.isActive():
            self._settle.start()

    def _say_changed(self) -> None:
        changed, self._unsaid = self._unsaid, None
        if changed is not None:
            self.changed.emit(changed)

    # ------------------------------------------------------------ asking for things

    def read(
        self, key: str, fn: Callable[[Any], Any], then: Callable[[Any], None], failed: Callable[[Exception], None] | None = None
    ) -> None:
        """Run `fn(reader)` in the reading thread, then `then(result)` here. A newer read of the same key replaces this one.

        While no memory is open, nothing is read or called. `failed` gets the exception; without it the user sees a notice.
        """
        if self.desk is not None:
            self._reads.read(key, fn, then, failed or self.tell)

    def shared(self, changed: Changed, fn: Callable[[Any], T]) -> Callable[[Any], T]:
        """Return `fn(reader)` with a reader that does not read again what another view has read of the same change."""
        if self._shared is None or self._shared.changed is not changed:
            self._shared = SharedReads(changed)
        kept = self._shared
        return lambda reader: fn(kept.of(reader))

    def reads_thread(self) -> int:
        """Return the id of the reading thread."""
        return self._reads.thread_id()

    def drop_read(self, key: str) -> None:
        """Cancel the request of this key: no result is delivered."""
        self._reads.drop(key)

    def when(
        self, future: Future[Any], then: Callable[[Any], None] | None = None, failed: Callable[[Exception], None] | None = None
    ) -> None:
        """Call `then(result)` (or `failed(error)`; default: a notice) on the GUI thread once a future is done."""

        def finished(done: Future[Any]) -> None:
            def run() -> None:
                if done.cancelled():
                    return
                error = done.exception()
                if isinstance(error, Exception):
                    _answer(failed or self.tell, error)
                elif then is not None:
                    _answer(then, done.result())

            self._courier.deliver(run)

        future.add_done_callback(finished)

    def work(
        self, fn: Callable[[], Any], then: Callable[[Any], None] | None = None, failed: Callable[[Exception], None] | None = None
    ) -> None:
        """Run a slow function in its own thread, then `then(result)` on the GUI thread."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(fn())
            except Exception as error:
                future.set_exception(error)

        threading.Thread(target=run, name="work", daemon=True).start()
        self.when(future, then, failed)

    def later(self, run: Callable[[], None]) -> None:
        """Run a function on the GUI thread; may be called from any thread."""
        self._courier.deliver(run)

    def correct(
        self,
        kind: str,
        args: Mapping[str, Any],
        *,
        then: Callable[[Effect], None] | None = None,
        why: str | None = None,
        quiet: bool = False,
    ) -> None:
        """Apply a correction and, unless `quiet`, show its effect with an undo button. Views are notified by `corrected` and `changed`."""
        if self.desk is None:
            return

        def done(effect: Effect) -> None:
            if not quiet:
                self.offer.emit(deeds.done(effect.text), "undo", self.undo)
            if then is not None:
                then(effect)

        self.when(self.desk.correct(kind, args, why=why), done)

    def undo(self) -> None:
        if self.desk is not None:
            self.when(self.desk.undo(), failed=self._nothing_to)

    def redo(self) -> None:
        if self.desk is not None:
            self.when(self.desk.redo(), failed=self._nothing_to)

    def _nothing_to(self, error: Exception) -> None:
        if isinstance(error, CorrectionError):  # mostly: there is nothing to undo; news, not an error
            self.notice.emit("info", str(error), error.hint, "")
        else:
            self.tell(error)

    def tell(self, error: Exception) -> None:
        """Show an error to the user: an M3DeskError by its message, any other with a report to copy."""
        if isinstance(error, Cancelled):
            return
        report = "".join(traceback.format_exception(error))
        if not isinstance(error, M3DeskError):
            log.error("a fault of the window", exc_info=error)
        if isinstance(error, M3DeskError):
            self.notice.emit("error", str(error), error.hint, "" if is_slip(error) else report)
        else:
            text = self.tr("Something went wrong inside M3Desk: %1").replace("%1", str(error) or type(error).__name__)
            self.notice.emit("error", text, self.tr("The app keeps running. Copy the report and send it to the developers."), report)
