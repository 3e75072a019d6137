"""The dialog in which a clip is written again: both writers side by side, nothing changes before the user says so."""

from __future__ import annotations

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.memory.versions_dialog import VersionsDialog
from pytestqt.qtbot import QtBot

from m3desk.errors import ModelFailed
from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, world: World) -> VersionsDialog:
    clip = next(s.clip for s in world.sentences if s.clip)
    dialog = VersionsDialog(hub, clip)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.writer.count() == 2 and dialog.sides[0].count() > 0, timeout=30_000)
    return dialog


def test_a_clip_is_written_again_compared_and_taken(
    qtbot: QtBot, dialog: VersionsDialog, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not dialog.take.isEnabled() and dialog.sides[1].count() == 0
    assert dialog.writer.currentData() == "server"
    dialog.again.click()
    qtbot.waitUntil(lambda: dialog.sides[1].count() == 1, timeout=30_000)
    assert "Ann plays the violin." in dialog.sides[1].item(0).text() and "watched by server" in dialog.heads[1].text()
    assert [how for _, how in desk.called("correct")] == []
    monkeypatch.setattr(plain, "sure", lambda *_given: True)
    dialog.take.click()
    qtbot.waitUntil(lambda: len(desk.called("correct")) == 2, timeout=30_000)
    assert [(args[0], how["dry_run"]) for args, how in desk.called("correct")] == [("choose", True), ("choose", False)]


def test_a_model_that_fails_says_why_and_the_new_sentences_can_be_dropped(qtbot: QtBot, dialog: VersionsDialog, desk: FakeDesk) -> None:
    desk.fail["server"] = ModelFailed("the server <b>is</b> gone.")
    dialog.again.click()
    qtbot.waitUntil(lambda: "is gone" in dialog.state.text() or "gone" in dialog.state.text(), timeout=30_000)
    assert dialog.sides[1].count() == 0 and dialog.again.isEnabled()
    desk.fail.clear()
    dialog.again.click()
    qtbot.waitUntil(lambda: dialog.drop.isEnabled(), timeout=30_000)
    dialog.drop.click()
    qtbot.waitUntil(lambda: dialog.sides[1].count() == 0, timeout=30_000)
    assert desk.called("drop_version")
