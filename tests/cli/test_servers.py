"""The address and key of a model server on the command line: what would leave this machine is told where it is chosen."""

from __future__ import annotations

import io
import json
import sys
import tomllib
import types
from pathlib import Path

import pytest

from m3desk import keys, machine
from m3desk.cli import main


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.delenv(keys.VARIABLE, raising=False)
    return tmp_path / "config.toml"


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    held: dict[tuple[str, str], str] = {}
    made = types.ModuleType("keyring")
    made.get_password = lambda service, name: held.get((service, name))  # type: ignore[attr-defined]
    made.set_password = lambda service, name, value: held.update({(service, name): value})  # type: ignore[attr-defined]
    made.delete_password = lambda service, name: held.pop((service, name))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", made)
    return held


def run(*words: str) -> int:
    return main(list(words))


def test_what_would_leave_is_told_when_an_address_elsewhere_is_set(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.write_text('# mine\ntheme = "dark"\n[profiles.own]\nfaces = "yunet"\n')
    assert run("config", "set", "backends.server.url", "http://models.example.com/v1") == 0
    told = capsys.readouterr().out
    assert "Clips go to models.example.com: pictures" in told and "unencrypted" in told
    assert run("config", "set", "backends.server.url", "http://127.0.0.1:8000/v1") == 0
    assert "go to" not in capsys.readouterr().out
    assert run("config", "set", "backends.server.pictures", "4") == 0 and run("config", "set", "backends.server.sees", "true") == 0
    written = settings.read_text()
    assert written.startswith("# mine\n")
    server = {"url": "http://127.0.0.1:8000/v1", "pictures": 4, "sees": True}
    assert tomllib.loads(written) == {"theme": "dark", "profiles": {"own": {"faces": "yunet"}}, "backends": {"server": server}}
    capsys.readouterr()
    assert run("config", "get", "backends.server.pictures", "--json") == 0 and json.loads(capsys.readouterr().out) == 4


def test_choosing_a_profile_or_writer_tells_what_leaves(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("config", "set", "backends.server.url", "https://models.example.com/v1")
    capsys.readouterr()
    assert run("config", "set", "profile", "server") == 0
    told = capsys.readouterr().out
    assert "Questions go to models.example.com: each question" in told and "Clips go" not in told and "unencrypted" not in told
    assert run("config", "set", "writer", "server") == 0
    assert "Clips go to models.example.com" in capsys.readouterr().out
    assert run("config", "set", "profile", "embedded") == 0 and run("config", "set", "writer", "rules") == 0
    capsys.readouterr()
    assert run("config", "set", "profile", "embedded") == 0
    assert "go to" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("backends.server.url", "not an address"), "is not http"),
        (("backends.server.key", "sk-1"), "keys are not kept in files"),
        (("backends.server.url.x", "1"), "no setting"),
        (("backends.Server.url", "1"), "names no setting of a backend"),
    ],
)
def test_what_can_not_be_set_is_refused(settings: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, str], says: str) -> None:
    assert run("config", "set", *words) == 2
    told = capsys.readouterr().err
    assert says in told and "sk-1" not in told and not settings.exists()


def test_a_key_is_read_from_standard_input_and_shown_nowhere(
    settings: Path, ring: dict[tuple[str, str], str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("config", "set", "backends.server.url", "https://models.example.com/v1")
    monkeypatch.setattr(sys, "stdin", io.StringIO("sk-271828\n"))
    assert run("backends", "key", "server") == 0
    assert ring == {(keys.SERVICE, "https://models.example.com:443"): "sk-271828"}
    told = capsys.readouterr()
    assert "sk-" not in told.out + told.err + settings.read_text()
    assert run("backends", "key", "server", "--delete") == 0 and not ring


def test_a_key_without_an_address_is_refused(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("backends", "key", "server") == 2
    assert "no address of a model server is set" in capsys.readouterr().err


def test_the_doctor_says_what_the_server_profile_lacks(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from m3desk import backends

    monkeypatch.setattr(machine.backends, "available", lambda port: {name: None for p in backends.PROFILES.values() for name in p.values()})

    def reason() -> str:
        return next(p["reason"] for p in machine.profiles() if p["name"] == "server")

    assert "no address of a model server is set" in reason()
    settings.write_text('[backends.server]\nurl = "http://127.0.0.1:8000/v1"\n')
    assert reason() == ""
