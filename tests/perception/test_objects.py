"""Detections become objects with time spans."""

from __future__ import annotations

from m3desk.perception.objects import Glance, objects_seen
from m3desk.ports import DetectedObject

HERE, THERE = (10.0, 10.0, 50.0, 40.0), (200.0, 10.0, 50.0, 40.0)


def thing(label: str, score: float = 0.9, box: tuple[float, float, float, float] = HERE) -> DetectedObject:
    return DetectedObject(label, score, box)


def seen(*glances: tuple[int, tuple[DetectedObject, ...]], cuts: tuple[int, ...] = ()) -> list[tuple[str, float, float]]:
    found = objects_seen("s1.c0", [Glance(at * 1_000_000, g) for at, g in glances], [c * 1_000_000 for c in cuts], 0, 12_000_000)
    return [(o.label, o.start / 1e6, o.end / 1e6) for o in found]


def test_a_thing_seen_all_along_spans_its_shot() -> None:
    assert seen((1, (thing("laptop"),)), (4, (thing("laptop", 0.5),)), (7, (thing("laptop"),))) == [("laptop", 0, 12)]


def test_a_thing_ends_with_the_first_glance_without_it() -> None:
    assert seen((1, (thing("cup"),)), (4, (thing("cup"),)), (7, ()), (10, ())) == [("cup", 0, 7)]


def test_one_missed_glance_does_not_end_it() -> None:
    assert seen((1, (thing("cup"),)), (4, ()), (7, (thing("cup"),)), (10, ())) == [("cup", 0, 10)]


def test_a_cut_ends_it() -> None:
    assert seen((1, (thing("cup"),)), (6, (thing("cup"),)), cuts=(5,)) == [("cup", 0, 5), ("cup", 5, 12)]


def test_two_things_of_one_kind_are_two() -> None:
    assert seen((1, (thing("laptop"), thing("laptop", 0.8, THERE)))) == [("laptop", 0, 12), ("laptop", 0, 12)]


def test_a_doubtful_thing_seen_once_is_dropped() -> None:
    assert seen((1, ()), (4, (thing("toilet", 0.65),)), (7, ())) == []


def test_a_thing_that_changes_its_label_keeps_the_likelier_one() -> None:
    assert seen((1, (thing("chair", 0.8),)), (4, (thing("toilet", 0.5),)), (7, (thing("chair", 0.7),))) == [("chair", 0, 12)]


def test_the_box_is_where_it_was_clearest() -> None:
    moved = (14.0, 12.0, 50.0, 40.0)
    (cup,) = objects_seen("s1.c0", [Glance(0, (thing("cup", 0.7),)), Glance(3_000_000, (thing("cup", 0.95, moved),))], (), 0, 5_000_000)
    assert (cup.box, cup.score) == (moved, 0.95)
