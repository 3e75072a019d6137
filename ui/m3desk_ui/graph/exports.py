"""Saves what the graph shows where the user wants: as a picture, as a drawing, or as a graph for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from m3desk_ui.graph import saving
from m3desk_ui.graph.canvas import GraphCanvas
from m3desk_ui.window import files

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub


class Exports(QObject):
    """Asks for a file, writes it, and says so."""

    def __init__(self, hub: Hub, canvas: GraphCanvas, parent: QWidget) -> None:
        super().__init__(parent)
        self.hub, self.canvas, self._parent = hub, canvas, parent

    def add_to(self, menu: QMenu) -> None:
        """Add the three entries, in the language of now."""
        menu.addAction(self.tr("Save as a picture (PNG)…"), self.export_picture)
        menu.addAction(self.tr("Save as a drawing (SVG)…"), lambda: self.export("svg"))
        menu.addAction(self.tr("Save as a graph (GraphML)…"), lambda: self.export("graphml"))

    def export_picture(self) -> None:
        path = files.where_to_write(self._parent, self.tr("Save as a picture"), self.tr("graph.png"), self.tr("Pictures (*.png)"))
        if path is not None:
            self.save_picture(path)

    def export(self, kind: str) -> None:
        """Ask where, and write what is on show as "svg" or "graphml"."""
        kinds = {"svg": "SVG (*.svg)", "graphml": "GraphML (*.graphml)"}[kind]
        name = self.tr("graph.png").removesuffix("png") + kind
        path = files.where_to_write(self._parent, self.tr("Save what is on show"), name, kinds)
        if path is not None:
            self.save_text(path, saving.svg(self.canvas) if kind == "svg" else saving.graphml(self.canvas))

    def save_text(self, path: str, text: str) -> None:
        """Write a file in a thread; a failure is told."""
        self.hub.work(lambda: Path(path).write_text(text, encoding="utf-8"), lambda _n: self._saved(path), lambda _e: self._not_saved(path))

    def save_picture(self, path: str) -> None:
        """Write what is on show to a PNG file, at twice the screen's resolution, in a thread; a failure is told."""
        picture = self.canvas.picture()
        self.hub.work(lambda: picture.save(path), lambda good: (self._saved if good else self._not_saved)(path))

    def _saved(self, path: str) -> None:
        self.hub.notice.emit("info", self.tr("Saved %1").replace("%1", path), "", "")

    def _not_saved(self, path: str) -> None:
        self.hub.notice.emit("error", self.tr("Could not write %1").replace("%1", path), self.tr("Choose another folder."), "")
