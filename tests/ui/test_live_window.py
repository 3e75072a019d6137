"""Live capture in the window: started, shown, paused, gone back in, stopped; its faults and hits are told."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from m3desk_ui.hub.services import Services
from m3desk_ui.live import choices, words
from m3desk_ui.live.canvas import box_of, line_of
from m3desk_ui.live.choices import Choices
from m3desk_ui.live.start_dialog import StartDialog
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QApplication, QMenu

from m3desk import events
from m3desk.domain.clip import MICROSECOND
from m3desk.errors import UsageError
from tests.ui.fakes import FakeDesk, FakePlayer, FakeState
from tests.ui.live_fakes import ADDRESS, ANN, DEVICES, MAYBE, SOURCE, STATUS, STRANGER, FakePreview

NOTHING = [sys.executable, "-c", "import sys; sys.stdin.read()"]


class Live:
    """A window with a fake desk and fake previews."""

    def __init__(self) -> None:
        self.desk = FakeDesk()
        self.opened: list[str] = []
        self.previews: list[FakePreview] = []

    def open_desk(self, path: str) -> FakeDesk:
        self.opened.append(path)
        return self.desk

    def attach(self, _name: str) -> FakePreview:
        self.previews.append(FakePreview())
        return self.previews[-1]

    def services(self) -> Services:
        return Services(
            self.open_desk,
            FakePlayer,
            lambda _video: "/memories/live.m3desk",
            lambda: self.desk.doctor().result(),
            devices=lambda: list(DEVICES),
            try_command=lambda: NOTHING,
            attach_preview=self.attach,
        )


@pytest.fixture
def live():
    return Live()


@pytest.fixture
def window(qtbot, live):
    window = MainWindow(live.services(), WindowState())
    qtbot.addWidget(window)
    window.resize(1280, 720)
    window.show()
    yield window
    window.close()


@pytest.fixture
def running(window, live, qtbot):
    """The window with a live source, recording."""
    window.live.start(Choices(ADDRESS), new=True)
    qtbot.waitUntil(lambda: window.live.session.status is not None, timeout=30_000)
    return window


def status(live, **more):
    live.desk.status = replace(live.desk.status, **more)
    live.desk.emit(live.desk.status)


def test_the_first_page_starts_live_capture(window, qtbot):
    assert window.start.live.isEnabled() and "later version" not in window.start.live.more.text()
    window.start.live.click()
    qtbot.waitUntil(lambda: window.findChild(StartDialog) is not None, timeout=30_000)
    window.findChild(StartDialog).reject()


def test_the_layout_of_a_live_source_is_not_that_of_the_next_start(running):
    assert running.dock_area.layout == "live" and running.state.text("layout", "explore") == "explore"
    running.dock_area.use_layout("people")
    running.dock_area.use_layout("live")
    assert running.state.text("layout") == "live"


def test_a_started_source_shows_its_newest_picture_in_the_layout_for_demos(running, live, qtbot):
    assert live.opened == ["/memories/live.m3desk"]
    assert live.desk.called("start_live") == [((ADDRESS,), {"keep": "always", "bystanders": False, "budget_bytes": 50_000_000_000})]
    assert running.pages.currentWidget() is running.live.view and running.live.bar.isVisible()
    assert running.dock_area.layout == "live"
    assert {n for n, d in running.docks.items() if not d.isHidden()} == {"graph", "chat"}
    canvas = running.live.view.canvas
    qtbot.waitUntil(lambda: canvas.image is not None, timeout=30_000)
    first = canvas.at
    qtbot.waitUntil(lambda: canvas.at > first, timeout=30_000)
    assert canvas.frame_size() == (960, 540)
    assert canvas.image.width() <= round(canvas.width() * canvas.devicePixelRatioF()) + 1, "pictures are scaled before they are painted"


def test_the_bar_tells_time_delay_and_what_is_left_out(running, live, qtbot):
    bar = running.live.bar
    assert bar.light.colour == "recording" and bar.state.text() == "Recording" and bar.time.text() == "01:35"
    assert "12 s behind · 0 skipped" in bar.figures.text() and "41" in bar.figures.text()
    status(live, given_up=("semantic memories", "objects and text on screen"), catch_up=40.0)
    qtbot.waitUntil(lambda: "knowledge, objects, text on screen" in bar.figures.text(), timeout=30_000)
    assert "caught up in about 40 s" in bar.figures.text()
    assert running._status._live_text.text() == "Recording · 01:35 · 12 s behind"
    height = bar.height()
    status(live, given_up=(), catch_up=None, behind=0.2)
    qtbot.waitUntil(lambda: "Up to date · 0 skipped" in bar.figures.text(), timeout=30_000)
    assert bar.height() == height, "the picture keeps its place"


def test_the_light_follows_the_devices_not_what_was_asked_for() -> None:
    assert words.light(STATUS).colour == "recording"
    asked = replace(STATUS, state="paused")
    assert words.light(asked).colour == "recording" and "still open" in words.light(asked).text
    assert words.light(replace(asked, camera="off", microphone="off")).colour == "paused"
    one = words.light(replace(STATUS, camera="lost"))
    assert one.colour == "recording" and one.text == "Camera lost"
    both = words.light(replace(STATUS, camera="lost", microphone="busy"))
    assert both.colour == "lost" and "Camera lost" in both.text and "Another program" in both.text
    assert words.light(STATUS, engine=False).colour == "lost"
    assert words.light(None).colour == "lost"


def test_names_on_the_picture_are_marked_until_they_are_sure(running, live, qtbot):
    canvas = running.live.view.canvas
    qtbot.waitUntil(lambda: canvas.image is not None, timeout=30_000)
    live.desk.emit(events.LiveFaces(SOURCE, canvas.at, (ANN, MAYBE, STRANGER)))
    qtbot.waitUntil(lambda: len(canvas.boxes()) == 3, timeout=30_000)
    assert [(b.name, b.sure) for b in canvas.boxes()] == [("Ann", True), ("Bob?", False), ("", False)]
    pens = []
    real = canvas._paint_box

    def spied(p, shown):
        real(p, shown)
        pens.append((shown.name, canvas.box_pen(shown).style()))

    canvas._paint_box = spied
    canvas.repaint()
    assert dict(pens) == {"Ann": Qt.PenStyle.SolidLine, "Bob?": Qt.PenStyle.DashLine, "": Qt.PenStyle.DashLine}
    assert isinstance(canvas.box_pen(box_of(ANN, set())), QPen)


def test_faces_that_are_too_old_for_the_picture_are_not_shown(running, live, qtbot):
    canvas = running.live.view.canvas
    qtbot.waitUntil(lambda: canvas.image is not None, timeout=30_000)
    live.desk.emit(events.LiveFaces(SOURCE, canvas.at - 5 * MICROSECOND, (ANN,)))
    qtbot.wait(60)
    assert canvas.boxes() == []


def test_subtitles_name_the_speaker_and_later_words_replace_earlier_ones(running, live, qtbot):
    canvas, at = running.live.view.canvas, 94 * MICROSECOND
    live.desk.emit(events.LiveWords(SOURCE, at, at + 500_000, "the bud", "person_1", "Ann"))
    live.desk.emit(events.LiveWords(SOURCE, at, at + 900_000, "the budget is late", "person_1", "Ann", True, True))
    qtbot.waitUntil(lambda: [s.text for s in canvas.said()] == ["the budget is late"], timeout=30_000)
    assert canvas.said()[0].name == "Ann"
    assert line_of(events.LiveWords(SOURCE, 0, 1, "well", "person_1", "Ann")).name == "Ann?"
    assert line_of(events.LiveWords(SOURCE, 0, 1, "well")).text == "well …"
    assert line_of(events.LiveWords(SOURCE, 0, 1, "", "person_1", "Ann", True)).text == "Ann …"
    assert len(line_of(events.LiveWords(SOURCE, 0, 1, "word " * 400, final=True)).text) < 120
    status(live, recorded=at + 60 * MICROSECOND)
    qtbot.waitUntil(lambda: canvas.said() == [], timeout=30_000)


def test_pausing_stops_the_devices_and_takes_the_picture_away(running, live, qtbot):
    bar, canvas = running.live.bar, running.live.view.canvas
    qtbot.waitUntil(lambda: canvas.image is not None, timeout=30_000)
    for preview in live.previews:
        preview.newest = lambda: None  # a paused source delivers nothing
    bar.pause.click()
    assert live.desk.called("pause_live") == [((True,), {})]
    qtbot.waitUntil(lambda: bar.light.colour == "paused" and canvas.image is None, timeout=30_000)
    assert "Paused" in canvas.note and bar.pause.text() == "Continue"
    assert running.actions_.all["live_pause"].text() == "Continue recording"
    bar.pause.click()
    assert live.desk.called("pause_live")[-1] == ((False,), {})


def test_one_key_starts_and_stops(window, live, qtbot):
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=30_000)
    choices.write(window.state, Choices(ADDRESS, 48.0, True, None))
    qtbot.keyClick(window, Qt.Key.Key_F9)
    qtbot.waitUntil(lambda: window.live.session.running, timeout=30_000)
    assert live.desk.called("start_live") == [((ADDRESS,), {"keep": 48.0, "bystanders": True, "budget_bytes": None})]
    qtbot.keyClick(window, Qt.Key.Key_F9)
    qtbot.waitUntil(lambda: not window.live.session.running, timeout=30_000)
    assert live.desk.called("stop_live") and not window.live.bar.isVisible()
    assert window.pages.currentWidget() is window.video


def test_the_key_asks_for_devices_the_first_time(window, live, qtbot):
    window.live.toggle()
    dialog = window.findChild(StartDialog)
    assert dialog is not None and live.desk.called("start_live") == []
    dialog.reject()


def test_going_back_shows_the_player_and_the_edge_is_one_click_away(running, live, qtbot):
    running.hub.selection.seek.emit("s1", 30 * MICROSECOND, True)
    assert running.pages.currentWidget() is running.video and running.live.bar.edge.isVisible()
    assert running.live.bar.isVisible(), "the light stays on the screen"
    qtbot.waitUntil(lambda: running.live.view._newest is None, timeout=30_000)
    running.live.bar.edge.click()
    assert running.pages.currentWidget() is running.live.view and not running.live.bar.edge.isVisible()


def test_a_lost_camera_is_told_once_and_taken_back_when_it_returns(running, live, qtbot):
    bar, canvas = running.notices, running.live.view.canvas
    running.hub.notice.emit("info", "something else", "", "")
    bar.dismiss()
    picture = running.live.view.mapTo(running, running.live.view.rect().topLeft()), running.live.view.size()
    status(live, camera="lost")
    qtbot.waitUntil(lambda: bar.isVisible() and "camera does not answer" in bar._text.text(), timeout=30_000)
    assert "Sound is still recorded" in bar._text.text() and canvas.note == "Camera lost"
    assert (running.live.view.mapTo(running, running.live.view.rect().topLeft()), running.live.view.size()) == picture
    running.hub.notice.emit("info", "something else", "", "")
    assert "something else" in bar._text.text()
    bar.dismiss()
    assert "camera does not answer" in bar._text.text(), "it comes back after another notice"
    status(live, camera="on")
    qtbot.waitUntil(lambda: not bar.isVisible() and canvas.note == "", timeout=30_000)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"camera": "busy"}, "Another program uses the camera"),
        ({"camera": "stalled"}, "No new pictures"),
        ({"microphone": "lost"}, "microphone does not answer"),
        ({"microphone": "busy"}, "Another program uses the microphone"),
        ({"microphone": "silent"}, "silence only"),
        ({"microphone": "stalled"}, "No new sound"),
        ({"disk_free": 900_000_000}, "disk is nearly full"),
    ],
    ids=str,
)
def test_each_fault_is_told_in_plain_words_and_ends(running, live, qtbot, change, told):
    before = live.desk.status
    status(live, **change)
    qtbot.waitUntil(lambda: told in running.notices._text.text(), timeout=30_000)
    live.desk.emit(before)
    qtbot.waitUntil(lambda: told not in running.notices._text.text() or not running.notices.isVisible(), timeout=30_000)


def test_an_engine_that_stops_telling_turns_the_light_grey(running, live, qtbot):
    session = running.live.session
    session._told -= 10
    session._check()
    assert running.live.bar.light.colour == "lost" and "engine does not answer" in running.notices._text.text()
    status(live, behind=3.0)
    qtbot.waitUntil(lambda: running.live.bar.light.colour == "recording", timeout=30_000)
    assert "engine does not answer" not in running.notices._text.text() or not running.notices.isVisible()


def test_a_source_that_ends_by_itself_says_why(running, live, qtbot):
    live.desk.emit(events.LiveEnded(SOURCE, "the stream ended"))
    qtbot.waitUntil(lambda: "the stream ended" in running.notices._text.text(), timeout=30_000)
    assert not running.live.session.running and not running.live.bar.isVisible()


def test_a_picture_of_a_forgotten_recording_leaves_the_screen(recorded, live, qtbot):
    video = recorded.video
    video.go(SOURCE, 0, False)
    qtbot.waitUntil(lambda: video.canvas.image is not None, timeout=30_000)
    recorded.hub.erased.emit(events.Erased("s-other", 0, MICROSECOND, recording=True, memory=True))
    recorded.hub.erased.emit(events.Erased(SOURCE, 0, MICROSECOND, recording=False, memory=True))
    assert video.canvas.image is not None
    live.desk.emit(events.Erased(SOURCE, 0, MICROSECOND, recording=True, memory=False))  # retention
    qtbot.waitUntil(lambda: video.canvas.image is None or video.canvas.at >= MICROSECOND, timeout=30_000)
    qtbot.waitUntil(lambda: ("seek", MICROSECOND) in video._player.calls, timeout=30_000)


def test_the_last_picture_of_a_source_that_stands_still_does_not_come_back_when_it_was_erased(running, live, qtbot):
    view = running.live.view
    qtbot.waitUntil(lambda: view.canvas.image is not None, timeout=30_000)
    view.detach()
    still = FakePreview()
    at, picture = view.canvas.at, still.newest()[1]
    looks = []
    still.newest = lambda: (looks.append(at), (at, picture))[1]
    live.desk.emit(events.Erased(SOURCE, 0, 10**12, recording=True, memory=True))
    qtbot.waitUntil(lambda: view.canvas.image is None, timeout=30_000)
    view._attach = lambda _name: still
    view._attach_now()  # the page is shown again; the shared memory still holds the picture
    qtbot.waitUntil(lambda: len(looks) > 2, timeout=30_000)
    qtbot.wait(50)
    assert view.canvas.image is None
    at += 60 * MICROSECOND
    qtbot.waitUntil(lambda: view.canvas.image is not None, timeout=30_000)  # what came since was not erased


def test_the_live_page_keeps_no_picture_words_or_faces_of_what_was_forgotten(running, live, qtbot):
    canvas, session = running.live.view.canvas, running.live.session
    qtbot.waitUntil(lambda: canvas.image is not None, timeout=30_000)
    live.desk.emit(events.LiveWords(SOURCE, 90 * MICROSECOND, 92 * MICROSECOND, "secret"))
    live.desk.emit(events.LiveFaces(SOURCE, canvas.at, (ANN,)))
    qtbot.waitUntil(lambda: bool(session.words(92 * MICROSECOND)) and session._faces is not None, timeout=30_000)
    running.live.view.detach()  # the camera was pulled: no picture comes
    live.desk.emit(events.Erased(SOURCE, 0, 10**12, recording=True, memory=True))
    qtbot.waitUntil(lambda: canvas.image is None and not session.words(92 * MICROSECOND) and session._faces is None, timeout=30_000)


def test_that_a_film_came_to_its_end_is_no_warning_and_is_gone_when_the_next_source_begins(running, live, qtbot):
    live.desk.emit(events.LiveEnded(SOURCE, "the source ended"))
    qtbot.waitUntil(lambda: running.notices._text.text().count("ended") == 1, timeout=30_000)
    assert running.notices._shown.level == "info"
    running.live.start(Choices(ADDRESS), new=False)
    qtbot.waitUntil(lambda: running.live.session.running, timeout=30_000)
    qtbot.waitUntil(lambda: "ended" not in running.notices._text.text() or not running.notices.isVisible(), timeout=30_000)


def test_a_source_of_which_nothing_was_recorded_leaves_no_empty_memory(window, live, qtbot):
    discarded: list[str] = []
    window.services = replace(window.services, discard=lambda path: bool(discarded.append(path)))
    window.live.start(Choices(ADDRESS), new=True)
    qtbot.waitUntil(lambda: window.live._recorded, timeout=30_000)
    window.live._recorded = False  # the fake desk tells a status of a source that records
    live.desk.emit(
        events.Notice("error", "There is no camera 7.", "List them with: m3desk devices."),
        events.LiveEnded(SOURCE, "There is no camera 7."),
    )
    qtbot.waitUntil(lambda: window.hub.desk is None, timeout=30_000)
    assert window.pages.currentWidget() is window.front and "There is no camera 7." in window.notices._text.text()
    assert window.notices.isVisible()
    qtbot.waitUntil(lambda: discarded == live.opened, timeout=30_000)


def test_the_focus_goes_to_the_player_when_a_live_source_ends(running, live, qtbot):
    running.activateWindow()
    qtbot.waitUntil(running.isActiveWindow, timeout=30_000)
    running.live.bar.stop.setFocus()
    live.desk.emit(events.LiveEnded(SOURCE, ""))
    qtbot.waitUntil(lambda: not running.live.session.running, timeout=30_000)
    qtbot.waitUntil(running.video.canvas.hasFocus, timeout=30_000)


def test_the_next_memory_has_the_layout_that_the_user_chose_not_the_one_for_demos(running, live, qtbot):
    assert running.dock_area.layout == "live"
    live.desk.emit(events.LiveEnded(SOURCE, ""))
    qtbot.waitUntil(lambda: not running.live.session.running, timeout=30_000)
    running.open_memory("/memories/other.m3desk")
    qtbot.waitUntil(lambda: running.hub.path == "/memories/other.m3desk", timeout=30_000)
    assert running.dock_area.layout == "explore"


def test_a_source_that_does_not_start_is_an_error_and_can_be_tried_again(window, live, qtbot):
    live.desk.fail["start_live"] = UsageError("There is no camera 0.", "List them with: m3desk devices.")
    window.live.start(Choices(ADDRESS), new=True)
    qtbot.waitUntil(lambda: "There is no camera 0." in window.notices._text.text(), timeout=30_000)
    del live.desk.fail["start_live"]
    window.live.start(Choices(ADDRESS), new=False)
    qtbot.waitUntil(lambda: window.live.session.running, timeout=30_000)


def test_unknown_people_are_approved_from_the_left_by_the_keyboard(running, live, qtbot):
    bar = running.live.bar
    assert not bar.approve.isVisible(), "nobody is blurred without bystander mode"
    running.live.session.blurred = True
    bar.refresh()
    live.desk.emit(events.LiveFaces(SOURCE, STATUS.recorded, (replace(STRANGER, track="hidden9", x=700.0), STRANGER, ANN)))
    qtbot.waitUntil(lambda: [f.track for f in bar.unknown()] == ["hidden3", "hidden9"], timeout=30_000)
    bar._fill_approvals()
    actions = bar.approve.menu().actions()
    assert bar.approve.isVisible() and len(actions) == 2
    actions[0].trigger()
    assert live.desk.called("approve") == [(("hidden3", ""), {})]
    shown = box_of(STRANGER, set())
    running.live.view._face_clicked(shown, QPointF(10, 10))
    menu = next(w for w in QApplication.topLevelWidgets() if isinstance(w, QMenu) and w.isVisible())
    menu.actions()[0].trigger()
    menu.close()
    assert len(live.desk.called("approve")) == 2


def test_a_hit_of_a_watch_rule_is_a_notice_that_goes_to_its_moment(running, live, qtbot):
    went = []
    running.hub.selection.seek.connect(lambda *to: went.append(to))
    live.desk.emit(events.WatchHit(1, "person", SOURCE, 61 * MICROSECOND, "Ann came in"))
    qtbot.waitUntil(lambda: "Ann came in · 01:01" in running.notices._text.text(), timeout=30_000)
    running.notices._act.click()
    assert went == [(SOURCE, 61 * MICROSECOND, True)]


def test_full_screen_in_the_layout_for_demos_shows_only_picture_graph_and_chat(running, qtbot):
    running.toggle_full_screen()
    assert not running.menuBar().isVisible() and not running.statusBar().isVisible()
    running.activateWindow()
    qtbot.waitUntil(running.isActiveWindow, timeout=30_000)
    qtbot.keyClick(running, Qt.Key.Key_F11)
    qtbot.waitUntil(lambda: running.menuBar().isVisible() and running.statusBar().isVisible(), timeout=30_000)


def test_the_letters_on_the_picture_grow_with_the_window(running, qtbot):
    canvas = running.live.view.canvas
    qtbot.waitUntil(lambda: canvas.image is not None, timeout=30_000)
    canvas.resize(640, 360)
    small = canvas.subtitle_font().pixelSize(), canvas.tag_font().pixelSize()
    canvas.resize(1920, 1080)
    large = canvas.subtitle_font().pixelSize(), canvas.tag_font().pixelSize()
    assert large[0] >= 60 and large[1] >= 36 and large[0] >= 2.5 * small[0]


def test_another_memory_ends_the_live_view(running, live, qtbot, tmp_path: Path):
    running.hub.opened.emit("/memories/other.m3desk")
    assert not running.live.session.running and not running.live.bar.isVisible()


@pytest.fixture
def recorded(running, live, qtbot, tmp_path: Path):
    """A live source whose recording can be played while it grows."""
    folder = tmp_path / SOURCE
    folder.mkdir()
    (folder / "recording.json").write_text("{}")
    source = replace(live.desk.world.sources[0], id=SOURCE, uri=str(folder), duration=None, state="working")
    live.desk.world.sources.append(source)
    live.desk.emit(events.SourceChanged(SOURCE, "working"))
    qtbot.waitUntil(lambda: SOURCE in running.video._sources, timeout=30_000)
    return running


def test_the_recording_is_played_while_it_grows(recorded, live, qtbot):
    video = recorded.video
    recorded.hub.selection.seek.emit(SOURCE, 30 * MICROSECOND, True)
    qtbot.waitUntil(lambda: video._player is not None and ("seek", 30 * MICROSECOND) in video._player.calls, timeout=30_000)
    known = video._known
    assert known and video.duration >= known
    status(live, recorded=known + 60 * MICROSECOND)
    qtbot.waitUntil(lambda: video.duration == known + 60 * MICROSECOND, timeout=30_000)
    opened = len([c for c in video._player.calls if c[0] == "open"])
    video.seek(40 * MICROSECOND)
    assert len([c for c in video._player.calls if c[0] == "open"]) == opened
    video.seek(known + 10 * MICROSECOND)
    qtbot.waitUntil(lambda: len([c for c in video._player.calls if c[0] == "open"]) == opened + 1, timeout=30_000)
    qtbot.waitUntil(lambda: ("seek", known + 10 * MICROSECOND) in video._player.calls, timeout=30_000)


def test_playing_on_to_the_end_of_the_recording_leads_to_the_live_edge(recorded, live, qtbot):
    video = recorded.video
    recorded.hub.selection.seek.emit(SOURCE, 30 * MICROSECOND, True)
    qtbot.waitUntil(lambda: bool(video._known), timeout=30_000)
    player = video._player
    opened = len([c for c in player.calls if c[0] == "open"])
    video.grow(SOURCE, video._known + 20 * MICROSECOND)
    player.on_state(FakeState(player.path, False, video._known, video._known, ended=True))
    qtbot.waitUntil(lambda: len([c for c in player.calls if c[0] == "open"]) == opened + 1, timeout=30_000)
    qtbot.waitUntil(lambda: bool(video._known), timeout=30_000)
    player.on_state(FakeState(player.path, False, video.duration, video.duration, ended=True))
    qtbot.waitUntil(lambda: recorded.pages.currentWidget() is recorded.live.view, timeout=30_000)


def test_silence_of_a_stream_is_not_blamed_on_a_microphone(running, live, qtbot):
    running.live.session.address = "rtsp://camera.example/door"
    status(live, microphone="silent")
    qtbot.waitUntil(lambda: "The source delivers silence only." in running.notices._text.text(), timeout=30_000)
