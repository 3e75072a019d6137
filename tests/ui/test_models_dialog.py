"""The models dialog: states, sizes, downloading with progress, the offer of the language model."""

from __future__ import annotations

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.window.models_dialog import ModelRow, ModelsDialog, is_llm, is_needed, purpose
from pytestqt.qtbot import QtBot

from m3desk import events
from m3desk.errors import DownloadError
from tests.ui.fakes import FakeDesk


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub) -> ModelsDialog:
    dialog = ModelsDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: len(dialog.rows) == 6, timeout=30_000)
    return dialog


def test_missing_models_come_first_and_say_size_and_licence(dialog: ModelsDialog) -> None:
    assert next(iter(dialog.rows)) == "qwen2.5-coder-1.5b"
    assert dialog.rows["yunet"].now == "ready"
    assert dialog.rows["ssd-mobilenet-v2"].action.text() == "Download"


def test_the_language_model_is_offered_with_its_size(dialog: ModelsDialog, desk: FakeDesk) -> None:
    assert not dialog.offer.isHidden()
    assert "1.1 GB" in dialog.offer_text.text()
    dialog.offer_go.click()
    assert desk.called("pull")[0][1] == {"llm": True, "names": ("qwen2.5-coder-1.5b",)}


def test_progress_and_failure_of_a_download_are_shown(qtbot: QtBot, dialog: ModelsDialog, desk: FakeDesk) -> None:
    row = dialog.rows["ssd-mobilenet-v2"]
    desk.emit(events.Downloading("ssd-mobilenet-v2", 30_000_000, 60_000_000, "working"))
    qtbot.waitUntil(lambda: row.bar.value() == 500, timeout=30_000)
    assert row.now == "working"
    desk.emit(events.Downloading("ssd-mobilenet-v2", 0, 0, "failed", "The disk is full."))
    qtbot.waitUntil(lambda: row.now == "failed", timeout=30_000)
    assert dialog.state.text() == "The disk is full."


def test_what_is_missing_is_downloaded_without_the_language_model(dialog: ModelsDialog, desk: FakeDesk) -> None:
    dialog.missing.click()
    assert desk.called("pull")[0][1] == {"llm": False, "names": ("ssd-mobilenet-v2",)}


def test_a_download_error_says_what_to_do(qtbot: QtBot, dialog: ModelsDialog, desk: FakeDesk) -> None:
    desk.fail["pull"] = DownloadError("No connection.", "Try again later.")
    dialog.missing.click()
    qtbot.waitUntil(lambda: "Try again later." in dialog.state.text(), timeout=30_000)


def test_unknown_models_have_no_purpose() -> None:
    assert purpose("whisper-base")
    assert purpose("xyz") == ""


def test_a_model_that_the_user_measured_says_on_how_many_people(qtbot: QtBot) -> None:
    measured = {"people": 12.0, "files": 60.0, "at": "2026-11-23T10:00:00+00:00"}
    for calibrated in (None, measured):
        row = ModelRow({"name": "auraface", "profile": "extra", "state": "ready", "calibrated": calibrated})
        qtbot.addWidget(row)
        told = [label.text() for label in row.findChildren(plain.Label)]
        assert ("Thresholds measured by you: 12 people, 60 files, 2026-11-23" in told) == (calibrated is not None)


def test_offered_models_say_what_they_add_and_what_was_not_verified_and_are_never_missing(qtbot: QtBot) -> None:
    offered = {
        "name": "qwen3-vl-2b",
        "profile": "extra",
        "bytes": 1_926_804_800,
        "licence": "Apache-2.0",
        "state": "missing",
        "verified": False,
    }
    row = ModelRow(offered)
    qtbot.addWidget(row)
    told = " ".join(label.text() for label in row.findChildren(plain.Label))
    assert "sees clips and tells what happens" in told and "1.9 GB" in told and "not verified by us" in told
    assert not is_llm(offered) and not is_needed(offered) and not is_needed({**offered, "profile": "own"})
    assert (
        "watches" not in purpose("qwen2.5-coder-1.5b")
        and "larger" in purpose("qwen3-4b-instruct")
        and "hears" in purpose("qwen2.5-omni-7b")
    )
