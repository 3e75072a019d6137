"""The memories dock: every sentence of the memory in a table. Filter as you type, click to play, edit, pin or delete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QKeyEvent, QResizeEvent
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
from m3desk_ui.graph import style
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.hub.sorted_rows import SortedRows
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.look.choice import Choice
from m3desk_ui.look.play_keys import PlayKeys
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.memory.filtered_rows import FilteredRows
from m3desk_ui.memory.order import in_time, number, sentences
from m3desk_ui.memory.versions_dialog import VersionsDialog

if TYPE_CHECKING:
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub

Index = QModelIndex | QPersistentModelIndex
SENTENCE = Qt.ItemDataRole.UserRole + 1
TIME, TEXT, PEOPLE, KIND, WEIGHT = range(5)
Span = tuple[str, int, int]
"""A source, and start and end in it in microseconds."""

MARKED = 500
"""Memories that match the words typed which are marked on the timeline, at most."""

NARROWEST, WORDS = 88, 72
"""Pixels of a choice beside the filter, and of the filter, where the window is small: the words that are typed need the room."""


@dataclass(frozen=True, slots=True)
class Part:
    """What changed: ids of sentences, those of them that are in force, ids of people with the names they go by, and files."""

    ids: frozenset[str]
    rows: Sequence[StoredSentence]
    people: frozenset[str]
    names: dict[str, str]
    files: dict[str, str]


def read_all(reader: Reader) -> tuple[list[StoredSentence], dict[str, str], dict[str, str]]:
    """Read all sentences, who goes by which name, and the files (in the reading thread)."""
    return reader.memories(), {p.id: p.shown for p in reader.people()}, _files(reader)


def read_part(reader: Reader, changed: Changed) -> Part:
    """Read what a commit changed of them."""
    ids = sentences(changed)
    names = {p.id: p.shown for p in reader.people_of(changed.people)} if changed.people else {}
    rows = reader.memories_of(ids) if ids else []
    return Part(ids, rows, changed.people, names, _files(reader) if changed.sources else {})


def _files(reader: Reader) -> dict[str, str]:
    return {s.id: s.uri.rsplit("/", 1)[-1] for s in reader.sources()}


class MemoryModel(QAbstractTableModel):
    """Rows are StoredSentences. Editing the text of a row asks for a correction."""

    edited = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sorted = SortedRows[StoredSentence, str](self, lambda row: row.id, in_time, self._hay, columns=WEIGHT + 1)
        self.names: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.spoken_of: Counter[str] = Counter()
        """In how many rows each person is."""
        self._of_source: Counter[str] = Counter()
        self._icons: dict[str, QIcon] = {}

    @property
    def rows(self) -> list[StoredSentence]:
        return self._sorted.rows

    @property
    def hay(self) -> list[str]:
        """Return the searchable text of each row."""
        return self._sorted.extra

    @property
    def many_sources(self) -> bool:
        return len(self._of_source) > 1

    def row_of(self, id_: str) -> int:
        """Return the row of a sentence, −1 where it is not here."""
        return self._sorted.row_of(id_)

    def show(self, rows: Sequence[StoredSentence], names: dict[str, str], files: dict[str, str]) -> None:
        """Take new rows in place of all."""
        self.names, self.files = names, files
        self.spoken_of = Counter(p for r in rows for p in set(r.people))
        self._of_source = Counter(r.source for r in rows)
        self._sorted.show(rows)

    def patch(self, part: Part) -> None:
        """Take the rows that changed, and nothing else."""
        renamed = {id_ for id_, name in part.names.items() if self.names.get(id_, name) != name}
        for id_ in part.people:
            self.names.pop(id_, None)
        self.names |= part.names
        self.files |= part.files
        rows = {r.id: r for r in part.rows}
        if renamed:  # their other sentences are as they were, only the column of people is not
            rows = {r.id: r for r in self.rows if r.id not in part.ids and renamed.intersection(r.people)} | rows
        gone = [id_ for id_ in part.ids if id_ not in rows]
        for id_ in {*gone, *rows}:
            if (old := self._sorted.get(id_)) is not None:
                self.spoken_of.subtract(set(old.people))
                self._of_source[old.source] -= 1
        for row in rows.values():
            self.spoken_of.update(set(row.people))
            self._of_source[row.source] += 1
        self._of_source = +self._of_source
        self._sorted.patch(rows.values(), gone)

    def _hay(self, row: StoredSentence) -> str:
        """Return the text that the filter searches."""
        return f"{row.shown} {' '.join(self.names.get(p, p) for p in row.people)} {row.topic or ''} {row.kind}".casefold()

    def fitting(
        self, words: Sequence[str], kind: str | None, person: str | None, among: Sequence[int], span: Span | None = None
    ) -> Sequence[int]:
        """Return those of these rows that hold all these words and are of this kind, person and span (None: of all)."""
        found, hay, rows = among, self.hay, self.rows
        for word in words:
            if len(found) == len(hay) and isinstance(found, range):
                found = [n for n, text in enumerate(hay) if word in text]
            else:
                found = [n for n in found if word in hay[n]]
        if kind:
            found = [n for n in found if kind in (rows[n].kind, rows[n].topic)]
        if span is not None:
            source, start, end = span
            found = [n for n in found if rows[n].source == source and rows[n].start < end and rows[n].end > start]
        return [n for n in found if person in rows[n].people] if person else found

    def keys(self, column: int, among: Sequence[int]) -> list[Any] | None:
        """Return what each of these rows is sorted by; None for time, in which they are."""
        rows = self.rows
        if column == TEXT:
            return [rows[n].shown for n in among]
        if column == PEOPLE:
            return [self._people(rows[n]) for n in among]
        if column == KIND:
            return [(rows[n].kind, rows[n].topic or "") for n in among]
        return [rows[n].weight for n in among] if column == WEIGHT else None

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
            return texts.moment(row.source, row.start) if self.many_sources else clock(row.start)
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
        self.within: Span | None = None
        super().__init__(model, lambda among: model.fitting(self.words, self.kind, self.person, among, self.within), model.keys, parent)

    def wish(self, words: str, kind: str | None, person: str | None, span: Span | None = None) -> None:
        """Show what holds these words, of this kind, person and span (None: of all)."""
        wished = (tuple(words.casefold().split()), kind, person, span)
        before = self.words, self.kind, self.person, self.within
        if wished != before:
            self.words, self.kind, self.person, self.within = wished
            longer = all(any(old in new for new in self.words) for old in before[0])
            narrower = all(old in (None, new) for old, new in zip(before[1:], wished[1:], strict=True))
            self.fit(narrower=longer and narrower)


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
