"""Search everywhere (Ctrl+K): people, memories, words spoken, bookmarks, clips and actions; also who is in a picture or a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QIcon, QKeyEvent, QKeySequence, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from m3desk.domain.sample_files import PICTURES
from m3desk.errors import sentence_of
from m3desk_ui.look import plain
from m3desk_ui.people.people_list import fallback_head, initial
from m3desk_ui.window import search_hits
from m3desk_ui.window.search_hits import Hit, Index

if TYPE_CHECKING:
    from m3desk.ports import FoundNode
    from m3desk_ui.hub.bridge import Hub

HIT = Qt.ItemDataRole.UserRole
GROUPS: tuple[search_hits.Group, ...] = ("people", "memories", "spoken", "bookmarks", "clips", "actions", "alike")
WAIT_MS = 150
"""Milliseconds without a key after which is searched."""
FACE = 28
SOUNDS = ("*.wav", "*.mp3", "*.flac", "*.ogg", "*.opus", "*.m4a", "*.aac", "*.mp4", "*.mkv", "*.mov", "*.webm")


class SearchPalette(QDialog):
    """One field that searches the whole window; it stays beside the views, in which the hits are marked meanwhile.

    `actions`: the window's, with the name of their menu. Escape takes the marks back; a chosen hit leaves them.
    """

    went_to_person = Signal()
    """A person was chosen: the list of people is where to go on."""

    def __init__(self, hub: Hub, actions: Sequence[tuple[str, QAction]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAcceptDrops(True)
        self.hub, self._actions = hub, list(actions)
        self._index = Index()
        self._asked = 0
        self._searching = False
        """Whether the engine still searches the memories: nothing is said to be not there before."""
        self._memories: list[Hit] = []
        self._sample: list[Hit] | None = None
        self.setWindowTitle(self.tr("Search everywhere"))
        self.resize(620, 440)
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("People, memories, words spoken, bookmarks, clips, times, actions"))
        self.search.setAccessibleName(self.tr("Search everywhere"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._typed)
        self.search.returnPressed.connect(self._go)
        self.file = QPushButton(self.tr("By a picture or voice…"))
        plain.tip(self.file, self.tr("Find the people in a picture or a recording; you can also drop the file here"))
        self.file.setAutoDefault(False)
        self.file.clicked.connect(self.choose_file)
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setColumnCount(2)
        self.tree.setIndentation(12)
        self.tree.setIconSize(QSize(FACE, FACE))
        self.tree.setAccessibleName(self.tr("What was found"))
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.itemActivated.connect(lambda item, _column: self._choose(item))
        self.said = plain.Label()
        self.said.setWordWrap(True)
        self.said.setProperty("muted", True)
        self.said.setAccessibleName(self.tr("How many were found"))
        row = QHBoxLayout()
        row.addWidget(self.search, 1)
        row.addWidget(self.file)
        column = QVBoxLayout(self)
        column.addLayout(row)
        column.addWidget(self.tree, 1)
        column.addWidget(self.said)
        self._later = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._later.timeout.connect(self._search)
        hub.opened.connect(self.reject)  # the hits are those of another memory then
        hub.read("search everywhere", search_hits.read_index, self._indexed)
        self._show()
        self.search.setFocus()

    # ------------------------------------------------------------ searching

    def _indexed(self, index: Index) -> None:
        self._index = index
        if self.search.text().strip():
            self._search()
        if self._sample is not None:
            self._show()

    def _typed(self, _text: str) -> None:
        self._sample = None
        self._later.start()

    def _search(self) -> None:
        """Show at once what can be found by words, and ask the engine for memories, by words and by meaning."""
        text = self.search.text().strip()
        self._asked += 1
        asked = self._asked
        self._memories = []  # those of the words before
        self._searching = bool(text) and self.hub.desk is not None
        if text and self.hub.desk is not None:

            def found(nodes: list[FoundNode]) -> None:
                if isValid(self) and asked == self._asked:
                    self._searching = False
                    self._memories = search_hits.memory_hits(nodes, text)
                    self._show()

            self.hub.when(self.hub.desk.search(text), found, lambda error: self._failed(error, asked))
        self._show()

    def _failed(self, error: Exception, asked: int) -> None:
        """Show why the engine could not search; what was found by words stays."""
        if isValid(self) and asked == self._asked:
            self._memories = []
            self._searching = False
            self._show()
            self.said.setText(plain.line(sentence_of(error)))

    def choose_file(self) -> None:
        """Let the user choose a picture or a recording to search people by."""
        endings = " ".join([*(f"*{e}" for e in PICTURES), *SOUNDS])
        kinds = f"{self.tr('Pictures and recordings')} ({endings});;{self.tr('All files')} (*)"
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Find the people in a picture or a recording"), "", kinds)
        if path:
            self.search_file(path)

    def search_file(self, path: str) -> None:
        """Find the people whose faces a picture shows, or whose voices a recording holds."""
        if self.hub.desk is None:
            return
        self.search.blockSignals(True)
        self.search.clear()
        self.search.blockSignals(False)
        self._later.stop()
        self._asked += 1
        asked = self._asked
        self._memories, self._sample, self._searching = [], [], False
        self._show()
        name = plain.line(Path(path).name, plain.ENTRY)
        self.said.setText(self.tr("Searching the people in %1 …").replace("%1", name))

        def found(nodes: list[FoundNode]) -> None:
            if isValid(self) and asked == self._asked:
                self._sample = search_hits.sample_hits(self._index, nodes)
                self._show()
                if not self._sample:
                    self.said.setText(self.tr("Nobody in %1 is known to this memory.").replace("%1", name))

        self.hub.when(self.hub.desk.search_sample(path), found, lambda error: self._failed(error, asked))

    def hits(self) -> list[Hit]:
        """Return everything that is found now, by group."""
        if self._sample is not None:
            return list(self._sample)
        text = self.search.text().strip()
        found = [*search_hits.search(self._index, text), *self._memories, *self._found_actions(text)]
        return sorted(found, key=lambda hit: GROUPS.index(hit.group))

    def _found_actions(self, text: str) -> list[Hit]:
        words = text.casefold().split()
        found = [
            Hit("actions", _name(a), a.shortcut().toString(QKeySequence.SequenceFormat.NativeText) or menu, "action", str(n))
            for n, (menu, a) in enumerate(self._actions)
            if words and a.isEnabled() and search_hits.holds(f"{_name(a)} {menu}", words)
        ]
        return found[: search_hits.MOST["actions"]]

    # ------------------------------------------------------------ showing

    def _show(self) -> None:
        hits = self.hits()
        current = self.tree.currentItem()
        kept = None if current is None else current.data(0, HIT)
        self.tree.clear()
        titles = {
            "people": self.tr("People"), "memories": self.tr("Memories"), "spoken": self.tr("Words spoken"),
            "bookmarks": self.tr("Bookmarks"), "clips": self.tr("Clips"), "actions": self.tr("Actions"),
            "alike": self.tr("Memories of similar meaning"),
        }  # fmt: skip
        tops: dict[str, QTreeWidgetItem] = {}
        first: QTreeWidgetItem | None = None
        for hit in hits:
            top = tops.get(hit.group)
            if top is None:
                top = tops[hit.group] = QTreeWidgetItem(self.tree, [titles[hit.group]])
                top.setFlags(Qt.ItemFlag.ItemIsEnabled)
                top.setFirstColumnSpanned(True)
                top.setForeground(0, self.palette().placeholderText())
                top.setExpanded(True)
            item = QTreeWidgetItem(top, [plain.line(hit.text), plain.line(hit.detail, plain.ENTRY)])
            item.setData(0, HIT, hit)
            item.setData(0, Qt.ItemDataRole.ToolTipRole, plain.tip_text(hit.text))
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, plain.line(f"{titles[hit.group]}: {hit.text}, {hit.detail}"))
            item.setForeground(1, self.palette().placeholderText())
            self._picture(item, hit)
            first = first or item
            if hit == kept:
                self.tree.setCurrentItem(item)
        if self.tree.currentItem() is None and first is not None:
            self.tree.setCurrentItem(first)
        self._tell(len(hits))
        self._mark(hits)

    def _picture(self, item: QTreeWidgetItem, hit: Hit) -> None:
        if hit.group != "people":
            return
        ratio = self.devicePixelRatioF()
        person = next((p for p in self._index.people if p.id == hit.id), None)
        if person is not None:
            item.setIcon(0, QIcon(fallback_head(person.id, initial(person), FACE, ratio)))
        if hit.picture is None:
            return

        def put(pixmap: QPixmap) -> None:
            if isValid(self) and isValid(item):
                item.setIcon(0, QIcon(pixmap))

        here = self.hub.pictures.get(hit.picture, round(FACE * ratio), then=put)
        if here is not None:
            put(here)

    def _tell(self, count: int) -> None:
        if not self.search.text().strip() and self._sample is None:
            self.said.setText(
                self.tr("Enter goes there; a time such as 1:20 is a place too. Drop a picture or a recording to find who is in it.")
            )
        elif self._searching:
            self.said.setText(self.tr("Searching …"))
        else:
            self.said.setText(self.tr("%n found", "", count).replace("%n", str(count)))

    def _mark(self, hits: Sequence[Hit]) -> None:
        """Mark the hits in the graph and on the timeline."""
        self.hub.selection.found.emit(tuple(h.id for h in hits if h.kind in ("person", "node")))
        spans = ((h.source, h.start, h.end) for h in hits if h.group in ("memories", "spoken", "bookmarks", "alike"))
        self.hub.selection.highlighted.emit(tuple((s, a, a if b is None else b) for s, a, b in spans if s and a is not None))

    # ------------------------------------------------------------ choosing

    def _go(self) -> None:
        if self._later.isActive():  # Enter was faster than the search
            self._later.stop()
            self._search()
        item = self.tree.currentItem()
        if item is not None:
            self._choose(item)

    def _choose(self, item: QTreeWidgetItem) -> None:
        hit = item.data(0, HIT)
        if not isinstance(hit, Hit):
            return
        self.done(QDialog.DialogCode.Accepted)
        if hit.kind == "action":
            self._actions[int(hit.id)][1].trigger()
            return
        if hit.kind == "bookmark":
            self.hub.selection.seek.emit(hit.source or "", hit.start or 0, False)
            return
        self.hub.selection.select(hit.kind, hit.id)
        if hit.group == "people":
            self.hub.selection.wanted.emit("people")
            self.went_to_person.emit()
        elif hit.kind == "source":
            self.hub.selection.seek.emit(hit.id, 0, False)
        else:
            self.hub.selection.play(hit.source, hit.start)

    def reject(self) -> None:
        """Close, and take the marks back."""
        self._mark(())
        super().reject()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move among the hits by the arrow keys while the cursor stays in the field."""
        keys = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        step = keys.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        tops = [self.tree.topLevelItem(i) for i in range(self.tree.topLevelItemCount())]
        rows = [child for top in tops if top is not None for k in range(top.childCount()) if (child := top.child(k)) is not None]
        now = self.tree.currentItem()
        at = rows.index(now) if now is not None and now in rows else -1
        if rows:
            self.tree.setCurrentItem(rows[max(0, min(len(rows) - 1, at + step))])

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [u.toLocalFile() for u in event.mimeData().urls() if u.isLocalFile()]
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if paths:
            self.search_file(paths[0])


def _name(action: QAction) -> str:
    return action.text().replace("&", "").removesuffix("…")
