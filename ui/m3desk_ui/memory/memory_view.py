"""The memories dock: every sentence of the memory in a table. Filter as you type, click to play, edit, pin or delete."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QPushButton,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.changed import Changed
from m3desk.domain.clip import clock
from m3desk.domain.memory import StoredSentence
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.look.choice import Choice
from m3desk_ui.look.play_keys import PlayKeys
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.memory.memory_model import (
    KIND,
    PEOPLE,
    SENTENCE,
    TEXT,
    TIME,
    WEIGHT,
    MemoryFilter,
    MemoryModel,
    Part,
    Span,
    read_all,
    read_part,
)
from m3desk_ui.memory.order import number
from m3desk_ui.memory.versions_dialog import VersionsDialog

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub


MARKED = 500
"""Memories that match the words typed which are marked on the timeline, at most."""

NARROWEST, WORDS = 88, 72
"""Pixels of a choice beside the filter, and of the filter, where the window is small: the words that are typed need the room."""


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
        self.following = Following(
            hub,
            "memories",
            load=lambda: read_all,
            show=self._show,
            patch=self._changed,
            apply=self._patch,
            busy=self._editing,
            idle=self,
            parent=self,
        )
        hub.opened.connect(self._forget)
        hub.themed.connect(self._themed)
        hub.selection.selected.connect(self._follow)
        hub.selection.search_within.connect(self._search_within)
        hub.selection.span.connect(self._span_chosen)
        self._themed()
        if hub.desk is not None:
            self.following.restart()

    def _build(self) -> None:
        self.words = SearchField(self)
        self.words.textChanged.connect(lambda _text: self._wait.start())
        self.kind = Choice(self)
        self.kind.currentIndexChanged.connect(self._filter)
        self.person = Choice(self)
        for choice in (self.kind, self.person):  # a narrow window may cut them: their lists show the whole texts
            choice.setMinimumContentsLength(5)
            choice.setMinimumWidth(NARROWEST)
            choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            choice.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            choice.currentTextChanged.connect(partial(plain.tip, choice))
        self.person.currentIndexChanged.connect(self._filter)
        self.count = plain.Count(parent=self)
        self.count.setProperty("muted", True)
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 4, 10, 4)
        bar.setSpacing(8)
        bar.addWidget(self.words, 1)
        bar.addWidget(self.kind)
        bar.addWidget(self.person)
        self.within = QPushButton(self)
        self.within.clicked.connect(lambda: self._set_span(None))
        self.within.hide()
        self._span: Span | None = None
        self._marked: tuple[Span, ...] = ()
        bar.addWidget(self.count)
        chosen = QHBoxLayout()  # a row of its own: beside the filters it would make a small window wider
        chosen.setContentsMargins(6, 0, 10, 0)
        chosen.addWidget(self.within)
        chosen.addStretch(1)
        self.table = QTableView(self)
        self.table.setModel(self.proxy)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(TIME, Qt.SortOrder.AscendingOrder)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.table.setTabKeyNavigation(False)  # Tab leaves the table; the arrow keys go through it
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
        PlayKeys(self.table, self.hub.selection.toggled.emit)
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
        column_.addLayout(chosen)
        column_.addWidget(self.table, 1)
        column_.addWidget(self.empty, 1)

    def _themed(self) -> None:
        self.words.say(self.tr("Filter memories"), short=self.tr("Filter"))
        self.words.setMinimumWidth(WORDS)
        self.table.setAccessibleName(self.tr("Memories"))
        self.kind.setAccessibleName(self.tr("Kind of memory"))
        self.person.setAccessibleName(self.tr("Person"))
        rows = [(self.tr("All kinds"), None), (self.tr("Events"), "episodic"), (self.tr("Knowledge"), "semantic")]
        rows += [(f"  {texts.topic(t)}", t) for t in ("attribute", "relationship", "habit", "plot", "general")]
        self._refill(self.kind, rows)
        self.within.setIcon(theme.icon("mdi6.close"))
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
        plain.tip(box, box.currentText())

    def _fill_people(self) -> None:
        rows: list[tuple[str, str | None]] = [(self.tr("Everybody"), None)]
        names = sorted(self.model.names.items(), key=lambda n: (number(n[0]), n[0]))
        rows += [(plain.line(name, 40), id_) for id_, name in names if self.model.spoken_of[id_] > 0]
        if rows != [(self.person.itemText(i), self.person.itemData(i)) for i in range(self.person.count())]:
            self._refill(self.person, rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._size_columns()

    def _size_columns(self) -> None:
        """Give the sentences at least half of the width; hide columns that do not fit, the least important first."""
        wide, room = self.fontMetrics().averageCharWidth(), self.width()
        wanted = ((TIME, 17 if self.model.many_sources else 9), (PEOPLE, 16), (KIND, 17), (WEIGHT, 11))
        left = room // 2
        for column, chars in wanted:
            fits = wide * chars <= left
            self.table.setColumnHidden(column, not fits)
            if fits:
                self.table.setColumnWidth(column, wide * chars)
                left -= wide * chars

    # ------------------------------------------------------------ reading

    def _forget(self, _path: str) -> None:
        self.model.show([], {}, {})
        self._fill_people()
        self.words.clear()
        self.kind.setCurrentIndex(0)
        self.person.setCurrentIndex(0)
        self._span = None
        self.within.hide()
        self.following.restart()
        self._filter()

    def _editing(self) -> bool:
        """Return whether a row is being edited: an update would close the editor."""
        return self.table.state() == QAbstractItemView.State.EditingState

    def _show(self, found: tuple[list[StoredSentence], dict[str, str], dict[str, str]]) -> None:
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

    @staticmethod
    def _changed(changed: Changed) -> Read[Part] | None:
        if not (changed.nodes or changed.people or changed.sources):
            return None
        return lambda reader: read_part(reader, changed)

    def _patch(self, part: Part) -> None:
        many, seen = self.model.many_sources, self._in_view()
        with QSignalBlocker(self.table.verticalHeader()):  # else the table is painted whenever a row comes, wherever it is
            self.model.patch(part)
        self.table.updateGeometries()
        if seen != self._in_view():
            self.table.viewport().update()
        if many != self.model.many_sources:
            self._size_columns()
        self._fill_people()
        self._filter()  # who was chosen may be one with somebody else now

    def _in_view(self) -> list[StoredSentence]:
        """Return the sentences that can be seen."""
        first, last = self.table.rowAt(0), self.table.rowAt(self.table.viewport().height() - 1)
        rows = range(max(0, first), (last if last >= 0 else self.proxy.rowCount() - 1) + 1) if self.table.isVisible() else ()
        return [self.model.rows[self.proxy.mapToSource(self.proxy.index(row, 0)).row()] for row in rows]

    def _filter(self, *_: object) -> None:
        chosen = self.table.currentIndex().data(SENTENCE)
        self.proxy.wish(self.words.text(), self.kind.currentData(), self.person.currentData(), self._span)
        self._mark_found()
        if chosen is not None and not self.table.currentIndex().isValid():
            self._mark(chosen.id)
        self._count()

    def _search_within(self, source: str, start: int, end: int) -> None:
        self._set_span((source, start, end))

    def _span_chosen(self, _source: str, start: int, end: int) -> None:
        """Show all again once the span is taken back."""
        if end <= start and self._span is not None:
            self._set_span(None)

    def _set_span(self, span: Span | None) -> None:
        """Show only what is in a span, and say so on a button that takes it back."""
        self._span = span
        self.within.setVisible(span is not None)
        if span is not None:
            self.within.setText(f"{clock(span[1])} – {clock(span[2])}")
            told = self.tr("Only from %1; show all").replace("%1", self.within.text())
            self.within.setAccessibleName(plain.line(told))
            plain.tip(self.within, told)
        self._filter()

    def _mark_found(self) -> None:
        """Mark on the timeline what holds the words that were typed."""
        found: tuple[Span, ...] = ()
        if self.proxy.words:
            rows = (self.proxy.index(n, 0).data(SENTENCE) for n in range(min(MARKED, self.proxy.rowCount())))
            found = tuple((row.source, row.start, row.end) for row in rows)
        if found != self._marked:
            self._marked = found
            self.hub.selection.highlighted.emit(found)

    def _count(self) -> None:
        """Show the number of rows, and how many match the filter."""
        shown, total = self.proxy.rowCount(), self.model.rowCount()
        self.count.setText(str(total) if shown == total else self.tr("%1 of %2").replace("%1", str(shown)).replace("%2", str(total)))
        self.table.setVisible(bool(shown))
        self.empty.setVisible(not shown)
        if total:
            self.empty.setText(self.tr("No memory matches this filter."))
        elif self.hub.desk is not None and not self.following.loaded:
            self.empty.setText(self.tr("Reading the memory …"))
        else:
            self.empty.setText(self.tr("Nothing is remembered yet. Memories appear as clips are memorized."))

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
        row = self.model.row_of(id_)
        if row >= 0:
            index = self.proxy.mapFromSource(self.model.index(row, TEXT))
            if index.isValid() and index.row() != self.table.currentIndex().row():
                self.table.setCurrentIndex(index)
                self.table.scrollTo(index)

    def _menu(self, where: QPoint) -> None:
        index = self.table.indexAt(where)
        if not index.isValid():
            return
        row: StoredSentence = index.data(SENTENCE)
        menu = QMenu(self)
        menu.addAction(self.tr("Play"), lambda: self._play(row))
        menu.addAction(self.tr("Where does this come from?"), lambda: self._why(row))
        menu.addAction(self.tr("Show in the graph"), lambda: self._reveal(row, "graph"))
        if row.clip:
            menu.addAction(self.tr("Write this clip again…"), lambda: self.rewrite(row.clip))
        menu.addSeparator()
        menu.addAction(self.tr("Edit…"), lambda: self.edit(row))
        menu.addAction(self.tr("Unpin") if row.pinned else self.tr("Pin"), lambda: self.pin(row))
        menu.addAction(self.tr("Delete"), lambda: self.delete(row))
        menu.popup(self.table.viewport().mapToGlobal(where))

    def rewrite(self, clip: str) -> None:
        """Open the dialog that has a clip written again by another writer, and compares both."""
        VersionsDialog(self.hub, clip, self).show()

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
        """Pin or unpin a memory."""
        self.hub.correct("pin", {"node": row.id, "pinned": not row.pinned})

    def delete(self, row: StoredSentence) -> None:
        """Delete a memory; the notice offers to undo it."""
        self.hub.correct("delete", {"node": row.id})
