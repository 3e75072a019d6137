"""Text can be read on every background it stands on, in both themes (WCAG 2.2, level AA: a contrast of 4.5)."""

from __future__ import annotations

import pytest
from m3desk_ui.graph import style
from m3desk_ui.look import theme
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMessageBox, QStyle
from pytestqt.qtbot import QtBot


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_can_be_read_on_its_background(qapp: QApplication, name: str) -> None:
    theme.apply(qapp, name)
    c = theme.colours()
    pairs = [
        (text, ground) for text in ("text", "muted", "link", "accent", "good", "warn", "bad") for ground in ("window", "surface", "raised")
    ]
    pairs += [("on_accent", "accent"), ("text", "line"), ("surface", "warn")]
    low = {pair: round(theme.contrast(QColor(getattr(c, pair[0])), QColor(getattr(c, pair[1]))), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < theme.LEAST_CONTRAST} == {}
    theme.apply(qapp, "light")


@pytest.mark.parametrize("name", ["light", "dark"])
def test_names_in_the_colours_of_people_can_be_read(qapp: QApplication, name: str) -> None:
    theme.apply(qapp, name)
    c = theme.colours()
    for number in range(3 * len(c.people)):
        shown = theme.readable(theme.person_colour(f"person_{number + 1}"))
        assert min(theme.contrast(shown, QColor(g)) for g in (c.window, c.surface, c.raised)) >= theme.LEAST_CONTRAST, number
    theme.apply(qapp, "light")


@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_person_has_one_colour_in_the_graph_and_everywhere_else(qapp: QApplication, name: str) -> None:
    theme.apply(qapp, name)
    cells = style.look().cells()
    for number in (0, 1, 12, 13, 25, 36, 37):
        person = f"person_{number}"
        assert cells[style.cell_of("person", person)][1] == theme.person_colour(person), person
    theme.apply(qapp, "light")


def test_buttons_of_dialogs_have_no_pictures_of_the_desktop(qtbot: QtBot, qapp: QApplication) -> None:
    theme.apply(qapp, "light")
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close | QDialogButtonBox.StandardButton.Cancel)
    message = QMessageBox(QMessageBox.Icon.Question, "", "", QMessageBox.StandardButton.Cancel)
    for widget in (box, message):
        qtbot.addWidget(widget)
        widget.ensurePolished()
        assert not widget.style().styleHint(QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons, None, widget)
    for button in [*box.buttons(), *message.buttons()]:
        assert button.icon().isNull()
