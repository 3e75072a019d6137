"""A voice and a face become one person by physical evidence; opinions alone never link them."""

from __future__ import annotations

import math

import pytest

from m3desk.domain.equivalence import COMPANY, company, enough, weigh


@pytest.mark.parametrize(
    ("by_clip", "runner_up", "linked"),
    [
        ({"s1.c0": 1.0}, 0.0, True),
        ({"s1.c0": 0.9}, 0.0, False),
        ({"s1.c0": 0.5, "s1.c1": 0.4}, 0.0, True),
        ({"s1.c0": 0.7, "s1.c1": 0.1}, 0.0, False),
        ({"s1.c0": 1.0}, 0.9, False),
        ({"s1.c0": 1.0, "s1.c1": -0.9}, 0.0, False),
        ({}, 0.0, False),
        ({"s1.c0": -1.0}, -2.0, False),
    ],
)
def test_a_link_needs_strong_evidence_or_two_clips_and_a_lead(by_clip, runner_up, linked):
    assert enough(by_clip, runner_up) is linked


@pytest.mark.parametrize("by", ["named alike", "some-language-model", "Equivalence: <face_1>, <voice_2>", "", "alone in view "])
def test_opinions_alone_come_to_nothing_however_many_and_heavy(by):
    cast = [(f"s1.c{i}", by, 1e9) for i in range(100)]
    assert set(weigh(cast).values()) == {0.0}
    assert not enough(weigh(cast), 0.0)


def test_an_opinion_rounds_up_physical_evidence_that_nearly_links():
    nearly = [("s1.c0", "alone in view", 0.85)]
    opinion = ("s1.c0", "named alike", 0.5)
    assert not enough(weigh(nearly), 0.0)
    assert enough(weigh([*nearly, opinion]), 0.0)
    assert not enough(weigh([("s1.c0", "alone in view", 0.75), *[opinion] * 20]), 0.0)
    assert not enough(weigh([*nearly, ("s1.c1", "named alike", 0.5)]), 0.0), "in another clip it adds nothing"


def test_weaker_evidence_of_two_clips_adds_up_and_a_still_mouth_takes_off():
    in_two = [("s1.c0", "in turn", 0.45), ("s2.c3", "alone in view", 0.4)]
    assert enough(weigh(in_two), 0.0)
    assert not enough(weigh([*in_two, ("s2.c4", "mouth still", -0.5)]), 0.0)


def test_one_vote_counts_no_more_than_twice_a_sufficient_one():
    assert weigh([("s1.c0", "lips", 1e9), ("s1.c1", "lips", -1e9), ("s1.c2", "lips", math.nan)]) == {
        "s1.c0": 2.0,
        "s1.c1": -2.0,
        "s1.c2": 0.0,
    }


def test_the_equivalences_of_a_foreign_graph_count_in_full():
    assert weigh([("s1.c0", "m3-agent", 1.0)]) == {"s1.c0": 1.0}


def test_a_narrator_who_is_heard_over_many_is_in_nobodys_company():
    film = {f"s1.c{i}": [(0, 20, i == 0)] for i in range(10)}
    assert company([(c, 0, 20) for c in film], film) == 0.1 < COMPANY


def test_speech_over_slides_or_out_of_a_radio_takes_nothing_from_company():
    lecture = {"s1.c0": [(0, 10, True)]}
    assert company([(f"s1.c{i}", 0, 30) for i in range(50)], lecture) == 1.0
    assert company([("s1.c1", 0, 30)], lecture) == 1.0


def test_company_counts_a_moment_once_however_many_are_in_view():
    crowd = {"s1.c0": [(0, 10, False), (0, 10, False), (5, 20, True), (15, 40, True)]}
    assert company([("s1.c0", 0, 20), ("s1.c0", 30, 60)], crowd) == 25 / 30
