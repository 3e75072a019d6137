"""How far memorizing is behind, what is given up for it, and when it will have caught up."""

from __future__ import annotations

import pytest

from m3desk.domain.live import OBJECTS_AND_TEXTS, SEMANTIC
from m3desk.live.pace import ORDER, Pace


def test_the_further_behind_the_more_is_given_up_in_one_fixed_order() -> None:
    pace = Pace()
    assert pace.given_up(30.0) == ()
    for number, (_, limit) in enumerate(ORDER, 1):
        assert pace.given_up(limit) == tuple(what for what, _ in ORDER[:number])


def test_what_was_given_up_stays_so_until_much_less_waits() -> None:
    pace = Pace()
    pace.given_up(60.0)
    assert pace.given_up(40.0) == (SEMANTIC, OBJECTS_AND_TEXTS)
    assert pace.given_up(25.0) == (SEMANTIC,)
    assert pace.given_up(0.0) == ()


def test_a_clip_gives_up_nothing_that_is_done_after_it() -> None:
    pace = Pace()
    pace.given_up(60.0)
    assert pace.of_clip() == (OBJECTS_AND_TEXTS,)


def test_speed_is_measured_only_where_nothing_was_waited_for() -> None:
    pace = Pace()
    pace.committed(30.0, at=40.0, closed_at=30.0)
    pace.committed(30.0, at=70.0, closed_at=60.0)  # closed after the one before was committed: as fast as the camera, not the machine
    assert pace.speed is None and pace.catch_up(30.0, True) is None
    pace.committed(30.0, at=90.0, closed_at=65.0)
    assert pace.speed == pytest.approx(1.5)
    assert pace.catch_up(30.0, True) == pytest.approx(60.0)
    assert pace.catch_up(30.0, False) == pytest.approx(20.0)
    assert pace.catch_up(0.0, True) == 0.0


def test_a_machine_that_is_too_slow_never_catches_up_while_recording() -> None:
    pace = Pace()
    pace.committed(30.0, at=40.0, closed_at=30.0)
    pace.committed(30.0, at=80.0, closed_at=35.0)
    assert pace.catch_up(60.0, True) is None and pace.catch_up(60.0, False) == pytest.approx(80.0)
