"""A clip that a scripted model watched, through the whole pipeline: memorized, checked, asked about; forgotten, tried again, resumed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from m3desk.app import App
from m3desk.backends import Backends
from m3desk.config import Settings
from m3desk.errors import ModelFailed, UsageError
from m3desk.events import AskDone
from m3desk.work import Options
from tests.engine.fakes import FakeBackends
from tests.engine.made import drawn_talk
from tests.memorization.watched.made import ScriptedWatcher, reply

WATCHED = reply(
    (0, 3, "<face_1> carries a violin across the room."),
    (3, 5, "A parrot sits on the piano."),
    knowledge=[{"text": "<face_1> plays the violin.", "topic": "attribute"}],
)


def backends(model: Any, **more: Any) -> Backends:
    found = Backends(lambda name: Path(name), profile={"watcher": "scripted"} if model is not None else {})
    for port, fake in {**FakeBackends().all, **more, **({"watcher": model} if model is not None else {})}.items():
        found.replace(port, fake)
    return found


def app_at(folder: Path, model: Any, **more: Any) -> App:
    return App(folder / "m.m3desk", settings=Settings.defaults(), backends=backends(model, **more), emit=lambda _event: None)


def memorized(folder: Path, model: Any, **options: Any) -> App:
    app = app_at(folder, model)
    app.work.add([drawn_talk(folder / "talk")], Options(clip_seconds=5, end=5_000_000, **options))
    app.work.run()
    return app


def test_what_a_model_saw_is_a_sound_memory_that_answers(tmp_path: Path) -> None:
    model = ScriptedWatcher([WATCHED])
    with memorized(tmp_path, model) as app:
        assert app.work.conclude() == 1
        assert app.check()["ok"]
        with app.reader() as reader:
            episodic, semantic = reader.memories(kind="episodic"), reader.memories(kind="semantic")
        said = [s for s in episodic if s.event == "says"]
        assert said and all(s.model == "composed-6" for s in said), "speech is told by rule"
        (violin,) = (s for s in episodic if "violin" in s.text)
        assert violin.model == "watched by scripted: scripted-1, prompt watch-1"
        assert violin.text.startswith("someone") and violin.people
        assert [s.model for s in semantic] == [violin.model] and semantic[0].people == violin.people
        app.embed_lacking()
        (done,) = (e for e in app.answering.ask("Where does the parrot sit?") if isinstance(e, AskDone))
        assert "A parrot sits on the piano" in done.answer and done.citations[0].clip == "s1.c0"


def test_a_clip_that_the_model_can_not_tell_is_kept_for_another_try(tmp_path: Path) -> None:
    model = ScriptedWatcher(["not JSON", "nor this", WATCHED])
    with memorized(tmp_path, model) as app:
        with app.reader() as reader:
            (clip,) = reader.clips()
            assert clip.state == "failed" and "no usable reply" in (clip.error or "")
            assert reader.memories() == []
        app.work.retry("s1")
        app.work.run()
        with app.reader() as reader:
            assert [c.state for c in reader.clips()] == ["episodic"]
            assert any("violin" in s.text for s in reader.memories())


def test_a_run_that_goes_on_writes_on_with_the_same_writer(tmp_path: Path) -> None:
    def dies() -> None:
        raise KeyboardInterrupt

    film = drawn_talk(tmp_path / "talk")
    with app_at(tmp_path, ScriptedWatcher([WATCHED], before=dies)) as app:
        app.work.add([film], Options(clip_seconds=5, end=5_000_000, writer="scripted"))
        with pytest.raises(KeyboardInterrupt):
            app.work.run()
    model = ScriptedWatcher([WATCHED])
    with app_at(tmp_path, model) as app:
        app.work.resume()
        app.work.run()
    assert len(model.asked) == 1


def test_the_writer_is_that_of_the_run_then_of_the_settings_then_of_the_profile(tmp_path: Path) -> None:
    model = ScriptedWatcher([WATCHED])
    with app_at(tmp_path, model) as app:
        assert app.work._writer(None) == "scripted"
        assert app.work._writer("rules") == "rules"
        with pytest.raises(UsageError, match="no writer “gpt”"):
            app.work.add([tmp_path / "none.mp4"], Options(writer="gpt"))
    with app_at(tmp_path, None) as app:
        assert app.work._writer(None) == "rules"


def test_perception_runs_ahead_while_the_model_watches(tmp_path: Path) -> None:
    seen = threading.Event()
    looked: list[Any] = []
    detector = FakeBackends().all["faces"]

    class Looking:
        name = detector.name

        def detect(self, picture: Any) -> Any:
            looked.append(1)
            if len(looked) > 30:  # 25 pictures of the first clip
                seen.set()
            return detector.detect(picture)

    def waits() -> None:
        assert seen.wait(60), "the second clip was not perceived while the first one was written"

    model = ScriptedWatcher([reply((0, 3, "<face_1> walks."))], before=waits)
    with app_at(tmp_path, model, faces=Looking()) as app:
        app.work.add([drawn_talk(tmp_path / "talk", seconds=10)], Options(clip_seconds=5))
        assert app.work.run().committed == 2


def test_who_is_forgotten_leaves_no_draft_behind(tmp_path: Path) -> None:
    with memorized(tmp_path, ScriptedWatcher([WATCHED])) as app:
        with app.reader() as reader:
            assert reader.drafted("s1.c0")
            (person, *_) = (s.people[0] for s in reader.memories() if "violin" in s.text)
        assert not app.forget(person)["findings"]
        with app.reader() as reader:
            assert reader.drafted("s1.c0") == ()
            assert not any("violin" in s.text for s in reader.memories())
        assert app.check()["ok"]


def test_a_missing_model_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    def gone() -> None:
        raise ModelFailed("the server is gone.", "Start it.")

    with memorized(tmp_path, ScriptedWatcher([WATCHED], before=gone)) as app, app.reader() as reader:
        (clip,) = reader.clips()
        assert clip.state == "failed" and clip.error == "the server is gone. Start it."
