"""With whom a person is remembered: a small graph of faces, and a list that says the same with what is known of each pair."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QVBoxLayout, QWidget
from shiboken6 import isValid

from m3desk_ui.look import plain, theme
from m3desk_ui.people.people_list import fallback_head, initial

if TYPE_CHECKING:
    from m3desk.domain.memory import StoredSentence
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

MOST, AROUND = 40, 8
"""People of the list; of them those in the small graph."""
HEAD, HEIGHT = 40, 190
PERSON = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Relation:
    """Somebody with whom a person is remembered: in how many memories, and what is known of the two, the strongest first."""

    person: Person
    memories: int
    known: tuple[StoredSentence, ...]


def read_relations(reader: Any, person: str, memories: Sequence[StoredSentence]) -> tuple[Person | None, list[Relation]]:
    """Return the person (None: became part of somebody else), and whom they share most memories with (in the reading thread)."""
    together = Counter(p for m in memories for p in set(m.people) if p != person)
    most = [p for p, _ in together.most_common(MOST)]
    there = {p.id: p for p in reader.people_of([*most, person])}
    found = []
    for id_ in most:
        if id_ in there and not there[id_].ignored:
            both = [m for m in memories if m.topic == "relationship" and id_ in m.people]
            known = {m.shown: m for m in sorted(both, key=lambda m: m.weight)}  # of equal words the strongest
            found.append(Relation(there[id_], together[id_], tuple(sorted(known.values(), key=lambda m: -m.weight))))
    return there.get(person), found


def counted(relation: Relation) -> str:
    """Return in how many memories the two are together, in words."""
    one = QCoreApplication.translate("RelationsView", "1 memory together")
    several = QCoreApplication.translate("RelationsView", "%1 memories together")
    return one if relation.memories == 1 else several.replace("%1", str(relation.memories))


class RelationsPlot(QWidget):
    """The person in the middle, others around; the more memories they share, the thicker the line. `picked`: whose face was clicked."""

    picked = Signal(str)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._person: Person | None = None
        self._around: list[Relation] = []
        self.setFixedHeight(HEIGHT)
        hub.pictures.ready.connect(lambda _media: self.update())

    def show_relations(self, person: Person, relations: Sequence[Relation]) -> None:
        self._person, self._around = person, list(relations[:AROUND])
        self.update()

    def places(self) -> list[QPointF]:
        """Return where the others are, clockwise from the top."""
        middle, count = QRectF(self.rect()).center(), max(1, len(self._around))
        wide, high = max(HEAD, self.width() / 2 - HEAD), HEIGHT / 2 - HEAD / 2 - 16
        turns = [2 * math.pi * n / count for n in range(len(self._around))]
        return [QPointF(middle.x() + wide * math.sin(turn), middle.y() - 8 - high * math.cos(turn)) for turn in turns]

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._person is None:
            return
        c, painter = theme.colours(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        middle, places = QRectF(self.rect()).center() - QPointF(0, 8), self.places()
        most = max((r.memories for r in self._around), default=1)
        for relation, place in zip(self._around, places, strict=True):
            painter.setPen(QPen(QColor(c.line), 1.5 + 5 * relation.memories / most))
            painter.drawLine(middle, place)
        for person, place in ((self._person, middle), *((r.person, p) for r, p in zip(self._around, places, strict=True))):
            self._head(painter, person, place)
        painter.end()

    def _head(self, painter: QPainter, person: Person, place: QPointF) -> None:
        from m3desk_ui.graph.style import round_picture

        ratio = self.devicePixelRatioF()
        picture = self._hub.pictures.get(person.portrait, round(HEAD * ratio))
        if picture is None:
            shown = fallback_head(person.id, initial(person), HEAD, ratio)
        else:
            shown = round_picture(picture, round(HEAD * ratio), True)
            shown.setDevicePixelRatio(ratio)
        painter.drawPixmap(place - QPointF(HEAD / 2, HEAD / 2), shown)
        painter.setPen(QColor(theme.colours().text))
        name = painter.fontMetrics().elidedText(plain.line(person.shown), Qt.TextElideMode.ElideRight, 2 * HEAD)
        painter.drawText(QRectF(place.x() - HEAD, place.y() + HEAD / 2, 2 * HEAD, 16), int(Qt.AlignmentFlag.AlignCenter), name)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        for relation, place in zip(self._around, self.places(), strict=True):
            if (event.position() - place).manhattanLength() < HEAD:
                self.picked.emit(relation.person.id)
                return


class RelationsView(QWidget):
    """The small graph above the list. `picked`: a person whose page is wanted."""

    picked = Signal(str)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.plot = RelationsPlot(hub, self)
        self.plot.picked.connect(self.picked)
        self.list = QListWidget(self)
        self.list.setIconSize(QSize(HEAD, HEAD))
        self.list.setWordWrap(True)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.itemActivated.connect(lambda item: self.picked.emit(item.data(PERSON)))
        self.list.itemClicked.connect(lambda item: self.picked.emit(item.data(PERSON)))
        self.none = plain.Label(parent=self)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setProperty("muted", True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.plot, self.list, self.none):
            column.addWidget(widget, 0 if widget is self.plot else 1)
        self.dress()
        self._show(None, [])

    def dress(self) -> None:
        """Set texts."""
        self.list.setAccessibleName(self.tr("People remembered together with this person"))
        self.plot.setAccessibleName(self.tr("People remembered together with this person, as a graph; the list below says the same"))
        self.none.setText(self.tr("No memory tells of this person together with somebody else."))

    def read(self, person: str, memories: Sequence[StoredSentence]) -> None:
        """Read and show the relations of a person."""
        self._hub.read("relations", lambda reader: read_relations(reader, person, memories), lambda found: self._show(*found))

    def _show(self, person: Person | None, relations: Sequence[Relation]) -> None:
        self.list.clear()
        for relation in relations:
            self.list.addItem(self._made(relation))
        if person is not None:
            self.plot.show_relations(person, relations)
        self.plot.setVisible(bool(relations))
        self.list.setVisible(bool(relations))
        self.none.setVisible(not relations)

    def _made(self, relation: Relation) -> QListWidgetItem:
        head = f"{plain.line(relation.person.shown, plain.ENTRY)} · {counted(relation)}"
        item = QListWidgetItem("\n".join((head, *(plain.line(k.shown) for k in relation.known[:2]))))
        item.setData(PERSON, relation.person.id)
        plain.tip(item, "\n".join((head, *(k.shown for k in relation.known[:8]))))
        ratio = self.devicePixelRatioF()

        def put(pixmap: QPixmap) -> None:
            if isValid(item):
                item.setIcon(QIcon(pixmap))

        put(fallback_head(relation.person.id, initial(relation.person), HEAD, ratio))
        here = self._hub.pictures.get(relation.person.portrait, round(HEAD * ratio), then=put)
        if here is not None:
            put(here)
        return item
