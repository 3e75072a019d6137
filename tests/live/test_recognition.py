"""A live source that is really recorded: known faces are named and words told before any clip of it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from m3desk import events
from m3desk.app import App
from m3desk.domain.correction import Effect
from m3desk.domain.editing import Lesson
from m3desk.domain.identity import Gallery, KnownPeople
from m3desk.domain.log import ObservationType
from m3desk.errors import UsageError
from m3desk.live.recognition import VEIL, Recognition
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.recorder import Recorder
from m3desk.ports import Models
from tests.engine.fakes import FakeBackends, RecordedEvents
from tests.engine.made import drawn_talk, talking_signs
from tests.live.test_recognizer import ROWS
from tests.live.test_subtitles import LOW
from tests.perception.invented import ColourEmbedder, SquareDetector
from tests.perception.invented_speech import Ear, Loudness, Octaves

MODELS = {
    "faces": SquareDetector(),
    "face_vectors": ColourEmbedder(),
    "speech_activity": Loudness(),
    "voice_vectors": Octaves(),
    "speech": Ear(("we", "drink", "tea")),
}


class Memory:
    """An open memory that knows Ann's face and voice, and collects what is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.hiding: list[str] = []
        self.new = threading.Condition()

    def known(self, type_: ObservationType, model: str) -> KnownPeople:
        face = Gallery("face_1", "person_1", np.array([ROWS["ann"]] * 3, np.float32), 1, 1.0, 3)
        return KnownPeople((face if type_ == "face" else LOW,), {"person_1": "Ann"})

    def consents(self) -> Mapping[str, str]:
        return {}

    def enroll_seen(self, name: str, lesson: Lesson) -> Effect:
        raise AssertionError(name)

    def set_consent(self, person: str, note: str) -> None:
        raise AssertionError(person)

    def hide_bystanders(self, source: str) -> None:
        self.hiding.append(source)

    def models_in_use(self, *ports: str) -> Models:
        return Models(**{port: MODELS[port] for port in ports})  # type: ignore[arg-type]

    def emit(self, event: Any) -> None:
        with self.new:
            self.told.append(event)
            self.new.notify_all()

    def until(self, found: Callable[[Any], bool]) -> None:
        with self.new:
            assert self.new.wait_for(lambda: any(map(found, self.told)), 60), self.told[-5:]


def test_faces_are_named_and_words_are_told_of_a_source_that_is_recorded(tmp_path: Path) -> None:
    memory = Memory()
    recognition = Recognition(memory, "s1")
    assert recognition.prepare(bystanders=False) == (None, "")
    film = drawn_talk(tmp_path / "film")
    recorder = Recorder(tmp_path / "r", LiveAddress.parse(f"file:{film}?live&loop"), lambda _: None)
    recorder.start()
    recognition.begin(recorder.preview, tmp_path / "r")
    try:
        memory.until(lambda e: isinstance(e, events.LiveFaces) and {f.name for f in e.faces} == {"Ann", ""})
        memory.until(lambda e: isinstance(e, events.LiveWords) and e.final and e.text == "we drink tea")
    finally:
        recorder.stop()
        recorder.wait(30)
        began = time.monotonic()
        recognition.end()
    assert time.monotonic() - began < 20
    assert memory.told[-1] == events.LiveFaces("s1", 0, ())
    assert not [t for t in threading.enumerate() if t.name in ("m3desk-recognizer", "m3desk-listener", "m3desk-known")]


def test_somebody_memorized_before_is_named_in_a_live_session_while_its_clip_is_open(tmp_path: Path) -> None:
    film, told = drawn_talk(tmp_path / "film"), RecordedEvents()
    with App(tmp_path / "m", emit=told, backends=FakeBackends()) as app:  # type: ignore[arg-type]
        app.work.add([film])
        app.work.run()
        with app.reader() as reader:
            (track, *_) = reader.tracks("s1")
        app.correct("name", {"person": track.person, "name": "Ann"})
        source = app.live.start(f"file:{film}?live&loop")
        try:
            until = time.monotonic() + 60
            while not (named := [e for e in told.of(events.LiveFaces) if any(f.name == "Ann" for f in e.faces)]):
                assert time.monotonic() < until
                time.sleep(0.05)
            assert named[0].source == source and not [c for c in app.work._store.clips(source) if c.state == "episodic"]
            with pytest.raises(UsageError, match="bystander"):
                app.live.approve("hidden1")
        finally:
            app.live.stop()
            app.live.close()
    assert not [t for t in threading.enumerate() if t.name in ("m3desk-recognizer", "m3desk-listener", "m3desk-known")]


@pytest.mark.slow
@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_source_without_sound_has_names_and_no_subtitles(tmp_path: Path) -> None:
    memory = Memory()
    recognition = Recognition(memory, "s1")
    film = talking_signs(tmp_path / "signs.mp4", 4, sound=False)
    recorder = Recorder(tmp_path / "r", LiveAddress.parse(f"file:{film}?live"), lambda _: None)
    recorder.start()
    recognition.begin(recorder.preview, tmp_path / "r")
    recorder.wait(30)
    recognition.end()
    assert not [e for e in memory.told if isinstance(e, events.LiveWords)]


def test_in_bystander_mode_the_recorder_gets_a_veil_and_the_memory_is_told(tmp_path: Path) -> None:
    memory = Memory()
    recognition = Recognition(memory, "s1")
    transform, folder = recognition.prepare(bystanders=True)
    assert transform == VEIL and sorted(p.name for p in Path(folder).iterdir()) == ["approved.npz", "how.json"]
    assert memory.hiding == ["s1"]
    recognition.end()
    assert not Path(folder).exists()
    with pytest.raises(UsageError):
        Recognition(memory, "s1").approve("hidden1")


def test_without_models_nothing_is_told_and_it_ends(tmp_path: Path) -> None:
    from m3desk.errors import ModelMissing

    class Bare(Memory):
        def models_in_use(self, *ports: str) -> Models:
            raise ModelMissing("no weights.", "Fetch them.")

    memory = Bare()
    recognition = Recognition(memory, "s1")
    recognition.begin("nothing", tmp_path)
    recognition.end()
    assert memory.told == []


def test_bystander_mode_is_for_live_sources_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from m3desk import cli

    film = drawn_talk(tmp_path / "film", 1)
    assert cli.main(["memorize", str(film), "-m", str(tmp_path / "m"), "--bystanders"]) == 2
    assert "--bystanders is for live sources" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
