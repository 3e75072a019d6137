"""Lists the people whom corrections keep apart (“these two are never one”), with who, since when and why; takes one of these back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHeaderView, QPushButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget
from shiboken6 import isValid

from m3desk_ui.look import deeds, plain, texts, theme
from m3desk_ui.people.people_list import fallback_head, initial

if TYPE_CHECKING:
    from m3desk.domain.correction import Effect
    from m3desk.domain.insight import Wall
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

WALL = Qt.ItemDataRole.UserRole
FACE = 40


class KeptApart(QDialog):
    """The walls of the open memory. Does not block the window: the chosen pair is shown in all views."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.walls: list[Wall] = []
        self._people: dict[str, Person] = {}
        self._asked = 0
        self.setWindowTitle(self.tr("Who is kept apart"))
        self.resize(760, 420)
        about = plain.Label(
            self.tr("These are never taken for one person, because you said so.")
            + " "
            + self.tr("People who are seen in one picture together are kept apart by themselves, and not listed.")
        )
        about.setWordWrap(True)
        about.setProperty("muted", True)
        self.rows = QTreeWidget()
        self.rows.setRootIsDecorated(False)
        self.rows.setIconSize(QSize(FACE, FACE))
        self.rows.setHeaderLabels([self.tr("One"), self.tr("The other"), self.tr("Because"), self.tr("Since")])
        self.rows.setAccessibleName(self.tr("People who are kept apart"))
        for column in (0, 1, 3):
            self.rows.header().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.header().setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.rows.header().setStretchLastSection(False)
        self.rows.currentItemChanged.connect(lambda *_: self._chosen())
        self.rows.itemActivated.connect(lambda *_: self.remove())
        self.none = plain.Label(self.tr("Nobody is kept apart. A “No” to “the same person?”, a split, or “not their voice” does it."))
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setWordWrap(True)
        self.none.setProperty("muted", True)
        self.none.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.back = QPushButton(self.tr("Take back…"))
        plain.tip(self.back, self.tr("They may be one person again; shows first what that changes, and can be undone (Enter)"))
        self.back.clicked.connect(self.remove)
        self.back.setAutoDefault(False)
        buttons.addButton(self.back, QDialogButtonBox.ButtonRole.ActionRole)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setAutoDefault(False)  # Enter in the list takes back, and must not close as well
        close.setDefault(False)
        buttons.rejected.connect(self.reject)
        column_ = QVBoxLayout(self)
        for widget in (about, self.rows, self.none, buttons):
            column_.addWidget(widget, 1 if widget in (self.rows, self.none) else 0)
        hub.opened.connect(self.reject)
        hub.corrected.connect(self._corrected)  # a method, not a function: it ends with the dialog
        self._enable()
        self.read()

    def _corrected(self, _event: object) -> None:
        if self.isVisible():
            self.read()

    def read(self) -> None:
        """Ask the engine for the walls, then read who these people are."""
        desk = self.hub.desk
        if desk is None:
            return
        self._asked += 1
        asked = self._asked

        def found(walls: list[Wall]) -> None:
            if isValid(self) and asked == self._asked:
                ids = {p for w in walls for p in (w.a, w.b)}
                self.hub.read("kept apart", lambda reader: reader.people_of(ids), lambda people: self._show(walls, people))

        self.hub.when(desk.walls(), found)

    def _show(self, walls: list[Wall], people: list[Person]) -> None:
        if not isValid(self):
            return
        kept = self._current()
        self.walls, self._people = walls, {p.id: p for p in people}
        self.rows.clear()
        for wall in walls:
            if wall.a not in self._people or wall.b not in self._people:
                continue
            at = QDateTime.fromString(wall.at, Qt.DateFormat.ISODateWithMs).toLocalTime()
            a, b = self._people[wall.a], self._people[wall.b]
            because = plain.line(deeds.done(wall.text)) + (f" — {plain.line(wall.why)}" if wall.why else "")
            if wall.state != "kept":
                because = self.tr("(%1) %2").replace("%1", state(wall.state)).replace("%2", because)
            names = [plain.line(texts.person(p.shown), plain.ENTRY) for p in (a, b)]
            item = QTreeWidgetItem([*names, because, QLocale().toString(at, QLocale.FormatType.ShortFormat)])
            item.setData(0, WALL, wall)
            item.setData(2, Qt.ItemDataRole.ToolTipRole, plain.tip_text(because))
            for column, person in ((0, a), (1, b)):
                self._picture(item, column, person)
            if wall.state != "kept":
                for column in range(4):
                    item.setForeground(column, QColor(theme.colours().muted))
            self.rows.addTopLevelItem(item)
            if kept is not None and (wall.step, wall.a, wall.b) == (kept.step, kept.a, kept.b):
                self.rows.setCurrentItem(item)
        some = self.rows.topLevelItemCount() > 0
        self.rows.setVisible(some)
        self.none.setVisible(not some)
        self._enable()

    def _picture(self, item: QTreeWidgetItem, column: int, person: Person) -> None:
        ratio = self.devicePixelRatioF()

        def put(pixmap: QPixmap) -> None:
            if isValid(self) and isValid(item):
                item.setIcon(column, QIcon(pixmap))

        item.setIcon(column, QIcon(fallback_head(person.id, initial(person), FACE, ratio)))
        here = self.hub.pictures.get(person.portrait, round(FACE * ratio), then=put)
        if here is not None:
            put(here)

    def _current(self) -> Wall | None:
        item = self.rows.currentItem()
        wall: Wall | None = None if item is None else item.data(0, WALL)
        return wall

    def _enable(self) -> None:
        self.back.setEnabled(self._current() is not None)

    def _chosen(self) -> None:
        """Show the chosen pair in all views."""
        self._enable()
        wall = self._current()
        if wall is not None:
            self.hub.selection.select("person", wall.a)
            self.hub.selection.found.emit((wall.a, wall.b))

    def remove(self) -> None:
        """Show what taking the chosen wall back would change, and do it if the user confirms."""
        wall, desk = self._current(), self.hub.desk
        if wall is None or desk is None:
            return

        def previewed(effect: Effect) -> None:
            if isValid(self) and self.isVisible():
                question = self.tr("Take back “%1”?").replace("%1", plain.line(deeds.done(wall.text), plain.ENTRY))
                if plain.sure(self, self.tr("Who is kept apart"), question, deeds.would(effect.text), self.tr("Take back")):
                    self.hub.when(desk.revert(wall.step), lambda done: self.hub.offer.emit(deeds.done(done.text), "undo", self.hub.undo))

        self.hub.when(desk.correct("revert", {"step": wall.step, "also": False}, dry_run=True), previewed)

    def done(self, result: int) -> None:
        """Close, and take the marks back."""
        self.hub.selection.found.emit(())
        super().done(result)


def state(name: str) -> str:
    """Return the state of a wall that does not hold now."""
    return {
        "overridden": QCoreApplication.translate("KeptApart", "replaced by a later correction"),
        "waiting": QCoreApplication.translate("KeptApart", "its evidence is missing now"),
    }.get(name, plain.entry(name))
