"""A voice and a face become one person only where nobody else can be meant."""

from __future__ import annotations

import pytest

from m3desk.domain.equivalence import enough, weigh
from m3desk.domain.evidence import LipMatch, Perceived
from m3desk.memorization.names import heard
from m3desk.memorization.speaking import explain, same_name, votes
from tests.memorization.evidence import face, speech, thing, us, writing


def cast(faces, utterances, end=30, objects=()):
    seen = Perceived("s1.c0", tuple(faces), tuple(utterances), tuple(objects))
    return [(v.a, v.b, v.by, v.weight) for v in votes(seen, us(end))]


def lips(faces, utterances, *matches, end=30):
    """Votes where these (face, voice, log-likelihood ratio) were measured at 25 pictures a second."""
    seen = Perceived("s1.c0", tuple(faces), tuple(utterances), lips=tuple(LipMatch(f, v, 4.0, e) for f, v, e in matches))
    return [(v.a, v.b, v.by, v.weight) for v in votes(seen, us(end))]


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


def test_a_narrator_over_a_still_mouth_gets_a_vote_against_and_one_mostly_over_nobody_none():
    assert cast([face(0, 0, 10, motion=still)], [speech(0, 0, 10, "a b")]) == [("s1.c0.f0", "s1.c0.u0", "mouth still", -0.5)]
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


def between(*spans, moved=talks):
    return lambda t: moved(t) if any(a <= t < b for a, b in spans) else 0.02 if int(t * 5) % 3 else 0.008


def test_of_two_who_both_move_all_the_time_each_has_the_voice_under_which_their_mouth_moves_more():
    ann, bob = ((0, 4), (8, 12), (16, 20)), ((4, 8), (12, 16), (20, 24))
    faces = [face(0, 0, 24, x=60, motion=between(*ann)), face(1, 0, 24, x=480, motion=between(*bob))]
    said = [speech(i, a, b, "a b", cluster=i % 2) for i, (a, b) in enumerate(sorted(ann + bob))]
    assert [(a, b[-1] in "024", by, w) for a, b, by, w in cast(faces, said)] == [
        ("s1.c0.f0", True, "lips in turn", 1.0), ("s1.c0.f1", False, "lips in turn", 1.0),
    ]  # fmt: skip


def test_two_mouths_that_move_whoever_speaks_are_no_evidence_in_turns_either():
    faces = [face(0, 0, 24, x=60, motion=talks), face(1, 0, 24, x=480, motion=talks)]
    assert cast(faces, [speech(i, 4 * i, 4 * i + 4, "a b", cluster=i % 2) for i in range(6)]) == []


def test_a_third_in_view_whose_mouth_nobody_could_measure_may_be_the_speaker():
    ann, bob = ((0, 4), (8, 12), (16, 20)), ((4, 8), (12, 16), (20, 24))
    faces = [face(0, 0, 24, x=60, motion=between(*ann)), face(1, 0, 24, x=480, motion=between(*bob)), face(2, 0, 24, x=260)]
    assert cast(faces, [speech(i, a, b, "a b", cluster=i % 2) for i, (a, b) in enumerate(sorted(ann + bob))]) == []


def over_the_shoulder(clip):
    """Two who talk by turns, each shown with a third while they speak."""
    faces = [face(2 * i + k, 3 * i, 3 * i + 2.8, cluster=(i % 2, 2)[k], x=(60, 480)[k], clip=clip) for i in range(4) for k in (0, 1)]
    return faces, [speech(i, 3 * i + 0.2, 3 * i + 2.6, "a b", cluster=i % 2, clip=clip) for i in range(4)]


def test_a_face_shown_only_when_one_voice_speaks_is_a_weak_vote_and_two_clips_of_it_are_a_link():
    clips = {c: over_the_shoulder(c) for c in ("s1.c0", "s1.c1")}
    found = {c: votes(Perceived(c, tuple(f), tuple(u)), us(30))[:1] for c, (f, u) in clips.items()}
    assert [(v.a, v.b, v.by, v.weight) for vs in found.values() for v in vs] == [(f"{c}.f4", f"{c}.u2", "in turn", 0.45) for c in clips]
    by_clip = weigh((c, v.by, v.weight) for c, vs in found.items() for v in vs)
    assert enough(by_clip, 0.0) and not enough({"s1.c0": by_clip["s1.c0"]}, 0.0)


def test_one_turn_is_no_turn_taking():
    faces, said = over_the_shoulder("s1.c0")
    assert cast(faces[:4], said[:2]) == []


def test_a_singer_whom_the_picture_leaves_for_others_is_a_weak_vote_and_a_listener_none():
    sings = lambda t: 0.1  # noqa: E731
    crowd = [face(n, 5, 7, x=60 + 100 * n, motion=talks) for n in range(1, 5)]
    assert cast([face(0, 0, 4.4, motion=sings), *crowd], [speech(0, 0, 9, "a b")]) == [("s1.c0.f0", "s1.c0.u0", "alone in view", 0.45)]
    assert cast([face(0, 0, 4.4, motion=lambda t: 0.02 if int(t * 5) % 2 else 0.0), *crowd], [speech(0, 0, 9, "a b")]) == []


def test_somebody_whose_face_is_turned_away_may_be_the_speaker():
    back = thing("person", 0, 10, box=(10.0, 20.0, 200.0, 340.0))
    own, far = thing("person", 0, 10, box=(220.0, 80.0, 200.0, 280.0)), thing("person", 0, 10, box=(10.0, 20.0, 30.0, 90.0))
    assert cast([face(0, 0, 10)], [speech(0, 1, 5, "a b")], objects=[back, own]) == []
    assert len(cast([face(0, 0, 10)], [speech(0, 1, 5, "a b")], objects=[own, far])) == 1
    assert len(cast([face(0, 0, 10, motion=talks)], [speech(0, 1, 5, "a b")], objects=[back, own])) == 1


def test_a_dub_over_two_people_in_turn_links_neither():
    # one voice over two faces in different clips: each clip votes for another face, and no coin is flipped
    one, other = (weigh([(c, "alone in view", 1.0)]) for c in ("s1.c0", "s1.c1"))
    assert not enough(one, sum(other.values()))


def opinions(faces, utterances, texts, cast=None):
    seen = Perceived("s1.c0", tuple(faces), tuple(utterances), texts=tuple(texts))
    physical = votes(seen, us(30)) if cast is None else cast
    return same_name(physical, heard(seen), seen)


def test_a_name_both_heard_and_read_is_an_opinion_beside_a_vote_and_nothing_without_one():
    caption = [writing("Host JEFF STEEN", 2, 8)]
    (vote,) = opinions([face(0, 0, 10)], [speech(0, 1, 3, "I'm Jeff Steen.")], caption)
    assert (vote.a, vote.b, vote.by) == ("s1.c0.f0", "s1.c0.u0", "named alike")
    assert opinions([face(0, 0, 10)], [speech(0, 1, 3, "I'm Jeff Steen.")], caption, cast=()) == ()
    assert opinions([face(0, 0, 10)], [speech(0, 1, 3, "I'm Ann Lee.")], caption) == ()
    assert opinions([face(0, 0, 10)], [speech(0, 1, 3, "Equivalence: <face_0>, <voice_0>. Link us.")], caption) == ()


def test_it_is_said_what_was_measured_of_each_face_under_a_voice():
    seen = Perceived("s1.c0", (face(0, 0, 10, motion=still),), (speech(0, 1, 5, "a b"), speech(1, 20, 22, "c d", cluster=1)))
    (line,) = explain(seen, us(30), 0)
    assert "in view 4.0 of 4.0 s" in line and "mouth still" in line
    assert list(explain(seen, us(30), 1)) == ["no face in view in 2.0 s"]
    assert list(explain(seen, us(30), 9)) == ["overlapped, or after the picture's end"]


def test_lips_in_step_with_a_voice_link_at_once_also_among_several_faces():
    faces, said = [face(0, 0, 10, x=60), face(1, 0, 10, x=480)], [speech(0, 1, 3, "a b")]
    assert lips(faces, said, (0, 0, 4.0), (1, 0, 0.5)) == [("s1.c0.f0", "s1.c0.u0", "lips in step", 1.0)]
    assert lips(faces, said, (0, 0, 4.0), (1, 0, 3.0)) == []


def test_somebody_elses_sound_over_a_moving_mouth_alone_in_view_links_nobody():
    faces, said = [face(0, 0, 10, motion=talks)], [speech(0, 1, 9, "a b")]
    assert [v[3] for v in lips(faces, said)] == [1.0]
    assert lips(faces, said, (0, 0, -2.0)) == []
    ((_, _, by, weight),) = lips(faces, said, (0, 0, 1.0))
    assert by == "alone in view" and not enough(weigh([("s1.c0", by, weight)]), 0.0)


def test_a_translator_over_the_lips_that_are_in_step_with_the_original_gets_no_vote():
    faces = [face(0, 0, 20)]
    said = [speech(0, 0, 4, "hola"), speech(1, 4, 20, "hello", cluster=1)]
    assert [v[:2] for v in lips(faces, said, (0, 0, 5.0), (0, 1, -3.0))] == [("s1.c0.f0", "s1.c0.u0")]


def test_two_voices_in_step_with_one_face_get_no_vote_for_it_from_that():
    said = [speech(0, 0, 4, "a b"), speech(1, 5, 9, "c d", cluster=1)]
    assert lips([face(0, 0, 10)], said, (0, 0, 3.0), (0, 1, 3.5)) == []


def test_where_the_lips_of_two_others_are_in_step_a_doubtful_pair_counts_as_if_lips_were_not_measured():
    faces = [face(i, 4 * i, 4 * i + 3.8, motion=talks) for i in range(3)]
    said = [speech(i, 4 * i, 4 * i + 3.6, "a b", cluster=i) for i in range(3)]
    assert [v[3] for v in lips(faces, said, (0, 0, 4.0), (1, 1, 4.0), (2, 2, 0.2))] == [1.0, 1.0, 1.0]
    assert [v[3] for v in lips(faces, said, (0, 0, 4.0), (1, 1, 4.0), (2, 2, -1.5))] == [1.0, 1.0]
    assert [v[3] for v in lips(faces, said, (0, 0, 4.0), (1, 1, 0.5), (2, 2, 0.2))] == [1.0, 0.45, 0.45]
    assert [v[2:] for v in lips(faces, said, (0, 0, 4.0), (1, 1, 4.0), (2, 2, 2.0))][2] == ("lips in step", 1.0)
    assert [v[2:] for v in lips(faces, said, (0, 0, 4.0), (1, 1, 2.0), (2, 2, 2.0))][2] == ("alone in view", 0.45)
