"""The settings of a server: read strictly, and opening a backend contacts nobody."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from m3desk_server import entry
from m3desk_server.options import options

from m3desk import keys
from m3desk.errors import ModelFailed, ModelMissing, UsageError
from m3desk.ports import Message
from tests.plugins.servers.scripted import ModelServer


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("M3DESK_SERVER_KEY", "sk-1")
    return tmp_path / "config.toml"


def test_opening_contacts_nobody(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", None)
    settings.write_text(
        '[backends.server]\nurl = "https://models.example.com/v1"\nmodel = "large"\npictures = 4\nsees = true\nprompts = "p"\n'
    )
    talks, watches = entry.server_language(Path, 2), entry.server_watcher(Path, 2)
    assert talks.name == watches.name == "large (models.example.com)"
    assert watches.most_pictures == 4 and talks.server is watches.server


def test_without_an_address_it_is_said_how_to_set_one(settings: Path) -> None:
    with pytest.raises(ModelMissing) as caught:
        entry.server_language(Path, 2)
    assert "m3desk config set backends.server.url" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('key = "sk-1"', "keys are not kept in files"),
        ("pictures = 0", "from 1 to 768"),
        ("pictures = true", "from 1 to 768"),
        ('sees = "yes"', "true or false"),
        ("modle = 1", "has no setting “modle”"),
        ("model = 3", "a word"),
    ],
)
def test_a_setting_that_can_not_be_used_is_named(settings: Path, line: str, says: str) -> None:
    settings.write_text(f"[backends.server]\n{line}\n")
    with pytest.raises(UsageError, match=says) as caught:
        options("server")
    assert "sk-1" not in caught.value.line()


def test_the_keyring_is_not_asked_at_every_request_and_again_where_the_key_is_refused(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    given = ["old"]
    monkeypatch.setattr(keys, "get", lambda origin: asked.append(origin) or keys.Key(given[0]))
    with ModelServer("plain", key="new") as server:
        settings.write_text(f'[backends.server]\nurl = "{server.url}"\ndialect = "plain"\n')
        model = entry.server_language(Path, 2)
        with pytest.raises(ModelFailed, match="does not accept the key"):
            "".join(model.reply([Message("user", "hi")]))
        given[0] = "new"
        for _ in range(3):
            assert "".join(model.reply([Message("user", "hi")])) == "the answer is four"
    assert len(asked) == 2
