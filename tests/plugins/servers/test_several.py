"""Several requests to a server at the same time: as many as it and the settings allow, fewer when it says that they are too many."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from m3desk_server.models import ServerWatcher
from m3desk_server.pace import RECOVERY, UNLIMITED, Pace

from m3desk.errors import Cancelled
from m3desk.ports import SeveralAtOnce, Turn
from tests.plugins.servers.scripted import ModelServer
from tests.plugins.servers.test_server import ask, behind

PATIENCE = 30.0


@pytest.mark.parametrize(
    ("dialect", "slots", "options", "before", "after"),
    [
        ("plain", 1, {}, 1, 1),  # nobody knows what it does with further requests
        ("plain", 1, {"at_once": 6}, 6, 6),
        ("vllm", 1, {}, 1, 4),
        ("vllm", 1, {"at_once": 2}, 2, 2),
        ("llama.cpp", 1, {}, 1, 1),
        ("llama.cpp", 9, {}, 1, 4),
        ("llama.cpp", 2, {}, 1, 2),
        ("llama.cpp", 2, {"at_once": 1}, 1, 1),
    ],
)
def test_how_many_depends_on_the_server_and_the_settings(dialect: str, slots: int, options: Any, before: int, after: int) -> None:
    with ModelServer(dialect, slots=slots) as server:
        model = behind(server.url, **options)
        assert isinstance(model, SeveralAtOnce)
        assert model.at_once == before, "as the settings say, else one until the server was asked"
        ask(model, max_tokens=20)
        assert model.at_once == after


def test_slots_that_may_share_one_cache_get_no_more_than_it_holds() -> None:
    with ModelServer("llama.cpp", slots=4, context=4096) as server:
        model = behind(server.url)
        ask(model, max_tokens=1000)  # and a prompt of 6 words
        assert model.at_once == 4
        ask(model, max_tokens=2000)
        assert model.at_once == 2
        ask(model, max_tokens=3000)
        assert model.at_once == 1


def test_requests_run_together_and_no_more_than_that() -> None:
    lock, inside, most, gate = threading.Lock(), [0], [0], threading.Barrier(3)

    def counted(handler: Any, _body: Any) -> bool:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        gate.wait(PATIENCE)  # three are there at the same time, or this fails
        time.sleep(0.05)
        with lock:
            inside[0] -= 1
        return False

    with ModelServer("plain", reply="yes") as server:
        model = behind(server.url, ServerWatcher, at_once=3, sees=True, hears=False, dialect="plain")
        model.prepare()
        server.faults += [counted] * 9
        said: list[str] = []

        def watch() -> None:
            said.append("".join(model.watch([Turn("user", ("What is there?",))])))

        threads = [threading.Thread(target=watch) for _ in range(9)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(PATIENCE)
        assert said == ["yes"] * 9 and most == [3]


def test_after_too_many_all_wait_and_fewer_are_sent() -> None:
    came: list[float] = []
    together = threading.Barrier(4)

    def refused(handler: Any, _body: Any) -> bool:
        together.wait(PATIENCE)
        return bool(handler.refuse(429, "Rate limit reached", Retry_After="4"))

    def noted(handler: Any, _body: Any) -> bool:
        came.append(time.monotonic())
        return False

    with ModelServer("plain", reply="yes") as server:
        model = behind(server.url, at_once=4)
        model.server.known()
        server.faults += [refused] * 4 + [noted] * 20
        began = time.monotonic()
        said: list[str] = []
        threads = [threading.Thread(target=lambda: said.append(ask(model))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(PATIENCE)
        assert said == ["yes"] * 4 and min(came) - began >= 3.9
        assert model.at_once == 2, "those refused together count once"


def test_the_pace_recovers_and_waiting_can_be_stopped() -> None:
    pace = Pace()
    assert pace.allowed == UNLIMITED
    pace.too_many(0.0)
    assert pace.allowed == 1
    for _ in range(RECOVERY):
        with pace.request():
            pass
    assert pace.allowed == 2
    with pytest.raises(ZeroDivisionError), pace.request():
        raise ZeroDivisionError
    pace.too_many(60.0)
    with pytest.raises(Cancelled):
        pace.wait(lambda: True)
