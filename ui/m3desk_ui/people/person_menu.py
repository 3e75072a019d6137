"""What else can be done with a person: the same entries in the list's menu, on the person page and in the menu bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu, QWidget

from m3desk_ui.people import forget_person, teach_person, voice_links
from m3desk_ui.people.person_picker import PersonPicker, everybody

if TYPE_CHECKING:
    from collections.abc import Callable

    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub


def fill(menu: QMenu, hub: Hub, person: str, parent: QWidget) -> None:
    """Add the entries to a menu about a person."""
    translate = QCoreApplication.translate
    menu.addAction(translate("PersonMenu", "Teach from photos or speech…"), lambda: teach_person.ask(hub, person, parent))
    menu.addAction(translate("PersonMenu", "Face and voice…"), lambda: voice_links.ask(hub, person, parent))
    menu.addSeparator()
    menu.addAction(translate("PersonMenu", "Forget…"), lambda: forget_person.ask(hub, person, parent))


def forget(hub: Hub, parent: QWidget) -> None:
    """Forget the selected person, or one whom the user chooses."""
    question = QCoreApplication.translate("PersonMenu", "Who is to be forgotten?")
    with_person(hub, parent, question, lambda person: forget_person.ask(hub, person, parent))


def teach(hub: Hub, parent: QWidget) -> None:
    """Teach the selected person, or somebody whose name is typed."""
    kind, id_ = hub.selection.current
    teach_person.ask(hub, id_ if kind == "person" else "", parent)


def join_voice(hub: Hub, parent: QWidget) -> None:
    """Show the faces and voices of the selected person, or of one whom the user chooses."""
    question = QCoreApplication.translate("PersonMenu", "Whose face and voice?")
    with_person(hub, parent, question, lambda person: voice_links.ask(hub, person, parent))


def with_person(hub: Hub, parent: QWidget, question: str, then: Callable[[str], object]) -> None:
    """Call `then` with the selected person; if nobody is selected, let the user choose."""
    kind, id_ = hub.selection.current
    if kind == "person":
        then(id_)
        return

    def choose(people: list[Person]) -> None:
        picker = PersonPicker(hub, QCoreApplication.translate("PersonMenu", "Choose a person"), question, people, parent)

        def chosen() -> None:
            person = picker.person()
            if person is not None:
                then(person.id)

        picker.accepted.connect(chosen)
        picker.open()

    hub.read("people to choose", everybody, choose)
