"""Remembers what the graph showed, so that back and forward lead through it. Pure: no Qt, no IO."""

from __future__ import annotations

from dataclasses import dataclass

from m3desk_ui.graph.scene import Wish

MOST = 100


@dataclass(frozen=True, slots=True)
class Stop:
    """What was on show: the wish, the camera (`own`: the user had taken it) and the selected nodes."""

    wish: Wish
    centre: tuple[float, float]
    zoom: float
    own: bool
    selected: tuple[str, ...] = ()


class Trail:
    """The stops before and after the present one."""

    def __init__(self) -> None:
        self._before: list[Stop] = []
        self._after: list[Stop] = []

    @property
    def can_go(self) -> tuple[bool, bool]:
        """Return whether there is a stop to go back to, one to go forward to."""
        return bool(self._before), bool(self._after)

    def leave(self, now: Stop) -> None:
        """Note what is on show before something else is."""
        if not self._before or self._before[-1] != now:
            self._before.append(now)
            del self._before[:-MOST]
        self._after.clear()

    def go(self, now: Stop, *, back: bool) -> Stop | None:
        """Return the stop before or after, None where there is none."""
        here, there = (self._before, self._after) if back else (self._after, self._before)
        if not here:
            return None
        there.append(now)
        return here.pop()

    def clear(self) -> None:
        self._before.clear()
        self._after.clear()
