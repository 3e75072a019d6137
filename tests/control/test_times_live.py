"""Times that a question names while its source is live: its newest moment is now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from m3desk.control.times import read_times
from m3desk.domain.clip import Source

S = 1_000_000
FILM = Source("s1", "x", 100 * S, None, None, None, True, None)
LIVE = replace(FILM, state="live")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what did she just say?", 80, 100),
        ("who came in 30 seconds ago?", 67, 75),
        ("what happened a minute ago?", 37, 45),
        ("who spoke in the last 20 seconds?", 80, 100),
        ("她刚才说了什么？", 80, 100),
        ("一分钟前发生了什么？", 37, 45),
    ],
)
def test_what_just_happened_is_counted_from_the_newest_moment(text: str, start: int, end: int) -> None:
    found, _ = read_times(text, LIVE)
    assert [(t.start, t.end) for t in found] == [(start * S, end * S)]


def test_just_has_no_time_in_a_film() -> None:
    assert read_times("are there just two men?", FILM)[0] == []
