"""Paints bookmarks on the ruler of the timeline: a flag at a moment, a bar under it for a span; filled where there is a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from m3desk_ui.look import theme

if TYPE_CHECKING:
    from m3desk.domain.bookmark import Bookmark

WIDE, HIGH = 8, 7
"""Size of a flag, in pixels; its pole is at the bookmark's time."""
TOP = 3


def paint(
    p: QPainter, bookmarks: Sequence[Bookmark], x_of: Callable[[int], float], left: float, right: float, bottom: float, foot: float
) -> None:
    """Paint those that reach into the columns from `left` to `right`. `bottom`: of the ruler, `foot`: of the whole picture."""
    colours = theme.colours()
    colour, shade = QColor(colours.accent), QColor(colours.accent)
    shade.setAlpha(70)
    last = -1e9
    for bookmark in bookmarks:  # in order of time
        x, end = x_of(bookmark.start), x_of(bookmark.end)
        if end < left - WIDE - 2 or x > right + 2:
            continue
        if bookmark.end > bookmark.start:
            p.fillRect(QRectF(x, bottom - 4, max(1.0, end - x), 4), shade)
        if x - last < 2:  # as many as can be told apart
            continue
        last = x
        p.setPen(QPen(colour, 1))
        p.drawLine(QPointF(x, TOP), QPointF(x, bottom))
        p.setBrush(colour if bookmark.note else QColor(colours.surface))
        p.drawPolygon(QPolygonF([QPointF(x, TOP), QPointF(x + WIDE, TOP + HIGH / 2), QPointF(x, TOP + HIGH)]))
        p.setPen(QPen(shade, 1))
        p.drawLine(QPointF(x, bottom), QPointF(x, foot))


def at(bookmarks: Sequence[Bookmark], x_of: Callable[[int], float], x: float) -> Bookmark | None:
    """Return the bookmark whose flag is at a column, the nearest of several."""
    near = [b for b in bookmarks if -3 <= x - x_of(b.start) <= WIDE + 2]
    return min(near, key=lambda b: abs(x_of(b.start) + WIDE / 2 - x), default=None)
