"""What people in an answer are called now."""

import pytest

from m3desk.domain.basis import renamed


@pytest.mark.parametrize(
    ("text", "then", "now", "expected"),
    [
        ("Person 1 rises, Person 12 sits.", {"person_1": "Person 1"}, {"person_1": "Ann"}, "Ann rises, Person 12 sits."),
        ("Jeff Steen? says: hello", {"person_1": "Jeff Steen?"}, {"person_1": "Jeff Steen"}, "Jeff Steen says: hello"),
        ("Ann meets Bob.", {"person_1": "Ann", "person_2": "Bob"}, {"person_1": "Bob", "person_2": "Ann"}, "Bob meets Ann."),
        ("李明和Person 2。", {"person_1": "李明", "person_2": "Person 2"}, {"person_1": "王芳", "person_2": "人物 2"}, "王芳和人物 2。"),
        ("Ann and Ann.", {"person_1": "Ann", "person_2": "Ann"}, {"person_1": "Ann", "person_2": "Eve"}, "Ann and Ann."),
        ("Annette sits.", {"person_1": "Ann"}, {"person_1": "Eve"}, "Annette sits."),
        ("Nobody.", {}, {}, "Nobody."),
    ],
)
def test_whole_names_are_replaced_at_once_and_only_where_it_is_certain_who_is_meant(text, then, now, expected):
    assert renamed(text, then, now) == expected
