"""Boxes belong to the frame's own time, faces can be named by a click, and the timeline and transcript lead to moments."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.people.person_picker import BothFaces
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.canvas import GUTTER
from m3desk_ui.timeline.view import TimelineView
from m3desk_ui.video import face_boxes
from m3desk_ui.video.face_boxes import Early, Subtitle, Track
from m3desk_ui.video.face_chip import FaceChip
from m3desk_ui.video.picture_canvas import PictureCanvas
from m3desk_ui.video.transcript_view import TranscriptView, said_at
from m3desk_ui.video.transport import Transport
from m3desk_ui.video.video_view import VideoView
from m3desk_ui.window import files
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QHelpEvent, QImage, QTextCharFormat, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QToolTip, QWidget
from shiboken6 import isValid

from m3desk import events
from m3desk.events import Erased
from tests.ui.fakes import CLIP, HEIGHT, WIDTH, FakeDesk, FakeFrame, FakePlayer, FakeReader, FakeState, World

SECOND = 1_000_000


@pytest.fixture
def hub(qtbot):
    hub = Hub()
    hub.open(FakeDesk(), "/m")
    yield hub
    hub.close()


def track(*rows):
    a = np.array(rows, float)
    return Track("f", "person_1", "Ann", 0.9, a[:, 0].astype(np.int64), a[:, 1:])


def test_a_box_is_interpolated_between_samples_of_its_track():
    t = track((0, 0, 0, 10, 10), (200_000, 20, 10, 10, 10))
    assert t.at(100_000) == (10, 5, 10, 10)
    assert t.at(200_000) == (20, 10, 10, 10)


def test_no_box_is_made_up_before_after_or_in_a_long_gap():
    t = track((SECOND, 0, 0, 10, 10), (4 * SECOND, 50, 0, 10, 10))
    assert t.at(SECOND - 300_000) is None
    assert t.at(2 * SECOND) is None
    assert t.at(5 * SECOND) is None


def test_the_speaker_is_marked_and_set_aside_faces_are_not_shown():
    world = World()
    window = face_boxes.load(FakeReader(world), "s1", 0, 60 * SECOND)
    at = 3 * SECOND
    marked = [b.name for b in window.boxes(at) if b.speaking]
    assert marked == ["Ann"]
    assert [s.name for s in window.subtitles(at)] == ["Ann"]


def test_a_long_utterance_is_shown_in_parts():
    words = tuple((i * SECOND, (i + 1) * SECOND, f"word{i}") for i in range(80))
    said = Subtitle("u", None, "Ann", 0, 80 * SECOND, " ".join(w[2] for w in words), words)
    assert said.line(0).startswith("word0 ")
    assert "word40" in said.line(40 * SECOND) and "word0 " not in said.line(40 * SECOND)


def test_early_boxes_show_at_their_moment_only():
    early = Early()
    early.add("s1.c0", [(SECOND, 1, 2, 3, 4), (SECOND, 50, 2, 3, 4), (2 * SECOND, 9, 9, 9, 9)])
    assert [b.box for b in early.boxes(SECOND + 50_000)] == [(1, 2, 3, 4), (50, 2, 3, 4)]
    assert early.boxes(5 * SECOND) == []


def canvas_with_world(qtbot, at):
    canvas = PictureCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(WIDTH, HEIGHT)
    canvas.set_frame_size(WIDTH, HEIGHT)
    canvas.set_window(face_boxes.load(FakeReader(World()), "s1", 0, 60 * SECOND))
    # A picture made half as large for a small window: boxes stay in pixels of the frame as displayed.
    canvas.show_frame(QImage(WIDTH // 2, HEIGHT // 2, QImage.Format.Format_RGB32), at)
    return canvas


def test_boxes_lie_on_the_picture_whatever_its_size(qtbot):
    canvas = canvas_with_world(qtbot, 5 * SECOND)
    shown = canvas.boxes()[0]
    assert canvas.place(shown).x() == pytest.approx(shown.box[0], abs=0.5)


def test_boxes_go_with_the_picture_and_a_face_can_be_clicked_where_it_was_pointed_at(qtbot):
    canvas = canvas_with_world(qtbot, 0)
    walking = track((0, 100, 100, 90, 90), (SECOND, 600, 100, 90, 90))
    canvas.set_window(face_boxes.Window("s1", 0, SECOND, (walking,)))
    with qtbot.waitExposed(canvas):
        canvas.show()
    where = canvas.place(canvas.boxes()[0]).center()
    QTest.mouseMove(canvas, QPoint(1, 1))  # the first move over a window may be told as entering it only
    QTest.mouseMove(canvas, where.toPoint())
    qtbot.waitUntil(lambda: canvas._hovered is not None, timeout=30_000)
    canvas.show_frame(canvas.image, SECOND)
    assert canvas.boxes()[0].box[0] == 600
    with qtbot.waitSignal(canvas.face_clicked, timeout=30_000) as told:
        QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=where.toPoint())
    assert told.args[0].track == "f"
    QTest.mouseMove(canvas, canvas.rect().bottomRight())
    qtbot.waitUntil(lambda: canvas._hovered is None, timeout=30_000)
    assert canvas.face_at(where) is None


def test_a_click_on_a_face_says_which_track_it_was(qtbot):
    canvas = canvas_with_world(qtbot, 5 * SECOND)
    canvas.show()
    shown = canvas.boxes()[0]
    with qtbot.waitSignal(canvas.face_clicked, timeout=30_000) as told:
        QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=canvas.place(shown).center().toPoint())
    assert told.args[0].track == shown.track
    with qtbot.waitSignal(canvas.face_clicked, timeout=30_000):
        QTest.mouseClick(canvas, Qt.MouseButton.RightButton, pos=canvas.place(shown).center().toPoint())
    with qtbot.assertNotEmitted(canvas.background_clicked):
        QTest.mouseClick(canvas, Qt.MouseButton.RightButton, pos=canvas.rect().bottomRight())


def test_naming_a_face_after_somebody_known_assigns_it_to_that_person(hub, qtbot):
    chip = FaceChip(hub, "s1.c0.f0", "person_1", "Ann")
    qtbot.waitUntil(lambda: bool(chip._known), timeout=30_000)
    chip.edit.setText("bob")
    chip.assign()
    (kind, args), _ = hub.desk.called("correct")[0]
    assert (kind, args) == ("assign", {"observations": ["s1.c0.f0"], "person": "person_2", "name": None})


def test_a_known_name_for_a_face_of_somebody_without_one_is_asked_about(hub, qtbot):
    for answer, wanted in (
        ("everything", ("merge", {"keep": "person_2", "others": ["person_5"]})),
        ("Only", ("assign", {"observations": ["s1.c3.f1"], "person": "person_2", "name": None})),
    ):
        beside = QWidget()
        qtbot.addWidget(beside)
        chip = FaceChip(hub, "s1.c3.f1", "person_5", "Person 5", parent=beside)
        qtbot.waitUntil(lambda c=chip: bool(c._known), timeout=30_000)
        chip.edit.setText("Bob")
        chip.assign()
        question = beside.findChild(BothFaces)
        next(b for b in question.buttons.buttons() if answer in b.text()).click()
        assert hub.desk.called("correct")[-1][0] == wanted


def test_a_popup_that_closes_before_the_names_are_read_is_no_fault(hub, qtbot):
    chip = FaceChip(hub, "s1.c0.f0", "person_1", "Ann")
    chip.show()
    chip.close()
    QCoreApplication.sendPostedEvents(chip, QEvent.Type.DeferredDelete)
    assert not isValid(chip)
    read: list[int] = []
    hub.read("after it", lambda reader: reader.version(), read.append)
    qtbot.waitUntil(lambda: bool(read), timeout=30_000)


def test_naming_a_face_after_somebody_new_makes_a_new_person(hub, qtbot):
    chip = FaceChip(hub, "s1.c0.f0", None, "")
    assert not chip.deny.isVisibleTo(chip)
    chip.edit.setText("Carol")
    chip.assign()
    (_, args), _ = hub.desk.called("correct")[0]
    assert args == {"observations": ["s1.c0.f0"], "person": None, "name": "Carol"}


def test_a_new_name_for_somebody_without_one_names_the_whole_person(hub, qtbot):
    chip = FaceChip(hub, "s1.c3.f1", "person_5", "Person 5")
    qtbot.waitUntil(lambda: bool(chip._known), timeout=30_000)
    chip.edit.setText("Eve")
    chip.assign()
    (kind, args), _ = hub.desk.called("correct")[0]
    assert (kind, args) == ("name", {"person": "person_5", "name": "Eve"})


def test_lanes_show_bars_merged_to_pixels():
    spans = np.array([[i * 1000, i * 1000 + 500] for i in range(100_000)], np.int64)
    columns = timeline_rows.on_pixels(spans, 0, 100_000_000, 800)
    assert 1 <= len(columns) <= 800
    assert columns[0, 0] == 0 and columns[-1, 1] == 800


def filled_timeline(hub, qtbot):
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(1000, 320)
    view.show()
    hub.selection.watching.emit("s1", 0)
    qtbot.waitUntil(lambda: len(view.canvas.rows.lanes) == 7 and not view._stale, timeout=30_000)
    return view


def test_the_timelines_list_of_files_shows_the_one_that_plays(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    for source in ("s2", "s1"):
        hub.selection.watching.emit(source, 0)
        qtbot.waitUntil(lambda s=source: view.sources.currentData() == s, timeout=30_000)
        assert view.canvas.plan.source.id == source


def test_a_clip_of_another_memory_is_not_shown_as_far_as_the_one_of_the_same_name_before(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    hub.progress.emit(events.Progress("s1", "s1.c5", "watching", 170_000_000, 180_000_000, None, None))
    assert view.canvas.watched == {"s1.c5": 170_000_000}
    hub.open(FakeDesk(), "/other")
    assert view.canvas.watched == {}


def test_a_clip_that_was_watched_does_not_read_as_waiting_while_the_next_one_is_watched(hub, qtbot, monkeypatch):
    view = filled_timeline(hub, qtbot)
    canvas, written = view.canvas, []
    rows = [replace(c, state="queued") if c.id in ("s1.c4", "s1.c5") else c for c in canvas.plan.clips]
    canvas.plan = replace(canvas.plan, clips=tuple(rows))
    monkeypatch.setattr("m3desk_ui.look.texts.source_state", lambda state: written.append(state) or state)

    def shown() -> list[str]:
        written.clear()
        canvas.repaint()
        return list(written)

    hub.progress.emit(events.Progress("s1", "s1.c4", "watching", 120_000_000, 180_000_000, None, None))
    assert shown() == ["working", "queued"]
    for clip, at in (("s1.c4", 149_000_000), ("s1.c5", 160_000_000)):
        hub.evidence_seen.emit(events.EvidenceSeen("s1", clip, ((at, 1.0, 1.0, 9.0, 9.0),)))
    assert shown() == ["working", "working"]
    hub.progress.emit(events.Progress("s1", "s1.c4", "watching", 120_000_000, 180_000_000, None, None))  # its commit begins
    assert canvas.watched == {"s1.c4": 149_000_000, "s1.c5": 160_000_000}
    hub.source_changed.emit(events.SourceChanged("s1", "cancelled"))
    assert shown() == ["queued", "queued"]


def test_a_click_on_the_timeline_seeks_there(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    x = round(view.canvas.x_of(90 * SECOND))
    with qtbot.waitSignal(hub.selection.seek, timeout=30_000) as told:
        QTest.mouseClick(view.canvas, Qt.MouseButton.LeftButton, pos=QPointF(x, 30).toPoint())
    source, at, _play = told.args
    assert source == "s1" and abs(at - 90 * SECOND) < SECOND


@pytest.mark.parametrize(("y", "plays"), [(10, False), (30, True), (60, True), (100, True), (500, False)])
def test_a_click_on_anything_plays_from_there_and_one_beside_only_seeks(hub, qtbot, y, plays):
    view = filled_timeline(hub, qtbot)
    view.resize(900, 600)
    view.canvas.set_head(0)
    point = QPointF(view.canvas.x_of(90 * SECOND), y).toPoint()
    told = []
    hub.selection.seek.connect(lambda *args: told.append(args))
    QTest.mouseClick(view.canvas, Qt.MouseButton.LeftButton, pos=point)
    assert abs(view.canvas.head - 90 * SECOND) < SECOND
    QTest.mouseDClick(view.canvas, Qt.MouseButton.LeftButton, pos=point)
    assert told and all(source == "s1" and play == plays for source, _at, play in told)


def test_a_hand_that_shakes_a_little_still_clicks(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    x = round(view.canvas.x_of(90 * SECOND))
    QTest.mousePress(view.canvas, Qt.MouseButton.LeftButton, pos=QPointF(x, 40).toPoint())
    QTest.mouseMove(view.canvas, QPointF(x + 7, 40).toPoint())
    with qtbot.waitSignal(hub.selection.seek, timeout=30_000):
        QTest.mouseRelease(view.canvas, Qt.MouseButton.LeftButton, pos=QPointF(x + 7, 40).toPoint())
    assert view.canvas.span is None


def test_dragging_on_the_timeline_chooses_a_span_and_escape_takes_it_back(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    a, b = (round(view.canvas.x_of(t * SECOND)) for t in (30, 60))
    with qtbot.waitSignal(hub.selection.span, timeout=30_000) as told:
        QTest.mousePress(view.canvas, Qt.MouseButton.LeftButton, pos=QPointF(a, 100).toPoint())
        QTest.mouseMove(view.canvas, QPointF((a + b) / 2, 100).toPoint())
        QTest.mouseMove(view.canvas, QPointF(b, 100).toPoint())
        QTest.mouseRelease(view.canvas, Qt.MouseButton.LeftButton, pos=QPointF(b, 100).toPoint())
    source, start, end = told.args
    assert source == "s1" and abs(start - 30 * SECOND) < SECOND and abs(end - 60 * SECOND) < SECOND
    assert view.tools.isVisible() and hub.selection.chosen_span is not None
    QTest.keyClick(view.canvas, Qt.Key.Key_Escape)
    assert hub.selection.chosen_span is None and not view.tools.isVisible()


def test_what_can_be_done_with_a_span_fits_a_narrow_timeline(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    view.canvas.spanned.emit(30 * SECOND, 60 * SECOND)
    assert view.more.isHidden() and view.save.isVisible()

    def fits() -> bool:
        buttons = [b for b in (view.ask, view.search, view.save, view.more, view.forget) if b.isVisible()]
        return view.canvas.rect().contains(view.tools.geometry()) and all(view.tools.rect().contains(b.geometry()) for b in buttons)

    assert fits()
    view.resize(350, 320)  # as in a window of 900×600
    qtbot.waitUntil(view.more.isVisible, timeout=30_000)
    qtbot.waitUntil(fits, timeout=30_000)
    assert view.ask.isVisible() and view.forget.isVisible() and view.save in view.more.hidden()
    view.more.menu().aboutToShow.emit()
    with qtbot.waitSignal(hub.selection.search_within, timeout=30_000):
        next(a for a in view.more.menu().actions() if a.text() == view.search.text()).trigger()
    view.resize(1000, 320)
    qtbot.waitUntil(lambda: view.save.isVisible() and fits(), timeout=30_000)


def test_zooming_keeps_the_time_under_the_mouse(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    before = view.canvas.time_at(500)
    view.canvas.zoom(0.5, 500)
    assert abs(view.canvas.time_at(500) - before) < SECOND // 5
    assert view.canvas.end - view.canvas.start == pytest.approx(90 * SECOND, rel=0.01)
    assert view.canvas.x_of(0) < GUTTER


def test_the_play_head_moves_by_many_small_steps(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    canvas = view.canvas
    canvas.set_head(0)
    qtbot.waitUntil(lambda: abs(canvas._head_at - canvas.x_of(0)) < 1, timeout=30_000)
    step = round(0.2 * (canvas.end - canvas.start) / (canvas.width() - GUTTER))  # a fifth of a pixel
    for n in range(1, 51):
        canvas.set_head(n * step)
        qtbot.wait(1)
    assert canvas._head_at > canvas.x_of(0) + 8


def test_a_click_on_a_word_plays_from_that_word(hub, qtbot):
    view = TranscriptView(hub)
    qtbot.addWidget(view)
    view.resize(400, 500)
    view.show()
    hub.selection.watching.emit("s1", 0)
    qtbot.waitUntil(lambda: view.lines.rowCount() == 20, timeout=30_000)
    row = view.lines.rows[0]
    assert said_at(row, row.utterance.text.index("first")) == next(w.start for w in row.utterance.words if w.text == "first")
    area = view.list.visualRect(view.lines.index(0))
    with qtbot.waitSignal(hub.selection.seek, timeout=30_000) as told:
        QTest.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(area.x() + 70, area.y() + 30).toPoint())
    source, at, play = told.args
    assert source == "s1" and play and row.utterance.start <= at < row.utterance.end


def test_a_line_that_is_not_heard_clearly_is_dotted_and_says_so(hub, world, qtbot):
    world.speech[1] = replace(world.speech[1], utterance=replace(world.speech[1].utterance, confidence=0.6))
    hub.open(FakeDesk(world), "/unclear")
    view = TranscriptView(hub)
    qtbot.addWidget(view)
    view.resize(400, 500)
    view.show()
    hub.selection.watching.emit("s1", 0)
    qtbot.waitUntil(lambda: view.lines.rowCount() == 20, timeout=30_000)
    dotted = [[m.format.underlineStyle() for m in view.paint._marks(row, False)] for row in view.lines.rows[:2]]
    assert dotted == [[], [QTextCharFormat.UnderlineStyle.DotLine]]
    for i, told in ((0, False), (1, True)):
        at = view.list.visualRect(view.lines.index(i)).center()
        asked = QHelpEvent(QEvent.Type.ToolTip, at, view.list.viewport().mapToGlobal(at))
        assert view.eventFilter(view.list.viewport(), asked) is told
    assert "Heard unclearly" in QToolTip.text()
    assert "Heard unclearly" in view.lines.index(1).data(Qt.ItemDataRole.AccessibleDescriptionRole)


@pytest.mark.parametrize(("state", "told"), [("working", "as clips are memorized"), ("done", "holds no words")])
def test_a_transcript_without_words_says_whether_some_may_come(hub, world, qtbot, state, told):
    world.speech.clear()
    world.sources[0] = replace(world.sources[0], state=state)
    hub.open(FakeDesk(world), "/silent")
    view = TranscriptView(hub)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(lambda: told in view._empty.text() and view._empty.isVisible(), timeout=30_000)


def test_the_transcript_finds_words(hub, qtbot):
    view = TranscriptView(hub)
    qtbot.addWidget(view)
    view.show()
    hub.selection.watching.emit("s1", 0)
    qtbot.waitUntil(lambda: view.lines.rowCount() == 20, timeout=30_000)
    view.search.setText("report")
    assert "report" in view.lines.rows[view._found].utterance.text


def test_the_words_of_a_line_are_corrected_by_keyboard_and_menu(hub, qtbot, monkeypatch):
    view = TranscriptView(hub)
    qtbot.addWidget(view)
    view.show()
    hub.selection.watching.emit("s1", 0)
    qtbot.waitUntil(lambda: view.lines.rowCount() == 20, timeout=30_000)
    asked = []
    monkeypatch.setattr(plain, "edited", lambda _parent, _head, _question, before: asked.append(before) or "What was really said.")
    view.activateWindow()
    view.list.setFocus()
    qtbot.waitUntil(view.list.hasFocus, timeout=30_000)
    view.list.setCurrentIndex(view.lines.index(2))
    QTest.keyClick(view.list, Qt.Key.Key_F2)
    row = view.lines.rows[2]
    assert asked == [row.utterance.text]
    (kind, args), _ = hub.desk.called("correct")[0]
    assert (kind, args) == ("words", {"observation": row.utterance.id, "text": "What was really said."})
    view._menu(view.list.visualRect(view.lines.index(1)).center())
    assert view.list.currentIndex().row() == 1 and view.mend in view.findChildren(QMenu)[-1].actions()
    view.mend.trigger()
    assert hub.desk.called("correct")[-1][0][1]["observation"] == view.lines.rows[1].utterance.id


def test_words_that_were_not_heard_clearly_are_confirmed_in_the_menu_and_others_need_not_be(hub, world, qtbot):
    heard = world.speech[1]
    world.speech[1] = replace(heard, utterance=replace(heard.utterance, confidence=0.5))
    hub.open(FakeDesk(world), "/unclear")
    view = TranscriptView(hub)
    qtbot.addWidget(view)
    view.show()
    hub.selection.watching.emit("s1", 0)
    qtbot.waitUntil(lambda: view.lines.rowCount() == 20, timeout=30_000)
    for row, unclear in ((0, False), (1, True)):
        view._menu(view.list.visualRect(view.lines.index(row)).center())
        (right,) = [a for a in view.findChildren(QMenu)[-1].actions() if a.text() == "These words are right"]
        assert right.isEnabled() == unclear
    right.trigger()
    said = heard.utterance
    assert [args for args, _ in hub.desk.called("correct")] == [("words", {"observation": said.id, "text": said.text})]


def test_on_the_way_to_a_distant_picture_its_share_is_shown_and_space_stops_there(hub, qtbot, monkeypatch):
    view = VideoView(hub, make_player=FakePlayer)
    qtbot.addWidget(view)
    monkeypatch.setattr(files, "is_file", lambda _path: True)
    view.open_path("/videos/walk.mp4", play=False)
    qtbot.waitUntil(lambda: view._player is not None and view.canvas.image is not None, timeout=30_000)
    view._take_state(FakeState(view.path, True, 0, 6 * CLIP, seeking=0.48))
    qtbot.waitUntil(lambda: "48%" in view.transport.time.text(), timeout=30_000)
    view.toggle()
    assert view._player.calls[-1] == ("stop seeking",)
    view._take_state(FakeState(view.path, False, 0, 6 * CLIP))
    qtbot.waitUntil(lambda: "%" not in view.transport.time.text(), timeout=30_000)


def test_a_recording_that_grows_is_opened_again_where_the_player_knows_no_more_of_it(qtbot, hub, tmp_path):
    folder = tmp_path / "s9"
    folder.mkdir()
    (folder / "recording.json").write_text("{}")
    hub.desk.world.sources.append(replace(hub.desk.world.sources[0], id="s9", uri=str(folder), duration=None))
    view = VideoView(hub, FakePlayer)
    qtbot.addWidget(view)
    view.reset()
    qtbot.waitUntil(lambda: "s9" in view._sources, timeout=30_000)
    hub.selection.seek.emit("s9", 30 * SECOND, False)
    qtbot.waitUntil(lambda: view._player is not None and ("seek", 30 * SECOND) in view._player.calls, timeout=30_000)
    known, player = view._known, view._player

    def opened():
        return len([c for c in player.calls if c[0] == "open"])

    before = opened()
    view.grow("s9", known + 60 * SECOND)
    view.seek(40 * SECOND)
    assert opened() == before and view.duration == known + 60 * SECOND
    view.seek(known + 10 * SECOND)
    qtbot.waitUntil(lambda: opened() == before + 1 and ("seek", known + 10 * SECOND) in player.calls, timeout=30_000)
    with qtbot.waitSignal(view.edge_reached, timeout=30_000):
        player.on_state(FakeState(player.path, False, view.duration, view._known, ended=True))
    view.close_player()


def recording(hub, folder):
    """Add the source s9, a recording in a folder."""
    folder.mkdir()
    (folder / "recording.json").write_text("{}")
    hub.desk.world.sources.append(replace(hub.desk.world.sources[0], id="s9", uri=str(folder)))


@pytest.fixture
def replayed(qtbot, hub, tmp_path):
    """A player that shows the source s9, a recording, at 60 s."""
    recording(hub, tmp_path / "s9")
    view = VideoView(hub, FakePlayer)
    qtbot.addWidget(view)
    view.reset()
    qtbot.waitUntil(lambda: "s9" in view._sources, timeout=30_000)
    hub.selection.seek.emit("s9", 60 * SECOND, False)
    qtbot.waitUntil(lambda: view.canvas.at == 60 * SECOND and view.canvas.image is not None, timeout=30_000)
    view._player.calls.clear()
    yield view
    view.close_player()


def test_what_is_erased_far_behind_the_picture_stops_nothing_and_near_it_the_player_lets_go_of_it(replayed, hub, qtbot):
    view, player = replayed, replayed._player
    view.play()
    qtbot.waitUntil(lambda: view.transport.playing, timeout=30_000)
    hub.erased.emit(Erased("s9", 0, 10 * SECOND, recording=True, memory=False))
    assert ("open", view.path) not in player.calls and view.canvas.image is not None
    hub.erased.emit(Erased("s9", 10 * SECOND, 55 * SECOND, recording=True, memory=False))
    assert ("open", view.path) in player.calls and view.canvas.image is not None, "the picture on show is not of what is gone"
    assert view._gone == [(0, 55 * SECOND)], "one span, however many pieces: each picture is compared with all"
    qtbot.waitUntil(lambda: player.calls.count(("play",)) == 2, timeout=30_000)


def test_a_late_picture_of_what_was_erased_is_not_shown(replayed, hub, qtbot):
    view, player = replayed, replayed._player
    hub.erased.emit(Erased("s9", 0, 100 * SECOND, recording=True, memory=True))
    assert view.canvas.image is None
    player.on_frame(FakeFrame(61 * SECOND, player.frame(61 * SECOND)))  # decoded before
    qtbot.wait(100)
    assert view.canvas.image is None or view.canvas.at >= 100 * SECOND
    qtbot.waitUntil(lambda: view.canvas.image is not None and view.canvas.at == 100 * SECOND, timeout=30_000)


def test_a_recording_that_was_removed_with_its_source_leaves_the_screen(replayed, hub, qtbot, monkeypatch):
    view, gone = replayed, replayed.path
    monkeypatch.setattr(files, "is_playable", lambda path: path != gone)
    shutil.rmtree(view.path)
    hub.desk.world.sources = [s for s in hub.desk.world.sources if s.id != "s9"]
    hub.erased.emit(Erased("s9", 0, 360 * SECOND, recording=True, memory=True))
    view.following.restart()
    qtbot.waitUntil(lambda: view.source not in ("", "s9"), timeout=30_000)
    assert not view.locate.isVisibleTo(view), "it is not missing"


def test_a_file_that_was_missing_is_looked_for_again_when_it_is_asked_for(qtbot, hub, tmp_path):
    film = tmp_path / "film.mp4"
    hub.desk.world.sources = [replace(hub.desk.world.sources[0], uri=str(film))]
    view = VideoView(hub, FakePlayer)
    qtbot.addWidget(view)
    view.reset()
    qtbot.waitUntil(lambda: "missing" in view.canvas.message, timeout=30_000)
    film.write_bytes(b"x")
    hub.selection.seek.emit("s1", 30 * SECOND, False)
    qtbot.waitUntil(lambda: view._player is not None and ("seek", 30 * SECOND) in view._player.calls, timeout=30_000)
    view.close_player()


def test_the_picture_is_enlarged_around_the_mouse_moved_by_dragging_and_shown_whole_again(qtbot):
    canvas = canvas_with_world(qtbot, 5 * SECOND)
    canvas.show()
    at, played = QPointF(WIDTH / 4, HEIGHT / 2), []
    canvas.background_clicked.connect(lambda: played.append(True))

    def wheel(modifiers):
        turn = QPoint(0, 480)
        QCoreApplication.sendEvent(
            canvas,
            QWheelEvent(
                at, canvas.mapToGlobal(at), QPoint(), turn, Qt.MouseButton.NoButton, modifiers, Qt.ScrollPhase.NoScrollPhase, False
            ),
        )

    wheel(Qt.KeyboardModifier.NoModifier)
    assert canvas.zoomed == 1
    wheel(Qt.KeyboardModifier.ControlModifier)
    area = canvas.picture_rect()
    assert canvas.zoomed > 1.5
    assert (at.x() - area.x()) / area.width() == pytest.approx(0.25, abs=0.01)
    shown = canvas.boxes()[0]
    assert canvas.place(shown).width() == pytest.approx(shown.box[2] * canvas.zoomed, abs=0.5)
    corner = QPoint(WIDTH - 3, HEIGHT - 3)
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=corner)
    QTest.mouseMove(canvas, corner - QPoint(60, 0))
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=corner - QPoint(60, 0))
    assert canvas.picture_rect().x() == pytest.approx(area.x() - 60, abs=1) and not played
    canvas.move_picture(10 * WIDTH, 10 * HEIGHT)
    assert canvas.picture_rect().topLeft() == QPointF(0, 0)
    QTest.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.picture_rect().x() == pytest.approx(-WIDTH / 10, abs=1)
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=corner)
    assert played == [True]
    canvas.zoom_to(1)
    assert canvas.picture_rect() == QRectF(0, 0, WIDTH, HEIGHT)


def test_an_enlarged_picture_is_asked_for_in_the_pixels_in_which_it_is_painted(hub, qtbot, monkeypatch):
    view = VideoView(hub, make_player=FakePlayer)
    qtbot.addWidget(view)
    monkeypatch.setattr(files, "is_file", lambda _path: True)
    view.open_path("/videos/walk.mp4", play=False)
    qtbot.waitUntil(lambda: view._player is not None and view.canvas.image is not None, timeout=30_000)
    view.canvas.zoom_to(2)
    ratio = view.canvas.devicePixelRatioF() * 2
    assert view._player.calls[-1] == ("size", round(view.canvas.width() * ratio), round(view.canvas.height() * ratio))
    view.reset()
    assert view.canvas.zoomed == 1


def test_speeds_reach_from_a_quarter_to_four_times(qtbot):
    bar = Transport()
    qtbot.addWidget(bar)
    told = []
    bar.speed.connect(told.append)
    bar.change_speed(20)
    bar.change_speed(-20)
    assert told == [4.0, 0.25]


def test_in_a_narrow_window_speed_steps_and_volume_are_in_a_menu_of_the_controls(qtbot):
    bar = Transport()
    qtbot.addWidget(bar)
    bar.resize(900, 40)
    bar.show()
    assert bar.more.isHidden()
    bar.resize(430, 40)
    qtbot.waitUntil(lambda: not bar.more.isHidden(), timeout=30_000)
    steps, speeds = [], []
    bar.step.connect(steps.append)
    bar.speed.connect(speeds.append)

    def entries():
        bar.more.menu().aboutToShow.emit()
        return {action.text(): action for action in bar.more.menu().actions()}

    entries()["One frame back (,)"].trigger()
    entries()["One frame forward (.)"].trigger()
    assert steps == [-1, 1]
    volume = {action.text(): action for action in entries()["Volume"].menu().actions()}
    assert [text for text, action in volume.items() if action.isChecked()] == ["75 %"]
    volume["50 %"].trigger()
    assert bar.volume_slider.value() == 50
    bar.resize(bar.minimumWidth(), 40)
    qtbot.waitUntil(lambda: bar.speeds.isHidden(), timeout=30_000)
    assert [text.split(" (")[0] for text in entries()] == [
        "Back 5 seconds", "One frame back", "One frame forward", "Forward 5 seconds", "Speed", "Mute", "Volume"
    ]  # fmt: skip
    {action.text(): action for action in entries()["Speed"].menu().actions()}["0.25×"].trigger()
    assert speeds == [0.25] and bar.speed_now() == 0.25
    assert not bar.play_button.isHidden() and bar.slider.width() >= bar.slider.minimumWidth()


def test_the_legend_of_the_timeline_is_never_cut_without_an_ellipsis(hub, qtbot):
    view = filled_timeline(hub, qtbot)
    view.resize(460, 300)
    legend = view.legend
    qtbot.waitUntil(lambda: legend.text().endswith("…"), timeout=30_000)
    assert legend.fontMetrics().horizontalAdvance(legend.text()) <= legend.width()
    assert "speaks" in legend.toolTip() and "speaks" in legend.accessibleName()
    legend.setFixedWidth(30)
    qtbot.waitUntil(lambda: legend.text() == "", timeout=30_000)


def test_a_span_is_chosen_by_keys_at_the_play_head_and_saved_as_a_video(hub, qtbot, monkeypatch):
    view = filled_timeline(hub, qtbot)
    for at, key in ((30, Qt.Key.Key_BracketLeft), (50, Qt.Key.Key_BracketRight)):
        view.canvas.set_head(at * SECOND)
        QTest.keyClick(view.canvas, key)
    assert hub.selection.chosen_span == ("s1", 30 * SECOND, 50 * SECOND)
    asked = []
    monkeypatch.setattr(files, "where_to_write", lambda *args: asked.append(args) or "/clips/x.mp4")
    view.save.click()
    assert "00.30-00.50.mp4" in asked[0][2]
    assert [args for args, _ in hub.desk.called("export_clip")] == [("/clips/x.mp4", "s1", 30 * SECOND, 50 * SECOND)]
