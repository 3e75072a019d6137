"""F6 goes on where an area has nothing that can have the focus."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6")

from m3desk_ui.window import areas
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QWidget
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
