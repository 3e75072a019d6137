"""Question cards: one at a time, answered by a key; wrong observations can be removed or moved first."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.people_view import PeopleView
from m3desk_ui.people.question_sides import read_sides
from m3desk_ui.people.questions_view import QuestionsView
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from m3desk import events
from m3desk.domain.changed import Changed
from m3desk.domain.clip import clock
from m3desk.domain.people import SuggestedName
from m3desk.domain.questions.types import Reason, Verdict
from m3desk.errors import CorrectionError
from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def people(qtbot: QtBot, hub: Hub) -> PeopleView:
    view = PeopleView(hub)
    qtbot.addWidget(view)
    view.resize(460, 700)
    view.show()
    qtbot.waitUntil(lambda: view.ask.isVisible() and view.model.rowCount() > 0, timeout=30_000)
    return view


@pytest.fixture
def view(qtbot: QtBot, people: PeopleView) -> QuestionsView:
    people.show_questions()
    shows(qtbot, people.questions, "same")
    return people.questions


def shows(qtbot: QtBot, view: QuestionsView, kind: str) -> None:
    qtbot.waitUntil(lambda: view.card.shown is not None and view.card.shown.question.kind == kind, timeout=30_000)


def test_the_people_list_says_how_many_questions_there_are(people: PeopleView, desk: FakeDesk) -> None:
    assert people.ask.isVisible() and "4" in people.ask.text()
    assert not desk.called("suggestions")  # the cards are fetched when the list is opened
    people.ask.click()
    assert desk.called("suggestions")
    assert people.stack.currentWidget() is people.questions


def test_a_card_shows_both_sides_and_what_a_yes_would_do(view: QuestionsView) -> None:
    card = view.card
    assert "Ann" in card.title.text() and "9 memories" in card.effect.text()
    assert [box.count() for box in card.lists] == [2, 1]
    assert card.names[0].text().startswith("Ann")


def test_a_card_for_a_name_says_where_the_name_comes_from(qtbot: QtBot, people: PeopleView, desk: FakeDesk, world: World) -> None:
    spoken = next(row for row in world.speech if row.utterance.text)
    place = next(i for i, p in enumerate(world.people) if p.id == "person_3")
    whence = people.questions.card.whence

    def asked(*evidence: str, words: str) -> str:
        told = (SuggestedName("Jeff Steen", 0.8, evidence, words),)
        world.people[place] = replace(world.people[place], suggested_names=told)
        named = next(s for s in desk.suggestions().result() if s.kind == "name")
        people.questions.card.show_question(read_sides(desk.reader(), named))
        return whence.text()

    people.show_questions()
    shows(qtbot, people.questions, "same")
    assert whence.text() == "" and not whence.isVisible()
    assert asked("screen:2000000-6000000", "screen:9000000-9500000", words="Host JEFF STEEN") == (
        "The name is from a text on screen at 00:02: “Host JEFF STEEN” and 1 more"
    )
    assert whence.isVisible()
    heard = asked(spoken.utterance.id, words="I'm Jeff Steen.")
    assert heard == f"The name was heard at {clock(spoken.utterance.start)}, from {spoken.shown}: “I'm Jeff Steen.”"
    assert asked("s9.c0.u0", words="Jeff!") == "The name is from these words: “Jeff!”"
    assert asked(words="") == ""


def test_one_key_applies_and_the_next_card_comes(qtbot: QtBot, view: QuestionsView, hub: Hub, desk: FakeDesk) -> None:
    with qtbot.waitSignal(hub.offer) as offered:
        qtbot.keyClick(view.card, Qt.Key.Key_Y)
    assert offered.args[1] == "undo"
    assert desk.called("accept") == [((4711,), {})]
    shows(qtbot, view, "two_people")
    qtbot.keyClick(view.card, Qt.Key.Key_N)
    assert desk.called("reject") == [((12,), {})]
    shows(qtbot, view, "link")


def test_what_was_taken_out_is_excluded_after_the_merge(qtbot: QtBot, view: QuestionsView, desk: FakeDesk) -> None:
    row = view.card.lists[0].item(1)
    view.card._clicked(0, row)
    assert row.font().strikeOut() and view.card.lists[0].taken_out() == ["s1.c1.f0"]
    view.card.buttons["yes"].click()
    qtbot.waitUntil(lambda: bool(desk.called("correct")), timeout=30_000)
    assert desk.called("correct")[-1][0] == ("exclude", {"observations": ["s1.c1.f0"], "person": "person_1"})


def test_two_people_can_be_sorted_before_they_are_split(qtbot: QtBot, view: QuestionsView, desk: FakeDesk) -> None:
    view.put_off()
    shows(qtbot, view, "two_people")
    first, second = view.card.lists
    first.other_wanted.emit(first.item(1))
    assert [first.count(), second.count()] == [1, 2]
    view.card.buttons["yes"].click()
    qtbot.waitUntil(lambda: bool(desk.called("correct")), timeout=30_000)
    kind, args = desk.called("correct")[-1][0]
    assert kind == "split" and args == {"person": "person_2", "observations": ["s1.c2.f0", "s1.c1.f0"]}
    assert not desk.called("accept")


def test_after_a_split_that_can_not_be_the_next_answer_is_taken(qtbot: QtBot, view: QuestionsView, hub: Hub, desk: FakeDesk) -> None:
    view.put_off()
    shows(qtbot, view, "two_people")
    view.card.lists[0].other_wanted.emit(view.card.lists[0].item(1))
    desk.correct = lambda *_given, **_how: _failing(2)  # type: ignore[method-assign, assignment]
    with qtbot.waitSignal(hub.notice):
        view.card.buttons["yes"].click()
    qtbot.waitUntil(lambda: view.card.shown is not None, timeout=30_000)
    view.card.buttons["no"].click()
    assert len(desk.called("reject")) == 1


def test_dont_know_asks_it_last_and_later_not_again(qtbot: QtBot, view: QuestionsView) -> None:
    qtbot.keyClick(view.card, Qt.Key.Key_D)
    shows(qtbot, view, "two_people")
    assert [q.kind for q in view.questions] == ["two_people", "link", "name", "same"]
    qtbot.keyClick(view.card, Qt.Key.Key_L)
    shows(qtbot, view, "link")
    view.refresh()
    qtbot.wait(50)
    assert [q.kind for q in view.questions] == ["link", "name", "same"]


def test_the_focus_stays_with_the_questions_when_the_last_card_goes(qtbot: QtBot, view: QuestionsView, people: PeopleView) -> None:
    with qtbot.waitActive(people):
        people.activateWindow()
    qtbot.waitUntil(view.card.hasFocus, timeout=30_000)
    view._later = {q.key for q in view.questions[1:]}
    view.put_off()
    assert not view.questions and view.again.hasFocus()


def test_a_question_about_a_suggested_name_has_one_question_mark(qtbot: QtBot, view: QuestionsView) -> None:
    shown = view.card.shown
    assert shown is not None
    doubted = replace(shown, question=replace(shown.question, kind="two_people"), sides=(replace(shown.sides[0], shown="Ann?"),) * 2)
    view.card.show_question(doubted)
    assert view.card.title.text().count("?") == 1 and "Ann" in view.card.title.text()


def test_what_was_put_off_is_counted_and_can_be_asked_again(qtbot: QtBot, view: QuestionsView, people: PeopleView) -> None:
    for kind in ("same", "two_people", "link", "name"):
        shows(qtbot, view, kind)
        qtbot.keyClick(view.card, Qt.Key.Key_L)
    assert not view.card.isVisible() and "4" in view.none.text() and not view.count.isVisible()
    assert "4" in people.ask.text()  # they are open all the same
    view.again.click()
    shows(qtbot, view, "same")
    assert len(view.questions) == 4 and not view.again.isVisible()


def test_a_card_about_a_voice_speaks_of_the_voice(qtbot: QtBot, view: QuestionsView) -> None:
    qtbot.keyClick(view.card, Qt.Key.Key_L)
    shows(qtbot, view, "two_people")
    shown = view.card.shown
    assert shown is not None and "look" in view.card.title.text()
    voices = tuple(replace(side, items=tuple(replace(i, crop=None, kind="voice") for i in side.items)) for side in shown.sides)
    assert "voice" in view.card._title(replace(shown, sides=voices))


def test_a_question_that_is_gone_is_told_and_the_next_one_shown(qtbot: QtBot, view: QuestionsView, hub: Hub, desk: FakeDesk) -> None:
    desk.accept = lambda n, dry_run=False: _failing(n)  # type: ignore[method-assign, assignment]
    with qtbot.waitSignal(hub.notice) as told:
        view.card.buttons["yes"].click()
    assert "settled" in told.args[1]
    shows(qtbot, view, "same")


def _failing(n: int) -> object:
    from concurrent.futures import Future

    future: Future[object] = Future()
    future.set_exception(CorrectionError(f"suggestion {n} was settled.", "See the list."))
    return future


def test_when_all_is_answered_it_says_so(qtbot: QtBot, view: QuestionsView, world: World, desk: FakeDesk) -> None:
    world.questions.clear()
    desk.emit(events.Suggested(9, 0))
    qtbot.waitUntil(lambda: view.none.isVisible(), timeout=30_000)
    assert not view.card.isVisible()


def test_a_selection_of_faces_can_be_made_somebody_else(qtbot: QtBot, people: PeopleView, desk: FakeDesk) -> None:
    people.open_page("person_2")
    qtbot.waitUntil(lambda: people.page.page is not None and people.page.faces.count() > 1, timeout=30_000)
    people.page.faces.item(0).setSelected(True)
    assert people.page.split.isEnabled()
    chosen = people.page.chosen_faces()
    people.page.split.click()
    assert desk.called("correct")[-1][0] == ("split", {"person": "person_2", "observations": chosen})


def test_an_utterance_that_is_not_theirs_is_one_click_away(qtbot: QtBot, people: PeopleView, hub: Hub, desk: FakeDesk) -> None:
    from m3desk_ui.look import links

    people.open_page("person_2")
    qtbot.waitUntil(lambda: people.page.page is not None, timeout=30_000)
    assert "not Bob" in people.page.voices.toPlainText()
    links.follow(hub, links.href("exclude", "s1.c0.u1", "person_2"))
    assert desk.called("correct")[-1][0] == ("exclude", {"observation": "s1.c0.u1", "person": "person_2"})


def test_the_inspector_says_why_and_what_would_change_it(qtbot: QtBot, hub: Hub) -> None:
    from m3desk_ui.memory.inspector import Inspector

    view = Inspector(hub)
    qtbot.addWidget(view)
    view.show()
    hub.selection.select("observation", "s1.c0.f0")
    qtbot.waitUntil(lambda: "Looks like this face" in view.text.toPlainText(), timeout=30_000)
    assert "s1.c1.f0" not in view.text.toPlainText() and "m3://observation/s1.c1.f0" in view.text.toHtml()
    assert "picture:crop." in view.text.toHtml()
    assert "set it aside" in view.text.toPlainText()


def test_the_inspector_shows_an_observation_while_the_engine_computes_the_reasons(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from m3desk_ui.memory.inspector import Inspector
    from m3desk_ui.memory.reasons import reasons

    asked: list[tuple[str, Future[Verdict]]] = []

    def why(observation: str) -> Future[Verdict]:
        asked.append((observation, Future()))
        return asked[-1][1]

    monkeypatch.setattr(desk, "why", why)
    view = Inspector(hub)
    qtbot.addWidget(view)
    view.show()
    for number, observation in enumerate(("s1.c1.f0", "s1.c0.f0"), 1):
        hub.selection.select("observation", observation)
        qtbot.waitUntil(lambda number=number: len(asked) == number, timeout=30_000)  # type: ignore[misc]
    assert "being computed" in view.text.toPlainText() and "Details" in view.text.toPlainText()
    for observation, future in reversed(asked):  # the first answer comes last: it is of what is no longer shown
        future.set_result(replace(desk.reader().why(observation), votes=(Reason("likeness", None, 0.8, f"as {observation}"),)))
    qtbot.waitUntil(lambda: "as s1.c0.f0" in view.text.toPlainText(), timeout=30_000)
    assert "being computed" not in view.text.toPlainText()
    said = (
        Reason("user", None, 1.0, "user decided so on 2026-11-20 (step 4: her sister)"),
        Reason("name", "s1.c1.f0", 0.2, "named alike: s1.c0.f0 and s1.c1.f0, [00:01–00:02]"),
    )
    rows = " ".join(row.html for row in reasons(desk.reader(), replace(desk.reader().why("s1.c0.f0"), votes=said)))
    assert "You decided so on 2026-11-20: her sister" in rows and "The same name is heard or read of both" in rows
    assert "step 4" not in rows and "named alike" not in rows
    hub.changed.emit(Changed(1, 2, observations=frozenset({"s1.c0.f0"})))
    qtbot.waitUntil(lambda: len(asked) == 3, timeout=30_000)
    assert "as s1.c0.f0" in view.text.toPlainText()
    asked[-1][1].set_exception(CorrectionError("s1.c0.f0 was superseded."))
    qtbot.waitUntil(lambda: "was superseded" in view.text.toPlainText(), timeout=30_000)
    assert [o for o, _ in asked] == ["s1.c1.f0", "s1.c0.f0", "s1.c0.f0"]


def test_speech_is_in_the_order_in_which_it_was_said(desk: FakeDesk, world: World) -> None:
    said = sorted(world.speech, key=lambda r: r.utterance.start)[:3]
    faces = [r.track.id for r in world.tracks[:2]]
    ids = [r.utterance.id for r in said]
    asked = replace(world.questions[0], groups=((ids[2], faces[1], ids[0], faces[0], ids[1]),))
    (side,) = read_sides(desk.reader(), asked).sides
    assert [i.observation for i in side.items] == [faces[1], faces[0], *ids]
