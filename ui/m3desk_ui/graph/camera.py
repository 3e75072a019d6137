"""The graph's camera: centre and zoom, fit to view, zoom about a point, animated moves. Independent of Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CLOSEST, FARTHEST, FITTED = 8.0, 0.02, 2.8
"""Largest and smallest pixels per world unit, and the largest that showing everything takes."""
MARGIN, MARGIN_SHARE = (110.0, 90.0), 0.14
"""Pixels that fitting leaves free in all, for labels and pictures at the border, and the share of the view that they are at most."""


def bounds(at: Array) -> tuple[Array, Array]:
    """Return the corners (2,) of (n, 2) places, n > 0; a reduction along so short an axis takes ten times as long."""
    x, y = at[:, 0], at[:, 1]
    return np.array([x.min(), y.min()]), np.array([x.max(), y.max()])


@dataclass(slots=True)
class Camera:
    """`centre`: the world's point in the middle of `size` (width, height) pixels; `zoom`: pixels per world unit.

    `own`: the user has taken it, so it no longer follows the layout. `route`: from (centre, zoom) to (centre, zoom) while it flies.
    """

    centre: Array = field(default_factory=lambda: np.zeros(2))
    zoom: float = 1.0
    size: tuple[int, int] = (1, 1)
    own: bool = False
    route: tuple[Array, float, Array, float] | None = None

    def to_screen(self, at: Array) -> Array:
        """Return (n, 2) or (2,) pixels of world places."""
        return np.asarray((at - self.centre) * self.zoom + (self.size[0] / 2, self.size[1] / 2))

    def to_world(self, x: float, y: float) -> Array:
        """Return the world's place under a pixel."""
        return np.asarray(self.centre + (np.array([x, y]) - (self.size[0] / 2, self.size[1] / 2)) / self.zoom)

    def fitting(self, at: Array) -> tuple[Array, float]:
        """Return the centre and zoom that show all of (n, 2) places."""
        if not len(at):
            return np.zeros(2), 1.0
        low, high = bounds(at)
        size = np.array(self.size)
        room = np.maximum(size - np.minimum(MARGIN, MARGIN_SHARE * size), 60.0)
        zoom = float((room / np.maximum(high - low, 1.0)).min())
        return (low + high) / 2, min(max(zoom, FARTHEST), FITTED)

    def follow(self, at: Array) -> None:
        """Show all of it, unless the user has taken the camera or it flies."""
        if not self.own and self.route is None:
            self.centre, self.zoom = self.fitting(at)

    def take(self) -> None:
        """Leave the camera to the user from now on, and end a flight."""
        self.own = True
        self.route = None

    def pan_by(self, dx: float, dy: float) -> None:
        """Move what is seen by pixels."""
        self.take()
        self.centre = self.centre - np.array([dx, dy]) / self.zoom

    def zoom_by(self, factor: float, x: float, y: float) -> None:
        """Zoom about a pixel: what lies under it stays there."""
        self.take()
        fixed = self.to_world(x, y)
        self.zoom = min(max(self.zoom * factor, FARTHEST), CLOSEST)
        self.centre = fixed - (np.array([x, y]) - (self.size[0] / 2, self.size[1] / 2)) / self.zoom

    def head_for(self, centre: Array, zoom: float, *, own: bool) -> None:
        """Set out for a place; `fly` takes it there."""
        self.own = own
        self.route = (self.centre.copy(), self.zoom, np.asarray(centre, dtype=np.float64), zoom)

    def fly(self, share: float) -> None:
        """Be at a share 0–1 of the way: evenly in place, evenly in the zoom's logarithm."""
        if self.route is None:
            return
        start, zoom, to, wanted = self.route
        self.centre = start + (to - start) * share
        self.zoom = zoom * (wanted / zoom) ** share
        if share >= 1.0:
            self.route = None

    def shows(self, at: Array, margin: float = 0.0) -> bool:
        """Return whether one place is in view."""
        x, y = self.to_screen(at)
        return bool(margin < x < self.size[0] - margin and margin < y < self.size[1] - margin)
