"""The problems dialog lists what a check finds, shows it in all views, and mends it as the command would."""

from __future__ import annotations

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.window import problems_dialog
from m3desk_ui.window.problems_dialog import Mend, ProblemsDialog
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.ui.fakes import FakeDesk, World

FINDINGS = [
    {
        "kind": "contradicted",
        "people": ["person_2"],
        "nodes": ["n3", "n4"],
        "text": "n3 <b>and</b> n4",
        "fix": "m3desk people unlink n3 n4",
    },
    {"kind": "dangling tag", "people": [], "nodes": ["m3"], "text": "m3 names <face_9>", "fix": "m3desk memories edit m3 'someone sits'"},
    {"kind": "crowd", "people": ["person_1"], "nodes": [], "text": "Ann has 9 faces", "fix": "m3desk people show person_1"},
]


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, world: World) -> ProblemsDialog:
    world.report = {"ok": True, "findings": FINDINGS, "waiting": [{"step": 7, "text": "named somebody", "fix": "m3desk revert 7"}]}
    dialog = ProblemsDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.rows.topLevelItemCount() == 4, timeout=30_000)
    dialog.rows.setCurrentItem(None)  # some platforms give a shown list the focus, and its first row is chosen then
    return dialog


def choose(dialog: ProblemsDialog, row: int) -> None:
    dialog.rows.setCurrentItem(dialog.rows.topLevelItem(row))


def test_a_chosen_problem_is_shown_in_all_views(dialog: ProblemsDialog, hub: Hub) -> None:
    marked: list[tuple[str, ...]] = []
    hub.selection.found.connect(marked.append)
    choose(dialog, 0)
    assert hub.selection.current == ("person", "person_2") and marked[-1] == ("person_2", "n3", "n4")
    assert dialog.whole.text().startswith("n3 <b>and</b> n4")
    dialog.reject()
    assert marked[-1] == ()


def test_a_problem_is_mended_after_its_effect_was_shown_and_can_be_undone(
    qtbot: QtBot, dialog: ProblemsDialog, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(plain, "sure", lambda *given: asked.append(given[3]) or True)
    choose(dialog, 0)
    with qtbot.waitSignal(hub.offer, timeout=30_000):
        dialog.fix.click()
    assert asked == ["unlink: changes 3 memories"]
    assert desk.called("correct")[-1] == (("unlink", {"face": "n3", "voice": "n4"}), {"why": None, "dry_run": False})
    qtbot.waitUntil(lambda: len(desk.called("check")) >= 2, timeout=30_000)


def test_a_problem_without_a_correction_shows_its_command(dialog: ProblemsDialog) -> None:
    choose(dialog, 2)
    assert not dialog.fix.isEnabled()
    assert dialog.rows.topLevelItem(2).text(2) == "m3desk people show person_1"  # type: ignore[union-attr]


def test_each_command_of_the_check_is_known_to_the_window() -> None:
    commands = {
        "m3desk people split person_1 --suggestion 12": Mend("accept", {"n": 12}),
        "m3desk people accept 4": Mend("accept", {"n": 4}),
        "m3desk people assign s1.c0.f0 s1.c1.f0 --new": Mend(
            "assign", {"observations": ["s1.c0.f0", "s1.c1.f0"], "person": None, "name": None}
        ),
        "m3desk people ignore person_3": Mend("ignore", {"person": "person_3", "ignored": True}),
        "m3desk people set-aside s1.c0.f1": Mend("set-aside", {"observations": ["s1.c0.f1"]}),
        "m3desk memories edit m3 'a; rm -rf'": Mend("edit", {"node": "m3", "text": "a; rm -rf"}),
        "m3desk memories delete m3": Mend("delete", {"node": "m3"}),
        "m3desk revert 7": Mend("revert", {"step": 7}),
    }
    assert {fix: problems_dialog.mend(fix) for fix in commands} == commands
    assert problems_dialog.mend("m3desk people accept 'x") is None and problems_dialog.mend("") is None


def test_an_older_model_is_told_in_words_with_the_command_that_replaces_it(qtbot: QtBot, hub: Hub, world: World) -> None:
    command = "m3desk reembed campplus -m '/films/a b.m3desk' --switch"
    text = "this memory recognises voices with an older model than new memories use"
    world.report = {"ok": True, "findings": [{"kind": "older model", "people": [], "nodes": [], "text": text, "fix": command}]}
    dialog = ProblemsDialog(hub)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.rows.topLevelItemCount() == 1, timeout=30_000)
    row = dialog.rows.topLevelItem(0)
    assert row is not None
    assert [row.text(n) for n in range(3)] == ["Older model", text[0].upper() + text[1:], command]
    choose(dialog, 0)
    assert command in dialog.whole.text().replace("\u200b", "") and not dialog.fix.isEnabled()
    assert dialog.whole.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_enter_in_the_list_mends_and_does_not_close(
    qtbot: QtBot, dialog: ProblemsDialog, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "sure", lambda *_given: True)
    choose(dialog, 0)
    with qtbot.waitSignal(hub.offer, timeout=30_000):
        qtbot.keyClick(dialog.rows, Qt.Key.Key_Return)
    assert dialog.isVisible()


def test_a_damaged_memory_says_how_it_is_repaired(qtbot: QtBot, hub: Hub, world: World) -> None:
    world.report = {"ok": False, "integrity": ["row 3 is not there"], "index": [], "findings": [], "waiting": []}
    dialog = ProblemsDialog(hub)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: "--repair" in dialog.state.text(), timeout=30_000)
    assert dialog.rows.topLevelItemCount() == 1
