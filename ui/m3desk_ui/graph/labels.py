"""Chooses, places and draws the graph's labels; runs for every frame, so every step is cheap."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QStaticText

from m3desk_ui.graph.scene import Scene
from m3desk_ui.graph.style import GraphPalette
from m3desk_ui.look import plain

MOST = 120
WIDTH = 190
"""Pixels after which a label is cut with an ellipsis."""
BOLD = ("person", "clip", "topic")
FROM = {"semantic": 0.75, "episodic": 1.05, "face": 1.05, "voice": 1.05}
"""Zoom from which a kind is labelled; people, things and places always are."""
MISSES = 60
"""Labels without room after which a frame stops trying."""
NEW = 40
"""Labels prepared in one frame at most: preparing one costs as much as drawing ten."""
MARKED = 700
"""Nodes that labels keep clear of; the least important of a crowd may be covered."""
MARKED_MOVING = 150
GROUND = 3
"""Pixels left and right of a label's words that its own ground covers."""
TRIED = 3 * MOST
"""Nodes in view that are looked at for a label, the most important first."""
STEP = 7.0
"""Pixels of a cell: half a line of text."""


class Room:
    """One int a line of cells, one bit a cell: whether a label fits is an `and` per line."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width - 2, height - 2
        self.lines = [0] * (int(height / STEP) + 2)
        self.texts = [0] * len(self.lines)
        """Cells that labels of `must` keep clear of, too: of other labels, and of the nodes that `mark` was given for them."""

    def mark(self, place: NDArray[np.float64], half: NDArray[np.float64], *, for_all: bool = False) -> None:
        """Take the squares around (n, 2) places, `half` (n,) pixels to each side; `for_all`: from labels of `must`, too."""
        low = np.maximum(((place - half[:, None]) / STEP).astype(int), 0)
        high = np.maximum(((place + half[:, None]) / STEP).astype(int), 0)
        high[:, 1] = np.minimum(high[:, 1], len(self.lines) - 1)
        lines = self.texts if for_all else self.lines
        for (x0, y0), (x1, y1) in zip(low.tolist(), high.tolist(), strict=True):
            bits = ((1 << (x1 - x0 + 1)) - 1) << x0
            for y in range(y0, y1 + 1):
                lines[y] |= bits

    def spot(self, x: float, y: float, off: float, long_: float, tall: float, *, must: bool = False) -> tuple[float, float] | None:
        """Return the corner of a label beside a node at x, y and take its cells: right, left, below or above, `off` pixels away.

        None where there is no room; `must` covers nodes, but no other label, and never leaves the widget.
        """
        for left, top in (
            (x + off, y - tall / 2),
            (x - off - long_, y - tall / 2),
            (x - long_ / 2, y + off - 1),
            (x - long_ / 2, y - off - tall),
        ):
            if left < 2 or top < 2 or left + long_ > self._width or top + tall > self._height:
                continue
            x0 = int(left / STEP)
            bits = ((1 << (int((left + long_) / STEP) - x0 + 1)) - 1) << x0
            rows = range(int(top / STEP), int((top + tall) / STEP) + 1)
            if self._taken(self.texts if must else self.lines, rows, bits):
                continue
            for row in rows:
                self.lines[row] |= bits
                self.texts[row] |= bits
            return left, top
        return None

    @staticmethod
    def _taken(lines: list[int], rows: range, bits: int) -> bool:
        for row in rows:  # noqa: SIM110  (a generator costs twice as much here)
            if lines[row] & bits:
                return True
        return False


@dataclass(frozen=True, slots=True)
class GraphLabel:
    """A text ready to be drawn; `long`: its pixels."""

    words: str
    text: QStaticText
    long: float
    font: QFont


class Labels:
    """Keeps prepared labels by node id."""

    def __init__(self, font: QFont) -> None:
        self.use(font)

    def use(self, font: QFont) -> None:
        """Write in this font (a little smaller) from now on."""
        self._kept: dict[str, GraphLabel] = {}
        self._new = 0
        self.plain = QFont(font)
        self.plain.setPointSizeF(max(7.0, font.pointSizeF() * 0.9))
        self.bold = QFont(self.plain)
        self.bold.setWeight(QFont.Weight.DemiBold)
        self._tall = QFontMetricsF(self.plain).height()

    def room(
        self,
        width: int,
        height: int,
        place: NDArray[np.float64],
        sizes: NDArray[np.float64],
        seen: NDArray[np.intp],
        rank: NDArray[np.intp],
        *,
        moving: bool = False,
    ) -> Room:
        """Return the room that the nodes in view leave."""
        room = Room(width, height)
        most = MARKED_MOVING if moving else MARKED
        marked = seen if len(seen) <= most else seen[np.argpartition(rank[seen], most)[:most]]
        room.mark(place[marked], sizes[marked] * 0.42)
        return room

    def order(
        self, rows: NDArray[np.intp], rank: NDArray[np.intp], seen: NDArray[np.intp], only: NDArray[np.intp] | None, first: Sequence[int]
    ) -> list[int]:
        """Return rows in view, most important first (as `rows` are), at most TRIED; of `only` where given; `first` lead, the last most."""
        if only is not None:
            seen = np.intersect1d(seen, only)
        if len(seen) < len(rows):
            ranks = rank[seen]
            ranks = np.sort(ranks if len(ranks) <= TRIED else np.partition(ranks, TRIED)[:TRIED])
            order: list[int] = rows[ranks].tolist()
        else:
            order = rows[:TRIED].tolist()
        for row in first:
            order = [row, *(r for r in order if r != row)]
        return order

    def draw(
        self,
        painter: QPainter,
        scene: Scene,
        place: NDArray[np.float64],
        sizes: NDArray[np.float64],
        order: Sequence[int],
        room: Room,
        look: GraphPalette,
        zoom: float,
        must: Collection[int],
        *,
        all_kinds: bool,
        moving: bool,
    ) -> bool:
        """Write labels where they cover neither a node nor another label; say whether some still wait to be prepared.

        Labels of `must` are written on a ground of their own whatever nodes they cover, as long as they cover no other label: the ring
        still marks those that get none. `all_kinds`: however far away.
        """
        self._new = 0
        misses = written = 0
        for place_in_order, row in enumerate(order[: MOST if moving else MOST * 3]):
            if place_in_order == 1 and len(must) > 1:  # what is pointed at has its label; the others leave each other's nodes in view
                marked = np.fromiter(must, dtype=np.intp)
                room.mark(place[marked], sizes[marked] * 0.42, for_all=True)
            kind = scene.nodes[row].kind
            if row not in must and not all_kinds and zoom < FROM.get(kind, 0.0):
                continue
            label = self._label(scene, row)
            x, y = float(place[row, 0]), float(place[row, 1])
            edge = GROUND if row in must else 0
            off = float(sizes[row]) / 2 + (9 - GROUND if row in must else 4)
            spot = room.spot(x, y, off, label.long + 2 * edge, self._tall, must=row in must)
            if spot is None:
                misses += row not in must
            else:
                if row in must:
                    painter.fillRect(QRectF(spot[0], spot[1], label.long + 2 * edge, self._tall), look.ground)
                painter.setFont(label.font)
                painter.setPen(look.text)
                painter.drawStaticText(QPointF(spot[0] + edge, spot[1]), label.text)
                written += 1
            if written >= MOST or misses >= MISSES:
                return False
            if self._new >= NEW:
                return True
        return False

    def _label(self, scene: Scene, row: int) -> GraphLabel:
        """Return a node's label, prepared once for the words it has now."""
        node = scene.nodes[row]
        more = int(scene.hidden[row])
        words = f"{node.label}  +{more}" if more and node.kind == "person" else node.label
        known = self._kept.get(node.id)
        if known is None or known.words != words:
            font = self.bold if node.kind in BOLD else self.plain
            metrics = QFontMetricsF(font)
            shown = metrics.elidedText(plain.line(words), Qt.TextElideMode.ElideRight, WIDTH)
            text = QStaticText(shown)
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            known = self._kept[node.id] = GraphLabel(words, text, metrics.horizontalAdvance(shown), font)
            self._new += 1
        return known
