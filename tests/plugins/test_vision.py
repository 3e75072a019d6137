"""A small model that sees, in this process: a tiny model with its projector, made here, watches, stops when asked, and says its faults."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from m3desk import config
from m3desk.app import App
from m3desk.backends import Backends
from m3desk.config import Settings
from m3desk.errors import Cancelled, ModelFailed, ModelMissing
from m3desk.events import AskDone
from m3desk.ports import LanguageModel, Message, Pictures, Turn, WatchingModel
from m3desk.work import Options
from tests.engine.fakes import FakeBackends
from tests.engine.made import drawn_talk
from tests.plugins.servers import tiny_gguf

pytest.importorskip("xllamacpp")
from m3desk_cpu.vision import Chosen, LlamaVision, chosen

RED = np.full((72, 128, 3), (0, 0, 200), np.uint8)
SCHEMA = {"type": "object", "properties": {"k": {"enum": ["yes", "no"]}}, "required": ["k"], "additionalProperties": False}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Chosen:
    return Chosen(*tiny_gguf.make(tmp_path_factory.mktemp("model"), speaks=True, context=16_384), context=16_384)


@pytest.fixture(scope="module")
def eyes(files: Chosen) -> LlamaVision:
    return LlamaVision(files, 1)


def seen(*parts: str | Pictures) -> list[Turn]:
    return [Turn("system", ("Tell what is seen.",)), Turn("user", (*parts, "What is seen? <|im_end|>"))]


def test_pictures_are_watched_in_the_form_that_is_asked_for(eyes: LlamaVision) -> None:
    assert isinstance(eyes, WatchingModel) and isinstance(eyes, LanguageModel)
    assert eyes.most_pictures == 4 and not eyes.hears and not eyes.watches_video
    pieces = list(eyes.watch(seen(Pictures((RED,)), "Face <face_1>:", Pictures((RED[:20, :20],))), schema=SCHEMA, max_tokens=32))
    assert len(pieces) > 1 and json.loads("".join(pieces))["k"] in ("yes", "no")
    again = "".join(eyes.watch(seen(Pictures((RED,)), "Face <face_1>:", Pictures((RED[:20, :20],))), schema=SCHEMA, max_tokens=32))
    assert again == "".join(pieces)
    assert "".join(eyes.reply([Message("user", "x")], grammar='root ::= "[Answer]"')) == "[Answer]"


def test_sound_is_left_out_for_a_model_without_ears(eyes: LlamaVision) -> None:
    told = "".join(eyes.watch(seen(Pictures((RED,), None, np.ones(16_000, np.float32))), schema=SCHEMA, max_tokens=32))
    assert json.loads(told)


def test_watching_stops_in_the_middle_of_a_reply_and_while_the_prompt_is_read(eyes: LlamaVision) -> None:
    stop = threading.Event()
    pieces = eyes.watch(seen(Pictures((RED,))), max_tokens=4_000, cancelled=stop.is_set)
    next(pieces)
    stop.set()
    with pytest.raises(Cancelled):
        list(pieces)
    began = time.monotonic()
    with pytest.raises(Cancelled):
        list(eyes.watch(seen("long " * 2_900), max_tokens=4_000, cancelled=lambda: time.monotonic() - began > 0.2))
    assert json.loads("".join(eyes.watch(seen(Pictures((RED,))), schema=SCHEMA, max_tokens=32)))


def test_a_request_that_is_too_long_is_a_clear_failure(eyes: LlamaVision) -> None:
    with pytest.raises(ModelFailed, match="context"):
        list(eyes.watch(seen("long " * 8_000)))


def test_files_that_are_absent_or_are_no_projector_are_said(files: Chosen, tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="there is no"):
        LlamaVision(Chosen(files.model, tmp_path / "none.gguf"), 1)
    (tmp_path / "bad.gguf").write_bytes(b"not a projector")
    with pytest.raises(ModelFailed, match="did not load"):
        LlamaVision(Chosen(files.model, tmp_path / "bad.gguf"), 1)


def test_the_settings_choose_files_or_a_name_of_the_catalogue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    def weights(name: str) -> Path:
        asked.append(name)
        (tmp_path / name).mkdir(exist_ok=True)
        if name != "text-only":
            (tmp_path / name / "mmproj.gguf").touch()
        return tmp_path / name

    def options(**table: object) -> None:
        monkeypatch.setattr(config, "backend_options", lambda _name: table)

    options()
    assert chosen(weights).mmproj.name == "mmproj.gguf" and asked == ["qwen3-vl-2b"]
    options(model="/m/a.gguf", mmproj="/m/b.gguf", pictures=2, context=4096)
    assert chosen(weights) == Chosen(Path("/m/a.gguf"), Path("/m/b.gguf"), 2, 4096)
    for wrong, says in (
        ({"model": "/m/a.gguf"}, "projector"),
        ({"model": "text-only"}, "does not see"),
        ({"pictures": 99}, "from 1 to 32"),
    ):
        options(**wrong)
        with pytest.raises(ModelMissing, match=says):
            chosen(weights)
    options(colour="red")
    with pytest.raises(ModelMissing, match="no setting"):
        chosen(weights)


def test_a_clip_is_memorized_checked_and_asked_about(eyes: LlamaVision, tmp_path: Path) -> None:
    found = Backends(lambda name: Path(name), profile={"watcher": "llama-vision", "language": "llama-cpp"})
    for port, fake in {**FakeBackends().all, "watcher": eyes, "language": eyes}.items():
        found.replace(port, fake)
    with App(tmp_path / "m.m3desk", settings=Settings.defaults(), backends=found, emit=lambda _event: None) as app:
        app.work.add([drawn_talk(tmp_path / "talk")], Options(clip_seconds=5, end=5_000_000))
        app.work.run()
        assert app.check()["ok"]
        with app.reader() as reader:
            assert [(c.state, c.error) for c in reader.clips()] == [("episodic", None)]
            told = [s for s in reader.memories(kind="episodic") if "jumps" in s.text]
            assert told and (told[0].model or "").startswith("watched by llama-vision: ")
        app.embed_lacking()
        (done,) = (e for e in app.answering.ask("Who jumps?") if isinstance(e, AskDone))
        assert done.model == eyes.name and not done.problem
