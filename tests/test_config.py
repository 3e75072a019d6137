"""Settings have types, defaults and bounds, and setting one leaves the rest of the file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from m3desk import config
from m3desk.errors import UsageError


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "家" / "config.toml"))
    return tmp_path / "家" / "config.toml"


def test_without_a_file_the_defaults_hold() -> None:
    settings = config.Settings.load()
    assert (settings.profile, settings.clip_seconds, settings.fps, settings.memory_language) == ("embedded", 30.0, 5.0, None)
    assert 1 <= settings.threads <= 4
    assert set(config.values()) == set(config.KEYS)


def test_setting_one_keeps_comments_unknown_keys_and_tables(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('# mine\nfps = 5 # pictures\nfuture = "x"\n\n[profiles.mine]\nfaces = "yunet"\nfps = "no setting"\n', "utf-8")
    config.set_value("fps", "4")
    config.set_value("memory_language", "zh")
    text = file.read_text("utf-8")
    assert text.startswith('# mine\nfps = 4.0 # pictures\nfuture = "x"\n')
    assert text.index('memory_language = "zh"') < text.index("[profiles.mine]")
    assert 'fps = "no setting"' in text
    assert config.Settings.load().fps == 4.0 and config.Settings.load().memory_language == "zh"
    assert config.profiles()["mine"]["faces"] == "yunet"


def test_what_looks_like_a_setting_within_a_text_is_left_alone(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b'note = """\nfps = 3\n[table]\n"""\r\n# own profiles\r\nprofiles.mine = { faces = "yunet" }\r\n')
    config.set_value("fps", "4")
    config.set_value("semantic", "false")
    assert 'note = """\nfps = 3\n[table]\n"""\r\n# own profiles\r\n' in file.read_bytes().decode()
    settings = config.Settings.load()
    assert settings.fps == 4.0 and not settings.semantic and config.profiles()["mine"] == {"faces": "yunet"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("fps", "many"), ("fps", "0"), ("threads", "1.5"), ("threads", "-1"), ("language", "xx"), ("semantic", "maybe"), ("nothing", "1")],
)
def test_a_wrong_value_is_refused_and_nothing_is_written(file: Path, name: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        config.set_value(name, value)
    assert caught.value.hint and not file.exists()


@pytest.mark.parametrize("text", ["fps = [", 'fps = "fast"\n', "clip_seconds = true\n"])
def test_a_wrong_file_is_told_and_left_as_it_is(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(UsageError):
        config.Settings.load()
    assert file.read_text() == text


def test_recent_memories_are_newest_first_once_each_and_only_those_that_are_there(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    for name in ("a", "b", "gone", "a"):
        config.remember_memory(tmp_path / name)
    assert config.recent_memories() == [str(tmp_path / "a"), str(tmp_path / "b")]


def test_a_file_that_begins_with_a_byte_order_mark_is_read_and_changed(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xef\xbb\xbffps = 4.0\r\n# mine\r\n")
    assert config.get_value("fps") == 4.0
    config.set_value("theme", "dark")
    assert config.get_value("fps") == 4.0 and config.get_value("theme") == "dark" and "# mine" in file.read_text("utf-8")


def test_a_backend_has_a_table_of_its_own_which_settings_leave_alone(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('[backends.server]\nurl = "http://127.0.0.1:8000/v1"\n')
    config.set_value("theme", "dark")
    assert config.backend_options("server") == {"url": "http://127.0.0.1:8000/v1"} and config.backend_options("vllm") == {}


@pytest.mark.parametrize("text", ["backends = 3\n", "[backends]\nserver = 3\n"])
def test_a_backend_whose_options_are_no_table_is_told(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(UsageError, match="not a table"):
        config.backend_options("server")


def test_a_folder_in_the_place_of_the_settings_file_is_called_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path))
    for use in (config.values, lambda: config.set_value("theme", "dark")):
        with pytest.raises(UsageError, match="is a folder") as caught:
            use()
        assert str(tmp_path / "config.toml") in caught.value.hint
