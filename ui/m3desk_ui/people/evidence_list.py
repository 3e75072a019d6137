"""A list of evidence: faces as pictures, voices with what they say or with sentences about them; items move by drag or key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QIcon, QKeyEvent, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from m3desk.domain.clip import clock
from m3desk_ui.look import plain, theme

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub
    from m3desk_ui.people.evidence import Evidence

FACE, SMALL = 72, 44
"""Side of a picture where there are only faces; where sentences stand beside them."""

SHOWN_WORDS = 120
"""Code points of a sentence that are shown; the rest is in the tooltip."""

SHOWN_SENTENCES = 2
ITEM = Qt.ItemDataRole.UserRole
OUT = Qt.ItemDataRole.UserRole + 1
PASSED_ON = (Qt.Key.Key_Y, Qt.Key.Key_N, Qt.Key.Key_D, Qt.Key.Key_L, Qt.Key.Key_Return, Qt.Key.Key_Enter)
"""Keys that answer the question around the list, not the list's own search."""


class EvidenceList(QListWidget):
    """Faces and sentences of one side. `movable`: items go to another list by dragging, by a double click or by Space."""

    moved = Signal()
    other_wanted = Signal(object)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.movable = False
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSpacing(3)
        self.setWordWrap(True)
        self.setMinimumHeight(FACE + 34)
        self.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.itemDoubleClicked.connect(self._double)

    def fill(self, items: Sequence[Evidence], movable: bool, *, pictures: bool | None = None) -> None:
        """Show these items. `pictures`: as a grid of pictures, or as lines; by default as a grid if there are only faces."""
        self.clear()
        self.movable = movable
        grid = all(i.crop and not i.told for i in items) if pictures is None else pictures
        self.setViewMode(QListWidget.ViewMode.IconMode if grid and (items or pictures) else QListWidget.ViewMode.ListMode)
        side = FACE if grid else SMALL
        self.setIconSize(QSize(side, side))
        self.setMovement(QListWidget.Movement.Snap if movable else QListWidget.Movement.Static)
        self.setDragEnabled(movable)
        self.setAcceptDrops(movable)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        for item in items:
            self.addItem(self._made(item))

    def _made(self, item: Evidence) -> QListWidgetItem:
        side = self.iconSize().width()
        row = QListWidgetItem(self._text(item))
        row.setData(ITEM, item)
        plain.tip(row, "\n".join((f"{clock(item.at)} {item.words}".strip(), *item.told)))
        row.setData(Qt.ItemDataRole.AccessibleTextRole, plain.line(f"{self._kind(item)}, {self._text(item)}", plain.TIP))
        blank = QPixmap(side, side)
        blank.fill(Qt.GlobalColor.transparent)
        row.setIcon(QIcon(blank) if item.crop else theme.icon("mdi6.account-voice" if item.kind == "voice" else "mdi6.face-man-outline"))
        if item.crop:
            self._picture(row, item.crop)
        return row

    def _kind(self, item: Evidence) -> str:
        return self.tr("Voice") if item.kind == "voice" else self.tr("Face")

    def _text(self, item: Evidence) -> str:
        when = clock(item.at)
        if item.clips > 1:
            when += " · " + self.tr("%1 clips").replace("%1", str(item.clips))
        if item.words:
            return f"{when}  “{plain.line(item.words, SHOWN_WORDS)}”"
        if item.told:
            return "\n".join((when, *(plain.line(text, SHOWN_WORDS) for text in item.told[:SHOWN_SENTENCES])))
        if item.crop:
            return when
        return when + "  " + (self.tr("(no sentence tells of it)") if item.bare else self.tr("(speech not understood)"))

    def _picture(self, row: QListWidgetItem, media: str) -> None:
        import shiboken6

        ratio = self.devicePixelRatioF()
        side = round(self.iconSize().width() * ratio)

        def put(pixmap: QPixmap) -> None:
            if shiboken6.isValid(row):
                row.setIcon(QIcon(pixmap))

        here = self._hub.pictures.get(media, side, side, then=put)
        if here is not None:
            put(here)

    def show_matching(self, words: Sequence[str]) -> None:
        """Show only what holds all these words, with the sentences that hold them first."""
        for row in self.rows():
            item: Evidence = row.data(ITEM)
            hits = [text for text in (item.words, *item.told) if all(w in text.casefold() for w in words)]
            row.setHidden(bool(words) and not hits)
            if item.told:
                rest = [text for text in item.told if text not in hits]
                row.setText(self._text(replace(item, told=(*(h for h in hits if h in item.told), *rest))))

    def rows(self) -> list[QListWidgetItem]:
        return [self.item(i) for i in range(self.count())]

    def observations(self) -> list[str]:
        """Return the ids of what is in this list and was not taken out."""
        return [o for r in self.rows() if not r.data(OUT) for o in r.data(ITEM).observations]

    def chosen(self) -> list[QListWidgetItem]:
        """Return what is selected, else what the keys have reached: Tab into a list selects nothing."""
        return self.selectedItems() or [row for row in (self.currentItem(),) if row is not None]

    def taken_out(self) -> list[str]:
        return [o for r in self.rows() if r.data(OUT) for o in r.data(ITEM).observations]

    def toggle(self, row: QListWidgetItem) -> None:
        """Exclude an item from the answer, or include it again; excluded items are crossed out."""
        out = not row.data(OUT)
        row.setData(OUT, out)
        font = row.font()
        font.setStrikeOut(out)
        row.setFont(font)
        text = row.text().removeprefix("✗ ")
        row.setText(f"✗ {text}" if out else text)
        self.moved.emit()

    def _double(self, row: QListWidgetItem) -> None:
        if self.movable:
            self.other_wanted.emit(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space moves what is selected to the other list, or takes it out of the answer."""
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            for row in self.chosen():
                if self.movable:
                    self.other_wanted.emit(row)
                else:
                    self.itemClicked.emit(row)
        elif event.key() in PASSED_ON and not event.modifiers():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take items dragged from another list (whole, with what they stand for)."""
        source = event.source()
        if isinstance(source, EvidenceList) and source is not self and self.movable:
            for row in source.selectedItems():
                self.take_from(source, row)
            event.acceptProposedAction()
        else:
            event.ignore()

    def take_from(self, other: EvidenceList, row: QListWidgetItem) -> None:
        taken = other.takeItem(other.row(row))
        if taken is not None:
            self.addItem(taken)
            self.moved.emit()
            other.moved.emit()
