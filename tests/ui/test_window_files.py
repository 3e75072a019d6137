"""Files that the user names: no export goes into a memory or over a file unasked, and no name of a file is a fault of the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from m3desk_ui import files, plain
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

KINDS = "JSON (*.json);;WebVTT (*.vtt)"


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def answer(monkeypatch: pytest.MonkeyPatch, path: Path | str, kind: str = "JSON (*.json)") -> None:
    def ask(*_: object, options: QFileDialog.Option, **__: object) -> tuple[str, str]:
        assert options & QFileDialog.Option.DontConfirmOverwrite  # Qt's own question would show the name as HTML
        return str(path), kind

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)


def press(text: str) -> list[str]:
    """Press a button of the message box that comes next; return what it said."""
    said: list[str] = []

    def now() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        said.append(f"{box.text()} {box.informativeText()}")
        next(b for b in box.buttons() if b.text().replace("&", "") == text).click()

    QTimer.singleShot(100, now)
    return said


def test_a_new_file_is_written_where_the_user_says_with_an_ending_of_its_kind(
    parent: QWidget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for given, kind, wanted in (("a.json", "JSON (*.json)", "a.json"), ("a", "WebVTT (*.vtt)", "a.vtt"), ("v1.2", "", "v1.2.json")):
        answer(monkeypatch, tmp_path / given, kind)
        assert files.where_to_write(parent, "Export", "", KINDS) == str(tmp_path / wanted)
    answer(monkeypatch, "")
    assert files.where_to_write(parent, "Export", "", KINDS) is None


@pytest.mark.parametrize("name", ["memory.json", "media/new.json", "sub/x.json"])
def test_nothing_is_written_into_a_memory(
    parent: QWidget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, qtbot: QtBot
) -> None:
    memory = tmp_path / "plainly named"
    (memory / "sub").mkdir(parents=True)
    (memory / "memory.sqlite").write_bytes(b"x")
    (tmp_path / "link").symlink_to(memory)
    for folder in (memory, tmp_path / "link"):
        answer(monkeypatch, folder / name)
        said = press("OK")
        assert files.where_to_write(parent, "Export", "", KINDS) is None
        assert "lies in a memory" in said[0]


def test_a_file_that_is_there_is_replaced_only_after_a_question(
    parent: QWidget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: QtBot
) -> None:
    there = tmp_path / "<img src=x> & notes.json"
    there.write_text("mine")
    answer(monkeypatch, there)
    said = press("Cancel")
    assert files.where_to_write(parent, "Export", "", KINDS) is None
    assert "Replace <img src=x> & notes.json?" in said[0]
    press("Replace")
    assert files.where_to_write(parent, "Export", "", KINDS) == str(there)
    assert there.read_text() == "mine"


def test_enter_and_escape_lose_nothing(parent: QWidget, qtbot: QtBot) -> None:
    def reject() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        assert box.defaultButton() is not None and box.standardButton(box.defaultButton()) == QMessageBox.StandardButton.Cancel
        box.reject()

    QTimer.singleShot(100, reject)
    assert not plain.sure(parent, "Remove", "Remove it?", "", "Remove")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "\udcff", "", "a/" * 3000])
def test_a_name_that_no_file_can_have_is_no_file(name: str) -> None:
    assert not files.is_file(name)
    assert not files.is_memory(name)
    files.memory_around(name)
