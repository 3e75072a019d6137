"""The memories dock: every sentence of the memory in a table. Filter as you type, click to play, edit, pin or delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.clip import clock
from m3desk_ui.graph import style
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.memory.filtered_rows import FilteredRows

if TYPE_CHECKING:
    from m3desk.domain.memory import StoredSentence
    from m3desk_ui.hub.bridge import Hub

Index = QModelIndex | QPersistentModelIndex
SENTENCE = Qt.ItemDataRole.UserRole + 1
TIME, TEXT, PEOPLE, KIND, WEIGHT = range(5)


class MemoryModel(QAbstractTableModel):
    """Rows are StoredSentences. Editing the text of a row asks for a correction."""

    edited = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[StoredSentence] = []
        self.hay: list[str] = []
        self.names: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.many_sources = False
        self._icons: dict[str, QIcon] = {}

    def show(self, rows: Sequence[StoredSentence], names: dict[str, str], files: dict[str, str]) -> None:
        """Take new rows; what only grew at the end or changed in place leaves the view where it is."""
        rows = list(rows)
        self.names = names
        self.files = files
        self.many_sources = len({r.source for r in rows}) > 1
        old = [r.id for r in self.rows]
        new = [r.id for r in rows]
        hay = [f"{r.shown} {' '.join(names.get(p, p) for p in r.people)} {r.topic or ''} {r.kind}".casefold() for r in rows]
        if new[: len(old)] == old and old:
            if len(new) > len(old):
                self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
                self.rows, self.hay = rows, hay
                self.endInsertRows()
            else:
                self.rows, self.hay = rows, hay
            self.dataChanged.emit(self.index(0, 0), self.index(len(old) - 1, WEIGHT))
        else:
            self.beginResetModel()
            self.rows, self.hay = rows, hay
            self.endResetModel()

    def fitting(self, words: Sequence[str], kind: str | None, person: str | None) -> Sequence[int]:
        """Return the rows that hold all these words and are of this kind and person (None: of all)."""
        found: Sequence[int] = range(len(self.rows))
        for word in words:
            found = [n for n in found if word in self.hay[n]]
        if kind:
            found = [n for n in found if kind in (self.rows[n].kind, self.rows[n].topic)]
        return [n for n in found if person in self.rows[n].people] if person else found

    def keys(self, column: int) -> list[Any] | None:
        """Return what each row is sorted by; None for time, in which they are."""
        if column == TEXT:
            return [r.shown for r in self.rows]
        if column == PEOPLE:
            return [self._people(r) for r in self.rows]
        if column == KIND:
            return [(r.kind, r.topic or "") for r in self.rows]
        return [r.weight for r in self.rows] if column == WEIGHT else None

    def dress(self) -> None:
        self._icons = {k: QIcon(style.shape_pixmap(k, 14)) for k in ("episodic", "semantic")}
        self._icons["pinned"] = theme.icon("mdi6.pin", theme.colours().accent)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, WEIGHT)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 5

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (self.tr("Time"), self.tr("Memory"), self.tr("People"), self.tr("Kind"), self.tr("Weight"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.rows[index.row()]
        column = index.column()
        if role == SENTENCE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return plain.line(self._shown(row, column), 4 * plain.LINE)
        if role == Qt.ItemDataRole.EditRole and column == TEXT:
            return plain.paragraph(row.shown)
        if role == Qt.ItemDataRole.DecorationRole and column == KIND:
            return self._icons.get(row.kind)
        if role == Qt.ItemDataRole.DecorationRole and column == TEXT and row.pinned:
            return self._icons.get("pinned")
        if role == Qt.ItemDataRole.ForegroundRole:
            faded = row.stale or row.valid_until is not None
            if column == TIME:
                return QColor(theme.colours().link)
            return QColor(theme.colours().muted) if faded or column != TEXT else None
        if role == Qt.ItemDataRole.FontRole and column == TEXT and (row.pinned or row.valid_until):
            font = QFont()
            font.setBold(row.pinned)
            font.setStrikeOut(row.valid_until is not None)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain.tip_text(self._tip(row))
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return plain.paragraph(self._tip(row), plain.TIP)
        if role == Qt.ItemDataRole.TextAlignmentRole and column == WEIGHT:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _people(self, row: StoredSentence) -> str:
        return ", ".join(self.names.get(p, p) for p in row.people)

    def _shown(self, row: StoredSentence, column: int) -> str:
        if column == TIME:
            return f"{row.source} {clock(row.start)}" if self.many_sources else clock(row.start)
        if column == TEXT:
            return row.shown
        if column == PEOPLE:
            return self._people(row)
        if column == KIND:
            return texts.topic(row.topic) if row.kind == "semantic" and row.topic else texts.kind(row.kind)
        return f"{row.weight:g}"

    def _tip(self, row: StoredSentence) -> str:
        file = self.files.get(row.source, row.source)
        lines = [row.shown, f"{file} · {clock(row.start)}–{clock(row.end)}"]
        if row.model:
            lines.append(self.tr("written by %1").replace("%1", row.model))
        if row.valid_until:
            lines.append(self.tr("no longer true"))
        return "\n".join(lines)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self.rows[index.row()]
        text = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or not text or text in (row.shown, plain.paragraph(row.shown).strip()):
            return False
        self.edited.emit(row.id, text)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        base = super().flags(index)
        return base | Qt.ItemFlag.ItemIsEditable if index.isValid() and index.column() == TEXT else base


class MemoryFilter(FilteredRows):
    """Keeps rows that hold all words typed, of the kind and the person chosen."""

    def __init__(self, model: MemoryModel, parent: QWidget) -> None:
        self.words: tuple[str, ...] = ()
        self.kind: str | None = None
        self.person: str | None = None
        super().__init__(model, lambda: model.fitting(self.words, self.kind, self.person), model.keys, parent)

    def wish(self, words: str, kind: str | None, person: str | None) -> None:
        """Show what holds these words, of this kind and person (None: of all)."""
        wished = (tuple(words.casefold().split()), kind, person)
        if wished != (self.words, self.kind, self.person):
            self.words, self.kind, self.person = wished
            self.fit()


class MemoryView(QWidget):
    """The table with its filters."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.model = MemoryModel(self)
        self.model.edited.connect(lambda id_, text: self.hub.correct("edit", {"node": id_, "text": text}))
        self.proxy = MemoryFilter(self.model, self)
        self._wait = QTimer(self, singleShot=True, interval=120)
        self._wait.timeout.connect(self._filter)
        self._build()
        hub.opened.connect(self._forget)
        hub.changed.connect(self.refresh)
        hub.themed.connect(self._themed)
        hub.selection.selected.connect(self._follow)
        self._themed()
        if hub.desk is not None:
            self.refresh()

    def _build(self) -> None:
        self.words = QLineEdit(self)
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(lambda _text: self._wait.start())
        self.kind = QComboBox(self)
        self.kind.currentIndexChanged.connect(self._filter)
        self.person = QComboBox(self)
        self.person.setMinimumContentsLength(10)
        self.person.currentIndexChanged.connect(self._filter)
        self.count = plain.Label(parent=self)
        self.count.setProperty("muted", True)
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 4, 10, 4)
        bar.setSpacing(8)
        bar.addWidget(self.words, 1)
        bar.addWidget(self.kind)
        bar.addWidget(self.person)
        bar.addWidget(self.count)
        self.table = QTableView(self)
        self.table.setModel(self.proxy)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(TIME, Qt.SortOrder.AscendingOrder)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.table.setShowGrid(False)
        self.table.setStyleSheet("QTableView::item { padding: 0 6px; }")
        self.table.setWordWrap(False)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 12)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(24)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.clicked.connect(self._clicked)
        self.table.doubleClicked.connect(lambda index: self._play(index.data(SENTENCE)))
        self.table.activated.connect(lambda index: self._play(index.data(SENTENCE)))
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._menu)
        self.empty = plain.Label(parent=self)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self.empty.setProperty("muted", True)
        self.empty.setMargin(24)
        column_ = QVBoxLayout(self)
        column_.setContentsMargins(0, 0, 0, 0)
        column_.setSpacing(0)
        column_.addLayout(bar)
        column_.addWidget(self.table, 1)
        column_.addWidget(self.empty, 1)

    def _themed(self) -> None:
        self.words.setPlaceholderText(self.tr("Filter memories"))
        self.words.setAccessibleName(self.tr("Filter memories"))
        self.table.setAccessibleName(self.tr("Memories"))
        self.kind.setAccessibleName(self.tr("Kind of memory"))
        self.person.setAccessibleName(self.tr("Person"))
        rows = [(self.tr("All kinds"), None), (self.tr("What happened"), "episodic"), (self.tr("What is known"), "semantic")]
        rows += [(f"  {texts.topic(t)}", t) for t in ("attribute", "relationship", "habit", "plot", "general")]
        self._refill(self.kind, rows)
        self.model.dress()
        self._fill_people()
        self._filter()

    def _refill(self, box: QComboBox, rows: Sequence[tuple[str, str | None]]) -> None:
        chosen = box.currentData()
        box.blockSignals(True)
        box.clear()
        for text, data in rows:
            box.addItem(text, data)
        box.setCurrentIndex(max(0, box.findData(chosen)))
        box.blockSignals(False)

    def _fill_people(self) -> None:
        spoken = {p for row in self.model.rows for p in row.people}
        rows: list[tuple[str, str | None]] = [(self.tr("Everybody"), None)]
        rows += [(plain.line(name, 40), id_) for id_, name in self.model.names.items() if id_ in spoken]
        self._refill(self.person, rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._size_columns()

    def _size_columns(self) -> None:
        """Give the sentences at least half of the width; what else does not fit is left out, the least needed first."""
        wide, room = self.fontMetrics().averageCharWidth(), self.width()
        wanted = ((TIME, 13 if self.model.many_sources else 9), (PEOPLE, 16), (KIND, 17), (WEIGHT, 9))
        left = room // 2
        for column, chars in wanted:
            fits = wide * chars <= left
            self.table.setColumnHidden(column, not fits)
            if fits:
                self.table.setColumnWidth(column, wide * chars)
                left -= wide * chars

    # ------------------------------------------------------------ reading

    def refresh(self) -> None:
        """Read all sentences again."""

        def read(reader: Any) -> tuple[list[StoredSentence], dict[str, str], dict[str, str]]:
            files = {s.id: s.uri.rsplit("/", 1)[-1] for s in reader.sources()}
            return reader.memories(), {p.id: p.shown for p in reader.people()}, files

        self.hub.read("memories", read, self._show)

    def on_event(self, event: object) -> None:
        """Events reach this view by the hub's `changed`."""

    def _forget(self, _path: str) -> None:
        self.model.show([], {}, {})
        self._filter()

    def _show(self, found: tuple[list[StoredSentence], dict[str, str], dict[str, str]]) -> None:
        if self.table.state() == QAbstractItemView.State.EditingState:
            # news would close the open editor: read again when it is done
            QTimer.singleShot(1000, self, self.refresh)
            return
        chosen = self.table.currentIndex().data(SENTENCE)
        bar = self.table.verticalScrollBar()
        place = bar.value()
        self.model.show(*found)
        self._size_columns()
        if chosen is not None and not self.table.currentIndex().isValid():
            self._mark(chosen.id)
        bar.setValue(place)
        self._fill_people()
        self._filter()

    def _filter(self, *_: object) -> None:
        chosen = self.table.currentIndex().data(SENTENCE)
        self.proxy.wish(self.words.text(), self.kind.currentData(), self.person.currentData())
        if chosen is not None and not self.table.currentIndex().isValid():
            self._mark(chosen.id)
        shown, total = self.proxy.rowCount(), self.model.rowCount()
        self.count.setText(str(total) if shown == total else self.tr("%1 of %2").replace("%1", str(shown)).replace("%2", str(total)))
        self.table.setVisible(bool(shown))
        self.empty.setVisible(not shown)
        self.empty.setText(
            self.tr("No memory fits this filter.")
            if total
            else self.tr("Nothing is remembered yet. Memories appear as clips are memorized.")
        )

    # ------------------------------------------------------------ pointing and correcting

    def _clicked(self, index: QModelIndex) -> None:
        row: StoredSentence = index.data(SENTENCE)
        self.hub.selection.select("node", row.id)
        self._play(row)

    def _play(self, row: StoredSentence) -> None:
        self.hub.selection.play(row.source, row.start)

    def _follow(self, kind: str, id_: str) -> None:
        if kind == "node":
            self._mark(id_)

    def _mark(self, id_: str) -> None:
        for number, row in enumerate(self.model.rows):
            if row.id == id_:
                index = self.proxy.mapFromSource(self.model.index(number, TEXT))
                if index.isValid() and index.row() != self.table.currentIndex().row():
                    self.table.setCurrentIndex(index)
                    self.table.scrollTo(index)
                return

    def _menu(self, where: QPoint) -> None:
        index = self.table.indexAt(where)
        if not index.isValid():
            return
        row: StoredSentence = index.data(SENTENCE)
        menu = QMenu(self)
        menu.addAction(self.tr("Play"), lambda: self._play(row))
        menu.addAction(self.tr("Why is this here?"), lambda: self._why(row))
        menu.addAction(self.tr("Show in the graph"), lambda: self._reveal(row, "graph"))
        menu.addSeparator()
        menu.addAction(self.tr("Edit…"), lambda: self.edit(row))
        menu.addAction(self.tr("Unpin") if row.pinned else self.tr("Pin"), lambda: self.pin(row))
        menu.addAction(self.tr("Delete"), lambda: self.delete(row))
        menu.popup(self.table.viewport().mapToGlobal(where))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.table.currentIndex()
        if event.key() == Qt.Key.Key_Delete and index.isValid() and self.table.hasFocus():
            self.delete(index.data(SENTENCE))
        else:
            super().keyPressEvent(event)

    def _why(self, row: StoredSentence) -> None:
        self._reveal(row, "inspector")

    def _reveal(self, row: StoredSentence, where: str) -> None:
        self.hub.selection.select("node", row.id)
        self.hub.selection.wanted.emit(where)

    def focus_find(self) -> None:
        """Put the cursor into the filter."""
        self.words.setFocus()
        self.words.selectAll()

    def edit(self, row: StoredSentence) -> None:
        text = plain.edited(self, self.tr("Edit memory"), self.tr("What should it say?"), row.shown)
        if text is not None:
            self.hub.correct("edit", {"node": row.id, "text": text})

    def pin(self, row: StoredSentence) -> None:
        """Pin a memory, or let it go again."""
        self.hub.correct("pin", {"node": row.id, "pinned": not row.pinned})

    def delete(self, row: StoredSentence) -> None:
        """Delete a memory; the notice offers to undo it."""
        self.hub.correct("delete", {"node": row.id})
