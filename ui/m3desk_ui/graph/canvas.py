"""Paints the graph in one widget: pan, zoom, hover, select, drag. Shows a Scene at given positions; independent of desk and layout.

Everything is drawn from arrays in a few calls (`drawLines`, `drawPixmapFragments`): one item object a node would cost ten times as much.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QEasingCurve, QEvent, QLineF, QPointF, QRectF, QSize, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from m3desk.domain.ids import numbered
from m3desk_ui.graph import style
from m3desk_ui.graph.camera import Camera
from m3desk_ui.graph.labels import Labels
from m3desk_ui.graph.scene import EDGE_PLAIN, EDGE_SAME, EDGE_TYPED, Scene
from m3desk_ui.look import plain

EMPTY = Scene((), np.zeros((0, 2), np.int32), np.zeros(0, np.float32), np.zeros(0, np.int8), np.zeros(0, np.int32), {})
LINK_MS = 3.5
"""Milliseconds of a frame that links may take while the view moves; at rest all are drawn."""
PICTURE_FROM = 26
"""Points across from which a face is drawn as its picture."""
PICTURE_SIZE = 96


Array = NDArray[np.float64]
Rows = NDArray[np.intp]


def _pointer(array: NDArray[np.float64], kind: type) -> Any:
    """Return the array's memory as Qt objects; the caller keeps the array alive."""
    return shiboken6.Shiboken.wrapInstance(array.ctypes.data, kind)


class GraphCanvas(QWidget):
    """Signals carry node ids; `chosen` the empty string when the ground was clicked."""

    chosen = Signal(str)
    opened = Signal(str)
    dragged = Signal(str, float, float)
    menu_wanted = Signal(str, object)
    key_wanted = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Memory graph"))
        self.setMinimumSize(200, 150)
        self.scene = EMPTY
        self.at = np.zeros((0, 2))
        self.camera = Camera()
        self.hovered = ""
        self.selected = ""
        self.pinned: set[str] = set()
        self.hint = ""
        self.paint_times: list[float] = []
        self._moving = False
        self._link_budget = 4000
        self._press: QPointF | None = None
        self._grabbed = -1
        self._panned = False
        self._pictures: dict[str, QPixmap] = {}
        self.labels = Labels(self.font())
        self._rest = QTimer(self, singleShot=True, interval=140)
        self._rest.timeout.connect(self._come_to_rest)
        self._flight = QVariantAnimation(self, duration=320, startValue=0.0, endValue=1.0)
        self._flight.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._flight.valueChanged.connect(self._fly)
        self._dress()
        self._index()

    # ------------------------------------------------------------ what is shown

    def show_scene(self, scene: Scene, at: NDArray[np.float64]) -> None:
        """Show a scene with its nodes at (n, 2) world places."""
        self.scene = scene
        self.at = np.ascontiguousarray(at, dtype=np.float64)
        self._index()
        if self.hovered not in scene.row_of:
            self.hovered = ""
        self.update()

    def move_nodes(self, at: NDArray[np.float64]) -> None:
        """Take new places of the same scene; the camera follows until the user has taken it."""
        self.at = np.ascontiguousarray(at, dtype=np.float64)
        self.camera.follow(self.at)
        self._stir()

    def set_picture(self, media: str, picture: QPixmap) -> None:
        self._pictures[media] = picture
        for key in [k for k in self._pictures if k.startswith(media + "|")]:
            del self._pictures[key]
        self.update()

    def wanted_pictures(self) -> list[str]:
        """Return media ids of pictures on show that are not here yet."""
        return list(dict.fromkeys(n.picture for n in self.scene.nodes if n.picture and n.picture not in self._pictures))

    def _index(self) -> None:
        """Prepare the arrays that painting needs, once per scene."""
        nodes = self.scene.nodes
        self._kind = np.array([style.kind_index(n.kind) for n in nodes], dtype=np.intp)
        self._cell = np.array([style.cell_of(n.kind, n.person) for n in nodes], dtype=np.float64) * style.CELL
        base = np.array([k.size for k in style.KINDS])
        weight = np.array([n.weight for n in nodes], dtype=np.float64)
        self._size = base[self._kind] * (1 + 0.16 * np.log2(np.clip(weight, 1, 64))) if len(nodes) else np.zeros(0)
        first = {name: rank for rank, name in enumerate(style.LABELLED_FIRST)}
        order = sorted(range(len(nodes)), key=lambda r: (first.get(nodes[r].kind, 9), -nodes[r].weight, r))
        self._order = np.array(order, dtype=np.intp)
        self._rank = np.empty(len(nodes), dtype=np.intp)
        self._rank[self._order] = np.arange(len(nodes))
        self._fragments = np.zeros((len(nodes), 10))
        self._fragments[:, 9] = 1
        strong = np.argsort(-self.scene.pull, kind="stable")
        links, kinds = self.scene.links[strong], self.scene.kinds[strong]
        self._by_kind = {k: links[kinds == k] for k in (EDGE_PLAIN, EDGE_TYPED, EDGE_SAME)}
        self._shown_as_picture = np.flatnonzero(np.array([n.picture is not None for n in nodes], dtype=bool))

    def _dress(self) -> None:
        self.look = style.look()
        self._atlas = style.atlas(self.look)
        self.labels.use(self.font())

    def dress(self) -> None:
        """Read colours and texts again: the theme or the language changed."""
        self._dress()
        self._index()
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange:
            self._dress()
        super().changeEvent(event)

    # ------------------------------------------------------------ camera

    def fit(self) -> None:
        """Show everything, and let the camera follow the layout again."""
        self.fly_to(*self.camera.fitting(self.at), own=False)

    def fly_to(self, centre: Array, zoom: float, *, own: bool = True) -> None:
        """Move the camera there in a third of a second."""
        self.camera.head_for(centre, zoom, own=own)
        self._flight.stop()
        self._flight.start()

    def fly_to_node(self, id_: str) -> bool:
        """Bring a node to the middle, close enough to read; False when it is not on show."""
        row = self.scene.row_of.get(id_)
        if row is None or row >= len(self.at):
            return False
        self.fly_to(self.at[row], max(self.camera.zoom, 1.6))
        return True

    def _fly(self, share: float) -> None:
        self.camera.fly(share)
        self._stir()

    def pan_by(self, dx: float, dy: float) -> None:
        self.camera.pan_by(dx, dy)
        self._stir()

    def zoom_by(self, factor: float, x: float | None = None, y: float | None = None) -> None:
        """Zoom about a point of the widget (its middle by default)."""
        self.camera.zoom_by(factor, self.width() / 2 if x is None else x, self.height() / 2 if y is None else y)
        self._stir()

    def _stir(self) -> None:
        self._moving = True
        self._rest.start()
        self.update()

    def _come_to_rest(self) -> None:
        self._moving = False
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.camera.size = (self.width(), self.height())
        self.camera.follow(self.at)
        super().resizeEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(560, 420)

    # ------------------------------------------------------------ mouse and keys

    def _scale(self) -> float:
        """Return the scale at which a node is drawn: it grows slower than the zoom, so that dense areas spread out."""
        return float(np.clip(self.camera.zoom**0.55, 0.32, 3.2))

    def node_at(self, x: float, y: float) -> str:
        """Return the id of the node at a point of the widget, or the empty string."""
        if not len(self.at):
            return ""
        away = np.hypot(*(self.camera.to_screen(self.at) - (x, y)).T)
        reach = np.maximum(self._size * self._scale() / 2, 5) + 3
        inside = np.flatnonzero(away < reach)
        if not len(inside):
            return ""
        return self.scene.nodes[int(inside[np.argmin(away[inside] / reach[inside])])].id

    def wheelEvent(self, event: QWheelEvent) -> None:
        where = event.position()
        self.zoom_by(1.0016 ** event.angleDelta().y(), where.x(), where.y())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._press = event.position()
            self._panned = False
            id_ = self.node_at(self._press.x(), self._press.y()) if event.button() == Qt.MouseButton.LeftButton else ""
            self._grabbed = self.scene.row_of.get(id_, -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        where = event.position()
        if self._press is None:
            self._hover(self.node_at(where.x(), where.y()))
            return
        step = where - self._press
        if not self._panned and step.manhattanLength() < 5:
            return
        self._panned = True
        if self._grabbed >= 0:
            node = self.scene.nodes[self._grabbed]
            x, y = self.camera.to_world(where.x(), where.y())
            self.at[self._grabbed] = (x, y)
            self.pinned.add(node.id)
            self.camera.take()
            self.dragged.emit(node.id, float(x), float(y))
            self._stir()
        else:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.pan_by(step.x(), step.y())
            self._press = where

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._press is not None and not self._panned and event.button() == Qt.MouseButton.LeftButton:
            self.choose(self.scene.nodes[self._grabbed].id if self._grabbed >= 0 else "")
        self._press = None
        self._grabbed = -1
        self.unsetCursor()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        id_ = self.node_at(event.position().x(), event.position().y())
        if id_:
            self.opened.emit(id_)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover("")
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        id_ = self.node_at(event.pos().x(), event.pos().y()) if event.reason() == QContextMenuEvent.Reason.Mouse else self.selected
        self.menu_wanted.emit(id_, event.globalPos())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self.scene.row_of.get(self.node_at(event.pos().x(), event.pos().y()), -1)
            if row >= 0:
                node = self.scene.nodes[row]
                plain.show_tip(event.globalPos(), f"{style.kind_singular(node.kind)}: {node.content or node.label}", self)
            else:
                plain.show_tip(event.globalPos(), "", self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        key = Qt.Key(event.key())
        if key in ways:
            self._walk(np.array(ways[key], dtype=np.float64))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_by(1.25)
        elif key == Qt.Key.Key_Minus:
            self.zoom_by(0.8)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.selected:
            self.opened.emit(self.selected)
        elif key == Qt.Key.Key_Escape:
            self.choose("")
        elif event.text().lower() in ("e", "c", "p", "m") and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.key_wanted.emit(event.text().lower(), self.selected)
        else:
            super().keyPressEvent(event)

    def _walk(self, way: NDArray[np.float64]) -> None:
        """Select the neighbour that is nearest in this direction."""
        row = self.scene.row_of.get(self.selected, -1)
        if row < 0:
            if len(self._order):
                self.choose(self.scene.nodes[int(self._order[0])].id)
            return
        near = self._neighbours(row)
        if not len(near):
            return
        d = self.at[near] - self.at[row]
        along = (d @ way) / np.maximum(np.hypot(d[:, 0], d[:, 1]), 1e-6)
        best = int(np.argmax(along))
        if along[best] > 0.2:
            self.choose(self.scene.nodes[int(near[best])].id)
            if not self.camera.shows(self.at[near[best]], 40):
                self.fly_to(self.at[near[best]], self.camera.zoom)

    def _neighbours(self, row: int) -> NDArray[np.intp]:
        links = self.scene.links
        return np.concatenate([links[links[:, 0] == row, 1], links[links[:, 1] == row, 0]]).astype(np.intp)

    def _hover(self, id_: str) -> None:
        if id_ != self.hovered:
            self.hovered = id_
            self.setCursor(Qt.CursorShape.PointingHandCursor if id_ else Qt.CursorShape.ArrowCursor)
            self.update()

    def choose(self, id_: str, *, tell: bool = True) -> None:
        """Select a node (or nothing)."""
        self.selected = id_
        self.update()
        if tell:
            self.chosen.emit(id_)

    # ------------------------------------------------------------ painting

    def paintEvent(self, event: QPaintEvent) -> None:
        began = time.perf_counter()
        painter = QPainter(self)
        self.draw(painter)
        painter.end()
        self.paint_times.append((time.perf_counter() - began) * 1e3)
        del self.paint_times[:-400]

    def draw(self, painter: QPainter) -> None:
        """Draw everything; also used for export."""
        width, height = self.width(), self.height()
        painter.fillRect(0, 0, width, height, self.look.ground)
        if not len(self.at) or len(self.at) != len(self.scene.nodes):
            self._draw_hint(painter)
            return
        place = np.ascontiguousarray(self.camera.to_screen(self.at))
        focus = self.scene.row_of.get(self.hovered, -1)
        lit = np.zeros(len(place), dtype=bool)
        if focus >= 0:
            lit[focus] = True
            lit[self._neighbours(focus)] = True
        self._draw_links(painter, place, focus)
        sizes = np.maximum(self._size * self._scale(), 3.0)
        seen = np.flatnonzero((place[:, 0] > -40) & (place[:, 0] < width + 40) & (place[:, 1] > -40) & (place[:, 1] < height + 40))
        self._draw_nodes(painter, place, sizes, seen, lit, focus)
        self._draw_marks(painter, place, sizes)
        chosen = self.scene.row_of.get(self.selected, -1)
        order = self.labels.order(self._order, seen, lit if focus >= 0 else None, (chosen, focus))
        room = self.labels.room(width, height, place, sizes, seen, self._rank)
        if self.labels.draw(
            painter,
            self.scene,
            place,
            sizes,
            order,
            room,
            self.look,
            self.camera.zoom,
            {chosen, focus},
            all_kinds=focus >= 0,
            moving=self._moving,
        ):
            QTimer.singleShot(15, self, self.update)

    def _draw_hint(self, painter: QPainter) -> None:
        painter.setPen(self.look.faint_text)
        painter.drawText(
            QRectF(self.rect()).adjusted(24, 24, -24, -24), int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap), self.hint
        )

    def _draw_links(self, painter: QPainter, place: NDArray[np.float64], focus: int) -> None:
        quiet = focus >= 0
        soft = len(self.scene.links) < 1500 and not self._moving
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, soft)
        colours = {EDGE_PLAIN: self.look.line, EDGE_SAME: self.look.line_same, EDGE_TYPED: self.look.line_typed}
        began = time.perf_counter()
        drawn = 0
        for kind, links in self._by_kind.items():
            if (self._moving or quiet) and len(links) > self._link_budget:
                links = links[: self._link_budget]
            drawn += len(links)
            pen = QPen(self.look.line_faint if quiet else colours[kind], 2.0 if kind == EDGE_SAME and not quiet else 0)
            self._draw_lines(painter, place, links, pen)
        if self._moving and drawn:
            # While it moves, as many links (the strongest first) as this machine draws in LINK_MS.
            fair = drawn * LINK_MS / max((time.perf_counter() - began) * 1e3, 0.05)
            self._link_budget = int(min(max(0.7 * self._link_budget + 0.3 * fair, 400), 60_000))
        if quiet:
            links = self.scene.links
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_lines(painter, place, links[(links == focus).any(axis=1)], QPen(self.look.line_lit, 1.4))

    def _draw_lines(self, painter: QPainter, place: NDArray[np.float64], links: NDArray[np.int32], pen: QPen) -> None:
        if not len(links):
            return
        x, y = place[:, 0], place[:, 1]
        out = (x < 0).astype(np.uint8) | (x > self.width()) * np.uint8(2) | (y < 0) * np.uint8(4) | (y > self.height()) * np.uint8(8)
        if out.any():
            links = links[(out[links[:, 0]] & out[links[:, 1]]) == 0]
        if len(links):
            lines = np.concatenate([place[links[:, 0]], place[links[:, 1]]], axis=1)
            painter.setPen(pen)
            painter.drawLines(_pointer(lines, QLineF), len(lines))

    def _draw_nodes(
        self,
        painter: QPainter,
        place: NDArray[np.float64],
        sizes: NDArray[np.float64],
        seen: NDArray[np.intp],
        lit: NDArray[np.bool_],
        focus: int,
    ) -> None:
        if not len(seen):
            return
        # least important first, so that people lie on top
        seen = seen[np.argsort(-self._rank[seen])]
        part = self._fragments[: len(seen)]
        part[:, :2] = place[seen]
        part[:, 2] = self._cell[seen]
        part[:, 3] = 0
        part[:, 4:6] = style.CELL
        part[:, 6] = part[:, 7] = sizes[seen] / style.CELL
        part[:, 9] = np.where(lit[seen], 1.0, 0.22) if focus >= 0 else 1.0
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, len(seen) < 2500 or not self._moving)
        painter.drawPixmapFragments(_pointer(part, QPainter.PixmapFragment), len(seen), self._atlas)
        for row in seen[self._kind[seen] == style.INDEX["person"]][:300].tolist():
            self._draw_initial(painter, row, place[row], float(sizes[row]), 0.3 if focus >= 0 and not lit[row] else 1.0)
        rows = self._shown_as_picture
        rows = rows[sizes[rows] >= PICTURE_FROM]
        rows = rows[np.isin(rows, seen)]
        for row in rows[:300]:
            self._draw_face(painter, int(row), place[row], float(sizes[row]), 0.25 if focus >= 0 and not lit[row] else 1.0)

    def _draw_initial(self, painter: QPainter, row: int, at: NDArray[np.float64], size: float, opacity: float) -> None:
        """Write a letter into the disc of a person who has no picture (yet)."""
        node = self.scene.nodes[row]
        if size < 16 or (node.picture in self._pictures and size >= PICTURE_FROM):
            return
        number = str(numbered(node.id))
        letter = number if node.label.endswith(number) else plain.visible(node.label[:1]).upper()
        font = QFont(self.labels.bold)
        font.setPixelSize(max(8, int(size * 0.42)))
        painter.setFont(font)
        painter.setOpacity(opacity)
        painter.setPen(self.look.ground)
        painter.drawText(QRectF(at[0] - size / 2, at[1] - size / 2, size, size), int(Qt.AlignmentFlag.AlignCenter), letter)
        painter.setOpacity(1.0)

    def _draw_face(self, painter: QPainter, row: int, at: NDArray[np.float64], size: float, opacity: float) -> None:
        node = self.scene.nodes[row]
        if not node.picture or node.picture not in self._pictures:
            return
        key = f"{node.picture}|{node.kind}"
        cut = self._pictures.get(key)
        if cut is None:
            cut = self._pictures[key] = style.round_picture(self._pictures[node.picture], PICTURE_SIZE, node.kind == "person")
        inner = size * 0.84 if node.kind == "person" else size * 0.6
        painter.setOpacity(opacity)
        painter.drawPixmap(QRectF(at[0] - inner / 2, at[1] - inner / 2, inner, inner), cut, QRectF(cut.rect()))
        painter.setOpacity(1.0)

    def _draw_marks(self, painter: QPainter, place: NDArray[np.float64], sizes: NDArray[np.float64]) -> None:
        """Draw what is selected, hovered and pinned."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for id_, colour, width in ((self.hovered, self.look.line_lit, 1.6), (self.selected, self.look.chosen, 2.4)):
            row = self.scene.row_of.get(id_, -1)
            if row >= 0:
                painter.setPen(QPen(colour, width))
                painter.drawEllipse(QPointF(*place[row]), sizes[row] / 2 + 3, sizes[row] / 2 + 3)
        painter.setPen(QPen(self.look.ground, 1))
        painter.setBrush(self.look.text)
        for id_ in self.pinned:
            row = self.scene.row_of.get(id_, -1)
            if row >= 0:
                x, y = place[row] + sizes[row] * 0.36
                painter.drawEllipse(QPointF(x, y), 3.2, 3.2)

    def picture(self, scale: float = 2.0) -> QImage:
        """Return what is on show as an image, for export."""
        image = QImage(round(self.width() * scale), round(self.height() * scale), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        painter = QPainter(image)
        hovered, self.hovered = self.hovered, ""
        self.draw(painter)
        self.hovered = hovered
        painter.end()
        return image

    def measure(self, frames: int = 60) -> dict[str, float]:
        """Paint while panning and zooming; return the median and 95th percentile of a frame in ms, and the still frame."""
        image = QImage(self.size(), QImage.Format.Format_RGB32)
        keep = self.camera.centre.copy(), self.camera.zoom, self.camera.own
        times = []
        for frame in range(frames + 5):
            self.camera.centre = self.camera.centre + np.array([3.0, 1.0]) / self.camera.zoom * (1 if frame % 20 < 10 else -1)
            self.camera.zoom *= 1.03 if frame % 30 < 15 else 1 / 1.03
            self._moving = True
            began = time.perf_counter()
            painter = QPainter(image)
            self.draw(painter)
            painter.end()
            times.append((time.perf_counter() - began) * 1e3)
        self._moving = False
        began = time.perf_counter()
        painter = QPainter(image)
        self.draw(painter)
        painter.end()
        still = (time.perf_counter() - began) * 1e3
        self.camera.centre, self.camera.zoom, self.camera.own = keep
        good = np.array(times[5:])
        return {"median_ms": float(np.median(good)), "p95_ms": float(np.percentile(good, 95)), "still_ms": still}
