"""The backends of the models dialog: what is shown, asked, installed with progress, stopped and removed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.window import backends_list, models_dialog
from m3desk_ui.window.backends_list import BackendsList
from m3desk_ui.window.models_dialog import ModelsDialog
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from m3desk import events


def _row(name: str, state: str) -> dict[str, Any]:
    sizes = {"download_bytes": 60_000_000, "installed_bytes": 140_000_000}
    return {"name": name, "state": state, "adds": "a voice model", "licences": ["MIT"], "packages": [f"{name}==1.0"], "path": None, **sizes}


@pytest.fixture
def shown(qtbot: QtBot, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> BackendsList:
    rows = [_row("speechbrain", "missing"), _row("vllm", "interrupted"), _row("insightface", "ready")]
    monkeypatch.setattr(backends_list, "listed", lambda: rows)
    monkeypatch.setattr(backends_list, "_running", {})
    found = BackendsList(hub)
    found.given = rows  # type: ignore[attr-defined]
    qtbot.addWidget(found)
    found.show()
    qtbot.waitUntil(lambda: len(found.rows) == 3, timeout=30_000)
    return found


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[tuple[str, ...]]]:
    """Return a function that makes the command a few lines of Python, and notes what it was called with."""
    called: list[tuple[str, ...]] = []

    def make(code: str) -> list[tuple[str, ...]]:
        monkeypatch.setattr(backends_list, "command", lambda *words: (called.append(words), [sys.executable, "-S", "-u", "-c", code])[1])
        return called

    return make


def _answer(parent: BackendsList | ModelsDialog, word: str) -> str:
    """Press a button of the question that is shown; return the question's text."""
    [box] = [b for b in parent.findChildren(QMessageBox) if b.isVisible()]
    text = f"{box.text()} {box.informativeText()}"
    next(b for b in box.buttons() if word in b.text()).click()
    return text


def test_states_sizes_and_what_can_be_done_are_shown(shown: BackendsList) -> None:
    assert [(r.state.text(), r.action.isHidden(), r.action.text(), r.remove.isHidden()) for r in shown.rows.values()] == [
        ("not installed", False, "Install …", True),
        ("interrupted", False, "Continue …", False),
        ("ready", True, "Install …", False),
    ]


def test_installing_asks_first_and_its_progress_is_in_the_row_and_the_status_bar(
    qtbot: QtBot, hub: Hub, shown: BackendsList, command: Callable[[str], list[tuple[str, ...]]]
) -> None:
    called = command("import sys, time; print('speechbrain: 50 %, downloading: torch', file=sys.stderr); time.sleep(0.3)")
    told: list[events.Downloading] = []
    hub.downloading.connect(told.append)
    shown.rows["speechbrain"].action.click()
    assert called == []
    text = _answer(shown, "Install")
    assert "60.0 MB to download" in text and "140.0 MB on disk" in text and "MIT" in text
    assert called == [("install", "speechbrain", "--yes")]
    qtbot.waitUntil(lambda: shown.rows["speechbrain"].bar.value() == 50, timeout=30_000)
    assert shown.rows["speechbrain"].action.text() == "Stop"
    qtbot.waitUntil(lambda: bool(told) and told[-1].state == "done", timeout=30_000)
    assert (told[0].name, told[0].done, told[0].total, told[0].state) == ("speechbrain", 100_000_000, 200_000_000, "working")
    qtbot.waitUntil(lambda: shown.rows["speechbrain"].now == "missing", timeout=30_000)


def test_what_went_wrong_is_said_and_stop_ends_the_command(
    qtbot: QtBot, shown: BackendsList, command: Callable[[str], list[tuple[str, ...]]]
) -> None:
    command("import sys; sys.exit('m3desk: The disk became full.')")
    shown.run("vllm", "install")
    qtbot.waitUntil(lambda: shown.error.text() == "The disk became full.", timeout=30_000)
    command("import time; time.sleep(600)")
    shown.run("vllm", "install")
    running = backends_list._running["vllm"]
    shown.rows["vllm"].action.click()
    qtbot.waitUntil(lambda: running._process.poll() is not None, timeout=30_000)
    qtbot.waitUntil(lambda: not backends_list._running, timeout=30_000)


def test_removing_asks_first(qtbot: QtBot, shown: BackendsList, command: Callable[[str], list[tuple[str, ...]]]) -> None:
    called = command("pass")
    shown.rows["insightface"].remove.click()
    assert "Remove insightface" in _answer(shown, "Remove")
    assert called == [("remove", "insightface", "--yes")]
    qtbot.waitUntil(lambda: not backends_list._running, timeout=30_000)


def test_terms_of_a_model_are_shown_and_accepted_before_it_is_downloaded(qtbot: QtBot, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(models_dialog, "ask_engine", lambda *words: (asked.append(words), "")[1])
    dialog = ModelsDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: len(dialog.rows) == 6, timeout=30_000)
    row = {"name": "buffalo-l", "profile": "extra", "bytes": 1, "state": "missing", "terms": "For research only.", "accepted": False}
    dialog._show([*dialog._all, row])
    dialog.rows["buffalo-l"].action.click()
    assert asked == [] and "For research only." in _answer(dialog, "Accept")
    qtbot.waitUntil(lambda: asked == [("pull", "buffalo-l", "--yes", "--accept-licence")], timeout=30_000)
