"""Waiting for a model that answers somebody else."""

from __future__ import annotations

import threading

import pytest

from m3desk.children.waiting import held
from m3desk.errors import Cancelled


def test_waiting_for_a_lock_can_be_stopped_and_takes_nothing() -> None:
    lock, looks = threading.Lock(), [False, False, True]
    with lock, pytest.raises(Cancelled), held(lock, lambda: looks.pop(0)):
        raise AssertionError("somebody else holds it")
    assert not looks and not lock.locked()


def test_a_lock_is_given_back_also_after_a_failure() -> None:
    lock = threading.Lock()
    with pytest.raises(ZeroDivisionError), held(lock, lambda: True):
        assert lock.locked()
        raise ZeroDivisionError
    assert not lock.locked()
