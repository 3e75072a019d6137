"""Pairwise, B-cubed, fragmentation and the matching of people, by values worked out by hand."""

from __future__ import annotations

import itertools
import random

import pytest

from m3desk.evaluation.grouping import LabelledObservation, bcubed, fragmentation, matching, pairwise, spread

# Person x is taken for A twice; y once for A and once for B.
FOUR = [
    LabelledObservation("x", "A", 1.0, "s1"),
    LabelledObservation("x", "A", 3.0, "s2"),
    LabelledObservation("y", "A", 2.0, "s1"),
    LabelledObservation("y", "B", 2.0, "s2"),
]


def test_pairs_are_counted_by_hand() -> None:
    # together: the 3 pairs of A; truly one: x-x and y-y; both: x-x.
    assert pairwise(FOUR) == {"precision": 0.3333, "recall": 0.5, "f1": 0.4, "pairs_found": 3, "pairs_true": 2}


def test_pairs_across_sources_leave_out_those_within_one() -> None:
    # across s1 and s2: together x-x and y-x; truly one x-x and y-y.
    found = pairwise(FOUR, across=True)
    assert (found["precision"], found["recall"], found["pairs_found"], found["pairs_true"]) == (0.5, 0.5, 2, 2)


def test_a_long_pair_weighs_more_than_a_short_one() -> None:
    # x-x weighs 1·3, the pairs of A 1·3 + 1·2 + 3·2 = 11, y-y 2·2.
    found = pairwise(FOUR, weighted=True)
    assert (found["precision"], found["recall"]) == (round(3 / 11, 4), round(3 / 7, 4))


def test_without_a_pair_there_is_nothing_to_say() -> None:
    assert pairwise([LabelledObservation("x", "A")])["precision"] is None and bcubed([])["recall"] is None and fragmentation([]) is None
    apart = pairwise([LabelledObservation("x", "A"), LabelledObservation("x", "B")])
    assert (apart["precision"], apart["recall"], apart["f1"]) == (None, 0.0, None)


def test_b_cubed_is_the_mean_over_items() -> None:
    # precision (2/3 + 2/3 + 1/3 + 1) / 4; recall (1 + 1 + 1/2 + 1/2) / 4
    assert bcubed(FOUR) == {"precision": 0.6667, "recall": 0.75, "f1": 0.7059}


def test_b_cubed_by_seconds_weighs_each_item() -> None:
    # A holds 6 s: x 4/6 for 4 s, y 2/6 for 2 s; B is right for 2 s. Recall: x 1 for 4 s, y 1/2 for 4 s.
    found = bcubed(FOUR, weighted=True)
    assert (found["precision"], found["recall"]) == (round((4 * 4 / 6 + 2 * 2 / 6 + 2) / 8, 4), 0.75)


def test_fragmentation_is_the_mean_number_of_nodes_of_a_person() -> None:
    assert fragmentation(FOUR) == 1.5
    assert spread(FOUR) == {"x": ["A"], "y": ["A", "B"]}


def test_people_are_matched_so_that_the_whole_agrees_most() -> None:
    # Greedy would take A for x (5) and leave B nothing; together A for y and B for x agree for 8 s.
    items = [LabelledObservation("x", "A", 5.0), LabelledObservation("y", "A", 4.0), LabelledObservation("x", "B", 4.0)]
    assert matching(items) == {"A": "y", "B": "x"}


def test_whoever_agrees_with_nobody_is_matched_with_nobody() -> None:
    assert matching([LabelledObservation("x", "A", 2.0), LabelledObservation("x", "B", 1.0), LabelledObservation("x", "C", 0.5)]) == {
        "A": "x"
    }


@pytest.mark.parametrize("seed", range(20))
def test_no_other_matching_agrees_more(seed: int) -> None:
    draw = random.Random(seed)
    items = [LabelledObservation(f"t{draw.randrange(5)}", f"f{draw.randrange(4)}", draw.randrange(1, 9)) for _ in range(25)]
    found, true = sorted({i.found for i in items}), sorted({i.true for i in items})

    def agrees(chosen: dict[str, str]) -> float:
        return sum(i.weight for i in items if chosen.get(i.found) == i.true)

    short, long = sorted((found, true), key=len)
    pairs = (dict(zip(short, order, strict=False)) for order in itertools.permutations(long, len(short)))
    best = max(agrees(p if short is found else {t: f for f, t in p.items()}) for p in pairs)
    assert agrees(matching(items)) == best
    shuffled = draw.sample(items, len(items))
    assert matching(shuffled) == matching(items)
