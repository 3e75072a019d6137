"""Forgetting a person permanently: removal, the proof that nothing is left, and finishing what a killed process had begun."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from m3desk import events, outside
from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.live import SpanForgotten
from m3desk.errors import FileLeft, M3DeskError, ModelMissing, UsageError
from m3desk.live.sessions import Live
from m3desk.media.capture.planning import holding
from m3desk.media.capture.recording import Recording, is_recording
from m3desk.pipeline import now
from m3desk.ports import Models
from m3desk.samples import proof
from m3desk.store.forgetting.pending import Pending
from m3desk.store.forgetting.removing import Forgotten, How
from m3desk.store.records import Records
from m3desk.work import Work
from m3desk.writer import Write

log = logging.getLogger(__name__)


class ForgettableMemory(Protocol):
    """An open memory with the work on its sources and the models it uses."""

    path: str
    work: Work
    live: Live
    emit: Callable[[Any], None]

    @property
    def write(self) -> Write: ...
    def reader(self) -> Records: ...
    def models_in_use(self, *ports: str) -> Models: ...
    def embed_lacking(self) -> int: ...
    def drop_search_cache(self) -> None:
        """Drop the search state of the memory."""
        ...

    def forgot(self, text: str) -> None:
        """Notify listeners that a person was forgotten."""
        ...


def forget(memory: ForgettableMemory, person: str, how: How, *, sources: bool) -> dict[str, Any]:
    """Remove everything derived from a person, then search the rest of the memory for traces; return that report."""
    return _prove(memory, memory.write(lambda m: m.forget(person, how, proof.tighten, at=now(), sources=sources)))


def may_forget_span(memory: ForgettableMemory, source: str, start: int, end: int) -> SpanForgotten:
    """Return what forgetting [start, end) microseconds of a source would remove. Raises UsageError if the source has nothing there."""
    known = memory.write(lambda m: m.source(source))
    length = memory.live.length(known)
    if end <= start or start < 0 or (length is not None and start >= length):
        raise UsageError(f"{source} has nothing from {clock(start)} to {clock(end)}.", "See its length: m3desk sources list.")
    plan = memory.write(lambda m: m.may_forget_span(source, start, end))
    return _told(source, start, end, plan.text, plan.counts, plan.people, is_recording(known.uri))


def forget_span(memory: ForgettableMemory, source: str, start: int, end: int) -> SpanForgotten:
    """Remove [start, end) microseconds of a source, from its recording too, then search the rest for traces; return what that was.

    A user's own file is not touched. Raises UsageError if the source has nothing there.
    """
    plan = may_forget_span(memory, source, start, end)
    gone = memory.write(lambda m: m.forget_span(source, start, end))
    report = _prove(memory, gone)
    memory.live.forgot(source)
    found = (*report["findings"], *report["not_searched"])
    return _told(source, start, end, gone.text, gone.counts, plan.people, plan.recording, found, report["searched"])


def recent(memory: ForgettableMemory, seconds: float) -> tuple[str, int, int]:
    """Return what was recorded in the last seconds, as (source, start, end). Raises UsageError if nothing was.

    Of a live source its recording's newest seconds; else by the clock, of the recording that ended last.
    """
    session = memory.live.session
    running = session is not None and session.running
    end = session.recorded if session is not None else 0  # waits while the recording is closed: only then its row tells its length
    if session is not None and running:
        return session.source.id, max(0, end - round(seconds * MICROSECOND)), end + MICROSECOND
    now_ = datetime.now().astimezone().timestamp()
    ended: tuple[str, float] | None = None
    for source in reversed(memory.write(lambda m: m.sources())):
        if source.started_at is None or source.duration is None or not is_recording(source.uri):
            continue
        began = datetime.fromisoformat(source.started_at).timestamp()
        start = max(0, round((now_ - seconds - began) * MICROSECOND))
        if start < source.duration:
            return source.id, start, source.duration
        ended = ended or (source.id, began + source.duration / MICROSECOND)
    when = (
        f" The last recording, {ended[0]}, ended {clock(round((now_ - ended[1]) * MICROSECOND))} ago, at "
        f"{datetime.fromtimestamp(ended[1]).astimezone():%H:%M on %Y-%m-%d}."
        if ended
        else ""
    )
    raise UsageError(
        f"nothing was recorded in the last {clock(round(seconds * MICROSECOND))}.{when}",
        "Name a source and a span: --source s1 --from T --to T.",
    )


def _told(
    source: str,
    start: int,
    end: int,
    text: str,
    counts: Mapping[str, int],
    people: tuple[str, ...],
    recording: bool,
    found: tuple[str, ...] = (),
    searched: Mapping[str, int] | None = None,
) -> SpanForgotten:
    return SpanForgotten(
        source, start, end, counts["clips"], counts["observations"], counts["memories"], people, counts["chats"], recording, found, text,
        dict(searched or {}), counts.get("bookmarks", 0),
    )  # fmt: skip


def _erase(memory: ForgettableMemory, gone: Pending) -> list[str]:
    """Erase a forgotten span from its recording; return what is left of it. Files of the user stay as they are."""
    source, start, end = gone.known.intervals[0]
    known = next((s for s in memory.write(lambda m: m.sources()) if s.id == source), None)
    if known is None or not is_recording(known.uri):
        return []
    recording = Recording.open(known.uri)
    recording.tidy()  # it may have been erased already, by a process that was killed before it had deleted the old files
    for _ in range(3):  # a segment begins with what an encoder still held when the one before was closed
        if not holding(recording, start, end):
            break
        memory.live.close_segment(source, end)
        recording.erase(start, end)
        memory.write(lambda m: m.rename_content(source, recording.fingerprint()))
    return [f"recording {name}: a part of the span" for name in holding(recording, start, end)]


def _tell_erased(memory: ForgettableMemory, gone: Pending) -> None:
    """Tell where something was forgotten; of a recording only a span is erased. Sources that were removed were told already."""
    with memory.reader() as reader:
        uris = {s.id: s.uri for s in reader.sources()}
    spans: dict[str, tuple[int, int]] = {}
    for source, start, end in gone.known.intervals:
        first, last = spans.get(source, (start, end))
        spans[source] = min(first, start), max(last, end)
    for source, (start, end) in sorted(spans.items()):
        if source in uris:
            recording = gone.how == "span" and is_recording(uris[source])
            memory.emit(events.Erased(source, start, end, recording=recording, memory=True))


def sources_of(memory: ForgettableMemory, plan: Forgotten) -> list[str]:
    """Return, for each source that shows a person, what removing it would delete."""
    with memory.reader() as reader:
        there = {s.id for s in reader.sources()}
    return [memory.work.remove(s, dry_run=True).text for s in sorted({s for s, _, _ in plan.known.intervals} & there)]


def _prove(memory: ForgettableMemory, gone: Pending) -> dict[str, Any]:
    """Finish a forgetting that was committed and return its report; its mark is deleted when the proof passes. May be repeated."""
    known = gone.known
    memory.drop_search_cache()
    try:
        remains = _erase(memory, gone) if gone.how == "span" else []
    finally:  # whatever fails from here on: the commit deleted it
        _tell_erased(memory, gone)
    try:
        models = memory.models_in_use("faces", "face_vectors", "voice_vectors") if known.vectors else Models()
    except ModelMissing:
        models = Models()  # then the report says what could not be searched
    if gone.with_sources:
        with memory.reader() as reader:
            there = {s.id for s in reader.sources()}  # what somebody was taught from is gone by now
        for source in sorted({s for s, _, _ in known.intervals} & there):
            with contextlib.suppress(FileLeft):  # it is tried again below, and then said
                memory.work.remove(source)
        memory.write(lambda m: m.scrub())  # what was stored of others there is named by nothing now
    with memory.reader() as reader:
        owners = reader.whose_media()
        looked = proof.look(reader.stored_media(), known.vectors, models)
    if seen := {id_ for id_ in looked.found if id_ not in owners}:
        # Pictures of clips in which they were not noticed when the clip was memorized.
        memory.write(lambda m: m.drop_thumbnails(seen))
        known.media |= seen
        with memory.reader() as reader:
            left = {id_ for id_, _ in reader.stored_media()}
        looked = replace(looked, found=tuple(id_ for id_ in looked.found if id_ in left))
        _tell_erased(memory, gone)
    reached = outside.forget(Path(memory.path), known)
    memory.embed_lacking()
    remains += [f"file {name}: can't be deleted, and may tell of them" for name in memory.write(lambda m: m.drop_waveforms())]
    rewritten = memory.write(lambda m: m.clean())
    with memory.reader() as reader:
        searched, similar = reader.prove_forgotten(known, reached.left)
    searched = replace(searched, findings=(*searched.findings, *remains))
    report = proof.report(gone, searched, similar, looked, reached.counts(), owners, rewritten)
    if rewritten and not report["findings"]:
        memory.write(lambda m: m.forgotten(gone))
    memory.forgot(gone.text)
    return report


def finish(memory: ForgettableMemory) -> list[dict[str, Any]]:
    """Finish every forgetting that a killed process left unfinished, notify the user, and return the reports.

    If one cannot be finished now, it is tried again at the next opening.
    """
    finished: list[dict[str, Any]] = []
    for begun in memory.write(lambda m: m.begun()):
        try:
            if begun.how == "span" and begun.whole and not memory.write(lambda m, b=begun: m.was_forgotten(b)):  # type: ignore[misc]
                gone = memory.write(lambda m, b=begun: m.forget_span(*b.known.intervals[0], at=b.at))  # type: ignore[misc]
            elif not memory.write(lambda m, b=begun: m.was_forgotten(b)):  # type: ignore[misc]
                gone = memory.write(lambda m, b=begun: m.forget(b.person, b.how, proof.tighten, at=b.at, sources=b.with_sources))  # type: ignore[misc]
            else:
                gone = begun
                memory.write(lambda m: m.scrub())
            report = _prove(memory, gone)
        except Exception as error:  # whatever it is, it keeps nobody from their memory
            if not isinstance(error, (M3DeskError, OSError)):
                log.exception("a forgetting that was cut off could not be finished")
            hint = error.line() if isinstance(error, M3DeskError) else f"{type(error).__name__}: {error}"
            memory.emit(events.Notice("warning", "Forgetting was interrupted earlier and could not be finished now.", hint))
            continue
        finished.append(report)
        rest = "; ".join((*report["findings"], *report["not_searched"]))
        if report["findings"] or not report["rewritten"]:
            memory.emit(events.Notice("warning", "Forgetting was cut off earlier, and something is left.", rest))
        else:
            memory.emit(events.Notice("warning", "Forgetting was cut off earlier; it is finished now.", rest or "Nothing of it is left."))
    return finished
