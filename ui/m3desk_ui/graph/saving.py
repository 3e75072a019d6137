"""Writes what the graph shows to files: PNG, SVG (shapes and text, not pixels), GraphML (nodes, links, places)."""

from __future__ import annotations

import base64
import re
from xml.sax.saxutils import escape, quoteattr

from PySide6.QtCore import QBuffer, QIODevice, QPointF
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QPainterPath, QPixmap

from m3desk_ui.graph import style
from m3desk_ui.graph.canvas import GraphCanvas
from m3desk_ui.graph.labels import FROM
from m3desk_ui.graph.painting import PICTURE_FROM, SHARE, Frame
from m3desk_ui.graph.scene import EDGE_PLAIN, EDGE_SAME, EDGE_TYPED
from m3desk_ui.look import plain

LABELS_MOST = 400


def svg(canvas: GraphCanvas) -> str:
    """Return what the canvas shows as SVG: links, shapes, faces and labels of the part in view."""
    painting = canvas.painting
    frame, scene, look = painting.frame(canvas.camera), painting.scene, painting.look
    width, height = frame.width, frame.height
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="{look.ground.name()}"/>',
    ]
    colours = {EDGE_PLAIN: look.line, EDGE_SAME: look.line_same, EDGE_TYPED: look.line_typed}
    for tie, colour in colours.items():
        ends = scene.links[scene.kinds == tie]
        ends = ends[(frame.out[ends[:, 0]] & frame.out[ends[:, 1]]) == 0]
        lines = frame.place[ends.ravel()].reshape(-1, 4)
        way = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in lines.tolist())
        if way:
            out.append(f'<path d="{way}" stroke="{colour.name()}" stroke-width="{2 if tie == EDGE_SAME else 1}" fill="none"/>')
    rows = sorted(frame.seen.tolist(), key=lambda r: -int(painting.rank[r]))
    for row in rows:
        out += _node(canvas, frame, row)
    out += _labels(canvas, frame, rows[::-1])
    return "\n".join([*out, "</svg>\n"])


def _node(canvas: GraphCanvas, frame: Frame, row: int) -> list[str]:
    painting = canvas.painting
    node = painting.scene.nodes[row]
    x, y = (float(v) for v in frame.place[row])
    size = float(frame.sizes[row])
    colour = QColor.fromRgb(int(painting.colours[row]))
    edge = colour.lighter(135) if painting.look.dark else colour.darker(130)
    outline = style.shape_path(style.KINDS[int(painting.kind[row])], QPointF(x, y), size / 2)
    title = f"<title>{_text(style.kind_singular(node.kind) + ': ' + (node.content or node.label))}</title>"
    found = [f'<path d="{_way(outline)}" fill="{colour.name()}" stroke="{edge.name()}">{title}</path>']
    picture = painting.pictures.get(node.picture) if node.picture else None
    if picture is not None and size >= PICTURE_FROM:
        inner = size * (0.84 if node.kind == "person" else 0.6)
        cut = style.round_picture(picture, 96, node.kind == "person")
        found.append(
            f'<image x="{x - inner / 2:.1f}" y="{y - inner / 2:.1f}" width="{inner:.1f}" height="{inner:.1f}" '
            f'xlink:href="data:image/png;base64,{_png(cut)}"/>'
        )
    if words := painting.inscription(row, size):
        high = size * SHARE.get(node.kind, 0.34)
        found.append(
            f'<text x="{x:.1f}" y="{y + high * 0.36:.1f}" font-size="{high:.1f}" text-anchor="middle" font-weight="600" '
            f'fill="{painting.look.ground.name()}">{_text(words)}</text>'
        )
    return found


def _labels(canvas: GraphCanvas, frame: Frame, rows: list[int]) -> list[str]:
    """Return the labels, where they have room."""
    painting = canvas.painting
    labels = painting.labels
    room = labels.room(frame.width, frame.height, frame.place, frame.sizes, frame.seen, painting.rank)
    metrics, info = QFontMetricsF(labels.bold), QFontInfo(labels.plain)
    found = []
    for row in rows[:LABELS_MOST]:
        node = painting.scene.nodes[row]
        if frame.zoom < FROM.get(node.kind, 0.0):
            continue
        words = plain.line(node.label, 60)
        x, y = (float(v) for v in frame.place[row])
        spot = room.spot(x, y, float(frame.sizes[row]) / 2 + 4, metrics.horizontalAdvance(words), metrics.height())
        if spot is not None:
            weight = "600" if node.kind == "person" else "400"
            found.append(
                f'<text x="{spot[0]:.1f}" y="{spot[1] + metrics.ascent():.1f}" font-family={quoteattr(info.family())} '
                f'font-size="{info.pixelSize()}" font-weight="{weight}" fill="{painting.look.text.name()}">{_text(words)}</text>'
            )
    return found


def _way(path: QPainterPath) -> str:
    """Return an outline as SVG's path commands."""
    parts, kinds, i = [], QPainterPath.ElementType, 0
    while i < path.elementCount():
        e = path.elementAt(i)
        if e.type == kinds.CurveToElement:
            two, three = path.elementAt(i + 1), path.elementAt(i + 2)
            parts.append(f"C{e.x:.1f} {e.y:.1f} {two.x:.1f} {two.y:.1f} {three.x:.1f} {three.y:.1f}")
            i += 3
            continue
        parts.append(f"{'M' if e.type == kinds.MoveToElement else 'L'}{e.x:.1f} {e.y:.1f}")
        i += 1
    return "".join(parts) + "Z"


def _png(picture: QPixmap) -> str:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    return base64.b64encode(buffer.data().data()).decode()


def _text(foreign: str) -> str:
    """Return foreign text as it may stand in XML: what XML can't hold is shown by a sign."""
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", plain.visible(foreign)))


_NOT_XML = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't hold: control characters, halves of surrogate pairs."""


def graphml(canvas: GraphCanvas) -> str:
    """Return the nodes and links on show as GraphML, with their places; groups of clips and topics are nodes of their own."""
    scene, at = canvas.scene, canvas.at
    keys = {
        "type": "string",
        "label": "string",
        "weight": "double",
        "source": "string",
        "clip": "string",
        "start": "double",
        "end": "double",
    }
    keys |= {"person": "string", "x": "double", "y": "double", "hidden": "int"}
    out = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    out += [f'<key id="{k}" for="node" attr.name="{k}" attr.type="{t}"/>' for k, t in keys.items()]
    out += ['<key id="pull" for="edge" attr.name="weight" attr.type="double"/>', '<graph id="view" edgedefault="undirected">']
    for row, node in enumerate(scene.nodes):
        values = {
            "type": node.kind, "label": node.content or node.label, "weight": node.weight, "source": node.source, "clip": node.clip,
            "start": None if node.start is None else node.start / 1e6, "end": None if node.end is None else node.end / 1e6,
            "person": node.person, "x": round(float(at[row, 0]), 2), "y": round(float(at[row, 1]), 2),
            "hidden": int(scene.hidden[row]) or None,
        }  # fmt: skip
        data = "".join(f'<data key="{k}">{_text(str(v))}</data>' for k, v in values.items() if v is not None)
        out.append(f"<node id={quoteattr(plain.visible(node.id))}>{data}</node>")
    for (a, b), pull in zip(scene.links.tolist(), scene.pull.tolist(), strict=True):
        ends = f"source={quoteattr(plain.visible(scene.nodes[a].id))} target={quoteattr(plain.visible(scene.nodes[b].id))}"
        out.append(f'<edge {ends}><data key="pull">{pull:g}</data></edge>')
    return "\n".join([*out, "</graph>", "</graphml>\n"])
