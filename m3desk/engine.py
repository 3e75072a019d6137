"""The engine process: opens one memory, memorizes queued sources, and runs the commands it receives over the pipe.

The process ends when the pipe closes, however the parent ended. Must not know: Qt, who is at the other end.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from m3desk import commands, events
from m3desk.domain.live import SEMANTIC
from m3desk.errors import Cancelled, M3DeskError, MemoryBusy

if TYPE_CHECKING:
    from m3desk.app import App

log = logging.getLogger(__name__)

QUIET = 30.0
"""Seconds without a command that changes something before a copy is kept within a session: corrections wait for none."""


def serve(pipe: Connection, path: str) -> None:
    """Run an engine for one memory until the pipe closes (the entry point of the child process)."""
    in_front = ThreadPoolExecutor(1, "m3desk-front")
    in_front.submit(lambda: None).result()  # on Linux a thread keeps the priority that its process had when it began
    _be_modest()
    _log_to_file()
    try:
        Engine(pipe, path, lambda start: in_front.submit(start).result()).run()
    finally:
        os._exit(0)  # whatever a model's threads are doing, the process ends with its window


def _be_modest() -> None:
    """Lower this process's priority, so that the window stays responsive."""
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


CLOSING = 8.0
"""Seconds in which another engine of this memory, whose window was closed, may still end (`desk.EngineDesk.close`)."""


class Engine:
    """Serves one pipe: runs quick commands on this thread, corrections in order on a second one (some run models), slow commands on a
    thread pool, memorization on its own thread. Commands that come before the memory is open are queued until then."""

    def __init__(self, pipe: Connection, path: str, in_front: Callable[[Callable[[], None]], None] = lambda start: start()) -> None:
        """`in_front`: runs a function with full priority (the recorder of a live source is started so)."""
        self.corrections = 0
        self._in_front = in_front
        self._pipe, self._path = pipe, path
        self._sending = threading.Lock()
        self._slow = ThreadPoolExecutor(4, "m3desk-slow")
        self._corrections = ThreadPoolExecutor(1, "m3desk-corrections")
        self._queue: list[tuple[int, commands.Command[Any]]] | None = []
        """Commands that wait for the memory to open; None from then on."""
        self._queueing = threading.Lock()
        self._wake = threading.Event()
        self._stop_pulling = threading.Event()
        self._closing = False
        self._app: App | None = None
        self._failed: M3DeskError | None = None

    def run(self) -> None:
        """Receive commands until the pipe closes or `Close` comes."""
        threading.Thread(target=self._open_and_work, name="m3desk-memorizer", daemon=True).start()
        while True:
            try:
                number, command = self._pipe.recv()
            except (EOFError, OSError):
                return
            if isinstance(command, commands.Close):
                self._closing = True
                if self._app is not None:
                    with contextlib.suppress(Exception):
                        command.run(self)
                return
            if type(command) in commands.NEED_NO_MEMORY:
                self._begin(number, command)
                continue
            with self._queueing:
                if self._queue is None:
                    self._begin(number, command)
                else:
                    self._queue.append((number, command))

    def _begin(self, number: int, command: commands.Command[Any]) -> None:
        """Run a command on the thread that it belongs to."""
        if type(command) in commands.SLOW:
            self._slow.submit(self._do, number, command)
        elif type(command) in commands.CORRECTIONS:
            self._corrections.submit(self._do, number, command)
        else:
            self._do(number, command)

    def _begin_queued(self) -> None:
        """Run the commands that waited for the memory to open, or to fail to, in the order in which they came."""
        with self._queueing:
            waiting, self._queue = self._queue or [], None
            for number, command in waiting:
                self._begin(number, command)

    def _do(self, number: int, command: commands.Command[Any]) -> None:
        name = type(command).__name__
        try:
            if type(command) not in commands.NEED_NO_MEMORY:
                _ = self.app
            self._send("reply", number, True, command.run(self))
        except M3DeskError as error:
            self._send("reply", number, False, error)
        except Exception as error:
            log.exception("command %s failed", name)
            self.emit(events.Notice("error", f"{name}: {error}", "This is a fault of M3Desk.", traceback.format_exc()))
            self._send("reply", number, False, M3DeskError(f"{name} failed: {error}"))

    def _send(self, *message: Any) -> None:
        with self._sending, contextlib.suppress(OSError, ValueError, BrokenPipeError):
            self._pipe.send(message)

    # ------------------------------------------------------------------ what commands ask for (`commands.Engine`)

    @property
    def app(self) -> App:
        if self._app is None:
            raise self._failed or M3DeskError(f"{self._path} is not open.")
        return self._app

    def emit(self, event: Any) -> None:
        self._send("event", event)

    def wake(self) -> None:
        self._wake.set()

    def pull(self, names: tuple[str, ...], *, llm: bool) -> None:
        from m3desk import models

        self._stop_pulling.clear()
        models.pull(names=list(names), llm=llm, progress=self._downloading, cancelled=self._stop_pulling.is_set)
        if self._app is not None:
            self._app.backends.forget_missing()
            self.wake()

    def stop_pulling(self) -> None:
        self._stop_pulling.set()

    def _downloading(self, name: str, done: int, total: int, state: str = "working", error: str | None = None) -> None:
        self.emit(events.Downloading(name, done, total, state, error))

    # ------------------------------------------------------------------ memorizing

    def _opened_app(self) -> App:
        """Open the memory; wait a moment while another engine still writes to it: one that is just closing. Raises MemoryProblem."""
        from m3desk.app import App

        until = time.monotonic() + CLOSING
        while True:
            try:
                return App(self._path, emit=self.emit)
            except MemoryBusy:
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)

    def _open_and_work(self) -> None:
        try:
            app = self._app = self._opened_app()
        except M3DeskError as error:
            self._failed = error
            self.emit(events.Notice("error", str(error), error.hint))
            return
        except Exception as error:
            log.exception("the memory did not open")
            self._failed = M3DeskError(f"{self._path} could not be opened: {error}")
            self.emit(events.Notice("error", str(self._failed), "", traceback.format_exc()))
            return
        finally:
            self._begin_queued()
        self._told(lambda: self._ready(app))
        app.live.wake = self.wake
        app.live.in_front = self._in_front
        app.work.between = partial(self._between, app)
        for begin in (
            app.keep_up,
            app.live.recover,
            app.work.resume,
            app.keep_copy,
        ):  # a copy not only at the end: a window that closes does not wait for it
            self._told(begin)
        while True:
            self._told(lambda: self._work(app))
            if not self._wake.wait(QUIET):
                self._told(app.keep_copy)
                self._wake.wait()
            self._wake.clear()

    def _ready(self, app: App) -> None:
        settings = app.settings
        device = f"CPU, {settings.threads} threads"
        held = app.missing(), app.version(), *app.can_undo_redo(), app.no_language(), app.leaves(), app.older_models()
        self.emit(events.EngineReady(self._path, device, settings.profile, *held))

    @staticmethod
    def _work(app: App) -> None:
        while True:
            app.work.run()
            app.embed_lacking()
            app.look_again()
            app.work.conclude()
            if not app.work.queue.ids():
                return

    @staticmethod
    def _between(app: App) -> None:
        """Do what else waits on the memorizing thread, between two clips of a live source."""
        app.embed_lacking()
        app.look_again()
        if not app.live.gives_up(SEMANTIC):
            app.work.conclude(enough=lambda count: count > 0 or app.live.gives_up(SEMANTIC))

    def _told(self, do: Callable[[], object]) -> None:
        """Do something on the memorizing thread; tell the window of an error, so that the thread goes on with what comes next."""
        try:
            do()
        except Cancelled:
            return
        except M3DeskError as error:
            if not self._closing:
                self.emit(events.Notice("error", str(error), error.hint))
        except Exception as error:
            if self._closing:  # what it used was closed under it: nobody is told, nothing was committed
                log.debug("work ended by closing", exc_info=True)
                return
            log.exception("memorization failed")
            self.emit(events.Notice("error", f"Memorization stopped: {error}", "What was committed is safe.", traceback.format_exc()))
