"""A memory compared with ground truth: what is labelled, what agrees, what cannot be judged."""

from __future__ import annotations

from typing import Any

import pytest

from m3desk.errors import M3DeskError, UsageError
from m3desk.evaluation.identity import evaluate
from m3desk.evaluation.truth import Sight, TrueTurn, Truth
from tests.evaluation.made import Made

S = 1_000_000


def turns(*rows: tuple[float, float, str], file: str = "talk", **more: Any) -> Truth:
    made = tuple(TrueTurn(file, round(a * S), round(b * S), who) for a, b, who in rows)
    return Truth(turns=made, spoken=frozenset({file}), heard=frozenset(t.person for t in made), **more)


def both(*rows: tuple[float, float, str]) -> Truth:
    """Return a truth in which each of these is alone in view and speaks."""
    sights = tuple(Sight("talk", round(a * S), round(b * S), who) for a, b, who in rows)
    return turns(*rows, sights=sights, seen=frozenset(s.person for s in sights))


def test_the_document_is_the_contracts() -> None:
    memory = Made()
    memory.sees(0, 10, 1, 1)
    memory.hears(1, 9, 2, 1)
    report = evaluate(memory, both((0, 10, "Ann")))
    for part in ("faces", "voices"):
        assert {"precision", "recall", "f1"} <= set(report[part]["pairwise"]) and {"precision", "recall"} <= set(report[part]["bcubed"])
        assert report[part]["fragmentation"] == 1.0
    assert {"precision", "recall", "wrong"} <= set(report["links"]) and report["attribution"] is None
    # Of the 9.5 s that count (a collar of 0.25 s at 0 and 10 s), 8 are found.
    assert report["voices"]["der"] == round(1.5 / 9.5, 4) and report["voices"]["der_no_collar"] == 0.2


def test_a_person_split_in_two_costs_recall_and_two_taken_for_one_cost_precision() -> None:
    memory = Made()
    for start, node, person in ((0, 1, 1), (10, 1, 1), (20, 2, 2), (30, 1, 1)):
        memory.sees(start, start + 9, node, person)
    report = evaluate(memory, both((0, 29, "Ann"), (30, 40, "Bob")))
    # Ann's 3 tracks: A, A, B; Bob's: A. Together: 3 pairs of A, one of them right; truly one: 3 pairs.
    assert report["faces"]["pairwise"]["precision"] == report["faces"]["pairwise"]["recall"] == 0.3333
    assert report["faces"]["fragmentation"] == 1.5 and report["faces"]["nodes"] == 2 and report["faces"]["true_people"] == 2
    assert [(p["true"], p["person"], p["people"]) for p in report["people"]] == [
        ("Ann", "person_1", ["person_1", "person_2"]),
        ("Bob", None, ["person_1"]),
    ]


def test_whoever_is_given_to_nobody_costs_recall_alone_and_is_no_node() -> None:
    memory = Made()
    for start, person in ((0, 1), (10, 1), (20, None)):
        memory.hears(start, start + 9, person, person)
    report = evaluate(memory, turns((0, 30, "Ann")))["voices"]
    assert report["pairwise"]["precision"] == 1.0 and report["pairwise"]["recall"] == 0.3333
    assert report["fragmentation"] == 1.0 and report["unassigned"] == 1 and report["der_files"][0]["speakers_found"] == 1


def test_an_utterance_is_whose_most_of_it_is_and_nobodys_where_less_than_half_is_known() -> None:
    memory = Made()
    mixed, outside = memory.hears(0, 10, 1, 1), memory.hears(20, 30, 1, 1)
    report = evaluate(memory, turns((0, 4, "Ann"), (3, 9, "Bob"), (20, 24.9, "Ann")))
    assert (report["voices"]["labelled"], report["voices"]["unlabelled"]) == (1, 1)
    assert report["people"][0]["true"] == "Bob" and mixed != outside


def test_where_several_speak_and_nobody_knows_who_nothing_counts() -> None:
    memory = Made()
    memory.hears(0, 10, 1, 1)
    memory.hears(10, 20, 2, 2)
    truth = turns((0, 10, "Ann"), unclear=(("talk", 10 * S, 100 * S),))
    report = evaluate(memory, truth)["voices"]
    assert report["labelled"] == 1 and report["der"] == 0.0


def test_a_timed_box_names_the_track_that_it_lies_on() -> None:
    memory = Made()
    memory.sees(0, 10, 1, 1, x=0.0)
    memory.sees(0, 10, 2, 2, x=100.0)
    memory.sees(0, 10, 3, 3, x=300.0)
    sights = tuple(
        Sight("talk.mp4", t * S, t * S, who, (x, 10.0, 50.0, 50.0)) for t, who, x in ((1, "Ann", 5.0), (1, "Bob", 110.0), (5, "Ann", 600.0))
    )
    report = evaluate(memory, Truth(sights=sights, seen=frozenset({"Ann", "Bob"})))
    assert [(p["true"], p["people"]) for p in report["people"]] == [("Ann", ["person_1"]), ("Bob", ["person_2"])]
    assert report["faces"]["boxes_missed"] == 1 and report["faces"]["unlabelled"] == 1
    assert report["voices"]["der"] is None, "boxes say nothing of speech"


def test_what_was_set_aside_does_not_count() -> None:
    memory = Made()
    memory.sees(0, 10, 1, 1)
    memory.sees(0, 10, None, None, aside=True)
    assert evaluate(memory, both((0, 10, "Ann")))["faces"]["labelled"] == 1


def test_people_of_one_name_are_one_across_sources() -> None:
    memory = Made(files=("a.wav", "b.wav"))
    memory.hears(0, 10, 1, 1, "s1")
    memory.hears(0, 10, 2, 2, "s2")
    one, other = turns((0, 10, "Ann"), file="a"), turns((0, 10, "Ann"), file="b")
    truth = Truth(one.turns + other.turns, spoken=frozenset({"a", "b"}), heard=frozenset({"Ann"}))
    report = evaluate(memory, truth)["voices"]
    assert report["across_sources"]["recall"] == 0.0 and report["fragmentation"] == 2.0
    assert report["der"] == 0.0 and report["der_one_naming"] == 0.5
    assert evaluate(memory, truth, source="s2")["voices"]["der_one_naming"] == 0.0


def test_a_uem_says_what_counts() -> None:
    memory = Made()
    memory.hears(0, 10, 1, 1)
    truth = turns((0, 20, "Ann"))
    assert evaluate(memory, truth)["voices"]["der_no_collar"] == 0.5
    assert evaluate(memory, truth, {"talk": [(0, 10 * S)]})["voices"]["der_no_collar"] == 0.0


# ---------------------------------------------------------------- links


def test_links_are_right_wrong_or_beyond_judgement() -> None:
    memory = Made()
    for start, person in ((0, 1), (10, 2), (20, 3)):
        memory.sees(start, start + 9, person, person)
    memory.sees(90, 99, 9, 4)  # nobody knows who this is
    memory.hears(0, 9, 1, 1)  # Ann's face and voice
    memory.hears(20, 29, 2, 2)  # Bob's face, Cat's voice
    memory.hears(10, 19, 3, 4)  # an unknown face, Bob's voice
    found = evaluate(memory, both((0, 9, "Ann"), (10, 19, "Bob"), (20, 29, "Cat")))["links"]
    assert (found["precision"], found["recall"], found["right"], found["wrong"], found["unjudged"]) == (0.5, 0.3333, 1, 1, 1)
    assert found["wrong_links"] == [{"person": "person_2", "face": "face_2", "voice": "voice_2", "face_of": "Bob", "voice_of": "Cat"}]
    assert found["possible"] == 3 and found["missing"] == ["Bob", "Cat"]


def test_without_a_link_there_is_no_precision_and_no_recall() -> None:
    memory = Made()
    memory.sees(0, 9, 1, 1)
    memory.hears(0, 9, 1, 2)
    found = evaluate(memory, both((0, 9, "Ann")))["links"]
    assert found["precision"] is None and found["recall"] == 0.0 and found["wrong"] == 0


# ---------------------------------------------------------------- sentences


def test_a_sentence_is_right_where_each_of_its_people_is() -> None:
    memory = Made()
    ann, bob = memory.sees(0, 20, 1, 1), memory.sees(20, 40, 2, 2)
    wrong = memory.sees(40, 45, 1, 1)  # Bob, taken for Ann
    memory.tells([ann])
    memory.tells([ann], [bob])
    memory.tells([bob], [wrong])
    memory.tells([])
    told = evaluate(memory, both((0, 20, "Ann"), (20, 45, "Bob")))["attribution_detail"]
    assert told["sentences"] == {"accuracy": 0.6667, "right": 2, "wrong": 1, "by_majority": 0.6667}
    assert (told["spans"]["right"], told["spans"]["wrong"]) == (4, 1)
    assert told["wrong"] == [{"node": "episodic_2", "person": "person_1", "true": "Bob"}]


def test_speech_is_judged_by_who_speaks_not_by_the_face_that_was_taken_for_it() -> None:
    memory = Made()
    face, voice = memory.sees(0, 20, 1, 1), memory.hears(0, 10, 2, 2)
    memory.sees(20, 40, 3, 2)
    memory.tells([face], event="says", citations=[voice])
    truth = turns(
        (0, 10, "Bob"), sights=(Sight("talk", 0, 20 * S, "Ann"), Sight("talk", 20 * S, 40 * S, "Bob")), seen=frozenset({"Ann", "Bob"})
    )
    assert evaluate(memory, truth)["attribution_detail"]["wrong"] == [{"node": "episodic_0", "person": "person_1", "true": "Bob"}]


def test_somebody_split_in_two_is_named_rightly_once_and_by_majority_twice() -> None:
    memory = Made()
    memory.tells([memory.sees(0, 20, 1, 1)])
    memory.tells([memory.sees(20, 30, 2, 2)])
    found = evaluate(memory, both((0, 30, "Ann")))
    assert found["attribution"] == 0.5 and found["attribution_detail"]["sentences"]["by_majority"] == 1.0


def test_speech_where_nobody_speaks_may_not_be_given_to_a_face() -> None:
    memory = Made()
    memory.sees(0, 30, 1, 1)
    memory.hears(0, 10, 2, 1)
    ghost, voice = memory.hears(20, 24, 2, 1), memory.hears(25, 28, 3, 3)
    memory.tells([ghost], event="says")
    memory.tells([voice], event="says")
    told = evaluate(memory, turns((0, 10, "Ann"), sights=(Sight("talk", 0, 30 * S, "Ann"),)))["attribution_detail"]
    assert told["wrong"] == [{"node": "episodic_0", "person": "person_1", "true": "nobody"}] and told["spans"]["unjudged"] == 1


def test_sentences_that_the_memory_gives_to_nobody_are_counted_apart() -> None:
    memory = Made()
    memory.tells([memory.hears(0, 10, None, None)], event="says")
    told = evaluate(memory, turns((0, 10, "Ann")))["attribution_detail"]
    assert told["spans"]["unattributed"] == 1 and told["sentences"]["accuracy"] is None


# ---------------------------------------------------------------- which source


@pytest.mark.parametrize("name", ["my talk.mp4", "my talk", "my_talk"])
def test_a_source_is_found_by_name_with_or_without_ending(name: str) -> None:
    memory = Made(files=("my talk.mp4",))
    memory.hears(0, 10, 1, 1)
    assert evaluate(memory, turns((0, 10, "Ann"), file=name))["voices"]["labelled"] == 1


def test_a_truth_of_another_file_is_refused_unless_the_source_is_said() -> None:
    memory = Made()
    memory.hears(0, 10, 1, 1)
    other = turns((0, 10, "Ann"), file="other.wav")
    with pytest.raises(M3DeskError, match=r"names other\.wav, the memory holds talk\.mp4"):
        evaluate(memory, other)
    assert evaluate(memory, other, source="s1")["voices"]["labelled"] == 1
    with pytest.raises(UsageError, match="no source s9"):
        evaluate(memory, other, source="s9")


def test_two_sources_of_one_name_are_refused() -> None:
    memory = Made(files=("a/talk.mp4", "b/talk.wav"))
    memory.hears(0, 10, 1, 1)
    with pytest.raises(M3DeskError, match="two sources"):
        evaluate(memory, turns((0, 10, "Ann")))
    assert evaluate(memory, turns((0, 10, "Ann"), file="talk.mp4"))["voices"]["labelled"] == 1


def test_a_truth_that_meets_nothing_is_refused() -> None:
    memory = Made()
    with pytest.raises(M3DeskError, match="nothing in this memory"):
        evaluate(memory, Truth(sights=(Sight("talk", 0, S, "Ann"),), seen=frozenset({"Ann"})))
