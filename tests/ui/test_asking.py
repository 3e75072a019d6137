"""Dialogs by keyboard: what has the focus when they open, what Enter does, and that Tab goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain, theme
from m3desk_ui.look.danger_button import DangerButton
from m3desk_ui.window.models_dialog import ModelsDialog
from m3desk_ui.window.settings_dialog import SettingsDialog
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.fakes import FakeDesk


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


def answered(qtbot: QtBot, ask: Callable[[], object], press: Callable[[QDialog], None]) -> object:
    """Return what a modal question returns that is answered by keys once it is open."""

    def open_now() -> None:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QDialog) or QApplication.focusWidget() is None:
            QTimer.singleShot(20, open_now)
            return
        try:
            press(dialog)
        finally:
            if dialog.isVisible():  # the keys have not closed it
                dialog.reject()

    QTimer.singleShot(0, open_now)
    return ask()


def test_enter_never_confirms_what_is_lost_for_good(qtbot: QtBot, parent: QWidget) -> None:
    def press(key: Qt.Key) -> Callable[[QDialog], None]:
        def act(dialog: QDialog) -> None:
            go = next(b for b in dialog.findChildren(QPushButton) if b.text() == "Remove")
            go.setFocus()
            QTest.keyClick(go, key)

        return act

    def ask() -> bool:
        return plain.sure(parent, "Remove", "Remove it?", "", "Remove")

    assert answered(qtbot, ask, press(Qt.Key.Key_Return)) is False
    assert answered(qtbot, ask, press(Qt.Key.Key_Enter)) is False
    assert answered(qtbot, ask, press(Qt.Key.Key_Space)) is True


def test_enter_passes_a_dangerous_button_by_on_every_desktop(qtbot: QtBot) -> None:
    button = DangerButton("Forget")
    qtbot.addWidget(button)
    pressed: list[bool] = []
    button.clicked.connect(lambda: pressed.append(True))
    button.setDefault(True)  # as a desktop would that lets Enter press what has the focus
    button.show()
    QTest.keyClick(button, Qt.Key.Key_Return)
    assert not pressed
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert pressed


def test_a_note_is_written_and_accepted_without_the_mouse(qtbot: QtBot, parent: QWidget) -> None:
    def by_tab(dialog: QDialog) -> None:
        text = dialog.findChild(QPlainTextEdit)
        assert text is not None and QApplication.focusWidget() is text
        QTest.keyClicks(text, "the vase")
        now: QWidget = text
        while not (isinstance(now, QPushButton) and now.text().replace("&", "") == "OK"):
            QTest.keyClick(now, Qt.Key.Key_Tab)
            assert QApplication.focusWidget() not in (None, text), text.toPlainText()
            now = QApplication.focusWidget()
        QTest.keyClick(now, Qt.Key.Key_Return)

    def by_keys(dialog: QDialog) -> None:
        text = dialog.findChild(QPlainTextEdit)
        assert text is not None
        QTest.keyClicks(text, "falls")
        QTest.keyClick(text, Qt.Key.Key_Return)
        QTest.keyClicks(text, "down")
        QTest.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    assert answered(qtbot, lambda: plain.written(parent, "Bookmark", "Note:"), by_tab) == "the vase"
    assert answered(qtbot, lambda: plain.edited(parent, "Bookmark", "Note:", ""), by_keys) == "falls\ndown"
    assert answered(qtbot, lambda: plain.written(parent, "Bookmark", "Note:"), lambda _dialog: None) is None


def test_the_settings_open_on_their_first_field(qtbot: QtBot, hub: Hub) -> None:
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.focusWidget() is not None, timeout=30_000)
    assert dialog.focusWidget() is dialog.fields["language"]


def test_enter_on_opening_the_models_downloads_nothing(qtbot: QtBot, hub: Hub, desk: FakeDesk) -> None:
    dialog = ModelsDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: not dialog.offer.isHidden() and dialog.focusWidget() is not None, timeout=30_000)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert not desk.called("pull")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_button_that_has_the_focus_is_told_from_the_default(qtbot: QtBot, mode: str) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, mode)
    dialog = QDialog()
    qtbot.addWidget(dialog)
    column = QVBoxLayout(dialog)
    first, second = (QPushButton(name) for name in ("first", "second"))
    for button in (first, second):
        button.setProperty("primary", True)
        column.addWidget(button)
    dialog.show()
    dialog.activateWindow()
    pictures: list[QImage] = []
    for focused in (first, second):
        focused.setFocus()
        qtbot.waitUntil(focused.hasFocus, timeout=30_000)
        pictures.append(first.grab().toImage())
    assert pictures[0] != pictures[1]
