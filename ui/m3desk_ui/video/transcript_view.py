"""The transcript: highlights the current line, a click on a word seeks to it, *This is…* names the speaker.

What is not heard clearly is dotted underlined, and its tooltip says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.clear_speech import is_unclear
from m3desk.domain.clip import clock
from m3desk.domain.people import SpeechRow
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.hub.sorted_rows import SortedRows
from m3desk_ui.look import plain, theme
from m3desk_ui.look.play_keys import PlayKeys
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.video.face_chip import FaceChip
from m3desk_ui.video.line_list import LineList

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub

ROW = Qt.ItemDataRole.UserRole
MARGIN, GUTTER, HEAD = 10, 46, 20
"""Pixels: around a row, for the time, for the speaker's line."""
Index = QModelIndex | QPersistentModelIndex


class Lines(QAbstractListModel):
    """Utterances of one source, in time order."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sorted = SortedRows[SpeechRow, None](self, _id, _place, lambda _row: None)
        self.rows = self._sorted.rows
        self.unclear = ""
        self._names: dict[str, str] = {}
        """What people are called in the rows."""

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return plain.line(f"{clock(row.utterance.start)} {row.shown}: {row.utterance.text}", 4 * plain.LINE)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return self.unclear if is_unclear(row.utterance) else ""
        return None

    def show(self, rows: Sequence[SpeechRow]) -> None:
        """Replace all rows."""
        self._names = {row.person: row.shown for row in rows if row.person}
        self._sorted.show(rows)

    def patch(self, part: Part) -> None:
        """Update the changed rows and the names of their speakers."""
        rows = {_id(r): r for r in part.rows}
        renamed = {person: name for person, name in part.names.items() if self._names.get(person) != name}
        if renamed:
            for row in self.rows:
                name = renamed.get(row.person or "", row.shown)
                if name != row.shown and _id(row) not in part.ids:
                    rows[_id(row)] = replace(row, shown=name)
        self._names |= part.names | {row.person: row.shown for row in part.rows if row.person}
        self._sorted.patch(rows.values(), part.ids)


@dataclass(frozen=True, slots=True)
class Part:
    """What changed: ids of utterances, those of them that are lines of the source on show, and the names of people (id → shown)."""

    ids: frozenset[str]
    rows: Sequence[SpeechRow]
    names: dict[str, str]


def _id(row: SpeechRow) -> str:
    return row.utterance.id


def _place(row: SpeechRow) -> tuple[int, str]:
    return row.utterance.start, row.utterance.id


class _Paint(QStyledItemDelegate):
    """Paints a line (time, speaker, words) and finds the word at a point."""

    def __init__(self, view: QAbstractItemView, lines: Lines) -> None:
        super().__init__(view)
        self._view, self._lines = view, lines
        self.at = -1
        self.find = ""

    def _layout(self, row: SpeechRow, width: float) -> QTextLayout:
        layout = QTextLayout(plain.visible(row.utterance.text)[: plain.PARAGRAPH], self._view.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(40.0, width))
            line.setPosition(QPointF(0, y))
            y += line.height()
        layout.endLayout()
        return layout

    def _text_width(self) -> float:
        return self._view.viewport().width() - 2 * MARGIN - GUTTER

    def height(self, row: SpeechRow) -> int:
        """Return the height of a line."""
        return round(self._layout(row, self._text_width()).boundingRect().height()) + HEAD + MARGIN

    def heights(self) -> NDArray[np.int64]:
        """Return about how high each line is, by the number of its characters."""
        metrics = QFontMetricsF(self._view.font())
        wide = np.array([len(r.utterance.text) for r in self._lines.rows], np.float64) * metrics.averageCharWidth()
        lines = np.maximum(1, np.ceil(wide / max(40.0, self._text_width())))
        return (lines * metrics.height()).astype(np.int64) + HEAD + MARGIN

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(self._view.viewport().width(), self.height(self._lines.rows[index.row()]))

    def word_at(self, row: SpeechRow, area: QRectF, point: QPointF) -> int | None:
        """Return the time of the word under a point; None if the point is outside of the text."""
        layout = self._layout(row, self._text_width())
        inside = point - QPointF(area.x() + MARGIN + GUTTER, area.y() + HEAD)
        for i in range(layout.lineCount()):
            line = layout.lineAt(i)
            if line.rect().top() <= inside.y() < line.rect().bottom() and inside.x() >= 0:
                return said_at(row, line.xToCursor(inside.x(), _ON_CHARACTER))
        return None

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: SpeechRow = index.data(ROW)
        c = theme.colours()
        r = QRectF(option.rect)
        now = row.utterance.start <= self.at < row.utterance.end
        p.save()
        if now:
            p.fillRect(r, QColor(c.raised))
            p.fillRect(QRectF(r.x(), r.y(), 3, r.height()), QColor(c.accent))
        elif option.state & QStyle.StateFlag.State_Selected or option.state & QStyle.StateFlag.State_MouseOver:
            p.fillRect(r, QColor(c.window))
        p.setFont(self._view.font())
        p.setPen(QColor(c.muted))
        top = QRectF(r.x() + MARGIN, r.y() + 2, r.width() - 2 * MARGIN, HEAD)
        p.drawText(
            QRectF(top.x(), r.y() + HEAD, GUTTER, HEAD), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, clock(row.utterance.start)
        )
        bold = QFont(self._view.font())
        bold.setBold(True)
        p.setFont(bold)
        p.setPen(theme.readable(theme.person_colour(row.person)))
        name = QFontMetricsF(bold).elidedText(plain.line(row.shown) or "—", Qt.TextElideMode.ElideRight, top.width() - GUTTER)
        p.drawText(top.adjusted(GUTTER, 0, 0, 0), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        p.setFont(self._view.font())
        layout = self._layout(row, self._text_width())
        p.setPen(QColor(c.muted if row.set_aside else c.text))
        layout.draw(p, QPointF(r.x() + MARGIN + GUTTER, r.y() + HEAD), self._marks(row, now))
        p.restore()

    def _marks(self, row: SpeechRow, now: bool) -> list[QTextLayout.FormatRange]:
        c = theme.colours()
        spans: list[tuple[int, int, str, str]] = []
        if now:
            span = _word_span(row, self.at)
            if span is not None:
                spans.append((*span, c.accent, c.on_accent))
        if self.find:
            low, start = row.utterance.text.lower(), 0
            while (start := low.find(self.find, start)) >= 0:
                spans.append((start, len(self.find), c.warn, c.surface))
                start += len(self.find)
        marks = []
        if is_unclear(row.utterance):
            mark = QTextLayout.FormatRange()
            mark.start, mark.length = 0, len(row.utterance.text)
            form = mark.format
            form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            form.setUnderlineColor(QColor(c.muted))
            mark.format = form
            marks.append(mark)
        for start, length, back, ink in spans:
            mark = QTextLayout.FormatRange()
            mark.start, mark.length = start, length
            form = mark.format
            form.setBackground(QColor(back))
            form.setForeground(QColor(ink))
            mark.format = form
            marks.append(mark)
        return marks


_ON_CHARACTER = QTextLine.CursorPosition.CursorOnCharacter


def _word_starts(row: SpeechRow) -> list[int]:
    """Return where each word begins in the text (words are found in order; one that is not found gets the previous word's place)."""
    starts, at = [], 0
    for word in row.utterance.words:
        found = row.utterance.text.find(word.text.strip(), at)
        at = found if found >= 0 else at
        starts.append(at)
        at += len(word.text.strip()) if found >= 0 else 0
    return starts


def _word_span(row: SpeechRow, at: int) -> tuple[int, int] | None:
    """Return (start, length) in the text of the word spoken at a time."""
    for word, start in zip(row.utterance.words, _word_starts(row), strict=True):
        if word.start <= at < word.end:
            return start, len(word.text.strip())
    return None


def said_at(row: SpeechRow, character: int) -> int:
    """Return the time of the word at a character position."""
    when = row.utterance.start
    for word, start in zip(row.utterance.words, _word_starts(row), strict=True):
        if start <= character:
            when = word.start
    return when


class TranscriptView(QWidget):
    """The transcript of the source being watched."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._source = ""
        self.lines = Lines(self)
        self.list = LineList(lambda row: self.paint.height(self.lines.rows[row]), lambda: self.paint.heights())
        self.paint = _Paint(self.list, self.lines)
        self.list.setModel(self.lines)
        PlayKeys(self.list, hub.selection.toggled.emit)
        self.list.setAccessibleName(self.tr("Transcript"))
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setMouseTracking(True)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.setItemDelegate(self.paint)
        self.list.viewport().installEventFilter(self)
        self.list.activated.connect(lambda index: self._play(index.data(ROW)))
        self.mend = QAction(self.list)
        self.mend.setShortcut(QKeySequence(Qt.Key.Key_F2))
        self.mend.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.mend.triggered.connect(self._correct_current)
        self.list.addAction(self.mend)
        self.search = SearchField()
        self.search.say(self.tr("Find words"))
        self.search.textChanged.connect(self._find)
        self.search.returnPressed.connect(self._find_next)
        self.follow = QToolButton()
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        plain.tip(self.follow, self.tr("Follow the picture"))
        self.follow.setAccessibleName(self.tr("Follow the picture"))
        self._empty = plain.Label()
        self._empty.setProperty("muted", True)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        top = QHBoxLayout()
        top.setContentsMargins(6, 6, 6, 4)
        top.addWidget(self.search, 1)
        top.addWidget(self.follow)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._empty, 1)
        column.addWidget(self.list, 1)
        self.list.hide()
        self.following = Following(hub, "transcript", load=self._load, show=self._take, patch=self._changed, apply=self._patch, parent=self)
        hub.opened.connect(lambda _p: self._clear())
        hub.source_changed.connect(lambda _event: self._tell_empty())
        hub.selection.watching.connect(self._watch)
        hub.themed.connect(self.retheme)
        self.retheme()
        if hub.desk is not None:
            self.following.restart()

    def retheme(self) -> None:
        self.follow.setIcon(theme.icon("mdi6.arrow-collapse-down"))
        self.mend.setText(self.tr("Correct the words…"))
        self.lines.unclear = self.tr("Heard unclearly: these words may be wrong. F2 corrects them, the menu confirms them.")
        self.list.forget()

    def focus_find(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _load(self) -> Read[tuple[str, list[SpeechRow]]]:
        source = self._source or self._hub.selection.at[0]
        return lambda reader: _lines(reader, source)

    def _changed(self, changed: Changed) -> Read[Part] | None:
        if not self._source:  # no source was there yet
            if changed.sources:
                self.following.restart()
            return None
        mine = frozenset(o for o in changed.observations if o.startswith(f"{self._source}."))
        people = changed.people
        return (lambda reader: _part(reader, mine, people)) if mine or people else None

    def _clear(self) -> None:
        self._source = ""
        self.search.clear()
        self._take(("", []))
        self.following.restart()

    def _take(self, found: tuple[str, list[SpeechRow]]) -> None:
        self._source, rows = found
        self.lines.show(rows)
        self._show_empty()

    def _patch(self, part: Part) -> None:
        self.lines.patch(part)
        self._show_empty()

    def _show_empty(self) -> None:
        self.list.setVisible(bool(self.lines.rows))
        self._empty.setVisible(not self.lines.rows)
        self._tell_empty()

    def _tell_empty(self) -> None:
        """Say whether words may still come: not of a video that is memorized, nor of an imported graph without them."""
        if self.lines.rows:
            return
        source = self._source

        def tell(state: str) -> None:
            done = self.tr("This memory holds no words spoken in this video.")
            self._empty.setText(done if state == "done" else self.tr("What is said appears here as clips are memorized."))

        if self._hub.desk is None or not source:
            tell("")
            return
        self._hub.read("transcript state", lambda reader: next((s.state for s in reader.sources() if s.id == source), ""), tell)

    def _watch(self, source: str, at: int) -> None:
        if source != self._source:
            self._source = source
            self.following.restart()
            return
        before, self.paint.at = self._line_at(self.paint.at), at
        now = self._line_at(at)
        for i in {before, now} - {None}:
            self.list.update(self.lines.index(i or 0))
        if now is not None and now != before:
            self._scroll_to_now()

    def _scroll_to_now(self) -> None:
        """Scroll to the current line, unless the user reads elsewhere. (A hidden list has no layout to scroll in.)"""
        now = self._line_at(self.paint.at)
        if now is not None and self.isVisible() and self.follow.isChecked() and not self.list.underMouse():
            self.list.scrollTo(self.lines.index(now), QAbstractItemView.ScrollHint.EnsureVisible)

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        QTimer.singleShot(60, self, self._scroll_to_now)

    def _line_at(self, at: int) -> int | None:
        """Return the row spoken at a time (if two overlap, the one that starts last)."""
        low, high = 0, len(self.lines.rows)
        while low < high:
            middle = (low + high) // 2
            if self.lines.rows[middle].utterance.start <= at:
                low = middle + 1
            else:
                high = middle
        if low and at < self.lines.rows[low - 1].utterance.end:
            return low - 1
        return None

    # ------------------------------------------------------------ acting

    def eventFilter(self, watched: Any, event: Any) -> bool:
        if event.type() == event.Type.MouseButtonRelease and isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            self._clicked(event.position())
        return isinstance(event, QHelpEvent) and event.type() == event.Type.ToolTip and self._explained(event)

    def _explained(self, event: QHelpEvent) -> bool:
        """Say what is dotted underlined of the line under the mouse, if it is; return whether it is."""
        index = self.list.indexAt(event.pos())
        unclear = index.isValid() and is_unclear(index.data(ROW).utterance)
        if unclear:
            plain.show_tip(event.globalPos(), self.lines.unclear, self.list.viewport(), self.list.visualRect(index))
        return unclear

    def _clicked(self, point: QPointF) -> None:
        index = self.list.indexAt(point.toPoint())
        if not index.isValid():
            return
        row: SpeechRow = index.data(ROW)
        area = QRectF(self.list.visualRect(index))
        self._hub.selection.select("observation", row.utterance.id)
        if point.y() - area.y() < HEAD:  # on the speaker's name
            self.name_speaker(row, self.list.viewport().mapToGlobal(point.toPoint()))
            return
        when = self.paint.word_at(row, area, point)
        self._hub.selection.play(self._source, when if when is not None else row.utterance.start)

    def _play(self, row: SpeechRow) -> None:
        self._hub.selection.play(self._source, row.utterance.start)

    def name_speaker(self, row: SpeechRow, where: QPoint) -> None:
        """Open *This is…* on a speaker."""
        self.chip = FaceChip(self._hub, row.utterance.id, row.person, row.shown, speech=True, parent=self)
        self.chip.open_at(where)

    def _menu(self, point: QPoint) -> None:
        index = self.list.indexAt(point)
        if not index.isValid():
            return
        self.list.setCurrentIndex(index)
        row: SpeechRow = index.data(ROW)
        where = self.list.viewport().mapToGlobal(point)
        menu = QMenu(self)
        menu.addAction(self.tr("Play from here"), lambda: self._play(row))
        menu.addAction(self.mend)
        menu.addAction(self.tr("These words are right"), lambda: self._confirm(row)).setEnabled(is_unclear(row.utterance))
        menu.addAction(self.tr("This is…"), lambda: self.name_speaker(row, where))
        menu.addAction(self.tr("Not speech"), lambda: self._hub.correct("set-aside", {"observations": [row.utterance.id]}))
        menu.addAction(self.tr("Show in the inspector"), lambda: self._inspect(row))
        menu.popup(where)

    def _correct_current(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.correct_words(index.data(ROW))

    def correct_words(self, row: SpeechRow) -> None:
        """Ask what was really said; sentences that quote the old words are marked as stale."""
        said = plain.edited(self, self.tr("Correct the words"), self.tr("What was said?"), row.utterance.text)
        if said is not None:
            self._hub.correct("words", {"observation": row.utterance.id, "text": said})

    def _confirm(self, row: SpeechRow) -> None:
        """Say that words that were not heard clearly are right: the same words again."""
        self._hub.correct("words", {"observation": row.utterance.id, "text": row.utterance.text})

    def _inspect(self, row: SpeechRow) -> None:
        self._hub.selection.select("observation", row.utterance.id)
        self._hub.selection.wanted.emit("inspector")

    # ------------------------------------------------------------ finding

    def _find(self, text: str) -> None:
        self.paint.find = text.strip().lower()
        self._found = -1
        self.list.viewport().update()
        if self.paint.find:
            self._find_next()

    _found = -1

    def _find_next(self) -> None:
        """Scroll to the next line that contains the search text, wrapping around."""
        count = len(self.lines.rows)
        for k in range(1, count + 1):
            i = (self._found + k) % count
            if self.paint.find and self.paint.find in self.lines.rows[i].utterance.text.lower():
                self._found = i
                self.list.scrollTo(self.lines.index(i), QAbstractItemView.ScrollHint.PositionAtCenter)
                return


def _lines(reader: Reader, source: str) -> tuple[str, list[SpeechRow]]:
    if not source:
        sources = reader.sources()
        source = sources[0].id if sources else ""
    return source, [r for r in reader.speech(source) if _is_line(r)] if source else []


def _part(reader: Reader, ids: frozenset[str], people: frozenset[str]) -> Part:
    rows = [r for r in reader.speech_of(ids) if _is_line(r)] if ids else []
    return Part(ids, rows, {p.id: p.shown for p in reader.people_of(people)} if people else {})


def _is_line(row: SpeechRow) -> bool:
    return not row.set_aside and bool(row.utterance.text)
