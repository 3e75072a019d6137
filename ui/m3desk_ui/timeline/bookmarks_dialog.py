"""The list of bookmarks: filtered as you type; Enter goes to one, F2 changes its note, Delete removes it. Beside the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import plain
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.timeline import marking

if TYPE_CHECKING:
    from m3desk.domain.bookmark import Bookmark
    from m3desk.domain.changed import Changed
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub

Found = tuple[list["Bookmark"], dict[str, str]]
"""The bookmarks, and what their sources are called."""


class BookmarksDialog(QDialog):
    """Lists the bookmarks of the open memory. Does not block the window."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.bookmarks: list[Bookmark] = []
        self._called: dict[str, str] = {}
        self.setWindowTitle(self.tr("Bookmarks"))
        self.resize(560, 420)
        self.search = SearchField()
        self.search.say(self.tr("Find in notes"))
        self.search.textChanged.connect(lambda _text: self._fill())
        self.rows = QTreeWidget()
        self.rows.setRootIsDecorated(False)
        self.rows.setHeaderLabels([self.tr("Time"), self.tr("Note"), self.tr("Source")])
        self.rows.setAccessibleName(self.tr("Bookmarks"))
        header = self.rows.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(False)
        self.rows.currentItemChanged.connect(lambda *_: self._enable())
        self.rows.itemDoubleClicked.connect(lambda *_: self.go())
        self.none = plain.Label()
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setWordWrap(True)
        self.none.setProperty("muted", True)
        self.to = QPushButton(self.tr("Go there"))
        self.change = QPushButton(self.tr("Note…"))
        self.remove_ = QPushButton(self.tr("Remove"))
        for button, act, tip in (
            (self.to, self.go, self.tr("Show this moment (Enter)")),
            (self.change, self.edit, self.tr("Change the note (F2)")),
            (self.remove_, self.remove, self.tr("Remove this bookmark; Undo brings it back (Delete)")),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(act)
            plain.tip(button, tip)
        self.rows.installEventFilter(self)
        row = QHBoxLayout()
        for button in (self.to, self.change, self.remove_):
            row.addWidget(button)
        row.addStretch(1)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(self.rows, 1)
        column.addWidget(self.none, 1)
        column.addLayout(row)
        self.following = Following(hub, "bookmarks", load=lambda: _read, show=self._take, patch=self._patch, apply=self._take, parent=self)
        hub.opened.connect(self.reject)
        self.following.restart()
        self._fill()

    @staticmethod
    def _patch(changed: Changed) -> Read[Found] | None:
        return _read if changed.steps or changed.sources else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys of the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            keys = {Qt.Key.Key_F2: self.edit, Qt.Key.Key_Delete: self.remove, Qt.Key.Key_Return: self.go, Qt.Key.Key_Enter: self.go}
            act = keys.get(Qt.Key(event.key()))  # Enter would also press Close
            if act is not None:
                act()
                return True
        return super().eventFilter(watched, event)

    def done(self, result: int) -> None:
        """Close; what is still being read is dropped."""
        self.following.stop()
        super().done(result)

    def _take(self, found: Found) -> None:
        self.bookmarks, self._called = found
        self._fill()

    def _fill(self) -> None:
        kept, place = self._current(), max(0, self.rows.currentIndex().row())
        self.rows.clear()
        wanted = self.search.text().casefold()
        for bookmark in self.bookmarks:
            if wanted not in f"{marking.times(bookmark)} {bookmark.note}".casefold():
                continue
            source = self._called.get(bookmark.source or "", self.tr("(removed)"))
            item = QTreeWidgetItem([marking.times(bookmark), plain.line(bookmark.note), plain.line(source, plain.ENTRY)])
            item.setData(0, Qt.ItemDataRole.UserRole, bookmark.id)
            if bookmark.note:
                item.setData(1, Qt.ItemDataRole.ToolTipRole, plain.tip_text(bookmark.note))
            self.rows.addTopLevelItem(item)
            if kept is not None and bookmark.id == kept.id:
                self.rows.setCurrentItem(item)
        there = self.rows.topLevelItemCount()
        left = self.rows.topLevelItem(min(place, there - 1)) if there else None
        if self.rows.currentItem() is None and left is not None:
            self.rows.setCurrentItem(left)
        self.rows.setVisible(there > 0)
        self.none.setVisible(there == 0)
        self.none.setText(
            self.tr("No note contains these words.")
            if self.bookmarks
            else self.tr("No bookmarks yet. B marks the moment that the picture shows, or the span that is chosen on the timeline.")
        )
        self._enable()

    def _current(self) -> Bookmark | None:
        item = self.rows.currentItem()
        wanted = None if item is None else item.data(0, Qt.ItemDataRole.UserRole)
        return next((b for b in self.bookmarks if b.id == wanted), None)

    def _enable(self) -> None:
        chosen = self._current()
        self.to.setEnabled(chosen is not None and chosen.source is not None)
        self.change.setEnabled(chosen is not None and chosen.source is not None)
        self.remove_.setEnabled(chosen is not None)

    def go(self) -> None:
        """Show the moment of the chosen bookmark."""
        if (chosen := self._current()) is not None:
            marking.go(self.hub, chosen)

    def edit(self) -> None:
        """Change the note of the chosen bookmark."""
        if (chosen := self._current()) is not None and chosen.source is not None:
            marking.edit(self.hub, self, chosen)

    def remove(self) -> None:
        """Remove the chosen bookmark."""
        if (chosen := self._current()) is not None:
            marking.remove(self.hub, chosen)


def _read(reader: Reader) -> Found:
    return reader.bookmarks(), {s.id: s.uri.replace("\\", "/").rsplit("/", 1)[-1] for s in reader.sources()}
