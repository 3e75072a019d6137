"""What a screen reader and the keyboard are given: names, tooltips, shortcuts, contrast and room for texts, in the real window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from m3desk_ui import launch
from m3desk_ui.graph.past import DateDialog
from m3desk_ui.live import choices
from m3desk_ui.live.forget_dialog import ForgetDialog
from m3desk_ui.live.retention_dialog import RetentionDialog
from m3desk_ui.live.start_dialog import StartDialog
from m3desk_ui.live.watch_dialog import WatchDialog
from m3desk_ui.look import plain
from m3desk_ui.memory.versions_dialog import VersionsDialog
from m3desk_ui.people.forget_person import ForgetPerson
from m3desk_ui.people.kept_apart import KeptApart
from m3desk_ui.people.person_picker import BothFaces, PersonPicker
from m3desk_ui.people.scorecard import Scorecard
from m3desk_ui.people.split_board import SplitBoard
from m3desk_ui.people.teach_person import TeachPerson
from m3desk_ui.people.voice_links import VoiceLinks
from m3desk_ui.timeline.bookmarks_dialog import BookmarksDialog
from m3desk_ui.window.actions import ShortcutList
from m3desk_ui.window.history_dialog import HistoryDialog
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.models_dialog import ModelsDialog
from m3desk_ui.window.settings_dialog import SettingsDialog
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QHelpEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLineEdit, QToolButton, QToolTip
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from m3desk import events
from m3desk.domain.ids import clip_id
from tests.ui import walking
from tests.ui.fakes import FakeDesk


@pytest.fixture
def window(qtbot: QtBot, whole_window: Callable[[FakeDesk], MainWindow], tmp_path: Path) -> MainWindow:
    """The window with a memory open and every view loaded."""
    window = whole_window(FakeDesk())
    window.open_memory(str(tmp_path / "kitchen.m3desk"))
    qtbot.waitUntil(lambda: window.video.canvas.image is not None, timeout=60_000)
    qtbot.waitUntil(lambda: window.dock_area.views["people"].model.rowCount() == 8, timeout=60_000)  # type: ignore[attr-defined]
    return window


def _people(window: MainWindow) -> list:  # type: ignore[type-arg]
    return list(window.dock_area.views["people"]._everybody.values())  # type: ignore[attr-defined]


DIALOGS: dict[str, Callable[[MainWindow], QDialog]] = {
    "models": lambda w: ModelsDialog(w.hub, parent=w),
    "settings": lambda w: SettingsDialog(w.hub, parent=w),
    "history": lambda w: HistoryDialog(w.hub, parent=w),
    "bookmarks": lambda w: BookmarksDialog(w.hub, w),
    "shortcuts": lambda w: ShortcutList(w.actions_, w),
    "start live": lambda w: StartDialog(w.hub, w.services, choices.read(w.state), w),
    "forget": lambda w: ForgetDialog(w.hub, parent=w),
    "watch": lambda w: WatchDialog(w.hub, (), w),
    "retention": lambda w: RetentionDialog(w.hub, w),
    "date": lambda w: DateDialog(w.hub, w),
    "versions": lambda w: VersionsDialog(w.hub, clip_id("s1", 0), w),
    "split": lambda w: SplitBoard(w.hub, "person_2", w),
    "picker": lambda w: PersonPicker(w.hub, "This is…", "Who is this?", _people(w), w, new=True),
    "forget person": lambda w: ForgetPerson(w.hub, _people(w)[0], w),
    "kept apart": lambda w: KeptApart(w.hub, w),
    "scorecard": lambda w: Scorecard(w.hub, w),
    "teach": lambda w: TeachPerson(w.hub, _people(w)[0], w),
    "voices": lambda w: VoiceLinks(w.hub, _people(w)[0], w),
    "both": lambda w: BothFaces(w.hub, "Same person", "Are they one?", _people(w)[:2], w),
}


@contextmanager
def shown(qtbot: QtBot, dialog: QDialog) -> Iterator[QDialog]:
    """Show a dialog, and take it away afterwards."""
    dialog.show()
    qtbot.waitExposed(dialog)
    try:
        yield dialog
    finally:
        if isValid(dialog):
            dialog.close()
            dialog.deleteLater()


def test_whatever_takes_the_focus_has_a_name_and_buttons_without_words_say_what_they_do(window: MainWindow) -> None:
    assert walking.nameless(window) == []
    assert walking.bare_icons(window) == []


def test_in_every_dialog_too(window: MainWindow, qtbot: QtBot, subtests: pytest.Subtests) -> None:
    for name, make in DIALOGS.items():
        with subtests.test(name), shown(qtbot, make(window)) as dialog:
            qtbot.waitUntil(lambda dialog=dialog: walking.cut(dialog) == [], timeout=30_000)  # some are read first
            assert walking.nameless(dialog) == []
            assert walking.bare_icons(dialog) == []
            if (focused := QApplication.focusWidget()) is not None and dialog.isAncestorOf(focused):
                qtbot.keyClick(focused, Qt.Key.Key_Escape)
            else:
                qtbot.keyClick(dialog, Qt.Key.Key_Escape)
            assert not isValid(dialog) or not dialog.isVisible()


def test_every_action_has_words_and_is_in_a_menu_or_has_a_key(window: MainWindow) -> None:
    listed = list(walking.in_menus([menu for _, menu in window.actions_.menus]))
    assert [a for a in listed if not a.text().strip()] == []
    assert set(window.actions_.all.values()) <= set(listed)
    for name, dock in window.docks.items():
        assert dock.toggleViewAction() in listed, name
    assert [a.shortcut().toString() for a in window.actions() if a not in listed] == []


def test_no_two_actions_share_a_key_where_both_could_be_meant(window: MainWindow) -> None:
    everywhere: dict[str, list[str]] = {}
    near: dict[tuple[int, str], list[str]] = {}
    actions = {a for a in window.findChildren(QAction) if a.shortcuts()}
    for action in actions:
        for keys in action.shortcuts():
            if action.shortcutContext() in (Qt.ShortcutContext.WindowShortcut, Qt.ShortcutContext.ApplicationShortcut):
                everywhere.setdefault(keys.toString(), []).append(action.text())
            else:
                for widget in action.associatedObjects():
                    near.setdefault((id(widget), keys.toString()), []).append(action.text())
    for button in window.findChildren(QAbstractButton):
        if keys := button.shortcut().toString():
            everywhere.setdefault(keys, []).append(walking.told(button))
    assert {keys: names for keys, names in everywhere.items() if len(names) > 1} == {}
    assert [names for names in near.values() if len(names) > 1] == []
    assert {keys for _, keys in near} & set(everywhere) == set()


def test_no_action_of_the_window_has_a_key_that_a_line_of_text_takes_for_itself(window: MainWindow, qtbot: QtBot) -> None:
    line = QLineEdit()
    qtbot.addWidget(line)
    taken = []
    for name, action in window.actions_.all.items():
        if action.shortcutContext() != Qt.ShortcutContext.WindowShortcut or name in ("undo", "redo"):
            continue  # those two mean the text while one writes
        for keys in action.shortcuts():
            event = QKeyEvent(QEvent.Type.ShortcutOverride, keys[0].key(), keys[0].keyboardModifiers())
            event.ignore()
            QApplication.sendEvent(line, event)
            taken += [name] * event.isAccepted()
    assert taken == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_layout_fits_a_window_of_900_by_600(window: MainWindow, qtbot: QtBot, qapp: QApplication, language: str) -> None:
    launch.use_language(qapp, language)
    try:
        window._retheme()
        window.resize(900, 600)
        for layout in ("explore", "live", "people"):
            window.dock_area.use_layout(layout)
            window.dock_area.reset_layout()
            window.resize(900, 600)
            qtbot.waitUntil(lambda: window.size() == QSize(900, 600), timeout=30_000)
            for dock in window.docks.values():
                if not dock.isHidden():
                    dock.raise_()
                    QApplication.processEvents()
                    assert walking.cut(dock) == [], layout
            assert walking.cut(window.centralWidget()) == [], layout
    finally:
        launch.use_language(qapp, "en")


def test_the_status_of_long_work_does_not_make_a_small_window_larger(window: MainWindow, qtbot: QtBot) -> None:
    window.dock_area.use_layout("explore")
    window.resize(900, 600)
    qtbot.waitUntil(lambda: window.size() == QSize(900, 600), timeout=30_000)
    desk, status = window.hub.desk, window._status
    assert isinstance(desk, FakeDesk) and not status._cancel.isVisible()
    height = status.sizeHint().height()
    desk.emit(events.EngineReady("k", "CPU, 2 threads", "embedded", {"whisper": "x"}, no_language="qwen"))
    desk.emit(events.SourceChanged("s1", "working", ""), events.Progress("s1", "s1.c5", "watching", 95_000_000, 154_000_000, 1.8, 27.0))
    qtbot.waitUntil(lambda: status._cancel.isVisible() and bool(status._behind.text()), timeout=30_000)
    qtbot.wait(100)
    assert window.minimumSizeHint().width() <= 900 and window.size() == QSize(900, 600)
    assert status.sizeHint().height() == height, "else the picture moves when work begins"
    assert status._work.width() >= 240 and status._device.isVisible() and status._device.geometry().right() <= 900
    cut = next(label for label in status.findChildren(plain.Brief) if label.isVisible() and label.is_cut())
    QApplication.sendEvent(cut, QHelpEvent(QEvent.Type.ToolTip, cut.rect().center(), cut.mapToGlobal(cut.rect().center())))
    assert cut.text() in unescape(QToolTip.text())


def test_memories_of_a_span_do_not_make_a_small_window_larger(window: MainWindow, qtbot: QtBot) -> None:
    view = window.dock_area.views["memories"]
    window.dock_area.use_layout("explore")
    window.docks["memories"].raise_()
    window.resize(900, 600)
    qtbot.waitUntil(lambda: window.size() == QSize(900, 600), timeout=30_000)
    window.hub.selection.span.emit("s1", 20_000_000, 65_000_000)
    window.hub.selection.search_within.emit("s1", 20_000_000, 65_000_000)
    view.count.setText("100 of 1242")  # type: ignore[attr-defined]
    qtbot.wait(100)
    assert view.within.isVisible() and view.minimumSizeHint().width() <= 385  # type: ignore[attr-defined]
    assert window.size() == QSize(900, 600) and walking.cut(window.docks["memories"]) == []
    assert view.words.placeholderText() == "Filter" and view.words.width() >= 72  # type: ignore[attr-defined]


def test_buttons_of_the_graph_that_have_no_room_are_in_a_menu(window: MainWindow, qtbot: QtBot) -> None:
    window.dock_area.use_layout("live")
    bar = window.dock_area.views["graph"].bar  # type: ignore[attr-defined]
    bar.setFixedWidth(600)
    qtbot.waitUntil(lambda: bar.more.isHidden(), timeout=30_000)
    bar.setFixedWidth(260)
    qtbot.waitUntil(lambda: bar.more.isVisible() and bool(bar.more.hidden()), timeout=30_000)
    assert all(b.x() + b.width() <= 260 for b in bar.findChildren(QToolButton) if b.isVisible())
    bar.more.menu().aboutToShow.emit()
    offered = {a.text(): a for a in bar.more.menu().actions()}
    assert set(offered) == {b.accessibleName() for b in bar.more.hidden()}
    assert bar.as_list in bar.more.hidden()
    offered[bar.as_list.accessibleName()].trigger()
    assert bar.as_list.isChecked()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_question_makes_a_small_window_taller(window: MainWindow, qtbot: QtBot, qapp: QApplication, language: str) -> None:
    launch.use_language(qapp, language)
    try:
        window._retheme()
        window.dock_area.use_layout("explore")
        window.dock_area.reset_layout()
        window.docks["people"].raise_()
        window.resize(900, 600)
        people: Any = window.dock_area.views["people"]
        people.ask.click()
        card = people.questions.card
        for question in window.hub.desk.world.questions:  # type: ignore[union-attr]
            people.questions._show([question])
            qtbot.waitUntil(lambda key=question.key: card.shown is not None and card.shown.question.key == key, timeout=30_000)
            qtbot.wait(100)
            assert window.minimumSizeHint().height() <= 600, (question.kind, card.minimumSizeHint())
            assert window.size() == QSize(900, 600), question.kind
            for button in card.buttons.values():
                assert button.visibleRegion().boundingRect().size() == button.size(), question.kind
    finally:
        launch.use_language(qapp, "en")
