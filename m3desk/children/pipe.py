"""A backend's own process that answers requests over a pipe: started at the first request, again after a crash."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3desk.children import worker_side
from m3desk.children.child import GRACE, Child
from m3desk.children.worker_side import read_message, write_message
from m3desk.errors import Cancelled, ModelError, ModelFailed, ModelMissing

CANCEL_SECONDS = 10.0
"""How long a cancelled request may go on before its process is ended: nothing else stops a model's first pass over a long prompt."""

_START_SECONDS = 120.0
"""Until the process says that it reads requests: it has imported nothing heavy by then."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler returned."""

    body: dict[str, Any]
    arrays: tuple[Any, ...]


class Worker:
    """A program that answers requests (`worker_side.py`), in an environment of its own; one request at a time. Thread-safe.

    `python`: the environment's interpreter. `program`: the file that has its `HANDLERS`. `progress(text, share)` gets what the process says
    of its work.
    """

    def __init__(
        self,
        name: str,
        python: Path | str,
        program: Path,
        *,
        arguments: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        progress: Callable[[str, float | None], None] = lambda _text, _share: None,
        grace: float = GRACE,
    ) -> None:
        self.name = name
        self._command = [str(python), *_BARE, worker_side.__file__, str(program), *arguments]
        self._env = dict(env or {})
        self._progress = progress
        self._grace = grace
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 0

    @property
    def alive(self) -> bool:
        """Whether its process runs now."""
        child = self._child
        return child is not None and child.alive

    @property
    def process(self) -> Child | None:
        """Its process, if one was started."""
        return self._child

    def ask(
        self,
        call: str,
        arguments: Mapping[str, Any] | None = None,
        arrays: Sequence[Any] = (),
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Answer:
        """Send a request and return the answer. Raises ModelError; Cancelled."""
        answer = Answer({}, ())
        for said in self._talk(call, arguments or {}, arrays, cancelled):
            if isinstance(said, Answer):
                answer = said
        return answer

    def stream(
        self,
        call: str,
        arguments: Mapping[str, Any] | None = None,
        arrays: Sequence[Any] = (),
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Send a request and yield the pieces of its reply; ends early when cancelled or closed. Raises ModelError."""
        with contextlib.suppress(Cancelled):
            for said in self._talk(call, arguments or {}, arrays, cancelled):
                if isinstance(said, str):
                    yield said

    def stop(self) -> None:
        """End the process; the next request starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    # ------------------------------------------------------------

    def _talk(
        self, call: str, arguments: Mapping[str, Any], arrays: Sequence[Any], cancelled: Callable[[], bool]
    ) -> Iterator[str | Answer]:
        with self._lock:
            child = self._running()
            self._number += 1
            number = self._number
            finished = False
            try:
                self._send(child, {"id": number, "call": call, **arguments}, arrays)
                for message in self._replies(child, number, cancelled):
                    match message["kind"]:
                        case "piece":
                            yield str(message["text"])
                        case "done":
                            finished = True
                            yield Answer(message["answer"] or {}, tuple(message["arrays"]))
                            return
                        case "error":
                            finished = True
                            raise self._told(message)
            finally:
                if not finished:
                    self._abandon(child, number)

    def _running(self) -> Child:
        """Return its process, started and ready for requests."""
        if self._child is not None and self._child.alive:
            return self._child
        messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._messages = messages
        child = Child(self.name, self._command, env=self._env, piped=True, grace=self._grace)
        threading.Thread(target=_read, args=(child, messages), name=f"reads {self.name}", daemon=True).start()
        self._child = child
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                message = messages.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                self._child = None
                child.stop()
                raise ModelFailed(f"The backend {self.name} did not start within {_START_SECONDS:.0f} s.", f"See {child.log}.") from None
            if message is None:
                raise self._lost(child, "while it started")
            if message.get("kind") == "garbage":
                raise self._garbage(child)
            if message.get("kind") == "ready":
                return child

    def _send(self, child: Child, message: dict[str, Any], arrays: Sequence[Any] = ()) -> None:
        try:
            assert child.stdin is not None
            write_message(child.stdin, message, arrays)  # type: ignore[arg-type]
            child.stdin.flush()
        except (OSError, ValueError):
            raise self._lost(child, "at a request") from None

    def _replies(self, child: Child, number: int, cancelled: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """Yield the messages of one request."""
        while True:
            if cancelled():
                raise Cancelled("Stopped.")
            try:
                message = self._messages.get(timeout=0.1)
            except queue.Empty:
                continue
            if message is None:
                raise self._lost(child, "at a request")
            if message.get("kind") == "garbage":
                raise self._garbage(child)
            if message.get("id") != number:
                continue  # of a request that was given up
            if message["kind"] == "progress":
                self._progress(str(message["text"]), message.get("share"))
            else:
                yield message

    def _abandon(self, child: Child, number: int) -> None:
        """Cancel a request and wait for its end; a process that does not obey is ended."""
        if self._child is not child:
            return
        try:
            self._send(child, {"cancel": number})
        except ModelError:
            return
        until = time.monotonic() + CANCEL_SECONDS
        while time.monotonic() < until:
            try:
                message = self._messages.get(timeout=0.1)
            except queue.Empty:
                continue
            if message is None:
                self._lost(child, "at a request")
                return
            if message.get("id") == number and message["kind"] in ("done", "error"):
                return
        self._child = None
        child.stop()

    def _lost(self, child: Child, doing: str) -> ModelError:
        """Return why a process does not talk any more; one that runs on without its pipe is ended: nobody could reach it."""
        self._child = None
        if child.ended.wait(5.0):
            return child.failure(doing)
        child.stop()
        return ModelFailed(f"The backend {self.name} closed its pipe {doing}; it was ended.", f"See {child.log}.")

    def _garbage(self, child: Child) -> ModelError:
        self._child = None
        child.stop()
        return ModelFailed(f"The backend {self.name} wrote what is no message; it was ended.", f"See {child.log}.")

    def _told(self, message: Mapping[str, Any]) -> ModelError:
        """Return the error that a handler raised."""
        text, hint = str(message["text"]), str(message.get("hint") or "")
        if message.get("error") == "missing":
            return ModelMissing(text, hint)
        if message.get("error") == "memory":
            hint = hint or "Close other programs, or choose a smaller model."
            return ModelFailed(f"The backend {self.name} has not enough memory ({text[:300]}).", hint)
        return ModelFailed(text if hint else f"The backend {self.name} failed ({text[:300]}).", hint)


_BARE = ("-I", "-u", "-X", "utf8")
"""The environment's own packages only: neither the user's, nor PYTHONPATH, nor the current folder."""


def _read(child: Child, messages: queue.Queue[dict[str, Any] | None]) -> None:
    """Hand over the process's messages until its pipe closes or it says what is no message."""
    assert child.stdout is not None
    try:
        while (message := read_message(child.stdout)) is not None:  # type: ignore[arg-type]
            messages.put(message)
    except (OSError, ValueError, KeyError, TypeError, ImportError):
        if not child.ended.wait(0.5):
            messages.put({"kind": "garbage"})
    messages.put(None)


__all__ = ["CANCEL_SECONDS", "Answer", "Worker"]
