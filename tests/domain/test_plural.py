"""A number of things in words."""

from __future__ import annotations

from m3desk.domain.plural import many


def test_one_thing_is_singular_and_all_other_numbers_are_plural() -> None:
    assert [many(n, "clip") for n in (0, 1, 2)] == ["0 clips", "1 clip", "2 clips"]
    assert (many(1, "memory"), many(2, "memory"), many(2, "person", "people")) == ("1 memory", "2 memories", "2 people")
