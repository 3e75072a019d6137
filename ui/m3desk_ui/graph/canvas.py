"""Shows the graph in one widget: pan, zoom, hover, select one or many, drag. Takes a Scene and positions; independent of desk and layout.

While the user moves it, quick frames are painted; once it rests, the sharp picture is drawn in slices between other work and then
shown. What the layout moves is drawn in slices too: nobody's hand waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEasingCurve, QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
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

from m3desk_ui.graph import style
from m3desk_ui.graph.camera import Camera
from m3desk_ui.graph.painting import EMPTY, PICTURE_SIZE, Frame, Marks, Painting, rows_of
from m3desk_ui.graph.scene import Scene
from m3desk_ui.hub.turns import turns
from m3desk_ui.look import plain

SLICE = 0.002
"""Seconds after which a slice of the sharp picture ends; other work has its turn between two."""
REST_MS = 140

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A picture of the graph without labels, and the frame that it shows. `sharp`: with everything, not a quick frame."""

    image: QImage
    frame: Frame
    sharp: bool


class GraphCanvas(QWidget):
    """Signals carry node ids; `chosen` the empty string when the ground was clicked."""

    chosen = Signal(str)
    opened = Signal(str)
    dragged = Signal(str, float, float)
    menu_wanted = Signal(str, object)
    key_wanted = Signal(str, str)
    many = Signal(object)
    """The ids of all selected nodes, in the order in which they were selected."""
    viewed = Signal()
    """The camera or the nodes moved."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Memory graph"))
        self.setMinimumSize(200, 150)
        self.camera = Camera()
        self.hovered = ""
        self.selected = ""
        self.marked: list[str] = []
        """All selected nodes, the current one (`selected`) among them."""
        self.found: tuple[str, ...] = ()
        """Hits of the search over the window: marked, not selected."""
        self.path: list[str] = []
        """Nodes of a path that is lit."""
        self.pinned: set[str] = set()
        self.hint = ""
        self.paint_times: list[float] = []
        self.slice_times: list[tuple[float, float]] = []
        """Milliseconds of each slice by the clock, and of this thread's processor."""
        self._moving = False
        self._press: QPointF | None = None
        self._grabbed = -1
        self._panned = False
        self._band: QRectF | None = None
        self.painting = Painting(self.font())
        self._kept: _Kept | None = None
        self._parts: Iterator[None] | None = None
        self._part_painter: QPainter | None = None
        self._drawn: _Kept | None = None
        """What slices are drawing; `_kept` once it is complete."""
        self._outdated = False
        """The nodes moved on while a picture of them was drawn."""
        self._slicing = QTimer(self, singleShot=True, interval=0)
        self._slicing.timeout.connect(self._draw_slice)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._come_to_rest)
        self._labels_due = QTimer(self, singleShot=True, interval=15)
        self._labels_due.timeout.connect(self.update)
        self._flight = QVariantAnimation(self, duration=320, startValue=0.0, endValue=1.0)
        self._flight.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._flight.valueChanged.connect(self._fly)

    # ------------------------------------------------------------ what is shown

    @property
    def scene(self) -> Scene:
        return self.painting.scene

    @property
    def at(self) -> Array:
        """Return (n, 2) world places of the scene's nodes."""
        return self.painting.at

    def show_scene(self, scene: Scene, at: NDArray[np.float64]) -> None:
        """Show a scene with its nodes at (n, 2) world places."""
        self._drop_kept()
        self.painting.show(scene, at)
        if self.hovered not in scene.row_of:
            self.hovered = ""
        self.camera.follow(self.at)
        self._drift()

    def move_nodes(self, at: NDArray[np.float64]) -> None:
        """Take new places of the same scene; the camera follows until the user has taken it."""
        self.painting.at = np.ascontiguousarray(at, dtype=np.float64)
        self.camera.follow(self.at)
        if self.painting.ready:
            self._drift()
        else:
            self._stir()

    def set_picture(self, media: str, picture: QPixmap) -> None:
        self.painting.set_picture(media, picture)
        self._redraw()

    def wanted_pictures(self) -> list[str]:
        """Return media ids of pictures on show that are not here yet."""
        return list(dict.fromkeys(n.picture for n in self.scene.nodes if n.picture and n.picture not in self.painting.pictures))

    def dress(self) -> None:
        """Read colours and texts again: the theme or the language changed."""
        self.painting.dress(self.font())
        self._redraw()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange:
            self.dress()
        super().changeEvent(event)

    @property
    def grabbed(self) -> int:
        """Return the row of the node that is being dragged, −1 for none."""
        return self._grabbed

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

    def look_at(self, x: float, y: float) -> None:
        """Bring a place of the world to the middle, at the same zoom."""
        self.camera.take()
        self.camera.centre = np.array([x, y])
        self._stir()

    def _stir(self) -> None:
        """Paint the next frame at once: the user moves something."""
        self._moving = True
        self._drop_kept()
        self._rest.start()
        self.update()
        if len(self.at):
            self.viewed.emit()

    def _drift(self) -> None:
        """Draw the next frame in slices: the layout moved the nodes, or others are on show. What is on the screen stays until then."""
        if self.painting.small or not self.painting.ready or self._flight.state() == QVariantAnimation.State.Running:
            self._stir()
            return
        self._moving = True
        self._rest.start()
        if self._parts is not None and self._drawn is not None and not self._drawn.sharp:
            self._outdated = True
        else:
            self._begin_slices(sharp=False)
        self.viewed.emit()

    def _redraw(self) -> None:
        """Draw the sharp picture again; what is on the screen stays until it is ready."""
        self._end_slices()
        if self.painting.small or self._kept is None:
            self._drop_kept()
            self.update()
        if not self._moving:
            self._begin_slices(sharp=True)

    def _come_to_rest(self) -> None:
        self._moving = False
        self._begin_slices(sharp=True)
        if self.painting.small:
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.camera.size = (self.width(), self.height())
        self.camera.follow(self.at)
        self._stir()
        super().resizeEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(560, 420)

    # ------------------------------------------------------------ the sharp picture, in slices

    def _begin_slices(self, *, sharp: bool) -> None:
        self._end_slices()
        if self.painting.small or not self.painting.ready:
            return
        ratio = self.devicePixelRatioF()
        image = QImage(round(self.width() * ratio), round(self.height() * ratio), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        frame = self._own_frame()
        self._drawn = _Kept(image, frame, sharp)
        self._part_painter = QPainter(image)
        self._parts = (self.painting.sharp if sharp else self.painting.quick)(self._part_painter, frame)
        self._slicing.start()

    def _own_frame(self) -> Frame:
        """Return a frame whose arrays stay as they are while slices are drawn."""
        frame = self.painting.frame(self.camera)
        return Frame(frame.width, frame.height, frame.zoom, frame.place.copy(), frame.sizes, frame.seen, frame.out)

    def _draw_slice(self) -> None:
        """Draw one part of a frame of the layout, or as many of the sharp picture as fit into a slice."""
        if self._parts is None or self._drawn is None or turns().put_off(self._slicing):
            return
        began, own = time.perf_counter(), time.thread_time()
        most = SLICE if self._drawn.sharp else 0.0
        more = next((True for _ in self._parts if time.perf_counter() - began > most), False)
        self.slice_times.append(((time.perf_counter() - began) * 1e3, (time.thread_time() - own) * 1e3))
        del self.slice_times[:-400]
        if more:
            self._slicing.start()
            return
        drawn, again = self._drawn, self._outdated
        self._end_slices()
        self._kept = drawn
        self.update()
        if again:
            self._begin_slices(sharp=False)

    def _end_slices(self) -> None:
        self._slicing.stop()
        self._parts = None
        if self._part_painter is not None:
            self._part_painter.end()
        self._part_painter = self._drawn = None
        self._outdated = False

    def _drop_kept(self) -> None:
        self._end_slices()
        self._kept = None

    @property
    def at_rest(self) -> bool:
        """Return whether the sharp picture is on the screen."""
        return not self._moving and (self.painting.small or (self._kept is not None and self._kept.sharp))

    # ------------------------------------------------------------ mouse

    def node_at(self, x: float, y: float) -> str:
        """Return the id of the node at a point of the widget, or the empty string."""
        row = self.painting.node_at(self.camera, x, y)
        return self.scene.nodes[row].id if row >= 0 else ""

    def wheelEvent(self, event: QWheelEvent) -> None:
        where = event.position()
        self.zoom_by(1.0016 ** event.angleDelta().y(), where.x(), where.y())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.BackButton, Qt.MouseButton.ForwardButton):
            self.key_wanted.emit("back" if event.button() == Qt.MouseButton.BackButton else "forward", self.selected)
        elif event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._press = event.position()
            self._panned = False
            id_ = self.node_at(self._press.x(), self._press.y()) if event.button() == Qt.MouseButton.LeftButton else ""
            self._grabbed = self.scene.row_of.get(id_, -1)
            if self._grabbed < 0 and _adds(event):
                self._band = QRectF(self._press, self._press)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        where = event.position()
        if self._press is None:
            self._hover(self.node_at(where.x(), where.y()))
            return
        step = where - self._press
        if not self._panned and step.manhattanLength() < 5:
            return
        self._panned = True
        if self._band is not None:
            self._band = QRectF(self._press, where).normalized()
            self.update()
        elif self._grabbed >= 0:
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
        if self._band is not None:
            band, self._band = self._band, None
            if self._panned:
                self.mark([*self.marked, *self._inside(band)])
            self.update()
        elif self._press is not None and not self._panned and event.button() == Qt.MouseButton.LeftButton:
            id_ = self.scene.nodes[self._grabbed].id if self._grabbed >= 0 else ""
            if _adds(event) and id_:
                self.toggle(id_)
            else:
                self.choose(id_)
        self._press = None
        self._grabbed = -1
        self.unsetCursor()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        id_ = self.node_at(event.position().x(), event.position().y())
        if id_ and not _adds(event):
            self.opened.emit(id_)

    def _inside(self, band: QRectF) -> list[str]:
        """Return the nodes within a rectangle of the widget, most important first."""
        place = self.camera.to_screen(self.at)
        x, y, order = place[:, 0], place[:, 1], self.painting.order
        good = (x > band.left()) & (x < band.right()) & (y > band.top()) & (y < band.bottom())
        return [self.scene.nodes[row].id for row in order[good[order]].tolist()]

    def leaveEvent(self, event: QEvent) -> None:
        self._hover("")
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        id_ = self.node_at(event.pos().x(), event.pos().y()) if by_mouse else self.selected
        self.menu_wanted.emit(id_, event.globalPos() if by_mouse else self.mapToGlobal(self._spot(id_)))

    def _spot(self, id_: str) -> QPoint:
        """Return the pixel of a node, the middle where it is out of view."""
        row = self.scene.row_of.get(id_, -1)
        if row < 0 or not self.camera.shows(self.at[row]):
            return self.rect().center()
        x, y = self.camera.to_screen(self.at[row])
        return QPoint(round(x), round(y))

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

    def _hover(self, id_: str) -> None:
        if id_ != self.hovered:
            self.hovered = id_
            self.setCursor(Qt.CursorShape.PointingHandCursor if id_ else Qt.CursorShape.ArrowCursor)
            self.update()

    # ------------------------------------------------------------ keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        key, held = Qt.Key(event.key()), event.modifiers()
        plain_key = not held & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier)
        if key in ways and held & Qt.KeyboardModifier.ControlModifier:
            self.pan_by(*(-80.0 * way for way in ways[key]))
        elif key in ways and plain_key:
            self._walk(np.array(ways[key], dtype=np.float64), adding=bool(held & Qt.KeyboardModifier.ShiftModifier))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_by(1.25)
        elif key == Qt.Key.Key_Minus:
            self.zoom_by(0.8)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.selected:
            self.opened.emit(self.selected)
        elif key == Qt.Key.Key_Escape:
            self.path = []
            self.choose("")
        elif key == Qt.Key.Key_A and held & Qt.KeyboardModifier.ControlModifier:
            self.mark([self.scene.nodes[row].id for row in self.painting.order.tolist()])
        elif plain_key and event.text().lower() in ("e", "c", "p", "m", "t", "o"):
            self.key_wanted.emit(event.text().lower(), self.selected)
        else:
            super().keyPressEvent(event)

    def _walk(self, way: NDArray[np.float64], *, adding: bool) -> None:
        """Go to the neighbour that is nearest in this direction, else to the nearest node; `adding`: all that were selected stay so."""
        row = self.scene.row_of.get(self.selected, -1)
        if row < 0:
            if len(self.scene.nodes):
                self.choose(self.scene.nodes[int(self.painting.order[0])].id)
            return
        to = self._nearest(row, self.painting.neighbours(row), way)
        if to is None:
            to = self._beside(row, way)
        if to is None:
            return
        id_ = self.scene.nodes[to].id
        if adding:
            self.mark([*self.marked, id_])
        else:
            self.choose(id_)
        if not self.camera.shows(self.at[to], 40):
            self.fly_to(self.at[to], self.camera.zoom)

    def _nearest(self, row: int, near: NDArray[np.intp], way: NDArray[np.float64]) -> int | None:
        """Return which of these rows lies best in a direction; None if none does."""
        if not len(near):
            return None
        d = self.at[near] - self.at[row]
        along = (d @ way) / np.maximum(np.hypot(d[:, 0], d[:, 1]), 1e-6)
        best = int(np.argmax(along))
        return int(near[best]) if along[best] > 0.2 else None

    def _beside(self, row: int, way: NDArray[np.float64]) -> int | None:
        """Return the row that is nearest in a direction, linked or not, so that the arrow keys lead on from every node."""
        d = self.at - self.at[row]
        away = np.hypot(d[:, 0], d[:, 1])
        ahead = np.flatnonzero((d @ way > 0.5 * away) & (away > 0))
        return int(ahead[np.argmin(away[ahead])]) if len(ahead) else None

    # ------------------------------------------------------------ selecting

    def choose(self, id_: str, *, tell: bool = True) -> None:
        """Select one node (or nothing)."""
        self.selected = id_
        self._set_marked([id_] if id_ else [])
        if tell:
            self.chosen.emit(id_)

    def toggle(self, id_: str) -> None:
        """Add a node to the selected ones, or take it out."""
        self.mark([i for i in self.marked if i != id_] if id_ in self.marked else [*self.marked, id_])

    def mark(self, ids: Sequence[str]) -> None:
        """Select these nodes; the last of them is the current one."""
        now = list(dict.fromkeys(ids))
        self.selected = now[-1] if now else ""
        self._set_marked(now)
        self.chosen.emit(self.selected)

    def _set_marked(self, ids: list[str]) -> None:
        if ids != self.marked:
            self.marked = ids
            self.many.emit(ids)
        self.update()

    def light_path(self, ids: Iterable[str]) -> None:
        """Light the links between these nodes, in this order."""
        self.path = list(ids)
        self.update()

    # ------------------------------------------------------------ painting

    def _marks(self) -> Marks:
        row_of, way = self.scene.row_of, rows_of(self.scene, self.path)
        steps = tuple(pairwise(way)) if len(way) == len(self.path) else ()
        marked = rows_of(self.scene, (*(self.marked if len(self.marked) > 1 else ()), *self.found))
        pinned = rows_of(self.scene, self.pinned)
        return Marks(row_of.get(self.hovered, -1), row_of.get(self.selected, -1), marked, pinned, steps)

    def paintEvent(self, event: QPaintEvent) -> None:
        began = time.perf_counter()
        painter = QPainter(self)
        self.draw(painter)
        painter.end()
        self.paint_times.append((time.perf_counter() - began) * 1e3)
        del self.paint_times[:-400]

    def draw(self, painter: QPainter) -> None:
        """Draw what is on the screen now: the picture drawn in slices if there is one, else a quick frame."""
        if not self.painting.ready:
            painter.fillRect(self.rect(), self.painting.look.ground)
            self._draw_hint(painter)
            return
        kept, marks = self._kept, self._marks()
        frame = kept.frame if kept is not None else self.painting.frame(self.camera)
        if kept is not None:
            painter.drawImage(0, 0, kept.image)
        else:
            if self._moving:
                self._end_slices()  # this is the newest
            for _ in (self.painting.sharp if self.painting.small and not self._moving else self.painting.quick)(painter, frame):
                pass
        only = self.painting.lit(painter, frame, marks)
        self.painting.marks(painter, frame, marks)
        if self.painting.write(painter, frame, marks, only, moving=self._moving):
            self._labels_due.start()
        if self._band is not None:
            self._draw_band(painter, self._band)

    def _draw_band(self, painter: QPainter, band: QRectF) -> None:
        fill = QColor(self.painting.look.chosen)
        fill.setAlphaF(0.08)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(self.painting.look.chosen, 1, Qt.PenStyle.DashLine))
        painter.setBrush(fill)
        painter.drawRect(band)

    def _draw_hint(self, painter: QPainter) -> None:
        painter.setPen(self.painting.look.faint_text)
        painter.drawText(
            QRectF(self.rect()).adjusted(24, 24, -24, -24), int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap), self.hint
        )

    def picture(self, scale: float = 2.0) -> QImage:
        """Return what is on show as an image, for export."""
        image = QImage(round(self.width() * scale), round(self.height() * scale), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        painter = QPainter(image)
        if self.painting.ready:
            marks = self._marks()
            self.painting.all_at_once(painter, self.camera, Marks(-1, marks.current, marks.selected, marks.pinned, marks.path))
        else:
            painter.fillRect(self.rect(), self.painting.look.ground)
            self._draw_hint(painter)
        painter.end()
        return image


def _adds(event: QMouseEvent) -> bool:
    return bool(event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier))


__all__ = ["EMPTY", "PICTURE_SIZE", "GraphCanvas"]
