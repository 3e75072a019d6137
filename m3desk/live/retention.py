"""How long recordings are kept: always, a number of hours, or until their clips are memorized; and what is older than an age.

Only recordings of live sources are touched, never a user's file. What was remembered of them stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from m3desk import events
from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.live import Outdated
from m3desk.media.capture.recording import Recording, is_recording

NEEDED = 6 * MICROSECOND
"""Microseconds before a clip that decoding of it may read: pre-roll of the sound, and the key frame before its first picture."""


def kept_from(source: Source, clips: Sequence[Clip], recording: Recording, now: datetime, hours: float | None = None) -> int:
    """Return the time (microseconds of the source) before which a recording is not kept; 0 if all of it is.

    `hours`: an age asked for now, in place of what the recording says. What is not memorized yet is kept in any case.
    """
    keep = recording.about.keep if hours is None else hours
    if keep == "always":
        return 0
    waiting = [c.start for c in clips if c.state == "queued"]
    open_ = max((c.end for c in clips), default=0) if source.state == "live" else None
    needed = min([*waiting, *([open_] if open_ is not None else [])], default=recording.end + NEEDED + 1) - NEEDED
    if isinstance(keep, float | int):
        began = datetime.fromisoformat(recording.about.started_at)
        age = (now - began).total_seconds() - float(keep) * 3600
        return max(0, min(needed, round(age * MICROSECOND)))
    return max(0, needed)


def outdated(sources: Sequence[Source], clips: Sequence[Clip], now: datetime, hours: float | None = None) -> list[Outdated]:
    """Return what of the recordings would be deleted, by source; `hours`: as in `kept_from`."""
    found = []
    for source in sources:
        if not is_recording(source.uri):
            continue
        recording = Recording.open(source.uri)
        until = kept_from(source, [c for c in clips if c.source == source.id], recording, now, hours)
        gone = [s for s in recording.segments() if s.end <= until]
        if gone:
            found.append(Outdated(source.id, gone[0].start, gone[-1].end, sum(s.bytes for s in gone), Path(source.uri).name))
    return found


def delete(source: Source, until: int, emit: Callable[[Any], None]) -> None:
    """Delete what a recording holds before a time, and tell what went (`events.Erased`). Raises OSError, SourceError."""
    gone = Recording.open(source.uri).drop_before(until)
    if gone:
        emit(events.Erased(source.id, gone[0].start, gone[-1].end, recording=True, memory=False))
