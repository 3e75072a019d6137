"""A file is imported into an open memory for the window: with measured progress, and stopped without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from m3desk import events
from m3desk.app import App, long_work
from m3desk.bench.hostile.made_graphs import kitchen, pickled
from m3desk.errors import Cancelled, ImportProblem
from m3desk.interop import exports
from tests.engine.test_asking import WordsAlone


@pytest.fixture
def told() -> list[Any]:
    return []


@pytest.fixture
def app(tmp_path: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(long_work, "OFTEN", 0.0)
    with App(tmp_path / "m.m3desk", backends=WordsAlone(), emit=told.append) as opened:  # type: ignore[arg-type]
        yield opened


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "kitchen.pkl"
    path.write_bytes(pickled(kitchen(), 4))
    return path


def progress(told: list[Any], stage: str) -> list[tuple[int, int]]:
    return [(e.done, e.total) for e in told if isinstance(e, events.Progress) and e.stage == stage]


def test_the_progress_of_a_graph_is_measured_in_bytes_read_and_clips_written(app: App, graph: Path, told: list[Any]) -> None:
    report = app.import_file(graph)
    assert report["memories"] == 6 and report["clips"] == 3
    read, written = progress(told, "reading"), progress(told, "importing")
    size = graph.stat().st_size
    assert read and all(0 <= done <= total == size for done, total in read) and read == sorted(read)
    assert written == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("stage", ["reading", "importing"])
def test_a_stopped_import_writes_nothing_and_can_be_made_again(app: App, graph: Path, told: list[Any], stage: str) -> None:
    plain = app.emit

    def stop(event: Any) -> None:
        plain(event)
        if isinstance(event, events.Progress) and event.stage == stage:
            app.importing.stop()

    app.emit = stop
    with pytest.raises(Cancelled):
        app.import_file(graph)
    app.emit = plain
    with app.reader() as reader:
        assert reader.sources() == [] and reader.memories() == []
    assert app.import_file(graph)["clips"] == 3


def test_an_export_is_imported_and_stopped_between_its_parts(app: App, graph: Path, told: list[Any], tmp_path: Path) -> None:
    app.import_file(graph)
    file = tmp_path / "kitchen.json"
    with app.reader() as reader:
        exports.export(reader, file)
    with App(tmp_path / "again.m3desk", backends=WordsAlone(), emit=told.append) as again:  # type: ignore[arg-type]
        told.clear()
        again.emit = lambda event: again.importing.stop() if getattr(event, "stage", "") == "importing" else None
        with pytest.raises(Cancelled):
            again.import_file(file)
        again.emit = told.append
        assert again.import_file(file)["clips"] == 3
        assert progress(told, "reading") and progress(told, "importing")


def test_what_can_not_be_imported_is_refused_before_anything_is_read(app: App, tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"x")
    for path in (tmp_path / "film.mp4", tmp_path / "none.json", tmp_path):
        with pytest.raises(ImportProblem):
            app.import_file(path)
