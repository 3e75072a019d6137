"""The fakes of the window tests have the same calls and arguments as what they replace."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from m3desk import ports
from m3desk.pipeline import ClipStore
from m3desk.work import SourceStore
from tests.engine.fakes import FakeStore
from tests.ui.fakes import FakeDesk, FakeReader


def calls(protocol: type) -> dict[str, list[str]]:
    """Return the methods of a Protocol with the names of their parameters."""
    return {n: list(inspect.signature(f).parameters) for n, f in inspect.getmembers(protocol, inspect.isfunction) if not n.startswith("_")}


@pytest.mark.parametrize(
    ("protocol", "fake"),
    [(ports.Desk, FakeDesk), (ports.Reader, FakeReader), (ClipStore, FakeStore), (SourceStore, FakeStore)],
    ids=lambda c: c.__name__,
)
def test_a_fake_has_every_call_of_what_it_stands_for(protocol: type, fake: type) -> None:
    def of(name: str) -> Any:
        return list(inspect.signature(getattr(fake, name)).parameters) if hasattr(fake, name) else None

    assert {name: of(name) for name in calls(protocol)} == calls(protocol)


def test_what_a_fake_desk_adds_is_for_tests_only() -> None:
    beyond = {n for n, _ in inspect.getmembers(FakeDesk, inspect.isfunction) if not n.startswith("_")} - calls(ports.Desk).keys()
    assert beyond == {"called", "emit"}, "a call of the window that no engine answers"
