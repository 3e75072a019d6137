"""The clips of a recording, from its segments alone."""

from __future__ import annotations

from itertools import pairwise

from m3desk.domain.clip import Clip
from m3desk.media.capture.planning import gap_after, lacking, runs, since
from m3desk.media.capture.recording import Segment

S = 1_000_000


def segment(start: float, end: float, points: tuple[float, ...] = ()) -> Segment:
    return Segment("000001.ts", round(start * S), round(end * S), 1, tuple((round(p * S), 0) for p in points))


def spans(clips: list[Clip]) -> list[tuple[float, float]]:
    return [(c.start / S, c.end / S) for c in clips]


def test_no_clip_reaches_over_a_gap_and_a_short_gap_is_none() -> None:
    segments = [segment(0.04, 10), segment(12, 25), segment(40, 52)]
    assert runs(segments) == [(0, 25 * S), (40 * S, 52 * S)]
    assert spans(list(lacking(segments, [], "s1", 10 * S))) == [(0, 10), (10, 20), (20, 25), (40, 50), (50, 52)]


def test_a_gap_within_a_segment_is_found_by_the_points_where_decoding_can_start() -> None:
    assert runs([segment(0, 30, (0, 2, 4, 20, 22, 24, 26, 28))]) == [(0, 4 * S), (20 * S, 30 * S)]


def test_what_is_planned_already_is_not_planned_again() -> None:
    there = [Clip("s1.c0", "s1", 0, 0, 7 * S)]
    again = list(lacking([segment(0, 18.1)], there, "s1", 10 * S))
    assert [c.id for c in again] == ["s1.c1", "s1.c2"] and spans(again) == [(7, 17), (17, 18.1)]
    assert spans(list(lacking([segment(0, 17.1)], there, "s1", 10 * S))) == [(7, 17.1)]  # what is left is no clip of its own


def test_the_gap_that_follows_a_time_may_have_begun_before_it() -> None:
    segments = [segment(0, 10), segment(30, 40), segment(60, 70)]
    assert gap_after(segments, 5 * S) == gap_after(segments, 20 * S) == (10 * S, 30 * S)
    assert gap_after(segments, 30 * S) == (40 * S, 60 * S) and gap_after(segments, 61 * S) is None


def test_the_newest_segments_alone_tell_what_follows_in_a_recording_of_a_day() -> None:
    segments = [segment(at, at + 10) for at in range(0, 86_400, 10) if at not in (500, 86_100)]
    for at in (86_390, 86_105, 86_095, 495, 505, 3):
        recent = since(segments, at * S)
        assert len(recent) <= (86_400 - at) / 10 + 3
        assert gap_after(segments, at * S) == next(((a[1], b[0]) for a, b in pairwise(runs(segments)) if b[0] > at * S), None), (
            "as of all segments"
        )
        assert [end for _, end in runs(recent)] == [end for _, end in runs(segments)][-len(runs(recent)) :]
