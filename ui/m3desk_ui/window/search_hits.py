"""What the search over the window finds without the engine: people, words spoken, bookmarks, clips, moments. No Qt widgets, no IO."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

from m3desk.domain.clip import MICROSECOND, clock
from m3desk_ui.look import texts

if TYPE_CHECKING:
    from m3desk.domain.bookmark import Bookmark
    from m3desk.domain.clip import Clip, Source
    from m3desk.domain.people import Person, SpeechRow
    from m3desk.ports import FoundNode, Reader

Group = Literal["people", "memories", "spoken", "bookmarks", "clips", "actions", "alike"]
MOST = {"people": 8, "memories": 12, "spoken": 10, "bookmarks": 10, "clips": 6, "actions": 8}
"""Hits of a group that are listed; of the memories, those of similar meaning ("alike") count, too."""

_TIME = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2})")


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found. `kind`, `id`: as `hub.selection` names it; of an action and a bookmark, its own. `picture`: a media id."""

    group: Group
    text: str
    detail: str
    kind: str
    id: str
    source: str | None = None
    start: int | None = None
    end: int | None = None
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """What can be found by words; read once when the search opens."""

    people: tuple[Person, ...] = ()
    sources: tuple[Source, ...] = ()
    clips: tuple[Clip, ...] = ()
    speech: tuple[tuple[str, SpeechRow], ...] = ()
    """Source and row, in order of time."""
    bookmarks: tuple[Bookmark, ...] = ()


def read_index(reader: Reader) -> Index:
    """Read what can be found (in the reading thread)."""
    sources = tuple(reader.sources())
    people = sorted(reader.people(), key=lambda p: (p.ignored, p.name is None, -p.screen_time - p.speech_time))
    said = tuple((s.id, row) for s in sources for row in reader.speech(s.id) if row.utterance.text and not row.set_aside)
    marked = tuple(b for b in reader.bookmarks() if b.source is not None)
    return Index(tuple(people), sources, tuple(reader.clips()), said, marked)


def holds(text: str, words: Iterable[str]) -> bool:
    """Return whether a text contains all of these words (given in lower case)."""
    lower = text.casefold()
    return all(word in lower for word in words)


def search(index: Index, typed: str) -> list[Hit]:
    """Return what the typed words find, by group."""
    words = typed.casefold().split()
    if not words:
        return []
    return [*_people(index, words), *_spoken(index, words), *_bookmarks(index, words), *_clips(index, typed, words)]


def _people(index: Index, words: list[str]) -> list[Hit]:
    found = [p for p in index.people if holds(" ".join((p.shown, texts.person(p.shown), *p.aliases)), words)]
    return [person_hit(p) for p in found[: MOST["people"]]]


def person_hit(p: Person, why: str = "") -> Hit:
    """Return a person as a hit, marked where first seen or heard."""
    detail = why or texts.presence(p.screen_time + p.speech_time)
    source, at = p.first_seen or (None, None)
    return Hit("people", texts.person(p.shown), detail, "person", p.id, source, at, at, p.portrait)


def _spoken(index: Index, words: list[str]) -> list[Hit]:
    found: list[Hit] = []
    for source, row in index.speech:
        u = row.utterance
        if holds(u.text, words):
            detail = f"{clock(u.start)} · {texts.person(row.shown)}" if row.shown else clock(u.start)
            found.append(Hit("spoken", u.text, detail, "observation", u.id, source, u.start, u.end))
            if len(found) == MOST["spoken"]:
                break
    return found


def _bookmarks(index: Index, words: list[str]) -> list[Hit]:
    """Return the bookmarks whose note holds the words; the word itself, "bookmark", finds all of them."""
    called = QCoreApplication.translate("Search", "Bookmark")
    names = _names(index)
    found = []
    for b in index.bookmarks:
        if holds(f"{called} {b.note}", words):
            detail = clock(b.start) + (f" – {clock(b.end)}" if b.end > b.start else "")
            detail += f" · {names.get(b.source or '', '')}" if len(index.sources) > 1 else ""
            found.append(Hit("bookmarks", b.note or called, detail, "bookmark", b.id, b.source, b.start, b.end))
    return found[: MOST["bookmarks"]]


def _names(index: Index) -> dict[str, str]:
    """Return the file name of each source."""
    return {s.id: s.uri.replace("\\", "/").rsplit("/", 1)[-1] for s in index.sources}


def _clips(index: Index, typed: str, words: list[str]) -> list[Hit]:
    """Return the clips at a time ("1:20"), by number ("clip 3"), and the videos by file name."""
    translate = QCoreApplication.translate
    names = _names(index)
    found = [Hit("clips", names[s.id], texts.duration(s.duration or 0), "source", s.id) for s in index.sources if holds(names[s.id], words)]
    time = _TIME.fullmatch(typed.strip())
    at = None if time is None else (int(time[1] or 0) * 3600 + int(time[2]) * 60 + int(time[3])) * MICROSECOND
    for c in index.clips:
        text = translate("Search", "Clip %1").replace("%1", str(c.index + 1))
        here = c.start <= at < c.end if at is not None else holds(text, words)
        if here:
            detail = f"{clock(c.start)} – {clock(c.end)} · {names.get(c.source, '')}"
            found.append(Hit("clips", text, detail, "clip", c.id, c.source, c.start if at is None else at, c.end))
    return found[: MOST["clips"]]


def memory_hits(found: Iterable[FoundNode], typed: str) -> list[Hit]:
    """Return what the engine's search found among the memories: those that hold the typed words, and those of similar meaning."""
    words = typed.casefold().split()
    return [
        Hit(
            "memories" if holds(f.content, words) else "alike",
            f.content,
            "" if f.start is None else clock(f.start),
            "node",
            f.id,
            f.source,
            f.start,
            f.end,
        )
        for f in found
        if f.type in ("episodic", "semantic")
    ][: MOST["memories"]]


def sample_hits(index: Index, found: Iterable[FoundNode]) -> list[Hit]:
    """Return the people whom a picture or a recording matched, each once, with how alike they are."""
    known = {p.id: p for p in index.people}
    alike: dict[str, float] = {}
    for f in found:
        for person in f.people:
            alike[person] = max(alike.get(person, 0.0), f.score)
    why = QCoreApplication.translate("Search", "similarity %1")
    return [person_hit(known[id_], why.replace("%1", f"{score:.2f}")) for id_, score in alike.items() if id_ in known]
