"""Chooses a person by face and name, and asks whether two persons are one, with both faces: never by id, and nothing is preselected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListView,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from m3desk_ui.look import plain
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.people.people_list import PERSON, PeopleModel, PersonDelegate, fallback_head, initial

if TYPE_CHECKING:
    from m3desk.domain.people import Person
    from m3desk.domain.questions.types import Suggestion
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub

FACE = 112
"""Side of a face in a question, in pixels."""


def fits(person: Person, typed: str) -> bool:
    """Return whether a person's name, alias or number contains what was typed."""
    names = [person.shown, person.name or "", *person.aliases]
    if any(c.isdigit() for c in typed):  # every person has the word "Person" before the number
        names.append(f"Person {person.number}")
    return any(typed.casefold() in name.casefold() for name in names)


class PersonPicker(QDialog):
    """A list of persons with faces, filtered as you type; nobody is chosen before the user does.

    `new`: a name that nobody has may be entered, for somebody new. `likely`: ids of persons who stand first.
    """

    def __init__(
        self,
        hub: Hub,
        head: str,
        question: str,
        people: Sequence[Person],
        parent: QWidget,
        *,
        new: bool = False,
        likely: Collection[str] = (),
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        hub.opened.connect(self.reject)  # its persons are those of another memory then
        self._people, self._new = list(people), new
        self.setWindowTitle(plain.title(head))
        self.resize(420, 520)
        self.search = SearchField()
        self.search.say(self.tr("Name; type a new one for somebody new") if new else self.tr("Name"), self.tr("Name of the person"))
        self.search.textChanged.connect(self._filter)
        self.model = PeopleModel(hub, self, first=frozenset(likely))
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(PersonDelegate(hub, self.list, confirms=False))
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setAccessibleName(self.tr("People"))
        self.list.setUniformItemSizes(True)
        self.list.activated.connect(lambda _index: self._accept())
        self.list.selectionModel().currentChanged.connect(lambda *_: self._enable())
        self.none = plain.Label(self.tr("Nobody has this name."))
        self.none.setProperty("muted", True)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.choose = QPushButton(self.tr("Choose"))
        self.choose.clicked.connect(self._accept)
        self.buttons.addButton(self.choose, QDialogButtonBox.ButtonRole.AcceptRole)
        self.choose.setDefault(True)
        self.buttons.rejected.connect(self.reject)
        text = plain.Label(question)
        text.setWordWrap(True)
        column = QVBoxLayout(self)
        for widget in (text, self.search, self.list, self.none, self.buttons):
            column.addWidget(widget, 1 if widget in (self.list, self.none) else 0)
        self._filter("")
        self.search.setFocus()

    def _filter(self, typed: str) -> None:
        found = [p for p in self._people if fits(p, typed.strip())]
        self.model.show(found)
        self.list.setCurrentIndex(self.model.index(0) if typed.strip() and found else QModelIndex())
        self.list.setVisible(bool(found))
        self.none.setVisible(not found)
        self._enable()

    def person(self) -> Person | None:
        """Return the chosen person; None if nobody is chosen."""
        index = self.list.currentIndex()
        person: Person | None = index.data(PERSON) if index.isValid() else None
        return person

    def new_name(self) -> str:
        """Return the name of somebody new, "" if a person is chosen or a new one may not be entered."""
        return self.search.text().strip() if self._new and self.person() is None else ""

    def _enable(self) -> None:
        self.choose.setEnabled(self.person() is not None or bool(self.new_name()))
        name = self.new_name()
        self.choose.setText(plain.entry(self.tr("New person: %1").replace("%1", plain.line(name, 30))) if name else self.tr("Choose"))

    def _accept(self) -> None:
        if self.choose.isEnabled():
            self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move in the list by the arrow keys while the cursor stays in the name."""
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up) and self.search.hasFocus() and self.model.rowCount():
            step = 1 if event.key() == Qt.Key.Key_Down else -1
            row = self.list.currentIndex().row() + step
            self.list.setCurrentIndex(self.model.index(max(0, min(self.model.rowCount() - 1, row))))
            return
        super().keyPressEvent(event)


class BothFaces(QDialog):
    """A question about two persons, with their faces and times; each answer is a button, Escape answers nothing."""

    def __init__(self, hub: Hub, head: str, question: str, people: Sequence[Person], parent: QWidget, more: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(plain.title(head))
        self._hub = hub
        hub.opened.connect(self.reject)  # its persons are those of another memory then
        text = plain.Label(question)
        text.setProperty("heading", True)
        text.setWordWrap(True)
        faces = QHBoxLayout()
        faces.addStretch(1)
        model = PeopleModel(hub, self)
        for person in people:
            side = QVBoxLayout()
            side.addWidget(self._face(person), 0, Qt.AlignmentFlag.AlignHCenter)
            name = plain.Label(plain.line(person.shown, plain.ENTRY))
            name.setAlignment(Qt.AlignmentFlag.AlignCenter)
            times = plain.Label(model.times(person))
            times.setProperty("muted", True)
            times.setAlignment(Qt.AlignmentFlag.AlignCenter)
            side.addWidget(name)
            side.addWidget(times)
            faces.addLayout(side)
            faces.addStretch(1)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addWidget(text)
        column.addLayout(faces)
        if more:
            effect = plain.Label(more)
            effect.setWordWrap(True)
            effect.setProperty("muted", True)
            column.addWidget(effect)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.buttons.rejected.connect(self.reject)
        column.addWidget(self.buttons)

    def _face(self, person: Person) -> plain.Label:
        label = plain.Label()
        label.setAccessibleName(plain.line(person.shown, plain.ENTRY))
        ratio = self.devicePixelRatioF()

        def put(picture: QPixmap) -> None:
            if isValid(label):  # answered before the picture came
                picture.setDevicePixelRatio(ratio)
                label.setPixmap(picture)

        here = self._hub.pictures.get(person.portrait, round(FACE * ratio), then=put)
        if here is not None:
            put(here)
        else:
            label.setPixmap(fallback_head(person.id, initial(person), FACE, ratio))
        return label

    def answer(self, label: str, act: Callable[[], object], tip: str = "") -> QPushButton:
        """Add an answer, which closes the question and then acts."""
        button = self.buttons.addButton(plain.entry(label), QDialogButtonBox.ButtonRole.ActionRole)
        button.setAutoDefault(False)
        if tip:
            plain.tip(button, tip)

        def run() -> None:
            self.accept()
            act()

        button.clicked.connect(run)
        return button


def name_person(hub: Hub, people: Iterable[Person], person: str, name: str, parent: QWidget) -> None:
    """Name a person; where somebody else of `people` has that name already, ask first whether the two are one person."""
    translate = QCoreApplication.translate
    everyone = {p.id: p for p in people}
    same = next((p for p in everyone.values() if p.id != person and (p.name or "").casefold() == name.casefold()), None)
    if same is None or person not in everyone:
        hub.correct("name", {"person": person, "name": name})
        return
    question = translate("PersonPicker", "Is this the same person as this %1?").replace("%1", plain.line(same.shown, plain.ENTRY))
    dialog = BothFaces(hub, translate("PersonPicker", "An existing name"), question, (everyone[person], same), parent)
    keep = same.id
    dialog.answer(translate("PersonPicker", "The same person"), lambda: hub.correct("merge", {"keep": keep, "others": [person]}))
    other = translate("PersonPicker", "Another %1").replace("%1", plain.line(name, 30))
    dialog.answer(other, lambda: hub.correct("name", {"person": person, "name": name}))
    dialog.open()


def likely_first(hub: Hub, person: str, then: Callable[[list[Person], set[str]], None]) -> None:
    """Read everybody else, then call `then(people, likely)`. Likely: whom the memory takes this person for in an open question."""

    def read(likely: set[str]) -> None:
        hub.read("people to choose", everybody, lambda people: then([p for p in people if p.id != person], likely))

    def asked(questions: list[Suggestion]) -> None:
        read({p for q in questions if q.kind in ("same", "link") and person in q.people for p in q.people} - {person})

    if hub.desk is not None:
        hub.when(hub.desk.suggestions(), asked, lambda _error: read(set()))


def everybody(reader: Reader) -> list[Person]:
    """Return everybody, named and most present first (in the reading thread)."""
    return sorted(reader.people(), key=lambda p: (p.ignored, p.name is None, -p.screen_time - p.speech_time))
