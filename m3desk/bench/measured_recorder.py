"""A recorder that is measured, with what it tells; how soon and how completely it records again after a fault."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from m3desk.media.capture import clock, reports
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.recorder import Recorder
from m3desk.media.capture.recording import Recording

Told = list[tuple[float, reports.Report]]
"""Reports of a recorder, with the times at which they came."""


@contextlib.contextmanager
def recording(folder: Path, address: str, budget: int | None = None) -> Iterator[tuple[Recorder, Told]]:
    """Record an address into a folder until the block ends; yields the recorder and its reports."""
    told: Told = []
    recorder = Recorder(folder, LiveAddress.parse(address), lambda report: told.append((clock.now(), report)), budget_bytes=budget)
    recorder.start()
    try:
        yield recorder, told
    finally:
        recorder.stop()
        if not recorder.wait(20):
            recorder.kill()


def started(told: Told, seconds: float = 30) -> reports.Started:
    """Wait until the recorder has started. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := next((r for _, r in list(told) if isinstance(r, reports.Started)), None):
            return found
        time.sleep(0.05)
    raise TimeoutError(f"the recorder did not start: {told}")


def until(told: Told) -> int:
    """Return until when the recorder says that it has recorded, in microseconds of the recording."""
    return max((r.until for _, r in list(told) if isinstance(r, reports.Recorded)), default=0)


def _back(told: Told, right: float, seconds: float = 40) -> float:
    """Return when something was recorded that came after `right`."""
    end = time.monotonic() + seconds
    origin = started(told).origin
    while time.monotonic() < end:
        if found := next((at for at, r in list(told) if isinstance(r, reports.Recorded) and r.until / 1e6 + origin > right), None):
            return found
        time.sleep(0.05)
    return right + seconds


def after_faults(
    folder: Path,
    address: str,
    count: int,
    chance: random.Random,
    happens: Callable[[Recorder], None],
    tells: Callable[[reports.Report], bool],
) -> dict[str, Any]:
    """Let a fault happen `count` times at random moments: `happens` returns when all is right again; `tells`: whether a report tells of it.

    Returns the seconds until something was recorded again, the most seconds of what was reported as recorded that got lost, and how many
    faults were not reported.
    """
    back, lost, silent = [], 0.0, 0
    with recording(folder, address) as (recorder, told):
        started(told)
        for _ in range(count):
            time.sleep(chance.uniform(1.0, 3.0))
            reported, seen = until(told), len(told)
            happens(recorder)
            right = clock.now()
            back.append(round(_back(told, right) - right, 2))
            lost = max(lost, (reported - Recording.open(folder).end) / 1e6)
            silent += not any(tells(r) for _, r in told[seen:])
    return {"back_s": back, "recorded_lost_s": max(0.0, lost), "without_report": silent}
