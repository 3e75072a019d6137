"""What was heard and seen in the last minutes of a live source before its clips were memorized: provisional, in memory only.

A question is answered from it while a clip waits to be memorized. Must not know: models, windows, how a memory is stored.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from m3desk import events
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.live import Heard, Seen

KEPT = 600 * MICROSECOND
"""Microseconds before the newest moment that are kept; whatever is older is memorized, or waits so long that an answer says so."""

STAY = 2 * MICROSECOND
"""Views of one person that are closer than this are one stay."""


class Newest:
    """The last words and stays of a live source. Thread-safe."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, int], Heard] = {}
        self._stays: dict[str, list[Seen]] = {}
        self._lock = threading.Lock()

    def saw(self, event: object) -> None:
        """Take in what was recognised of a live source; other events are ignored. Returns at once."""
        if isinstance(event, events.LiveStarted):
            self.forget()
        elif isinstance(event, events.LiveWords) and event.text:
            with self._lock:
                self._words[event.source, event.start] = Heard(event.source, event.start, event.end, event.text, event.person, event.name)
                self._words = {k: w for k, w in self._words.items() if w.end > event.end - KEPT}
        elif isinstance(event, events.LiveFaces) and event.faces:
            with self._lock:
                for person in {f.person for f in event.faces if f.person}:
                    self._stay(event.source, person, event.at)

    def _stay(self, source: str, person: str, at: int) -> None:
        stays = self._stays.setdefault(person, [])
        if stays and stays[-1].source == source and stays[-1].start <= at <= stays[-1].end + STAY:
            stays[-1] = replace(stays[-1], end=max(at, stays[-1].end))
        else:
            stays.append(Seen(source, at, at + 1, person))
        while stays[0].end < at - KEPT:
            del stays[0]

    def since(self, source: str, at: int) -> tuple[list[Heard], list[Seen]]:
        """Return what was heard (by its middle) and seen of a source from `at` (microseconds) on, in time order."""
        with self._lock:
            heard = [w for w in self._words.values() if w.source == source and (w.start + w.end) // 2 >= at]
            seen = [
                replace(s, start=max(s.start, at)) for stays in self._stays.values() for s in stays if s.source == source and s.end > at
            ]
        return sorted(heard, key=lambda w: w.start), sorted(seen, key=lambda s: (s.start, s.person))

    def forget(self) -> None:
        """Drop everything: something was forgotten, or another source begins."""
        with self._lock:
            self._words.clear()
            self._stays.clear()
