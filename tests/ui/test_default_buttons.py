"""The button that Enter presses in a dialog is the same wherever the focus has been."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from m3desk_ui.graph.past import DateDialog
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.person_picker import PersonPicker
from m3desk_ui.people.teach_person import TeachPerson
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.fakes import World

Made = tuple[QDialog, QPushButton, QWidget]


def _date(hub: Hub, world: World, parent: QWidget) -> Made:
    dialog = DateDialog(hub, parent)
    return dialog, next(b for b in dialog.findChildren(QPushButton) if b.text() == "Show"), dialog.when


def _picker(hub: Hub, world: World, parent: QWidget) -> Made:
    dialog = PersonPicker(hub, "This is…", "Who is this?", world.people, parent, new=True)
    return dialog, dialog.choose, dialog.search


def _teach(hub: Hub, world: World, parent: QWidget) -> Made:
    dialog = TeachPerson(hub, world.people[0], parent)
    return dialog, dialog.teach, dialog.name


@pytest.mark.parametrize("make", [_date, _picker, _teach])
def test_it_is_the_default_again_after_cancel_had_the_focus(
    make: Callable[[Hub, World, QWidget], Made], hub: Hub, world: World, qtbot: QtBot
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog, does, field = make(hub, world, parent)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow, timeout=30_000)
    cancel = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Cancel)  # type: ignore[union-attr]
    assert does.isDefault()
    cancel.setFocus()  # it is the default while it has the focus
    field.setFocus()
    assert does.isDefault() and not cancel.isDefault()
