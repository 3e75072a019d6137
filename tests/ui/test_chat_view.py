"""The chat dock: streaming, rounds, citations, absence, quoting, stop, history, @ and spans."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

import pytest
from m3desk_ui.chat.turn import ChatTurn, Round, answer_html, beside, from_chat, marked, sentences
from m3desk_ui.chat.view import ChatView
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTranslator
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea
from pytestqt.qtbot import QtBot

from m3desk import events, paths
from m3desk.control.loop import READ
from m3desk.control.wording import say
from m3desk.domain.changed import Changed
from m3desk.errors import M3DeskError
from tests.ui.fakes import FakeDesk, World

CITED = events.Citation("s1.c1", "s1", 37_000_000, 42_000_000, "m2", "[00:37]")


@pytest.fixture
def view(qtbot: QtBot, hub: Hub) -> ChatView:
    view = ChatView(hub)
    qtbot.addWidget(view)
    view.resize(420, 600)
    view.show()
    qtbot.waitUntil(lambda: view.question.names.rowCount() == 8, timeout=30_000)
    return view


def turns(view: ChatView) -> list[ChatTurn]:
    return view._list.findChildren(ChatTurn)


def quiet(desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let asking only give an id; the test sends the events."""

    def ask(question: str, **how: object) -> str:
        desk._note("ask", question, **how)
        return "a1"

    monkeypatch.setattr(desk, "ask", ask)


def test_an_answer_streams_and_its_citation_seeks_and_plays(qtbot: QtBot, view: ChatView, hub: Hub) -> None:
    qtbot.keyClicks(view.question, "What does Bob drink?")
    qtbot.keyClick(view.question, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(turns(view)) and turns(view)[0].done is not None, timeout=30_000)
    turn = turns(view)[0]
    assert "m3://play/s1/37000000" in turn.answer.text()
    assert len(turn.findChildren(Round)) == 1
    with qtbot.waitSignal(hub.selection.seek) as told:
        turn.answer.linkActivated.emit("m3://play/s1/37000000")
    assert told.args == ["s1", 37_000_000, True]
    assert view.question.text() == ""
    assert not view.asking


def test_pieces_are_shown_as_they_come(qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(desk, monkeypatch)
    view.ask("Who?")
    desk.emit(events.AskStarted("a1", "Who?"), events.AskText("a1", "Ann "), events.AskText("a1", "and Bob"))
    qtbot.waitUntil(lambda: turns(view)[0].answer.text() == "Ann and Bob", timeout=30_000)
    assert view.asking == "a1"
    assert view.go.text() == "Stop"


def test_no_answer_is_cut_when_the_dock_becomes_narrow(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(desk, monkeypatch)
    view.resize(500, 400)
    view.ask("Who?")
    desk.emit(events.AskStarted("a1", "Who?"), events.AskText("a1", "Ann and Bob wait. " * 12))
    desk.emit(events.AskDone("a1", "Ann and Bob wait. " * 12, True, (), "m", 0.1))
    turn = turns(view)[0]
    qtbot.waitUntil(lambda: view.asking == "" and turn.answer.width() > 300, timeout=30_000)
    view.resize(250, 400)
    qtbot.waitUntil(lambda: turn.answer.width() < 240, timeout=30_000)
    room = view.findChild(QScrollArea).viewport()
    assert turn.answer.mapTo(room, turn.answer.rect().bottomRight()).x() < room.width()


def test_a_piece_of_a_long_answer_has_qt_lay_out_nothing_again(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt asks for sizes a dozen times a change: at 500 words each piece cost 12 ms, at 1,500 35 ms."""
    quiet(desk, monkeypatch)
    asked: list[int] = []

    def height(self: plain.RichLabel, width: int) -> int:
        asked.append(width)
        return QLabel.heightForWidth(self, width)

    monkeypatch.setattr(plain.RichLabel, "heightForWidth", height, raising=False)
    view.ask("Who?")
    words = [f"word{n} " for n in range(500)]
    desk.emit(events.AskStarted("a1", "Who?"), *(events.AskText("a1", word) for word in words))
    answer = turns(view)[0].answer
    qtbot.waitUntil(lambda: "word499" in answer.text(), timeout=30_000)
    qtbot.waitUntil(lambda: answer.height() == answer.heightForWidth(answer.width()) > 300, timeout=30_000)
    qtbot.wait(50)
    asked.clear()
    desk.emit(events.AskText("a1", "more " * 50))
    qtbot.waitUntil(lambda: "more" in answer.text() and answer.height() == answer.heightForWidth(answer.width()), timeout=30_000)
    assert asked == []
    like = plain.RichLabel()
    qtbot.addWidget(like)
    like.setWordWrap(True)
    like.setText(answer.text())
    assert answer.height() == QLabel.heightForWidth(like, answer.width())


def test_what_is_being_done_is_said_until_the_answer_comes(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(desk, monkeypatch)
    view.ask("Who?")
    turn = turns(view)[0]
    assert turn.answer.text() == "Searching …"
    qtbot.waitUntil(lambda: turn.answer.text() == "Searching … 1 s", timeout=30_000)
    long = "a long query " * 12
    desk.emit(events.AskRound("a1", 1, "search", long, ("m1", "m2"), ("one", "two"), 0.1))
    qtbot.waitUntil(lambda: turn.answer.text().startswith("Reading 2 memories …"), timeout=30_000)
    row = turn.findChildren(Round)[0]
    assert row.line.wordWrap() and row.line.sizeHint().height() > view.fontMetrics().height()
    row.line.linkActivated.emit("unfold")
    assert row.body.isVisible()
    desk.emit(events.AskRound("a1", 2, "answer", "", (), (), 0.1))
    qtbot.waitUntil(lambda: turn.answer.text().startswith("Writing the answer …"), timeout=30_000)


def test_the_questions_offered_name_somebody_of_this_memory(qtbot: QtBot, view: ChatView, world: World) -> None:
    names = {p.shown.removesuffix("?") for p in world.people if p.name_state != "none"}
    offered = view.hint.text().split("<br><br>", 1)[1]
    assert any(f">What does {name} say?<" in offered for name in names), offered
    view._take_people([])
    assert ">What is talked about?<" in view.hint.text()


def test_stop_works_at_once_and_late_pieces_change_nothing(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(desk, monkeypatch)
    view.ask("Who?")
    desk.emit(events.AskText("a1", "Ann"))
    qtbot.waitUntil(lambda: "Ann" in turns(view)[0].answer.text(), timeout=30_000)
    view.go.click()
    assert desk.called("stop_asking")[0][0] == ("a1",)
    assert not view.asking
    said = turns(view)[0].answer.text()
    desk.emit(events.AskText("a1", " and others"), events.AskDone("a1", "x", True, (), "m", 1.0))
    qtbot.wait(150)
    assert turns(view)[0].answer.text() == said
    assert "stopped" in said


def rename(world: World, person: str, name: str) -> None:
    """Give a person a name, in the list and in every sentence."""
    old = next(p.shown for p in world.people if p.id == person)
    world.people = [replace(p, name=name, shown=name) if p.id == person else p for p in world.people]
    world.sentences = [replace(s, shown=s.shown.replace(old, name)) for s in world.sentences]


def old_answer(world: World) -> dict[str, object]:
    """Return a stored chat whose answer names a person without a name, and cites a sentence about them."""
    cited = next(s for s in world.sentences if s.people == ("person_3",))
    (who,) = (p.shown for p in world.people if p.id == "person_3")
    return {
        "question": "Who?", "answer": f"{who} speaks. [00:01]", "found": True, "marks": ["[00:01]"], "said": [cited.shown],
        "called": {"person_3": who}, "rounds": [], "model": "m", "seconds": 1.0,
        "citations": [{"clip": cited.clip, "source": cited.source, "start": 1.0, "end": 2.0, "node": cited.id}],
    }  # fmt: skip


def test_old_answers_call_people_as_they_are_called_now(qtbot: QtBot, view: ChatView, desk: FakeDesk, world: World) -> None:
    world.chats = [old_answer(world)]
    view.refresh()
    qtbot.waitUntil(lambda: len(turns(view)) == 1 and view.standing.loaded, timeout=30_000)
    turn = turns(view)[0]
    assert "Steen" in turn.answer.text() and "corrected" not in turn.foot.text()
    rename(world, "person_3", "Omar")
    view.hub.changed.emit(Changed(0, 1, people=frozenset({"person_3"})))
    qtbot.waitUntil(lambda: "Omar speaks" in turn.answer.text(), timeout=30_000)
    assert "corrected" not in turn.foot.text() and "m3://play/s1/1000000" in turn.answer.text()


def test_an_answer_whose_evidence_was_corrected_says_so_and_can_be_asked_again(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, world: World
) -> None:
    world.chats = [old_answer(world)]
    view.refresh()
    qtbot.waitUntil(lambda: len(turns(view)) == 1 and view.standing.loaded, timeout=30_000)
    turn, before = turns(view)[0], list(world.sentences)
    node = next(s.id for s in world.sentences if s.people == ("person_3",))
    world.sentences = [replace(s, shown="Ann speaks.", people=("person_1",)) if s.id == node else s for s in world.sentences]
    view.hub.changed.emit(Changed(0, 1, nodes=frozenset({node})))
    qtbot.waitUntil(lambda: "corrected since" in turn.foot.text(), timeout=30_000)
    world.sentences = before  # undone
    view.hub.changed.emit(Changed(0, 1, nodes=frozenset({node})))
    qtbot.waitUntil(lambda: "corrected since" not in turn.foot.text(), timeout=30_000)
    world.people = [p for p in world.people if p.id != "person_3"]
    view.hub.changed.emit(Changed(0, 1, people=frozenset({"person_3"})))
    qtbot.waitUntil(lambda: "corrected since" in turn.foot.text(), timeout=30_000)
    turn.foot.linkActivated.emit("again")
    assert desk.called("ask")[0][0] == ("Who?",)


def test_a_name_with_a_space_is_completed_too(qtbot: QtBot, view: ChatView) -> None:
    qtbot.keyClicks(view.question, "When does @Grace Hop")
    qtbot.keyClick(view.question, Qt.Key.Key_Return)
    assert view.question.text() == "When does Grace Hopper"
    qtbot.keyClicks(view.question, " sit @ the table?")
    assert not view.question._popup.isVisible()


def test_not_in_this_memory_looks_different(qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(desk, monkeypatch)
    view.ask("Where is the elephant?")
    desk.emit(events.AskDone("a1", "No memory speaks of an elephant.", False, (), "m", 1.0))
    qtbot.waitUntil(lambda: turns(view)[0].done is not None, timeout=30_000)
    assert "Not in this memory" in turns(view)[0].answer.text()
    assert "dashed" in turns(view)[0].answer.styleSheet()


def test_an_answer_that_quotes_nothing_says_why_the_model_is_offered(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(desk, monkeypatch)
    view.ask("Tea?")
    desk.emit(events.AskDone("a1", say("absent", "en"), False, (), "quoting", 1.0, quoted=True))
    qtbot.waitUntil(lambda: turns(view)[0].done is not None, timeout=30_000)
    foot = turns(view)[0].foot.text()
    assert "no language model" in foot and "download" in foot


def test_quoted_answers_say_so_and_offer_the_model(qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(desk, monkeypatch)
    view.ask("Tea?")
    told = say("quoting", "en") + "Bob asks for tea. [00:37]"
    desk.emit(events.AskDone("a1", told, True, (CITED,), "quoting", 1.0, quoted=True))
    qtbot.waitUntil(lambda: turns(view)[0].done is not None, timeout=30_000)
    foot = turns(view)[0].foot
    assert "quoted" in foot.text() and "download" in foot.text()
    said = f"{turns(view)[0].answer.text()} {foot.text()}".casefold()
    assert said.count("no language model") == 1, "the answer says it, the offer does not repeat it"
    with qtbot.waitSignal(turns(view)[0].download_wanted):
        foot.linkActivated.emit("download")
    monkeypatch.setattr(desk, "ask", lambda *_args, **_kwargs: "a2")
    view.ask("Coffee?")
    desk.emit(events.AskDone("a2", "Bob asks for coffee. [00:37]", True, (CITED,), "quoting", 1.0, quoted=True))
    qtbot.waitUntil(lambda: turns(view)[1].done is not None, timeout=30_000)
    assert "download" in foot.text() and "download" not in turns(view)[1].foot.text(), "it is offered once in a session"


def test_of_a_live_source_no_end_is_asked_about(qtbot: QtBot, view: ChatView, desk: FakeDesk) -> None:
    assert "at the end" in view.hint.text()
    desk.emit(events.LiveStarted("s9", "camera:0", "preview"))
    qtbot.waitUntil(lambda: "in the last minute" in view.hint.text(), timeout=30_000)
    assert "at the end" not in view.hint.text()
    desk.emit(events.LiveEnded("s9", "stopped"))
    qtbot.waitUntil(lambda: "at the end" in view.hint.text(), timeout=30_000)


def test_what_answered_without_a_model_is_told_in_the_windows_language(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(desk, monkeypatch)
    view.ask("Tea?")
    monkeypatch.setattr(type(turns(view)[0]), "tr", lambda _turn, text: f"«{text}»")
    desk.emit(events.AskDone("a1", "Bob. [00:37]", True, (CITED,), READ, 1.0))
    qtbot.waitUntil(lambda: turns(view)[0].done is not None, timeout=30_000)
    assert turns(view)[0].foot.text() == f"«{READ}» · 1.0 s"


def test_an_error_is_the_answer_of_its_turn(qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(desk, monkeypatch)
    view.ask("Who?")
    desk.emit(events.AskDone("a1", "", False, (), "", 0.0, error="The model <b>failed</b>."))
    qtbot.waitUntil(lambda: turns(view)[0].done is not None, timeout=30_000)
    assert "&lt;b&gt;" in turns(view)[0].answer.text()


def test_a_desk_that_refuses_is_a_notice_and_the_question_stays(
    qtbot: QtBot, view: ChatView, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_a: object, **_k: object) -> str:
        raise M3DeskError("The engine is not ready.")

    monkeypatch.setattr(desk, "ask", refuse)
    view.question.setText("Who?")
    with qtbot.waitSignal(hub.notice):
        view.send()
    assert view.question.text() == "Who?"


def test_at_completes_people(qtbot: QtBot, view: ChatView) -> None:
    qtbot.keyClicks(view.question, "What does @Bo")
    assert view.question.people.currentCompletion() == "Bob"
    view.question._insert("Bob")
    assert view.question.text() == "What does Bob"


def test_a_chosen_span_is_asked_in_and_can_be_dropped(qtbot: QtBot, view: ChatView, hub: Hub, desk: FakeDesk) -> None:
    hub.selection.span.emit("s1", 30_000_000, 70_000_000)
    assert "00:30–01:10" in view.about.text()
    view.ask("What happens?")
    assert desk.called("ask")[0][1] == {"source": "s1", "start": 30_000_000, "end": 70_000_000}
    view.about.click()
    assert hub.selection.chosen_span is None
    assert view.about.isHidden()


def test_history_is_shown_in_order_and_stays_with_the_memory(qtbot: QtBot, hub: Hub, world: World) -> None:
    cited = {"clip": "s1.c1", "source": "s1", "start": 37.0, "end": 42.0, "node": "m2"}
    round_ = {"action": "search", "query": "x", "results": ["m2"], "seconds": 0.1}
    rest = {"answer": "It is so [00:37].", "found": True, "rounds": [round_], "citations": [cited], "model": "m", "seconds": 1.0}
    world.chats = [{"question": f"q{i}", **rest} for i in range(45)]
    view = ChatView(hub)
    qtbot.addWidget(view)
    view.resize(400, 500)
    qtbot.waitUntil(lambda: len(turns(view)) == 40, timeout=30_000)
    in_order = [view._column.itemAt(i).widget() for i in range(view._column.count())]
    assert [t.question for t in in_order if isinstance(t, ChatTurn)] == [f"q{i}" for i in range(5, 45)]
    assert "m3://play/s1/37000000" in turns(view)[0].answer.text()
    view.earlier.click()
    assert len(turns(view)) == 45
    hub.open(None)
    qtbot.waitUntil(lambda: not turns(view), timeout=30_000)


def test_hovering_a_citation_shows_the_picture_of_that_moment(qtbot: QtBot, view: ChatView, hub: Hub) -> None:
    view._hover("m3://play/s1/37000000", CITED)
    qtbot.waitUntil(lambda: view._peek.isVisible() and not view._peek.pixmap().isNull(), timeout=30_000)
    assert hub.desk.called("picture")[-1][0] == (CITED.source, CITED.start)  # type: ignore[union-attr]
    view._hover("", None)
    assert not view._peek.isVisible()


def test_a_picture_asked_for_before_something_was_erased_is_not_shown_after(qtbot: QtBot, view: ChatView, hub: Hub) -> None:
    before: Future[bytes | None] = Future()
    after: Future[bytes | None] = Future()
    content, left = hub.desk.picture("s1", 1).result(), [before, after]  # type: ignore[union-attr]
    hub.desk.picture = lambda *_given, **_more: left.pop(0)  # type: ignore[union-attr, method-assign]
    view._hover("m3://play/s1/37000000", CITED)
    hub.erased.emit(events.Erased("s1", 0, 10**12, recording=True, memory=True))
    view._hover("m3://play/s1/37000000", CITED)
    before.set_result(content)
    qtbot.wait(50)
    assert not view._peek.isVisible()
    after.set_result(content)
    qtbot.waitUntil(lambda: view._peek.isVisible(), timeout=30_000)


def test_without_its_video_a_citation_shows_the_picture_of_its_clip(qtbot: QtBot, view: ChatView, hub: Hub) -> None:
    gone: Future[bytes | None] = Future()
    gone.set_result(None)
    hub.desk.picture = lambda *_given, **_more: gone  # type: ignore[union-attr, method-assign]
    view._hover("m3://play/s1/37000000", CITED)
    qtbot.waitUntil(lambda: view._peek.isVisible() and not view._peek.pixmap().isNull(), timeout=30_000)


@pytest.mark.parametrize(
    ("pointer", "place"), [((100, 100), (114, 118)), ((790, 100), (576, 118)), ((100, 590), (114, 452)), ((5, 5), (19, 23))]
)
def test_a_popup_near_an_edge_stays_on_the_screen(pointer: tuple[int, int], place: tuple[int, int]) -> None:
    assert beside(QPoint(*pointer), QSize(200, 120), QRect(0, 0, 800, 600)) == QPoint(*place)


def test_a_proposed_question_is_put_into_the_box(view: ChatView, hub: Hub) -> None:
    hub.selection.asked_about.emit("Why?")
    assert view.question.text() == "Why?"


def test_sentences_keep_their_marks_and_quotations_whole() -> None:
    answer = "Bob says “Thanks, Ann. I would like tea.” [00:37] It is green. [00:40] [00:41]\nMaybe."
    assert "".join(sentences(answer)) == answer
    assert [s.strip() for s in sentences(answer)] == [
        "Bob says “Thanks, Ann. I would like tea.” [00:37]",
        "It is green. [00:40] [00:41]",
        "Maybe.",
    ]
    answer = "Best. Ann says, 'That's nice. Isn't it?' [00:10] The girls' mugs. Bob replies \"Go. Now.\" [00:20]"
    assert [s.strip() for s in sentences(answer)] == [
        "Best.",
        "Ann says, 'That's nice. Isn't it?' [00:10]",
        "The girls' mugs.",
        'Bob replies "Go. Now." [00:20]',
    ]
    for answer in ("Ann? speaks at 00:28–00:35 [00:28].", "Ann?说话的时间是00:28–00:35 [00:28]。", "It introduces Ann?: “ANN” [00:30]."):
        assert sentences(answer) == [answer]  # the mark of a suggested name
    for said in ("Ann likes the '90s [00:01]. ", "Ann plays rock 'n' roll [00:01]. ", "'Tis late [00:01]. ", "In '68 it began [00:01]. "):
        assert sentences(f"{said}Bob sings [00:05].") == [said, "Bob sings [00:05]."]  # an apostrophe where something is left out
    assert sentences("Is it? Nobody knows. [00:10]") == ["Is it? ", "Nobody knows. [00:10]"]


def test_sentences_without_a_source_are_set_apart_where_others_cite() -> None:
    html = answer_html("Bob drinks tea [00:37]. He is kind.", (CITED,), "#888888")
    assert html.count("<i ") == 1
    assert "He is kind" in html.split("<i ")[1]


def test_what_a_model_writes_cannot_become_markup() -> None:
    html, cited = marked("<script>x</script> [00:37]", (CITED,))
    assert cited
    assert "<script" not in html


def test_a_stored_chat_may_lack_anything() -> None:
    question, rounds, done = from_chat({"question": "Who?"})
    assert (question, rounds, done.answer, done.citations) == ("Who?", [], "", ())


def test_damaged_fields_of_a_stored_chat_count_as_absent() -> None:
    question, rounds, done = from_chat(
        {
            "question": "Who?", "answer": "Ann [00:10].", "called": ["person_1"], "seconds": "x", "model": 7, "marks": 3, "said": {"a": 1},
            "citations": ["c1", None, {"source": "s1", "start": "soon", "end": [1], "node": 5, "mark": []},
                          {"source": "s1", "start": 1e400}],
            "rounds": [5, {"results": 3, "shown": None, "seconds": [], "query": {}, "action": None}],
        }
    )  # fmt: skip
    assert (question, done.answer, done.called, done.seconds, done.model) == ("Who?", "Ann [00:10].", (), 0.0, "")
    assert [(c.source, c.start, c.end, c.node, c.mark) for c in done.citations] == [("s1", 0, 0, None, "[00:00]")] * 2
    assert [(r.number, r.action, r.query, r.results, r.seconds) for r in rounds] == [(1, "search", "", (), 0.0)]
    assert from_chat({"question": ["Who?"], "citations": 5, "rounds": {"a": 1}})[:2] == ("", [])


def test_a_question_that_is_refused_says_why_in_the_chat_and_stays_in_the_box(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_ = "why " * 5000
    quiet(desk, monkeypatch)
    view.ask(long_)
    desk.emit(events.AskDone("a1", "", False, (), "", 0.0, error="This question is too long. Ask in fewer words."))
    qtbot.waitUntil(lambda: view.asking == "", timeout=30_000)
    assert "Ask in fewer words." in turns(view)[0].answer.text()
    assert len(turns(view)[0].asked.text()) <= 2100 and view.question.text() == long_


def test_the_time_of_an_answer_is_what_the_user_waited(qtbot: QtBot) -> None:
    turn = ChatTurn("Who?")
    qtbot.addWidget(turn)
    turn._since -= 14.0  # models were loaded first
    turn.take(events.AskDone("a1", "Ann.", True, (), "qwen", 0.02))
    assert "qwen · 14." in turn.foot.text()


@pytest.mark.parametrize(
    ("seconds", "known", "told"),
    [
        (12, True, "先记录最后 12 秒。"),
        (1, True, "先记录最后 1 秒。"),
        (40, False, "最后 40 秒还没有记录：只知道其中的人名和字幕。"),
        (1, False, "最后 1 秒还没有记录：只知道其中的人名和字幕。"),
    ],
)
def test_what_a_question_waits_for_is_told_in_the_windows_language(qtbot: QtBot, seconds: int, known: bool, told: str) -> None:
    chinese, app = QTranslator(), QApplication.instance()
    assert app is not None and chinese.load(str(paths.resources() / "translations" / "m3desk_zh_CN.qm"))
    app.installTranslator(chinese)
    try:
        turn = ChatTurn("刚才说了什么？")
        qtbot.addWidget(turn)
        turn.take(events.AskWaits("a1", seconds, known))
        assert turn.answer.text().startswith(told) and told in [label.text() for label in turn.findChildren(plain.Label)]
    finally:
        app.removeTranslator(chinese)


def test_a_question_that_waits_for_the_last_seconds_of_a_live_source_says_so(
    qtbot: QtBot, view: ChatView, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(desk, monkeypatch)
    view.ask("What was just said?")
    turn, text = turns(view)[0], "Memorizing the last 12 seconds first."
    desk.emit(events.AskStarted("a1", "What was just said?"), events.AskWaits("a1", 12, known=True))
    qtbot.waitUntil(lambda: turn.answer.text().startswith(text), timeout=30_000)
    desk.emit(events.AskText("a1", "Hello."))
    qtbot.waitUntil(lambda: turn.answer.text() == "Hello.", timeout=30_000)
    assert text in [label.text() for label in turn.findChildren(plain.Label)]
