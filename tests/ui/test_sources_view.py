"""The list of sources: what it removes, and whose files it finds."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.memory.sources_view import SourcesView, is_there
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from m3desk import events
from m3desk.domain.clip import Source
from tests.ui.fakes import FakeDesk


def removed(desk: FakeDesk) -> list[bool]:
    """Return, for each request to remove a source, whether it was a dry run."""
    return [how.get("dry_run", False) for _, how in desk.called("remove_source")]


@pytest.mark.parametrize("another", [False, True])
def test_a_source_is_removed_unless_another_memory_opens_during_the_question(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch, another: bool
) -> None:
    view = SourcesView(hub)
    qtbot.addWidget(view)
    qtbot.waitUntil(lambda: bool(view.model.rows), timeout=30_000)
    other, asked = FakeDesk(), []

    def sure(*question: object) -> bool:
        asked.append(question)
        if another:
            hub.open(other)  # a file that was being opened is open now
        return True

    monkeypatch.setattr(plain, "sure", sure)
    view.remove(view.model.rows[0])
    qtbot.waitUntil(lambda: bool(asked), timeout=30_000)
    qtbot.wait(50)
    assert removed(desk) == ([True] if another else [True, False]) and removed(other) == []


@pytest.mark.parametrize("ours", [False, True])
def test_before_a_live_source_is_removed_the_question_says_that_its_recording_is_deleted(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    view = SourcesView(hub)
    qtbot.addWidget(view)
    qtbot.waitUntil(lambda: bool(view.model.rows), timeout=30_000)
    asked: list[str] = []
    monkeypatch.setattr(plain, "sure", lambda *question: asked.append(question[3]))
    row, folder = view.model.rows[0], Path(hub.path).absolute() if ours else Path("elsewhere").absolute()
    view.remove(replace(row, source=replace(row.source, uri=str(folder / "recordings" / "s1-camera-0"))))
    qtbot.waitUntil(lambda: bool(asked), timeout=30_000)
    assert ("Its recording is deleted, too." in asked[0], "The file itself stays" in asked[0]) == (ours, not ours)


@pytest.mark.parametrize("another", [False, True])
def test_a_file_is_asked_for_once_the_list_is_read_unless_another_memory_opens_before(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch, another: bool
) -> None:
    go, asked = threading.Event(), []

    def chosen(_parent: object, head: str, _near: str) -> tuple[str, str]:
        asked.append(head)
        return "/new/film.mp4", ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", chosen)
    hub.read("held", lambda _reader: go.wait(30), lambda _done: None)
    view = SourcesView(hub)
    qtbot.addWidget(view)
    view.locate_source("s1")
    if another:
        hub.open(FakeDesk())
    go.set()
    qtbot.waitUntil(lambda: bool(view.model.rows), timeout=30_000)
    passed: list[bool] = []
    QTimer.singleShot(0, lambda: passed.append(True))
    qtbot.waitUntil(lambda: bool(passed) and bool(asked) != another, timeout=30_000)
    assert len(asked) == (not another)
    assert desk.called("relink") == ([] if another else [(("s1", "/new/film.mp4"), {})])


def source(uri: str, state: str = "done") -> Source:
    return Source("s1", uri, None, None, None, None, False, None, state=state)  # type: ignore[arg-type]


def test_the_recording_of_a_live_source_is_there_like_a_file_and_also_before_its_first_picture(tmp_path: Path) -> None:
    film, recording, empty = tmp_path / "film.mp4", tmp_path / "s2-camera-0", tmp_path / "empty"
    film.touch()
    recording.mkdir()
    (recording / "recording.json").touch()
    empty.mkdir()
    assert is_there(source(str(film))) and is_there(source(str(recording))) and is_there(source("https://example.org/film.mp4"))
    assert not is_there(source(str(empty))) and not is_there(source(str(tmp_path / "gone.mp4")))
    assert is_there(source(str(empty), "live"))


def test_while_memorizing_is_paused_no_source_is_said_to_be_memorized(qtbot: QtBot, hub: Hub) -> None:
    view = SourcesView(hub)
    qtbot.addWidget(view)
    qtbot.waitUntil(lambda: bool(view.model.rows), timeout=30_000)
    row = next(r for r in view.model.rows if r.source.state == "working")
    view.paint.progress[row.source.id] = events.Progress(row.source.id, "s1.c4", "watching", 10, 100, 1.0, 20.0)
    assert "being memorized" in view.paint._line(row)[0] and "watching" in view.paint._line(row)[0]
    view.set_paused(True)
    assert "paused" in view.paint._line(row)[0] and "watching" not in view.paint._line(row)[0]


def test_a_moved_recording_is_looked_for_among_folders_and_a_file_among_files(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    view = SourcesView(hub)
    qtbot.addWidget(view)
    qtbot.waitUntil(lambda: bool(view.model.rows), timeout=30_000)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/new/s1-camera-0")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/new/walk.mp4", ""))
    row = view.model.rows[0]
    recording = tmp_path / "with.ending"
    recording.mkdir()
    (recording / "recording.json").write_text("{}")
    for uri in ("/gone.m3desk/recordings/s1-camera-0", str(recording), "/gone/walk.mp4", "graph.pkl.gz"):
        view.locate(replace(row, source=replace(row.source, uri=uri, state="done")))
    assert [args[1] for args, _ in desk.called("relink")] == ["/new/s1-camera-0"] * 2 + ["/new/walk.mp4"] * 2
