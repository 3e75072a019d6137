"""Sources (videos, recordings) and the clips they are cut into; times are integer microseconds from the start of the source.

t = 0 is the first presentation time over all streams of the container. Seconds appear only at the edges
(commands, JSON, the window).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MICROSECOND = 1_000_000
"""Microseconds in a second: the unit of every stored time."""

ClipState = Literal["queued", "episodic", "done", "failed", "skipped", "enrolled"]
SourceState = Literal["queued", "working", "paused", "done", "partial", "failed", "cancelled", "enrolled", "live"]
"""`live`: being recorded. `enrolled`: a photo or recording that somebody is taught from (`store.corrections.enrolling`), listed nowhere."""


def seconds(microseconds: int) -> float:
    """Return microseconds as seconds."""
    return microseconds / MICROSECOND


def microseconds(seconds_: float) -> int:
    """Return seconds as whole microseconds, to the nearest."""
    return round(seconds_ * MICROSECOND)


def clock(at: int) -> str:
    """Return a time as people read it: `01:30`, with hours only where needed (`1:02:03`)."""
    total = max(0, at) // MICROSECOND
    hours, rest = divmod(total, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60:02d}:{rest % 60:02d}"


@dataclass(frozen=True, slots=True)
class Source:
    """One video or sound file, or the recording of a live source (`uri`: its folder; `duration` None while it is recorded).

    `width`/`height`: pixels as displayed (after rotation), None without a picture.
    """

    id: str
    uri: str
    duration: int | None
    width: int | None
    height: int | None
    fps: float | None
    has_audio: bool
    sha256: str | None
    started_at: str | None = None
    bytes: int | None = None
    state: SourceState = "queued"
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Clip:
    """A consecutive span of a source: [start, end) microseconds; `index` counts from 0 in time order.

    `given_up`: what is left out of a live clip because memorizing was behind (`m3desk.live.pace`). `overrun`: microseconds past its end
    of which sound is listened to; None: as usual (`media.cutter.OVERRUN`), less where a live clip was closed early.
    """

    id: str
    source: str
    index: int
    start: int
    end: int
    state: ClipState = "queued"
    error: str | None = None
    given_up: tuple[str, ...] = ()
    overrun: int | None = None
