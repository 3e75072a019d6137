"""Keeps the galleries that live faces and voices are compared with up to date: read again after each commit, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Protocol

from m3desk.domain.changed import Changed
from m3desk.domain.identity import KnownPeople
from m3desk.domain.log import ObservationType
from m3desk.errors import M3DeskError

log = logging.getLogger(__name__)


class ReadKnown(Protocol):
    """Reads the present galleries of a memory, on the thread that writes to it (`store.memory.Memory.known`)."""

    def __call__(self, type_: ObservationType, model: str, /) -> KnownPeople: ...


class Galleries:
    """The people whom a memory knows by its face and voice models. Close it.

    Whoever compares faces or voices takes the newest snapshot (`of`) and never waits: the thread that writes may be busy with a commit.
    """

    def __init__(self, read: ReadKnown, models: Mapping[ObservationType, str]) -> None:
        """`models`: the name of the model in use, for each type that is recognised."""
        self._read, self._models = read, dict(models)
        self._people: dict[ObservationType, KnownPeople] = {}
        self._due = threading.Event()
        self._due.set()
        self._closed = False
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="m3desk-known", daemon=True)
        self._thread.start()

    def of(self, type_: ObservationType) -> KnownPeople:
        """Return whom the memory knows by face or by voice; another object after each commit that changed it."""
        return self._people.get(type_, NOBODY)

    def wait(self, seconds: float) -> bool:
        """Wait until the galleries were read for the first time; return whether they were."""
        return self._ready.wait(seconds)

    def note(self, changed: Changed) -> None:
        """Have the galleries read again if a commit changed who somebody is; returns at once."""
        if changed.whole or changed.observations or changed.people:
            self._due.set()

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._due.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            if self._closed:
                return
            try:
                for type_, model in self._models.items():
                    self._people[type_] = self._read(type_, model)
                self._ready.set()
            except M3DeskError as error:  # the memory was closed, or its disk is full: what was read before stays
                log.warning("the galleries could not be read: %s", error)


NOBODY = KnownPeople()
