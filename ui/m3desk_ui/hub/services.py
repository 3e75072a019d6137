"""What the window needs besides the desk: opening memories, players, and machine information. Tests replace it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from m3desk import events
from m3desk.errors import M3DeskError

if TYPE_CHECKING:
    from m3desk.domain.live import Device
    from m3desk.ports import Desk
    from m3desk_ui.live.newest import Preview


@dataclass(frozen=True, slots=True)
class Services:
    """Functions that are called in threads and may be slow. `default_memory`: the path of a video's memory."""

    open_desk: Callable[[str], Desk]
    make_player: Callable[[Callable[[Any], None], Callable[[Any], None]], Any]
    default_memory: Callable[[str], str]
    doctor: Callable[[], dict[str, Any]]
    damage: Callable[[str], events.Damaged | None] = lambda _path: None
    """What is wrong with the database of the memory at a path, if anything is."""
    restore: Callable[[str], str] = lambda _path: ""
    """Put the last good copy in its place; return that copy's date."""
    discard: Callable[[str], bool] = lambda _path: False
    """Delete a memory that holds nothing; return whether it is gone."""
    devices: Callable[[], list[Device]] = list
    """Find the cameras and microphones of this machine."""
    try_command: Callable[[], list[str]] = list
    """The command that opens an address for a test, without recording: see `media.capture.trying`."""
    attach_preview: Callable[[str], Preview] = lambda name: _no_preview(name)
    """Open the newest picture of a live source, by its name."""


def _no_preview(name: str) -> Preview:
    raise FileNotFoundError(name)


def real() -> Services:
    """Return the services of the installed engine, which is imported on first use."""

    def open_desk(path: str) -> Desk:
        from m3desk.desk import EngineDesk

        return EngineDesk(path)

    def make_player(on_frame: Callable[[Any], None], on_state: Callable[[Any], None]) -> Any:
        from m3desk import app

        return app.make_player(on_frame, on_state)

    def default_memory(path: str) -> str:
        from m3desk import app

        return str(app.default_memory(path))

    def damage(path: str) -> events.Damaged | None:
        from m3desk import desk

        return desk.damage(path)

    def restore(path: str) -> str:
        from m3desk import desk

        return desk.restore(path)

    def discard(path: str) -> bool:
        from m3desk import desk

        return desk.discard(path)

    def devices() -> list[Device]:
        from m3desk.media.capture import devices

        return devices.devices()  # in a process of its own: a driver may hang

    def try_command() -> list[str]:
        from m3desk.media.capture import trying

        return trying.command()

    def attach_preview(name: str) -> Preview:
        from m3desk.media.capture.preview import Preview as CapturePreview

        found: Preview = CapturePreview.attach(name)
        return found

    return Services(open_desk, make_player, default_memory, doctor, damage, restore, discard, devices, try_command, attach_preview)


def command_line(*words: str) -> list[str]:
    """Return the command line of `m3desk …`, for a process of its own."""
    start = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "m3desk"]
    return [*start, *words]


def doctor() -> dict[str, Any]:
    """Run `m3desk doctor` in its own process: looking for devices takes seconds and would block the window's interpreter."""
    done = subprocess.run(command_line("doctor", "--json"), capture_output=True, text=True, timeout=120, check=False)
    try:
        facts = json.loads(done.stdout)
    except ValueError as error:
        raise M3DeskError((done.stderr.strip().splitlines() or ["no answer"])[-1]) from error
    return facts if isinstance(facts, dict) else {}
