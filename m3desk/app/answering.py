"""Answers questions about an open memory and searches it; each question runs on the thread that asks, with its own reader.

Must not know: how commands or windows look.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Protocol

from m3desk import events
from m3desk.backends import Backends
from m3desk.control import loop, parity
from m3desk.control.basis import with_basis
from m3desk.control.search import Search
from m3desk.control.searching import Searching
from m3desk.control.unwritten import unmemorized_from, with_unwritten, without_ids
from m3desk.domain.identity import Candidate
from m3desk.domain.log import ObservationType
from m3desk.errors import M3DeskError, MemoryProblem
from m3desk.live.sessions import Live
from m3desk.ports import FoundClip, FoundNode, Models
from m3desk.samples import lookup
from m3desk.store.memory import now
from m3desk.store.records import Records
from m3desk.writer import Write

log = logging.getLogger(__name__)

REFERRED = 50
"""How many of the newest chats a follow-up can be about; all would cost more with each question."""

EARLY = 64
"""How many stopped questions are remembered: some are stopped before they begin."""

Before = tuple[str, int]
"""A source and the index of its last known clip; −1 = nothing."""


class AnsweringMemory(Protocol):
    """An open memory with its search state and the models it uses."""

    backends: Backends
    searching: Searching[Records]
    emit: Callable[[Any], None]
    live: Live

    @property
    def writable(self) -> bool: ...
    @property
    def write(self) -> Write: ...
    def reader(self, before: Before | None = None, believed_at: str | None = None) -> Records: ...


class Answering:
    """The questions and searches of one open memory.

    `before`: what was known up to and including that clip. `believed_at`: what was believed at that date (ISO).
    """

    def __init__(self, memory: AnsweringMemory) -> None:
        self._memory = memory
        self._asks: dict[str, threading.Event] = {}
        self._stopped: deque[str] = deque(maxlen=EARLY)

    # ------------------------------------------------------------------ searching

    def search(self, reader: Records) -> Search:
        """Return a search over what `reader` reads (`control.searching`)."""
        return self._memory.searching.over(reader, self._memory.backends.get("text_vectors"))

    def search_nodes(self, text: str, *, before: Before | None = None, believed_at: str | None = None, **how: Any) -> list[FoundNode]:
        """Search single memories; see `control.search`."""
        with self._memory.reader(before, believed_at) as reader:
            return self.search(reader).nodes(text, before=before, **how)

    def search_clips(self, text: str, *, before: Before | None = None, believed_at: str | None = None, **how: Any) -> list[FoundClip]:
        """Search clips by the memories they hold; see `control.search`."""
        with self._memory.reader(before, believed_at) as reader:
            return self.search(reader).clips(text, before=before, **how)

    def search_image(self, path: Path, *, k: int = 20, before: Before | None = None, believed_at: str | None = None) -> list[FoundNode]:
        """Return the people whose faces a picture shows, accepted matches only. Raises NoFace, SourceError, ModelMissing."""
        models = self.models_in_use("faces", "face_vectors")
        candidates = lookup.faces(path, models)
        return self._lookup(candidates, "face", models.face_vectors.name if models.face_vectors else "", k, before, believed_at)

    def search_audio(self, path: Path, *, k: int = 20, before: Before | None = None, believed_at: str | None = None) -> list[FoundNode]:
        """Return the people whose voices are in a recording, accepted matches only. Raises SourceError, ModelMissing."""
        models = self.models_in_use("speech_activity", "voice_vectors")
        candidates = lookup.voice(path, models)
        return self._lookup(candidates, "voice", models.voice_vectors.name if models.voice_vectors else "", k, before, believed_at)

    def models_in_use(self, *ports: str) -> Models:
        """Open these ports, with the face and voice models that this memory uses, even if the profile names others. Raises ModelMissing."""
        opened = self._memory.backends.models(*ports)
        with self._memory.reader() as reader:
            settings = reader.settings()
        return replace(opened, **self._memory.backends.instead(opened, settings))

    def _lookup(
        self, candidates: Sequence[Candidate], kind: ObservationType, model: str, k: int, before: Before | None, believed_at: str | None
    ) -> list[FoundNode]:
        with self._memory.reader(before, believed_at) as reader:
            return lookup.found(candidates, reader.galleries(kind, model), model, reader, k)

    # ------------------------------------------------------------------ asking

    def ask(
        self,
        question: str,
        *,
        ask: str | None = None,
        before: Before | None = None,
        believed_at: str | None = None,
        span: tuple[str, int, int] | None = None,
        mode: Literal["full", "parity"] = "full",
    ) -> Iterator[Any]:
        """Answer a question: yield AskStarted, rounds, text and AskDone (see `control.loop`); keep it with the memory's chats.

        `mode` parity: by the protocol of the original's control (`control.parity`).
        With `believed_at` the answer is not stored: an earlier state is read-only.
        """
        ask = ask or uuid.uuid4().hex[:12]
        stop = self._asks[ask] = threading.Event()
        if ask in self._stopped:
            stop.set()
        done: events.AskDone | None = None
        rounds: list[events.AskRound] = []
        began, forgettings = time.monotonic(), 0
        try:
            yield events.AskStarted(ask, question)
            if before is None and believed_at is None:
                yield from self._memory.live.before_answer(ask, stop.is_set)
            with self._memory.reader(before, believed_at) as reader:
                forgettings = reader.forgettings()
                search = self.search(reader)
                if before is None and believed_at is None:
                    lacking = self._memory.live.unwritten(lambda source: unmemorized_from(search, source))
                    if lacking is not None:
                        search = with_unwritten(self._memory.searching.cache, search, lacking, self._memory.backends.get("text_vectors"))
                language = self._memory.backends.get("language")
                steps: Iterator[Any]
                if mode == "parity":
                    steps = parity.answer(question, search, reader, language, ask=ask, before=before, cancelled=stop.is_set)
                else:
                    steps = loop.answer(
                        question,
                        search,
                        language,
                        ask=ask,
                        span=span,
                        before=before,
                        chats=lambda: reader.chats(REFERRED),
                        cancelled=stop.is_set,
                    )
                for event in map(without_ids, steps):
                    if isinstance(event, events.AskRound):
                        rounds.append(event)
                    if isinstance(event, events.AskDone):
                        event = done = with_basis(event, search.people, reader)
                    yield event
        except M3DeskError as error:
            done = events.AskDone(ask, "", False, (), "", time.monotonic() - began, error=error.line())
            yield done
        except Exception as error:
            log.exception("the question %r failed", question)
            done = events.AskDone(ask, "", False, (), "", time.monotonic() - began, error=f"a fault of M3Desk: {error}")
            yield done
        finally:
            self._asks.pop(ask, None)
        if done is not None and self._memory.writable and believed_at is None and not done.error:
            kept = loop.as_chat(question, rounds, done, now())
            try:
                self._memory.write(
                    lambda m: m.add_chat(kept, forgettings=forgettings)
                )  # an answer may tell of whom was forgotten meanwhile
            except MemoryProblem as error:  # a full disk: the answer was given all the same
                self._memory.emit(events.Notice("warning", f"The answer could not be stored in the memory: {error}", error.hint))

    def stop_asking(self, ask: str) -> None:
        """Stop an answer at once, even if it has not begun."""
        self._stopped.append(ask)
        if (stop := self._asks.get(ask)) is not None:
            stop.set()

    def close(self) -> None:
        """Stop every answer."""
        for stop in list(self._asks.values()):
            stop.set()
