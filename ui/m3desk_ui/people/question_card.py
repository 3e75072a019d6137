"""A card with one identity question: the two sides, the effect of a yes, and four answers with keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QListWidgetItem, QPushButton, QScrollArea, QToolButton, QVBoxLayout, QWidget

from m3desk.domain.clip import clock
from m3desk.domain.people import unmarked
from m3desk_ui.look import deeds, plain, theme
from m3desk_ui.look.pictures import whole
from m3desk_ui.people.evidence import MEANT, Evidence
from m3desk_ui.people.evidence_list import ITEM, EvidenceList
from m3desk_ui.people.question_sides import Shown, Side, Whence

if TYPE_CHECKING:
    from m3desk import events
    from m3desk_ui.hub.bridge import Hub

SCENE = 160
"""Width of the whole picture of a moment."""

NARROW = 520
"""Pixels of width below which sentences of two sides stand one below the other."""

LEAST = 150
"""Pixels of height of the evidence in a small window."""


class _Sides(QScrollArea):
    """The evidence of a question: as wide as it must be, but scrolled where there is no height, so that the answers stay in view."""

    def __init__(self, inside: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._inside = inside
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its lists have it
        self.viewport().setAutoFillBackground(False)
        self.setWidget(inside)
        inside.setAutoFillBackground(False)

    def minimumSizeHint(self) -> QSize:
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self._inside.minimumSizeHint().width() + bar, LEAST)

    def sizeHint(self) -> QSize:
        return self._inside.sizeHint().expandedTo(self.minimumSizeHint())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._inside and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class QuestionCard(QFrame):
    """Shows one question. Answers are told by signals; the view applies them."""

    yes = Signal()
    no = Signal()
    unknown = Signal()
    later = Signal()
    by_hand = Signal(str)
    """The person whose faces and voices the user wants to sort into more than two."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.shown: Shown | None = None
        self._asked = 0
        """Raised when pictures that were asked for are not to be shown any more."""
        hub.erased.connect(self._erased)
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.title = plain.Label(parent=self)
        self.title.setWordWrap(True)
        self.title.setProperty("heading", True)
        self.whence = self._muted()
        self.hint = self._muted()
        self.effect = self._muted()
        self.lists = (EvidenceList(hub, self), EvidenceList(hub, self))
        self.names = (plain.Label(parent=self), plain.Label(parent=self))
        self.plays = (QToolButton(self), QToolButton(self))
        self.scenes = (plain.Label(parent=self), plain.Label(parent=self))
        sides = QWidget(self)
        self._both = both = QBoxLayout(QBoxLayout.Direction.LeftToRight, sides)
        both.setContentsMargins(0, 0, 0, 0)
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
        column.addWidget(self.whence)
        column.addWidget(self.hint)
        column.addWidget(_Sides(sides, self), 1)
        self.more = QPushButton(self)
        self.more.setProperty("flat", True)
        self.more.setAutoDefault(False)
        self.more.clicked.connect(lambda: self.shown is not None and self.by_hand.emit(self.shown.question.people[0]))
        column.addWidget(self.effect)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
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
        self.more.setText(self.tr("More than two? Separate them by hand…"))
        for side, button in enumerate(self.plays):
            tip = self.tr("Play this moment")
            button.setIcon(theme.icon("mdi6.play"))
            plain.tip(button, tip)
            button.setAccessibleName(tip)
            self.lists[side].setAccessibleName(self.tr("First side") if side == 0 else self.tr("Second side"))
        self.setAccessibleName(self.tr("Question"))
        if self.shown is not None:
            self.show_question(self.shown)

    # ------------------------------------------------------------ showing

    def show_question(self, shown: Shown) -> None:
        """Show a question and its sides."""
        self.shown = shown
        q = shown.question
        self.title.setText(self._title(shown))
        self.setAccessibleName(plain.line(self._title(shown)))
        self.whence.setText(self._whence(shown.whence))
        self.whence.setVisible(bool(self.whence.text()))
        self.hint.setText(self._hint(shown))
        self.hint.setVisible(bool(self.hint.text()))
        self.more.setVisible(q.kind == "two_people")
        self.effect.setText(self.tr("Yes: %1").replace("%1", plain.line(deeds.change(q.effect), 2 * plain.LINE)))
        for side in (0, 1):
            there = side < len(shown.sides)
            self._columns[side].setVisible(there)
            if there:
                self._show_side(side, shown)
        self._place_sides()

    def _show_side(self, side: int, shown: Shown) -> None:
        this = shown.sides[side]
        name = this.shown
        if shown.question.kind == "two_people":
            name = this.shown if side == 0 else self.tr("Somebody else")
        more = self.tr(" and %1 more").replace("%1", str(len(this.hidden))) if this.hidden else ""
        self.names[side].setText(f"{plain.line(name, plain.ENTRY)} ({len(this.items)}{more})")
        self.lists[side].fill(this.items, movable=shown.question.kind == "two_people")
        self._show_scene(side, this, shown)

    def _show_scene(self, side: int, this: Side, shown: Shown) -> None:
        """Show the whole picture of the first face's moment, where its file is there."""
        self.scenes[side].hide()
        self.scenes[side].clear()
        first = next((i for i in this.items if i.crop), None)
        if first is None or self.hub.desk is None:
            return

        asked = self._asked

        def put(data: bytes | None) -> None:
            image = whole(data)
            if self.shown is shown and self._asked == asked and not image.isNull():
                ratio = self.devicePixelRatioF()
                fitted = QPixmap.fromImage(image).scaledToWidth(round(SCENE * ratio), Qt.TransformationMode.SmoothTransformation)
                fitted.setDevicePixelRatio(ratio)
                self.scenes[side].setPixmap(fitted)
                plain.tip(self.scenes[side], clock(first.at))
                self.scenes[side].show()

        self.hub.when(self.hub.desk.picture(first.source, first.at, round(2 * SCENE)), put, lambda _error: None)

    def _erased(self, _gone: events.Erased) -> None:
        """Ask for the scenes again: what they show may be gone."""
        self._asked += 1
        if self.shown is not None:
            for side, this in enumerate(self.shown.sides):
                self._show_scene(side, this, self.shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_sides()

    def _place_sides(self) -> None:
        """Put the sides beside each other, or one below the other where their sentences would be too narrow to read."""
        lines = any(v.viewMode() == v.ViewMode.ListMode for v in self.lists)
        below = lines and self.width() < NARROW
        self._both.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def _title(self, shown: Shown) -> str:
        q = shown.question
        names = [plain.line(unmarked(s.shown), plain.ENTRY) for s in shown.sides]  # a suggested name's mark within a question puzzles
        if q.kind == "same":
            return self.tr("Are %1 and %2 the same person?").replace("%2", names[-1]).replace("%1", names[0])
        if q.kind == "two_people":
            kinds = {item.kind for side in shown.sides for item in side.items}
            if kinds == {"face"}:
                text = self.tr("Does %1 look like two people?")
            else:
                text = self.tr("Is %1 two people, by the voice?") if kinds == {"voice"} else self.tr("Is %1 two people?")
            return text.replace("%1", names[0])
        if q.kind == "link":
            return self.tr("Does this voice belong to this face?")
        return self.tr("Is this %1?").replace("%1", plain.line(q.name or names[0], plain.ENTRY))

    def _whence(self, whence: Whence | None) -> str:
        """Return a line that says where a suggested name comes from."""
        if whence is None or not whence.words:
            return ""
        if whence.on_screen:
            text = self.tr("The name is from a text on screen at %1: “%2”")
        elif whence.at is not None:
            text = self.tr("The name was heard at %1, from %3: “%2”") if whence.by else self.tr("The name was heard at %1: “%2”")
        else:
            text = self.tr("The name is from these words: “%2”")
        text = text.replace("%1", clock(whence.at or 0)).replace("%3", plain.line(whence.by, plain.ENTRY))
        more = self.tr(" and %1 more").replace("%1", str(whence.more)) if whence.more else ""
        return text.replace("%2", plain.line(whence.words, plain.LINE)) + more

    def _hint(self, shown: Shown) -> str:
        kind, hints = shown.question.kind, []
        if kind == "two_people":
            hints.append(self.tr("Drag an item that is on the wrong side, double-click it, or press Space."))
        if kind == "same":
            hints.append(self.tr("Click items that show somebody else, or press Space, to leave them out of the answer."))
        if any(item.told for side in shown.sides for item in side.items):
            hints.append(self.tr("%1 in a sentence is the face or voice that it stands beside.").replace("%1", MEANT))
        return " ".join(hints)

    # ------------------------------------------------------------ acting

    def _clicked(self, side: int, row: QListWidgetItem) -> None:
        item: Evidence = row.data(ITEM)
        if self.shown is None:
            return
        if item.kind == "voice":  # heard where it speaks, beside the moving face
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
