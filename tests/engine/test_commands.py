"""The engine's process, run here on a pipe: each command is answered, and commands that need no memory do not wait for one."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
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
    thread.join(30)
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
    assert began.wait(30)
    unopened[1].send((2, commands.StopPulling()))
    assert stopped.wait(30)


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
    thread.join(30)


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, Any, Connection]]:
    """An engine whose memory opens when the event is set; what its memory does is put on the given object."""
    opens, app = threading.Event(), SimpleNamespace()
    ours, theirs = multiprocessing.Pipe()
    engine = Engine(theirs, "m")

    def open_and_work() -> None:
        opens.wait(30)
        engine._app = app
        engine._begin_queued()

    monkeypatch.setattr(engine, "_open_and_work", open_and_work)
    thread = threading.Thread(target=engine.run, daemon=True)
    thread.start()
    yield opens, app, ours
    opens.set()
    ours.close()
    thread.join(30)


def replies(pipe: Connection, count: int) -> list[tuple[int, bool, Any]]:
    found = []
    while len(found) < count and pipe.poll(20):
        message = pipe.recv()
        if message[0] == "reply":
            found.append(message[1:])
    return found


def test_commands_that_come_before_the_memory_is_open_wait_in_order_and_hold_up_nobody(
    opening: tuple[threading.Event, Any, Connection],
) -> None:
    opens, app, pipe = opening
    done: list[str] = []
    app.work = SimpleNamespace(pause=lambda paused: done.append(f"pause {paused}"), queue=SimpleNamespace(ids=lambda: list(done)))
    app.check = dict
    for number in range(6):
        pipe.send((number, commands.Check()))
    pipe.send((6, commands.Pause(True)))
    pipe.send((7, commands.Pause(False)))
    pipe.send((8, commands.ReadQueue()))
    pipe.send((9, commands.ListModels()))
    assert [n for n, *_ in replies(pipe, 1)] == [9], "what needs no memory is answered at once"
    opens.set()
    answered = {number: value for number, _, value in replies(pipe, 9)}
    assert sorted(answered) == list(range(9)) and answered[8] == ["pause True", "pause False"]


def test_a_waveform_that_takes_long_holds_up_no_pause_and_ends_with_its_engine(opening: tuple[threading.Event, Any, Connection]) -> None:
    opens, app, pipe = opening
    listened, closed = threading.Event(), threading.Event()
    app.make_waveform = lambda source: listened.wait(30)
    app.work = SimpleNamespace(pause=lambda paused: None)
    app.discard_if_unused = closed.set
    opens.set()
    pipe.send((1, commands.MakeWaveform("s1")))
    pipe.send((2, commands.Pause(True)))
    assert [n for n, *_ in replies(pipe, 1)] == [2]
    pipe.send((-1, commands.Close()))
    assert closed.wait(30)
    listened.set()


def test_a_correction_that_runs_models_holds_up_no_pause_and_is_done_before_its_undo(
    opening: tuple[threading.Event, Any, Connection],
) -> None:
    opens, app, pipe = opening
    learned, done = threading.Event(), []

    def correct(kind: str, *_: Any, **__: Any) -> str:
        assert learned.wait(30)
        done.append(kind)
        return "taught"

    app.correct = correct
    app.undo = lambda: done.append("undo")
    app.work = SimpleNamespace(pause=lambda paused: done.append("pause"))
    opens.set()
    pipe.send((1, commands.Correct("enroll", {"name": "Ann", "files": ["ann.jpg"]})))
    pipe.send((2, commands.Undo()))
    pipe.send((3, commands.Pause(True)))
    assert [n for n, *_ in replies(pipe, 1)] == [3] and done == ["pause"]
    learned.set()
    assert [n for n, *_ in replies(pipe, 2)] == [1, 2] and done == ["pause", "enroll", "undo"]


def test_taking_back_an_older_correction_can_itself_be_undone_in_a_session_without_others(
    opening: tuple[threading.Event, Any, Connection],
) -> None:
    opens, app, pipe = opening
    app.revert, app.undo = lambda step: f"took back {step}", lambda: "undone"
    opens.set()
    for number, command in enumerate((commands.Undo(), commands.Revert(3), commands.Undo(), commands.Undo())):
        pipe.send((number, command))
    answers = [(good, value) for _, good, value in replies(pipe, 4)]
    assert [good for good, _ in answers] == [False, True, True, False] and answers[2][1] == "undone"
