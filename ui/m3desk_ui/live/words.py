"""Formats the state of a live source in the window's language; chooses the colour of the light from the real state of the devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

from m3desk.domain.clip import MICROSECOND, clock
from m3desk_ui.look import texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from m3desk.events import LiveStatus

OPEN = ("on", "silent", "stalled")
"""States in which a device is open: what is before it can be recorded."""
UP_TO_DATE = 1.0
"""Seconds behind that are not worth telling."""
Colour = Literal["recording", "paused", "lost"]


@dataclass(frozen=True, slots=True)
class Light:
    """What the light shows. `colour`: "recording" (red), "paused" (amber), "lost" (grey)."""

    colour: Colour
    text: str


def light(status: LiveStatus | None, *, engine: bool = True) -> Light:
    """Return the light of a source: red while any device is open, whatever was asked for. `engine`: whether the engine answers."""
    if not engine:
        return Light("lost", QCoreApplication.translate("Live", "No news from the engine"))
    if status is None:
        return Light("lost", QCoreApplication.translate("Live", "Starting …"))
    if any(state in OPEN for state in (status.camera, status.microphone)):
        if status.state == "paused":
            return Light("recording", QCoreApplication.translate("Live", "Pausing: a device is still open"))
        if status.state == "stopping":
            return Light("recording", QCoreApplication.translate("Live", "Stopping …"))
        problem = trouble(status)
        return Light("recording", problem or QCoreApplication.translate("Live", "Recording"))
    if status.state == "paused":
        return Light("paused", QCoreApplication.translate("Live", "Paused: devices are off"))
    if status.state == "stopping":
        return Light("lost", QCoreApplication.translate("Live", "Stopping …"))
    if status.state == "starting":
        return Light("lost", trouble(status) or QCoreApplication.translate("Live", "Starting …"))
    return Light("lost", trouble(status) or QCoreApplication.translate("Live", "No device is open"))


def trouble(status: LiveStatus) -> str:
    """Return in a few words which device does not deliver; "" if all do."""
    told = [camera(status.camera), microphone(status.microphone)]
    return " · ".join(part for part in told if part)


def camera(state: str) -> str:
    """Return what is wrong with the camera, in a few words; "" if nothing is."""
    return {
        "lost": QCoreApplication.translate("Live", "Camera lost"),
        "busy": QCoreApplication.translate("Live", "Another program uses the camera"),
        "stalled": QCoreApplication.translate("Live", "No new pictures"),
    }.get(state, "")


def own_microphone(address: str) -> bool:
    """Return whether the sound of a live address comes from a microphone of this machine, not from a stream or a file."""
    return "mic:" in address


def microphone(state: str) -> str:
    """Return what is wrong with the microphone, in a few words; "" if nothing is."""
    return {
        "lost": QCoreApplication.translate("Live", "Microphone lost"),
        "busy": QCoreApplication.translate("Live", "Another program uses the microphone"),
        "silent": QCoreApplication.translate("Live", "Only silence is heard"),
        "stalled": QCoreApplication.translate("Live", "No new sound"),
    }.get(state, "")


def behind(status: LiveStatus) -> str:
    """Return "12 s behind · 0 skipped"."""
    return f"{late(status)} · {skipped(status)}"


def late(status: LiveStatus) -> str:
    """Return "12 s behind"."""
    if status.behind < UP_TO_DATE:
        return QCoreApplication.translate("Live", "Up to date")
    return QCoreApplication.translate("Live", "%1 behind").replace("%1", texts.duration(round(status.behind * MICROSECOND)))


def skipped(status: LiveStatus) -> str:
    """Return "0 skipped"."""
    return QCoreApplication.translate("Live", "%1 skipped").replace("%1", str(status.skipped))


def given_up(names: Sequence[str]) -> str:
    """Return what is left out at present, "" if nothing is."""
    words = {
        "semantic memories": QCoreApplication.translate("Live", "knowledge"),
        "objects and text on screen": QCoreApplication.translate("Live", "objects, text on screen"),
        "half of the pictures": QCoreApplication.translate("Live", "half of the pictures"),
        "most pictures": QCoreApplication.translate("Live", "most pictures, words of subtitles"),
    }
    if not names:
        return ""
    if "most pictures" in names:
        names = [name for name in names if name != "half of the pictures"]
    told = QCoreApplication.translate("Live", ", ").join(words.get(name, name) for name in names)
    return QCoreApplication.translate("Live", "left out for now: %1").replace("%1", told)


def catch_up(seconds: float | None) -> str:
    """Return when nothing waits any more, "" if it is not known."""
    if seconds is None or seconds < 1:
        return ""
    return QCoreApplication.translate("Live", "caught up in about %1").replace("%1", texts.duration(round(seconds * MICROSECOND)))


def disk(status: LiveStatus) -> str:
    """Return how much room is left on the disk."""
    return QCoreApplication.translate("Live", "%1 of disk left").replace("%1", texts.megabytes(status.disk_free))


def short(status: LiveStatus | None, *, engine: bool = True) -> str:
    """Return the state in one line, for the status bar."""
    parts = [light(status, engine=engine).text]
    if status is not None:
        parts += [clock(status.recorded), late(status)]
        if status.skipped:
            parts.append(skipped(status))
    return " · ".join(part for part in parts if part)
