"""Enter presses a focused tool button as Space does, and means the same as before everywhere else."""

from __future__ import annotations

import pytest
from m3desk_ui.look.enter_presses import EnterPresses
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QPushButton, QToolButton, QVBoxLayout
from pytestqt.qtbot import QtBot
from shiboken6 import isValid


class Box(QDialog):
    """A field, two tool buttons, and a default button."""

    def __init__(self) -> None:
        super().__init__()
        self.pressed: list[str] = []
        self.keys = EnterPresses(self)
        self.field, self.tool, self.other, self.ok = QLineEdit(), QToolButton(), QToolButton(), QPushButton("OK", self)
        column = QVBoxLayout(self)
        for widget in (self.field, self.tool, self.other, self.ok):
            column.addWidget(widget)
        for tool in (self.tool, self.other):
            tool.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.ok.setDefault(True)
        self.tool.clicked.connect(lambda: self.pressed.append("tool"))
        self.other.clicked.connect(lambda: self.pressed.append("other"))
        self.ok.clicked.connect(lambda: self.pressed.append("ok"))


@pytest.fixture
def box(qtbot: QtBot) -> Box:
    made = Box()
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=30_000)
    return made


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_a_focused_tool_button_is_pressed_once(box: Box, key: Qt.Key) -> None:
    box.tool.setFocus()
    QTest.keyClick(box.tool, key)
    assert box.pressed == ["tool"]
    box.other.setFocus()
    QTest.keyClick(box.other, key)
    assert box.pressed == ["tool", "other"]


def test_enter_in_a_field_is_the_dialogs(box: Box) -> None:
    box.tool.setFocus()
    box.field.setFocus()
    QTest.keyClick(box.field, Qt.Key.Key_Return)
    assert box.pressed == ["ok"]


def test_enter_with_another_key_held_is_not_taken_and_a_button_may_go_when_it_is_pressed(box: Box, qtbot: QtBot) -> None:
    box.tool.setFocus()
    box.tool.clicked.connect(box.tool.deleteLater)
    QTest.keyClick(box.tool, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert box.pressed == []
    QTest.keyClick(box.tool, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not isValid(box.tool), timeout=30_000)
    box.other.setFocus()
    QTest.keyClick(box.other, Qt.Key.Key_Return)
    assert box.pressed == ["tool", "other"]


def test_a_menu_of_a_button_is_opened(box: Box) -> None:
    menu = QMenu(box.tool)
    menu.addAction("one")
    box.tool.setMenu(menu)
    box.tool.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    seen: list[bool] = []

    def look() -> None:
        seen.append(menu.isVisible())
        menu.close()

    menu.aboutToShow.connect(lambda: QTimer.singleShot(100, look))
    box.tool.setFocus()
    QTest.keyClick(box.tool, Qt.Key.Key_Return)
    assert seen == [True]
