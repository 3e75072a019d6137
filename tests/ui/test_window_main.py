"""The window opens without an engine, opens memories and videos, accepts dropped files, and reports errors."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from m3desk_ui import launch
from m3desk_ui.hub.services import Services
from m3desk_ui.look import theme
from m3desk_ui.memory.sources_view import Row
from m3desk_ui.people.people_view import PeopleView
from m3desk_ui.window import files
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QFont, QFontInfo
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QTabBar

from m3desk import config, events
from m3desk.errors import DownloadError, MemoryMissing, SourceUnreadable
from tests.ui.fakes import FakeDesk, FakePlayer


class Desks:
    def __init__(self):
        self.opened = []
        self.desk = FakeDesk()
        self.players = []

    def open_desk(self, path):
        self.opened.append(path)
        return self.desk

    def make_player(self, on_frame, on_state):
        self.players.append(FakePlayer(on_frame, on_state))
        return self.players[-1]

    def services(self):
        return Services(self.open_desk, self.make_player, lambda v: v + ".m3desk", lambda: self.desk.doctor().result())


@pytest.fixture
def desks(tmp_path):
    desks = Desks()
    video = tmp_path / "meeting.mp4"
    video.write_bytes(b"x")
    desks.video = str(video)
    desks.desk.world.sources[0] = replace(desks.desk.world.sources[0], uri=str(video))
    return desks


@pytest.fixture
def window(qtbot, desks):
    window = MainWindow(desks.services(), WindowState())
    qtbot.addWidget(window)
    window.show()
    yield window
    window.close()


def test_the_first_page_needs_no_engine_and_says_what_the_machine_can_do(window, desks, qtbot):
    window.start.show_machine(desks.desk.doctor().result())
    assert desks.opened == []
    assert "2× real time" in window.start.machine.text()
    assert "no GPU" in window.start.machine.text()
    assert window.start.live.isEnabled()
    assert all(not d.isVisible() for d in window.docks.values())
    assert not window.actions_.all["undo"].isEnabled()


def test_single_pictures_both_ways_and_speeds_from_a_quarter_to_four_times_are_reached_by_keys(window, desks, qtbot):
    window.open_memory("/videos/kitchen.m3desk")
    qtbot.waitUntil(lambda: window.video.canvas.image is not None, timeout=30_000)
    player, canvas = desks.players[0], window.video.canvas
    window.activateWindow()
    canvas.setFocus()
    qtbot.waitUntil(canvas.hasFocus, timeout=30_000)
    for key, step in ((Qt.Key.Key_Period, 1), (Qt.Key.Key_Comma, -1)):
        qtbot.keyClick(canvas, key)
        assert player.calls[-1] == ("step", step)
    for key, speeds in (
        (Qt.Key.Key_BracketLeft, [0.75, 0.5, 0.25]),
        (Qt.Key.Key_BracketRight, [0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0]),
    ):
        for speed in speeds:
            qtbot.keyClick(canvas, key, Qt.KeyboardModifier.ControlModifier)
            assert player.calls[-1] == ("speed", speed)
        qtbot.keyClick(canvas, key, Qt.KeyboardModifier.ControlModifier)
        assert window.video.transport.speed_now() == speeds[-1]  # there it ends


def test_opening_a_memory_shows_its_video_people_and_words(window, desks, qtbot, tmp_path):
    (tmp_path / "kitchen.m3desk").mkdir()  # what is gone is not listed among the recent ones
    window.open_memory(str(tmp_path / "kitchen.m3desk"))
    qtbot.waitUntil(lambda: window.video.canvas.image is not None, timeout=30_000)
    qtbot.waitUntil(lambda: window.transcript.lines.rowCount() == 20, timeout=30_000)
    qtbot.waitUntil(lambda: len(window.timeline.canvas.rows.lanes) == 7, timeout=30_000)
    assert window.docks["timeline"].isVisible()
    assert config.recent_memories()[:1] == [str(tmp_path / "kitchen.m3desk")]


def test_the_memory_that_was_chosen_last_is_shown_whichever_opens_first(window, desks, qtbot, tmp_path):
    slow, late, first = threading.Event(), FakeDesk(), desks.desk

    def open_desk(path):
        desks.opened.append(path)
        if path.endswith("slow.m3desk"):
            slow.wait(30)
            return late
        return first

    window.services = replace(window.services, open_desk=open_desk)
    window.open_memory(str(tmp_path / "slow.m3desk"))
    window.open_memory(str(tmp_path / "slow.m3desk"))  # a double click
    qtbot.waitUntil(lambda: len(desks.opened) == 1, timeout=30_000)
    window.open_memory(str(tmp_path / "last.m3desk"))
    qtbot.waitUntil(lambda: window.hub.path.endswith("last.m3desk"), timeout=30_000)
    slow.set()
    qtbot.waitUntil(lambda: bool(late.called("close")), timeout=30_000)
    assert window.hub.desk is first and len(desks.opened) == 2


def test_a_new_memory_is_said_to_be_kept_where_it_is_and_not_encrypted(window, desks, qtbot, tmp_path):
    with qtbot.waitSignal(window.hub.notice) as told:
        window.open_memory(str(tmp_path / "new.m3desk"))
    assert str(tmp_path / "new.m3desk") in told.args[1] and "not encrypted" in told.args[2]
    (tmp_path / "old.m3desk").mkdir()
    (tmp_path / "old.m3desk" / "memory.sqlite").write_bytes(b"x")
    window.notices.dismiss()
    window.open_memory(str(tmp_path / "old.m3desk"))
    qtbot.waitUntil(lambda: window.hub.path.endswith("old.m3desk"), timeout=30_000)
    assert not window.notices.isVisible()


def test_a_citation_seeks_and_plays_and_the_views_follow(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.video.canvas.image is not None, timeout=30_000)
    window.hub.selection.play("s1", 40_000_000)
    qtbot.waitUntil(lambda: window.video.playing() and window.timeline.canvas.head >= 40_000_000, timeout=30_000)
    window.video.pause()
    assert ("seek", 40_000_000) in desks.players[0].calls
    qtbot.waitUntil(lambda: bool(window.video.canvas.boxes()), timeout=30_000)


def test_a_dropped_video_makes_a_memory_beside_it_and_plays(window, desks, qtbot):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(desks.video)])
    drop = QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    window.dropEvent(drop)
    qtbot.waitUntil(lambda: bool(desks.desk.called("memorize")), timeout=30_000)
    assert desks.opened == [desks.video + ".m3desk"]
    assert desks.desk.called("memorize")[0][0] == ([desks.video],)
    qtbot.waitUntil(lambda: bool(desks.players) and ("open", desks.video) in desks.players[0].calls, timeout=30_000)
    qtbot.waitUntil(lambda: window.video.playing(), timeout=30_000)


def test_a_bad_file_does_not_hold_up_the_others_and_its_notice_ends_with_the_next_drop(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    memorize = desks.desk.memorize

    def refuse(paths):
        return _refused(SourceUnreadable("notes.txt is not a video.")) if "notes" in paths[0] else memorize(paths)

    desks.desk.memorize = refuse
    window.take_files(["/videos/notes.txt", "/videos/a.mp4", "/videos/b.mp4"])
    qtbot.waitUntil(lambda: len(desks.desk.called("memorize")) == 2, timeout=30_000)
    assert [call[0] for call in desks.desk.called("memorize")] == [(["/videos/a.mp4"],), (["/videos/b.mp4"],)]
    assert "notes.txt" in window.notices._text.text()
    window.take_files(["/videos/c.mp4"])
    qtbot.waitUntil(lambda: len(desks.desk.called("memorize")) == 3, timeout=30_000)
    assert not window.notices.isVisible()


def _refused(error):
    future = Future()
    future.set_exception(error)
    return future


def test_dropping_files_never_moves_them(window, desks):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(desks.video)])
    both = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    drop = QDropEvent(QPointF(50, 50), both, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    drop.setDropAction(Qt.DropAction.MoveAction)
    window.dropEvent(drop)
    assert drop.isAccepted() and drop.dropAction() == Qt.DropAction.CopyAction


def test_a_memory_without_a_video_says_how_one_is_added(window, desks, qtbot, tmp_path):
    sources = list(desks.desk.world.sources)
    desks.desk.world.sources.clear()
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: "No video is in this memory yet" in window.video.canvas.message, timeout=30_000)
    assert not window.video.transport.isEnabled()
    desks.desk.world.sources += sources
    window.video.following.restart()
    qtbot.waitUntil(lambda: window.video.transport.isEnabled() and not window.video.canvas.message, timeout=30_000)


def test_an_imported_graph_says_that_its_video_is_not_here(window, desks, qtbot, tmp_path):
    (tmp_path / "room.pkl.gz").write_bytes(b"x")
    desks.desk.world.sources[0] = replace(desks.desk.world.sources[0], uri=str(tmp_path / "room.pkl.gz"))
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: "without its video" in window.video.canvas.message, timeout=30_000)
    assert "is not" not in window.notices._text.text() and not window.video.transport.isEnabled()
    window.hub.selection.play("s1", 40_000_000)
    qtbot.wait(50)
    assert desks.players == [] and window.hub.selection.at == ("s1", 40_000_000)


def test_the_demo_is_downloaded_then_played(window, desks, qtbot, tmp_path):
    place = tmp_path / "demo"
    place.mkdir()
    (place / "speech.mp4").write_bytes(b"x")
    rows = desks.desk.models().result()
    done = desks.desk.models

    def models():
        future = done()
        future.result()[-1]["path"] = str(place)
        return future

    desks.desk.models = models
    assert rows[-1]["name"] == "demo"
    window.try_demo()
    qtbot.waitUntil(lambda: bool(desks.desk.called("memorize")), timeout=30_000)
    assert desks.desk.called("pull")[0][1]["names"] == ("demo",)
    assert desks.desk.called("memorize")[0][0] == ([str(place / "speech.mp4")],)


def test_a_demo_that_cannot_be_downloaded_is_a_message(window, desks, qtbot):
    desks.desk.fail["pull"] = DownloadError("The demo clip could not be downloaded.", "Check the network and try again.")
    window.try_demo()
    qtbot.waitUntil(lambda: window.notices.isVisible() and "could not be downloaded" in window.notices._text.text(), timeout=30_000)
    assert window.start.demo.isEnabled()


def test_a_missing_file_says_so_and_keeps_the_memory_open(window, desks, qtbot, tmp_path):
    desks.desk.world.sources[0] = replace(desks.desk.world.sources[0], uri=str(tmp_path / "gone.mp4"))
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: "gone.mp4" in window.video.canvas.message, timeout=30_000)
    qtbot.waitUntil(lambda: window.transcript.lines.rowCount() == 20, timeout=30_000)


def test_a_lost_engine_is_a_message_in_a_living_window(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    desks.desk.emit(events.EngineLost("The engine stopped unexpectedly (signal 9).", "It is being started again.", True))
    qtbot.waitUntil(lambda: "signal 9" in window.notices._text.text(), timeout=30_000)
    assert window.isVisible()


def test_errors_wait_their_turn_and_news_does_not_push_them_away(window):
    bar = window.notices
    bar.add("error", "first")
    bar.add("error", "second")
    bar.add("info", "news")
    assert "first" in bar._text.text()
    bar.dismiss()
    assert "second" in bar._text.text()


def test_an_error_says_how_many_notices_wait_behind_it(window):
    bar = window.notices
    for number in range(3):
        window.hub.notice.emit("error", f"fault {number}", "", "")
    assert bar._more.isVisible() and bar._more.text() == "2 more"
    bar._close.click()
    assert "fault 1" in bar._text.text() and bar._more.text() == "1 more"
    bar.withdraw("fault 2")
    assert not bar._more.isVisible(), "the last one shown, none waits"


def test_a_message_of_the_engine_is_shown_as_a_sentence(window):
    window.hub.tell(MemoryMissing("there is no memory at x.", "Check the path."))
    assert "There is no memory at x." in window.notices._text.text()


def test_subtitles_are_an_entry_of_their_own_and_offered_first_there(window, desks, qtbot, tmp_path, monkeypatch):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    asked = []
    monkeypatch.setattr(files, "where_to_write", lambda _parent, _head, suggested, kinds: asked.append((suggested, kinds.split(";;")[0])))
    for name in ("export", "export_subtitles"):
        window.actions_.all[name].trigger()
    assert [(Path(path).name, kind) for path, kind in asked] == [("k.html", "Report (*.html)"), ("k.srt", "Subtitles with names (*.srt)")]


def test_a_model_that_loads_is_told_by_what_it_is_for(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    desks.desk.emit(events.ModelLoading("llama-cpp", False))
    qtbot.waitUntil(lambda: window._status._work.text() == "Loading the language model (llama-cpp) …", timeout=30_000)
    desks.desk.emit(events.ModelLoading("my-own", False))
    qtbot.waitUntil(lambda: window._status._work.text() == "Loading my-own …", timeout=30_000)


def test_a_correction_offers_undo(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    window.hub.correct("name", {"person": "person_5", "name": "Eve"})
    qtbot.waitUntil(lambda: window.notices._act.isVisible(), timeout=30_000)
    window.notices._act.click()
    assert desks.desk.called("undo")


def test_an_offer_to_undo_goes_when_it_was_undone_by_key(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    window.hub.correct("name", {"person": "person_5", "name": "Eve"})
    qtbot.waitUntil(lambda: window.notices._act.isVisible(), timeout=30_000)
    qtbot.wait(100)
    assert window.notices._act.isVisible()
    window.hub.undo()
    qtbot.waitUntil(lambda: not window.notices.isVisible(), timeout=30_000)


def test_undo_and_redo_are_offered_for_corrections_made_before_the_memory_was_opened(window, desks, qtbot, tmp_path):
    people = PeopleView(window.hub)
    qtbot.addWidget(people)

    def offered():
        return [(window.actions_.all[name].isEnabled(), getattr(people, name).isEnabled()) for name in ("undo", "redo")]

    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: len(window.sources.model.rows) == 3, timeout=30_000)
    assert offered() == [(False, False), (False, False)]
    desks.desk.emit(events.EngineReady("k", "CPU", "embedded", {}, can_undo=True))
    qtbot.waitUntil(lambda: offered() == [(True, True), (False, False)], timeout=30_000)
    late = PeopleView(window.hub)  # its module is imported after the window is shown
    qtbot.addWidget(late)
    assert late.undo.isEnabled() and not late.redo.isEnabled()
    window.actions_.build()  # as after a change of language
    assert offered() == [(True, True), (False, False)]
    window.close_memory()
    assert offered() == [(False, False), (False, False)]


def test_the_status_bar_says_what_the_memory_holds_once_a_model_is_loaded(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: "clips memorized: 5" in window._status._work.text(), timeout=30_000)
    desks.desk.emit(events.ModelLoading("llama-cpp", False))
    qtbot.waitUntil(lambda: "llama-cpp" in window._status._work.text(), timeout=30_000)
    desks.desk.emit(events.ModelLoading("llama-cpp", True))
    qtbot.waitUntil(lambda: "clips memorized: 5" in window._status._work.text(), timeout=30_000)


def test_progress_and_what_the_memory_holds_stand_in_the_status_bar(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: "clips memorized: 5" in window._status._work.text(), timeout=30_000)
    desks.desk.emit(events.Progress("s1", "s1.c5", "watching", 130_000_000, 180_000_000, 1.8, 27.0))
    qtbot.waitUntil(lambda: "02:10 / 03:00" in window._status._work.text(), timeout=30_000)
    assert "1.8× real time" in window._status._work.text() and "27 s left" in window._status._work.text()
    desks.desk.emit(events.Progress("", "", "rebuilding", 3, 4, None, 2.0))  # work on the whole memory counts its parts
    qtbot.waitUntil(lambda: window._status._work.text().startswith("Rebuilding the memory's tables · 75 % · 2"), timeout=30_000)


def test_where_no_language_model_is_installed_that_is_said_instead_of_a_count_that_stays(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: "without knowledge yet" in window._status._knowledge.text(), timeout=30_000)
    desks.desk.emit(events.EngineReady("k", "CPU", "embedded", {"qwen": "1.1 GB"}, no_language="qwen"))
    qtbot.waitUntil(lambda: window._status._knowledge.text() == "no language model: no knowledge is written", timeout=30_000)
    desks.desk.emit(events.Downloading("another", 1, 1, "done"), events.Downloading("qwen", 1, 1, "done"))
    qtbot.waitUntil(lambda: "without knowledge yet" in window._status._knowledge.text(), timeout=30_000)


def test_the_optional_language_model_does_not_count_as_missing(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "m.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    status = window.statusBar()
    desks.desk.emit(events.EngineReady("k", "CPU 2", "embedded", {"qwen": "download it"}, no_language="qwen"))
    qtbot.waitUntil(lambda: "CPU 2" in status._device.text(), timeout=30_000)
    assert status._models.text() == ""
    desks.desk.emit(events.EngineReady("k", "CPU", "embedded", {"qwen": "download it", "whisper": "download it"}, no_language="qwen"))
    qtbot.waitUntil(lambda: status._models.text() == "models missing: 1", timeout=30_000)


def test_sources_can_be_paused_cancelled_retried_and_moved(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: len(window.sources.model.rows) == 3, timeout=30_000)
    window.sources.set_paused(True)
    rows: dict[str, Row] = {r.source.id: r for r in window.sources.model.rows}

    def act(source, text):
        action = next(a for a in window.sources.actions_menu(rows[source]).actions() if a.text() == text)
        assert action.isEnabled()
        action.trigger()

    act("s2", "Memorize next")
    act("s2", "Cancel")
    act("s3", "Retry")
    assert not next(a for a in window.sources.actions_menu(rows["s3"]).actions() if a.text() == "Memorize next").isEnabled()
    desk = desks.desk
    assert desk.called("pause")[0][0] == (True,)
    assert desk.called("move")[0][0] == ("s2", 0)
    assert desk.called("cancel")[0][0] == ("s2",) and desk.called("retry")[0][0] == ("s3",)


def test_every_layout_shows_its_docks(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    for name, shown in (
        ("live", {"graph", "chat"}),
        ("people", {"people", "timeline", "inspector"}),
        ("explore", {"graph"}),
    ):
        window.dock_area.use_layout(name)
        assert shown <= {n for n, d in window.docks.items() if not d.isHidden()}
    window.dock_area.use_layout("live")
    assert window.docks["people"].isHidden()


def test_bars_of_tabs_say_which_views_they_hold(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "kitchen.m3desk"))

    def names() -> list[str]:
        return [bar.accessibleName() for bar in window.findChildren(QTabBar) if bar.isVisible() and bar.count()]

    qtbot.waitUntil(lambda: bool(names()) and all(names()), timeout=30_000)
    assert any("Sources" in name for name in names())


def shown_docks(window):
    return sorted(name for name, dock in window.docks.items() if not dock.isHidden())


def test_full_screen_shows_the_picture_alone_and_gives_everything_back(window, desks, qtbot, tmp_path):
    window.showMaximized()
    window.open_memory(str(tmp_path / "kitchen.m3desk"))
    qtbot.waitUntil(lambda: bool(shown_docks(window)), timeout=30_000)
    before = shown_docks(window)
    window.toggle_full_screen()
    assert shown_docks(window) == [] and not window.menuBar().isVisible() and window.isFullScreen()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert shown_docks(window) == before and window.menuBar().isVisible() and window.isMaximized()
    window.toggle_full_screen()
    window.close_memory()
    window.open_memory(str(tmp_path / "garden.m3desk"))
    qtbot.waitUntil(lambda: bool(shown_docks(window)), timeout=30_000)
    assert shown_docks(window) == before and not window.isFullScreen()


def test_docks_grow_again_with_a_window_that_was_small(window, desks, qtbot, tmp_path):
    window.resize(1400, 900)
    window.open_memory(str(tmp_path / "kitchen.m3desk"))
    qtbot.waitUntil(lambda: bool(shown_docks(window)), timeout=30_000)
    qtbot.wait(400)
    window.resizeDocks([window.docks["people"]], [400], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: abs(window.docks["people"].width() - 400) < 12, timeout=30_000)
    qtbot.wait(400)
    window.resize(900, 600)
    qtbot.wait(400)
    window.resize(1400, 900)
    qtbot.waitUntil(lambda: abs(window.docks["people"].width() - 400) < 12, timeout=30_000)


def test_every_action_has_a_name_and_common_ones_a_shortcut(window):
    assert all(a.text() for a in window.actions_.all.values())
    for name in ("open_video", "undo", "redo", "find", "ask", "play", "shortcuts"):
        assert not window.actions_.all[name].shortcut().isEmpty()


def test_the_theme_changes_at_once_and_is_kept(window, qapp):
    window.apply_settings({"theme": "dark"})
    assert theme.colours().dark and config.get_value("theme") == "dark"
    assert qapp.palette().link().color().name() == theme.DARK.link
    window.apply_settings({"theme": "light"})
    assert not theme.colours().dark


def test_latin_text_keeps_the_systems_font_beside_the_chinese_fallbacks(qapp):
    for name in ("Sans Serif", "DejaVu Sans"):
        alone = QFont(name)
        assert QFontInfo(launch.with_chinese(alone)).family() == QFontInfo(alone).family()
    assert set(launch.CHINESE) < set(launch.with_chinese(QFont("Sans Serif")).families())


def test_the_window_speaks_chinese(qtbot, desks, qapp):
    launch.use_language(qapp, "zh")
    window = MainWindow(desks.services(), WindowState())
    qtbot.addWidget(window)
    texts = " ".join([window.docks["people"].windowTitle(), window.start.video.title.text(), window.actions_.all["quit"].text()])
    window.start.show_machine({"cpu": "X, 2 cores", "profiles": [{"name": "embedded", "ready": True, "reason": ""}], "gpus": []})
    window._status._on_ready(events.EngineReady("k", "CPU, 2 threads", "embedded", {}))
    machine, device = window.start.machine.text(), window._status._device.text()
    launch.use_language(qapp, "en")
    window.close()
    assert "cores" not in machine and "embedded" not in machine and "threads" not in device, (machine, device)
    assert all("\u4e00" <= c <= "\u9fff" or not c.isalpha() for c in texts), texts


def test_sources_that_wait_stand_in_the_order_of_the_queue(window, desks, qtbot, tmp_path):
    from m3desk_ui.memory.sources_view import in_queue_order

    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: len(window.sources.model.rows) == 3, timeout=30_000)
    row = window.sources.model.rows[1]
    rows = [replace(row, source=replace(row.source, id=f"s{i}")) for i in (4, 5, 6)]
    assert [r.source.id for r in in_queue_order([*rows, window.sources.model.rows[0]], ["s6", "s4", "s5"])] == ["s1", "s6", "s4", "s5"]


def test_an_engine_that_is_started_again_stays_paused(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: len(window.sources.model.rows) == 3, timeout=30_000)
    window.sources.set_paused(True)
    desks.desk.emit(events.EngineLost("it died", "", True), events.EngineReady("k", "CPU", "embedded", {}))
    qtbot.waitUntil(lambda: [a for a, _ in desks.desk.called("pause")] == [(True,), (True,)], timeout=30_000)


def test_nothing_of_the_memory_before_is_shown_or_pointed_at_when_another_opens(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "a.m3desk"))
    qtbot.waitUntil(lambda: window.transcript.lines.rowCount() == 20, timeout=30_000)
    window.hub.selection.select("person", "person_3")
    window.hub.selection.watching.emit("s9", 5_000_000)  # a file that only this memory has
    desks.desk.emit(events.ModelLoading("whisper-base", False))
    qtbot.waitUntil(lambda: "whisper" in window._status._work.text(), timeout=30_000)
    desks.desk = FakeDesk()
    window.open_memory(str(tmp_path / "b.m3desk"))
    qtbot.waitUntil(lambda: window.hub.path.endswith("b.m3desk"), timeout=30_000)
    assert window.hub.selection.current == ("", "") and window.hub.selection.at == ("", 0)
    qtbot.waitUntil(lambda: "people: 8" in window._status._work.text(), timeout=30_000)
    qtbot.waitUntil(lambda: window.transcript.lines.rowCount() == 20, timeout=30_000)


def test_nothing_to_undo_is_news_and_not_an_error(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    window.hub.undo()
    window.hub.undo()
    qtbot.waitUntil(lambda: "nothing to undo" in window.notices._text.text(), timeout=30_000)
    assert window.notices._shown.level == "info"


def test_a_long_clip_stays_work_in_the_status_bar_and_on_the_timeline(window, desks, qtbot, tmp_path):
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.timeline.canvas.plan.source is not None, timeout=30_000)
    desks.desk.emit(
        events.SourceChanged("s1", "working"),
        events.Progress("s1", "s1.c5", "watching", 150_000_000, 180_000_000, 1.8, 20.0),
        events.EvidenceSeen("s1", "s1.c5", ((162_000_000, 1.0, 1.0, 9.0, 9.0),)),
    )
    qtbot.waitUntil(lambda: "02:42 / 03:00" in window._status._work.text(), timeout=30_000)
    window._status._rest()
    assert "02:42 / 03:00" in window._status._work.text()
    assert window.timeline.canvas.watched == {"s1.c5": 162_000_000}


def test_a_damaged_memory_is_not_opened_before_its_copy_was_put_in_place_as_asked(window, desks, qtbot, tmp_path):
    hostile = "<b>no</b> <img src='x.png'>"
    wrong = [events.Damaged(str(tmp_path / "m.m3desk"), hostile, "2026-11-22 03:00:00 UTC")]
    put = []

    def restore(path):
        put.append(path)
        wrong.clear()
        return "2026-11-22"

    window.services = replace(window.services, damage=lambda _path: wrong[0] if wrong else None, restore=restore)
    window.open_memory(str(tmp_path / "m.m3desk"))
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is not None)
    box = window.findChild(QMessageBox)
    assert box.textFormat() == Qt.TextFormat.PlainText and box.text() == hostile and "03:00:00" in box.informativeText()
    assert desks.opened == [] and put == [] and window.hub.desk is None
    next(b for b in box.buttons() if box.buttonRole(b) == QMessageBox.ButtonRole.AcceptRole).click()
    qtbot.waitUntil(lambda: desks.opened == [str(tmp_path / "m.m3desk")])
    assert put == [str(tmp_path / "m.m3desk")]


def test_a_damaged_memory_without_a_copy_says_so(window, qtbot, tmp_path):
    wrong = events.Damaged(str(tmp_path), "its database is empty", "")
    window.services = replace(window.services, damage=lambda _path: wrong)
    window.open_memory(str(tmp_path))
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is not None)
    box = window.findChild(QMessageBox)
    assert "no copy" in box.informativeText() and all(box.buttonRole(b) != QMessageBox.ButtonRole.AcceptRole for b in box.buttons())
    box.close()


def test_tab_goes_round_everything_that_is_seen_and_nothing_that_lies_behind(window, desks, qtbot, tmp_path):
    window.resize(1600, 1000)
    window.dock_area.load_rest()
    qtbot.waitUntil(lambda: len(window.dock_area.views) == 8, timeout=30_000)
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.video.canvas.image is not None, timeout=30_000)
    with qtbot.waitActive(window):
        window.activateWindow()
    window.video.canvas.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is window.video.canvas, timeout=30_000)
    visited, behind = [], {name for name, dock in window.docks.items() if dock.visibleRegion().isEmpty()}
    for _ in range(120):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        visited.append(QApplication.focusWidget())
        if visited[-1] is window.video.canvas:
            break
    assert visited[-1] is window.video.canvas  # no trap on the way
    assert window.timeline.canvas in visited and window.dock_area.views["people"].list in visited
    docks = {name for name, dock in window.docks.items() if any(dock.isAncestorOf(w) for w in visited)}
    assert behind and not docks & behind
    ring = window._ring.geometry()
    assert window._ring.isVisible() and abs(ring.width() - window.video.canvas.width()) <= 4
    QTest.mouseClick(window.video.canvas, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert not window._ring.isVisible()


def test_speed_and_volume_are_restored_and_a_player_gets_them(desks, qtbot, tmp_path):
    first = MainWindow(desks.services(), WindowState())
    qtbot.addWidget(first)
    first.show()
    first.video.transport.speeds.setCurrentIndex(first.video.transport.speeds.findText("1.5×"))
    first.video.transport.volume_slider.setValue(35)
    first.close()
    second = MainWindow(desks.services(), WindowState())
    qtbot.addWidget(second)
    second.show()
    assert second.video.transport.speed_now() == 1.5 and second.video.transport.volume_slider.value() == 35
    second.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: bool(desks.players) and ("speed", 1.5) in desks.players[-1].calls, timeout=30_000)
    second.close()


def test_filters_and_a_chosen_span_end_with_their_memory(window, desks, qtbot, tmp_path):
    window.dock_area.load_rest()
    qtbot.waitUntil(lambda: len(window.dock_area.views) == 8, timeout=30_000)
    window.open_memory(str(tmp_path / "k.m3desk"))
    people, memories = window.dock_area.views["people"], window.dock_area.views["memories"]
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    window.dock_area.bring_forward("memories")
    qtbot.waitUntil(lambda: people.model.rowCount() == 8 and memories.person.count() > 1, timeout=30_000)
    people.filter.setText("ann")
    memories.words.setText("tea")
    memories.person.setCurrentIndex(1)
    window.transcript.search.setText("report")
    window.hub.selection.span.emit("s1", 0, 5_000_000)
    window.open_memory(str(tmp_path / "other.m3desk"))
    qtbot.waitUntil(lambda: window.hub.path.endswith("other.m3desk"), timeout=30_000)
    assert people.filter.text() == memories.words.text() == window.transcript.search.text() == ""
    assert memories.person.currentIndex() == 0 and window.hub.selection.chosen_span is None


def test_a_notice_lies_over_the_picture_and_moves_no_page_but_the_first(window, desks, qtbot, tmp_path):
    window.hub.notice.emit("error", "Something is wrong.", "Do this.", "")
    qtbot.waitUntil(lambda: window.front.mapTo(window.centralWidget(), QPoint(0, 0)).y() >= window.notices.height() > 0, timeout=30_000)
    window.notices.dismiss()
    window.open_memory(str(tmp_path / "k.m3desk"))
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    window.notices.dismiss()
    qtbot.waitUntil(lambda: window.video.mapTo(window.centralWidget(), QPoint(0, 0)) == QPoint(0, 0), timeout=30_000)
    place, size = window.video.mapTo(window, QPoint(0, 0)), window.video.size()
    window.hub.notice.emit("error", "Something is wrong.", "Do this.", "")
    qtbot.waitUntil(window.notices.isVisible, timeout=30_000)
    qtbot.wait(50)
    assert (window.video.mapTo(window, QPoint(0, 0)), window.video.size()) == (place, size)


def test_a_trouble_stays_until_it_is_over_also_behind_other_notices(window, qtbot):
    bar = window.notices
    window.hub.trouble.emit("disk", "The disk is nearly full.", "")
    assert "nearly full" in bar._text.text() and not bar._timer.isActive()
    window.hub.notice.emit("info", "something else", "", "")
    assert "something else" in bar._text.text()
    bar.dismiss()
    assert "nearly full" in bar._text.text()
    window.hub.notice.emit("error", "an error", "", "")
    window.hub.trouble.emit("disk", "The disk is nearly full: 1 GB.", "")
    assert "An error" in bar._text.text()
    bar.dismiss()
    assert "1 GB" in bar._text.text()
    window.hub.trouble.emit("disk", "", "")
    assert not bar.isVisible()


def test_a_dropped_picture_is_searched_for_people_and_not_memorized(qtbot, window, desks):
    window.open_memory("/memories/kitchen.m3desk")
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    window.take_files(["/photos/Ann.JPG"])
    qtbot.waitUntil(lambda: desks.desk.called("search_sample") == [(("/photos/Ann.JPG", 20), {})], timeout=30_000)
    assert not desks.desk.called("memorize")
    assert window.palette_.isVisible()


def test_back_and_forward_are_menu_actions_that_step_through_selections(qtbot, window, desks):
    window.open_memory("/memories/kitchen.m3desk")
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    for person in ("person_1", "person_2"):
        window.hub.selection.select("person", person)
    assert window.actions_.all["go_back"].isEnabled()
    window.actions_.all["go_back"].trigger()
    assert window.hub.selection.current == ("person", "person_1")
    window.actions_.all["go_on"].trigger()
    assert window.hub.selection.current == ("person", "person_2")


def test_the_status_bar_cancels_the_work_that_it_shows(qtbot, window, desks):
    window.open_memory("/memories/kitchen.m3desk")
    qtbot.waitUntil(lambda: window.hub.desk is not None, timeout=30_000)
    status = window.statusBar()
    desks.desk.emit(events.SourceChanged("s1", "working"), events.Progress("s1", "s1.c4", "watching", 5, 10, 1.0, 5.0))
    qtbot.waitUntil(lambda: not status._cancel.isHidden(), timeout=30_000)
    status._cancel.click()
    assert desks.desk.called("cancel") == [(("s1",), {})]
    assert status._cancel.isHidden()
