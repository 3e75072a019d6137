"""The window's connection to the engine process: implements `ports.Desk` by sending commands over a pipe.

The engine is a separate process so that it never holds the window's interpreter lock (measured: two Python threads in the window's
process stall it by up to 451 ms, a separate process does not). A model that crashes ends the engine only; it is started again and the
user is told. Each command (`commands`) is sent with a number; replies and events come back. The child (`engine`) ends when the pipe
closes, however the parent ended.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import pickle
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeVar

from m3desk import commands, events
from m3desk.commands import Command
from m3desk.engine import serve
from m3desk.errors import M3DeskError, ModelFailed, line_of

if TYPE_CHECKING:
    from m3desk import ports
    from m3desk.domain.correction import Effect
    from m3desk.domain.forgetting import PersonForgotten, Way
    from m3desk.domain.insight import Belonging, VoiceLink, Wall
    from m3desk.domain.live import Device, Keep, Outdated, SpanForgotten, WatchKind, WatchRule
    from m3desk.domain.memory import StoredSentence, Version
    from m3desk.domain.questions.scorecard import Score
    from m3desk.domain.questions.types import Suggestion, Verdict
    from m3desk.ports import FoundNode

log = logging.getLogger(__name__)
R = TypeVar("R")

RESTARTS = 3
"""Times an engine that dies is started again within `RESTART_SECONDS`; after that the window keeps the memory open for reading."""
RESTART_SECONDS = 300.0


class EngineDesk:
    """Sends commands to the engine process; every call returns at once."""

    def __init__(self, path: str) -> None:
        """Start an engine for the memory at `path`, which is created if missing. EngineReady or a Notice follows as an event."""
        self.path = path
        self._listeners: list[Callable[[Any], None]] = []
        self._waiting: dict[int, Future[Any]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._closed = False
        self._deaths: list[float] = []
        self._context = multiprocessing.get_context("spawn")
        self._start()

    # ------------------------------------------------------------------ the process

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        self._pipe: Connection = ours
        self._child = self._context.Process(target=serve, args=(theirs, self.path), name="m3desk-engine", daemon=True)
        self._child.start()
        theirs.close()
        threading.Thread(target=self._listen, args=(ours, self._child), name="m3desk-desk", daemon=True).start()

    def _listen(self, pipe: Connection, child: Any) -> None:
        while True:
            try:
                message = pipe.recv()
            except (EOFError, OSError, pickle.UnpicklingError):
                break
            if message[0] == "event":
                self._tell(message[1])
            else:
                self._answer(*message[1:])
        child.join(5)
        self._lost(child.exitcode)

    def _answer(self, number: int, ok: bool, value: Any) -> None:
        with self._lock:
            future = self._waiting.pop(number, None)
        if future is not None and not future.cancelled():
            if ok:
                future.set_result(value)
            else:
                future.set_exception(value)

    def _lost(self, code: int | None) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        if self._closed:
            for future in waiting.values():  # nobody is told of what was not done any more, and nobody waits for it
                future.cancel()
            return
        error = ModelFailed("the engine stopped unexpectedly.", "What was committed is safe; try again.")
        for future in waiting.values():
            future.set_exception(error)
        self._deaths = [t for t in self._deaths if time.monotonic() - t < RESTART_SECONDS] + [time.monotonic()]
        again = len(self._deaths) <= RESTARTS
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        hint = (
            "It is being started again and goes on where it was." if again else "Close the memory and open it again; see the log for why."
        )
        self._tell(events.EngineLost(f"The engine stopped unexpectedly ({how}). Nothing that was committed is lost.", hint, again))
        if again:
            self._start()

    def _tell(self, event: Any) -> None:
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %s", type(event).__name__)

    def _call(self, command: Command[R]) -> Future[R]:
        future: Future[R] = Future()
        number = next(self._numbers)
        with self._lock:
            self._waiting[number] = future
        try:
            with self._sending:  # the window's own threads call too
                self._pipe.send((number, command))
        except (OSError, ValueError):
            with self._lock:
                answered = self._waiting.pop(number, None) is None  # by `_lost`
            if not answered:
                future.set_exception(ModelFailed("the engine is not running.", "Close the memory and open it again."))
        return future

    def _order(self, command: Command[None]) -> None:
        """Send a command without a result: an error is sent as a Notice."""

        def ended(done: Future[None]) -> None:
            error = None if done.cancelled() else done.exception()
            if error is not None:
                self._tell(events.Notice("error", str(error), error.hint if isinstance(error, M3DeskError) else ""))

        self._call(command).add_done_callback(ended)

    def run(self, command: Command[R]) -> Future[R]:
        """Run a command in the engine that is not part of `ports.Desk` (for benchmarks)."""
        return self._call(command)

    # ------------------------------------------------------------------ ports.Desk

    def subscribe(self, on_event: Callable[[Any], None]) -> Callable[[], None]:
        self._listeners.append(on_event)
        return lambda: self._listeners.remove(on_event)

    def reader(self, *, before: tuple[str, int] | None = None, believed_at: str | None = None) -> ports.Reader:
        from pathlib import Path

        from m3desk.store.reader import Reader

        return Reader.open(Path(self.path), before=before, believed_at=believed_at)

    def memorize(self, paths: Sequence[str]) -> Future[list[str]]:
        return self._call(commands.Memorize(tuple(str(p) for p in paths)))

    def pause(self, paused: bool) -> None:
        self._order(commands.Pause(paused))

    def cancel(self, source: str) -> None:
        self._order(commands.Cancel(source))

    def retry(self, source: str) -> None:
        self._order(commands.Retry(source))

    def move(self, source: str, to: int) -> None:
        self._order(commands.Move(source, to))

    def queue(self) -> Future[list[str]]:
        """Return the ids of the waiting sources in queue order."""
        return self._call(commands.ReadQueue())

    def remove_source(self, source: str, *, dry_run: bool = False) -> Future[Effect]:
        return self._call(commands.RemoveSource(source, dry_run))

    def relink(self, source: str, path: str) -> Future[None]:
        return self._call(commands.Relink(source, path))

    def devices(self, *, test: bool = False) -> Future[list[Device]]:
        return self._call(commands.FindDevices(test))

    def start_live(self, address: str, *, keep: Keep = "always", bystanders: bool = False, budget_bytes: int | None = None) -> Future[str]:
        return self._call(commands.StartLive(address, keep, bystanders, budget_bytes))

    def pause_live(self, paused: bool) -> Future[None]:
        return self._call(commands.PauseLive(paused))

    def stop_live(self) -> Future[None]:
        return self._call(commands.StopLive())

    def approve(self, who: str, name: str = "") -> Future[str]:
        return self._call(commands.Approve(who, name))

    def retention(self, *, hours: float | None = None, dry_run: bool = False) -> Future[list[Outdated]]:
        return self._call(commands.Retention(hours, dry_run))

    def forget_person(self, person: str, way: Way = "forget", *, sources: bool = False, dry_run: bool = False) -> Future[PersonForgotten]:
        return self._call(commands.ForgetPerson(person, way, sources, dry_run))

    def forget_span(self, source: str, start: int, end: int, *, dry_run: bool = False) -> Future[SpanForgotten]:
        return self._call(commands.ForgetSpan(source, start, end, dry_run))

    def forget_recent(self, seconds: float, *, dry_run: bool = False) -> Future[SpanForgotten]:
        return self._call(commands.ForgetRecent(seconds, dry_run))

    def ask(self, question: str, *, source: str | None = None, start: int | None = None, end: int | None = None) -> str:
        ask = uuid.uuid4().hex[:12]
        span = (source, start or 0, end) if source is not None and end is not None else None
        self._call(commands.Ask(question, ask, span)).add_done_callback(lambda asked: self._not_asked(ask, asked))
        return ask

    def _not_asked(self, ask: str, asked: Future[Any]) -> None:
        """Emit AskDone for a question that was refused or did not reach an engine, so that nobody waits for the answer."""
        error = None if asked.cancelled() else asked.exception()
        if error is not None:
            said = line_of(error)
            self._tell(events.AskDone(ask, "", False, (), "", 0.0, error=said))

    def stop_asking(self, ask: str) -> None:
        self._call(commands.StopAsking(ask))

    def search(self, text: str, k: int = 20) -> Future[list[FoundNode]]:
        return self._call(commands.SearchNodes(text, k))

    def search_sample(self, path: str, k: int = 20) -> Future[list[FoundNode]]:
        """Search for the people in a photo or a recording of speech."""
        return self._call(commands.SearchSample(path, k))

    def suggestions(self) -> Future[list[Suggestion]]:
        """Return the suggested identity corrections, most useful first; the engine has computed them in advance."""
        return self._call(commands.ReadSuggestions())

    def why(self, observation: str) -> Future[Verdict]:
        """Return why an observation is bound to its person."""
        return self._call(commands.Why(observation))

    def walls(self) -> Future[list[Wall]]:
        return self._call(commands.ReadWalls())

    def links_of(self, person: str) -> Future[list[VoiceLink]]:
        return self._call(commands.ReadLinks(person))

    def belonging(self, person: str) -> Future[Belonging]:
        return self._call(commands.ReadBelonging(person))

    def scorecard_pairs(self, count: int = 20) -> Future[list[tuple[str, str]]]:
        return self._call(commands.DrawPairs(count))

    def score(self, answers: Mapping[tuple[str, str], bool]) -> Future[Score]:
        return self._call(commands.ScorePairs(dict(answers)))

    def evaluate(self, files: Sequence[str]) -> Future[dict[str, Any]]:
        return self._call(commands.Evaluate(tuple(files)))

    def correct(self, kind: str, args: Mapping[str, Any], *, why: str | None = None, dry_run: bool = False) -> Future[Effect]:
        return self._call(commands.Correct(kind, dict(args), why, dry_run))

    def writers(self) -> Future[list[str]]:
        return self._call(commands.ReadWriters())

    def compare(self, clip: str) -> Future[tuple[list[StoredSentence], Version | None]]:
        return self._call(commands.CompareVersions(clip))

    def rewrite(self, clips: Sequence[str], writer: str) -> Future[dict[str, str]]:
        return self._call(commands.Rewrite(tuple(clips), writer))

    def drop_version(self, clip: str) -> Future[bool]:
        return self._call(commands.DropVersion(clip))

    def accept(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        return self._call(commands.Correct("accept", {"n": n}, dry_run=dry_run))

    def reject(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        return self._call(commands.Correct("reject", {"n": n}, dry_run=dry_run))

    def undo(self) -> Future[Effect]:
        return self._call(commands.Undo())

    def redo(self) -> Future[Effect]:
        return self._call(commands.Redo())

    def revert(self, step: int) -> Future[Effect]:
        return self._call(commands.Revert(step))

    def add_watch(self, kind: WatchKind, value: str, label: str = "") -> Future[WatchRule]:
        return self._call(commands.AddWatch(kind, value, label))

    def remove_watch(self, rule: int) -> Future[None]:
        return self._call(commands.RemoveWatch(rule))

    def set_consent(self, person: str, note: str) -> Future[None]:
        return self._call(commands.SetConsent(person, note))

    def models(self) -> Future[list[dict[str, Any]]]:
        return self._call(commands.ListModels())

    def pull(self, *, llm: bool = False, names: Sequence[str] = ()) -> Future[None]:
        return self._call(commands.Pull(tuple(names), llm))

    def stop_pulling(self) -> None:
        """Stop downloading; partial downloads are kept and continued next time."""
        self._call(commands.StopPulling())

    def remove_model(self, name: str) -> Future[None]:
        """Delete a downloaded model's files."""
        return self._call(commands.RemoveModel(name))

    def doctor(self) -> Future[dict[str, Any]]:
        return self._call(commands.Doctor())

    def import_file(self, path: str) -> Future[dict[str, Any]]:
        return self._call(commands.Import(path))

    def stop_import(self) -> None:
        self._order(commands.StopImport())

    def export(self, path: str, format_: str | None = None, source: str | None = None) -> Future[bool]:
        return self._call(commands.Export(path, format_, source))

    def export_clip(self, path: str, source: str, start: int, end: int) -> Future[bool]:
        """Write a span of a source (microseconds) as a video; return whether it was copied without loss."""
        return self._call(commands.ExportClip(path, source, start, end))

    def picture(self, source: str, at: int, width: int = 480) -> Future[bytes | None]:
        """Return a source's picture at a time as JPEG; None if its file is missing."""
        return self._call(commands.Picture(source, at, width))

    def make_waveform(self, source: str) -> Future[bool]:
        """Have the engine compute a source's waveform; return whether `Reader.waveform` has it then."""
        return self._call(commands.MakeWaveform(source))

    def check(self) -> Future[dict[str, Any]]:
        """Return the report of `m3desk check`."""
        return self._call(commands.Check())

    def close(self) -> None:
        """Ask the engine to stop and return at once; it ends within seconds."""
        self._closed = True
        with contextlib.suppress(OSError, ValueError), self._sending:
            self._pipe.send((-1, commands.Close()))
        threading.Thread(target=self._end, args=(self._child, self._pipe), name="m3desk-close", daemon=True).start()

    @staticmethod
    def _end(child: Any, pipe: Connection) -> None:
        child.join(5)
        if child.is_alive():
            child.terminate()  # every commit is a transaction: nothing half-written can stay
        with contextlib.suppress(OSError):
            pipe.close()

    def pid(self) -> int | None:
        """Return the engine's process id."""
        return self._child.pid


def damage(path: str) -> events.Damaged | None:
    """Return what is wrong with the database of the memory at `path`; None if a quick check finds nothing or there is no memory."""
    from pathlib import Path

    from m3desk.store import place

    return place.examine(Path(path), thorough=False)


def restore(path: str) -> str:
    """Replace a damaged database with its last good copy; return the copy's date. Raises MemoryProblem, UsageError."""
    from m3desk.store import opening

    return opening.put_copy_back(path)


def discard(path: str) -> bool:
    """Delete the memory at `path` if it holds nothing; return whether it is gone. Waits for the engine that had it open."""
    from pathlib import Path

    from m3desk.store import discarding

    return discarding.discard(Path(path))
