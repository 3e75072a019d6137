"""A small plot of when a person is seen (bars up) and speaks (bars down) in a source; a click plays that time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from m3desk.domain.clip import MICROSECOND, clock
from m3desk_ui.look import plain, theme

BINS = 90
Times = Sequence[tuple[str, int, int]]
"""(source, start, end) in microseconds."""


def shares(times: Times, source: str, duration: int, bins: int = BINS) -> NDArray[np.float64]:
    """Return (bins,) shares 0–1 of each bin that the spans of a source cover; spans that overlap count once at most."""
    edges = np.linspace(0, duration, bins + 1)
    covered = np.zeros(bins)
    for source_, start, end in times:
        if source_ == source:
            covered += np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], start), 0, None)
    return np.minimum(covered / max(duration / bins, 1), 1.0)


class _Clock(pg.AxisItem):  # type: ignore[misc]
    """An axis labelled with times."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [clock(round(v * MICROSECOND)) for v in values]


class ActivityPlot(QWidget):
    """`picked`: source and microseconds that were clicked."""

    picked = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seen: Times = ()
        self._said: Times = ()
        self._colour = "#888888"
        self._durations: dict[str, int] = {}
        self.which = QComboBox(self)
        self.which.currentIndexChanged.connect(self._draw)
        self.plot = pg.PlotWidget(self, axisItems={"bottom": _Clock("bottom")})
        self.plot.setFixedHeight(104)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.hideButtons()
        self.plot.setMenuEnabled(False)
        self.plot.getAxis("left").setWidth(58)
        self.plot.scene().sigMouseClicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.which)
        column.addWidget(self.plot)

    def show_times(self, seen: Times, said: Times, durations: Sequence[tuple[str, str, int]], colour: str) -> None:
        """Show spans of presence and speech; `durations`: (source, file name, microseconds)."""
        self._seen, self._said, self._colour = seen, said, colour
        there = {s for s, _, _ in [*seen, *said]}
        rows = [row for row in durations if row[0] in there]
        self._durations = {source: duration for source, _, duration in rows}
        chosen = self.which.currentData()
        self.which.blockSignals(True)
        self.which.clear()
        for source, name, _ in rows:
            self.which.addItem(plain.line(name, plain.ENTRY), source)
        self.which.setCurrentIndex(max(0, self.which.findData(chosen)))
        self.which.blockSignals(False)
        self.which.setVisible(len(rows) > 1)
        self.setVisible(bool(rows))
        self._draw()

    def _draw(self, *_: object) -> None:
        c = theme.colours()
        self.plot.clear()
        self.plot.setBackground(c.window)
        source = self.which.currentData()
        if source is None:
            return
        length = self._durations[source] / MICROSECOND
        x = (np.arange(BINS) + 0.5) * length / BINS
        up = shares(self._seen, source, self._durations[source])
        down = shares(self._said, source, self._durations[source])
        width = length / BINS
        self.plot.addItem(pg.BarGraphItem(x=x, height=up, width=width, brush=QColor(self._colour), pen=None))
        self.plot.addItem(pg.BarGraphItem(x=x, height=-down, width=width, brush=QColor(c.muted), pen=None))
        self.plot.addItem(pg.InfiniteLine(0, 0, pen=QColor(c.line)))
        self.plot.setXRange(0, length, padding=0)
        self.plot.setYRange(-1.05, 1.05, padding=0)
        for name in ("left", "bottom"):
            axis = self.plot.getAxis(name)
            axis.setPen(QColor(c.line))
            axis.setTextPen(QColor(c.muted))
        self.plot.getAxis("left").setTicks([[(0.5, self.tr("seen")), (-0.5, self.tr("speaks"))]])

    def _clicked(self, event: object) -> None:
        source = self.which.currentData()
        if source is None:
            return
        where: QPointF = self.plot.plotItem.vb.mapSceneToView(event.scenePos())  # type: ignore[attr-defined]
        at = min(max(0, round(where.x() * MICROSECOND)), self._durations[source])
        self.picked.emit(source, at)
