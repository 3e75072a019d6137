"""Computes the suggested identity corrections ("questions") of an open memory in the background, once commits pause.

A separate thread reads what was committed and emits the number of questions (`events.Suggested`); `now` returns the questions
themselves, and `why` the reasons for one observation's binding, from the same projection. A commit never waits for this.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from m3desk import events
from m3desk.domain.changed import Changed
from m3desk.domain.questions.types import Suggestion, Verdict
from m3desk.store.records import Records

log = logging.getLogger(__name__)

QUIET = 1.0
"""Seconds from a change to the computation, so that changes in quick succession are computed together."""

SHARE = 4.0
"""Pause before the next computation, as a multiple of the last one's duration: uses at most a fifth of a processor."""


class OpenQuestions:
    """Computes the questions and reasons of one memory. Call `note` after each commit; `now` returns the current questions."""

    def __init__(self, reader: Callable[[], Records], emit: Callable[[Any], None]) -> None:
        self._open, self._emit = reader, emit
        self._computing = threading.Lock()
        self._reader: Records | None = None
        self._found: list[Suggestion] | None = None
        self._news = threading.Event()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._stale = self._altered = True
        self._seconds = 0.0
        self.computed = 0
        """How often questions were computed."""

    def start(self) -> None:
        """Start the thread that computes the questions now and after each change, until `close`."""
        self._news.set()
        threading.Thread(target=self._follow, name="m3desk-questions", daemon=True).start()

    def note(self, changed: Changed) -> None:
        """Note that something was committed; returns at once."""
        if changed.whole or changed.people or changed.observations or changed.nodes or changed.edges or changed.steps:
            with self._lock:
                self._stale = True
                self._altered |= changed.whole
            self._news.set()

    def now(self) -> list[Suggestion]:
        """Return the questions, most useful first; compute them first if something was committed since."""
        with self._computing:
            with self._lock:
                stale, altered = self._stale, self._altered
                self._stale = self._altered = False
            if stale or self._found is None:
                try:
                    self._compute(altered)
                except BaseException:
                    with self._lock:
                        self._stale = self._altered = True
                    raise
            return list(self._found or ())

    def why(self, observation: str) -> Verdict:
        """Return why an observation is bound to its person; waits while questions are computed.

        Raises CorrectionError if there is no such observation.
        """
        with self._computing:
            with self._lock:
                altered, self._altered = self._altered, False
            try:
                return self._kept().why_since(observation, altered=altered)
            except BaseException:
                with self._lock:
                    self._altered |= altered
                raise

    def _kept(self) -> Records:
        if self._reader is None:
            self._reader = self._open()
        return self._reader

    def _compute(self, altered: bool) -> None:
        began = time.monotonic()
        version, self._found = self._kept().questions_since(altered=altered)
        self._seconds = time.monotonic() - began
        self.computed += 1
        self._emit(events.Suggested(version, len(self._found)))

    def _follow(self) -> None:
        while True:
            self._news.wait()
            if self._closing.wait(max(QUIET, SHARE * self._seconds) if self.computed else 0):
                break
            self._news.clear()
            try:
                self.now()
            except Exception:  # who asks for them is told
                log.exception("the questions could not be computed")
        with self._computing:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def close(self) -> None:
        """End the thread; returns at once."""
        self._closing.set()
        self._news.set()
