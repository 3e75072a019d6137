"""The window imports a file by dialog or drop, beside the open memory, with progress and cancel; a lost video can be located."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from m3desk_ui.hub.services import Services
from m3desk_ui.window.importing import ImportStrip
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from m3desk import events
from m3desk.errors import Cancelled, ImportProblem
from tests.ui.fakes import FakeDesk, FakePlayer


class Desks:
    """A desk for each memory that is opened; `imports` is ended by the test."""

    def __init__(self) -> None:
        self.opened: dict[str, FakeDesk] = {}
        self.imports: Future[dict[str, Any]] = Future()

    def open(self, path: str) -> FakeDesk:
        desk = self.opened[path] = FakeDesk(memory=path)
        desk.importing = self.imports
        return desk


@pytest.fixture
def desks() -> Desks:
    return Desks()


@pytest.fixture
def window(qtbot: QtBot, desks: Desks) -> Iterator[MainWindow]:
    services = Services(desks.open, FakePlayer, lambda v: v + ".m3desk", dict)
    window = MainWindow(services, WindowState())
    qtbot.addWidget(window)
    window.show()
    yield window
    window.close()


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "room.pkl.gz"
    path.write_bytes(b"x")
    return str(path)


REPORT = {"clips": 74, "people": 13, "memories": 2430, "warnings": ["2 texts without words were left out"]}


def begun(window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, tmp_path: Path) -> str:
    """Open a memory, drop a graph on its window, and return the path of the graph's memory once its import has begun."""
    window.open_memory(str(tmp_path / "first.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    window.take_files([graph])
    new = graph + ".m3desk"
    qtbot.waitUntil(lambda: bool(desks.opened.get(new)) and bool(desks.opened[new].called("import_file")), timeout=30_000)
    return new


def test_a_dropped_graph_is_imported_beside_the_open_memory_and_opened_when_it_is_whole(
    window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, tmp_path: Path
) -> None:
    new = begun(window, desks, qtbot, graph, tmp_path)
    assert window.hub.path.endswith("first.m3desk")
    desks.opened[new].emit(events.Progress("", "", "importing", 37, 74, None, 4.0))
    strip = window.importing.strip
    assert strip is not None
    qtbot.waitUntil(lambda: "50 %" in strip.text.text(), timeout=30_000)
    assert strip.isVisible() and "room.pkl.gz" in strip.text.text() and "writing the memory" in strip.text.text()
    with qtbot.waitSignal(window.hub.offer) as told:
        desks.imports.set_result(REPORT)
    assert "74 clips, 13 people and 2430 memories" in told.args[0] and "without words" in told.args[0]
    assert told.args[1].startswith("Locate")
    assert window.hub.path == new and window.importing.strip is None
    qtbot.waitUntil(lambda: window.hub.can_undo is False and window._status._device.text() != "", timeout=30_000)


def test_a_second_file_dropped_at_the_same_moment_is_refused_and_one_is_imported(
    window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, tmp_path: Path
) -> None:
    other = tmp_path / "hall.pkl"
    other.write_bytes(b"x")
    with qtbot.waitSignal(window.hub.notice) as told:
        window.take_files([graph])
        window.take_files([str(other)])
    assert "Another file" in told.args[1]
    desks.imports.set_result(REPORT)
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    assert len(desks.opened) == 1 and not window.importing.running
    assert not any(strip.isVisible() for strip in window.findChildren(ImportStrip))


def test_cancel_leaves_the_open_memory_as_it_is(window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, tmp_path: Path) -> None:
    new = begun(window, desks, qtbot, graph, tmp_path)
    assert window.importing.strip is not None
    window.importing.strip.cancel.click()
    assert desks.opened[new].called("stop_import")
    desks.imports.set_exception(Cancelled("the import was stopped."))
    qtbot.waitUntil(lambda: bool(desks.opened[new].called("close")), timeout=30_000)
    assert window.hub.path.endswith("first.m3desk") and not window.importing.running


def test_a_file_that_is_no_memory_is_refused_and_the_open_memory_stays(
    window: MainWindow, desks: Desks, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "facts.json").write_text("{}")
    with qtbot.waitSignal(window.hub.notice) as told:
        desks.imports.set_exception(ImportProblem("facts.json is not an export of M3Desk.", "Give the .json."))
        window.take_files([str(tmp_path / "facts.json")])
    assert told.args[0] == "error" and "facts.json" in told.args[1]
    qtbot.waitUntil(lambda: bool(desks.opened[str(tmp_path / "facts.json.m3desk")].called("close")), timeout=30_000)
    assert window.hub.desk is None


def test_cancel_that_comes_after_the_commit_opens_nothing_and_says_so(
    window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, tmp_path: Path
) -> None:
    new = begun(window, desks, qtbot, graph, tmp_path)
    assert window.importing.strip is not None
    window.importing.strip.cancel.click()
    with qtbot.waitSignal(window.hub.offer) as told:
        desks.imports.set_result(REPORT)
    qtbot.waitUntil(lambda: bool(desks.opened[new].called("close")), timeout=30_000)
    assert window.hub.path.endswith("first.m3desk") and not window.importing.running
    assert "room.pkl.gz was imported before it could be stopped" in told.args[0]
    told.args[2]()
    qtbot.waitUntil(lambda: window.hub.path == new, timeout=30_000)


def with_files(window: MainWindow, desks: Desks, *uris: str) -> None:
    """Let memories that are opened from now on have sources of these files."""

    def open_desk(path: str) -> FakeDesk:
        desk = desks.open(path)
        desk.world.sources = [replace(desk.world.sources[0], id=f"s{n}", uri=uri) for n, uri in enumerate(uris, 1)]
        return desk

    window.services = replace(window.services, open_desk=open_desk)


def test_a_video_dropped_with_its_graph_becomes_its_video(window: MainWindow, desks: Desks, qtbot: QtBot, graph: str) -> None:
    with_files(window, desks, graph)
    desks.imports.set_result(REPORT)
    window.take_files(["/films/room.mp4", graph])
    qtbot.waitUntil(lambda: bool(desks.opened.get(graph + ".m3desk")), timeout=30_000)
    desk = desks.opened[graph + ".m3desk"]
    qtbot.waitUntil(lambda: desk.called("relink") == [(("s1", "/films/room.mp4"), {})], timeout=30_000)


def test_a_video_dropped_with_an_export_is_that_of_the_one_source_whose_file_is_missing(
    window: MainWindow, desks: Desks, qtbot: QtBot, tmp_path: Path
) -> None:
    export, there = tmp_path / "memory.json", tmp_path / "there.mp4"
    for file in (export, there):
        file.write_bytes(b"x")
    with_files(window, desks, str(there), "/gone/hall.mp4")
    desks.imports.set_result(REPORT)
    window.take_files([str(export), "/films/hall.mp4"])
    qtbot.waitUntil(lambda: bool(desks.opened.get(f"{export}.m3desk")), timeout=30_000)
    desk = desks.opened[f"{export}.m3desk"]
    qtbot.waitUntil(lambda: desk.called("relink") == [(("s2", "/films/hall.mp4"), {})], timeout=30_000)


def test_of_two_sources_without_their_files_the_user_says_which_one_a_dropped_video_is(
    window: MainWindow, desks: Desks, qtbot: QtBot, tmp_path: Path
) -> None:
    export = tmp_path / "memory.json"
    export.write_bytes(b"x")
    with_files(window, desks, "/gone/room.mp4", "/gone/hall.mp4")
    desks.imports.set_result(REPORT)
    with qtbot.waitSignal(window.hub.offer) as told:
        window.take_files([str(export), "/films/hall.mp4"])
    assert told.args[1].startswith("Locate") and "74 clips" in told.args[0]
    assert not desks.opened[f"{export}.m3desk"].called("relink")


def test_a_file_imported_before_is_opened_or_imported_once_more(
    window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, tmp_path: Path
) -> None:
    there = Path(graph + ".m3desk")
    there.mkdir()
    (there / "memory.sqlite").write_bytes(b"x")
    window.take_files([graph])

    def box() -> QMessageBox | None:
        return next((b for b in window.findChildren(QMessageBox) if b.isVisible()), None)

    qtbot.waitUntil(lambda: box() is not None, timeout=30_000)
    asked = box()
    assert asked is not None and desks.opened == {}
    again = next(b for b in asked.buttons() if "once more" in b.text())
    desks.imports.set_result(REPORT)
    again.click()
    qtbot.waitUntil(lambda: window.hub.path.endswith("room.pkl.gz 2.m3desk"), timeout=30_000)


def test_the_dialog_imports_what_was_chosen(
    window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (graph, ""))
    desks.imports.set_result(REPORT)
    window.actions_.all["import"].trigger()
    qtbot.waitUntil(lambda: window.hub.path == graph + ".m3desk", timeout=30_000)


def test_the_video_of_an_imported_graph_is_located_where_the_picture_lacks(
    window: MainWindow, desks: Desks, qtbot: QtBot, graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = tmp_path / "room.mp4"
    video.write_bytes(b"x")
    desks.imports.set_result(REPORT)
    with_files(window, desks, graph)
    window.take_files([graph])
    qtbot.waitUntil(lambda: window.video.locate.isVisible(), timeout=30_000)
    assert not window.video.transport.isEnabled()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(video), ""))
    window.video.locate.click()
    desk = desks.opened[graph + ".m3desk"]
    qtbot.waitUntil(lambda: desk.called("relink") == [(("s1", str(video)), {})], timeout=30_000)
    desk.world.sources[0] = replace(desk.world.sources[0], uri=str(video))
    desk.emit(events.SourceChanged("s1", "done"))
    qtbot.waitUntil(lambda: window.video.path == str(video) and window.video.transport.isEnabled(), timeout=30_000)
    assert not window.video.locate.isVisible()
