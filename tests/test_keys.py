"""Keys of servers: in the keyring, one for each server, and never in a message."""

from __future__ import annotations

import pickle
import sys
import types

import pytest

from m3desk import keys
from m3desk.errors import M3DeskError, UsageError

SECRET = "sk-2718281828"


class Ring:
    """A keyring in memory, with the calls of the library that are used."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], str] = {}

    def library(self) -> types.ModuleType:
        made = types.ModuleType("keyring")
        made.get_password = lambda service, name: self.held.get((service, name))  # type: ignore[attr-defined]
        made.set_password = lambda service, name, value: self.held.update({(service, name): value})  # type: ignore[attr-defined]
        made.delete_password = lambda service, name: self.held.pop((service, name))  # type: ignore[attr-defined]
        return made


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    made = Ring()
    monkeypatch.setitem(sys.modules, "keyring", made.library())
    monkeypatch.delenv(keys.VARIABLE, raising=False)
    return made


def test_a_key_belongs_to_one_server(ring: Ring) -> None:
    keys.store("https://a.example.com:443", keys.Key(SECRET))
    found = keys.get("https://a.example.com:443")
    assert found is not None and found.value() == SECRET
    assert keys.get("http://a.example.com:80") is None and keys.get("https://b.example.com:443") is None
    assert keys.remove("https://a.example.com:443") and not keys.remove("https://a.example.com:443")
    assert not ring.held


def test_the_variable_comes_first(ring: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    keys.store("https://a.example.com:443", keys.Key(SECRET))
    monkeypatch.setenv(keys.VARIABLE, "sk-other")
    found = keys.get("https://a.example.com:443")
    assert found is not None and found.value() == "sk-other"


def test_a_key_does_not_show_itself(ring: Ring) -> None:
    key = keys.Key(SECRET)
    assert SECRET not in f"{key} {key!r} {[key]}"
    assert key.hidden(f"wrong key {SECRET}!") == "wrong key (key)!"
    with pytest.raises(TypeError):
        pickle.dumps(key)


@pytest.mark.parametrize("text", ["", "a b", "x" * 5000, "schlüssel", "a\nb"])
def test_what_is_no_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        keys.Key(text)
    assert not text or text not in caught.value.line()


def test_without_a_keyring_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.delenv(keys.VARIABLE, raising=False)
    assert keys.get("https://a.example.com:443") is None
    with pytest.raises(M3DeskError, match="keyring") as caught:
        keys.store("https://a.example.com:443", keys.Key(SECRET))
    assert keys.VARIABLE in caught.value.hint and SECRET not in caught.value.line()


def test_a_keyring_that_fails_does_not_tell_the_key(ring: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(_service: str, _name: str, value: str) -> None:
        raise RuntimeError(f"locked: {value}")

    monkeypatch.setattr(sys.modules["keyring"], "set_password", locked)
    with pytest.raises(M3DeskError) as caught:
        keys.store("https://a.example.com:443", keys.Key(SECRET))
    assert SECRET not in caught.value.line() and caught.value.__cause__ is None
