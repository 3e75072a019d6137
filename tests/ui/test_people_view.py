"""The people dock: naming in place, confirming, merging with a preview where it matters, a person's page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain, theme
from m3desk_ui.people import people_list
from m3desk_ui.people.activity_plot import shares
from m3desk_ui.people.people_list import PERSON
from m3desk_ui.people.people_view import PeopleView
from m3desk_ui.people.person_picker import BothFaces, PersonPicker
from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication, QDockWidget, QLineEdit, QMainWindow, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from m3desk import events
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.people import Person
from m3desk.errors import CorrectionError
from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def view(qtbot: QtBot, hub: Hub) -> PeopleView:
    view = PeopleView(hub)
    qtbot.addWidget(view)
    view.resize(420, 600)
    view.show()
    qtbot.waitUntil(lambda: view.model.rowCount() == 8, timeout=30_000)
    return view


def corrections(desk: FakeDesk, dry: bool = False) -> list[tuple[str, dict[str, object]]]:
    return [(a[0], a[1]) for a, k in desk.called("correct") if k["dry_run"] is dry]


def test_people_are_listed_with_most_seen_and_heard_first(view: PeopleView) -> None:
    times = [p.screen_time + p.speech_time for p in view.model.people]
    assert times == sorted(times, reverse=True)
    shortly = replace(view.model.people[0], screen_time=MICROSECOND * 4 // 10, speech_time=0)
    assert people_list.times_of(shortly) == "seen 1 s"


def test_a_narrow_list_cuts_its_texts_and_does_not_scroll_sideways(view: PeopleView) -> None:
    view.list.show_grid(False)
    view.list.resize(170, 400)
    view.list.show()
    view.list.doItemsLayout()
    assert view.list.horizontalScrollBar().maximum() == 0
    assert view.list.visualRect(view.model.index(0)).right() < view.list.viewport().width()


def test_rows_that_are_kept_look_as_rows_that_are_painted(view: PeopleView, monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[str] = []
    paint = view.delegate._paint_row

    def noted(painter: QPainter, option: QStyleOptionViewItem, person: Person, *how: Any) -> None:
        painted.append(person.id)
        paint(painter, option, person, *how)

    monkeypatch.setattr(view.delegate, "_paint_row", noted)
    image = view.list.grab().toImage()
    painted.clear()
    people = list(view.model.people)
    view.model.patch([replace(people[1], screen_time=people[0].screen_time + people[0].speech_time + 1)], [])  # it moves to the top
    assert view.list.grab().toImage() != image
    assert painted == [people[1].id]
    view.model.patch([people[1]], [])
    assert view.list.grab().toImage() == image
    monkeypatch.setattr("m3desk_ui.people.people_list.KEPT", 0)
    view.delegate._kept.clear()
    painted.clear()
    monkeypatch.setattr(view.delegate, "paint", lambda p, o, i: noted(p, o, i.data(PERSON), view.model.times(i.data(PERSON)), False, False))
    assert view.list.grab().toImage() == image
    assert len(painted) == 8


def test_what_a_row_shows_changes_without_a_layout_of_all_rows(qtbot: QtBot, view: PeopleView, monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[str] = []
    paint = view.delegate.paint

    def noted(painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        painted.append(index.data(PERSON).id)
        paint(painter, option, index)

    monkeypatch.setattr(view.delegate, "paint", noted)
    qtbot.wait(50)
    painted.clear()
    person = view.model.people[3]
    view.model.patch([replace(person, shown="Another name")], [])
    qtbot.waitUntil(lambda: bool(painted), timeout=30_000)
    assert painted == [person.id]


def test_naming_in_place_corrects_and_the_list_shows_it(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    row = view.model.row_of("person_5")
    assert view.model.setData(view.model.index(row), "  Carol ")
    assert corrections(desk) == [("name", {"person": "person_5", "name": "Carol"})]
    qtbot.waitUntil(lambda: any(p.shown == "Carol" for p in view.model.people), timeout=30_000)


def test_news_does_not_close_an_open_editor(qtbot: QtBot, view: PeopleView, desk: FakeDesk, world: World) -> None:
    view.list.edit(view.model.index(view.model.row_of("person_5")))
    editor = view.list.findChild(QLineEdit)
    assert editor is not None
    editor.setText("Caro")
    world.people.pop()
    desk.emit(events.ClipCommitted("s1.c5", "episodic"))
    qtbot.wait(500)
    assert view.model.rowCount() == 8
    assert editor.isVisible()
    qtbot.keyClicks(editor, "l")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: corrections(desk) == [("name", {"person": "person_5", "name": "Carol"})], timeout=30_000)
    qtbot.waitUntil(lambda: view.model.rowCount() == 7, timeout=30_000)


def test_rows_stay_under_the_mouse_until_it_rests_and_a_correction_shows_at_once(
    qtbot: QtBot, view: PeopleView, desk: FakeDesk, world: World, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [p.id for p in view.model.people]

    def seen(person: str, time: int) -> None:
        """As if a clip were memorized in which this person is seen for very long."""
        row = [p.id for p in world.people].index(person)
        world.people[row] = replace(world.people[row], screen_time=time)
        desk.emit(events.ClipCommitted("s1.c5", "episodic"))

    def point() -> None:
        place = view.list.viewport()
        for x in (20, 24):
            at, none = QPointF(place.rect().center() + QPoint(x, 0)), Qt.MouseButton.NoButton
            move = QMouseEvent(QEvent.Type.MouseMove, at, place.mapToGlobal(at), none, none, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(place, move)

    monkeypatch.setattr(people_list, "POINTED_MS", 60_000)
    point()
    seen(before[-1], 10**12)
    qtbot.wait(600)
    assert [p.id for p in view.model.people] == before
    hub.corrected.emit(None)
    qtbot.waitUntil(lambda: view.model.people[0].id == before[-1], timeout=30_000)
    point()
    seen(before[3], 10**13)
    qtbot.wait(600)
    assert view.model.people[0].id == before[-1]
    monkeypatch.setattr(people_list, "POINTED_MS", 0)
    view.list.setState(view.list.State.DraggingState)  # what is dropped would join two people
    qtbot.wait(600)
    assert view.model.people[0].id == before[-1]
    view.list.setState(view.list.State.NoState)
    qtbot.waitUntil(lambda: view.model.people[0].id == before[3], timeout=30_000)


def test_the_width_that_only_the_questions_needed_is_given_back(qtbot: QtBot, view: PeopleView) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    dock = QDockWidget(window)
    dock.setWidget(view)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.setCentralWidget(QWidget())
    window.resize(900, 600)
    window.show()
    window.resizeDocks([dock], [300], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: view.width() == 300, timeout=30_000)
    view.questions.card.setMinimumWidth(385)
    view.show_questions()
    qtbot.waitUntil(lambda: view.width() >= 385, timeout=30_000)
    view.show_list()
    qtbot.waitUntil(lambda: view.width() == 300, timeout=30_000)
    view.show_questions()
    qtbot.waitUntil(lambda: view.width() >= 385, timeout=30_000)
    window.resizeDocks([dock], [500], Qt.Orientation.Horizontal)  # what the user chose stays
    qtbot.waitUntil(lambda: view.width() == 500, timeout=30_000)
    view.show_list()
    qtbot.wait(50)
    assert view.width() == 500
    view.setParent(None)  # its fixture closes it


def test_an_empty_name_or_the_same_changes_nothing(view: PeopleView, desk: FakeDesk) -> None:
    row = view.model.row_of("person_1")
    assert not view.model.setData(view.model.index(row), " ")
    assert not view.model.setData(view.model.index(row), "Ann")
    assert corrections(desk) == []


def test_one_click_confirms_a_suggested_name(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    index = view.model.index(view.model.row_of("person_3"))
    option = QStyleOptionViewItem()
    option.rect = view.list.visualRect(index)
    option.fontMetrics = view.fontMetrics()
    spot = view.delegate._confirm_box(option).center()
    qtbot.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert corrections(desk) == [("name", {"person": "person_3", "name": "Jeff Steen"})]


def test_dropping_an_unnamed_person_on_another_merges_at_once(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    model = view.model
    data = model.mimeData([model.index(model.row_of("person_5"))])
    target = model.index(model.row_of("person_1"))
    assert model.canDropMimeData(data, Qt.DropAction.LinkAction, -1, -1, target)
    assert not model.canDropMimeData(data, Qt.DropAction.LinkAction, -1, -1, QModelIndex())
    model.dropMimeData(data, Qt.DropAction.LinkAction, -1, -1, target)
    qtbot.waitUntil(lambda: corrections(desk) == [("merge", {"keep": "person_1", "others": ["person_5"]})], timeout=30_000)


def test_merging_two_named_people_asks_first_and_either_name_can_stay(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    view.ask_merge("person_1", "person_2")
    qtbot.waitUntil(lambda: hasattr(view, "question"), timeout=30_000)
    assert corrections(desk) == []
    assert any("Ann" in label.text() for label in view.question.findChildren(plain.Label))
    next(b for b in view.question.buttons.buttons() if "Bob" in b.text()).click()
    assert corrections(desk) == [("merge", {"keep": "person_2", "others": ["person_1"]})]


def test_who_is_the_same_person_is_chosen_by_face_and_name(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    view._choose_merge("person_5")
    qtbot.waitUntil(lambda: hasattr(view, "picker"), timeout=30_000)
    picker = view.picker
    assert picker.person() is None and not picker.choose.isEnabled()  # nobody is proposed
    assert "person_5" not in [p.id for p in picker.model.people]
    assert picker.model.people[0].id == "person_1"  # of whom the memory asks whether they are the same
    qtbot.keyClicks(picker.search, "ann")
    assert [p.shown for p in picker.model.people] == ["Ann"]
    qtbot.keyClick(picker.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: corrections(desk) == [("merge", {"keep": "person_1", "others": ["person_5"]})], timeout=30_000)


def test_questions_about_persons_close_with_their_memory(qtbot: QtBot, view: PeopleView, hub: Hub) -> None:
    view._choose_merge("person_5")
    qtbot.waitUntil(lambda: hasattr(view, "picker"), timeout=30_000)
    view.name("person_5", "ann")
    asked = [view.picker, next(d for d in view.findChildren(BothFaces) if d.isVisible())]
    hub.open(FakeDesk())
    qtbot.waitUntil(lambda: not any(isValid(d) and d.isVisible() for d in asked), timeout=30_000)


def test_a_merge_that_is_previewed_while_another_memory_opens_is_dropped(qtbot: QtBot, view: PeopleView, hub: Hub, desk: FakeDesk) -> None:
    view.ask_merge("person_1", "person_5")
    other = FakeDesk()
    hub.open(other)
    qtbot.wait(50)
    assert corrections(desk) == corrections(other) == [] and not hasattr(view, "question")


def test_the_name_of_somebody_else_is_asked_about(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    def named_again(answer: str) -> None:
        view.name("person_5", "ann")
        question = next(d for d in view.findChildren(BothFaces) if d.isVisible())
        next(b for b in question.buttons.buttons() if answer in b.text()).click()

    named_again("Cancel")
    assert corrections(desk) == []
    named_again("Another ann")
    named_again("The same person")
    wanted = [("name", {"person": "person_5", "name": "ann"}), ("merge", {"keep": "person_1", "others": ["person_5"]})]
    qtbot.waitUntil(lambda: corrections(desk) == wanted, timeout=30_000)


def test_a_picker_takes_a_new_name_where_somebody_new_may_be_meant(qtbot: QtBot, view: PeopleView, hub: Hub) -> None:
    picker = PersonPicker(hub, "This is…", "Who is this?", list(view._everybody.values()), view, new=True)
    qtbot.addWidget(picker)
    picker.search.setText("Zo\u00eb")
    assert picker.person() is None and picker.new_name() == "Zo\u00eb" and "Zo\u00eb" in picker.choose.text()
    picker.search.clear()
    qtbot.keyClick(picker, Qt.Key.Key_Down)
    assert not picker.new_name()


def test_a_correction_that_is_refused_is_told_to_the_user(qtbot: QtBot, view: PeopleView, hub: Hub, desk: FakeDesk) -> None:
    desk.fail["name"] = CorrectionError("That name is taken.", "Merge them instead.")
    with qtbot.waitSignal(hub.notice) as told:
        view.name("person_5", "Zoe")
    assert told.args[0] == "error"
    assert "taken" in told.args[1]


def test_undo_and_redo_follow_what_the_engine_says(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    assert not view.undo.isEnabled()
    desk.emit(events.Corrected(3, "name", "named", True, False))
    qtbot.waitUntil(view.undo.isEnabled, timeout=30_000)
    view.undo.click()
    assert desk.called("undo")
    qtbot.waitUntil(view.redo.isEnabled, timeout=30_000)


def test_the_filter_finds_by_name_and_says_when_nobody_fits(view: PeopleView) -> None:
    view.filter.setText("hopper")
    assert [p.shown for p in view.model.people] == ["Grace Hopper"]
    view.filter.setText("zzz")
    assert view.model.rowCount() == 0
    assert not view.empty.isHidden()


def test_a_page_shows_what_is_known_moments_faces_and_speech(qtbot: QtBot, view: PeopleView, hub: Hub, desk: FakeDesk) -> None:
    view.open_page("person_2")
    qtbot.waitUntil(lambda: view.page.page is not None, timeout=30_000)
    page = view.page
    assert "Bob drinks green tea" in page.known.toPlainText()
    assert page.faces.count() == len(page.page.tracks)
    assert page.moments.count() == len({r.track.clip for r in page.page.tracks} | {r.utterance.clip for r in page.page.speech})
    with qtbot.waitSignal(hub.selection.seek) as told:
        page._clicked(page.faces.item(0))
    assert told.args[0] == "s1"
    page.name.setText("Robert")
    page.name.editingFinished.emit()
    qtbot.waitUntil(lambda: corrections(desk)[-1:] == [("name", {"person": "person_2", "name": "Robert"})], timeout=30_000)


def test_a_suggested_name_can_be_refused_on_the_page(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    view.open_page("person_3")
    qtbot.waitUntil(lambda: view.page.page is not None, timeout=30_000)
    view.page._confirm("no")
    assert corrections(desk) == [("reject", {"person": "person_3", "name": "Jeff Steen"})]


def test_activity_shares_are_the_covered_part_of_each_bin() -> None:
    second = MICROSECOND
    got = shares([("s1", 0, 5 * second), ("s1", 3 * second, 5 * second), ("s2", 0, 10 * second)], "s1", 10 * second, 5)
    assert np.allclose(got, [1, 1, 0.5, 0, 0]) or np.allclose(got, [1, 1, 1, 0, 0])
    assert got.max() <= 1


def test_while_a_memory_is_read_the_list_says_so_and_not_that_nobody_is_there(qtbot: QtBot) -> None:
    hub, desk = Hub(), FakeDesk()
    view = PeopleView(hub)
    qtbot.addWidget(view)
    hub.open(desk, "/m")
    view.show()
    assert "Reading" in view.empty.text()
    qtbot.waitUntil(lambda: view.model.rowCount() == 8, timeout=30_000)
    hub.close()


def test_a_note_on_consent_is_kept_with_the_person(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    desk.world.notes["person_2"] = "agreed to be recorded"
    view.open_page("person_2")
    page = view.page
    qtbot.waitUntil(lambda: page.consent.text() == "agreed to be recorded", timeout=30_000)
    page.consent.editingFinished.emit()
    assert desk.called("set_consent") == [], "nothing was typed"
    page.consent.setText("agreed until Friday")
    page.consent.editingFinished.emit()
    assert desk.called("set_consent") == [(("person_2", "agreed until Friday"), {})]
    view.open_page("person_3")
    qtbot.waitUntil(lambda: page.page is not None and page.page.person.id == "person_3", timeout=30_000)
    assert page.consent.text() == ""


@pytest.mark.parametrize("field", ["consent", "name"])
def test_what_is_being_typed_about_a_person_is_not_written_to_another_memory(
    qtbot: QtBot, view: PeopleView, hub: Hub, desk: FakeDesk, field: str
) -> None:
    view.open_page("person_1")
    qtbot.waitUntil(lambda: view.page.page is not None, timeout=30_000)
    view.activateWindow()
    edit: QLineEdit = getattr(view.page, field)
    edit.setFocus()
    qtbot.waitUntil(edit.hasFocus, timeout=30_000)
    edit.setText("agreed on 3 May")
    other = FakeDesk()
    hub.open(other)
    qtbot.waitUntil(lambda: not edit.hasFocus(), timeout=30_000)
    qtbot.wait(50)
    assert other.called("set_consent") == [] and corrections(other) == []


def test_a_persons_moments_show_their_face_and_not_whoever_else_is_in_the_clip(qtbot: QtBot, view: PeopleView, hub: Hub) -> None:
    asked: list[str | None] = []
    get = hub.pictures.get
    hub.pictures.get = lambda media, *how, **more: asked.append(media) or get(media, *how, **more)  # type: ignore[method-assign, func-returns-value]
    view.open_page("person_2")
    qtbot.waitUntil(lambda: view.page.page is not None and view.page.moments.count() > 0, timeout=30_000)
    page = view.page.page
    assert page is not None
    crops = {r.track.crops[0] for r in page.tracks if r.track.crops}
    assert crops and crops <= set(asked)


def select(view: PeopleView, *people: str) -> None:
    flags = QItemSelectionModel.SelectionFlag
    view.list.clearSelection()
    for person in people:
        view.list.selectionModel().select(view.model.index(view.model.row_of(person)), flags.Select)


def test_several_selected_people_are_merged_by_a_key(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    assert not view.merge.isVisible()
    select(view, "person_5", "person_1", "person_6")
    assert view.merge.isVisible() and "3" in view.merge.text()
    qtbot.keyClick(view.list, Qt.Key.Key_M)
    qtbot.waitUntil(lambda: bool(corrections(desk)), timeout=30_000)
    kind, args = corrections(desk)[0]
    assert kind == "merge" and args["keep"] == "person_1" and set(args["others"]) == {"person_5", "person_6"}


def test_of_several_named_people_the_name_to_keep_is_chosen(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    select(view, "person_1", "person_2", "person_5")
    view.merge.click()
    qtbot.waitUntil(lambda: hasattr(view, "question"), timeout=30_000)
    answers = [b.text() for b in view.question.buttons.buttons()]
    assert sum("keep" in text for text in answers) == 2 and not any("Person 5" in text for text in answers)
    next(b for b in view.question.buttons.buttons() if "Bob" in b.text()).click()
    kind, args = corrections(desk)[0]
    assert kind == "merge" and args["keep"] == "person_2" and set(args["others"]) == {"person_1", "person_5"}


def test_people_are_a_grid_of_faces_where_there_is_room(qtbot: QtBot, view: PeopleView, desk: FakeDesk) -> None:
    first, second = view.model.index(0), view.model.index(1)
    assert view.list.visualRect(first).top() < view.list.visualRect(second).top()
    view.resize(760, 700)
    qtbot.waitUntil(lambda: view.list.visualRect(first).top() == view.list.visualRect(second).top(), timeout=30_000)
    assert view.grid.isChecked() and view.list.dragEnabled() and view.list.acceptDrops()
    suggested = view.model.index(view.model.row_of("person_3"))
    rect = view.list.visualRect(suggested)
    qtbot.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.topRight() + QPoint(-20, 20))
    assert corrections(desk) == [("name", {"person": "person_3", "name": "Jeff Steen"})]
    view.grid.click()
    qtbot.waitUntil(lambda: view.list.visualRect(first).top() < view.list.visualRect(second).top(), timeout=30_000)


def test_people_whose_numbers_are_a_dozen_apart_have_colours_of_their_own() -> None:
    for number in range(1, 13):
        assert len({theme.person_colour(f"person_{number + more}").name() for more in (0, 12, 24)}) == 3


def test_a_page_shows_with_whom_the_person_is_remembered(qtbot: QtBot, view: PeopleView, world: World) -> None:
    both = next(m for m in world.sentences if m.id == "k3")
    world.sentences[world.sentences.index(both)] = replace(both, people=("person_2", "person_1"))
    view.open_page("person_2")
    shown = view.page.relations
    qtbot.waitUntil(lambda: shown.list.count() == 1, timeout=30_000)
    assert "Ann · 1 memory together" in shown.list.item(0).text() and "colleagues" in shown.list.item(0).text()
    assert len(shown.plot.places()) == 1
    shown.list.itemActivated.emit(shown.list.item(0))
    qtbot.waitUntil(lambda: view.page.page is not None and view.page.person_id == "person_1", timeout=30_000)


def _on_page(qtbot: QtBot, view: PeopleView) -> None:
    """Open a page from the list by Enter."""
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow, timeout=30_000)
    view.list.setFocus()
    view.list.setCurrentIndex(view.model.index(view.model.row_of("person_2")))
    qtbot.keyClick(view.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view.page.page is not None, timeout=30_000)


def test_enter_on_a_person_leads_into_the_page_and_escape_back(qtbot: QtBot, view: PeopleView) -> None:
    _on_page(qtbot, view)
    assert view.page.known.hasFocus()
    qtbot.keyClick(view.page.known, Qt.Key.Key_Space)
    assert view.stack.currentWidget() is view.page
    qtbot.keyClick(view.page.known, Qt.Key.Key_Escape)
    assert view.stack.currentIndex() == 0 and view.list.hasFocus()


@pytest.mark.parametrize("part", ["known", "faces"])
def test_f2_on_a_page_names_the_person(qtbot: QtBot, view: PeopleView, desk: FakeDesk, part: str) -> None:
    _on_page(qtbot, view)
    on = getattr(view.page, part)
    view.page.tabs.setCurrentWidget(on)
    on.setFocus()
    qtbot.keyClick(on, Qt.Key.Key_F2)
    assert view.page.name.hasFocus() and view.page.name.selectedText() == "Bob"
    qtbot.keyClicks(view.page.name, "Robert")
    qtbot.keyClick(view.page.name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: corrections(desk)[-1:] == [("name", {"person": "person_2", "name": "Robert"})], timeout=30_000)
