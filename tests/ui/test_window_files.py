"""Files that the user names: no export goes into a memory or over a file unasked; no file name causes a fault."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from m3desk_ui.hub.services import Services
from m3desk_ui.look import plain
from m3desk_ui.window import files
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from m3desk import config
from m3desk.app import default_memory
from m3desk.errors import MemoryProblem, SourceError
from tests.ui.fakes import FakeDesk, FakePlayer

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


def test_subtitles_are_offered_by_that_name_and_those_of_a_silent_film_are_told_of(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    desk = FakeDesk()
    window = MainWindow(Services(lambda _path: desk, FakePlayer, lambda v: v + ".m3desk", dict), WindowState())
    qtbot.addWidget(window)
    offered: list[str] = []

    def ask(_parent: object, _head: str, _suggested: str, kinds: str) -> str:
        offered.append(kinds)
        return str(tmp_path / "x.srt")

    monkeypatch.setattr(files, "where_to_write", ask)
    told: list[tuple[str, str]] = []
    window.hub.notice.connect(lambda level, text, *_: told.append((level, text)))
    window.show_desk(desk, str(tmp_path / "m.m3desk"))
    window.export("html")
    qtbot.waitUntil(lambda: any("Exported to" in text for _, text in told), timeout=30_000)
    assert "Subtitles with names (*.srt)" in offered[0] and "(*.csv)" in offered[0]
    desk.world.speech = []
    window.export("html")
    qtbot.waitUntil(lambda: ("warning", f"{tmp_path / 'x.srt'} is empty: no speech is known.") in told, timeout=30_000)
    window.close()


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
        assert "is inside a memory" in said[0]


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


def test_a_memory_that_cannot_be_kept_by_its_name_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.m3desk").write_text("a file")
    for path in ("/m/\udcff.m3desk", "/m/" + "x" * 5000 + ".m3desk", "/m/a\0b.m3desk", str(tmp_path / "a.m3desk")):
        with pytest.raises(MemoryProblem) as refused:
            files.check_name(path)
        assert len(refused.value.line()) < 250 and "\udcff" not in refused.value.line()
    files.check_name(str(tmp_path / "new.m3desk"))


def test_a_dropped_folder_that_is_no_memory_makes_none(qtbot: QtBot, tmp_path: Path) -> None:
    opened: list[str] = []
    window = MainWindow(Services(opened.append, FakePlayer, lambda v: v + ".m3desk", dict), WindowState())  # type: ignore[arg-type,func-returns-value]
    qtbot.addWidget(window)
    (tmp_path / "empty.m3desk").mkdir()
    for name in ("gone.m3desk", "not\N{REPLACEMENT CHARACTER}utf8.m3desk", "empty.m3desk", "x" * 5000 + ".m3desk"):
        with qtbot.waitSignal(window.hub.notice) as told:
            window.take_files([str(tmp_path / name)])
        assert "is not a memory" in told.args[1]
    assert opened == []
    window.close()


def test_the_place_of_a_videos_memory_fits_its_name_and_needs_a_file(tmp_path: Path) -> None:
    long_ = tmp_path / ("记" * 83 + ".mp4")
    long_.write_bytes(b"x")
    other = tmp_path / ("记" * 83 + ".mkv")
    other.write_bytes(b"x")
    place = default_memory(long_)
    assert (
        place.parent == tmp_path and len(place.name.encode()) <= 255 and place.name.endswith(".m3desk") and place != default_memory(other)
    )
    place.mkdir()
    assert default_memory(tmp_path).name == f"{tmp_path.name}.m3desk"
    os.mkfifo(tmp_path / "pipe.mp4")
    for bad in ("gone.mp4", "pipe.mp4", "a\0b.mp4", "\udcff.mp4", "x" * 5000):
        with pytest.raises(SourceError):
            default_memory(tmp_path / bad)


def test_an_invalid_name_among_the_recent_memories_is_left_out(tmp_path: Path) -> None:
    config.remember_memory(tmp_path)
    config.remember_memory("/" + "x" * 5000)
    assert config.recent_memories() == [str(tmp_path)]
