"""What can be captured: a file at real time (`playback`), a network stream (`network`), a camera (`camera`), a microphone (`microphone`).

Each opens, delivers pictures and sound with their times, and closes. Nothing is looked up or reached but what the address names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from m3desk.domain.live import DeviceKind, DeviceState
from m3desk.media.capture.address import LiveAddress

STALL_SECONDS = 10.0
"""Seconds without anything after which a source is given up and opened again."""


class CaptureError(Exception):
    """A source could not be opened, or ended. `state`: of its devices. `lasting`: opening it again will not help."""

    def __init__(self, message: str, state: DeviceState = "lost", hint: str = "", lasting: bool = False) -> None:
        super().__init__(message)
        self.state, self.hint, self.lasting = state, hint, lasting


@dataclass(frozen=True, slots=True)
class Form:
    """What a source delivers. `fps`: nominal pictures a second."""

    pictures: bool
    sound: bool
    fps: float | None = None
    name: str = ""


@dataclass(slots=True)
class Taking:
    """Where an input delivers, and how it knows the time. `clock`: microseconds of the session; `stopped`: end as soon as possible.

    `still`: the scene is still, so that a few pictures a second are enough. The functions return at once.
    """

    clock: Callable[[], int]
    picture: Callable[[int, Any], None]
    sound: Callable[[int, Any], None]
    stopped: threading.Event = field(default_factory=threading.Event)
    still: Callable[[], bool] = lambda: False


class Input(Protocol):
    """One source. `open` and `run` are called in a thread of its own, again and again while it is lost."""

    kinds: tuple[DeviceKind, ...]
    ends: bool
    """Whether its end is the end of the session; else it is opened again."""

    def open(self) -> Form:
        """Open it. Raises CaptureError."""
        ...

    def run(self, taking: Taking) -> None:
        """Deliver until told to stop or the source ends. Raises CaptureError where it fails."""
        ...

    def close(self) -> None:
        """Release the device; safe to call twice."""
        ...


def inputs(address: LiveAddress) -> list[Input]:
    """Return the inputs of an address, not opened."""
    from m3desk.media.capture.camera import CameraInput
    from m3desk.media.capture.microphone import MicrophoneInput
    from m3desk.media.capture.network import StreamInput
    from m3desk.media.capture.playback import FileInput

    if address.kind == "file":
        assert address.path is not None
        return [FileInput(address.path, address.loop)]
    if address.kind == "stream":
        return [StreamInput(str(address))]
    found: list[Input] = []
    if address.camera is not None:
        found.append(CameraInput(address.camera))
    if address.microphone is not None:
        found.append(MicrophoneInput(address.microphone))
    return found
