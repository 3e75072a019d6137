"""F6 goes on where an area has nothing that can have the focus."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from m3desk_ui.look.on_show import is_on_show
from m3desk_ui.window import areas
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QHBoxLayout, QLabel, QMainWindow, QPushButton, QWidget
from pytestqt.qtbot import QtBot


def test_an_area_without_anything_to_focus_is_passed_over(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    beside = QHBoxLayout(window)
    parts: list[QWidget] = [QPushButton("left"), QLabel("nothing to press"), QPushButton("right")]
    for part in parts:
        beside.addWidget(part)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=30_000)
    parts[0].setFocus()
    found = []
    for _ in range(3):
        area = areas.next_area(parts, window, back=False)
        assert area is not None
        areas.focus(area)
        found.append(QApplication.focusWidget())
    assert found == [parts[2], parts[0], parts[2]]
    assert areas.next_area(parts[1:2], window, back=False) is None


def test_an_area_that_says_what_gets_the_focus_is_asked(qtbot: QtBot) -> None:
    class Asking(QWidget):
        asked = 0

        def focus_input(self) -> None:
            self.asked += 1

    window = Asking()
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: is_on_show(window), timeout=30_000)
    assert areas.next_area([window], window, back=False) is window
    areas.focus(window)
    assert window.asked == 1


def test_what_is_behind_another_is_not_on_show(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    docks = [QDockWidget(name, window) for name in ("one", "two")]
    for dock in docks:
        dock.setWidget(QPushButton(dock))
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.tabifyDockWidget(*docks)
    window.show()
    docks[1].raise_()
    qtbot.waitUntil(lambda: is_on_show(docks[1]) and not is_on_show(docks[0]), timeout=30_000)
    docks[1].hide()
    qtbot.waitUntil(lambda: is_on_show(docks[0]) and not is_on_show(docks[1]), timeout=30_000)


def test_whether_a_widget_can_be_seen_is_asked_in_one_place() -> None:
    code = Path(areas.__file__).parents[1]
    assert [p.name for p in code.rglob("*.py") if "visibleRegion" in p.read_text()] == ["on_show.py"]
