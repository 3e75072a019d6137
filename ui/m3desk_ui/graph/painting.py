"""Draws a scene of the graph from arrays: a quick frame while it moves, and the sharp picture in parts while it rests. No widget, no input.

Everything is drawn in a few calls (`drawLines`, `drawPixmapFragments`): one item object a node would cost ten times as much.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen, QPixmap

from m3desk.domain.ids import numbered
from m3desk_ui.graph import style
from m3desk_ui.graph.camera import Camera
from m3desk_ui.graph.labels import Labels
from m3desk_ui.graph.scene import EDGE_PLAIN, EDGE_SAME, EDGE_TYPED, Scene
from m3desk_ui.look import plain

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

NO_LINKS = np.zeros((0, 2), np.int32)
NO_KINDS, NO_WEIGHTS = np.zeros(0, np.int8), np.zeros(0, np.float32)
EMPTY = Scene((), NO_LINKS, NO_WEIGHTS, NO_KINDS, np.zeros(0, np.int32), {}, NO_KINDS, NO_WEIGHTS, NO_LINKS)
LINK_MS = 2.5
"""Milliseconds of a quick frame that links may take; the sharp picture has all of them."""
PICTURE_FROM = 8
"""Pixels across from which a face is drawn as its picture."""
LETTER_FROM = 14
"""Pixels across from which somebody without a picture has a letter or number."""
COUNT_FROM = 20
"""Pixels across from which a group says how many memories it holds."""
PICTURE_SIZE = 96
PICTURES_MOST, PICTURES_MOVING = 300, 120
"""Faces and letters drawn at most, and in a quick frame at most."""
SHARE = {"person": 0.42}
"""Height of what is written into a node, as a share of its size; 0.34 for other kinds."""
DOTS_FROM = 8_000
"""Nodes in view from which a quick frame draws dots."""
SMALL = 1_500
"""Nodes, and links, up to which every frame is sharp."""
PART = 600
"""Nodes or links drawn between two looks at the clock: less than 2 ms."""
FACES_ROOM = 0.12
"""Share of the widget that people may cover before they are drawn smaller than FACE_LEAST."""
FACE_LEAST = 30.0
FEW, CROWDED = 80, 16.0
"""People up to whom none is drawn so large that it covers the next, and the pixels across that each has in any case."""
SOFT_MOST = 60_000
"""Links in view up to which the sharp picture draws them with soft edges."""
DENSE = 1_200
"""Links on show from which they are drawn paler."""
VEIL = 0.8
"""How much of all else is covered while a neighbourhood or a path is lit."""


def pointer(array: NDArray[np.float64], kind: type) -> Any:
    """Return the array's memory as Qt objects; the caller keeps the array alive."""
    return shiboken6.Shiboken.wrapInstance(array.ctypes.data, kind)


@dataclass(frozen=True, slots=True)
class Marks:
    """What is emphasised, by row: hovered (−1 for none), the current one, all selected, pinned, and (m, 2) links of a path."""

    hovered: int = -1
    current: int = -1
    selected: tuple[int, ...] = ()
    pinned: tuple[int, ...] = ()
    path: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """A scene seen by a camera: `place` (n, 2) and `sizes` (n,) in pixels, `seen` rows in view, `out` (n,) on which side outside."""

    width: int
    height: int
    zoom: float
    place: Array
    sizes: Array
    seen: Rows
    out: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What drawing a scene needs, by row. `by_tie`: links, strongest first; `rank`: the place of a row in `order`."""

    scene: Scene
    kind: Rows
    cell: Array
    people: Rows
    size: Array
    order: Rows
    rank: Rows
    by_tie: dict[int, NDArray[np.int32]]
    groups: Rows
    pictured: Rows
    colours: NDArray[np.uint32]


class Painting:
    """Keeps what drawing needs of one scene: sizes, order, sprites, faces, labels."""

    def __init__(self, font: QFont) -> None:
        self.scene = EMPTY
        self.at = np.zeros((0, 2))
        self.pictures: dict[str, QPixmap] = {}
        self.labels = Labels(font)
        self._cuts: dict[str, QPixmap] = {}
        self._link_budget = 4000
        self._buffer: NDArray[np.uint32] = np.zeros((0, 0), np.uint32)
        self.dress(font)

    # ------------------------------------------------------------ what is drawn

    def dress(self, font: QFont) -> None:
        """Read colours and fonts again."""
        self.look = style.look()
        self._atlas = style.atlas(self.look)
        self.labels.use(font)
        for _ in self.prepare(self.scene):
            pass
        self.show(self.scene, self.at)

    def show(self, scene: Scene, at: Array) -> None:
        """Take a scene with its nodes at (n, 2) world places."""
        if self._prepared.scene is not scene:
            for _ in self.prepare(scene):
                pass
        self.scene, self.at = scene, np.ascontiguousarray(at, dtype=np.float64)
        ready = self._prepared
        self.kind, self.people, self.order, self.rank, self.colours = ready.kind, ready.people, ready.order, ready.rank, ready.colours
        self._cell, self._size, self._by_tie, self._groups = ready.cell, ready.size, ready.by_tie, ready.groups
        self._pictured = ready.pictured
        self._place = np.empty((len(scene.nodes), 2))

    def prepare(self, scene: Scene) -> Iterator[None]:
        """Make the arrays that drawing a scene needs, once per scene, in steps; `show` takes them."""
        nodes, n = scene.nodes, len(scene.nodes)
        kind = scene.codes.astype(np.intp)
        weight = scene.weights.astype(np.float64)
        cell = kind.astype(np.float64)
        people: Rows = np.flatnonzero(kind == style.INDEX["person"])
        cell[people] = [style.cell_of("person", nodes[row].person) for row in people.tolist()]
        base = np.array([k.size for k in style.KINDS])
        size = base[kind] * (1 + 0.16 * np.log2(np.clip(weight, 1, 64))) if n else np.zeros(0)
        first = np.array([style.LABELLED_FIRST.index(k.name) for k in style.KINDS])
        in_groups = np.isin(kind, (style.INDEX["clip"], style.INDEX["topic"]))
        heavy = np.where(in_groups, 0, -weight)  # groups in order of time
        order: Rows = np.lexsort((np.arange(n), heavy, first[kind])) if n else np.zeros(0, np.intp)
        rank = np.empty(n, dtype=np.intp)
        rank[order] = np.arange(n)
        yield
        strong = np.argsort(-scene.pull, kind="stable")
        links, ties = scene.links[strong], scene.kinds[strong]
        by_tie = {k: np.ascontiguousarray(links[ties == k]) for k in (EDGE_PLAIN, EDGE_TYPED, EDGE_SAME)}
        pictured = np.flatnonzero(np.array([node.picture is not None for node in nodes], dtype=bool))
        colours = np.array([colour.rgb() for _, colour in self.look.cells()], np.uint32)[cell.astype(np.intp)]
        self._prepared = _Prepared(scene, kind, cell, people, size, order, rank, by_tie, np.flatnonzero(in_groups), pictured, colours)

    def set_picture(self, media: str, picture: QPixmap) -> None:
        self.pictures[media] = picture
        for key in [k for k in self._cuts if k.startswith(media + "|")]:
            del self._cuts[key]

    @property
    def ready(self) -> bool:
        """Return whether there is something to draw."""
        return len(self.at) > 0 and len(self.at) == len(self.scene.nodes)

    @property
    def small(self) -> bool:
        """Return whether the sharp picture costs little enough to be drawn in one piece."""
        return len(self.scene.nodes) <= SMALL and len(self.scene.links) <= SMALL

    def frame(self, camera: Camera) -> Frame:
        """Return where everything is now. Its arrays are overwritten by the next call."""
        width, height = camera.size
        place = self._place
        np.subtract(self.at, camera.centre, out=place)
        place *= camera.zoom
        place += (width / 2, height / 2)
        x, y = place[:, 0], place[:, 1]
        out = (x < 0).view(np.uint8) | (x > width) * np.uint8(2) | (y < 0) * np.uint8(4) | (y > height) * np.uint8(8)
        if out.any():
            seen = np.flatnonzero((x > -40) & (x < width + 40) & (y > -40) & (y < height + 40))
        else:
            seen = np.arange(len(place))
        return Frame(width, height, camera.zoom, place, self.sizes(camera), seen, out)

    def sizes(self, camera: Camera) -> Array:
        """Return the pixels across of each node: they grow slower than the zoom, so that dense areas spread out; faces stay visible."""
        sizes = np.maximum(self._size * float(np.clip(camera.zoom**0.55, 0.32, 3.2)), 3.0)
        if len(self.people):
            room = (FACES_ROOM * camera.size[0] * camera.size[1] / len(self.people)) ** 0.5
            sizes[self.people] = np.maximum(sizes[self.people], min(room, FACE_LEAST))
            if 1 < len(self.people) <= FEW and len(self.at) == len(sizes):
                at = self.at[self.people]
                away = np.hypot(*(at[:, None] - at).transpose(2, 0, 1)) * camera.zoom
                np.fill_diagonal(away, np.inf)
                sizes[self.people] = np.minimum(sizes[self.people], np.maximum(away.min(axis=1), CROWDED))
        return sizes

    def node_at(self, camera: Camera, x: float, y: float) -> int:
        """Return the row of the node at a pixel, −1 where there is none."""
        if not self.ready:
            return -1
        near = np.abs(self.at - camera.to_world(x, y)).max(axis=1) * camera.zoom < 80
        rows = np.flatnonzero(near)
        if not len(rows):
            return -1
        away = np.hypot(*(camera.to_screen(self.at[rows]) - (x, y)).T)
        reach = np.maximum(self.sizes(camera)[rows] / 2, 5) + 3
        inside = np.flatnonzero(away < reach)
        return int(rows[inside[np.argmin(away[inside] / reach[inside])]]) if len(inside) else -1

    def neighbours(self, row: int) -> Rows:
        links = self.scene.links
        return np.concatenate([links[links[:, 0] == row, 1], links[links[:, 1] == row, 0]]).astype(np.intp)

    # ------------------------------------------------------------ drawing

    def sharp(self, painter: QPainter, frame: Frame, background: QColor | None = None) -> Iterator[None]:
        """Draw everything but marks and labels, in parts of a few milliseconds each."""
        painter.fillRect(0, 0, frame.width, frame.height, background or self.look.ground)
        in_view = {tie: self._in_view(frame, links) for tie, links in self._by_tie.items()}
        soft = sum(map(len, in_view.values())) <= SOFT_MOST
        yield
        for tie, links in in_view.items():
            for start in range(0, len(links), PART):
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, soft)
                self._lines(painter, frame.place, links[start : start + PART], self._pen(tie))
                yield
        rows = frame.seen[np.argsort(-self.rank[frame.seen])]  # least important first, so that people lie on top
        for start in range(0, len(rows), PART):
            self._nodes(painter, frame, rows[start : start + PART], smooth=True)
            yield
        self._heads(painter, frame, frame.seen)

    def quick(self, painter: QPainter, frame: Frame) -> Iterator[None]:
        """Draw what fits into a frame while it moves: the strongest links in two parts, then all nodes."""
        dots = len(frame.seen) > DOTS_FROM
        image = None
        if dots:
            image = self._canvas(frame)
        else:
            painter.fillRect(0, 0, frame.width, frame.height, self.look.ground)
        budget = self._link_budget
        for _ in self._strongest(painter, image, frame, budget):
            yield
        if image is not None:
            self._dots(frame)
            painter.drawImage(0, 0, image)
            leading = self.people[(frame.out[self.people] == 0)][:PICTURES_MOST]
            self._nodes(painter, frame, leading, smooth=False)
            self._heads(painter, frame, leading, PICTURES_MOVING)
            return
        self._nodes(painter, frame, frame.seen[np.argsort(-self.rank[frame.seen])], smooth=len(frame.seen) < 1000)
        self._heads(painter, frame, frame.seen, PICTURES_MOVING)

    def _strongest(self, painter: QPainter, image: QImage | None, frame: Frame, budget: int) -> Iterator[None]:
        """Draw so many links in two parts, onto the image where there is one; learn how many fit into LINK_MS."""
        drawn, left, spent = 0, budget // 2, 0.0
        began = time.perf_counter()
        for tie in (EDGE_SAME, EDGE_TYPED, EDGE_PLAIN):
            # of very many, those that are looked through are cut too, at a multiple of what is drawn
            links = self._in_view(frame, self._by_tie[tie][: budget * 12])[: max(0, budget - drawn)]
            while len(links):
                target = painter if image is None else QPainter(image)
                target.setRenderHint(QPainter.RenderHint.Antialiasing, False)
                part, links = links[:left], links[left:]
                self._lines(target, frame.place, part, self._pen(tie))
                if image is not None:
                    target.end()  # before others have their turn: a painter must not outlive its image
                drawn, left = drawn + len(part), left - len(part)
                if left <= 0:
                    left = budget
                    spent += time.perf_counter() - began
                    yield
                    began = time.perf_counter()
        spent += time.perf_counter() - began
        if drawn >= budget or drawn > 1000:
            fair = drawn * LINK_MS / max(spent * 1e3, 0.05)
            self._link_budget = int(min(max(0.7 * budget + 0.3 * fair, 400), 60_000))
        yield

    def lit(self, painter: QPainter, frame: Frame, marks: Marks) -> Rows | None:
        """Cover all but what the pointer or a path lights up, and draw that; return its rows, None where nothing is lit."""
        if marks.hovered < 0 and not marks.path:
            return None
        veil = QColor(self.look.ground)
        veil.setAlphaF(VEIL)
        painter.fillRect(0, 0, frame.width, frame.height, veil)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows: set[int] = set()
        if marks.path:
            way = np.array(marks.path, dtype=np.int32)
            self._lines(painter, frame.place, way, QPen(self.look.path, 3.0))
            rows |= set(way.ravel().tolist())
        if marks.hovered >= 0:
            links = self.scene.links
            self._lines(painter, frame.place, links[(links == marks.hovered).any(axis=1)], QPen(self.look.line_lit, 1.4))
            rows |= {marks.hovered, *self.neighbours(marks.hovered).tolist()}
        found = np.array(sorted(rows, key=lambda r: -self.rank[r]), dtype=np.intp)
        self._nodes(painter, frame, found, smooth=True)
        self._heads(painter, frame, found)
        return found

    def marks(self, painter: QPainter, frame: Frame, marks: Marks) -> None:
        """Draw what is selected, hovered and pinned."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        rings = [(row, self.look.chosen, 2.4) for row in marks.selected]
        rings += [(marks.hovered, self.look.line_lit, 1.6), (marks.current, self.look.chosen, 3.2)]
        for row, colour, width in rings:
            if row >= 0:
                painter.setPen(QPen(colour, width))
                painter.drawEllipse(QPointF(*frame.place[row]), frame.sizes[row] / 2 + 3, frame.sizes[row] / 2 + 3)
        painter.setPen(QPen(self.look.ground, 1))
        painter.setBrush(self.look.text)
        for row in marks.pinned:
            x, y = frame.place[row] + frame.sizes[row] * 0.36
            painter.drawEllipse(QPointF(x, y), 3.2, 3.2)

    def write(self, painter: QPainter, frame: Frame, marks: Marks, only: Rows | None, *, moving: bool) -> bool:
        """Draw labels where there is room; return whether some still wait to be prepared."""
        leading = [row for row in (*marks.selected, marks.current, marks.hovered) if row >= 0]
        order = self.labels.order(self.order, self.rank, frame.seen, only, leading)
        room = self.labels.room(frame.width, frame.height, frame.place, frame.sizes, frame.seen, self.rank, moving=moving)
        return self.labels.draw(
            painter, self.scene, frame.place, frame.sizes, order, room, self.look, frame.zoom, set(leading),
            all_kinds=only is not None, moving=moving,
        )  # fmt: skip

    def all_at_once(self, painter: QPainter, camera: Camera, marks: Marks) -> None:
        """Draw everything sharp in one piece, for small scenes and for export."""
        frame = self.frame(camera)
        for _ in self.sharp(painter, frame):
            pass
        only = self.lit(painter, frame, marks)
        self.marks(painter, frame, marks)
        for _ in range(20):
            if not self.write(painter, frame, marks, only, moving=False):
                break

    # ------------------------------------------------------------ pieces

    def _pen(self, tie: int) -> QPen:
        """Return the pen of links; of many on show they are paler, so that a hub of a thousand is no solid disc."""
        colours = {
            EDGE_PLAIN: self.look.line_dense if len(self.scene.links) > DENSE else self.look.line,
            EDGE_SAME: self.look.line_same,
            EDGE_TYPED: self.look.line_typed,
        }
        return QPen(colours[tie], 2.0 if tie == EDGE_SAME else 0)

    def _in_view(self, frame: Frame, links: NDArray[np.int32]) -> NDArray[np.int32]:
        if len(frame.seen) == len(frame.place) and not frame.out.any():
            return links
        return np.asarray(links[(frame.out[links[:, 0]] & frame.out[links[:, 1]]) == 0])

    def _lines(self, painter: QPainter, place: Array, links: NDArray[np.int32], pen: QPen) -> None:
        if len(links):
            lines = place[links.ravel()].reshape(-1, 4)
            painter.setPen(pen)
            painter.drawLines(pointer(lines, QLineF), len(lines))

    def _nodes(self, painter: QPainter, frame: Frame, rows: Rows, *, smooth: bool) -> None:
        if not len(rows):
            return
        part = np.zeros((len(rows), 10))
        part[:, :2] = frame.place[rows]
        part[:, 2] = self._cell[rows] * style.CELL
        part[:, 4:6] = style.CELL
        part[:, 6] = part[:, 7] = frame.sizes[rows] / style.CELL
        part[:, 9] = 1.0
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawPixmapFragments(pointer(part, QPainter.PixmapFragment), len(rows), self._atlas)

    def _canvas(self, frame: Frame) -> QImage:
        """Return an image on the buffer that dots are written into, filled with the ground."""
        if self._buffer.shape != (frame.height, frame.width):
            self._buffer = np.zeros((frame.height, frame.width), np.uint32)
        self._buffer.fill(self.look.ground.rgb())
        return QImage(self._buffer.data, frame.width, frame.height, frame.width * 4, QImage.Format.Format_RGB32)

    def _dots(self, frame: Frame) -> None:
        """Write two by two pixels for every node in view."""
        rows = frame.seen if len(frame.seen) < len(frame.place) else slice(None)
        spot = frame.place[rows].astype(np.int32)
        x, y = spot[:, 0], spot[:, 1]
        good = (x >= 0) & (y >= 0) & (x < frame.width - 1) & (y < frame.height - 1)
        colours = self.colours[rows]
        pixel = y * np.int32(frame.width) + x
        if not good.all():
            pixel, colours = pixel[good], colours[good]
        flat = self._buffer.ravel()
        for beside in (0, 1, frame.width, frame.width + 1):
            flat[pixel + beside] = colours

    def _heads(self, painter: QPainter, frame: Frame, rows: Rows, most: int = PICTURES_MOST) -> None:
        """Draw faces, the letters of people without one, and how many a closed group holds."""
        shown = np.zeros(len(frame.place), dtype=bool)
        shown[rows] = True
        faced = self._pictured[shown[self._pictured] & (frame.sizes[self._pictured] >= PICTURE_FROM)]
        inscribed = np.concatenate([self.people[shown[self.people]], self._groups[shown[self._groups]]])
        for row in inscribed[:most].tolist():
            size = float(frame.sizes[row])
            if words := self.inscription(row, size):
                self._inscribe(painter, words, frame.place[row], size, SHARE.get(self.scene.nodes[row].kind, 0.34))
        for row in faced[:most].tolist():
            self._face(painter, row, frame.place[row], float(frame.sizes[row]))

    def inscription(self, row: int, size: float) -> str:
        """Return what is written into a node of this size: the letter of a person without a picture, how many a group holds, or nothing."""
        node = self.scene.nodes[row]
        if node.kind == "person" and size >= LETTER_FROM and node.picture not in self.pictures:
            number = str(numbered(node.id))
            return number if node.label.endswith(number) else plain.visible(node.label[:1]).upper()
        held = int(self.scene.hidden[row])
        return str(held) if node.kind in ("clip", "topic") and held and size >= COUNT_FROM else ""

    def _inscribe(self, painter: QPainter, letter: str, at: Array, size: float, share: float) -> None:
        """Write into the middle of a node, so high a share of its size."""
        font = QFont(self.labels.bold)
        font.setPixelSize(max(8, int(size * share)))
        painter.setFont(font)
        painter.setPen(self.look.ground)
        painter.drawText(QRectF(at[0] - size / 2, at[1] - size / 2, size, size), int(Qt.AlignmentFlag.AlignCenter), letter)

    def _face(self, painter: QPainter, row: int, at: Array, size: float) -> None:
        node = self.scene.nodes[row]
        if not node.picture or node.picture not in self.pictures:
            return
        key = f"{node.picture}|{node.kind}"
        cut = self._cuts.get(key)
        if cut is None:
            cut = self._cuts[key] = style.round_picture(self.pictures[node.picture], PICTURE_SIZE, node.kind == "person")
        inner = size * 0.84 if node.kind == "person" else size * 0.6
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(QRectF(at[0] - inner / 2, at[1] - inner / 2, inner, inner), cut, QRectF(cut.rect()))


def rows_of(scene: Scene, ids: Collection[str]) -> tuple[int, ...]:
    """Return the rows of those of these nodes that are on show."""
    return tuple(row for id_ in ids if (row := scene.row_of.get(id_)) is not None)
