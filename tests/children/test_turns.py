"""Models that do not fit on one card together take turns: nobody is unloaded at work, who waited longest is next, and may give up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from m3desk.children import loading
from m3desk.children.turns import Card, Loaded
from m3desk.errors import Cancelled


class Model(Loaded):
    """A model that notes when it is unloaded."""

    def __init__(self, name: str, need: int, log: list[str]) -> None:
        super().__init__(name, need, lambda: log.append(f"{name} unloaded"))


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def told() -> Iterator[list[str]]:
    said: list[str] = []
    end = loading.listen(lambda name, done, line: said.append(f"{name}: {'done' if done else line}"))
    yield said
    end()


def test_what_fits_together_stays(log: list[str]) -> None:
    card = Card(lambda: 24)
    watcher, control = Model("watcher", 12, log), Model("control", 12, log)
    with card.at_work(watcher), card.at_work(control):
        pass
    assert log == []


def test_what_does_not_fit_is_unloaded_before_the_other_works_and_that_is_told(log: list[str], told: list[str]) -> None:
    card = Card(lambda: 24)
    watcher, control = Model("watcher", 13, log), Model("control", 23, log)
    for model in (watcher, control, watcher):
        with card.at_work(model):
            log.append(f"{model.name} works")
    assert log == ["watcher works", "watcher unloaded", "control works", "control unloaded", "watcher works"]
    assert told[:2] == ["control: watcher is unloaded: both do not fit on the graphics card", "control: done"]


def test_others_need_not_wait_while_the_card_is_measured(log: list[str]) -> None:
    measuring, go_on = threading.Event(), threading.Event()

    def free() -> int:
        measuring.set()
        go_on.wait(30)
        return 24

    card = Card(free)
    model = Model("watcher", 12, log)

    def work() -> None:
        with card.at_work(model):
            log.append("watcher works")

    working = threading.Thread(target=work, daemon=True)
    working.start()
    assert measuring.wait(30)
    leaving = threading.Thread(target=card.left, args=(Model("control", 12, log),), daemon=True)
    leaving.start()
    leaving.join(30)
    waited = leaving.is_alive()
    go_on.set()
    working.join(30)
    assert not waited and log == ["watcher works"]


def test_only_as_many_as_needed_go_those_used_longest_ago_first(log: list[str]) -> None:
    card = Card(lambda: 10)
    a, b, c = (Model(name, 4, log) for name in "abc")
    for model in (a, b, a, c):
        with card.at_work(model):
            pass
    assert log == ["b unloaded"]


def test_without_a_card_and_where_one_is_too_large_by_itself_nobody_waits(log: list[str]) -> None:
    for card in (Card(lambda: None), Card(lambda: 5)):
        with card.at_work(Model("large", 100, log)):
            pass
    card = Card(lambda: None)
    with card.at_work(Model("a", 100, log)), card.at_work(Model("b", 100, log)):
        pass
    assert log == []


def test_the_card_is_looked_at_again_when_nothing_of_ours_is_on_it(log: list[str]) -> None:
    free = [10]
    card = Card(lambda: free[0])
    a, b = Model("a", 6, log), Model("b", 6, log)
    with card.at_work(a):
        pass
    card.left(a)
    free[0] = 20
    with card.at_work(a), card.at_work(b):
        pass
    assert log == []


def test_a_model_at_work_is_waited_for_and_the_first_in_the_line_is_next(log: list[str], told: list[str]) -> None:
    card = Card(lambda: 24)
    watcher, control = Model("watcher", 13, log), Model("control", 23, log)
    answered, more = threading.Event(), threading.Event()

    def answer() -> None:
        with card.at_work(control):
            log.append("control works")
        answered.set()

    def watch_again() -> None:
        with card.at_work(watcher):
            log.append("watcher works again")
        more.set()

    with card.at_work(watcher):
        threading.Thread(target=answer, daemon=True).start()
        while "control: waiting for watcher to finish: both do not fit on the graphics card" not in told:
            time.sleep(0.005)
        with card.at_work(watcher, part=True):  # what a request does besides does not wait for itself
            pass
        assert log == [] and not answered.is_set()
    threading.Thread(target=watch_again, daemon=True).start()
    assert answered.wait(30) and more.wait(30)
    assert log == ["watcher unloaded", "control works", "control unloaded", "watcher works again"]


def test_a_further_request_to_the_model_at_work_does_not_pass_the_line(log: list[str], told: list[str]) -> None:
    card = Card(lambda: 24)
    watcher, control = Model("watcher", 13, log), Model("control", 23, log)

    def work(model: Model, what: str) -> threading.Thread:
        def run() -> None:
            with card.at_work(model):
                log.append(what)

        working = threading.Thread(target=run, daemon=True)
        working.start()
        return working

    with card.at_work(watcher):
        answering = work(control, "control works")
        while "control: waiting for watcher to finish: both do not fit on the graphics card" not in told:
            time.sleep(0.005)
        again = work(watcher, "watcher works again")
        while "watcher: waiting for control to finish: both do not fit on the graphics card" not in told:
            assert log == []
            time.sleep(0.005)
    answering.join(30)
    again.join(30)
    assert log == ["watcher unloaded", "control works", "control unloaded", "watcher works again"]


def test_waiting_can_be_stopped_and_leaves_the_line(log: list[str]) -> None:
    card = Card(lambda: 24)
    watcher, control = Model("watcher", 13, log), Model("control", 23, log)
    with card.at_work(watcher), pytest.raises(Cancelled), card.at_work(control, lambda: True):
        raise AssertionError
    with card.at_work(watcher):
        pass
    assert log == []
