"""`store.Reader` gives windows what `ports.Reader` names, and nothing else of a memory."""

from __future__ import annotations

from m3desk import ports
from m3desk.store.reader import Reader

LIFE = {"open", "snapshot", "damage"}
"""Public for the classes that extend it: how a memory is opened and read in one piece."""


def _public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))}


def test_a_reader_has_only_the_methods_of_its_port() -> None:
    assert _public(Reader) - _public(ports.Reader) == LIFE
    assert _public(ports.Reader) <= _public(Reader)
