"""The popup for a face or a speaker: *This is… · Not Ann · Not a face · Why*."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QCompleter, QFrame, QGridLayout, QHBoxLayout, QLineEdit, QPushButton, QWidget
from shiboken6 import isValid

from m3desk.domain.people import unmarked
from m3desk_ui.look import plain
from m3desk_ui.people.people_list import PeopleList, PeopleModel, PersonDelegate
from m3desk_ui.people.person_picker import BothFaces, everybody

if TYPE_CHECKING:
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub


class FaceChip(QFrame):
    """A small popup about one observation (a face track, or an utterance with `speech`). Closes itself once something was chosen."""

    closed = Signal()

    def __init__(
        self, hub: Hub, observation: str, person: str | None, name: str, *, speech: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("card", True)
        self._hub, self._observation, self._person, self._name = hub, observation, person, name
        self._speech = speech
        self._known: dict[str, str] = {}
        self._people: dict[str, Person] = {}
        self._unnamed: set[str | None] = set()
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(self.tr("This is… (a name)"))
        self.edit.setAccessibleName(self.tr("This is…"))
        self.edit.setMinimumWidth(190)
        self.edit.returnPressed.connect(self.assign)
        self.ok = QPushButton(self.tr("This is…"))
        self.ok.setProperty("primary", True)
        plain.tip(self.ok, self.tr("Say who this is; all memories are updated"))
        self.ok.clicked.connect(self.assign)
        title = plain.Label(plain.line(name, plain.ENTRY) or (self.tr("Unknown voice") if speech else self.tr("Unknown face")))
        title.setProperty("heading", True)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 10, 12, 10)
        grid.addWidget(title, 0, 0, 1, 2)
        grid.addWidget(self.edit, 1, 0)
        grid.addWidget(self.ok, 1, 1)
        row = QHBoxLayout()
        self.deny = QPushButton(plain.entry(self.tr("Not %1").replace("%1", plain.line(unmarked(name), 30))))
        plain.tip(self.deny, self.tr("Remove this from that person"))
        self.deny.setVisible(bool(name and person))
        self.deny.clicked.connect(self._exclude)
        self.aside = QPushButton(self.tr("Not speech") if speech else self.tr("Not a face"))
        plain.tip(self.aside, self.tr("Set this aside: it was detected by mistake"))
        self.aside.clicked.connect(self._set_aside)
        self.why = QPushButton(self.tr("Why"))
        plain.tip(self.why, self.tr("Show the reasons"))
        self.why.clicked.connect(self._why)
        for button in (self.deny, self.aside, self.why):
            row.addWidget(button)
        row.addStretch(1)
        grid.addLayout(row, 2, 0, 1, 2)
        hub.read("chip.people", everybody, self._fill)

    def open_at(self, point: QPoint) -> None:
        """Show the chip beside a global position, inside the screen."""
        self.adjustSize()
        screen = self.screen().availableGeometry() if self.screen() else None
        x, y = point.x() + 8, point.y() + 8
        if screen is not None:
            x = max(screen.left(), min(x, screen.right() - self.width()))
            y = max(screen.top(), min(y, screen.bottom() - self.height()))
        self.move(x, y)
        self.show()
        self.edit.setFocus()

    def assign(self) -> None:
        """Assign the observation to the person named in the input: a known or a new person."""
        text = self.edit.text().strip()
        if not text:
            self.edit.setFocus()
            return
        person = self._known.get(text.casefold())
        if person is None and self._person in self._unnamed:
            # A new name for somebody without one: that names the person, with all their faces and words.
            self._hub.correct("name", {"person": self._person, "name": text})
        elif person is not None and person != self._person and self._person in self._unnamed:
            self._ask_how_much(person)
        elif person is None or person != self._person:
            self._hub.correct("assign", {"observations": [self._observation], "person": person, "name": None if person else text})
        elif text.casefold() != self._name.casefold():  # found by number or alias: it is them already
            self._hub.notice.emit("info", self.tr("This is already %1.").replace("%1", self._name), "", "")
        elif self._person in self._unnamed and unmarked(self._name) != self._name:
            self._hub.correct("name", {"person": self._person, "name": unmarked(self._name)})
        self.close()

    def _ask_how_much(self, person: str) -> None:
        """Ask whether only this observation or everything of its person without a name is that known person."""
        now, known = self._people[self._person or ""], self._people[person]
        names = plain.line(now.shown, plain.ENTRY), plain.line(known.shown, plain.ENTRY)
        question = self.tr("Is %1 the same person as this %2?").replace("%2", names[1]).replace("%1", names[0])
        dialog = BothFaces(self._hub, self.tr("This is…"), question, (now, known), self.parentWidget() or self)
        hub, observation, all_ = self._hub, self._observation, {"keep": person, "others": [now.id]}
        everything = self.tr("Yes, everything of %1").replace("%1", names[0])
        dialog.answer(everything, lambda: hub.correct("merge", all_))
        only = self.tr("Only these words") if self._speech else self.tr("Only this face")
        dialog.answer(only, lambda: hub.correct("assign", {"observations": [observation], "person": person, "name": None}))
        dialog.open()

    def _exclude(self) -> None:
        self._hub.correct("exclude", {"observations": [self._observation], "person": self._person})
        self.close()

    def _set_aside(self) -> None:
        self._hub.correct("set-aside", {"observations": [self._observation]})
        self.close()

    def _why(self) -> None:
        self._hub.selection.select("observation", self._observation)
        self._hub.selection.wanted.emit("inspector")
        self.close()

    def _fill(self, people: list[Person]) -> None:
        if not isValid(self):  # closed before the answer came
            return
        # A number or an alias finds a person as well as the name shown.
        self._people = {p.id: p for p in people}
        self._unnamed = {p.id for p in people if p.name is None}
        for p in people:
            for name in (p.shown, p.name, f"Person {p.number}", *p.aliases, plain.line(p.shown, plain.ENTRY)):
                if name:
                    self._known.setdefault(name.casefold(), p.id)
        model = PeopleModel(self._hub, self)
        model.show(people)
        completer = QCompleter(model, self)
        popup = PeopleList()
        completer.setPopup(popup)
        popup.setItemDelegate(PersonDelegate(self._hub, popup, confirms=False))
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.edit.setCompleter(completer)

    def closeEvent(self, event: object) -> None:
        self.closed.emit()
