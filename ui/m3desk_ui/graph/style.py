"""The graph's appearance: shapes and colours of node kinds (distinguishable without colour), light and dark, and the sprite atlas."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from m3desk_ui.look import theme

CELL = 64
"""Pixels of one shape in the atlas; drawn smaller, smoothed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of node; its colour is the theme's.

    `size`: points across at weight 1 and zoom 1. `corners`: 0 = circle; else a regular polygon with its first corner at `turn` degrees.
    `notch`: how far in every other corner lies, for stars.
    """

    name: str
    corners: int
    turn: float
    size: float
    reach: float = 1.0
    notch: float = 1.0


KINDS: tuple[Kind, ...] = (
    Kind("person", 0, 0, 30),
    Kind("face", 4, 45, 19, 1.1),
    Kind("voice", 3, -90, 17, 1.1),
    Kind("episodic", 4, 0, 11),
    Kind("semantic", 6, 0, 14),
    Kind("object", 3, 90, 13, 1.1),
    Kind("place", 5, -90, 14),
    Kind("clip", 8, 22.5, 16),
    Kind("topic", 12, -90, 18, 1.1, 0.78),
)
INDEX = {kind.name: row for row, kind in enumerate(KINDS)}
LABELLED_FIRST = ("person", "clip", "topic", "place", "semantic", "object", "face", "voice", "episodic")


def kind_index(name: str) -> int:
    """Return the row of a kind; what plugins add is drawn as an object."""
    return INDEX.get(name, INDEX["object"])


def kind_text(name: str) -> str:
    """Return the plural name of a kind as people read it."""
    texts = {
        "person": QCoreApplication.translate("GraphKinds", "People"),
        "face": QCoreApplication.translate("GraphKinds", "Faces"),
        "voice": QCoreApplication.translate("GraphKinds", "Voices"),
        "episodic": QCoreApplication.translate("GraphKinds", "Events"),
        "semantic": QCoreApplication.translate("GraphKinds", "Knowledge"),
        "object": QCoreApplication.translate("GraphKinds", "Things"),
        "place": QCoreApplication.translate("GraphKinds", "Places"),
        "clip": QCoreApplication.translate("GraphKinds", "Clips"),
        "topic": QCoreApplication.translate("GraphKinds", "Topics"),
    }
    return texts.get(name, name)


def kind_singular(name: str) -> str:
    """Return the name of one of a kind as people read it."""
    texts = {
        "person": QCoreApplication.translate("GraphKinds", "Person"),
        "face": QCoreApplication.translate("GraphKinds", "Face"),
        "voice": QCoreApplication.translate("GraphKinds", "Voice"),
        "episodic": QCoreApplication.translate("GraphKinds", "Event"),
        "semantic": QCoreApplication.translate("GraphKinds", "Knowledge"),
        "object": QCoreApplication.translate("GraphKinds", "Thing"),
        "place": QCoreApplication.translate("GraphKinds", "Place"),
        "clip": QCoreApplication.translate("GraphKinds", "Clip"),
        "topic": QCoreApplication.translate("GraphKinds", "Topic"),
    }
    return texts.get(name, name)


def mixed(front: QColor, ground: QColor, share: float) -> QColor:
    """Return `front` laid over `ground` as an opaque colour (a translucent pen costs nine times as much to draw)."""
    pairs = zip(front.getRgb()[:3], ground.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(f * share + g * (1 - share)) for f, g in pairs))


@dataclass(frozen=True, slots=True)
class GraphPalette:
    """All colours of the canvas for one palette."""

    dark: bool
    ground: QColor
    text: QColor
    faint_text: QColor
    line: QColor
    line_dense: QColor
    line_lit: QColor
    line_same: QColor
    line_typed: QColor
    chosen: QColor
    path: QColor
    kinds: tuple[QColor, ...]
    people: tuple[QColor, ...]

    def cells(self) -> tuple[tuple[int, QColor], ...]:
        """Return (row of KINDS, colour) of each cell of the atlas: the kinds, then a person in each person's colour."""
        return (*enumerate(self.kinds), *((INDEX["person"], colour) for colour in self.people))


def look() -> GraphPalette:
    """Return the look that fits the theme in force."""
    c = theme.colours()
    ground = QColor("#14181d" if c.dark else "#fbfbfa")
    text = QColor(c.text)
    plain = QColor("#8fa3b8" if c.dark else "#66788a")
    kinds = tuple(theme.kind_colour(k.name) for k in KINDS)
    return GraphPalette(
        dark=c.dark,
        ground=ground,
        text=text,
        faint_text=QColor(c.muted),
        line=mixed(plain, ground, 0.55),
        line_dense=mixed(plain, ground, 0.3),
        line_lit=mixed(plain, ground, 0.95),
        line_same=mixed(kinds[0], ground, 0.75),
        line_typed=mixed(QColor(c.warn), ground, 0.65),
        chosen=QColor("#ffffff") if c.dark else QColor("#000000"),
        path=QColor("#ffd34d") if c.dark else QColor("#b35900"),
        kinds=kinds,
        people=theme.people_colours(),
    )


def cell_of(kind: str, person: str | None) -> int:
    """Return the atlas cell of a node: people have their own colour, the same as in every view."""
    if kind != "person" or not person:
        return kind_index(kind)
    return len(KINDS) + theme.person_place(person)


def shape_path(kind: Kind, centre: QPointF, radius: float) -> QPainterPath:
    """Return the outline of a kind's shape within a circle."""
    path = QPainterPath()
    if kind.corners == 0:
        path.addEllipse(centre, radius, radius)
        return path
    radius *= kind.reach
    for corner in range(kind.corners):
        angle = math.radians(kind.turn + 360 * corner / kind.corners)
        far = radius * (kind.notch if corner % 2 else 1.0)
        point = QPointF(centre.x() + far * math.cos(angle), centre.y() + far * math.sin(angle))
        if corner:
            path.lineTo(point)
        else:
            path.moveTo(point)
    path.closeSubpath()
    return path


def shape_pixmap(name: str, size: int, ratio: float = 1.0) -> QPixmap:
    """Return one kind's sign for legends and lists."""
    now = look()
    pixmap = QPixmap(round(size * ratio), round(size * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    row = kind_index(name)
    _draw_shape(painter, row, now.kinds[row], now.dark, QRectF(0, 0, size, size), 1.2)
    painter.end()
    return pixmap


def atlas(now: GraphPalette) -> QPixmap:
    """Return one row of CELL-sized shapes in the order of `GraphPalette.cells`."""
    cells = now.cells()
    pixmap = QPixmap(CELL * len(cells), CELL)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    for column, (row, colour) in enumerate(cells):
        _draw_shape(painter, row, colour, now.dark, QRectF(column * CELL, 0, CELL, CELL), 4)
    painter.end()
    return pixmap


def _draw_shape(painter: QPainter, row: int, colour: QColor, dark: bool, box: QRectF, width: float) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(colour.lighter(135) if dark else colour.darker(130), width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(colour)
    painter.drawPath(shape_path(KINDS[row], box.center(), box.width() / 2 - width * 1.3))


def round_picture(picture: QPixmap, size: int, round_: bool) -> QPixmap:
    """Return a face picture cut to a circle (a person) or to a square with soft corners (one face)."""
    out = QPixmap(size, size)
    out.fill(Qt.GlobalColor.transparent)
    painter = QPainter(out)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    clip = QPainterPath()
    if round_:
        clip.addEllipse(QRectF(0, 0, size, size))
    else:
        clip.addRoundedRect(QRectF(0, 0, size, size), size * 0.12, size * 0.12)
    painter.setClipPath(clip)
    edge = min(picture.width(), picture.height())
    source = QRectF((picture.width() - edge) / 2, (picture.height() - edge) / 2, edge, edge)
    painter.drawPixmap(QRectF(0, 0, size, size), picture, source)
    painter.end()
    return out
