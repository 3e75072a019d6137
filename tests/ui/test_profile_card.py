"""What a model profile means is told where it is chosen: fits or why not, the next smaller one, downloads, what leaves the machine."""

from __future__ import annotations

from typing import Any

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.window import profile_card, server_fields
from m3desk_ui.window.profile_card import devices, verdict
from m3desk_ui.window.settings_dialog import SettingsDialog
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from m3desk import config, machine
from m3desk.presets import presets
from tests.machine.test_machine import card

GB = 1_000_000_000


def row(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "ready": True,
        "reason": "",
        "fits": True,
        "short": None,
        "smaller": None,
        "turns": False,
        "downloads": [],
        **more,
    }


ROWS = [
    row("embedded"),
    row("laptop-vision", smaller="embedded", downloads=[{"name": "qwen3-vl-2b", "kind": "model", "bytes": 1_926_804_800}]),
    row("gpu-8", fits=False, ready=False, smaller="laptop-vision", short={"what": "card", "needed": 7 * GB, "has": 0, "on": ""}),
    row(
        "gpu-24",
        fits=False,
        ready=False,
        smaller="gpu-8",
        short={"what": "card-size", "needed": 17_500_000_000, "has": 8 * GB, "on": "RTX 4060"},
    ),
    row("gpu-48", turns=True),
]


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> SettingsDialog:
    monkeypatch.setattr(profile_card, "facts", lambda: {"profiles": ROWS})
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    with qtbot.waitSignal(dialog.card.ready):
        pass
    return dialog


def choose(dialog: SettingsDialog, name: str) -> None:
    box = dialog.fields["profile"]
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData(name))


def test_every_profile_is_offered_in_words(dialog: SettingsDialog) -> None:
    box = dialog.fields["profile"]
    assert isinstance(box, QComboBox)
    assert [box.itemData(i) for i in range(box.count())] == ["embedded", *presets(), "server"]
    assert all(box.itemText(i) != box.itemData(i) for i in range(box.count()))


def test_a_profile_that_fits_says_what_it_downloads_and_that_nothing_leaves(dialog: SettingsDialog) -> None:
    choose(dialog, "laptop-vision")
    assert dialog.card.fits.text() == "Fits this machine."
    assert dialog.card.downloads.text() == "To download: qwen3-vl-2b (1.9 GB)." and not dialog.card.models.isHidden()
    assert dialog.card.leaves.text() == "Nothing leaves this machine." and dialog.card.smaller.isHidden()
    choose(dialog, "gpu-48")
    assert "take turns" in dialog.card.fits.text() and dialog.card.models.isHidden()


def test_one_that_does_not_fit_says_why_offers_the_next_that_does_and_is_not_saved(dialog: SettingsDialog) -> None:
    choose(dialog, "gpu-24")
    assert dialog.card.fits.text() == (
        "Does not fit this machine. It needs 17.5 GB on one graphics card; RTX 4060 has 8.0 GB. The next smaller choice is gpu-8."
    )
    dialog.save()
    assert "17.5 GB" in dialog.problem.text() and config.get_value("profile") == "embedded"
    assert dialog.card.smaller.text() == "Choose laptop-vision"  # gpu-8 does not fit either
    dialog.card.smaller.click()
    assert dialog.value("profile") == "laptop-vision"
    dialog.save()
    assert config.get_value("profile") == "laptop-vision"


def test_what_leaves_is_not_said_twice(dialog: SettingsDialog) -> None:
    config.set_backend_option("server", "url", "https://models.example.com/v1")
    choose(dialog, "server")
    assert dialog.card.leaves.isHidden() and "models.example.com" in dialog.leaving.text()


def test_the_address_of_a_server_is_typed_where_it_is_chosen_and_what_leaves_follows_it(
    qtbot: QtBot, dialog: SettingsDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []
    monkeypatch.setattr(server_fields, "keep_key", kept.append)
    assert dialog.server is not None and not dialog.server.isVisibleTo(dialog)
    choose(dialog, "server")
    assert dialog.server.isVisibleTo(dialog) and "Type the address" in dialog.leaving.text() and dialog.card.leaves.isHidden()
    dialog.server.address.setText("models.example.com")
    assert "not http://HOST:PORT/v1" in dialog.leaving.text()
    dialog.save()
    assert "not http://HOST:PORT/v1" in dialog.problem.text() and config.get_value("profile") == "embedded"
    dialog.server.address.setText("http://models.example.com:8000/v1")
    assert "Questions go to models.example.com:8000" in dialog.leaving.text() and "unencrypted" in dialog.leaving.text()
    dialog.server.address.setText("http://127.0.0.1:8000/v1")
    assert dialog.leaving.isHidden() and dialog.card.leaves.text() == "Nothing leaves this machine."
    dialog.server.model.setText("tiny")
    dialog.server.key.setText("secret")
    with qtbot.waitSignal(dialog.hub.notice):
        dialog.save()
    assert config.own_options("server") == {"url": "http://127.0.0.1:8000/v1", "model": "tiny"}
    qtbot.waitUntil(lambda: kept == ["secret"], timeout=30_000)
    assert config.get_value("profile") == "server" and "secret" not in config.paths.config_file().read_text("utf-8")


def test_a_machine_that_can_t_be_looked_at_is_said_and_hinders_nobody(qtbot: QtBot, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_card, "facts", lambda: {}["nothing"])
    dialog = SettingsDialog(hub)
    qtbot.addWidget(dialog)
    assert "Checking this machine" in dialog.card.fits.text()
    with qtbot.waitSignal(dialog.card.ready):
        pass
    assert "Could not check this machine" in dialog.card.fits.text()
    choose(dialog, "gpu-80")
    dialog.save()
    assert config.get_value("profile") == "gpu-80"


@pytest.mark.parametrize("cards", [[], [card(4)], [card(24, 3)], [card(85)]])
def test_the_words_follow_what_doctor_tells(monkeypatch: pytest.MonkeyPatch, cards: list[dict[str, Any]]) -> None:
    monkeypatch.setattr(machine.cards, "seen", lambda: cards)
    for told in machine.profiles():
        said = verdict(told)
        assert ("Fits" in said) == told["fits"] and "%" not in said
        assert told["fits"] or not told["smaller"] or str(told["smaller"]) in said


def test_the_cards_are_told_with_free_memory_and_driver_and_what_the_engines_see() -> None:
    told = devices({"gpus": [{**card(24, 22), "driver": "550.1"}], "engines": [{"engine": "llama.cpp", "name": "CUDA0"}]})
    assert told == "Card (22.0 GB of 24.0 GB free, driver 550.1) · llama.cpp sees: CUDA0"
    assert devices({}) == "No graphics card is seen"
