"""The people dock: lists everybody in the memory; rename in place, confirm a heard name, merge by dropping, open a person's page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.changed import Changed
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import plain, theme
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.people import merging, person_menu
from m3desk_ui.people.people_list import PERSON, PeopleList, PeopleModel, PersonDelegate
from m3desk_ui.people.person_page import PersonPage
from m3desk_ui.people.person_picker import PersonPicker, likely_first, name_person
from m3desk_ui.people.questions_view import QuestionsView
from m3desk_ui.people.split_board import SplitBoard

if TYPE_CHECKING:
    from m3desk.domain.correction import Effect
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

GRID_FROM = 480
"""Pixels of width from which people are shown as a grid of faces, unless the user chose otherwise."""

MANY = 50
"""A merge that changes more memories than this is previewed in full before it is applied."""


SLACK = 8
"""Pixels by which the dock may be wider than the questions need, and still be as wide for them alone."""


class _Pages(QStackedWidget):
    """Pages of which only the one in front says how narrow the dock may become."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        return super().minimumSizeHint() if page is None else page.minimumSizeHint()


def read_people(reader: Any) -> list[Person]:
    """Read everybody (in the reading thread)."""
    people: list[Person] = reader.people()
    return people


class PeopleView(QWidget):
    """The list of people, and the page of one person, shown in its place."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self._everybody: dict[str, Person] = {}
        self._count = 0
        self._just_corrected = False
        self._wants_grid: bool | None = None
        self.model = PeopleModel(hub, self)
        self.model.named.connect(self.name)
        self.model.merged.connect(self.ask_merge)
        self.page = PersonPage(hub, self)
        self.page.back.connect(self.show_list)
        self.page.merge_wanted.connect(self._choose_merge)
        self.questions = QuestionsView(hub, self)
        self.questions.back.connect(self.show_list)
        self.questions.counted.connect(self._counted)
        self.questions.by_hand.connect(self.separate)
        self._build()
        self.following = Following(
            hub, "people", load=lambda: read_people, show=self._show, patch=self._changed, apply=self._patch, busy=self._in_use,
            parent=self,
        )  # fmt: skip
        hub.opened.connect(self._forget)
        hub.corrected.connect(self._corrected)
        hub.engine_ready.connect(self._undoable)
        hub.themed.connect(self._themed)
        hub.selection.selected.connect(self._follow)
        hub.selection.wanted.connect(self._wanted)
        self._themed()
        if hub.desk is not None:
            self.following.restart()
            self.questions.tell()

    def _build(self) -> None:
        self.filter = SearchField(self)
        self.filter.textChanged.connect(self._fill)
        self.undo = QToolButton(self)
        self.undo.clicked.connect(self.hub.undo)
        self.redo = QToolButton(self)
        self.redo.clicked.connect(self.hub.redo)
        self._undoable()
        self.ask = QPushButton(self)
        self.ask.clicked.connect(self.show_questions)
        self.ask.setVisible(False)
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 4, 6, 4)
        self.merge = QPushButton(self)
        self.merge.clicked.connect(self.merge_selected)
        self.merge.setVisible(False)
        self.grid = QToolButton(self)
        self.grid.setCheckable(True)
        self.grid.clicked.connect(self._choose_grid)
        bar.addWidget(self.filter, 1)
        bar.addWidget(self.merge)
        bar.addWidget(self.ask)
        bar.addWidget(self.grid)
        bar.addWidget(self.undo)
        bar.addWidget(self.redo)
        self.list = PeopleList(self)
        self.list.setModel(self.model)
        self.delegate = PersonDelegate(self.hub, self)
        self.delegate.confirmed.connect(self.name)
        # news that would close an open editor waits until the name is written
        self.delegate.closeEditor.connect(lambda *_: self.following.go_on())
        self.list.setItemDelegate(self.delegate)
        self.list.setMouseTracking(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.selectionModel().selectionChanged.connect(lambda *_: self._several())
        self.list.merge_wanted.connect(self.merge_selected)
        self.list.setDragEnabled(True)
        self.list.setAcceptDrops(True)
        self.list.setDropIndicatorShown(True)
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.list.setDefaultDropAction(Qt.DropAction.LinkAction)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.SelectedClicked)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.clicked.connect(self._clicked)
        self.list.doubleClicked.connect(lambda index: self.open_page(index.data(PERSON).id))
        self.list.activated.connect(lambda index: self.open_page(index.data(PERSON).id))
        self.empty = plain.Label(parent=self)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("muted", True)
        self.empty.setMargin(24)
        front = QWidget(self)
        column = QVBoxLayout(front)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.list, 1)
        column.addWidget(self.empty, 1)
        self.stack = _Pages(self)
        self._before_questions = 0
        self.stack.addWidget(front)
        self.stack.addWidget(self.page)
        self.stack.addWidget(self.questions)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.stack)

    def _themed(self) -> None:
        self.filter.say(self.tr("Filter people"), short=self.tr("Filter"))
        self.list.setAccessibleName(self.tr("People"))
        self._several()
        for button, icon, tip in (
            (self.undo, "mdi6.undo", self.tr("Undo the last correction")),
            (self.redo, "mdi6.redo", self.tr("Redo")),
            (self.grid, "mdi6.view-grid-outline", self.tr("Show faces in a grid")),
        ):
            button.setIcon(theme.icon(icon))
            plain.tip(button, tip)
            button.setAccessibleName(tip)
        self.page.dress()
        self.questions.dress()
        self._counted(self._count)
        self._fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_grid()

    def _choose_grid(self, grid: bool) -> None:
        self._wants_grid = grid
        self._show_grid()

    def _show_grid(self) -> None:
        """Show people as the user chose; by default as a grid where there is room for several faces in a row."""
        grid = self._wants_grid if self._wants_grid is not None else self.width() >= GRID_FROM
        self.grid.setChecked(grid)
        self.list.show_grid(grid)

    # ------------------------------------------------------------ reading

    def _forget(self, _path: str) -> None:
        self._everybody = {}
        self.filter.clear()
        self._undoable()
        self.show_list()
        self._fill()
        self.following.restart()

    def _in_use(self) -> bool:
        """Return whether an update must wait: it would close the editor, or move rows from under the mouse. Corrections show at once."""
        return self.delegate.editing or (self.list.is_pointed_at() and not self._just_corrected)

    def _corrected(self, _event: object) -> None:
        self._just_corrected = True
        self._undoable()

    def _show(self, people: list[Person]) -> None:
        self._just_corrected = False
        self._everybody = {p.id: p for p in people}
        self._fill()
        self._follow(*self.hub.selection.current)

    @staticmethod
    def _changed(changed: Changed) -> Read[tuple[frozenset[str], list[Person]]] | None:
        ids = changed.people
        return (lambda reader: (ids, reader.people_of(ids))) if ids else None

    def _patch(self, part: tuple[frozenset[str], list[Person]]) -> None:
        self._just_corrected = False
        ids, people = part
        known = {p.id: p for p in people}
        for id_ in ids - known.keys():
            self._everybody.pop(id_, None)
        self._everybody |= known
        fitting = [p for p in people if self._fits(p)]
        self.model.patch(fitting, ids - {p.id for p in fitting})
        self.list.executeDelayedItemsLayout()  # else it is painted before and after
        self._show_empty()
        self._follow(*self.hub.selection.current)

    def _fits(self, person: Person) -> bool:
        """Return whether a person's name matches the filter."""
        called = " ".join((person.shown, person.id, *person.aliases)).casefold()
        return all(w in called for w in self.filter.text().casefold().split())

    def _fill(self, *_: object) -> None:
        """Show everybody who matches the filter."""
        if self.delegate.editing:
            return
        bar = self.list.verticalScrollBar()
        place = bar.value()
        self.model.show(p for p in self._everybody.values() if self._fits(p))
        bar.setValue(place)
        self._show_empty()

    def _show_empty(self) -> None:
        rows = self.model.rowCount()
        self.list.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        if not self._everybody and not self.following.loaded:
            self.empty.setText(self.tr("Reading the memory …") if self.hub.desk is not None else "")
        elif not self._everybody:
            self.empty.setText(self.tr("No people yet. They appear here as soon as a face or voice is recognised."))
        else:
            self.empty.setText(self.tr("Nobody here is called “%1”.").replace("%1", plain.line(self.filter.text())))

    def _undoable(self, *_: object) -> None:
        self.undo.setEnabled(self.hub.can_undo)
        self.redo.setEnabled(self.hub.can_redo)

    # ------------------------------------------------------------ pointing

    def _follow(self, kind: str, id_: str) -> None:
        if kind == "person":
            row = self.model.row_of(id_)
            if row >= 0 and len(self.list.selectedIndexes()) < 2:
                self.list.setCurrentIndex(self.model.index(row))

    def _clicked(self, index: QModelIndex) -> None:
        if len(self.list.selectedIndexes()) < 2:
            self.hub.selection.select("person", index.data(PERSON).id)

    def _several(self) -> None:
        """Offer to merge when several people are selected."""
        count = len(self.list.selectedIndexes())
        self.merge.setVisible(count > 1)
        self.merge.setText(self.tr("Merge %1 (M)").replace("%1", str(count)))
        plain.tip(self.merge, self.tr("The selected people are one person"))

    def merge_selected(self) -> None:
        """Merge the selected people: into who has a name, else into who is seen and heard most. Of one, ask who is the same person."""
        people = self.list.people()
        if len(people) == 1:
            self._choose_merge(people[0].id)
        elif people:
            keep = next((p for p in people if p.name is not None), people[0])
            self.ask_merge(keep.id, *(p.id for p in people if p is not keep))

    def _wanted(self, what: str) -> None:
        """Show who was chosen elsewhere, in place of somebody else's page or of the questions."""
        kind, id_ = self.hub.selection.current
        if what != "people" or kind != "person" or self.stack.currentIndex() == 0:
            return
        if self.stack.currentWidget() is self.page:
            self.open_page(id_)
        else:
            self.show_list()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go back to the list by Escape."""
        if event.key() == Qt.Key.Key_Escape and self.stack.currentIndex() != 0:
            self.show_list()
            self.list.setFocus()
        else:
            super().keyPressEvent(event)

    def open_page(self, person: str) -> None:
        """Show the page of a person; the focus goes from the list to what the page shows, not to the way back."""
        from_list = self.list.hasFocus()
        self.page.show_person(person)
        self.stack.setCurrentWidget(self.page)
        if from_list:
            self.page.tabs.currentWidget().setFocus()
        self.hub.selection.select("person", person)

    def show_list(self) -> None:
        widened = self.stack.currentWidget() is self.questions and self.width() <= self.questions.minimumSizeHint().width() + SLACK
        self.page.leave()
        self.questions.leave()
        self.stack.setCurrentIndex(0)
        if widened and 0 < self._before_questions < self.width():
            QTimer.singleShot(0, self, self._narrow)

    def _narrow(self) -> None:
        """Give back the width that only the questions needed."""
        dock = self.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        window = dock.parentWidget() if dock is not None else None
        if isinstance(window, QMainWindow) and isinstance(dock, QDockWidget) and self.stack.currentIndex() == 0:
            window.resizeDocks([dock], [self._before_questions], Qt.Orientation.Horizontal)

    def show_questions(self) -> None:
        """Show the memory's questions, one card at a time."""
        if self.stack.currentWidget() is not self.questions:
            self._before_questions = self.width()
        self.questions.enter()
        self.stack.setCurrentWidget(self.questions)
        self.questions.card.setFocus()

    def _counted(self, count: int) -> None:
        self._count = count
        self.ask.setText(self.tr("1 question") if count == 1 else self.tr("%1 questions").replace("%1", str(count)))
        plain.tip(self.ask, self.tr("Answer questions about people that the memory is unsure of"))
        self.ask.setVisible(count > 0)

    def _menu(self, where: QPoint) -> None:
        index = self.list.indexAt(where)
        if not index.isValid():
            return
        person: Person = index.data(PERSON)
        menu = QMenu(self)
        if len(self.list.selectedIndexes()) > 1:
            count = str(len(self.list.selectedIndexes()))
            menu.addAction(plain.entry(self.tr("Merge %1 (M)").replace("%1", count)), self.merge_selected)
            menu.addSeparator()
        menu.addAction(self.tr("Open page"), lambda: self.open_page(person.id))
        if person.first_seen is not None:
            source, at = person.first_seen
            menu.addAction(self.tr("Play first moment"), lambda: self.hub.selection.play(source, at))
        menu.addAction(self.tr("Rename…"), lambda: self.list.edit(index))
        for suggested in person.suggested_names[:3]:
            if suggested.name != person.name:
                text = self.tr("This is %1").replace("%1", suggested.name)
                menu.addAction(plain.entry(text), partial(self.name, person.id, suggested.name))
        menu.addAction(self.tr("Same person as…"), lambda: self._choose_merge(person.id)).setEnabled(len(self._everybody) > 1)
        menu.addAction(self.tr("Several people: separate…"), lambda: self.separate(person.id))
        menu.addSeparator()
        menu.addAction(plain.entry(self.tr("Ask about %1").replace("%1", person.shown)), lambda: self.page.ask_about(person))
        if person.name is not None:
            menu.addAction(self.tr("Remove the name"), lambda: self.hub.correct("name", {"person": person.id, "name": None}))
        hide = self.tr("Show person again") if person.ignored else self.tr("Hide person")
        menu.addAction(hide, lambda: self.hub.correct("ignore", {"person": person.id, "ignored": not person.ignored}))
        menu.addSeparator()
        person_menu.fill(menu, self.hub, person.id, self)
        menu.popup(self.list.viewport().mapToGlobal(where))

    # ------------------------------------------------------------ correcting

    def name(self, person: str, name: str) -> None:
        """Name a person, after a question where somebody else has that name."""
        name_person(self.hub, self._everybody.values(), person, name, self)

    def _choose_merge(self, person: str) -> None:
        """Let the user choose who is the same person, by face and name."""
        shown = plain.line(self._everybody[person].shown, plain.ENTRY) if person in self._everybody else ""
        question = self.tr("Who is the same person as %1?").replace("%1", shown)

        def ask(others: list[Person], likely: set[str]) -> None:
            if others:
                picker = PersonPicker(self.hub, self.tr("Same person"), question, others, self, likely=likely)
                picker.accepted.connect(lambda: self._picked(picker, person))
                picker.open()
                self.picker = picker

        likely_first(self.hub, person, ask)

    def separate(self, person: str) -> None:
        """Let the user sort a person's faces and voices into several people."""
        self.board = SplitBoard(self.hub, person, self)
        self.board.show()

    def _picked(self, picker: PersonPicker, person: str) -> None:
        chosen = picker.person()
        if chosen is not None:
            self.ask_merge(chosen.id, person)

    def ask_merge(self, keep: str, *others: str) -> None:
        """Merge persons; with a preview where several are named or much would change."""
        people = [self._everybody[p] for p in (keep, *others) if p in self._everybody]
        desk = self.hub.desk
        if desk is None or len(people) <= len(others):
            return
        args: dict[str, Any] = {"keep": keep, "others": list(others)}
        several_named = sum(p.name is not None for p in people) > 1

        def previewed(effect: Effect) -> None:
            if self.hub.desk is not desk:  # another memory was opened meanwhile
                return
            if several_named or len(effect.memories) > MANY:
                self.question = merging.confirm(self.hub, self, people, effect)
            else:
                self.hub.correct("merge", args)

        self.hub.when(desk.correct("merge", args, dry_run=True), previewed)
