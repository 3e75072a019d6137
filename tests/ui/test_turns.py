"""The turns of the event loop: what can wait is not done in a turn that has done much already."""

from __future__ import annotations

import time

from m3desk_ui.hub.turns import MUCH, PATIENCE, turns
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_what_can_wait_is_put_off_while_a_turn_is_full_but_not_for_ever(qtbot: QtBot) -> None:
    now, done = turns(), []
    timer = QTimer(singleShot=True, interval=0)
    timer.timeout.connect(lambda: done.append(1))
    work(2 * MUCH)
    assert now.spent() > MUCH
    assert now.put_off(timer) and timer.isActive()
    for _ in range(PATIENCE - 1):
        assert now.put_off(timer)
    assert not now.put_off(timer)
    assert now.put_off(timer)  # counted again from the start
    qtbot.waitUntil(lambda: bool(done), timeout=30_000)


def test_a_turn_begins_with_nothing_done(qtbot: QtBot) -> None:
    now, spent = turns(), []
    work(0.1)
    assert now.spent() >= 0.1
    QTimer.singleShot(20, lambda: spent.append(now.spent()))
    qtbot.waitUntil(lambda: bool(spent), timeout=30_000)
    assert spent[0] < 0.1
    assert turns() is now
