"""What the recorder's process tells its parent: JSON lines on its standard output, as typed reports."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from m3desk.domain.live import DeviceKind, DeviceState


@dataclass(frozen=True, slots=True)
class Started:
    """Recording has begun. `width`, `height`, `fps`: None without pictures; `rate`: samples a second, None without sound.

    `origin`: when the recording's time 0 was, in seconds of `clock.now`.
    """

    width: int | None
    height: int | None
    fps: float | None
    rate: int | None
    origin: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """Pictures and sound before `until` (microseconds) are on disk. `bytes`: of the recording. `dropped`: pictures left out so far."""

    until: int
    bytes: int
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Level:
    """Loudness of the last fifth of a second, root mean square in dB of full scale; at least -99."""

    dbfs: float


@dataclass(frozen=True, slots=True)
class DeviceChanged:
    """The real state of a capture device, or of the stream that takes its place."""

    kind: DeviceKind
    state: DeviceState
    message: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that the user should know; recording goes on as far as it can."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The recorder has ended and closed the recording. `error`: why it could not go on; None where it was told to, or the source ended."""

    reason: str
    error: str | None = None
    hint: str = ""


Report = Started | Recorded | Level | DeviceChanged | Problem | Ended

_KINDS: dict[str, type[Report]] = {k.__name__: k for k in (Started, Recorded, Level, DeviceChanged, Problem, Ended)}


def line(report: Report) -> bytes:
    """Return a report as a JSON line."""
    return json.dumps({"report": type(report).__name__, **asdict(report)}).encode() + b"\n"


def parsed(text: bytes) -> Report | None:
    """Return the report of a line; None if it is none."""
    try:
        found = json.loads(text)
        return _KINDS[found.pop("report")](**found)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
