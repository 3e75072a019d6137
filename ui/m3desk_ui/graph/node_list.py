"""The graph as a list: the same nodes and the same selection, for screen readers and for reading."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QWidget

from m3desk_ui.graph import style
from m3desk_ui.graph.scene import SceneNode
from m3desk_ui.look import plain

MOST = 2000
ID = Qt.ItemDataRole.UserRole


class NodeList(QListView):
    """`marked`: ids that the user selected, the current one last; `opened`: an id (Enter, double click); `key_wanted`: a letter."""

    marked = Signal(object)
    opened = Signal(str)
    key_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setMinimumWidth(180)
        self.rows = QStandardItemModel(self)
        self.setModel(self.rows)
        self.activated.connect(lambda index: self.opened.emit(index.data(ID)))
        self.selectionModel().selectionChanged.connect(lambda *_: self._tell())
        self._row_of: dict[str, int] = {}
        self._syncing = False

    def fill(self, nodes: Sequence[SceneNode]) -> None:
        """List these nodes, the first MOST of them."""
        self._syncing = True
        self.rows.clear()
        self._row_of.clear()
        ratio = self.devicePixelRatioF()
        icons = {k.name: QIcon(style.shape_pixmap(k.name, 16, ratio)) for k in style.KINDS}
        for node in nodes[:MOST]:
            item = QStandardItem(icons.get(node.kind, icons["object"]), plain.line(node.content or node.label))
            item.setData(node.id, ID)
            told = f"{style.kind_singular(node.kind)}: {node.content or node.label}"
            plain.tip(item, told)
            item.setAccessibleText(plain.line(told))
            self._row_of[node.id] = self.rows.rowCount()
            self.rows.appendRow(item)
        self._syncing = False

    def mark(self, ids: Sequence[str]) -> None:
        """Select these; nothing is told."""
        if self._syncing:
            return
        self._syncing = True
        chosen, last = QItemSelection(), QModelIndex()
        for row in (self._row_of[id_] for id_ in ids if id_ in self._row_of):
            last = self.rows.index(row, 0)
            chosen.select(last, last)
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if last.isValid():
            self.selectionModel().setCurrentIndex(last, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(last)
        self._syncing = False

    def _tell(self) -> None:
        if self._syncing:
            return
        current = self.currentIndex().data(ID)
        ids = [index.data(ID) for index in self.selectionModel().selectedIndexes()]
        if current in ids:
            ids = [*(id_ for id_ in ids if id_ != current), current]
        self._syncing = True
        self.marked.emit(ids)
        self._syncing = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let the graph's letters work here, too."""
        held = event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        if not held and event.text().lower() in ("e", "c", "p", "m", "t", "o"):
            self.key_wanted.emit(event.text().lower())
        else:
            super().keyPressEvent(event)
