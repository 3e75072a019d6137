"""What leaves this machine is told; an address is read strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from m3desk import outgoing
from m3desk.errors import UsageError
from m3desk.outgoing import Address


@pytest.mark.parametrize(
    ("text", "shown", "local", "path"),
    [
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000", True, "/v1"),
        ("http://localhost:11434", "localhost:11434", True, "/v1"),
        ("http://[::1]:8080/v1/", "[::1]:8080", True, "/v1"),
        ("https://Models.example.com/v1", "models.example.com", False, "/v1"),
        ("https://models.example.com/api/openai", "models.example.com", False, "/api/openai"),
        ("http://192.168.1.5:8000/v1", "192.168.1.5:8000", False, "/v1"),
        ("http://localhost.example.com", "localhost.example.com", False, "/v1"),
        ("http://127.0.0.1.example.com", "127.0.0.1.example.com", False, "/v1"),
    ],
)
def test_an_address_is_read_and_known_to_be_here_or_elsewhere(text: str, shown: str, local: bool, path: str) -> None:
    address = Address.parse(text)
    assert (address.shown, address.local, address.path) == (shown, local, path)


@pytest.mark.parametrize(
    "text",
    ["", "127.0.0.1:8000", "ftp://a/v1", "http://", "http://a:99999", "http://a/v1?key=1", "http://a b/v1", "http://a/v1#x", "file:///etc"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Address.parse(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        Address.parse("https://me:hunter2@example.com/v1")
    assert "hunter2" not in caught.value.line() and "m3desk backends key" in caught.value.hint


@pytest.mark.parametrize(("url", "leaves"), [("http://127.0.0.1:1/v1", False), ("http://models.example.com/v1", True)])
def test_what_leaves_the_machine_is_told_for_another_machine_only(
    url: str, leaves: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(f'[backends.server]\nurl = "{url}"\n')
    assert outgoing.leaving({"language": "llama-cpp"}, "rules") is None
    questions, clips = outgoing.leaving({"language": "server"}), outgoing.leaving({"language": "llama-cpp"}, "server")
    assert (questions is not None) is leaves and (clips is not None) is leaves
    if questions is not None and clips is not None:
        assert questions.short() == "Questions go to models.example.com" and clips.short() == "Clips go to models.example.com"
        assert any("pictures" in line for line in clips.lines()) and not any("pictures" in line for line in questions.lines())
        assert "unencrypted" in questions.lines()[-1]
        both = outgoing.leaving({"language": "server"}, "server")
        assert both is not None and both.short() == "Questions and clips go to models.example.com"
