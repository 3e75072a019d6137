"""Text can be read on every background it stands on, in both themes (WCAG 2.2, level AA: a contrast of 4.5)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from m3desk_ui.graph import style
from m3desk_ui.look import theme
from m3desk_ui.look.numbers import DecimalNumber, WholeNumber
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDialogButtonBox,
    QDoubleSpinBox,
    QLineEdit,
    QMessageBox,
    QRadioButton,
    QSpinBox,
    QStyle,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

LEAST_OF_SHAPES = 3
"""The least contrast of what is no text (WCAG 2.2, 1.4.11)."""


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


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("kind", "part"), [(QCheckBox, "SE_CheckBoxIndicator"), (QRadioButton, "SE_RadioButtonIndicator")])
def test_boxes_to_tick_are_seen_ticked_or_not(qtbot: QtBot, qapp: QApplication, name: str, kind: type[QCheckBox], part: str) -> None:
    theme.apply(qapp, name)
    page, button = QWidget(), kind("words")
    qtbot.addWidget(page)
    QVBoxLayout(page).addWidget(button)
    page.show()

    def drawn() -> list[QColor]:
        option = QStyleOptionButton()
        button.initStyleOption(option)
        place = button.style().subElementRect(QStyle.SubElement[part], option, button)
        picture = page.grab(place.translated(button.pos())).toImage()
        return [picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height())]

    def most(colours: list[QColor], ground: str) -> float:
        seen = {c.name(): colours.count(c) for c in colours}
        return max(theme.contrast(QColor(colour), QColor(ground)) for colour, times in seen.items() if times >= 4)

    c = theme.colours()
    assert most(drawn(), c.window) >= LEAST_OF_SHAPES, "its border, unticked"
    button.setChecked(True)
    ticked = drawn()
    assert most(ticked, c.window) >= LEAST_OF_SHAPES and QColor(c.accent) in ticked, "it is filled"
    assert most(ticked, c.accent) >= LEAST_OF_SHAPES and QColor(c.on_accent) in ticked, "the mark in it"
    theme.apply(qapp, "light")


def first_ink(field: QWidget) -> int:
    """Return the distance in pixels from a field's left edge to its text, beyond the frame and the cursor's place."""
    image = field.grab().toImage()
    ground = image.pixelColor(4, image.height() // 2).lightness()
    rows = range(6, image.height() - 6)
    return next(x for x in range(3, image.width()) if any(abs(image.pixelColor(x, y).lightness() - ground) > 60 for y in rows))


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_number_of_a_spin_box_stands_as_far_from_the_frame_as_the_text_of_a_line(qtbot: QtBot, qapp: QApplication, name: str) -> None:
    theme.apply(qapp, name)
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    fields: list[QWidget] = [QLineEdit("5"), WholeNumber(), DecimalNumber()]
    for field in fields:
        if isinstance(field, QSpinBox | QDoubleSpinBox):
            field.setValue(5)
        column.addWidget(field)
    window.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    window.resize(200, 160)
    with qtbot.waitExposed(window):
        window.show()
    window.setFocus()
    line, whole, decimal = map(first_ink, fields)
    assert abs(whole - line) <= 1 and abs(decimal - line) <= 1
    theme.apply(qapp, "light")


def test_no_dialog_has_a_spin_box_of_its_own() -> None:
    code = {p.name: p.read_text(encoding="utf-8") for p in (Path(__file__).parents[2] / "ui").rglob("*.py")}
    assert [
        n for n, text in code.items() if re.search(r"\bQ(Double)?SpinBox\(\w*\)", text.replace("class ", "")) and n != "numbers.py"
    ] == []
