"""Places the nodes of a graph's canvas: asks the layout process, and moves them as it answers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer

from m3desk_ui.graph import scene as scenes
from m3desk_ui.graph.canvas import GraphCanvas
from m3desk_ui.graph.layout import scatter
from m3desk_ui.graph.layout_process import LayoutProcess

FRAME_MS = 33
ROOM = {"person": 2.2, "clip": 1.4, "topic": 1.4}
"""How much harder than other nodes people and groups push: they are drawn large, with labels."""
BESIDE, GOLDEN = 34.0, np.pi * (3 - 5**0.5)
"""Pixels between a node and a new one beside it, and the angle between two such: faces do not cover each other."""


class Placing(QObject):
    """Where nodes stand, also those that are hidden now. Ends with its parent."""

    def __init__(self, canvas: GraphCanvas, parent: QObject) -> None:
        super().__init__(parent)
        self.canvas = canvas
        self.layout = LayoutProcess()
        self._laid_out = 0
        self._places: dict[str, tuple[float, float]] = {}
        self.clock = QTimer(self, interval=FRAME_MS)
        self.clock.timeout.connect(self._take)
        parent.destroyed.connect(self.layout.stop)

    def show(self, shown: scenes.Scene) -> None:
        """Put a scene on the canvas: nodes that were there stay, and the layout finds places for the others."""
        before = self.canvas.scene
        same = shown.row_of.keys() == before.row_of.keys() and np.array_equal(shown.links, before.links)
        standing = self._standing(shown)
        self.canvas.show_scene(shown, np.where(np.isnan(standing), self._first_places(shown, standing), standing))
        if not same:
            ties = shown.ties
            links = np.concatenate([shown.links, ties]) if len(ties) else shown.links
            pull = np.concatenate([np.minimum(shown.pull, 4.0) ** 0.5, np.full(len(ties), 0.15, np.float32)]).astype(np.float32)
            room = np.array([ROOM.get(kind, 1.0) for kind in scenes.CODES], np.float32)[shown.codes]
            self._laid_out = self.layout.show(list(shown.row_of), links, pull, room, standing.astype(np.float32))
            self.clock.start()

    def forget(self) -> None:
        """Forget where nodes stood: another memory is open."""
        self._places.clear()

    def pin(self, id_: str, x: float, y: float) -> None:
        """Hold a node at a place."""
        self.layout.pin(id_, x, y)
        self.clock.start()

    def release(self, ids: Iterable[str]) -> None:
        """Let the layout move nodes that were held."""
        self.layout.release(ids)
        self.clock.start()

    def arrange(self) -> None:
        """Lay everything out anew."""
        self.layout.arrange()
        self.clock.start()

    def _standing(self, shown: scenes.Scene) -> NDArray[np.float64]:
        """Return where nodes stand, or stood when they were last on show; NaN for new ones."""
        before, at = self.canvas.scene, self.canvas.at
        old, new = list(before.row_of), list(shown.row_of)
        same = scenes.shared_start(old, new)
        if len(at) == len(before.nodes):
            gone = [row for row in range(same, len(old)) if old[row] not in shown.row_of]
            self._places.update((old[row], (float(at[row, 0]), float(at[row, 1]))) for row in gone)
        else:
            at = np.full((len(before.nodes), 2), np.nan)
        rows = np.arange(len(new))
        rows[same:] = np.fromiter(map(before.row_of.get, new[same:], repeat(-1)), np.intp, len(new) - same)
        standing = np.concatenate([at, [[np.nan, np.nan]]])[rows]
        for row in np.flatnonzero(rows < 0).tolist() if self._places else ():
            place = self._places.get(shown.nodes[row].id)
            if place is not None:
                standing[row] = place
        return standing

    def _first_places(self, shown: scenes.Scene, standing: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where nodes are drawn until the layout answers: beside a neighbour that stands, else scattered."""
        known = ~np.isnan(standing[:, 0])
        first = np.zeros_like(standing)
        new = np.flatnonzero(~known)
        if len(new):
            first[new] = scatter([shown.nodes[row].id for row in new.tolist()], 300.0)
        turn = np.zeros(len(first))
        turn[new] = np.arange(len(new)) * GOLDEN
        aside = np.stack([np.cos(turn), np.sin(turn)], axis=1) * BESIDE / self.canvas.camera.zoom
        if known.any() and len(shown.links):
            for a, b in ((0, 1), (1, 0)):
                ends = shown.links[~known[shown.links[:, a]] & known[shown.links[:, b]]]
                first[ends[:, a]] = standing[ends[:, b]] + aside[ends[:, a]]
        return first

    def _take(self) -> None:
        news = self.layout.take()
        if news is None:
            return
        serial, at, final = news
        if serial != self._laid_out or len(at) != len(self.canvas.scene.nodes):
            return
        if final:
            self.clock.stop()
        places = at.astype(np.float64)
        held = self.canvas.grabbed
        if held >= 0:
            places[held] = self.canvas.at[held]
        self.canvas.move_nodes(places)
