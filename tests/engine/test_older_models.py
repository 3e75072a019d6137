"""A memory that goes on with the first form of today's voice model says so, with the command that moves it; a chosen model is no fault."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from m3desk_cpu.ge2e import Ge2e
from m3desk_cpu.voices import CamPlus, CamPlusRectified

from m3desk import backends, cli, events
from m3desk.app import App
from m3desk.backends import EMBEDDED, OLDER, Backends
from m3desk.cli.parser import parser
from m3desk.engine import Engine
from m3desk.errors import UsageError
from tests.engine.two_voice_models import entry_points, new_memory


def made_with(folder: Path, model: str) -> Path:
    """Return a memory whose voices were recognised with this model."""
    with App(folder / "a film.m3desk") as app:
        app.write(lambda m: m.set_setting("voice_vectors", model))
    return folder / "a film.m3desk"


def command(memory: Path) -> str:
    return f"m3desk reembed campplus -m {shlex.quote(str(memory))} --switch"


def older(memory: Path, profile: dict[str, str] | UsageError = EMBEDDED) -> dict[str, str]:
    def no_weights(name: str) -> Path:
        raise AssertionError(f"{name} is opened")

    with App(memory, write=False, backends=Backends(no_weights, profile=profile)) as app:
        return dict(app.older_models())


def test_a_memory_of_the_first_voice_model_says_which_command_moves_it(tmp_path: Path) -> None:
    memory = made_with(tmp_path, CamPlusRectified.name)
    assert older(memory) == {"voice": command(memory)}
    options = parser().parse_args(shlex.split(older(memory)["voice"])[1:])
    assert (options.model, Path(options.memory), options.switch) == ("campplus", memory, True)


@pytest.mark.parametrize("model", [CamPlus.name, Ge2e.name, "a model of the user's"])
def test_todays_model_and_one_that_a_user_chose_are_not_older(tmp_path: Path, model: str) -> None:
    assert older(made_with(tmp_path, model)) == {}


def test_nothing_is_said_where_new_memories_do_not_use_the_replacement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = made_with(tmp_path, CamPlusRectified.name)
    for name in ("campplus-rectified", "ge2e"):
        assert older(memory, {**EMBEDDED, "voice_vectors": name}) == {}
    assert older(memory, {}) == {} and older(memory, UsageError("there is no such profile.")) == {}
    monkeypatch.setattr(backends, "available", lambda port: {n: e for n, e in entry_points(port).items() if n != "campplus"})
    assert older(memory) == {}


def test_what_replaces_an_older_model_is_a_model_of_the_default_profile() -> None:
    assert all(by == EMBEDDED[port] for port, models in OLDER.items() for by in models.values())


def test_a_memory_is_not_told_of_again_once_it_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_memory(tmp_path, monkeypatch) as app:
        app.write(lambda m: m.set_setting("voice_vectors", CamPlusRectified.name))
        assert app.older_models()
        app.reembed("campplus", switch=True)
        assert not app.older_models() and app.check()["findings"] == []


def test_check_tells_it_as_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = made_with(tmp_path, CamPlusRectified.name)
    assert cli.main(["check", "-m", str(memory)]) == 0
    said = capsys.readouterr().out.splitlines()
    line = f"older model: this memory recognises voices with an older model than new memories use  → {command(memory)}"
    assert said[:2] == ["Sound. Worth a look:", line]
    cli.main(["check", "-m", str(made_with(tmp_path / "other", Ge2e.name))])
    assert capsys.readouterr().out.splitlines()[0] == "Nothing wrong."


def test_the_window_is_told_when_the_memory_is_open(tmp_path: Path) -> None:
    memory = made_with(tmp_path, CamPlusRectified.name)
    told: list[object] = []
    engine = Engine(SimpleNamespace(send=lambda message: told.append(message[1])), str(memory))  # type: ignore[arg-type]
    with App(memory) as app:
        engine._ready(app)
    assert [e.older for e in told if isinstance(e, events.EngineReady)] == [{"voice": command(memory)}]
