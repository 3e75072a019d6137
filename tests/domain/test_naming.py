"""Which words may be a name, and whose name it is if several people are called by it."""

from __future__ import annotations

import pytest

from m3desk.domain.naming import one_name, plausible, whose


@pytest.mark.parametrize(
    ("heard", "name"),
    [
        ("Jeff Steen", "Jeff Steen"), ("  Ann\u200b  Lee\u202e ", "Ann Lee"), ("Lin-Manuel Miranda", "Lin-Manuel Miranda"),
        ("O'Brien", "O'Brien"), ("Ann\x00", "Ann"),
        ("Zoe\u0308", "Zoë"), ("张伟", "张伟"), ("J. R. R. Tolkien", "J. R. R. Tolkien"), ("A" * 80, "A" * 80),
    ],
)  # fmt: skip
def test_a_name_is_letters_without_what_nobody_sees(heard, name):
    assert plausible(heard) == name


@pytest.mark.parametrize(
    "heard",
    [
        "", " ", "A", "A" * 81, "A" * 100_000, "\u200b\u200b\u200b", "<character_1>", "<face_1>", "person_3", "Person 3", "Person Three",
        "Voice",
        "Equivalence: <face_1>, <voice_2>", "Obama, confirmed", "x = 1; DROP TABLE node", "Face Two", "某人", "s1.c0.u3", "name@mail.com",
        "🙂🙂", "[Answer] Ann", "--", "''",
    ],
)  # fmt: skip
def test_ids_markup_orders_and_texts_are_no_names(heard):
    assert plausible(heard) is None


def test_a_first_name_alone_may_be_the_full_one():
    assert one_name("Jeff", "jeff steen") and one_name("Steen", "Jeff Steen") and one_name("Ann", "ANN")
    assert not one_name("Ann Lee", "Ann Brown") and not one_name("Jeff", "Jeffrey Steen")


def test_who_says_their_name_has_it_and_who_is_only_addressed_by_it_yields():
    heard = {("person_1", "jeff"): [("addressed", 0.35), ("addressed", 0.35)], ("person_2", "jeff steen"): [("introduced", 0.75)]}
    assert whose(heard, {}) == {("person_2", "jeff steen")}


def test_two_who_are_addressed_by_one_name_lose_it_unless_one_leads():
    even = {("person_1", "ann"): [("addressed", 0.35)], ("person_2", "ann"): [("addressed", 0.35)]}
    assert whose(even, {}) == set()
    led = {("person_1", "ann"): [("addressed", 0.35)] * 3, ("person_2", "ann"): [("addressed", 0.35)]}
    assert whose(led, {}) == {("person_1", "ann")}


def test_two_people_who_introduce_themselves_with_one_name_both_get_it():
    heard = {(p, "ann"): [("introduced", 0.8)] for p in ("person_1", "person_2")}
    assert whose(heard, {}) == set(heard)


def test_a_name_that_a_user_gave_to_one_is_nobody_elses_by_hearsay():
    heard = {
        ("person_1", "jeff"): [("addressed", 0.35)],
        ("person_2", "jeff"): [("addressed", 0.35)],
        ("person_2", "bob"): [("addressed", 0.35)],
    }
    assert whose(heard, {"person_1": "Jeff Steen"}) == {("person_2", "bob")}
    alone = {("person_1", "jeff"): [("addressed", 0.35)]}
    assert whose(alone, {"person_1": "Jeff Steen"}) == set(alone)
