"""The sentences of the memory as a table model, with the rows that fit what the user filters by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon
from PySide6.QtWidgets import QWidget

from m3desk.domain.changed import Changed
from m3desk.domain.clip import clock
from m3desk.domain.memory import StoredSentence
from m3desk_ui.graph import style
from m3desk_ui.hub.sorted_rows import SortedRows
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.memory.filtered_rows import FilteredRows
from m3desk_ui.memory.order import in_time, sentences

if TYPE_CHECKING:
    from m3desk.ports import Reader

Index = QModelIndex | QPersistentModelIndex
SENTENCE = Qt.ItemDataRole.UserRole + 1
TIME, TEXT, PEOPLE, KIND, WEIGHT = range(5)
Span = tuple[str, int, int]
"""A source, and start and end in it in microseconds."""


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
