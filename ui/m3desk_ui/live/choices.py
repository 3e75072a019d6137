"""What the user chose last for a live source; kept in the window's own settings file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    budget: int | None = 20 * GIGABYTE


def read(state: WindowState) -> Choices:
    """Return what was chosen last."""
    kept = state.text("live/keep", "always")
    keep: Keep = "until remembered" if kept == "until remembered" else "always"
    if kept.isdigit() and int(kept) > 0:
        keep = float(kept)
    budget = state.number("live/budget_gb", 20)
    return Choices(
        state.text("live/address"), keep, state.number("live/bystanders") > 0, budget * GIGABYTE if 0 < budget < 1_000_000 else None
    )


def write(state: WindowState, choices: Choices) -> None:
    """Keep the choices, without the password of an address."""
    from m3desk.media.capture.address import LiveAddress

    hidden = LiveAddress.parse(choices.address).shown() != str(LiveAddress.parse(choices.address))
    state.put("live/address", "" if hidden else choices.address)
    state.put("live/keep", choices.keep if isinstance(choices.keep, str) else str(round(choices.keep)))
    state.put("live/bystanders", int(choices.bystanders))
    state.put("live/budget_gb", 0 if choices.budget is None else round(choices.budget / GIGABYTE))
