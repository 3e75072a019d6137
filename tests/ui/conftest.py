"""The window's tests: offscreen, with settings and data in a folder of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import theme
from PySide6.QtWidgets import QApplication

from tests.ui.fakes import FakeDesk, World


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config" / "config.toml"))
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))


@pytest.fixture
def world() -> World:
    """The invented memory, without the crowd of small events."""
    return World(extra_nodes=0)


@pytest.fixture
def desk(world: World) -> FakeDesk:
    return FakeDesk(world)


@pytest.fixture
def hub(qapp: QApplication, desk: FakeDesk) -> Iterator[Hub]:
    """A hub with the invented memory open; closed after the test."""
    theme.apply(qapp, "light")
    hub = Hub()
    hub.open(desk, desk.memory)
    yield hub
    hub.close()
