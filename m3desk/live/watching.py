"""*Watch for*: tells when a person comes, a word is said or an object is seen, as evidence arrives.

Provisional evidence of a live clip counts at once, committed evidence when its clip is written; one notice an occurrence. What is heard is
data: a rule is compared word by word, and never read as a pattern.
"""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from m3desk import events
from m3desk.domain.changed import Changed
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.live import WatchRule
from m3desk.domain.stemming import stem
from m3desk.errors import M3DeskError
from m3desk.ports import Reader

log = logging.getLogger(__name__)

COOL_DOWN = 30 * MICROSECOND
"""What happens again within this long of the last time is the same occurrence."""

REMEMBERED = 10_000
"""Occurrences of one rule in one source that are remembered, so that a clip's commit does not tell again what its live words told."""

QUOTED = 120
"""Code points of what was said that a notice quotes."""


# ---------------------------------------------------------------- words


def words_of(text: str) -> list[str]:
    """Return a text's words as they are compared: full width and capitals folded, English words by their stems."""
    return [stem(w) for w in re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())]


def says(text: str, wanted: str) -> bool:
    """Say whether a text has the wanted word, or words one after another. Scripts without spaces (Chinese) are compared by characters."""
    needle = words_of(wanted)
    if not needle:
        return False
    if any(_unspaced(c) for c in wanted):
        return "".join(words_of(wanted)) in "".join(words_of(text))
    there = words_of(text)
    return any(there[i : i + len(needle)] == needle for i in range(len(there) - len(needle) + 1))


def _unspaced(char: str) -> bool:
    """Return whether a character is of a script that writes words without spaces: Chinese, Japanese, Thai, Lao, Burmese, Khmer."""
    return any(a <= char <= b for a, b in (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff"),
                                           ("\u3400", "\u9fff"), ("\uf900", "\ufaff")))  # fmt: skip


# ---------------------------------------------------------------- occurrences


class Occurrences:
    """When a rule applied in a source: moments in order, those within COOL_DOWN of each other being one occurrence."""

    def __init__(self) -> None:
        self._at: list[int] = []

    def add(self, at: int) -> bool:
        """Note a moment; return whether it is a new occurrence."""
        place = bisect_left(self._at, at)
        near = self._at[max(0, place - 1) : place + 1]
        new = all(abs(at - other) > COOL_DOWN for other in near)
        if new or all(abs(at - other) > MICROSECOND for other in near):  # a moment a second is enough to hold an occurrence together
            self._at.insert(place, at)
            del self._at[:-REMEMBERED]
        return new


class Rules:
    """Evaluates rules on evidence. `apply` gives the hits; keeps what was told already. Thread-safe."""

    def __init__(self) -> None:
        self._rules: Sequence[WatchRule] = ()
        self._told: dict[tuple[int, str], Occurrences] = {}
        self._lock = threading.Lock()

    def set(self, rules: Sequence[WatchRule]) -> None:
        """Use these rules from now on."""
        with self._lock:
            self._rules = tuple(rules)
            there = {r.id for r in rules}
            self._told = {k: v for k, v in self._told.items() if k[0] in there}

    @property
    def some(self) -> bool:
        return bool(self._rules)

    def person(self, source: str, at: int, person: str, *, speaks: bool) -> list[events.WatchHit]:
        """Return the hits of somebody being seen, or heard."""
        return self._hits(source, at, "person", lambda r: r.value == person, lambda r: f"{r.label} {'speaks' if speaks else 'is here'}")

    def words(self, source: str, at: int, text: str) -> list[events.WatchHit]:
        """Return the hits of words that are said."""
        quoted = text if len(text) <= QUOTED else text[: QUOTED - 1] + "…"
        return self._hits(source, at, "word", lambda r: says(text, r.value), lambda r: f"“{r.label}” was said: {quoted}")

    def object(self, source: str, at: int, label: str) -> list[events.WatchHit]:
        """Return the hits of an object that is seen. `label`: as the detector calls it."""
        return self._hits(
            source, at, "object", lambda r: words_of(r.value) == words_of(label), lambda r: f"{r.label} is seen"
        )  # fmt: skip

    def _hits(
        self, source: str, at: int, kind: str, applies: Callable[[WatchRule], bool], text: Callable[[WatchRule], str]
    ) -> list[events.WatchHit]:
        with self._lock:
            mine = [r for r in self._rules if r.kind == kind and applies(r)]
            new = [r for r in mine if self._told.setdefault((r.id, source), Occurrences()).add(at)]
        return [events.WatchHit(r.id, r.kind, source, at, text(r)) for r in new]


# ---------------------------------------------------------------- as evidence arrives


class Watching:
    """Follows the evidence of one open memory and tells when a rule applies. Close it.

    `saw` takes provisional evidence, on the thread that has it; `note` what a commit changed, which is read in a thread of its own.
    """

    def __init__(self, reader: Callable[[], Any], emit: Callable[[events.WatchHit], None]) -> None:
        """`reader`: opens a new reader of the memory, for one thread (`app.App.reader`)."""
        self._reader, self._emit = reader, emit
        self._rules = Rules()
        self._clips: set[str] = set()
        self._stale = True
        self._closed = False
        self._lock = threading.Lock()
        self._due = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to follow commits; what was committed before is not told."""
        self._thread = threading.Thread(target=self._run, name="m3desk-watching", daemon=True)
        self._due.set()
        self._thread.start()

    def saw(self, event: object) -> None:
        """Evaluate a live event: faces whose name is kept, and speech that is over."""
        if not self._rules.some:
            return
        if isinstance(event, events.LiveFaces):
            for face in event.faces:
                if face.person is not None and face.sure:
                    self._tell(self._rules.person(event.source, event.at, face.person, speaks=False))
        elif isinstance(event, events.LiveWords):
            if event.person is not None and (event.sure or event.final):
                self._tell(self._rules.person(event.source, event.start, event.person, speaks=True))
            if event.final and event.text:
                self._tell(self._rules.words(event.source, event.start, event.text))

    def refresh(self) -> None:
        """Read the rules again: one was added or removed. Returns at once."""
        with self._lock:
            self._stale = True
        self._due.set()

    def note(self, changed: Changed) -> None:
        """Evaluate the clips that a commit wrote, and follow merges of the persons of rules; returns at once."""
        with self._lock:
            self._stale = self._stale or changed.whole or bool(changed.people)
            if changed.observations and self._thread is not None:
                self._clips |= changed.clips
        self._due.set()

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._due.set()
        if self._thread is not None:
            self._thread.join()

    def _tell(self, hits: Iterable[events.WatchHit]) -> None:
        for hit in hits:
            self._emit(hit)

    def _run(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            if self._closed:
                return
            with self._lock:
                clips, self._clips = self._clips, set()
                stale, self._stale = self._stale, False
            if not stale and not (clips and self._rules.some):
                continue
            try:
                with self._reader() as reader:
                    if stale:
                        self._rules.set(reader.watches())
                    if self._rules.some:
                        self._committed(reader, clips)
            except M3DeskError as error:
                log.warning("the rules of “watch for” could not be evaluated: %s", error)

    def _committed(self, reader: Reader, clips: set[str]) -> None:
        """Tell what rules apply to the evidence of these clips, in order of time."""
        for clip in sorted(reader.clips_of(clips), key=lambda c: (c.source, c.index)):
            if clip.state not in ("episodic", "done"):
                continue
            for seen in reader.tracks(clip.source, clip.start, clip.end):
                if seen.person is not None and seen.track.clip == clip.id:
                    for at in _while(seen.track.start, seen.track.end):
                        self._tell(self._rules.person(clip.source, at, seen.person, speaks=False))
            for said in reader.speech(clip.source, clip.start, clip.end):
                if said.utterance.clip != clip.id:
                    continue
                if said.person is not None:
                    self._tell(self._rules.person(clip.source, said.utterance.start, said.person, speaks=True))
                if said.utterance.text:
                    self._tell(self._rules.words(clip.source, said.utterance.start, said.utterance.text))
            for thing in reader.objects(clip.source, clip.start, clip.end):
                if thing.clip == clip.id:
                    for at in _while(thing.start, thing.end):
                        self._tell(self._rules.object(clip.source, at, thing.label))


def _while(start: int, end: int) -> list[int]:
    """Return moments of something that lasts, so close that it is one occurrence."""
    return [*range(start, end, COOL_DOWN // 2), end]
