"""A voice and a face become one person only where nobody else can be meant."""

from __future__ import annotations

import pytest

from m3desk.domain.evidence import Perceived
from m3desk.memorization.speaking import votes
from tests.memorization.evidence import face, speech, us


def cast(faces, utterances, end=30):
    return [(v.a, v.b, v.by, v.weight) for v in votes(Perceived("s1.c0", tuple(faces), tuple(utterances)), us(end))]


def talks(t):
    return 0.08 if int(t * 5) % 2 else 0.03


def still(t):
    return 0.004


def test_the_only_face_in_view_while_a_voice_speaks_for_seconds_is_its_owner():
    assert cast([face(0, 0, 10)], [speech(0, 1, 5, "a b")]) == [("s1.c0.f0", "s1.c0.u0", "alone in view", 1.0)]


def test_a_short_meeting_is_a_weak_vote_and_a_moment_none():
    ((_, _, _, weight),) = cast([face(0, 0, 10)], [speech(0, 1, 2.5, "a b")])
    assert weight == pytest.approx(0.5)
    assert cast([face(0, 0, 10)], [speech(0, 1, 1.8, "a b")]) == []


def test_a_moving_mouth_and_nobody_else_heard_makes_a_short_meeting_strong():
    ((_, _, _, weight),) = cast([face(0, 0, 3, motion=talks)], [speech(0, 0.3, 2.3, "bin blue")])
    assert weight == 1.0
    ((_, _, _, weight),) = cast([face(0, 0, 6, motion=talks)], [speech(0, 0.3, 2.3, "bin blue"), speech(1, 3, 3.8, "yes", cluster=1)])
    assert weight < 1.0


def test_two_faces_in_view_with_mouths_nobody_measured_are_no_evidence():
    assert cast([face(0, 0, 10, x=60), face(1, 0, 10, x=480)], [speech(0, 1, 8, "a b")]) == []


def test_of_two_faces_in_view_the_only_moving_mouth_speaks():
    in_step = lambda t: talks(t) if 1 <= t < 8 else 0.004  # noqa: E731
    faces = [face(0, 0, 12, x=60, motion=still), face(1, 0, 12, x=480, motion=in_step)]
    assert cast(faces, [speech(0, 1, 8, "a b")]) == [("s1.c0.f1", "s1.c0.u0", "lips", 1.0)]


def test_a_mouth_that_moves_as_much_while_nobody_speaks_is_not_in_step():
    faces = [face(0, 0, 20, x=60, motion=still), face(1, 0, 20, x=480, motion=talks)]
    assert cast(faces, [speech(0, 1, 8, "a b")]) == []


def test_a_split_screen_debate_with_two_moving_mouths_is_no_evidence():
    faces = [face(0, 0, 10, x=60, motion=talks), face(1, 0, 10, x=480, motion=talks)]
    assert cast(faces, [speech(0, 1, 4, "a b"), speech(1, 4, 8, "c d", cluster=1)]) == []


def test_a_listener_shown_while_the_speaker_goes_on_gets_no_vote():
    # the speaker is alone in view for 6 s, then the picture goes to the audience
    faces = [face(0, 0, 6), face(1, 6.2, 8), face(2, 6.2, 8, x=480)]
    assert [v[0] for v in cast(faces, [speech(0, 0, 7, "a b")])] == ["s1.c0.f0"]
    mostly_audience = [face(0, 0, 3), face(1, 3.2, 9), face(2, 3.2, 9, x=480)]
    assert cast(mostly_audience, [speech(0, 0, 9, "a b")]) == []
    one_listener = [face(0, 0, 4), face(1, 4.2, 8)]
    assert cast(one_listener, [speech(0, 0, 8, "a b")]) == []


def test_a_narrator_over_a_still_mouth_or_mostly_over_nobody_gets_no_vote():
    assert cast([face(0, 0, 10, motion=still)], [speech(0, 0, 10, "a b")]) == []
    assert cast([face(0, 0, 4)], [speech(0, 0, 20, "a b")]) == []


def test_an_interviewer_off_screen_does_not_take_the_face_of_the_one_who_answers():
    utterances = [speech(0, 0, 2, "why"), speech(1, 3, 20, "because", cluster=1)]
    assert [v[:2] for v in cast([face(0, 0, 30)], utterances)] == [("s1.c0.f0", "s1.c0.u1")]
    even = [speech(0, 0, 5, "why"), speech(1, 6, 12, "because", cluster=1)]
    assert cast([face(0, 0, 30)], even) == []


def test_one_voice_over_many_faces_in_turn_is_no_evidence():
    faces = [face(i, 3 * i, 3 * i + 2.8) for i in range(5)]
    assert cast(faces, [speech(i, 3 * i + 0.2, 3 * i + 2.4, "a b") for i in range(5)]) == []


def test_overlapped_speech_and_speech_after_the_clip_count_for_nothing():
    assert cast([face(0, 0, 10)], [speech(0, 1, 5, "a b", overlapped=True)]) == []
    assert cast([face(0, 26, 30)], [speech(0, 29.5, 33, "a b")]) == []
