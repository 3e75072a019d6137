"""What leaves this machine is shown in the window: in the status bar while it does, in the settings where it is chosen.

So are, in the status bar, a memory's older models.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import texts
from m3desk_ui.window.settings_dialog import SettingsDialog
from m3desk_ui.window.status import Status
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

from m3desk import config, events, paths
from m3desk.children import turns
from m3desk.outgoing import Leaving


def test_the_status_bar_names_the_machine_that_questions_and_clips_go_to(qtbot: QtBot, hub: Hub) -> None:
    status = Status(hub)
    qtbot.addWidget(status)
    hub.engine_ready.emit(events.EngineReady("k", "CPU", "server", {}, leaves=Leaving("models.example.com", True, False, False)))
    assert not status._leaves.isHidden() and status._leaves.text() == "Questions go to models.example.com"
    assert "unencrypted" in status._leaves.toolTip() and "nothing leaves" not in status._device.toolTip()
    hub.leaves.emit(events.Leaves(Leaving("models.example.com", False, True, True)))
    assert status._leaves.text() == "Questions and clips go to models.example.com"
    hub.engine_ready.emit(events.EngineReady("k", "CPU", "embedded", {}))
    assert status._leaves.isHidden() and "nothing leaves this machine" in status._device.toolTip()


def test_the_status_bar_tells_of_an_older_model_and_how_the_memory_is_moved(qtbot: QtBot, hub: Hub) -> None:
    status = Status(hub)
    qtbot.addWidget(status)
    command = "m3desk reembed campplus -m k.m3desk --switch"
    hub.engine_ready.emit(events.EngineReady("k", "CPU", "embedded", {}, older={"voice": command}))
    assert not status._older.isHidden() and status._older.text() == "older voice model" and command in status._older.toolTip()
    hub.engine_ready.emit(events.EngineReady("k", "CPU", "embedded", {}))
    assert status._older.isHidden() and not status._older.toolTip()


def test_what_a_backend_says_while_it_loads_is_shown(qtbot: QtBot, hub: Hub) -> None:
    status = Status(hub)
    qtbot.addWidget(status)
    hub.loading.emit(events.ModelLoading("vllm", False, "Loading weights took 3 seconds"))
    assert "vllm" in status._work.text() and "Loading weights took 3 seconds" in status._work.text()
    hub.loading.emit(events.ModelLoading("vllm", True))
    assert "vllm" not in status._work.text()


def test_a_model_that_waits_for_the_graphics_card_says_so_in_the_windows_language(qtbot: QtBot, hub: Hub) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    chinese = QTranslator()
    assert chinese.load(str(paths.resources() / "translations" / "m3desk_zh_CN.qm"))
    app.installTranslator(chinese)
    try:
        for line in (turns.WAITS, turns.LEAVES):
            shown = texts.loading(line.format(other="M3-Agent-Control"))
            assert "M3-Agent-Control" in shown and "显卡" in shown
        assert texts.loading("Loading weights took 3 seconds") == "Loading weights took 3 seconds"
    finally:
        app.removeTranslator(chinese)


def test_the_settings_say_what_would_leave_before_it_is_chosen(
    qtbot: QtBot, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    config.set_backend_option("server", "url", "https://models.example.com/v1")
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    assert dialog.leaving.isHidden()
    profile, writer = dialog.fields["profile"], dialog.fields["writer"]
    assert isinstance(profile, QComboBox) and isinstance(writer, QComboBox)
    profile.setCurrentIndex(profile.findData("server"))
    assert not dialog.leaving.isHidden() and "Questions go to models.example.com" in dialog.leaving.text()
    profile.setCurrentIndex(profile.findData("embedded"))
    assert dialog.leaving.isHidden()
    writer.setCurrentIndex(writer.findData("server"))
    assert "Clips go to models.example.com" in dialog.leaving.text()
