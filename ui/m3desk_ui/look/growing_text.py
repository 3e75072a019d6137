"""Lines of a plain text that grows at its end: only the last ones are broken anew."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QTextLayout, QTextOption

KEPT_FROM_END = 2
"""Lines at the end that are broken anew: what follows may move the last words."""


class GrowingText:
    """A text of at most `width` pixels a line, as a label wraps it."""

    def __init__(self, font: QFont, width: int) -> None:
        self.font, self.width = font, max(1, width)
        self.shown = ""
        self.lines: list[str] = []
        self._starts: list[int] = []
        self._tops = [0.0]
        """Where each line begins, in pixels, and where the last one ends: fonts of other scripts are taller."""

    def take(self, shown: str) -> int:
        """Take the text as it is now; return the first line that may look different."""
        if shown == self.shown:
            return len(self.lines)
        keep = max(0, len(self.lines) - KEPT_FROM_END)
        start = self._starts[keep] if keep < len(self._starts) else 0
        if not shown.startswith(self.shown[:start]):
            keep = start = 0
        del self.lines[keep:], self._starts[keep:], self._tops[keep + 1 :]
        for paragraph in shown[start:].split("\n"):
            self._break(paragraph, start)
            start += len(paragraph) + 1
        self.shown = shown
        return keep

    def _break(self, paragraph: str, start: int) -> None:
        """Break one paragraph, which begins at this place of the text, into lines."""
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        layout = QTextLayout(paragraph, self.font)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.width)
            begin, long = line.textStart(), line.textLength()
            self.lines.append(_utf16(paragraph, begin, begin + long).rstrip())
            self._starts.append(start + len(_utf16(paragraph, 0, begin)))
            self._tops.append(self._tops[-1] + line.height())
        layout.endLayout()

    def height(self) -> int:
        return math.ceil(self._tops[-1])

    def top(self, line: int) -> int:
        """Return the pixel at which a line begins."""
        return math.floor(self._tops[line])

    def paint(self, painter: QPainter, corner: QPointF, part: QRect) -> None:
        """Draw the lines that lie in a part of the widget."""
        painter.setFont(self.font)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        first = max(0, bisect_right(self._tops, part.top() - corner.y()) - 1)
        last = bisect_left(self._tops, part.bottom() + 1 - corner.y())
        for number, line in enumerate(self.lines[first:last], first):
            room = QRectF(corner.x(), corner.y() + self._tops[number], self.width, self._tops[number + 1] - self._tops[number])
            painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft) | int(Qt.TextFlag.TextSingleLine) | int(Qt.TextFlag.TextDontClip), line)


def _utf16(text: str, begin: int, end: int) -> str:
    """Return the part of a text between two of Qt's places, which count UTF-16 units."""
    if text.isascii() or max(map(ord, text), default=0) < 0x10000:
        return text[begin:end]
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * begin : 2 * end].decode("utf-16-le", "surrogatepass")
