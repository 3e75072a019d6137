"""Several requests to a model at the same time: who may ask, and answers in the order of the questions."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import Any

import pytest

from m3desk.children.at_once import Places, at_once, in_order
from m3desk.errors import Cancelled, ModelFailed

PATIENCE = 30.0


class Counted:
    """Counts who is inside at the same time."""

    def __init__(self) -> None:
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def __enter__(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.now -= 1


def until(what: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_answers_come_in_order_though_later_ones_are_ready_first_and_one_fails_alone() -> None:
    inside, last = Counted(), threading.Event()

    def ask(item: int, _stopped: Any) -> int:
        with inside:
            if item == 0:
                assert last.wait(PATIENCE), "the others are asked meanwhile"
            if item == 3:
                last.set()
            if item == 2:
                raise ModelFailed("no.")
            time.sleep(0.02)
            return item * item

    told = []
    with closing(in_order(range(9), ask, lambda: 4)) as answers:
        for item, answer in answers:
            told.append((item, None if answer.exception() else answer.result()))
    assert told == [(i, None if i == 2 else i * i) for i in range(9)]
    assert inside.most == 4


@pytest.mark.parametrize("width", [1, 4])
def test_an_error_of_what_comes_next_loses_no_answer_before_it(width: int) -> None:
    def items() -> Any:
        yield from range(5)
        raise ModelFailed("the sixth can't be asked about.")

    told = []
    with pytest.raises(ModelFailed, match="sixth"), closing(in_order(items(), lambda item, _stopped: item, lambda: width)) as answers:
        for item, answer in answers:
            time.sleep(0.01)
            told.append((item, answer.result()))
    assert told == [(i, i) for i in range(5)]


def test_what_comes_next_may_stop_all_at_once() -> None:
    ended = threading.Event()

    def items() -> Any:
        yield 0
        raise Cancelled("stopped.")

    def ask(_item: int, stopped: Any) -> None:
        until(stopped)
        ended.set()

    with pytest.raises(Cancelled), closing(in_order(items(), ask, lambda: 2)) as answers:
        next(answers)
    assert ended.is_set()


def test_no_more_than_twice_as_many_are_ahead_of_one_that_takes_long() -> None:
    first, others, asked = threading.Event(), threading.Semaphore(0), []

    def ask(item: int, _stopped: Any) -> int:
        asked.append(item)
        if item == 0:
            assert first.wait(PATIENCE)
        others.release()
        return item

    def watched() -> None:
        for _ in range(5):
            assert others.acquire(timeout=PATIENCE)
        time.sleep(0.3)
        ahead.append(len(asked))
        first.set()

    ahead: list[int] = []
    watcher = threading.Thread(target=watched)
    watcher.start()
    with closing(in_order(range(20), ask, lambda: 3)) as answers:
        assert [item for item, _ in answers] == list(range(20))
    watcher.join(PATIENCE)
    assert ahead == [6]


def test_one_at_a_time_is_asked_in_the_callers_thread_when_its_turn_comes() -> None:
    where, width = [], [1]

    def ask(item: int, _stopped: Any) -> int:
        where.append(threading.current_thread() is threading.main_thread())
        return item

    with closing(in_order(range(6), ask, lambda: width[0])) as answers:
        for item, _ in answers:
            assert len(where) == item + 1 or width[0] > 1
            width[0] = 2 if item == 2 else width[0]
    assert where == [True] * 3 + [False] * 3, "how many is asked again each time"


def test_who_stops_taking_stops_all_that_run() -> None:
    begun, ended = threading.Semaphore(0), []

    def ask(item: int, stopped: Any) -> int:
        begun.release()
        until(stopped) if item else None
        ended.append(item)
        return item

    with pytest.raises(KeyboardInterrupt), closing(in_order(range(9), ask, lambda: 3)) as answers:
        for _ in answers:
            for _ in range(3):
                assert begun.acquire(timeout=PATIENCE)
            raise KeyboardInterrupt
    assert sorted(ended) == [0, 1, 2] or sorted(ended) == [0, 1, 2, 3]
    assert not [t for t in threading.enumerate() if t.name == "asks a model"]


def test_as_many_requests_as_a_model_answers_and_never_two_models_together() -> None:
    places, inside = Places(), {"a": Counted(), "b": Counted()}
    together = []

    def ask(model: str) -> None:
        with places.taken(model, lambda: 3), inside[model]:
            together.append(inside["a"].now and inside["b"].now)
            time.sleep(0.02)

    threads = [threading.Thread(target=ask, args=("ab"[n % 5 == 4],)) for n in range(25)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
    assert inside["a"].most <= 3 and not any(together) and len(together) == 25


def test_who_waits_first_is_next_but_not_while_its_work_is_paused() -> None:
    places, paused, done = Places(), threading.Event(), []
    asleep = threading.Event()

    def cancelled() -> bool:
        asleep.set()
        assert paused.wait(PATIENCE)  # as Brake.ends does
        return False

    def late() -> None:
        with places.taken("a", lambda: 1, cancelled):
            done.append("paused")

    with places.taken("a", lambda: 1):
        thread = threading.Thread(target=late)
        thread.start()
        assert asleep.wait(PATIENCE)
    with places.taken("a", lambda: 1):
        done.append("next")
    paused.set()
    thread.join(PATIENCE)
    assert done == ["next", "paused"]


def test_who_is_cancelled_in_the_line_leaves_it() -> None:
    places, looks = Places(), [False, True]
    with places.taken("a", lambda: 1), pytest.raises(Cancelled), places.taken("b", lambda: 4, lambda: looks.pop(0)):
        raise AssertionError("only one model at a time")
    with places.taken("b", lambda: 1), pytest.raises(ZeroDivisionError), places.taken("b", lambda: 2):
        raise ZeroDivisionError
    with places.taken("a", lambda: 1):
        pass


def test_a_model_that_does_not_say_answers_one() -> None:
    class Four:
        at_once = 4

    assert (at_once(object()), at_once(None), at_once(Four())) == (1, 1, 4)
