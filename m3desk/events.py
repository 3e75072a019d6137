"""Events from the engine to the window and the terminal: small frozen dataclasses, picklable, delivered in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from m3desk.domain.changed import Changed
from m3desk.domain.live import DeviceState, LiveFace, LiveState, WatchKind
from m3desk.domain.log import ObservationType

if TYPE_CHECKING:  # it reads the settings, which `m3desk --help` does without
    from m3desk.outgoing import Leaving

Event = Any
"""Any of the classes below (dispatch by type)."""


@dataclass(frozen=True, slots=True)
class EngineReady:
    """The engine opened a memory, at this version (0: not known). `device`: "CPU, 2 threads". `missing`: port → what to do about it.

    `can_undo`, `can_redo`: whether the memory has corrections that undo and redo would take: see `Corrected`. `no_language`: the language
    model that is not installed, so that clips get no semantic memories; "" if there is one. `leaves`: what goes to another machine.
    `older`: what the memory recognises with an older model than new memories use → the command that moves it to theirs.
    """

    memory: str
    device: str
    profile: str
    missing: dict[str, str]
    version: int = 0
    can_undo: bool = False
    can_redo: bool = False
    no_language: str = ""
    leaves: Leaving | None = None
    older: Mapping[ObservationType, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineLost:
    """The engine process ended unexpectedly; `restarting`: it is started again."""

    message: str
    hint: str
    restarting: bool


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """A backend is loading, or has loaded. `said`: its last line, of one that takes long."""

    name: str
    done: bool
    said: str = ""


@dataclass(frozen=True, slots=True)
class Leaves:
    """Something leaves this machine from now on: the clips of a source go to a server that is not this machine."""

    leaving: Leaving


@dataclass(frozen=True, slots=True)
class SourceQueued:
    source: str
    uri: str


@dataclass(frozen=True, slots=True)
class SourceChanged:
    """A source's state, queue place or progress changed; views read it again."""

    source: str
    state: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Erased:
    """Material of [start, end) microseconds of a source is gone for good: whatever shows or keeps pictures or sound of it drops them.

    Sent for whatever erases: forgetting a span or a person, the removal of a source, and recordings that are kept no longer (by the
    user's choice, by age, or once memorized). `recording`: what was recorded is gone; a user's own file stays as it is. `memory`: what the
    memory kept of it is (crops, thumbnails).
    """

    source: str
    start: int
    end: int
    recording: bool
    memory: bool


Stage = Literal["watching", "written", "knowledge", "embedding", "rebinding", "rebuilding", "reading", "importing"]
"""What is done: a clip is perceived, was committed, gets its semantic memories; observations are embedded with another model; clips are
bound by its embeddings; the derived tables are computed again from the log; a file is read to be imported; what it holds is written."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Work on a source. `done`, `total`: microseconds (clips while knowledge is written; parts of the work, such as
    observations, clips or bytes, where `source` and `clip` are empty: it is about the whole memory; both 0: how far it is, is not known).

    `rate`: seconds of source per second of work so far; `left`: estimated seconds of work left, None when unknown.
    """

    source: str
    clip: str
    stage: Stage
    done: int
    total: int
    rate: float | None
    left: float | None


@dataclass(frozen=True, slots=True)
class EvidenceSeen:
    """The first face boxes and words of the clip being processed, sent before its commit so that they can be shown at once.

    `faces`: (at, x, y, width, height) rows; nothing here is stored yet, ids are not given.
    """

    source: str
    clip: str
    faces: tuple[tuple[int, float, float, float, float], ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class ClipCommitted:
    """A clip was committed. `state`: "episodic" (evidence and episodic memories), "done" (semantic memories too), "failed", "skipped"."""

    clip: str
    state: str
    nodes: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """Something was committed: which rows changed since the previous event of this type. Views read those rows again."""

    changed: Changed


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction, undo, redo or revert was applied."""

    step: int
    kind: str
    text: str
    can_undo: bool
    can_redo: bool


@dataclass(frozen=True, slots=True)
class Suggested:
    """The number of suggested identity corrections at a version of the memory; `Desk.suggestions` returns them."""

    version: int
    count: int


@dataclass(frozen=True, slots=True)
class AskStarted:
    ask: str
    question: str


@dataclass(frozen=True, slots=True)
class AskRound:
    """One round of answering. `action`: "search" or "answer"; `results`: node or clip ids; `shown`: what was found, one line each."""

    ask: str
    number: int
    action: str
    query: str
    results: tuple[str, ...]
    shown: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class AskText:
    """The next piece of the answer text."""

    ask: str
    piece: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The evidence of one part of an answer. Times: microseconds of `source`. `mark`: its mark in the answer, such as "[06:14]".

    `said`: what the node said when the answer was given (`domain.basis.said_by`), "" where that is unknown.
    """

    clip: str
    source: str
    start: int
    end: int
    node: str | None
    mark: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class AskDone:
    """`quoted`: no language model answered, so the best-supported memories are quoted. `problem`: why the model failed.

    `called`: (person, what they are called) of those whom the answer or its citations name.
    """

    ask: str
    answer: str
    found: bool
    citations: tuple[Citation, ...]
    model: str
    seconds: float
    quoted: bool = False
    error: str | None = None
    problem: str = ""
    called: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Downloading:
    """`state`: "working", "done", "failed"; bytes of the model `name`."""

    name: str
    done: int
    total: int
    state: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Damaged:
    """A memory's database is damaged: what is wrong (`text`) and the date of its last good copy (`copy`, "" if there is none)."""

    path: str
    text: str
    copy: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know. `level`: "info", "warning", "error"."""

    level: str
    text: str
    hint: str = ""
    report: str = ""


# ---------------------------------------------------------------- live


@dataclass(frozen=True, slots=True)
class LiveStarted:
    """A live source is recorded from now on. `address`: without credentials; `preview`: name of the newest picture in shared memory."""

    source: str
    address: str
    preview: str


@dataclass(frozen=True, slots=True)
class LiveEnded:
    """Recording ended; clips that are not memorized yet follow. `reason`: "" if the user stopped it."""

    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """The state of a live source, about twice a second. Times: microseconds of the source.

    `recorded`: end of the recording; `remembered`: end of the last memorized clip. `behind`: seconds of closed clips that are not
    memorized yet. `skipped`: clips lost. `given_up`: what is left out of clips at present, in order (`m3desk.live.pace`). `catch_up`:
    estimated seconds until nothing waits, at the measured speed; None if not known or not catching up. `level`: dBFS of the sound, None
    without sound. `disk_free`: bytes; `budget`: bytes that the recording may use, None = no limit. `waits`: clips that wait on disk.
    """

    source: str
    state: LiveState
    recorded: int
    remembered: int
    behind: float
    skipped: int
    given_up: tuple[str, ...]
    catch_up: float | None
    camera: DeviceState
    microphone: DeviceState
    level: float | None
    disk_free: int
    budget: int | None
    waits: int = 0


@dataclass(frozen=True, slots=True)
class LiveFaces:
    """The faces on a picture of the clip that is being recorded: provisional, never stored. `at`: microseconds of the source."""

    source: str
    at: int
    faces: tuple[LiveFace, ...]


@dataclass(frozen=True, slots=True)
class LiveWords:
    """Words of the clip that is being recorded: provisional, never stored. Later words with the same `start` replace earlier ones.

    `final`: no later event changes them. `person`: person id, None if nobody known; `sure`: see `domain.live.LiveFace`.
    """

    source: str
    start: int
    end: int
    text: str
    person: str | None = None
    name: str = ""
    sure: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class WatchHit:
    """A rule of *watch for* applies. `rule`: its id; `at`: microseconds of the source; `text`: what happened, for the user."""

    rule: int
    kind: WatchKind
    source: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class AskWaits:
    """A question is about the last seconds of a live source, which are not memorized; the window says so in its language.

    `known`: they are being memorized, and the question waits for it; else only names and subtitles are known of them.
    """

    ask: str
    seconds: int
    known: bool
