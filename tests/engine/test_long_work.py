"""Long work on a whole memory runs beside its writer: corrections, clips and questions go on meanwhile, and it can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from m3desk import events
from m3desk.app import App, embedding, long_work
from m3desk.errors import Cancelled, MemoryBusy
from m3desk.samples import reembedding
from m3desk.store.memory import Memory
from tests.engine.test_asking import WordsAlone
from tests.store.invented import MODELS, clips, direction, hash_of, remember, source
from tests.store.random_corrections import check

SHARP = "sface another"
WAIT = 30.0


class OtherFaces(WordsAlone):
    """A text model of hashed words, and another face model, whose embeddings are invented."""

    def named(self, _port: str, name: str) -> Any:
        return type("Backend", (), {"name": name})()


@pytest.fixture
def told() -> list[Any]:
    return []


@pytest.fixture
def app(tmp_path: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    def rows(track: Any, *_: Any) -> Any:
        return direction(round(track.boxes[0].x / 10), 0.2, seed=hash_of(track.id), d=64, modality=5)

    monkeypatch.setattr(reembedding, "rows_of", rows)
    monkeypatch.setattr(embedding, "available", lambda port: [SHARP] if port == "face_vectors" else [])
    monkeypatch.setattr(long_work, "OFTEN", 0.0)
    with App(tmp_path / "m.m3desk", backends=OtherFaces(), emit=told.append) as opened:  # type: ignore[arg-type]
        opened.write(lambda m: m.plan_clips(m.add_source(source(seconds=300)).id, clips("s1", 10), fps=5.0))
        for people in ((1, 2), (1, 3), (3, 2)):
            commit(opened, people)
        yield opened


def commit(app: App, people: tuple[int, ...]) -> None:
    app.write(lambda m: remember(m, m.next_clips("s1")[0], people))


def while_it_runs(app: App, stage: str, work: Callable[[], Any], meanwhile: Callable[[], Any]) -> Any:
    """Return what `work` returns; `meanwhile` is done once, when its first progress of a stage was told, before it goes on."""
    begun, done = threading.Event(), threading.Event()
    plain = app.emit

    def emit(event: Any) -> None:
        plain(event)
        if isinstance(event, events.Progress) and event.stage == stage and not begun.is_set():
            begun.set()
            assert done.wait(WAIT), "what was to be done meanwhile waits for the long work"

    app.emit = emit
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        assert begun.wait(WAIT)
        meanwhile()
        done.set()
        return working.result(WAIT)


def test_corrections_clips_and_questions_go_on_while_tables_are_rebuilt(app: App, told: list[Any]) -> None:
    app.write(spoil)

    def meanwhile() -> None:
        app.correct("name", {"person": "person_1", "name": "Zoe"})
        commit(app, (1, 4))
        list(app.answering.ask("Who appears?"))

    report = while_it_runs(app, "rebuilding", lambda: app.check(repair=True), meanwhile)
    assert report["integrity"] == []
    app.write(check)
    with app.reader() as reader:
        assert reader.person("person_1").name == "Zoe" and len(reader.clips("s1")) == 10
    seen = [e for e in told if isinstance(e, events.Progress)]
    assert {e.stage for e in seen} == {"rebuilding"} and seen[-1].done == seen[-1].total


def spoil(memory: Memory) -> None:
    with memory.writing(folds=False) as db:
        db.execute("DELETE FROM now_edge")


def test_a_clip_and_a_correction_committed_while_faces_are_bound_again_are_bound_by_the_new_model_too(app: App, told: list[Any]) -> None:
    def meanwhile() -> None:
        commit(app, (1, 2))
        app.correct("name", {"person": "person_1", "name": "Zoe"})

    embedded, found = while_it_runs(app, "rebinding", lambda: app.reembed(SHARP, switch=True), meanwhile)
    assert (embedded, found.constraints["broken"]) == (8, 0)
    with app.reader() as reader:
        assert reader.settings()["face_vectors"] == SHARP and reader.person("person_1").name == "Zoe"
        assert [b.by for b in reader.bindings("s1.c3.f0")] == [MODELS["face_vectors"], SHARP]
    app.write(check)
    assert {e.stage for e in told if isinstance(e, events.Progress)} == {"embedding", "rebinding"}


def test_a_memory_that_others_change_all_the_time_is_rebound_on_the_writers_thread(app: App) -> None:
    tries = 0
    plain = app.reader

    def reader(*args: Any) -> Any:
        nonlocal tries
        tries += 1
        found = plain(*args)
        recomputed = found.rebound

        def rebound(*how: Any) -> Any:
            result = recomputed(*how)
            app.correct("name", {"person": "person_1", "name": f"Zoe {tries}"})
            return result

        found.rebound = rebound  # type: ignore[method-assign]
        return found

    app.reader = reader  # type: ignore[method-assign]
    app.reembed(SHARP, switch=True)
    assert tries >= long_work.TRIES
    app.write(check)
    with plain() as now:
        assert now.settings()["face_vectors"] == SHARP


def test_closing_the_memory_stops_it_and_nothing_is_changed(app: App) -> None:
    def closing() -> None:
        app._closing.set()

    with pytest.raises(Cancelled):
        while_it_runs(app, "rebinding", lambda: app.reembed(SHARP, switch=True), closing)
    app.write(check)
    with app.reader() as reader:
        assert reader.settings()["face_vectors"] == MODELS["face_vectors"]
        assert reader.lacking_rows("face", SHARP) == [], "what was embedded is kept"


def test_what_lacks_an_embedding_on_the_last_try_is_told(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_embed_stored", lambda *_: None)
    with pytest.raises(MemoryBusy):
        app.reembed(SHARP, switch=True)
    app.write(check)
