"""Separates a person who is several: their faces and voices are moved into groups, each of which becomes a person of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QListWidgetItem, QPushButton, QVBoxLayout, QWidget

from m3desk_ui.look import deeds, plain, theme
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.people.evidence import MEANT, Evidence, read_evidence
from m3desk_ui.people.evidence_list import ITEM, EvidenceList
from m3desk_ui.people.person_picker import PersonPicker, likely_first

if TYPE_CHECKING:
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

MOST_GROUPS = 6
MOST = 1500
"""Observations that are read at most; the rest stay with the person."""


def read_person(reader: Any, person: str) -> tuple[Person, tuple[Evidence, ...]]:
    """Read a person's faces and voices: faces first, in time order (in the reading thread)."""
    known = reader.person(person)
    mine = [r.track.id for s in reader.sources() for r in reader.tracks(s.id) if r.person == known.id and not r.set_aside]
    mine += [r.utterance.id for s in reader.sources() for r in reader.speech(s.id) if r.person == known.id and not r.set_aside]
    shown = read_evidence(reader, mine[:MOST])
    return known, tuple(sorted(shown, key=lambda e: (e.kind != "face", e.source, e.at)))


class Group(QWidget):
    """One group: whose it is, a button that takes what is selected elsewhere, and its faces and voices."""

    def __init__(self, board: SplitBoard, number: int) -> None:
        super().__init__(board)
        self.number = number
        self.person: Person | None = None
        self.new_name = ""
        self.who = QPushButton(self.tr("Who is this?"))
        self.who.setEnabled(number > 0)
        self.who.clicked.connect(lambda: board.choose_whose(self))
        self.take = QPushButton(self.tr("Move here"))
        self.take.clicked.connect(lambda: board.move_selected(self))
        self.count = plain.Label()
        self.count.setProperty("muted", True)
        self.list = EvidenceList(board.hub)
        self.list.setAccessibleName(self.tr("Faces and voices"))
        self.list.fill((), movable=True, pictures=False)
        self.list.itemSelectionChanged.connect(board.enable)
        self.list.moved.connect(board.enable)
        self.list.other_wanted.connect(lambda row: board.move_on(self, row))
        self.list.itemActivated.connect(lambda row: board.play(row.data(ITEM)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.who, self.take, self.count, self.list):
            column.addWidget(widget, 1 if widget is self.list else 0)


class SplitBoard(QDialog):
    """Shows a person's faces and voices in groups. Everything else of the window stays usable."""

    def __init__(self, hub: Hub, person: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.hub, self.person_id = hub, person
        self.person: Person | None = None
        self._suggested: set[str] = set()
        self._left = 0
        hub.opened.connect(self.reject)  # its persons are those of another memory then
        self.setWindowTitle(self.tr("Separate people"))
        self.resize(860, 560)
        self.hint = plain.Label()
        self.hint.setWordWrap(True)
        self.hint.setProperty("muted", True)
        self.search = SearchField()
        self.search.say(self.tr("Find words"), self.tr("Find faces and voices by what is said about them"))
        self.search.textChanged.connect(self._filter)
        self.suggest = QPushButton(self.tr("Fill in the suggestion"))
        self.suggest.setAutoDefault(False)
        self.suggest.hide()
        self.suggest.clicked.connect(self._use_suggestion)
        self.add = QPushButton(self.tr("Another person"))
        self.add.setIcon(theme.icon("mdi6.account-plus-outline"))
        self.add.setAutoDefault(False)
        self.add.clicked.connect(lambda: self.add_group())
        bar = QHBoxLayout()
        bar.addWidget(self.search, 1)
        bar.addWidget(self.suggest)
        bar.addWidget(self.add)
        self.groups: list[Group] = []
        self._columns = QHBoxLayout()
        self._columns.setSpacing(10)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.apply = QPushButton(self.tr("Separate"))
        self.apply.setProperty("primary", True)
        self.apply.setAutoDefault(False)
        self.apply.clicked.connect(self.separate)
        self.buttons.addButton(self.apply, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.hint)
        column.addLayout(bar)
        column.addLayout(self._columns, 1)
        column.addWidget(self.buttons)
        for _ in range(2):
            self.add_group()
        self._words()
        hub.read("split board", lambda reader: read_person(reader, person), self._show)
        if hub.desk is not None:
            hub.when(hub.desk.suggestions(), self._suggestions, lambda _error: None)

    # ------------------------------------------------------------ showing

    def _show(self, found: tuple[Person, tuple[Evidence, ...]]) -> None:
        self.person, items = found
        self.setWindowTitle(plain.title(self.tr("Separate %1").replace("%1", plain.line(self.person.shown, plain.ENTRY))))
        pictures = all(i.crop and not i.told for i in items)
        for group in self.groups:
            group.list.fill(items if group.number == 0 else (), movable=True, pictures=pictures)
        self.groups[0].list.setFocus()
        self._words()

    def _suggestions(self, questions: list[Any]) -> None:
        asked = next((q for q in questions if q.kind == "two_people" and q.people[0] == self.person_id), None)
        self._suggested = set(asked.groups[1]) if asked is not None else set()
        self.suggest.setVisible(bool(self._suggested))

    def _use_suggestion(self) -> None:
        """Put into the second group what the memory thinks is somebody else's."""
        first, second = self.groups[0].list, self.groups[1].list
        for row in [r for r in first.rows() if self._suggested.intersection(r.data(ITEM).observations)]:
            second.take_from(first, row)

    def add_group(self) -> Group:
        """Add a group for another person."""
        group = Group(self, len(self.groups))
        self.groups.append(group)
        self._columns.addWidget(group, 1)
        if self.groups[0] is not group:
            group.list.fill((), movable=True, pictures=self.groups[0].list.viewMode() == group.list.ViewMode.IconMode)
        self.add.setEnabled(len(self.groups) < MOST_GROUPS)
        self._words()
        return group

    def _words(self) -> None:
        told = any(r.data(ITEM).told for g in self.groups for r in g.list.rows())
        hint = self.tr("Select what belongs to one person, then move it: with a button, by dragging, or by Space. Enter plays.")
        if told:
            hint += " " + self.tr("%1 in a sentence is the face or voice that it stands beside.").replace("%1", MEANT)
        self.hint.setText(hint)
        for group in self.groups:
            name = self._called(group)
            group.who.setText(plain.entry(name) or group.tr("Who is this?"))
            tip = self.tr("Stays this person") if group.number == 0 else self.tr("Choose who this is; somebody new if you choose nobody")
            plain.tip(group.who, tip)
            group.take.setText(self.tr("Move here (Ctrl+%1)").replace("%1", str(group.number + 1)))
            group.take.setAccessibleName(plain.line(self.tr("Move what is selected to %1").replace("%1", name)))
            group.list.setAccessibleName(plain.line(name) or group.tr("Faces and voices"))
        self.enable()

    def _called(self, group: Group) -> str:
        if group.number == 0:
            return self.person.shown if self.person is not None else ""
        if group.person is not None:
            return group.person.shown
        return group.new_name or self.tr("Somebody new (%1)").replace("%1", str(group.number))

    def _filter(self, typed: str) -> None:
        for group in self.groups:
            group.list.show_matching(typed.casefold().split())

    # ------------------------------------------------------------ moving

    def enable(self) -> None:
        """Enable what can be done now."""
        if not hasattr(self, "apply"):
            return
        for group in self.groups:
            group.take.setEnabled(any(g.list.selectedItems() for g in self.groups if g is not group))
            group.count.setText(self._counted(group))
        self.apply.setEnabled(bool(self.groups[0].list.count()) and any(g.list.count() for g in self.groups[1:]))

    def _counted(self, group: Group) -> str:
        """Return what a group has: "3 faces", "1 face · 2 utterances"."""
        faces = sum(row.data(ITEM).kind == "face" for row in group.list.rows())
        voices = group.list.count() - faces
        parts = [deeds.things(f"{n} {kind}") for n, kind in ((faces, "face"), (voices, "utterance")) if n]
        return " · ".join(parts) or self.tr("nothing yet")

    def move_selected(self, to: Group) -> None:
        """Move what is selected in other groups to this one."""
        for group in self.groups:
            if group is not to:
                for row in group.list.selectedItems():
                    to.list.take_from(group.list, row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move what is selected to the group of Ctrl and a number."""
        number = event.key() - Qt.Key.Key_1
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and 0 <= number < len(self.groups):
            here = next((g.list for g in self.groups if g.list.hasFocus() and g.list.chosen()), None)
            if here is None:
                self.move_selected(self.groups[number])
            elif here is not self.groups[number].list:  # what was selected elsewhere before is not meant
                for row in here.chosen():
                    self.groups[number].list.take_from(here, row)
        else:
            super().keyPressEvent(event)

    def move_on(self, group: Group, row: QListWidgetItem) -> None:
        """Move an item to the next group."""
        self.groups[(group.number + 1) % len(self.groups)].list.take_from(group.list, row)

    def play(self, item: Evidence) -> None:
        """Play where a face or voice is first."""
        self.hub.selection.play(item.source, item.at)

    def choose_whose(self, group: Group) -> None:
        """Ask who a group is: somebody known, or a new name."""

        def ask(people: list[Person], likely: set[str]) -> None:
            picker = PersonPicker(self.hub, self.tr("This is…"), self.tr("Who is this?"), people, self, new=True, likely=likely)
            picker.accepted.connect(lambda: self._chosen(group, picker))
            picker.open()

        likely_first(self.hub, self.person_id, ask)

    def _chosen(self, group: Group, picker: PersonPicker) -> None:
        group.person, group.new_name = picker.person(), picker.new_name()
        self._words()

    # ------------------------------------------------------------ applying

    def separate(self) -> None:
        """Give each group to its person, one correction after the other; then close."""
        waiting = [g for g in self.groups[1:] if g.list.count()]
        if not self.apply.isEnabled() or self.hub.desk is None:
            return
        self.apply.setEnabled(False)

        def following(*_: object) -> None:
            if not waiting:
                self.accept()
                return
            group = waiting.pop(0)
            observations = group.list.observations()
            if group.person is not None:
                args = {"observations": observations, "person": group.person.id, "name": None}
                self.hub.correct("assign", args, then=following)
            else:
                name = {"name": group.new_name} if group.new_name else {}
                self.hub.correct("split", {"person": self.person_id, "observations": observations, **name}, then=following)

        following()
