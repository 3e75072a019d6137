"""The window's tests, with settings and data of their own: on a virtual X screen where Xvfb is installed, else drawn into memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from dataclasses import replace
from pathlib import Path

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.hub.services import Services
from m3desk_ui.look import theme
from m3desk_ui.window import backends_list, profile_card
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from pyvirtualdisplay import Display

from tests.ui.fakes import FakeDesk, FakePlayer, World


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    """Return Qt's arguments: a screen of our own in each process, so that tests in two of them don't take the focus from each other."""
    if shutil.which("Xvfb") is None or os.environ["QT_QPA_PLATFORM"] != "offscreen":
        return ["m3desk-tests"]
    # It ends when its last client goes (-terminate). Stopping it from here would end the process: Qt exits when its screen is lost.
    Display(size=(1600, 1000), color_depth=24, extra_args=["-terminate"]).start()
    return ["m3desk-tests", "-platform", "xcb"]


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config" / "config.toml"))
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))


@pytest.fixture(autouse=True)
def _no_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dialogs would ask commands of their own which backends there are, and what fits: seconds of the processor each."""
    monkeypatch.setattr(backends_list, "listed", list)
    monkeypatch.setattr(profile_card, "facts", dict)


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


@pytest.fixture
def whole_window(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Callable[[FakeDesk], MainWindow]]:
    """Return what makes a window on its first page, with every view loaded, that opens memories with this desk."""
    theme.apply(qapp, "light")
    made: list[MainWindow] = []

    def make(desk: FakeDesk) -> MainWindow:
        video = tmp_path / "meeting.mp4"
        video.write_bytes(b"x")
        desk.world.sources[0] = replace(desk.world.sources[0], uri=str(video))
        services = Services(lambda _path: desk, FakePlayer, lambda v: v + ".m3desk", lambda: desk.doctor().result())
        window = MainWindow(services, WindowState())
        made.append(window)
        qtbot.addWidget(window)
        window.resize(1500, 920)
        window.show()
        window.dock_area.load_rest()
        qtbot.waitUntil(lambda: len(window.dock_area.views) == len(window.docks), timeout=60_000)
        return window

    yield make
    for window in made:
        window.close()
