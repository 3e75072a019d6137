"""What the engine and the window say to each other about a live source: its devices, its state, names before a clip ends, watch rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Keep = Literal["always", "until remembered"] | float
"""How long a recording is kept: for ever, until its clips are memorized, or this many hours."""

LONGEST_KEPT = 100_000
"""Hours that a recording may be kept at most."""

AT_ITS_END = "the source ended"
"""Why recording ended where a stream or film was delivered to its end: nothing went wrong."""

LiveState = Literal["starting", "recording", "paused", "reconnecting", "stopping"]

DeviceState = Literal["on", "off", "lost", "busy", "silent", "stalled", "none"]
"""The real state of a capture device. `off`: closed by us (paused, ended); `silent`: open, but only zeros come; `none`: not used."""

DeviceKind = Literal["camera", "microphone"]

GivenUp = Literal["semantic memories", "objects and text on screen", "half of the pictures", "most pictures"]
"""What is left out of a clip while memorizing is behind, in this order (`m3desk.live.pace`); never sound, faces or commits.

`half of the pictures`: 2.5 instead of 5 a second are analysed; `most pictures`: one a second.
"""

SEMANTIC: GivenUp = "semantic memories"
OBJECTS_AND_TEXTS: GivenUp = "objects and text on screen"
HALF_OF_PICTURES: GivenUp = "half of the pictures"
MOST_PICTURES: GivenUp = "most pictures"

WatchKind = Literal["person", "word", "object"]


@dataclass(frozen=True, slots=True)
class Device:
    """A camera or microphone of this machine. `id`: what a live address takes; `ok`: result of a short test, None if not tested.

    `test`: what the test found, such as "1280×720, 29.9 pictures per second" or "−31 dBFS".
    """

    kind: DeviceKind
    id: str
    name: str
    formats: tuple[str, ...] = ()
    ok: bool | None = None
    test: str = ""


@dataclass(frozen=True, slots=True)
class LiveFace:
    """A face on the newest picture, with the provisional owner of its track. Box: pixels of the picture as displayed.

    `person`: person id of the memory, None if nobody known. `sure`: False until the track was compared often enough to keep the name.
    """

    track: str
    x: float
    y: float
    width: float
    height: float
    person: str | None = None
    name: str = ""
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """Words of a live source that are not in the memory yet: provisional, never stored. Times: microseconds of the source.

    `person`: person id, None if nobody known. `name`: what they are called, "" if nobody known.
    """

    source: str
    start: int
    end: int
    text: str
    person: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """Somebody known in the pictures of a live source that are not in the memory yet: provisional, never stored. Times: microseconds."""

    source: str
    start: int
    end: int
    person: str


@dataclass(frozen=True, slots=True)
class Unmemorized:
    """What is known of the time of a live source that is not memorized yet: from `start` to `end`, its newest moment (microseconds)."""

    source: str
    start: int
    end: int
    heard: tuple[Heard, ...] = ()
    seen: tuple[Seen, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchRule:
    """A rule of *watch for*. `value`: person id, word, or object label; `label`: what the user calls it."""

    id: int
    kind: WatchKind
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """The part of a recording that is older than it is kept: [start, end) microseconds, and its size."""

    source: str
    start: int
    end: int
    bytes: int
    name: str


@dataclass(frozen=True, slots=True)
class SpanForgotten:
    """What forgetting a span of a source removes, or would remove in a dry run. Times: microseconds of the source.

    `people`: those seen or heard nowhere else. `recording`: whether the recording of the span goes too (never a user's own file).
    `found`: what the search afterwards still found of it (empty = proven); `searched`: how much was searched. Both empty in a dry run.
    """

    source: str
    start: int
    end: int
    clips: int
    observations: int
    sentences: int
    people: tuple[str, ...]
    chats: int
    recording: bool
    found: tuple[str, ...] = ()
    text: str = ""
    searched: Mapping[str, int] = field(default_factory=dict)
    bookmarks: int = 0


def parse_keep(text: str) -> Keep | None:
    """Return how long recordings are kept, from its setting: `always`, `remembered`, or a number of hours; None for any other text."""
    if text == "always":
        return "always"
    if text == "remembered":
        return "until remembered"
    try:
        hours = float(text)
    except ValueError:
        return None
    return hours if 0 < hours <= LONGEST_KEPT else None
