"""Follow-ups: "then" is what follows the cited moment, "she" whom the last answer names; what was read so is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m3desk.control.basis import with_basis
from m3desk.control.follow_up import FollowUp, follow_up, refers_back
from m3desk.control.loop import answer, as_chat
from m3desk.control.query import NameFinder
from m3desk.domain.people import Person
from m3desk.events import AskDone
from tests.control.made import MadeReader, Scripted, chinese, english, person, searching


def talk(reader: MadeReader, folder: Path, *questions: str, model: Any = None) -> list[AskDone]:
    """Ask one question after the other; return the answers."""
    search, chats, answers = searching(reader, folder), [], []
    for n, question in enumerate(questions):
        *_, done = answer(question, search, model if n == len(questions) - 1 else None, chats=lambda: chats)
        assert isinstance(done, AskDone)
        answers.append(with_basis(done, search.people, reader))  # type: ignore[arg-type]
        chats.append(as_chat(question, [], answers[-1], "2026-01-01"))
    return answers


def at(done: AskDone) -> list[float]:
    return [c.start / 1e6 for c in done.citations]


@pytest.mark.parametrize(
    ("first", "then", "holds", "times"),
    [
        ("Who speaks first?", "And what does she say then?", "Ann Lee says: “Bin blue at F two now.” [01:33]", [93]),
        ("Who speaks first?", "What does she say after that?", "Ann Lee says: “Bin blue", [93]),
        ("Who speaks first?", "Who speaks then?", "Jeff Steen? speaks next: “Welcome to the show", [5]),
        ("Who speaks first?", "And then?", "Jeff Steen? speaks next", [5]),
        ("Who says my flight?", "Who speaks next?", "Person 4 speaks next: “Please close the door.” [01:02]", [62]),
        ("Who mentions Zurich?", "Who comes into view next?", "Ann Lee comes into view next [01:32]", [92]),
        ("Who speaks first?", "What does she say?", "Ann Lee says: “The red mug is on the shelf in the kitchen.” [00:01]", [1, 93]),
        ("Where is Ann first seen?", "When does she speak next?", "Ann Lee speaks at 01:33–01:36", [93]),
        ("Who speaks last?", "What did he say before that?", "Ann Lee says: “The red mug", [1]),
        ("What does Person 3 say?", "Who is there at that moment?", "One person appears: Person 3", [33]),
        ("Who speaks first?", "Who speaks after her?", "Jeff Steen? speaks next", [5]),
        ("Who mentions the budget?", "What is his name?", "Person 2 is introduced as Jeff Steen", [4, 4, 5]),
        ("Who mentions Zurich?", "Who is that?", "Person 3 is seen once", [33, 35]),
        ("Who speaks at 0:35?", "What happens then?", "Please close the door", None),
        ("Who speaks last?", "Who is she?", "Ann Lee is seen 2 times", [0, 92, 1, 1]),
        ("Who mentions Zurich?", "What is on the screen then?", "On the screen one reads “Room 12” [01:35]", [95]),
    ],
)
def test_a_follow_up_is_about_the_last_answer(tmp_path: Path, first: str, then: str, holds: str, times: list[float] | None) -> None:
    _, done = talk(english(), tmp_path, first, then)
    assert holds in done.answer and times in (None, at(done)) and done.found and "read as" in done.answer


@pytest.mark.parametrize(
    ("first", "then", "holds", "times"),
    [
        ("谁最先说话？", "然后谁说话？", "接着说话的是Person 2：“我们明天下午去苏黎世。” [00:13]", [13]),
        ("谁最先说话？", "然后呢？", "接着说话的是Person 2", [13]),
        ("谁最先说话？", "她说了什么？", "李明说：“红色的杯子在厨房的架子上。” [00:01]", [1]),
        ("谁最先说话？", "之后大家说了什么？", "Person 2说：“我们明天下午去苏黎世。” [00:13]", [13]),
        ("谁最先说话？", "她叫什么名字？", "李明出现了一次", [0, 1]),
        ("谁最先说话？", "接下来发生了什么？", "按时间顺序", [12, 13]),
        ("谁提到了苏黎世？", "在那之前谁说话？", "有一个人说话：李明 [00:01]", [1]),
    ],
)
def test_a_follow_up_in_chinese_is_about_the_last_answer(tmp_path: Path, first: str, then: str, holds: str, times: list[float]) -> None:
    _, done = talk(chinese(), tmp_path, first, then)
    assert holds in done.answer and at(done) == times and "指" in done.answer


def test_what_happens_then_is_told_from_the_cited_moment_on(tmp_path: Path) -> None:
    reader = english()
    for n in range(20):
        reader.tell(f"Door {n} opens.", 40 + n, 41 + n, event="text")
    _, done = talk(reader, tmp_path, "Who mentions Zurich?", "What happens then?")
    assert at(done) == list(range(40, 48)) and "“Then” is read as after 00:38." in done.answer


def test_each_and_then_goes_on(tmp_path: Path) -> None:
    *_, third, fourth, fifth = talk(english(), tmp_path, "Who speaks first?", "And then?", "then?", "And then?", "And then?")
    assert [at(d) for d in (third, fourth, fifth)] == [[35], [62], [93]]


def test_a_bare_then_that_finds_nothing_tells_what_happens(tmp_path: Path) -> None:
    _, done = talk(english(), tmp_path, "What does Person 3 say?", "And then?")
    assert done.found and "Please close the door" in done.answer and at(done)[0] >= 33 and "Person 3" not in done.answer.split("(“Then”")[1]


def test_who_else_leaves_out_whom_the_last_answer_names(tmp_path: Path) -> None:
    _, done = talk(english(), tmp_path, "Who is in view at 0:03?", "Who else appears?")
    assert done.answer.startswith("One person appears: Person 3 [00:33].") and "“Else” leaves out Ann Lee and Jeff Steen?." in done.answer
    _, done = talk(english(), tmp_path, "Who speaks first?", "Who else speaks?")
    assert done.answer.startswith("Three people speak: Jeff Steen? [00:05], Person 3 [00:35]")
    _, done = talk(english(), tmp_path, "Who speaks?", "Who else speaks?")
    assert done.answer.startswith("Nobody else is heard.") and not done.found
    (done,) = talk(english(), tmp_path, "Who else speaks?")
    assert done.answer.startswith("Four people speak")
    _, done = talk(chinese(), tmp_path, "谁最先说话？", "还有谁说话？")
    assert "有一个人说话：Person 2 [00:13]" in done.answer and "“还”不包括李明" in done.answer


def test_who_several_are_is_told_of_each(tmp_path: Path) -> None:
    _, done = talk(english(), tmp_path, "Who appears?", "Who are they?")
    assert all(
        name in done.answer for name in ("Ann Lee is seen 2 times", "introduced as Jeff Steen", "Person 3 is seen once", "Person 4 says")
    )


def test_whom_several_fit_is_told(tmp_path: Path) -> None:
    _, done = talk(english(), tmp_path, "Who appears?", "What do they say?")
    assert "“They” is read as Ann Lee, Jeff Steen?, Person 3 and Person 4." in done.answer and at(done) == [1, 5, 35, 62, 93]
    _, done = talk(english(), tmp_path, "Who is in view at 0:40?", "What does he say?")
    assert at(done) == [35] and "“He” is read as Person 3." in done.answer


def talkers() -> MadeReader:
    """Ann, Bob and one without a name, of whom Bob speaks of Ann."""
    r = MadeReader(person(1, "Ann Lee"), person(2, "Bob"), person(3))
    r.hear(1, "Where is the green box?", 1, 4)
    r.hear(2, "Ann keeps it under the table.", 6, 9)
    r.hear(2, "It rains today.", 12, 14)
    r.hear(3, "Is Bob right?", 16, 18)
    r.tell("The green boxes are open.", 20, 24)
    r.tell("The green boxes stand under the table.", 26, 28)
    return r


@pytest.mark.parametrize(
    ("first", "then", "answer"),
    [
        (
            "Who speaks first?",
            "What does Bob say about her?",
            "Bob says: “Ann keeps it under the table.” [00:06]\n(“Her” is read as Ann Lee.)",
        ),
        ("Who mentions Ann?", "What does Ann say about him?", "Ann Lee is not heard naming Bob.\n(“Him” is read as Bob.)"),
        ("Who speaks last?", "What does she say about Bob?", "Person 3 says: “Is Bob right?” [00:16]\n(“She” is read as Person 3.)"),
        ("Who speaks last?", "What does Bob say about her?", "(“Her” is read as Person 3.)"),
        ("Who speaks first?", "And who asks Bob about him?", "(“Him” is read as Ann Lee.)"),
        ("谁最先说话？", "Bob怎么说她？", "Bob说：“Ann keeps it under the table.” [00:06]\n(“她”指Ann Lee。)"),
        ("Who speaks first?", "What does Bob say about her box?", ""),
    ],
)
def test_her_beside_a_named_person_is_somebody_else(tmp_path: Path, first: str, then: str, answer: str) -> None:
    _, done = talk(talkers(), tmp_path, first, then)
    assert answer in done.answer if answer else "read as" not in done.answer


def test_whom_her_means_is_the_only_other_person_or_is_told_to_be_unknown(tmp_path: Path) -> None:
    (done,) = talk(talkers(), tmp_path, "What does Bob say about her?")
    assert "(Whom “her” means is not known, so it limits nothing.)" in done.answer and at(done) == [6, 12]
    reader = MadeReader(person(1, "Ann Lee"), person(2, "Bob"))
    reader.hear(2, "Ann keeps it under the table.", 6, 9)
    reader.hear(2, "It rains today.", 12, 14)
    (done,) = talk(reader, tmp_path, "What does Bob say about her?")
    assert "“Her” is read as Ann Lee." in done.answer and at(done) == [6]


@pytest.mark.parametrize(
    ("first", "then", "read"),
    [
        ("Where are the green boxes?", "Are they open?", "“They” is read as the green boxes."),
        ("Where are the boxes?", "Who opens them?", "“Them” is read as the boxes."),
        ("Where are the green boxes?", "What do they say?", ""),
        ("Who speaks first?", "Are they there?", "“They” is read as Ann Lee."),
        ("How many people speak?", "Are they there?", "“They” is read as Ann Lee, Bob and Person 3."),
    ],
)
def test_they_are_the_things_that_were_asked_of(tmp_path: Path, first: str, then: str, read: str) -> None:
    _, done = talk(talkers(), tmp_path, first, then)
    assert read in done.answer and (read or "boxes.)" not in done.answer)


def test_they_stay_the_same_things_in_the_next_question(tmp_path: Path) -> None:
    *_, done = talk(talkers(), tmp_path, "Where are the green boxes?", "Are they open?", "Where do they stand?")
    assert "“They” is read as the green boxes." in done.answer and 26 in at(done)


def test_whose_words_are_quoted_only_is_not_meant(tmp_path: Path) -> None:
    reader = MadeReader(person(1, "Ann Lee"), person(2, "Bob"))
    reader.hear(1, "Where is Bob today?", 1, 4)
    reader.hear(2, "Here.", 6, 7)
    _, done = talk(reader, tmp_path, "Who speaks first?", "What does she say?")
    assert at(done) == [1] and "“She” is read as Ann Lee." in done.answer


def test_without_an_answer_before_that_is_told(tmp_path: Path) -> None:
    (done,) = talk(english(), tmp_path, "What does she say then?")
    assert "No answer before cites a moment" in done.answer and "so “she” is everybody" in done.answer and done.found
    (done,) = talk(chinese(), tmp_path, "她然后说了什么？")
    assert "所以“她”指所有人" in done.answer and done.found


def test_an_answer_that_tells_nothing_is_passed_over(tmp_path: Path) -> None:
    *_, done = talk(english(), tmp_path, "Who mentions Zurich?", "Is there a giraffe?", "What does he say?")
    assert at(done) == [35]


@pytest.mark.parametrize(
    "question",
    [
        "Who appears?",
        "What is next to the mug?",
        "What had happened by the end?",
        "Who says “and then she left”?",
        "What other people are there?",
        "其他人说了什么？",
        "谁在弹吉他？",
        "1分30秒之后谁说话？",
        "会议之后谁说话？",
        "Theme of the film",
        "How many people raise their hands?",
        "What does the man say about his flight?",
        "Who raises his hand?",
        "Who speaks at the same time as Ann?",
        "那个人工智能说了什么？",
        "当时间到了谁说话？",
        "这后面是什么？",
    ],
)
def test_a_question_that_stands_alone_is_read_alone(question: str) -> None:
    assert not refers_back(question)


@pytest.mark.parametrize("question", ["What does Ann say about her mug?", "Who says that he leaves then?", "What happens then at 0:01?"])
def test_what_a_question_itself_names_comes_first(tmp_path: Path, question: str) -> None:
    _, done = talk(english(), tmp_path, "Who mentions Zurich?", question)
    assert not any(f"“{word}” is read as" in done.answer.lower() for word in ("her", "he", "then"))


@pytest.mark.parametrize(
    "question",
    [
        "How many people are visible at the same time?",
        "Are Ann Lee and Jeff Steen seen at the same time?",
        "Who comes in and then sits down?",
        "Then who is Ann Lee?",
        "Who looks after Ann Lee and then sits down?",
        "两个人同时出现吗？",
        "谁先进来然后出去？",
    ],
)
def test_a_word_of_the_question_itself_is_no_follow_up(tmp_path: Path, question: str) -> None:
    _, done = talk(english(), tmp_path, "Who speaks last?", question)
    assert "read as" not in done.answer and "指" not in done.answer


def test_then_who_is_she_asks_of_no_time(tmp_path: Path) -> None:
    _, done = talk(english(), tmp_path, "Who speaks last?", "Then who is she?")
    assert done.answer.startswith("Ann Lee is seen 2 times") and "“Then”" not in done.answer


def test_whom_only_the_note_of_an_answer_names_is_not_meant(tmp_path: Path) -> None:
    *_, done = talk(english(), tmp_path, "Who speaks first?", "Who else speaks?", "What do they say?")
    assert at(done) == [5, 35, 62]


def test_a_model_is_asked_the_question_as_it_was_read(tmp_path: Path) -> None:
    model = Scripted("Action: [Answer]\nContent: NOT IN MEMORY")
    talk(english(), tmp_path, "Who speaks first?", "Why does she keep the red mug there?", model=model)
    assert "Why does <character_1> keep the red mug" in model.asked[0][-1].text


def test_at_which_second_somebody_appears_is_a_moment(tmp_path: Path) -> None:
    (done,) = talk(english(), tmp_path, "How many minutes into the video does Person 3 appear?")
    assert done.answer.startswith("Person 3 is seen at 00:33")
    (done,) = talk(chinese(), tmp_path, "李明在第几秒出现？")
    assert done.found and "00:00" in done.answer


def test_who_was_merged_or_hidden_since_the_answer(tmp_path: Path) -> None:
    reader = english()
    first, second = talk(reader, tmp_path, "Who speaks first?", "Who mentions Zurich?")
    chats = [as_chat("Who speaks first?", [], first, "2026-01-01"), as_chat("Who mentions Zurich?", [], second, "2026-01-01")]
    people = searching(reader, tmp_path).people
    ann = next(p for p in people if p.shown == "Ann Lee")
    rest = [p for p in people if p.id not in (ann.id, "person_3")]

    def put(*now: Person) -> FollowUp:
        return follow_up("What does he say?", chats, now, reader.sources(), NameFinder.of(now))

    assert put(*rest, ann, person(3)).question == "What does person_3 say?"
    assert put(*rest, replace(ann, aliases=("person_3",))).question == "What does person_1 say?", "merged"
    assert put(*rest, ann).question == "What does he say?", "hidden: whom an older answer names is not meant"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Who speaks first?", "What does Bob have with him?"),
        ("Who speaks first?", "Who sits near Bob and talks to him?"),
        ("Who speaks first?", "What does Bob do when Ann talks to him?"),
        ("谁最先说话？", "谁坐在Bob旁边跟他说话？"),
    ],
)
def test_her_may_be_who_is_named(tmp_path: Path, first: str, then: str) -> None:
    _, done = talk(talkers(), tmp_path, first, then)
    assert "read as" not in done.answer and "指" not in done.answer and "not known" not in done.answer


def test_a_verb_names_no_things(tmp_path: Path) -> None:
    _, done = talk(talkers(), tmp_path, "Who is the man who speaks?", "What do they wear?")
    assert "read as the" not in done.answer
