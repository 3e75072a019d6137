"""The calls that the window makes on the engine (implemented by `m3desk.desk`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from m3desk.domain.correction import Effect
from m3desk.domain.forgetting import PersonForgotten, Way
from m3desk.domain.insight import Belonging, VoiceLink, Wall
from m3desk.domain.live import Device, Keep, Outdated, SpanForgotten, WatchKind, WatchRule
from m3desk.domain.memory import StoredSentence, Version
from m3desk.domain.questions.scorecard import Score
from m3desk.domain.questions.types import Suggestion, Verdict
from m3desk.ports.memory import FoundNode, Reader


class Desk(Protocol):
    """The window's interface to the engine. Each call returns at once; results come as futures, changes as events."""

    def subscribe(self, on_event: Callable[[Any], None]) -> Callable[[], None]:
        """Call `on_event` with every event, from another thread; return a function that unsubscribes."""
        ...

    def reader(self, *, before: tuple[str, int] | None = None, believed_at: str | None = None) -> Reader:
        """Return a new read-only reader of the open memory, for use in one thread (slow reads: not in the GUI thread).

        `before`: source and index of the clip up to which it is known; `believed_at`: an ISO date. Either takes seconds to open.
        """
        ...

    def memorize(self, paths: Sequence[str]) -> Future[list[str]]:
        """Queue files or folders (their videos in name order); return the source ids."""
        ...

    def pause(self, paused: bool) -> None: ...
    def cancel(self, source: str) -> None: ...
    def retry(self, source: str) -> None: ...
    def move(self, source: str, to: int) -> None:
        """Move a queued source to another position (0 = next)."""
        ...

    def queue(self) -> Future[list[str]]:
        """Return the ids of the waiting sources in queue order."""
        ...

    def remove_source(self, source: str, *, dry_run: bool = False) -> Future[Effect]: ...
    def relink(self, source: str, path: str) -> Future[None]: ...
    def devices(self, *, test: bool = False) -> Future[list[Device]]:
        """Return the cameras and microphones of this machine; with `test`, each is opened for a moment."""
        ...

    def start_live(self, address: str, *, keep: Keep = "always", bystanders: bool = False, budget_bytes: int | None = None) -> Future[str]:
        """Record and memorize a live source; return its source id. `bystanders`: unknown faces are blurred.

        `budget_bytes`: the most that recordings of this source may take on disk. LiveStarted, LiveStatus … LiveEnded follow as events.
        """
        ...

    def pause_live(self, paused: bool) -> Future[None]:
        """Stop the devices of the live source, or go on."""
        ...

    def stop_live(self) -> Future[None]:
        """Stop recording; what is recorded is still memorized."""
        ...

    def approve(self, who: str, name: str = "") -> Future[str]:
        """Approve a blurred face (the track of its `LiveFace`, such as “hidden3”) or a person, in bystander mode; return the person's id.

        A face becomes a person called `name`. Raises UsageError, CorrectionError.
        """
        ...

    def retention(self, *, hours: float | None = None, dry_run: bool = False) -> Future[list[Outdated]]:
        """Delete what recordings hold beyond the time that they are kept, or beyond `hours`; return what went (dry run: would go)."""
        ...

    def forget_person(self, person: str, way: Way = "forget", *, sources: bool = False, dry_run: bool = False) -> Future[PersonForgotten]:
        """Forget a person for good, then search what is left for traces of them; in a dry run, return what that would remove.

        `sources`: the sources that show them are removed, too. The future raises CorrectionError if there is nobody of this id.
        """
        ...

    def forget_span(self, source: str, start: int, end: int, *, dry_run: bool = False) -> Future[SpanForgotten]:
        """Forget [start, end) microseconds of a source for good, its recording included; in a dry run, return what that would remove."""
        ...

    def forget_recent(self, seconds: float, *, dry_run: bool = False) -> Future[SpanForgotten]:
        """Forget what was recorded in the last seconds."""
        ...

    def ask(self, question: str, *, source: str | None = None, start: int | None = None, end: int | None = None) -> str:
        """Ask a question; return its id. AskStarted, AskRound, AskText and AskDone follow as events."""
        ...

    def stop_asking(self, ask: str) -> None: ...
    def search(self, text: str, k: int = 20) -> Future[list[FoundNode]]: ...
    def search_sample(self, path: str, k: int = 20) -> Future[list[FoundNode]]:
        """Return the people whose faces a photo shows, or whose voices a recording holds, best first; accepted matches only."""
        ...

    def suggestions(self) -> Future[list[Suggestion]]:
        """Return the current identity questions for the user, most useful first; `events.Suggested` gives their number."""
        ...

    def why(self, observation: str) -> Future[Verdict]:
        """Return why an observation is assigned to its person. The future raises CorrectionError if the id is unknown."""
        ...

    def walls(self) -> Future[list[Wall]]:
        """Return whom corrections keep apart, the newest first. `revert` of a wall's step removes it."""
        ...

    def links_of(self, person: str) -> Future[list[VoiceLink]]:
        """Return the pairs of a face and a voice with votes, of which this person has at least one."""
        ...

    def belonging(self, person: str) -> Future[Belonging]:
        """Return how sure it is that a person's faces and utterances belong together."""
        ...

    def scorecard_pairs(self, count: int = 20) -> Future[list[tuple[str, str]]]:
        """Return the pairs of observations whose answers tell most about how right the memory is."""
        ...

    def score(self, answers: Mapping[tuple[str, str], bool]) -> Future[Score]:
        """Return precision and recall of the identities by these answers (pair → one person?)."""
        ...

    def evaluate(self, files: Sequence[str]) -> Future[dict[str, Any]]:
        """Return the report of `evaluate identity` against truth files. The future raises M3DeskError if they are none of this memory."""
        ...

    def correct(self, kind: str, args: Mapping[str, Any], *, why: str | None = None, dry_run: bool = False) -> Future[Effect]: ...
    def writers(self) -> Future[list[str]]:
        """Return who can write a clip: the rules, and installed models that watch."""
        ...

    def compare(self, clip: str) -> Future[tuple[list[StoredSentence], Version | None]]:
        """Return a clip's sentences in force, and those of another writer if the clip was written again."""
        ...

    def rewrite(self, clips: Sequence[str], writer: str) -> Future[dict[str, str]]:
        """Have clips written again; nothing in force changes. Returns the clips that could not be written → why."""
        ...

    def drop_version(self, clip: str) -> Future[bool]: ...
    def accept(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        """Apply suggestion `n`."""
        ...

    def reject(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        """Reject suggestion `n`; it is not asked again."""
        ...

    def undo(self) -> Future[Effect]: ...
    def redo(self) -> Future[Effect]: ...
    def revert(self, step: int) -> Future[Effect]: ...
    def add_watch(self, kind: WatchKind, value: str, label: str = "") -> Future[WatchRule]:
        """Add a rule of *watch for*: a person id, a word or an object. `Reader.watches` lists them; a hit is an `events.WatchHit`."""
        ...

    def remove_watch(self, rule: int) -> Future[None]: ...
    def set_consent(self, person: str, note: str) -> Future[None]:
        """Keep a note on a person's consent; an empty one removes it. `Reader.consents` reads them."""
        ...

    def models(self) -> Future[list[dict[str, Any]]]:
        """Return the rows of `models list`."""
        ...

    def pull(self, *, llm: bool = False, names: Sequence[str] = ()) -> Future[None]:
        """Download missing weights; Downloading events report the progress."""
        ...

    def stop_pulling(self) -> None:
        """Stop downloading; partial files are kept and continued next time."""
        ...

    def remove_model(self, name: str) -> Future[None]:
        """Delete a downloaded model's files."""
        ...

    def doctor(self) -> Future[dict[str, Any]]: ...
    def check(self) -> Future[dict[str, Any]]:
        """Return the report of `m3desk check`."""
        ...

    def picture(self, source: str, at: int, width: int = 480) -> Future[bytes | None]:
        """Return a source's picture at a time (microseconds) as JPEG; None if its file is missing, b"" if it has none then."""
        ...

    def import_file(self, path: str) -> Future[dict[str, Any]]:
        """Write an M3-Agent graph or an export into this memory, which must be empty; Progress events tell how far it is.

        Returns the counts. The future raises ImportProblem, or Cancelled after `stop_import`; then nothing is written.
        """
        ...

    def stop_import(self) -> None:
        """Stop an import; too late once it is committed."""
        ...

    def make_waveform(self, source: str) -> Future[bool]:
        """Compute a source's waveform, unless it is there; return whether `Reader.waveform` has it then."""
        ...

    def export(self, path: str, format_: str | None = None, source: str | None = None) -> Future[bool]:
        """Write the memory in another format; return whether there was anything to write (subtitles of a silent film are empty)."""
        ...

    def export_clip(self, path: str, source: str, start: int, end: int) -> Future[bool]:
        """Write a span of a source (microseconds) as a video; return whether it was copied without loss."""
        ...

    def close(self) -> None: ...
