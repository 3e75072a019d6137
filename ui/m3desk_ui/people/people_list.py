"""The people list: the item model of persons and the delegate that paints their portraits, names and times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QCoreApplication,
    QElapsedTimer,
    QEvent,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPalette, QPen, QPixmap, QPixmapCache
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from m3desk.domain.people import Person
from m3desk_ui.hub.sorted_rows import SortedRows
from m3desk_ui.look import plain, texts, theme

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel

    from m3desk_ui.hub.bridge import Hub

Index = QModelIndex | QPersistentModelIndex
PERSON = Qt.ItemDataRole.UserRole + 1
MIME = "application/x-m3desk-person"
NAME = 20_000
"""Code points of a name that an editor is given: all of it."""
HEAD = 44
ROW = 60
LARGE, CELL, CELL_HEIGHT = 84, 116, 142
"""Pixels of a face in the grid, and of its cell."""
LEAST = 120
"""Pixels that a row of the list needs; it is as wide as the list, and what does not fit is cut with an ellipsis."""
KEPT = 64
"""Rows of the list that are kept as they were painted: more than are on show."""


def fallback_head(person: str, letter: str, size: int, ratio: float) -> QPixmap:
    """Return a disc in the person's colour with a letter: for a voice without a face, or until the picture is here."""
    key = f"head {person} {letter} {size} {ratio} {theme.colours().dark}"
    kept = QPixmap()
    if QPixmapCache.find(key, kept):
        return kept
    pixmap = QPixmap(round(size * ratio), round(size * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.person_colour(person))
    painter.drawEllipse(QRectF(0.5, 0.5, size - 1, size - 1))
    font = QFont(painter.font())
    font.setPixelSize(max(9, size * 2 // 5))
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    painter.setPen(QColor("#101418") if theme.colours().dark else QColor("#ffffff"))
    painter.drawText(QRectF(0, 0, size, size), int(Qt.AlignmentFlag.AlignCenter), letter)
    painter.end()
    QPixmapCache.insert(key, pixmap)
    return pixmap


def initial(person: Person) -> str:
    """Return the text of a portrait without a picture: the first letter of a name, or the number."""
    return plain.visible(person.shown[:1]).upper() if person.name_state != "none" else str(person.number)


def times_of(person: Person) -> str:
    """Return screen and speech time in words."""
    translate, parts = QCoreApplication.translate, []
    if person.screen_time:
        parts.append(translate("PeopleModel", "seen %1").replace("%1", texts.presence(person.screen_time)))
    if person.speech_time:
        parts.append(translate("PeopleModel", "speaks %1").replace("%1", texts.presence(person.speech_time)))
    return " · ".join(parts) or translate("PeopleModel", "not seen or heard yet")


def most_present(person: Person) -> tuple[bool, int, int, str]:
    """Return the sort key of a person: most seen and heard first, hidden people last."""
    return person.ignored, -(person.screen_time + person.speech_time), person.number, person.id


class PeopleModel(QAbstractListModel):
    """Persons, most seen and heard first. Editing a row names the person; dropping one on another asks to merge them."""

    named = Signal(str, str)
    merged = Signal(str, str)
    """The person to keep, the other."""

    def __init__(self, hub: Hub, parent: QWidget | None = None, *, first: frozenset[str] = frozenset()) -> None:
        """`first`: ids of persons who stand before all others."""
        super().__init__(parent)
        self._hub = hub
        self.first = first
        self._sorted = SortedRows[Person, None](
            self, lambda person: person.id, lambda person: (person.id not in first, *most_present(person)), lambda _person: None
        )
        self._with_portrait: dict[str, set[str]] = {}
        hub.pictures.ready.connect(self._arrived)

    @property
    def people(self) -> list[Person]:
        return self._sorted.rows

    def show(self, people: Iterable[Person]) -> None:
        """Replace all rows."""
        self._sorted.show(people)
        self._with_portrait.clear()
        self._note_portraits(self.people)

    def patch(self, people: Sequence[Person], gone: Iterable[str]) -> None:
        """Insert or change these rows, and remove others."""
        self._note_portraits(people)
        self._sorted.patch(people, gone)

    def _note_portraits(self, people: Iterable[Person]) -> None:
        for person in people:
            if person.portrait:
                self._with_portrait.setdefault(person.portrait, set()).add(person.id)

    def _arrived(self, media: str) -> None:
        for id_ in self._with_portrait.get(media, ()):
            if (row := self.row_of(id_)) >= 0:
                self.dataChanged.emit(self.index(row), self.index(row))

    def row_of(self, person: str) -> int:
        return self._sorted.row_of(person)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.people)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        person = self.people[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return plain.line(person.shown)
        if role == Qt.ItemDataRole.EditRole:
            return plain.line(person.name or (person.suggested_names[0].name if person.suggested_names else ""), NAME)
        if role == PERSON:
            return person
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain.tip_text(self._tip(person))
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            return plain.line(f"{person.shown}, {self.times(person)}")
        return None

    def _tip(self, person: Person) -> str:
        lines = [f"{person.shown} · {self.times(person)}"]
        for name in person.suggested_names[:3]:
            lines.append(self.tr("Maybe %1: “%2”").replace("%1", name.name).replace("%2", name.words))
        return "\n".join(lines)

    def times(self, person: Person) -> str:
        """Return screen and speech time in words."""
        return times_of(person)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        text = str(value).strip()
        person = self.people[index.row()]
        if role != Qt.ItemDataRole.EditRole or not text or text in (person.name, plain.line(person.name or "", NAME)):
            return False
        self.named.emit(person.id, text)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        base = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.isValid():
            base |= Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemIsDropEnabled
        return base

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        data.setData(MIME, QByteArray(self.people[indexes[0].row()].id.encode()))
        return data

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.LinkAction | Qt.DropAction.MoveAction

    def canDropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        if not data.hasFormat(MIME) or not parent.isValid():
            return False
        return bytes(data.data(MIME).data()).decode() != self.people[parent.row()].id

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        if self.canDropMimeData(data, action, row, column, parent):
            self.merged.emit(self.people[parent.row()].id, bytes(data.data(MIME).data()).decode())
        # False: the view must not remove the dragged row; the merge arrives as news from the engine.
        return False


POINTED_MS = 1500
"""For so long after the mouse was moved over the list its rows stay where they are; longest time between pointing and clicking."""


class PeopleList(QListView):
    """A list or grid of equal cells: what one shows may change without all being laid out and painted again.

    `merge_wanted`: M was pressed while somebody is selected.
    """

    merge_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._moved = QElapsedTimer()
        self.setUniformItemSizes(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)

    def is_pointed_at(self) -> bool:
        """Return whether the mouse was moved over the list a moment ago, or drags: a click or drop is meant for what is there now."""
        moved = self._moved.isValid() and self._moved.elapsed() < POINTED_MS
        return moved or self.state() == QAbstractItemView.State.DraggingState

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._moved.start()
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._moved.invalidate()
        super().mousePressEvent(event)

    def show_grid(self, grid: bool) -> None:
        """Show faces in a grid, or rows. (Qt's icon mode has settings of its own for dragging, which are put back.)"""
        if grid == (self.viewMode() == QListView.ViewMode.IconMode):
            return
        dragged = self.dragEnabled(), self.acceptDrops(), self.dragDropMode()
        self.setViewMode(QListView.ViewMode.IconMode if grid else QListView.ViewMode.ListMode)
        self.setMovement(QListView.Movement.Static)
        self.setWrapping(grid)
        self.setDragEnabled(dragged[0])
        self.setAcceptDrops(dragged[1])
        self.setDragDropMode(dragged[2])
        delegate = self.itemDelegate()
        if isinstance(delegate, PersonDelegate):
            delegate.grid = grid
        self.scheduleDelayedItemsLayout()

    def people(self) -> list[Person]:
        """Return who is selected, in list order."""
        return [index.data(PERSON) for index in sorted(self.selectedIndexes(), key=lambda i: i.row())]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_M and not event.modifiers() and self.selectedIndexes():
            self.merge_wanted.emit()
        else:
            super().keyPressEvent(event)

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        # QListView would lay out all rows; its base class paints the changed ones.
        QAbstractItemView.dataChanged(self, first, last, list(roles))


class PersonDelegate(QStyledItemDelegate):
    """Paints head, name and times; a suggested name has a button that confirms it.

    A row that is neither selected nor under the mouse is kept as a picture: when people change places, all of them are painted.
    """

    confirmed = Signal(str, str)

    def __init__(self, hub: Hub, parent: QWidget | None = None, *, confirms: bool = True) -> None:
        super().__init__(parent)
        self._hub, self._confirms = hub, confirms
        self._kept: dict[tuple[Any, ...], QPixmap] = {}
        self.editing = self.grid = False
        self.closeEditor.connect(lambda *_: self._end())

    def _end(self) -> None:
        self.editing = False

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(CELL, CELL_HEIGHT) if self.grid else QSize(LEAST, ROW)

    def _confirm_box(self, option: QStyleOptionViewItem) -> QRect:
        rect: QRect = option.rect
        if self.grid:
            return QRect(rect.right() - 34, rect.top() + 8, 26, 26)
        wide = option.fontMetrics.horizontalAdvance(self.tr("Yes")) + 22
        return QRect(rect.right() - wide - 10, rect.center().y() - 13, wide, 26)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        person: Person = index.data(PERSON)
        times = times_of(person)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        ratio = painter.device().devicePixelRatioF()
        reached = bool(option.state & QStyle.StateFlag.State_HasFocus) and not chosen
        if chosen or hovered or reached or ratio % 1:
            self._paint_row(painter, option, person, times, chosen, hovered)
            if reached:  # by keyboard; Space would select it
                painter.setPen(theme.colours().accent)
                painter.drawRoundedRect(QRectF(option.rect).adjusted(4.5, 2.5, -4.5, -2.5), 8, 8)
            return
        rect: QRect = option.rect
        background = option.palette.color(QPalette.ColorRole.Base)
        suggested = bool(person.suggested_names)
        picture = self._hub.pictures.get(person.portrait, round((LARGE if self.grid else HEAD) * ratio))
        key = (
            person.id, person.shown, person.name_state, suggested, person.ignored, times, picture.cacheKey() if picture is not None else 0,
            rect.width(), rect.height(), self.grid, ratio, option.font.key(), background.rgb(), theme.colours().dark,
        )  # fmt: skip
        row = self._kept.get(key)
        if row is None:
            row = QPixmap(round(rect.width() * ratio), round(rect.height() * ratio))
            row.setDevicePixelRatio(ratio)
            row.fill(background)
            there = QStyleOptionViewItem(option)
            there.rect = QRect(0, 0, rect.width(), rect.height())
            on_row = QPainter(row)
            self._paint_row(on_row, there, person, times, False, False)
            on_row.end()
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = row
        painter.drawPixmap(rect.topLeft(), row)

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, person: Person, times: str, chosen: bool, hovered: bool) -> None:
        c = theme.colours()
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if chosen or hovered:
            path = QPainterPath()
            path.addRoundedRect(QRectF(rect).adjusted(4, 2, -4, -2), 8, 8)
            painter.fillPath(path, QColor(c.line if chosen else c.raised))
        if self.grid:
            self._paint_cell(painter, option, person, times)
            painter.restore()
            return
        self._head(painter, QRectF(rect.left() + 12, rect.center().y() - HEAD / 2, HEAD, HEAD), person)
        confirmable = self._confirms and person.name_state == "suggested" and bool(person.suggested_names)
        left = rect.left() + 12 + HEAD + 12
        right = self._confirm_box(option).left() - 6 if confirmable else rect.right() - 12
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(person.name_state == "suggested")
        painter.setFont(font)
        painter.setPen(QColor(c.text))
        name = painter.fontMetrics().elidedText(plain.line(person.shown), Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(QRect(left, rect.top() + 9, right - left, 22), int(Qt.AlignmentFlag.AlignVCenter), name)
        painter.setFont(option.font)
        painter.setPen(QColor(c.muted))
        if person.ignored:
            times = self.tr("hidden") + " · " + times
        times = painter.fontMetrics().elidedText(times, Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(QRect(left, rect.top() + 31, right - left, 20), int(Qt.AlignmentFlag.AlignVCenter), times)
        if confirmable:
            box = QRectF(self._confirm_box(option))
            painter.setPen(QPen(QColor(c.accent), 1.2))
            painter.setBrush(QColor(c.surface))
            painter.drawRoundedRect(box, 6, 6)
            painter.setPen(QColor(c.link))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.tr("Yes"))
        painter.restore()

    def _paint_cell(self, painter: QPainter, option: QStyleOptionViewItem, person: Person, times: str) -> None:
        """Paint the face above name and times; a tick confirms a name that was heard."""
        c, rect = theme.colours(), option.rect
        self._head(painter, QRectF(rect.center().x() - LARGE / 2, rect.top() + 10, LARGE, LARGE), person)
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(person.name_state == "suggested")
        lines = ((font, c.text, person.shown, 0), (option.font, c.muted, self.tr("hidden") if person.ignored else times, 18))
        for used, colour, text, below in lines:
            painter.setFont(used)
            painter.setPen(QColor(colour))
            shown = painter.fontMetrics().elidedText(plain.line(text), Qt.TextElideMode.ElideRight, rect.width() - 10)
            place = QRect(rect.left() + 5, rect.top() + LARGE + 14 + below, rect.width() - 10, 18)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), shown)
        if self._confirms and person.name_state == "suggested" and person.suggested_names:
            box = QRectF(self._confirm_box(option))
            painter.setPen(QPen(QColor(c.accent), 1.2))
            painter.setBrush(QColor(c.surface))
            painter.drawEllipse(box)
            painter.setPen(QColor(c.link))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), "✓")

    def _head(self, painter: QPainter, box: QRectF, person: Person) -> None:
        ratio = painter.device().devicePixelRatioF()
        side = round(box.width())
        picture = self._hub.pictures.get(person.portrait, round(side * ratio))
        if picture is None:
            painter.drawPixmap(box.topLeft(), fallback_head(person.id, initial(person), side, ratio))
            return
        path = QPainterPath()
        path.addEllipse(box)
        painter.save()
        painter.setClipPath(path)
        painter.drawPixmap(box, picture, QRectF(picture.rect()))
        painter.restore()
        painter.setPen(QPen(theme.person_colour(person.id), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(box.adjusted(0.5, 0.5, -0.5, -0.5))

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        person: Person = index.data(PERSON)
        if (
            isinstance(event, QMouseEvent)
            and event.type() == QEvent.Type.MouseButtonRelease
            and self._confirms
            and person.name_state == "suggested"
            and person.suggested_names
            and self._confirm_box(option).contains(event.position().toPoint())
        ):
            self.confirmed.emit(person.id, person.suggested_names[0].name)
            return True
        return super().editorEvent(event, model, option, index)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        self.editing = True
        editor = QLineEdit(parent)
        editor.setPlaceholderText(self.tr("Name"))
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        # once: a picture that arrives tells `dataChanged`, upon which Qt would put the old name over what is being typed
        if not editor.property("filled"):
            editor.setProperty("filled", True)
            super().setEditorData(editor, index)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        if self.grid:
            editor.setGeometry(QRect(rect.left() + 3, rect.top() + LARGE + 10, rect.width() - 6, 28))
            return
        left = rect.left() + 12 + HEAD + 6
        editor.setGeometry(QRect(left, rect.center().y() - 15, rect.right() - left - 10, 30))
