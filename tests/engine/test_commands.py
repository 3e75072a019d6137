"""The engine's process, run here on a pipe of its own: each command is answered, and what needs no memory waits for none."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from m3desk import commands
from m3desk.engine import Engine
from m3desk.errors import M3DeskError, MemoryProblem
from m3desk.store.memory import Memory

ALL = [c for c in vars(commands).values() if isinstance(c, type) and hasattr(c, "__dataclass_fields__")]


@pytest.fixture
def unopened(tmp_path: Path) -> Iterator[tuple[Engine, Connection]]:
    """An engine whose memory can't be opened, with the window's end of its pipe."""
    (tmp_path / "file.m3desk").write_text("this is no folder")
    ours, theirs = multiprocessing.Pipe()
    engine = Engine(theirs, str(tmp_path / "file.m3desk"))
    thread = threading.Thread(target=engine.run, daemon=True)
    thread.start()
    yield engine, ours
    ours.close()
    thread.join(10)
    assert not thread.is_alive()


def answer(pipe: Connection, command: commands.Command[Any]) -> tuple[bool, Any]:
    pipe.send((7, command))
    while pipe.poll(20):
        message = pipe.recv()
        if message[0] == "reply":
            assert message[1] == 7
            return message[2], message[3]
    raise AssertionError("no reply came")


def test_a_command_that_needs_the_memory_is_refused_with_the_reason_it_did_not_open(unopened: tuple[Engine, Connection]) -> None:
    good, error = answer(unopened[1], commands.Check())
    assert not good
    assert isinstance(error, MemoryProblem)
    assert "file.m3desk" in str(error)


def test_models_are_listed_and_a_download_is_stopped_where_the_memory_did_not_open(
    unopened: tuple[Engine, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    began, stopped = threading.Event(), threading.Event()

    def pull(*, cancelled: Any, **_how: Any) -> None:
        began.set()
        while not cancelled():
            stopped.wait(0.01)
        stopped.set()

    monkeypatch.setattr("m3desk.models.pull", pull)
    good, rows = answer(unopened[1], commands.ListModels())
    assert good
    assert "yunet" in {r["name"] for r in rows}
    unopened[1].send((1, commands.Pull((), False)))
    assert began.wait(20)
    unopened[1].send((2, commands.StopPulling()))
    assert stopped.wait(20)


def test_a_fault_of_a_command_is_told_and_the_next_one_is_answered(
    unopened: tuple[Engine, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("all is lost")

    monkeypatch.setattr("m3desk.models.rows", broken)
    good, error = answer(unopened[1], commands.ListModels())
    assert not good
    assert isinstance(error, M3DeskError)
    assert "all is lost" in str(error)
    assert not answer(unopened[1], commands.Check())[0]


@pytest.mark.parametrize("command", ALL, ids=lambda c: c.__name__)
def test_each_command_passes_through_a_pipe_unchanged(command: type) -> None:
    made = command(**dict.fromkeys(command.__dataclass_fields__, "x"))
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_memory_that_another_engine_is_just_closing_opens(tmp_path: Path) -> None:
    ours, theirs = multiprocessing.Pipe()
    with Memory.create(tmp_path / "m.m3desk"):
        thread = threading.Thread(target=Engine(theirs, str(tmp_path / "m.m3desk")).run, daemon=True)
        thread.start()
        ours.send((1, commands.ReadQueue()))
        assert not ours.poll(1.5)
    while (message := ours.recv())[0] != "reply":
        pass
    assert message[1:] == (1, True, [])
    ours.send((-1, commands.Close()))
    thread.join(10)
