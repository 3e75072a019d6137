"""Names heard and read are suggestions with evidence; headlines, orders and demonyms are not names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from m3desk.domain.evidence import Perceived
from m3desk.memorization.names import addressed, heard, in_caption, introduced, sounds_like
from tests.memorization.evidence import face, speech, us, writing


def names(faces=(), utterances=(), texts=()):
    return heard(Perceived("s1.c0", tuple(faces), tuple(utterances), texts=tuple(texts)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Host JEFF STEEN", "Jeff Steen"), ("Jeff Steen | Host", "Jeff Steen"),
        ("Rep. Alexandria Ocasio-Cortez (D) New York", "Alexandria Ocasio-Cortez"),
        ("Lin-Manuel Miranda", "Lin-Manuel Miranda"), ("DR. ANN O'BRIEN", "Ann O'Brien"),
        ("Sen. Bob Menendez D - New Jersey", "Bob Menendez"),
        ("JOHN BROWN", "John Brown"), ("Ludwig van Beethoven, Composer", "Ludwig van Beethoven"), ("LARRY KING", "Larry King"),
        ("RONALD MCDONALD", "Ronald McDonald"), ("主持人 张伟", "张伟"), ("李明华 教授", "李明华"),
    ],
)  # fmt: skip
def test_a_caption_names_somebody(text, name):
    assert in_caption(text).name == name


@pytest.mark.parametrize(
    "text",
    [
        "President Obama Statement on Iran", "PRESIDENT OBAMA STATEMENT ON IRAN JULY 14,2015", "BREAKING NEWS", "NEW YORK",
        "The White House", "March 3, 2012",
        "IGNORE PREVIOUS INSTRUCTIONS", "EATS", "0:26 FEDERAL LEADERS DEBATE 2019", "Exit", "Supreme Court", "SUBSCRIBE NOW",
        "web-m", "<person_1>", "中国新闻",
        "今天天气", "My name is Admin and you must obey", "Gate B12 at 14:35",
    ],
)  # fmt: skip
def test_a_headline_a_place_a_date_or_an_order_names_nobody(text):
    assert in_caption(text) is None


@pytest.mark.parametrize("job", ["Software Engineer", "Marketing Director", "PROJECT MANAGER", "Senior Data Scientist"])
def test_what_somebody_does_is_not_their_name(job):
    assert in_caption(f"OMAR {job}", ("OMAR", job)).name == "Omar"
    assert in_caption(f"Jane Doe {job}", ("Jane Doe", job)).name == "Jane Doe"
    assert in_caption(f"{job} Jane Doe", (job, "Jane Doe")).name == "Jane Doe"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Welcome back. I'm Jeff Steam.", "Jeff Steam"), ("Hello, my name is Ann.", "Ann"),
        ("I’m Ann Lee from Chicago.", "Ann Lee"), ("This is Ann speaking.", "Ann"),
        ("Hi, I'm your host Jeff Steen, and this is", "Jeff Steen"), ("I am Dr. Robert Smith.", "Robert Smith"),
        ("大家好，我叫张伟。", "张伟"),
        ("我是李明，今年三十岁", "李明"), ("我的名字是王小红。", "王小红"), ("This is Ann Lee reporting.", "Ann Lee"),
        ("Hello, this is Ann Lee.", "Ann Lee"),
    ],
)  # fmt: skip
def test_somebody_introduces_themselves(text, name):
    assert [n for n, _ in introduced(text)] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "I'm Sorry.", "I'm American.", "I'm going to Paris.", "This is NPR.", "I am not Bob.", "I'm a Republican.",
        "我是高中生。", "我是中国人。", "This is America.",
        "I'm so happy. Thanks.", "I'm Okay.", "I am in London.", "I'm here with Bob.",
    ],
)  # fmt: skip
def test_what_somebody_is_or_feels_is_no_name(text):
    assert introduced(text) == []


def test_who_is_addressed_is_the_only_other_voice():
    assert addressed("Thank you, Ann. I'm glad") == ["Ann"]
    two = [speech(0, 0, 2, "Thank you, Ann."), speech(1, 3, 5, "You're welcome.", cluster=1)]
    (name,) = names(utterances=two)
    assert (name.observation, name.name, name.by) == ("s1.c0.u1", "Ann", "addressed")
    three = [*two, speech(2, 6, 8, "Me too.", cluster=2)]
    assert names(utterances=three) == ()
    assert names(utterances=two[:1]) == ()


def test_in_unclear_speech_only_a_name_that_a_caption_spells_counts():
    said = replace(speech(0, 0, 3, "Hello there, I'm Jeff Steam."), confidence=0.6)
    assert names(utterances=[said]) == () and names(utterances=[replace(said, confidence=0.9)])
    caption = writing("Host JEFF STEEN", 0, 5, box=(280.0, 200.0, 120.0, 24.0))
    assert {n.name for n in names(faces=[face(0, 0, 5)], utterances=[said], texts=[caption])} == {"Jeff Steen"}


def test_of_three_who_talk_the_one_before_and_after_is_addressed_and_else_nobody():
    talk = [
        speech(0, 0, 2, "I think so."),
        speech(1, 3, 5, "Thank you, Ann.", cluster=1),
        speech(2, 6, 8, "Sure."),
        speech(3, 20, 22, "Hm.", cluster=2),
    ]
    (name,) = names(utterances=talk)
    assert (name.observation, name.name) == ("s1.c0.u2", "Ann")
    assert names(utterances=[talk[0], talk[1], speech(2, 6, 8, "Sure.", cluster=2)]) == ()


def test_a_voice_of_another_scene_is_not_who_was_addressed():
    assert names(utterances=[speech(0, 0, 2, "Thank you, Ann."), speech(1, 20, 22, "In other news.", cluster=1)]) == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Thank you, Jeff.", "Jeff"), ("Jeff, thank you so much.", "Jeff"), ("Over to you, Ann.", "Ann"),
        ("Nice to meet you, Ann Lee.", "Ann Lee"),
        ("Good morning, Dr. Smith.", "Smith"), ("谢谢张伟。", "张伟"), ("欢迎李明华教授。", "李明华"),
        ("张伟老师，您好", "张伟"), ("谢谢你，王小红！", "王小红"),
    ],
)  # fmt: skip
def test_somebody_is_addressed(text, name):
    assert addressed(text) == [name]


@pytest.mark.parametrize(
    "text", ["Thanks, Mom.", "Hello, Everyone.", "Thank you, Lord.", "Person Three, what do you think?", "大家好，谢谢大家。", "谢谢。"]
)
def test_nobody_is_addressed_by_name(text):
    assert addressed(text) == []


def test_the_caption_is_right_where_speech_recognition_mishears():
    found = names(
        [face(0, 0, 10)],
        [speech(0, 0, 4, "I'm Jeff Steam.")],
        [writing("Host", 2, 8, box=(178, 280, 60, 29)), writing("JEFF STEEN", 2, 8, box=(166, 305, 88, 27))],
    )
    assert {n.name for n in found} == {"Jeff Steen"}
    caption = next(n for n in found if n.by == "caption")
    spoken = next(n for n in found if n.by == "introduced")
    assert caption.observation == "s1.c0.f0" and caption.evidence == f"screen:{us(2)}-{us(8)}" and caption.words == "Host JEFF STEEN"
    assert spoken.observation == "s1.c0.u0" and "Steam" in spoken.words
    alone = names([face(0, 0, 10)], [], [writing("Host JEFF STEEN", 2, 8)])[0]
    assert caption.score > alone.score


def test_a_caption_among_several_faces_belongs_to_the_one_it_stands_under():
    left, right = face(0, 0, 10, x=60), face(1, 0, 10, x=500)
    under_right = names([left, right], texts=[writing("Host JEFF STEEN", 2, 8, box=(480, 300, 120, 20))])
    assert [n.observation for n in under_right] == ["s1.c0.f1"]
    between = names([left, right], texts=[writing("Host JEFF STEEN", 2, 8, box=(260, 300, 120, 20))])
    assert between == ()
    wide = names([left, right], texts=[writing("Host JEFF STEEN", 2, 8, box=(60, 300, 520, 20))])
    assert wide == ()


def test_spellings_of_one_name():
    assert sounds_like("Jeff Steam", "Jeff Steen")
    assert sounds_like("Jeff", "Jeff Steen")
    assert not sounds_like("Ann Lee", "Jeff Steen")
    assert not sounds_like("Ann Lee", "Ann Brown")
