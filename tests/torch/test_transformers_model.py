"""The program's side of the backend `transformers`, with a process that stands in for the model's."""

from __future__ import annotations

import itertools
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from m3desk_torch import transformers_model
from m3desk_torch.entry import transformers_language, transformers_watcher
from m3desk_torch.transformers_model import TransformersModel, chosen, style_of

from m3desk import config
from m3desk.children import loading, turns
from m3desk.errors import BackendMissing, Cancelled, ModelError, ModelFailed, ModelMissing, UsageError
from m3desk.ports import LanguageModel, Message, Pictures, Turn, WatchingModel

PICTURES = tuple(np.full((4, 6, 3), i, np.uint8) for i in range(4))


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(transformers_model, "PROGRAM", Path(__file__).with_name("stand_in.py"))
    monkeypatch.setattr(transformers_model, "_models", {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _folder(tmp_path / "tiny")


def _folder(folder: Path, kind: str = "qwen3_vl") -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": kind} | ({} if kind == "qwen3" else {"vision_config": {}})))
    return folder


@pytest.fixture
def model(folder: Path) -> Iterator[TransformersModel]:
    made = TransformersModel(folder, Path(sys.executable), bits=4)
    yield made
    made.close()


def test_it_is_a_model_that_watches_and_one_that_answers(model: TransformersModel) -> None:
    assert isinstance(model, WatchingModel) and isinstance(model, LanguageModel)
    assert (model.name, model.context, model.hears, model.most_pictures) == ("tiny transformers 5.23.0 4-bit", 4096, True, 60)


def test_the_process_gets_turns_pictures_and_sound_as_they_are(model: TransformersModel) -> None:
    clip = Pictures(PICTURES, 2.0, np.zeros(32_000, np.float32))
    turns = [Turn("user", ("look", clip, "<face_1>:", Pictures(PICTURES[:1])))]
    asked = json.loads("".join(model.watch(turns, schema={"type": "object"}, max_tokens=7)))
    assert asked["turns"][0]["parts"] == [
        {"text": "look"},
        {"pictures": [0, 1, 2, 3], "rate": 2.0, "sound": 4},
        {"text": "<face_1>:"},
        {"pictures": [5], "rate": None},
    ]
    assert asked["shapes"] == [[4, 6, 3]] * 4 + [[32_000]] + [[4, 6, 3]]
    assert (asked["schema"], asked["max_tokens"]) == ({"type": "object"}, 7)


def test_two_models_that_do_not_fit_on_the_card_take_turns_each_in_a_process_that_starts_again(tmp_path: Path) -> None:
    card, python = turns.Card(lambda: 24), Path(sys.executable)
    watcher = TransformersModel(_folder(tmp_path / "watcher"), python, need=13, card=card)
    control = TransformersModel(_folder(tmp_path / "control"), python, need=23, card=card)
    assert not watcher._worker.alive and control._worker.alive

    def process(model: TransformersModel) -> int:
        return int(json.loads("".join(model.reply([Message("user", "hi")])))["process"])

    answering = control.reply([Message("user", "wait")], cancelled=(stop := threading.Event()).is_set)
    next(answering)
    watched: list[int] = []
    thread = threading.Thread(target=lambda: watched.append(process(watcher)))
    thread.start()
    thread.join(0.3)
    assert watched == [] and control._worker.alive, "a model that answers is not unloaded"
    stop.set()
    with pytest.raises(Cancelled):
        next(answering)
    thread.join()
    assert watched and not control._worker.alive and watcher._worker.alive
    assert process(watcher) == watched[0], "it stays loaded while nobody else needs the card"
    assert process(control) and not watcher._worker.alive
    for model in (watcher, control):
        model.close()


def test_what_a_model_needs_is_its_profiles_word_else_estimated_from_its_weights(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    (folder / "model.safetensors").write_bytes(b"0" * 8_000)
    besides = transformers_model.BESIDES
    assert transformers_model.needed(folder, 16, "watcher") == 9_000 + besides
    assert transformers_model.needed(folder, 4, "watcher") == 3_000 + besides
    config.set_value("profile", "gpu-48")
    assert transformers_model.needed(folder, 4, "language") == 25_000_000_000
    config.set_backend_option("transformers", "model", str(folder))
    assert transformers_model.needed(folder, 4, "watcher") == 3_000 + besides


def test_loading_is_told_with_what_the_process_says(folder: Path) -> None:
    said: list[tuple[str, bool, str]] = []
    end = loading.listen(lambda *what: said.append(what))
    TransformersModel(folder, Path(sys.executable)).close()
    end()
    assert said == [("tiny", False, ""), ("tiny", False, f"loading {folder}"), ("tiny", True, "")]


def test_a_grammar_goes_before_a_schema(model: TransformersModel) -> None:
    asked = json.loads("".join(model.reply([Message("user", "hi")], grammar='root ::= "a"', schema={"type": "object"})))
    assert asked["grammar"] == 'root ::= "a"' and asked["schema"] is None


def test_a_cancelled_reply_ends_and_the_process_goes_on(model: TransformersModel) -> None:
    before = model._worker.process
    stop = threading.Event()
    with pytest.raises(Cancelled):
        for _piece in model.reply([Message("user", "wait")], cancelled=stop.is_set):
            stop.set()
    assert "".join(model.reply([Message("user", "hi")])) and model._worker.process is before


def test_a_second_caller_can_stop_waiting_for_the_first(model: TransformersModel) -> None:
    stop = threading.Event()
    first = model.reply([Message("user", "wait")], cancelled=stop.is_set)
    next(first)
    asked = itertools.count()
    with pytest.raises(Cancelled):
        list(model.reply([Message("user", "hi")], cancelled=lambda: next(asked) > 2))
    stop.set()
    with pytest.raises(Cancelled):
        list(first)


def test_a_crash_is_told_with_the_last_lines_of_the_log_and_the_next_reply_starts_the_model_again(model: TransformersModel) -> None:
    with pytest.raises(ModelFailed, match="illegal memory access"):
        list(model.reply([Message("user", "crash")]))
    assert json.loads("".join(model.reply([Message("user", "hi")])))["process"] != 0


def test_an_ended_process_is_started_again(model: TransformersModel) -> None:
    model.close()
    assert "".join(model.reply([Message("user", "hi")]))


def test_too_little_memory_is_said_with_the_next_smaller_choice(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="CUDA out of memory") as caught:
        TransformersModel(_folder(tmp_path / "large"), Path(sys.executable))
    assert "bits = 4" in caught.value.hint


def test_a_crash_while_loading_is_said_with_its_cause(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not enough memory on the GPU"):
        TransformersModel(_folder(tmp_path / "crashing"), Path(sys.executable))


def test_a_clip_without_pictures_is_refused(model: TransformersModel) -> None:
    with pytest.raises(ModelFailed, match="without pictures"):
        list(model.watch([Turn("user", (Pictures(()),))]))


# ---------------------------------------------------------------- the user's choice


def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **options: object) -> None:
    lines = [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    (tmp_path / "config.toml").write_text("\n".join(["[backends.transformers]", *lines]))
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))


def _none(name: str) -> Path:
    raise ModelMissing(f"{name} is not here.")


def test_both_ports_share_the_process_of_one_model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _settings(monkeypatch, tmp_path, model=str(folder), bits=8, python=sys.executable)
    watcher = transformers_watcher(_none, 2)
    try:
        assert transformers_language(_none, 2) is watcher and watcher.name.endswith("8-bit")
    finally:
        watcher.close()


def test_questions_may_have_a_model_of_their_own(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _folder(tmp_path / "text", "qwen3")
    _settings(monkeypatch, tmp_path, model=str(folder), language_model=str(text), python=sys.executable)
    language = transformers_language(_none, 2)
    try:
        assert language.name.startswith("text ")
        assert chosen({"model": str(text)}, _none, watching=True) == text
    finally:
        language.close()


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_vl"])
def test_a_model_of_text_does_not_watch_and_is_not_loaded_where_its_configuration_says_so(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _settings(monkeypatch, tmp_path, model=str(_folder(tmp_path / "text", kind)), python=sys.executable)
    with pytest.raises(ModelMissing, match="can't watch"):
        transformers_watcher(_none, 2)
    assert bool(transformers_model._models) == (kind != "qwen3")
    for opened in transformers_model._models.values():
        opened.close()


def test_without_a_chosen_model_the_settings_to_write_are_named() -> None:
    with pytest.raises(ModelMissing, match="no model is chosen") as caught:
        chosen({}, _none, watching=True)
    assert "[backends.transformers]" in caught.value.hint


def test_a_model_is_a_folder_or_a_name_of_the_catalogue(folder: Path, tmp_path: Path) -> None:
    assert chosen({"model": str(folder)}, _none, watching=True) == folder
    assert chosen({"model": "some-model"}, lambda name: tmp_path / name, watching=True) == tmp_path / "some-model"
    with pytest.raises(ModelMissing, match=r"no config\.json"):
        chosen({"model": str(tmp_path / "nowhere")}, _none, watching=True)


@pytest.mark.parametrize("bits", [5, True, "4"])
def test_only_some_numbers_of_bits_are_possible(bits: object, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _settings(monkeypatch, tmp_path, model=str(folder), bits=bits)
    with pytest.raises(UsageError, match="bits"):
        transformers_watcher(_none, 2)


def test_an_interpreter_that_is_not_there_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _settings(monkeypatch, tmp_path, model=str(folder), python=str(tmp_path / "python"))
    with pytest.raises(BackendMissing, match="there is no"):
        transformers_watcher(_none, 2)


def test_the_style_follows_from_the_kind_of_checkpoint(tmp_path: Path) -> None:
    assert style_of(_folder(tmp_path / "thinker", "qwen2_5_omni_thinker")) == "m3-agent"
    assert style_of(_folder(tmp_path / "whole", "qwen2_5_omni")) == ""
    assert style_of(tmp_path / "nothing") == ""
