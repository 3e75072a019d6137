"""A wrongly merged person is split where few votes link two groups that sentences name separately."""

from __future__ import annotations

from m3desk.domain.questions.graph_cuts import cuts

TWO = {
    ("face_2", "voice_5"): 2.0, ("face_2", "voice_6"): 1.0, ("voice_5", "voice_6"): 1.0,
    ("face_3", "voice_7"): 2.0, ("face_3", "voice_8"): 1.0, ("voice_7", "voice_8"): 1.0,
    ("voice_6", "voice_7"): 1.0,
}  # fmt: skip
NODES = ["voice_8", "face_2", "face_3", "voice_5", "voice_6", "voice_7"]


def test_two_people_who_are_named_together_are_split_where_the_votes_are_weakest() -> None:
    found = cuts(TWO, NODES, {("face_3", "face_2"): 3.0})
    assert [set(c.part) for c in found[:1]] == [{"face_2", "voice_5", "voice_6"}] or set(found[0].part) == {"face_3", "voice_7", "voice_8"}
    assert found[0].votes == 1.0 and found[0].against == 3.0 and found[0].score == 0.7
    assert sorted((*found[0].part, *found[0].rest)) == sorted(NODES)


def test_without_a_word_against_the_cut_goes_through_the_busiest_link_and_is_less_sure() -> None:
    (cut,) = cuts(TWO, NODES)
    assert {*cut.part} in ({"face_2", "voice_5", "voice_6"}, {"face_3", "voice_7", "voice_8"})
    assert cut.against == 0.0 and cut.score < 0.5


def test_votes_and_order_of_nodes_change_nothing_but_what_they_say() -> None:
    turned = {(b, a): w for (a, b), w in reversed(TWO.items())}
    assert cuts(TWO, NODES, {("face_2", "face_3"): 3.0}) == cuts(turned, NODES[::-1], {("face_3", "face_2"): 3.0})


def test_a_person_of_one_piece_is_left_alone() -> None:
    assert cuts({("face_1", "voice_2"): 1.0}, ["face_1", "voice_2"]) == []
    assert cuts({("face_1", "voice_2"): 3.0}, ["face_1", "voice_2"], {("face_1", "voice_2"): 0.5}) == []
    assert cuts({}, ["face_1"]) == []
    star = {("face_1", f"voice_{n}"): 1.0 for n in range(2, 6)}
    assert cuts(star, ["face_1", "voice_2", "voice_3", "voice_4", "voice_5"]) == []


def test_nodes_that_no_vote_joins_are_a_cut_that_nothing_holds() -> None:
    found = cuts({("face_1", "voice_2"): 1.0}, ["face_1", "voice_2", "voice_3"])
    assert [c.part for c in found] == [("voice_3",)] and found[0].votes == 0.0
