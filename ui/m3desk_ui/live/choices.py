"""What the user chose last for a live source: what is kept is a setting (`m3desk.config`), the rest is in the window's own file."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3desk import config
from m3desk.domain.live import parse_keep
from m3desk.errors import M3DeskError
from m3desk.media.capture.address import LiveAddress

if TYPE_CHECKING:
    from m3desk.domain.live import Keep
    from m3desk_ui.window.window_state import WindowState

GIGABYTE = 1_000_000_000
DEFAULT_HOURS = 24


@dataclass(frozen=True, slots=True)
class Choices:
    """`address`: "" if nothing was chosen yet. `budget`: bytes that the recording may use, None = no limit."""

    address: str = ""
    keep: Keep = "always"
    bystanders: bool = False
    budget: int | None = 50 * GIGABYTE


def read(state: WindowState) -> Choices:
    """Return what was chosen last; what can't be read is as at first."""
    first = Choices()
    keep, budget = first.keep, first.budget
    with contextlib.suppress(M3DeskError):
        keep = parse_keep(str(config.get_value("keep_recordings"))) or first.keep
        budget = round(float(config.get_value("recording_gb")) * GIGABYTE) or None
    return Choices(state.text("live/address"), keep, state.number("live/bystanders") > 0, budget)


def write(state: WindowState, choices: Choices) -> None:
    """Keep the choices, without the password of an address. Raises UsageError if the settings file is invalid, OSError."""
    address = LiveAddress.parse(choices.address)
    state.put("live/address", str(address) if address.shown() == str(address) else "")
    state.put("live/bystanders", int(choices.bystanders))
    keep = choices.keep if isinstance(choices.keep, str) else f"{choices.keep:g}"
    keep = "remembered" if keep == "until remembered" else keep
    for name, value in (("keep_recordings", keep), ("recording_gb", (choices.budget or 0) / GIGABYTE)):
        if config.get_value(name) != value:
            config.set_value(name, value)
