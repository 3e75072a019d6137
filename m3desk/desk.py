"""The engine in a process of its own, behind the calls a window may make (`ports.Desk`).

The window's process keeps its interpreter to itself (measured: two Python threads beside a window stall it by up to 451 ms, the same
work in a process costs nothing), and a model that crashes takes the engine down, not the window: the engine is started again and says so.
Commands go down a pipe as (id, name, args); replies and events come up. When the pipe closes, however the parent ended, the child ends.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import os
import pickle
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from m3desk import events
from m3desk.errors import Cancelled, CorrectionError, M3DeskError, ModelFailed

log = logging.getLogger(__name__)

RESTARTS = 3
"""Times an engine that dies is started again within `RESTART_SECONDS`; after that the window keeps the memory open for reading."""
RESTART_SECONDS = 300.0

QUIET = 30.0
"""Seconds without a command that changes something before a copy is kept within a session: corrections wait for none."""


class EngineDesk:
    """A window's side: commands go to the engine process and return at once."""

    def __init__(self, path: str) -> None:
        """Start an engine on the memory at `path` (made where there is none). Its EngineReady or Notice follows as an event."""
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

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        number = next(self._numbers)
        with self._lock:
            self._waiting[number] = future
        try:
            with self._sending:  # the window's own threads call too
                self._pipe.send((number, name, args, kwargs))
        except (OSError, ValueError):
            with self._lock:
                self._waiting.pop(number, None)
            future.set_exception(ModelFailed("the engine is not running.", "Close the memory and open it again."))
        return future

    # ------------------------------------------------------------------ ports.Desk

    def subscribe(self, on_event: Callable[[Any], None]) -> Callable[[], None]:
        self._listeners.append(on_event)
        return lambda: self._listeners.remove(on_event)

    def reader(self) -> Any:
        from pathlib import Path

        from m3desk.store.memory import Memory

        return Memory.open(Path(self.path), write=False)

    def memorize(self, paths: Sequence[str]) -> Future[list[str]]:
        return self._call("add", [str(p) for p in paths])

    def pause(self, paused: bool) -> None:
        self._call("pause", paused)

    def cancel(self, source: str) -> None:
        self._call("cancel", source)

    def retry(self, source: str) -> None:
        self._call("retry", source)

    def move(self, source: str, to: int) -> None:
        self._call("move", source, to)

    def queue(self) -> Future[list[str]]:
        """Return the ids of the sources that wait, next first."""
        return self._call("queue")

    def remove_source(self, source: str, *, dry_run: bool = False) -> Future[Any]:
        return self._call("remove_source", source, dry_run=dry_run)

    def relink(self, source: str, path: str) -> Future[None]:
        return self._call("relink", source, path)

    def prefer(self, source: str, at: int) -> None:
        self._call("prefer", source, at)

    def ask(self, question: str, *, source: str | None = None, start: int | None = None, end: int | None = None) -> str:
        ask = uuid.uuid4().hex[:12]
        span = (source, start or 0, end) if source is not None and end is not None else None
        self._call("ask", question, ask, span).add_done_callback(lambda asked: self._not_asked(ask, asked))
        return ask

    def _not_asked(self, ask: str, asked: Future[Any]) -> None:
        """Tell the end of a question that was refused, or that no engine heard: else an answer would be waited for."""
        error = asked.exception()
        if error is not None:
            said = error.line() if isinstance(error, M3DeskError) else str(error)
            self._tell(events.AskDone(ask, "", False, (), "", 0.0, error=said))

    def stop_asking(self, ask: str) -> None:
        self._call("stop_asking", ask)

    def search(self, text: str, k: int = 20) -> Future[list[Any]]:
        return self._call("search_nodes", text, k=k)

    def correct(self, kind: str, args: Mapping[str, Any], *, why: str | None = None, dry_run: bool = False) -> Future[Any]:
        return self._call("correct", kind, dict(args), why=why, dry_run=dry_run)

    def accept(self, n: int, *, dry_run: bool = False) -> Future[Any]:
        return self._call("correct", "accept", {"n": n}, why=None, dry_run=dry_run)

    def reject(self, n: int, *, dry_run: bool = False) -> Future[Any]:
        return self._call("correct", "reject", {"n": n}, why=None, dry_run=dry_run)

    def undo(self) -> Future[Any]:
        return self._call("undo")

    def redo(self) -> Future[Any]:
        return self._call("redo")

    def revert(self, step: int) -> Future[Any]:
        return self._call("revert", step)

    def models(self) -> Future[list[dict[str, Any]]]:
        return self._call("models")

    def pull(self, *, llm: bool = False, names: Sequence[str] = ()) -> Future[None]:
        return self._call("pull", llm=llm, names=list(names))

    def stop_pulling(self) -> None:
        """Stop fetching; what has come so far is kept and goes on the next time."""
        self._call("stop_pulling")

    def remove_model(self, name: str) -> Future[None]:
        """Delete a fetched model's files."""
        return self._call("remove_model", name)

    def doctor(self) -> Future[dict[str, Any]]:
        return self._call("doctor")

    def export(self, path: str, format_: str | None = None, source: str | None = None) -> Future[None]:
        return self._call("export", path, format_, source)

    def picture(self, source: str, at: int, width: int = 480) -> Future[bytes | None]:
        """Return a source's picture at a moment as JPEG; None where its file is not there."""
        return self._call("picture", source, at, width)

    def check(self) -> Future[dict[str, Any]]:
        """Return the report of `m3desk check`."""
        return self._call("check")

    def close(self) -> None:
        """Ask the engine to stop and return at once; it ends by itself within seconds, whatever it is doing."""
        self._closed = True
        with contextlib.suppress(OSError, ValueError), self._sending:
            self._pipe.send((-1, "close", (), {}))
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
    """Return what is wrong with the database of the memory at `path`; None when nothing is found in a moment, or there is no memory."""
    from pathlib import Path

    from m3desk.store import place

    return place.examine(Path(path), thorough=False)


def restore(path: str) -> str:
    """Put the last good copy in the place of a damaged database; return its date. Raises MemoryProblem, UsageError."""
    from m3desk.store.memory import Memory

    return Memory.put_copy_back(path)


# ---------------------------------------------------------------------- the engine's side


def serve(pipe: Connection, path: str) -> None:
    """Run an engine for one memory until the pipe closes (the target of the child process)."""
    _be_modest()
    _log_to_file()
    try:
        _Engine(pipe, path).run()
    finally:
        os._exit(0)  # whatever a model's threads are doing, the process ends with its window


def _be_modest() -> None:
    """Give way to the window: a lower priority than normal."""
    with contextlib.suppress(Exception):
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if os.name == "nt" else 10)


def _log_to_file() -> None:
    from m3desk import logs, paths, private

    paths.close_own()
    with contextlib.suppress(OSError):
        private.folder(paths.log_dir())
        logging.basicConfig(
            filename=private.file(paths.log_dir() / "engine.log"),
            level=logging.INFO,
            format="%(asctime)s %(name)s %(levelname)s %(message)s",
        )
        logs.one_line()


class _Engine:
    """Serves one pipe: quick commands here in order, slow ones on a few threads, memorization on its own."""

    SLOW = frozenset(
        {"add", "search_nodes", "models", "pull", "remove_model", "doctor", "export", "check", "relink", "ask", "remove_source", "picture"}
    )

    def __init__(self, pipe: Connection, path: str) -> None:
        self._pipe, self._path = pipe, path
        self._sending = threading.Lock()
        self._slow = ThreadPoolExecutor(4, "m3desk-slow")
        self._wake = threading.Event()
        self._pulling = threading.Event()
        self._opened = threading.Event()
        self._sitting = 0
        self._app: Any = None
        self._failed: M3DeskError | None = None

    def _send(self, *message: Any) -> None:
        with self._sending, contextlib.suppress(OSError, ValueError, BrokenPipeError):
            self._pipe.send(message)

    def _emit(self, event: Any) -> None:
        self._send("event", event)

    def run(self) -> None:
        threading.Thread(target=self._open_and_work, name="m3desk-memorizer", daemon=True).start()
        while True:
            try:
                number, name, args, kwargs = self._pipe.recv()
            except (EOFError, OSError):
                return
            if name == "close":
                if self._app is not None:
                    with contextlib.suppress(Exception):
                        self._app.close()
                return
            if name in self.SLOW or not self._opened.is_set():
                self._slow.submit(self._do, number, name, args, kwargs)
            else:
                self._do(number, name, args, kwargs)

    def _do(self, number: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            self._opened.wait()
            if self._failed is not None and name not in ("models", "pull", "doctor"):
                raise self._failed
            self._send("reply", number, True, getattr(self, "do_" + name)(*args, **kwargs))
        except M3DeskError as error:
            self._send("reply", number, False, error)
        except Exception as error:
            log.exception("command %s failed", name)
            self._emit(events.Notice("error", f"{name}: {error}", "This is a fault of M3Desk.", traceback.format_exc()))
            self._send("reply", number, False, M3DeskError(f"{name} failed: {error}"))

    # ------------------------------------------------------------------ memorizing

    def _open_and_work(self) -> None:
        from m3desk.app import App

        try:
            self._app = App(self._path, emit=self._emit)
        except M3DeskError as error:
            self._failed = error
            self._emit(events.Notice("error", str(error), error.hint))
        except Exception as error:
            log.exception("the memory did not open")
            self._failed = M3DeskError(f"{self._path} could not be opened: {error}")
            self._emit(events.Notice("error", str(self._failed), "", traceback.format_exc()))
        finally:
            self._opened.set()
        if self._app is None:
            return
        settings = self._app.settings
        self._emit(events.EngineReady(self._path, f"CPU, {settings.threads} threads", settings.profile, self._app.missing()))
        self._app.keep_up()
        self._app.work.resume()
        self._app.keep_copy()  # not only at the end: a window that closes does not wait for its engine
        while True:
            self._work()
            if not self._wake.wait(QUIET):
                self._app.keep_copy()
                self._wake.wait()
            self._wake.clear()

    def _work(self) -> None:
        work = self._app.work
        try:
            while True:
                work.run()
                self._app.embed_lacking()
                self._app.look_again()
                work.conclude()
                if not work.queue.ids():
                    return
        except Cancelled:
            return
        except M3DeskError as error:
            self._emit(events.Notice("error", str(error), error.hint))
        except Exception as error:
            log.exception("memorization failed")
            self._emit(events.Notice("error", f"Memorization stopped: {error}", "What was committed is safe.", traceback.format_exc()))

    # ------------------------------------------------------------------ commands

    def do_add(self, paths: list[str]) -> list[str]:
        from m3desk.config import Settings

        self._app.work.settings = Settings.load()  # what was changed since counts for what is added now
        ids: list[str] = self._app.work.add(paths)
        self._wake.set()
        return ids

    def do_pause(self, paused: bool) -> None:
        self._app.work.pause(paused)

    def do_cancel(self, source: str) -> None:
        self._app.work.cancel(source)

    def do_retry(self, source: str) -> None:
        self._app.work.retry(source)
        self._wake.set()

    def do_move(self, source: str, to: int) -> None:
        self._app.work.queue.put(source, to)

    def do_queue(self) -> list[str]:
        queued: list[str] = self._app.work.queue.ids()
        return queued

    def do_remove_source(self, source: str, *, dry_run: bool) -> Any:
        return self._app.work.remove(source, dry_run=dry_run)

    def do_relink(self, source: str, path: str) -> None:
        self._app.work.relink(source, path)

    def do_prefer(self, source: str, at: int) -> None:
        """Accept where the user is watching; clips stay in order, so there is nothing to reorder yet."""

    def do_ask(self, question: str, ask: str, span: tuple[str, int, int] | None) -> None:
        for event in self._app.ask(question, ask=ask, span=span):
            self._emit(event)

    def do_stop_asking(self, ask: str) -> None:
        self._app.stop_asking(ask)

    def do_search_nodes(self, text: str, *, k: int) -> list[Any]:
        found: list[Any] = self._app.search_nodes(text, k=k)
        return found

    def do_correct(self, kind: str, args: dict[str, Any], *, why: str | None, dry_run: bool) -> Any:
        effect = self._app.correct(kind, args, why=why, dry_run=dry_run)
        if not dry_run:
            self._sitting += 1
            self._wake.set()  # an edited sentence wants a new vector
        return effect

    def do_undo(self) -> Any:
        """Undo within this sitting (memory.md: older steps are reverted from History)."""
        if not self._sitting:
            raise CorrectionError(
                "nothing was corrected in this sitting.", "Older corrections are taken back one by one: m3desk revert STEP."
            )
        effect = self._app.undo()
        self._sitting -= 1
        return effect

    def do_redo(self) -> Any:
        effect = self._app.redo()
        self._sitting += 1
        return effect

    def do_revert(self, step: int) -> Any:
        return self._app.revert(step)

    def do_models(self) -> list[dict[str, Any]]:
        from m3desk import models

        return models.rows()

    def do_pull(self, *, llm: bool, names: list[str]) -> None:
        from m3desk import models

        self._pulling.clear()
        models.pull(names=names, llm=llm, progress=self._downloading, cancelled=self._pulling.is_set)
        if self._app is not None:
            self._app.backends.forget_missing()
            self._wake.set()

    def do_stop_pulling(self) -> None:
        self._pulling.set()

    def _downloading(self, name: str, done: int, total: int, state: str = "working", error: str | None = None) -> None:
        self._emit(events.Downloading(name, done, total, state, error))

    def do_remove_model(self, name: str) -> None:
        from m3desk import models

        models.remove(name)

    def do_doctor(self) -> dict[str, Any]:
        from m3desk import machine

        return machine.doctor()

    def do_export(self, path: str, format_: str | None, source: str | None) -> None:
        self._app.export(path, format_=format_, source=source, overwrite=True)  # the dialog of files has asked

    def do_picture(self, source: str, at: int, width: int) -> bytes | None:
        picture: bytes | None = self._app.picture_at(source, at, width)
        return picture

    def do_check(self) -> dict[str, Any]:
        report: dict[str, Any] = self._app.check()
        return report
