"""The settings dialog: a field a setting, written when saved; a value that doesn't fit keeps it open."""

from __future__ import annotations

from pathlib import Path

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.window import settings_dialog
from m3desk_ui.window.settings_dialog import SettingsDialog
from m3desk_ui.window.start_page import StartPage
from PySide6.QtWidgets import QComboBox, QPushButton, QScrollArea
from pytestqt.qtbot import QtBot

from m3desk import config
from tests.ui import walking


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub) -> SettingsDialog:
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    return dialog


def choose(dialog: SettingsDialog, name: str, value: str) -> None:
    box = dialog.fields[name]
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData(value))


def test_every_setting_has_a_field_with_its_value(dialog: SettingsDialog) -> None:
    assert set(dialog.fields) == set(config.KEYS)
    assert all(dialog.value(name) == value for name, value in config.values().items())


def test_it_fits_a_small_screen_and_shows_all_fields_where_there_is_room(qtbot: QtBot, dialog: SettingsDialog) -> None:
    area = dialog.findChild(QScrollArea)
    assert area is not None
    dialog.show()
    assert dialog.height() <= dialog.screen().availableGeometry().height()
    dialog.resize(dialog.width(), 1400)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0, timeout=30_000)
    dialog.resize(dialog.width(), 540)
    assert dialog.height() == 540 and area.verticalScrollBar().maximum() > 0
    assert area.horizontalScrollBar().maximum() == 0
    assert walking.cut(dialog) == []
    save = next(b for b in dialog.findChildren(QPushButton) if b.text() == "Save")
    assert dialog.rect().contains(save.geometry().translated(save.parentWidget().pos()))


def test_saving_writes_only_what_changed_and_tells_it(qtbot: QtBot, dialog: SettingsDialog) -> None:
    choose(dialog, "theme", "dark")
    choose(dialog, "language", "zh")
    with qtbot.waitSignal(dialog.changed) as told:
        dialog.save()
    assert told.args == [{"language": "zh", "theme": "dark"}]
    assert config.get_value("theme") == "dark"
    assert "fps" not in config.paths.config_file().read_text("utf-8")


def test_saving_nothing_writes_nothing(dialog: SettingsDialog) -> None:
    dialog.save()
    assert not config.paths.config_file().exists()


def test_cancel_writes_nothing(dialog: SettingsDialog) -> None:
    choose(dialog, "theme", "dark")
    dialog.reject()
    assert config.get_value("theme") == "system"


def test_the_installed_writers_are_not_looked_for_while_the_window_waits(qtbot: QtBot, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_dialog, "entry_points", lambda **_group: pytest.fail("read on the GUI thread"))
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    box = dialog.fields["writer"]
    assert {box.itemData(i) for i in range(box.count())} >= {"rules", *settings_dialog.WRITERS}  # type: ignore[attr-defined]


def test_a_broken_settings_file_is_said(qtbot: QtBot, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    file.write_text("theme = [oh no", "utf-8")
    monkeypatch.setenv("M3DESK_CONFIG", str(file))
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    assert not dialog.problem.isHidden()
    choose(dialog, "theme", "dark")
    dialog.save()
    assert file.read_text("utf-8") == "theme = [oh no"


def test_it_is_said_that_memories_are_not_encrypted_where_one_is_made_and_in_what_is_known_of_it(qtbot, hub):
    said = "Anyone who can read this folder can read names, faces and speech in it."
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    assert said in dialog.private.text() and any(hub.path in label.text() for label in dialog.findChildren(plain.Label))
    page = StartPage(hub)
    qtbot.addWidget(page)
    assert "not encrypted" in page.private.text() and not page.private.isHidden()
