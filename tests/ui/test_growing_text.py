"""A text that is written while it is shown: only its end is laid out anew."""

from __future__ import annotations

import pytest
from m3desk_ui.look import plain
from m3desk_ui.look.growing_text import GrowingText
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

WORDS = (
    "Ann takes the kettle, fills it and waits.\n\n" + "她把水壶放在炉子上，然后坐下来等待。" * 6 + "\n" + "a\U0001f600b " * 30 + "w" * 90
)


@pytest.mark.parametrize("step", [1, 3, 17])
def test_what_grows_has_the_lines_that_it_has_at_once(qtbot: QtBot, step: int) -> None:
    growing, shown = GrowingText(QFont(), 180), plain.breakable(WORDS)
    for end in range(0, len(shown) + step, step):
        growing.take(shown[:end])
    at_once = GrowingText(QFont(), 180)
    at_once.take(shown)
    assert growing.lines == at_once.lines and len(at_once.lines) > 10
    assert "".join("".join(at_once.lines).split()) == "".join(shown.split())
    assert growing.height() == at_once.height()


def test_of_a_long_text_only_the_end_is_broken_again(qtbot: QtBot) -> None:
    growing = GrowingText(QFont(), 180)
    growing.take("Ann takes the kettle. " * 100)
    count = len(growing.lines)
    assert growing.take("Ann takes the kettle. " * 100 + "She waits.") >= count - 2
    assert growing.take("Something else.") == 0 and growing.lines == ["Something else."]


def test_a_label_grows_and_ends_as_the_label_that_it_was(qtbot: QtBot) -> None:
    label = plain.Stream()
    qtbot.addWidget(label)
    label.resize(200, 40)
    label.show()
    label.say("Searching …")
    label.grow("Ann <b>takes</b>")
    empty = label.heightForWidth(200)
    label.grow("Ann <b>takes</b> the kettle. " * 10)
    assert label.text() == "Ann <b>takes</b> the kettle. " * 10 == label.accessibleName()
    assert label.heightForWidth(200) >= 4 * empty and label.heightForWidth(400) < label.heightForWidth(200)
    label.resize(200, label.heightForWidth(200))
    written = label.grab().toImage()
    label.say("Ann <b>takes</b> the kettle. " * 10)
    assert abs(label.heightForWidth(200) - written.height() / written.devicePixelRatio()) <= 2
    assert label.accessibleName() == "" and label.text().startswith("Ann &lt;b&gt;takes")


@pytest.mark.parametrize("text", ["Ann takes the kettle. " * 10, "她把水壶放在炉子上，然后坐下来等待。" * 4])
@pytest.mark.parametrize("more", [0, 5, 14])
def test_a_text_stands_where_it_stood_while_it_grew(qtbot: QtBot, text: str, more: int) -> None:
    label = plain.Stream()
    qtbot.addWidget(label)
    label.resize(200, 40)
    label.show()
    label.grow(text)
    label.resize(200, label.heightForWidth(200) + more)
    growing = _first_ink(label)
    label.say(text)
    assert _first_ink(label) == growing


def _first_ink(label: plain.Stream) -> int:
    """Return the first row of pixels that holds any of the text."""
    shown = label.grab().toImage()
    ground = shown.pixel(shown.width() - 1, shown.height() - 1)
    return next(y for y in range(shown.height()) if any(shown.pixel(x, y) != ground for x in range(shown.width())))


def test_a_label_that_becomes_higher_with_each_line_breaks_only_its_end_again(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    window, label = QWidget(), plain.Stream()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addWidget(label)
    column.addStretch()
    window.resize(240, 900)
    window.show()
    broken: list[int] = []
    whole = GrowingText._break
    monkeypatch.setattr(GrowingText, "_break", lambda self, part, start: (broken.append(len(part)), whole(self, part, start))[1])
    for count in range(1, 21):
        broken.clear()
        label.grow("Ann takes the kettle and waits. " * count)
        qtbot.wait(5)
    assert label.height() > 10 * label.fontMetrics().height() and 0 < sum(broken) < 200
