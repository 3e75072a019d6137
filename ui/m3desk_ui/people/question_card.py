"""A card with one identity question: the two sides, the effect of a yes, and four answers with keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QIcon, QKeyEvent, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QPushButton, QToolButton, QVBoxLayout, QWidget

from m3desk.domain.clip import clock
from m3desk_ui.look import plain, theme
from m3desk_ui.look.pictures import whole
from m3desk_ui.people.question_sides import Shown, ShownObservation, Side

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub

FACE = 72
SCENE = 176
"""Width of the whole picture of a moment."""

SHOWN_WORDS = 60
"""Code points of a sentence that fit under its symbol; the rest is in the tooltip."""
ITEM = Qt.ItemDataRole.UserRole
OUT = Qt.ItemDataRole.UserRole + 1


class SideList(QListWidget):
    """Faces or sentences of one side. `movable`: items go to the other side by dragging or by a double click."""

    moved = Signal()
    other_wanted = Signal(object)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.movable = False
        self.setIconSize(QSize(FACE, FACE))
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setSpacing(3)
        self.setWordWrap(True)
        self.setMinimumHeight(FACE + 34)
        self.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.itemDoubleClicked.connect(self._double)

    def fill(self, side: Side, movable: bool) -> None:
        """Show a side's items; without `movable` a click takes one out of the answer (and in again)."""
        self.clear()
        self.movable = movable
        faces = any(i.crop for i in side.items)
        self.setViewMode(QListWidget.ViewMode.IconMode if faces else QListWidget.ViewMode.ListMode)
        self.setMovement(QListWidget.Movement.Static if not movable else QListWidget.Movement.Snap)
        self.setDragEnabled(movable)
        self.setAcceptDrops(movable)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        for item in side.items:
            self.addItem(self._made(item))

    def _made(self, item: ShownObservation) -> QListWidgetItem:
        blank = QPixmap(FACE, FACE)
        blank.fill(Qt.GlobalColor.transparent)
        words = plain.line(item.words, SHOWN_WORDS)
        said = f"“{words}”" if words else self.tr("(speech not understood)")
        text = clock(item.at) if item.crop else f"{clock(item.at)}  {said}"
        row = QListWidgetItem(QIcon(blank), text) if item.crop else QListWidgetItem(theme.icon("mdi6.volume-high"), text)
        row.setData(ITEM, item)
        plain.tip(row, f"{clock(item.at)} {item.words}".strip())
        if item.crop:
            self._picture(row, item.crop)
        return row

    def _picture(self, row: QListWidgetItem, media: str) -> None:
        import shiboken6

        ratio = self.devicePixelRatioF()

        def put(pixmap: QPixmap) -> None:
            if shiboken6.isValid(row):
                row.setIcon(QIcon(pixmap))

        here = self._hub.pictures.get(media, round(FACE * ratio), round(FACE * ratio), then=put)
        if here is not None:
            put(here)

    def observations(self) -> list[str]:
        """Return the ids of what is in this list and was not taken out."""
        rows = [self.item(i) for i in range(self.count())]
        return [r.data(ITEM).observation for r in rows if not r.data(OUT)]

    def taken_out(self) -> list[str]:
        rows = [self.item(i) for i in range(self.count())]
        return [r.data(ITEM).observation for r in rows if r.data(OUT)]

    def toggle(self, row: QListWidgetItem) -> None:
        """Exclude an item from the answer, or include it again; excluded items are crossed out."""
        out = not row.data(OUT)
        row.setData(OUT, out)
        font = row.font()
        font.setStrikeOut(out)
        row.setFont(font)
        text = row.text().removeprefix("✗ ")
        row.setText(f"✗ {text}" if out else text)
        self.moved.emit()

    def _double(self, row: QListWidgetItem) -> None:
        if self.movable:
            self.other_wanted.emit(row)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take items dragged from the other side (whole, with what they stand for)."""
        source = event.source()
        if isinstance(source, SideList) and source is not self and self.movable:
            for row in source.selectedItems():
                self.take_from(source, row)
            event.acceptProposedAction()
        else:
            event.ignore()

    def take_from(self, other: SideList, row: QListWidgetItem) -> None:
        taken = other.takeItem(other.row(row))
        if taken is not None:
            self.addItem(taken)
            self.moved.emit()
            other.moved.emit()


class QuestionCard(QFrame):
    """Shows one question. Answers are told by signals; the view applies them."""

    yes = Signal()
    no = Signal()
    unknown = Signal()
    later = Signal()

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.shown: Shown | None = None
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.title = plain.Label(parent=self)
        self.title.setWordWrap(True)
        self.title.setProperty("heading", True)
        self.hint = self._muted()
        self.effect = self._muted()
        self.lists = (SideList(hub, self), SideList(hub, self))
        self.names = (plain.Label(parent=self), plain.Label(parent=self))
        self.plays = (QToolButton(self), QToolButton(self))
        self.scenes = (plain.Label(parent=self), plain.Label(parent=self))
        both = QHBoxLayout()
        both.setSpacing(10)
        self._columns: list[QWidget] = []
        for side in (0, 1):
            both.addWidget(self._column(side), 1)
        self.buttons: dict[str, QPushButton] = {}
        answers = QHBoxLayout()
        for name, signal in (("yes", self.yes), ("no", self.no), ("unknown", self.unknown), ("later", self.later)):
            button = QPushButton(self)
            button.clicked.connect(signal)
            button.setProperty("primary", name == "yes")
            button.setAutoDefault(False)
            self.buttons[name] = button
            answers.addWidget(button)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self.hint)
        column.addLayout(both, 1)
        column.addWidget(self.effect)
        column.addLayout(answers)
        first, second = self.lists
        first.other_wanted.connect(lambda row: second.take_from(first, row))
        second.other_wanted.connect(lambda row: first.take_from(second, row))
        self.dress()

    def _muted(self) -> plain.Label:
        label = plain.Label(parent=self)
        label.setWordWrap(True)
        label.setProperty("muted", True)
        return label

    def _column(self, side: int) -> QWidget:
        box = QWidget(self)
        self._columns.append(box)
        head = QHBoxLayout()
        self.names[side].setProperty("heading", True)
        self.names[side].setWordWrap(True)
        head.addWidget(self.names[side], 1)
        head.addWidget(self.plays[side])
        self.plays[side].clicked.connect(lambda: self._play(side))
        self.scenes[side].setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.lists[side].itemClicked.connect(lambda row, s=side: self._clicked(s, row))
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.scenes[side])
        column.addWidget(self.lists[side], 1)
        return box

    def dress(self) -> None:
        """Set texts and icons."""
        for name, text, key in (
            ("yes", self.tr("Yes"), "Y"),
            ("no", self.tr("No"), "N"),
            ("unknown", self.tr("Don't know"), "D"),
            ("later", self.tr("Later"), "L"),
        ):
            self.buttons[name].setText(f"{text} ({key})")
        for side, button in enumerate(self.plays):
            tip = self.tr("Play this moment")
            button.setIcon(theme.icon("mdi6.play"))
            plain.tip(button, tip)
            button.setAccessibleName(tip)
            self.lists[side].setAccessibleName(self.tr("First side") if side == 0 else self.tr("Second side"))
        if self.shown is not None:
            self.show_question(self.shown)

    # ------------------------------------------------------------ showing

    def show_question(self, shown: Shown) -> None:
        """Show a question and its sides."""
        self.shown = shown
        q = shown.question
        self.title.setText(self._title(shown))
        self.hint.setText(self._hint(shown))
        self.hint.setVisible(bool(self.hint.text()))
        self.effect.setText(self.tr("Yes: %1").replace("%1", plain.line(q.effect, 2 * plain.LINE)))
        for side in (0, 1):
            there = side < len(shown.sides)
            self._columns[side].setVisible(there)
            if there:
                self._show_side(side, shown)

    def _show_side(self, side: int, shown: Shown) -> None:
        this = shown.sides[side]
        name = this.shown
        if shown.question.kind == "two_people":
            name = this.shown if side == 0 else self.tr("somebody else")
        more = self.tr(" and %1 more").replace("%1", str(this.more)) if this.more else ""
        self.names[side].setText(f"{plain.line(name, plain.ENTRY)} ({len(this.items)}{more})")
        self.lists[side].fill(this, movable=shown.question.kind == "two_people")
        self._show_scene(side, this, shown)

    def _show_scene(self, side: int, this: Side, shown: Shown) -> None:
        """Show the whole picture of the first face's moment, where its file is there."""
        self.scenes[side].hide()
        first = next((i for i in this.items if i.crop), None)
        if first is None or self.hub.desk is None:
            return

        def put(data: bytes | None) -> None:
            image = whole(data)
            if self.shown is shown and not image.isNull():
                ratio = self.devicePixelRatioF()
                fitted = QPixmap.fromImage(image).scaledToWidth(round(SCENE * ratio), Qt.TransformationMode.SmoothTransformation)
                fitted.setDevicePixelRatio(ratio)
                self.scenes[side].setPixmap(fitted)
                plain.tip(self.scenes[side], clock(first.at))
                self.scenes[side].show()

        self.hub.when(self.hub.desk.picture(first.source, first.at, round(2 * SCENE)), put, lambda _error: None)

    def _title(self, shown: Shown) -> str:
        q, names = shown.question, [plain.line(s.shown, plain.ENTRY) for s in shown.sides]
        if q.kind == "same":
            return self.tr("Are %1 and %2 the same person?").replace("%2", names[-1]).replace("%1", names[0])
        if q.kind == "two_people":
            voice = all(item.crop is None for side in shown.sides for item in side.items)
            text = self.tr("Is %1 two people, by the voice?") if voice else self.tr("Does %1 look like two people?")
            return text.replace("%1", names[0])
        if q.kind == "link":
            return self.tr("Does this voice belong to this face?")
        return self.tr("Is this %1?").replace("%1", plain.line(q.name or names[0], plain.ENTRY))

    def _hint(self, shown: Shown) -> str:
        kind = shown.question.kind
        if kind == "two_people":
            return self.tr("Drag (or double-click) an item that is on the wrong side.")
        if kind == "same":
            return self.tr("Click items that show somebody else to leave them out of the answer.")
        return ""

    # ------------------------------------------------------------ acting

    def _clicked(self, side: int, row: QListWidgetItem) -> None:
        item: ShownObservation = row.data(ITEM)
        if self.shown is None:
            return
        if item.crop is None:  # a voice: heard where it speaks, beside the moving face
            self.hub.selection.play(item.source, item.at)
        elif self.shown.question.kind == "same":
            self.lists[side].toggle(row)

    def _play(self, side: int) -> None:
        if self.shown is not None and side < len(self.shown.sides) and self.shown.sides[side].items:
            item = self.shown.sides[side].items[0]
            self.hub.selection.play(item.source, item.at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        answers: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Y: self.yes.emit, Qt.Key.Key_Return: self.yes.emit, Qt.Key.Key_Enter: self.yes.emit, Qt.Key.Key_N: self.no.emit,
            Qt.Key.Key_D: self.unknown.emit, Qt.Key.Key_L: self.later.emit,
        }  # fmt: skip
        do = answers.get(event.key())
        if do is not None and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            do()
        else:
            super().keyPressEvent(event)
