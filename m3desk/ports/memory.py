"""The read interface of a memory, for windows, commands and control (implemented by `store`, connected in `app`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from m3desk.domain.bookmark import Bookmark
from m3desk.domain.changed import Edge
from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Step
from m3desk.domain.evidence import ObjectSeen, TextOnScreen
from m3desk.domain.graph import EdgeRow, GraphSnapshot, NodeRow
from m3desk.domain.live import WatchRule
from m3desk.domain.memory import StoredSentence, TimelineSentence
from m3desk.domain.people import Binding, Person, PresenceSpan, SpeechRow, TrackRow
from m3desk.domain.questions.types import Suggestion, Verdict


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node that a search found. `score` 0–1 after fusion; `why`: one readable line ("words: green, tea · meaning 0.83")."""

    id: str
    type: str
    content: str
    score: float
    why: str
    clip: str | None
    source: str | None
    start: int | None
    end: int | None
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundClip:
    clip: str
    source: str
    start: int
    end: int
    score: float
    memories: tuple[FoundNode, ...] = ()


class Reader(Protocol):
    """Read-only access to one memory; each call reads one consistent snapshot in milliseconds. Use it from one thread at a time.

    A parameter `ref` takes a person as `person_3`, `3`, `Person 3`, a name or an alias.
    """

    path: str

    def version(self) -> int:
        """Return the sequence number of the last commit; equal numbers mean nothing changed."""
        ...

    def sources(self) -> list[Source]: ...
    def clips(self, source: str | None = None) -> list[Clip]: ...
    def clips_between(self, source: str, start: int, end: int) -> list[Clip]:
        """Return the clips of a source that overlap [start, end)."""
        ...

    def thumbnail(self, clip: str) -> str | None: ...
    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]: ...
    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]: ...
    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]: ...
    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]: ...
    def people(self) -> list[Person]: ...
    def person(self, ref: str) -> Person:
        """Return a person. Raises CorrectionError if `ref` matches nobody."""
        ...

    def memories(
        self, *, kind: str | None = None, person: str | None = None, source: str | None = None, clip: str | None = None
    ) -> list[StoredSentence]:
        """Return sentences in time order."""
        ...

    # What views read after a commit: those of the named rows that are still there, and in force.
    def clips_of(self, ids: Collection[str]) -> list[Clip]: ...
    def thumbnails(self, clips: Collection[str]) -> dict[str, str]:
        """Return clip → media id of its picture, for clips that have one."""
        ...

    def tracks_of(self, ids: Collection[str]) -> list[TrackRow]: ...
    def speech_of(self, ids: Collection[str]) -> list[SpeechRow]: ...
    def people_of(self, ids: Collection[str]) -> list[Person]: ...
    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]: ...
    def nodes_of(self, ids: Collection[str]) -> list[NodeRow]: ...
    def edges_of(self, keys: Collection[Edge]) -> list[EdgeRow]: ...
    def presence(self, clips: Collection[str]) -> list[PresenceSpan]:
        """Return who is seen and heard when in these clips, in order of time."""
        ...

    def moments(self, clips: Collection[str]) -> list[TimelineSentence]:
        """Return when the sentences in force of these clips are, in order of time."""
        ...

    def sentence(self, node: str) -> StoredSentence: ...
    def node(self, id_: str) -> NodeRow: ...
    def neighbours(self, id_: str) -> list[EdgeRow]: ...
    def graph(self) -> GraphSnapshot: ...
    def bindings(self, observation: str | None = None, node: str | None = None) -> list[Binding]: ...
    def journal(self) -> list[Step]: ...
    def suggestions(self) -> list[Suggestion]:
        """Return the identity questions for the user, most useful first."""
        ...

    def why(self, observation: str) -> Verdict:
        """Return why an observation is assigned to its person. Raises CorrectionError if the id is unknown."""
        ...

    def bookmarks(self) -> list[Bookmark]:
        """Return the moments and spans that a user marked, by source and time."""
        ...

    def waveform(self, source: str) -> bytes | None:
        """Return the peaks of a source's sound, a hundred bytes a second; None if they are not computed yet, or nothing is there."""
        ...

    def forgotten_spans(self) -> list[tuple[str, int, int]]:
        """Return (source, start, end) of each span that was forgotten, in order of time."""
        ...

    def watches(self) -> list[WatchRule]:
        """Return the rules of *watch for*, oldest first."""
        ...

    def consents(self) -> dict[str, str]:
        """Return person id → the note on their consent, of those who have one."""
        ...

    def chats(self, newest: int | None = None) -> list[dict[str, Any]]:
        """Return what was asked, the oldest first; `newest`: so many of the newest at most."""
        ...

    def media(self, id_: str) -> bytes | None:
        """Return a stored crop, speech snippet or thumbnail."""
        ...

    def close(self) -> None: ...
