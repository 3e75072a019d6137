"""Forgetting a person permanently: removal, the proof that nothing is left, and finishing what a killed process had begun."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from m3desk import events, outside
from m3desk.errors import M3DeskError, ModelMissing
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


def sources_of(memory: ForgettableMemory, plan: Forgotten) -> list[str]:
    """Return, for each source that shows a person, what removing it would delete."""
    with memory.reader() as reader:
        there = {s.id for s in reader.sources()}
    return [memory.work.remove(s, dry_run=True).text for s in sorted({s for s, _, _ in plan.known.intervals} & there)]


def _prove(memory: ForgettableMemory, gone: Pending) -> dict[str, Any]:
    """Finish a forgetting that was committed and return its report; its mark is deleted when the proof passes. May be repeated."""
    known = gone.known
    try:
        models = memory.models_in_use("faces", "face_vectors", "voice_vectors") if known.vectors else Models()
    except ModelMissing:
        models = Models()  # then the report says what could not be searched
    memory.drop_search_cache()
    if gone.with_sources:
        with memory.reader() as reader:
            there = {s.id for s in reader.sources()}  # what somebody was taught from is gone by now
        for source in sorted({s for s, _, _ in known.intervals} & there):
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
    reached = outside.forget(Path(memory.path), known)
    memory.embed_lacking()
    rewritten = memory.write(lambda m: m.clean())
    with memory.reader() as reader:
        searched, similar = reader.prove_forgotten(known, reached.left)
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
            if not memory.write(lambda m, b=begun: m.was_forgotten(b)):  # type: ignore[misc]
                gone = memory.write(lambda m, b=begun: m.forget(b.person, b.how, proof.tighten, at=b.at, sources=b.with_sources))  # type: ignore[misc]
            else:
                gone = begun
                memory.write(lambda m: m.scrub())
            report = _prove(memory, gone)
        except Exception as error:  # whatever it is, it keeps nobody from their memory
            if not isinstance(error, (M3DeskError, OSError)):
                log.exception("a forgetting that was cut off could not be finished")
            hint = error.line() if isinstance(error, M3DeskError) else f"{type(error).__name__}: {error}"
            memory.emit(events.Notice("warning", "Forgetting a person was interrupted earlier and could not be finished now.", hint))
            continue
        finished.append(report)
        rest = "; ".join((*report["findings"], *report["not_searched"]))
        if report["findings"] or not report["rewritten"]:
            memory.emit(events.Notice("warning", "Forgetting somebody was cut off earlier, and something is left.", rest))
        else:
            memory.emit(
                events.Notice("warning", "Forgetting somebody was cut off earlier; it is finished now.", rest or "Nothing of them is left.")
            )
    return finished
