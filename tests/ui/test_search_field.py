"""A search field says what it is for in words that its width can show."""

from __future__ import annotations

import pytest
from m3desk_ui.look import theme
from m3desk_ui.look.search_field import SearchField
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot


@pytest.mark.parametrize(("words", "short"), [("Filter people", "Filter"), ("筛选人物", "筛选"), ("Find in the graph", "Find")])
def test_at_its_least_width_the_short_words_are_whole(qtbot: QtBot, words: str, short: str) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, "light")
    beside = QWidget()
    qtbot.addWidget(beside)
    beside.resize(500, 40)
    field = SearchField(beside)
    field.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    field.say(words, short=short)
    beside.show()

    def picture(width: int) -> QImage:
        field.resize(width, 26)
        field.setPlaceholderText(short)
        return field.grab().toImage().copy(4, 4, field.minimumWidth() - 10, 18)

    assert picture(field.minimumWidth()) == picture(400)
