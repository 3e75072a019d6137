"""The live sources of one open memory: one at a time is recorded; those that an earlier process left behind are closed and queued.

Must not know: models, windows, how a memory is stored (it gets a `SourceStore`).
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from m3desk import events, private
from m3desk.domain.changed import Changed
from m3desk.domain.clip import MICROSECOND, Source
from m3desk.domain.live import MOST_PICTURES, SEMANTIC, GivenUp, Keep, Outdated, Unmemorized
from m3desk.errors import M3DeskError, SourceError, UsageError, line_of
from m3desk.live.newest import Newest
from m3desk.live.retention import delete, outdated
from m3desk.live.session import ENDING, Recorder, Session, close_source
from m3desk.media.capture import recorder as capture
from m3desk.media.capture import reports
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.recording import Recording, is_recording
from m3desk.store.recordings import FOLDER
from m3desk.work import SourceStore, Work

log = logging.getLogger(__name__)

ANSWER_AFTER = 4.0
"""Seconds that a question waits for the last seconds of a live source; then it is answered from what is memorized."""

MakeRecorder = Callable[..., Recorder]
"""Makes a recorder: (folder, address, on_report, keep=…, budget=…, transform=…, argument=…)."""


def recorder(
    folder: Path,
    address: LiveAddress,
    on_report: Callable[[reports.Report], None],
    *,
    keep: Keep,
    budget: int | None,
    transform: str | None,
    argument: str,
) -> Recorder:
    """Return the recorder of a live source, not started. `transform`, `argument`: what changes its pictures (`recognition.prepare`)."""
    return capture.Recorder(folder, address, on_report, keep=keep, budget_bytes=budget, transform=transform, argument=argument)


class Recognises(Protocol):
    """What is known of a live source before its clips end (`recognition.Recognition`)."""

    words: bool

    def prepare(self, *, bystanders: bool) -> tuple[str | None, str]: ...
    def begin(self, preview: str, folder: Path) -> None: ...
    def note(self, changed: Changed) -> None: ...
    def approve(self, who: str, name: str = "") -> str: ...
    def end(self) -> None: ...


class Live:
    """Starts, pauses and stops live sources of one memory; thread-safe."""

    def __init__(
        self,
        memory: Path,
        store: SourceStore,
        work: Work,
        emit: Callable[[Any], None],
        make: MakeRecorder = recorder,
        recognise: Callable[[str], Recognises] | None = None,
    ) -> None:
        """`recognise`: makes what names faces and voices of a source (its id) while it is recorded."""
        self.wake: Callable[[], None] = lambda: None
        """Wakes the thread that memorizes; set by the engine."""
        self.in_front: Callable[[Callable[[], None]], None] = lambda start: start()
        """Runs a function on a thread of full priority, so that the recorder has it too: it loses pictures where perception only waits."""
        self._memory, self._store, self._work, self._emit, self._make = memory, store, work, emit, make
        self._session: Session | None = None
        self._recognise = recognise
        self._recognition: Recognises | None = None
        self.newest = Newest()
        """What was heard and seen of the source before its clips are memorized."""
        self._lock = threading.Lock()

    @property
    def session(self) -> Session | None:
        """The live source that is recorded now, or whose last clips are being memorized."""
        return self._session

    def length(self, source: Source) -> int | None:
        """Return how many microseconds of a source there are; None if that is not known. One that is being recorded grows."""
        session = self._session
        recorded = session.recorded if session is not None and session.source.id == source.id else 0
        return max(recorded, source.duration or 0) or None

    # ------------------------------------------------------------------ start, pause, stop

    def start(self, address: str, *, keep: Keep = "always", bystanders: bool = False, budget: int | None = None, names: bool = True) -> str:
        """Start to record and memorize a live source; return its id. Raises UsageError while another one is recorded.

        `names`: name faces and voices before their clip ends; costs a quarter of a core, for nothing where nobody is shown them.
        """
        parsed = LiveAddress.parse(address)
        with self._lock:
            if self._session is not None and self._session.running:
                raise UsageError(f"{self._session.address} is being recorded.", "Stop it first; one live source at a time.")
            source = self._new_source(parsed)
            settings = self._work.settings
            recognition = self._recognition = self._recognise(source.id) if self._recognise is not None and (names or bystanders) else None
            self._session = session = Session(
                self._store,
                self._work,
                self._heard,
                source=source,
                address=parsed.shown(),
                clip_seconds=self._work.clip_seconds(),
                fps=settings.fps,
                keep=keep,
                budget=budget,
                wake=lambda: self.wake(),
            )
        try:
            transform, argument = self._prepared(recognition, bystanders)
            self.in_front(
                lambda: session.start(
                    lambda folder, report: self._make(
                        folder, parsed, report, keep=keep, budget=budget, transform=transform, argument=argument
                    )
                )
            )
        except Exception as error:
            session.finished()
            self._session = None
            if recognition is not None:
                recognition.end()
            self._store.remove_source(source.id, dry_run=False)
            if isinstance(error, OSError):
                reason = error.strerror or type(error).__name__
                raise M3DeskError(f"the live source can't be started: {reason}.", "Check the disk and the room on it.") from error
            raise
        if recognition is not None:
            recognition.begin(session.preview, session.folder)
        self._work.follow(source.id, session)
        self._emit(events.LiveStarted(source.id, parsed.shown(), session.preview))
        self._emit(events.SourceChanged(source.id, "live"))
        self.wake()
        return source.id

    @staticmethod
    def _prepared(recognition: Recognises | None, bystanders: bool) -> tuple[str | None, str]:
        """Return what changes the recorder's pictures. Raises ModelMissing, UsageError: in bystander mode nothing is recorded without."""
        if recognition is not None:
            return recognition.prepare(bystanders=bystanders)
        if bystanders:
            raise UsageError("bystander mode is not available here.", "Record without it, or in the window.")
        return None, ""

    def _heard(self, event: Any) -> None:
        """Pass an event of the session on. Recognition ends with it.

        Subtitles lose their words last of all: while clips wait, questions about the last seconds are answered from them.
        """
        self._emit(event)
        recognition = self._recognition
        if recognition is None:
            return
        if isinstance(event, events.LiveStatus):
            recognition.words = MOST_PICTURES not in event.given_up
        elif isinstance(event, events.LiveEnded):
            threading.Thread(target=recognition.end, name="m3desk-recognition-end", daemon=True).start()

    def note(self, changed: Changed) -> None:
        """Note what a commit changed, for the recognition of faces and voices; returns at once."""
        if self._recognition is not None:
            self._recognition.note(changed)

    def approve(self, who: str, name: str = "") -> str:
        """Approve a blurred face (its track) or a person, in bystander mode; return the person's id. Raises UsageError, CorrectionError."""
        self._running()
        if self._recognition is None:
            raise UsageError("this source is not recorded in bystander mode.", "Nobody is hidden: name the person instead.")
        return self._recognition.approve(who, name)

    def _new_source(self, address: LiveAddress) -> Source:
        """Add the source's row and make the folder of its recording, whose name says what it is of."""
        now = datetime.now().astimezone()
        added = self._store.add_source(
            Source(
                "", address.shown(), None, None, None, None, False, None, started_at=now.isoformat(timespec="milliseconds"), state="live"
            ),
            rebuild=False,
        )
        name = re.sub(r"[^\w.-]+", "-", address.shown().split("?")[0].rsplit("/", 1)[-1]).strip("-.")[:40] or "live"
        folder = private.folder(private.folder(self._memory / FOLDER) / f"{added.id}-{name}-{now:%Y%m%d-%H%M%S}")
        source = replace(added, uri=str(folder.absolute()))
        self._store.describe_source(source)
        return source

    def pause(self, paused: bool) -> None:
        """Stop the devices of the live source, or go on. Raises UsageError if none is recorded."""
        self._running().pause(paused)

    def stop(self) -> None:
        """Stop recording; what is recorded is still memorized. Raises UsageError if none is recorded."""
        self._running().stop()

    def _running(self) -> Session:
        if self._session is None or not self._session.running:
            raise UsageError("no live source is being recorded.", "Start one: m3desk play camera:0.")
        return self._session

    def close(self) -> None:
        """Stop recording and close the recording; what is not memorized yet waits for the next opening."""
        session = self._session
        if session is None:
            return
        if session.running:
            session.stop(wait=ENDING)
            if session.running:
                session.abandon()
        session.finished()
        self._session = None
        if self._recognition is not None:
            self._recognition.end()

    def gives_up(self, what: GivenUp) -> bool:
        """Return whether something is given up now; semantic memories also while any clip waits."""
        session = self._session
        if session is None:
            return False
        return what in session.pace.given_up(session.behind()) or (what == SEMANTIC and session.behind() > 0)

    # ------------------------------------------------------------------ questions

    def before_answer(self, ask: str, stop: Callable[[], bool]) -> Iterator[events.AskWaits]:
        """Close the open clip and wait until it is memorized, at most `ANSWER_AFTER` seconds; yield what is waited for.

        Does nothing without a live source. Where clips wait anyway, the last seconds cannot be known in time: that is told.
        """
        session = self._session
        if session is None or not session.running:
            return
        if session.behind() > 0:
            yield self._lacks(ask, session)
            return
        began = time.monotonic()
        clip = session.close_clip()
        if clip is None:
            return
        yield events.AskWaits(ask, round((clip.end - clip.start) / MICROSECOND), known=True)
        while session.waits_for(clip.id) and not stop() and time.monotonic() - began < ANSWER_AFTER:
            time.sleep(0.02)
        if session.waits_for(clip.id) and not stop():
            yield self._lacks(ask, session)

    @staticmethod
    def _lacks(ask: str, session: Session) -> events.AskWaits:
        return events.AskWaits(ask, round(session.unknown()), known=False)

    def unwritten(self, memorized: Callable[[str], int]) -> Unmemorized | None:
        """Return what was heard and seen of the live source but is not memorized; None without a live source.

        `memorized`: returns the end of a source's last memorized clip.
        """
        session = self._session
        if session is None or not session.running:
            return None
        source, start = session.source.id, memorized(session.source.id)
        heard, seen = self.newest.since(source, start)
        return Unmemorized(source, start, max(start, session.recorded), tuple(heard), tuple(seen))

    # ------------------------------------------------------------------ retention

    def retention(self, *, hours: float | None = None, dry_run: bool = False) -> list[Outdated]:
        """Delete what recordings hold beyond the time that they are kept, or beyond `hours`; return what went (dry run: would go)."""
        sources = [s for s in self._store.sources() if is_recording(s.uri)]
        clips = [c for s in sources for c in self._store.clips(s.id)]
        found = outdated(sources, clips, datetime.now().astimezone(), hours)
        by_id = {s.id: s for s in sources}
        for old in () if dry_run else found:
            delete(by_id[old.source], old.end, self._emit)
        return found

    # ------------------------------------------------------------------ forgetting

    def close_segment(self, source: str, past: int) -> None:
        """Have the recorder close its segment once `past` is recorded, so that all before it can be erased; nothing for other sources."""
        session = self._session
        if session is not None and session.running and session.source.id == source:
            session.close_segment(past)

    def forgot(self, source: str) -> None:
        """Note that a part of a source was forgotten: clips that lie in it are not waited for any more, its last words are dropped."""
        self.newest.forget()
        session = self._session
        if session is not None and session.source.id == source:
            session.synchronize()

    # ------------------------------------------------------------------ what an earlier process left behind

    def recover(self) -> list[str]:
        """Close the recordings of live sources whose process was killed, and plan their remaining clips; return the source ids."""
        self._store.tidy_recordings()
        with self._lock:  # a source that starts meanwhile has its row before its session
            ours = None if self._session is None else self._session.source.id
            left = [source for source in self._store.sources() if source.state == "live" and source.id != ours]
        for source in left:
            self._recover(source)
        for source in self._store.sources():
            if source.id != ours and is_recording(source.uri):
                with contextlib.suppress(SourceError, OSError):  # a disk that can't be written to now: the next opening tries again
                    Recording.open(source.uri).tidy()
        self.retention()
        return [source.id for source in left]

    def _recover(self, source: Source) -> None:
        fps = self._work.settings.fps
        _settled(Path(source.uri))
        try:
            _, left = close_source(self._store, source, round(self._work.clip_seconds() * MICROSECOND), "interrupted")
        except (SourceError, OSError) as error:
            if not self._store.clips(source.id):
                self._store.remove_source(source.id, dry_run=False)  # nothing of it was recorded
                return
            line = line_of(error)
            self._store.fail_queued(source.id, line)
            self._store.note(source.id, "partial", line)
            return
        if left:
            self._store.plan_clips(source.id, left, fps=fps)
        if not self._store.clips(source.id):
            self._store.remove_source(source.id, dry_run=False)
            return
        self._emit(
            events.Notice("info", f"The recording {Path(source.uri).name} was interrupted; what is recorded of it is memorized now.")
        )


def _settled(folder: Path) -> None:
    """Wait until nothing writes to a recording any more: a recorder outlives its killed parent by a moment. At most 5 s."""
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        try:
            newest = max((f.stat().st_mtime for f in folder.iterdir()), default=0.0)
        except OSError:
            return
        if time.time() - newest > 1.5:
            return
        time.sleep(0.2)
