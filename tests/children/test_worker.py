"""A process that answers requests over a pipe: arrays, streams, cancelling, crashes, and the next use after them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from m3desk.children import child as children
from m3desk.children import pipe
from m3desk.children.pipe import Worker
from m3desk.errors import Cancelled, ModelFailed, ModelMissing

PROGRAM = """
import os, sys, time

print("a library greets")

def double(request, call):
    os.write(1, b"a library prints\\n")
    return {"said": request["said"], "arguments": sys.argv[1:]}, [a * 2 for a in request["arrays"]]

def words(request, call):
    for n in range(request["n"]):
        if call.cancelled:
            return {"n": n}
        call.progress("at work", n / request["n"])
        call.piece(f"w{n} ")
        time.sleep(request.get("pause", 0))
    return {"n": request["n"]}

def fail(request, call):
    how = request["how"]
    if how == "crash":
        os.abort()
    elif how == "kill":
        os.kill(os.getpid(), 9)
    elif how == "exit":
        os._exit(3)
    elif how == "raise":
        [][0]
    elif how == "missing":
        call.refuse("no weights.", "Get them.", "missing")
    elif how == "memory":
        raise RuntimeError("CUDA out of memory: 1 GiB")
    elif how == "closes its pipe":
        os.close(4)
        time.sleep(600)
    elif how == "garbage":
        # the pipe of the answers: the second file that the process opens
        os.write(4, b"[1]\\n")
    else:
        time.sleep(600)

def pid(request, call):
    return {"pid": os.getpid()}

HANDLERS = {"double": double, "words": words, "fail": fail, "pid": pid}
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path))
    children._done.clear()
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    said: list[tuple[str, float | None]] = []
    made = Worker(
        "stand-in", sys.executable, program, arguments=["one"], grace=0.2, progress=lambda text, share: said.append((text, share))
    )
    made.said = said  # type: ignore[attr-defined]
    yield made
    made.stop()
    assert not made.alive


def test_arrays_go_there_and_back_and_what_libraries_print_goes_to_the_log(worker: Worker) -> None:
    sent = [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.zeros((0, 4), np.uint8),
        np.array(3, np.int64),
        np.ones((3, 500, 700), np.uint8)[:, ::2],
    ]
    answer = worker.ask("double", {"said": "“ü”\n"}, sent)
    assert answer.body == {"said": "“ü”\n", "arguments": ["one"]}
    for before, after in zip(sent, answer.arrays, strict=True):
        assert after.dtype == before.dtype and np.array_equal(after, before * 2)
    assert worker.process is not None
    assert [line for line in worker.process.log_tail() if "library" in line] == ["a library greets", "a library prints"]


def test_a_reply_is_streamed_with_progress(worker: Worker) -> None:
    assert "".join(worker.stream("words", {"n": 3})) == "w0 w1 w2 "
    assert worker.said == [("at work", 0.0), ("at work", 1 / 3), ("at work", 2 / 3)]  # type: ignore[attr-defined]


def test_a_stream_that_is_closed_or_cancelled_stops_the_work_and_the_process_stays(worker: Worker) -> None:
    before = worker.ask("pid").body
    stream = worker.stream("words", {"n": 100_000, "pause": 0.01})
    assert next(stream) == "w0 "
    stream.close()
    wanted = threading.Event()
    pieces = []
    for piece in worker.stream("words", {"n": 100_000, "pause": 0.01}, cancelled=wanted.is_set):
        pieces.append(piece)
        wanted.set()
    assert pieces and worker.ask("pid").body == before
    with pytest.raises(Cancelled):
        worker.ask("words", {"n": 100_000, "pause": 0.01}, cancelled=lambda: True)
    assert worker.ask("pid").body == before


def test_a_process_that_does_not_obey_is_ended_and_started_again(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "CANCEL_SECONDS", 0.3)
    before = worker.ask("pid").body
    with pytest.raises(Cancelled):
        worker.ask("fail", {"how": "deaf"}, cancelled=lambda: True)
    assert worker.ask("pid").body != before


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("crash", r"crashed \(signal 6\)"),
        ("kill", "memory ran out"),
        ("exit", "exit code 3.*a library greets"),
        ("garbage", "wrote what is no message"),
    ],
)
def test_a_crash_is_told_and_the_next_request_starts_it_again(worker: Worker, how: str, said: str) -> None:
    before = worker.ask("pid").body
    with pytest.raises(ModelFailed, match=said):
        worker.ask("fail", {"how": how})
    assert worker.ask("pid").body != before


def test_a_process_that_closes_its_pipe_and_lives_on_is_ended(worker: Worker) -> None:
    worker.ask("pid")
    process = worker.process
    assert process is not None
    with pytest.raises(ModelFailed, match="closed its pipe at a request"):
        worker.ask("fail", {"how": "closes its pipe"})
    assert process.ended.wait(30), "it would keep its memory, and nobody could reach it"


def test_errors_of_a_handler_are_model_errors_and_the_process_stays(worker: Worker) -> None:
    before = worker.ask("pid").body
    with pytest.raises(ModelFailed, match=r"stand-in failed \(IndexError: list index out of range"):
        worker.ask("fail", {"how": "raise"})
    with pytest.raises(ModelFailed, match=r"not enough memory \(RuntimeError: CUDA out of memory"):
        worker.ask("fail", {"how": "memory"})
    with pytest.raises(ModelMissing, match="no weights") as told:
        worker.ask("fail", {"how": "missing"})
    assert told.value.hint == "Get them."
    with pytest.raises(ModelFailed, match="KeyError"):
        worker.ask("unknown")
    assert worker.ask("pid").body == before


def test_a_program_that_cannot_be_loaded_is_told_with_its_last_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path))
    program = tmp_path / "program.py"
    program.write_text("import no_such_library")
    worker = Worker("stand-in", sys.executable, program)
    with pytest.raises(Exception, match=r"while it started: a library is missing.*No module named 'no_such_library'"):
        worker.ask("pid")
    program.write_text("HANDLERS = {'pid': lambda request, call: {}}")
    assert worker.ask("pid").body == {}
    worker.stop()


def test_requests_of_several_threads_come_one_after_another(worker: Worker) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append("".join(worker.stream("words", {"n": 5, "pause": 0.001})))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["w0 w1 w2 w3 w4 "] * 6
