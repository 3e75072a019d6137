"""The engine in its own process: it answers, sends events, can die without stopping the window, and ends with its parent."""

from __future__ import annotations

import os
import queue
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from m3desk import commands, engine, events
from m3desk.app import App
from m3desk.desk import EngineDesk
from m3desk.errors import CorrectionError, MemoryProblem, ModelFailed, SourceMissing

sys.path.insert(0, str(Path(__file__).parent))
from made import shipped_models, talking_signs

PATIENCE = 60.0


class Listening:
    """A desk and what it told, in order."""

    def __init__(self, path: Path) -> None:
        self.heard: queue.Queue[Any] = queue.Queue()
        self.desk = EngineDesk(str(path))
        self.desk.subscribe(self.heard.put)

    def until(self, wanted: Callable[[Any], bool]) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                event = self.heard.get(timeout=1)
            except queue.Empty:
                continue
            if wanted(event):
                return event
        raise AssertionError("that was not told")

    def until_a(self, kind: type) -> Any:
        return self.until(lambda e: isinstance(e, kind))


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    monkeypatch.setenv("M3DESK_CONFIG", str(shipped_models(tmp_path)))
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    one = Listening(tmp_path / "desk.m3desk")
    one.until_a(events.EngineReady)
    yield one
    one.desk.close()


def test_a_file_becomes_memories_and_the_window_can_read_them(listening: Listening, tmp_path: Path):
    (source,) = listening.desk.memorize([str(talking_signs(tmp_path / "signs.mp4", seconds=4))]).result(PATIENCE)
    listening.until(lambda e: isinstance(e, events.ClipCommitted) and e.state == "episodic")
    listening.until(lambda e: isinstance(e, events.SourceChanged) and e.state == "done")
    with listening.desk.reader() as reader:
        assert {s.id: s.state for s in reader.sources()}[source] == "done"
        assert "GATE" in " ".join(s.shown for s in reader.memories())


@pytest.mark.slow
def test_what_goes_wrong_comes_back_as_what_it_is(listening: Listening, tmp_path: Path):
    with pytest.raises(SourceMissing) as missing:
        listening.desk.memorize([str(tmp_path / "absent.mp4")]).result(PATIENCE)
    assert missing.value.hint
    with pytest.raises(CorrectionError):
        listening.desk.undo().result(PATIENCE)


def test_a_retry_that_can_not_be_is_told(listening: Listening):
    listening.desk.retry("s7")
    assert "s7" in listening.until_a(events.Notice).text


@pytest.mark.slow
def test_removing_a_source_in_work_leaves_the_rest_of_the_queue_going(listening: Listening, tmp_path: Path):
    videos = [str(talking_signs(tmp_path / f"{name}.mp4", seconds=6 + i)) for i, name in enumerate("ab")]
    first, second = listening.desk.memorize(videos).result(PATIENCE)
    listening.until(lambda e: isinstance(e, events.Progress) and e.source == first)
    listening.desk.remove_source(first).result(PATIENCE)
    listening.until(lambda e: isinstance(e, events.SourceChanged) and (e.source, e.state) == (second, "done"))


@pytest.mark.slow
def test_undo_reaches_back_to_the_start_of_this_sitting_only(listening: Listening):
    with pytest.raises(CorrectionError, match="session"):
        listening.desk.undo().result(PATIENCE)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_question_to_a_memory_that_did_not_open_ends_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    (tmp_path / "file.m3desk").write_text("this is no folder")
    one = Listening(tmp_path / "file.m3desk")
    one.until_a(events.Notice)
    ask = one.desk.ask("Who is this?")
    done = one.until_a(events.AskDone)
    one.desk.close()
    assert done.ask == ask and done.error and "file.m3desk" in done.error


@pytest.mark.slow
def test_a_call_that_a_closing_window_left_open_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    desk = EngineDesk(str(tmp_path / "m.m3desk"))
    asked = desk.suggestions()
    desk.close()  # its engine ends before it has opened the memory
    with pytest.raises(CancelledError):
        asked.result(PATIENCE)
    with pytest.raises((CancelledError, ModelFailed)):
        desk.suggestions().result(PATIENCE)


def test_a_call_that_meets_the_end_of_its_engine_is_answered_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(EngineDesk, "_start", lambda _self: None)
    desk = EngineDesk("m")

    class Ended:
        def send(self, _message: object) -> None:
            desk._lost(-9)  # noticed by the listening thread just before this call fails
            raise BrokenPipeError

    desk._pipe = Ended()  # type: ignore[assignment]
    with pytest.raises(ModelFailed):
        desk.queue().result(1)


@pytest.mark.slow
def test_an_engine_that_dies_is_told_of_and_started_again(listening: Listening):
    os.kill(listening.desk.pid() or 0, signal.SIGKILL)
    lost = listening.until_a(events.EngineLost)
    assert lost.restarting
    assert "signal 9" in lost.message
    listening.until_a(events.EngineReady)
    assert listening.desk.queue().result(PATIENCE) == []


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_an_engine_ends_with_its_window_even_if_that_is_killed(tmp_path: Path):
    code = (
        "import sys, threading\n"
        "from m3desk.desk import EngineDesk\n"
        "if __name__ == '__main__':\n"
        "    desk = EngineDesk(sys.argv[1])\n"
        "    desk.models().result(60)\n"
        "    print(desk.pid(), flush=True)\n"
        "    threading.Event().wait()\n"
    )
    script = tmp_path / "window.py"
    script.write_text(code)
    window = subprocess.Popen([sys.executable, str(script), str(tmp_path / "m.m3desk")], stdout=subprocess.PIPE, text=True)
    assert window.stdout is not None
    engine = psutil.Process(int(window.stdout.readline()))
    window.kill()
    window.wait()
    engine.wait(30)


def test_corrections_that_follow_each_other_wait_for_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    enough = threading.Event()

    class FakeApp:
        settings = SimpleNamespace(threads=1, profile="tiny")
        work = SimpleNamespace(resume=lambda: None)
        live = SimpleNamespace(recover=lambda: None)

        def __init__(self, *_: object, **__: object) -> None: ...

        def missing(self) -> dict[str, str]:
            return {}

        def version(self) -> int:
            return 1

        def keep_up(self) -> None: ...

        def keep_copy(self) -> None:
            done.append("copy")
            if done.count("copy") > 1:
                enough.set()

    monkeypatch.setattr("m3desk.app.App", FakeApp)
    monkeypatch.setattr(engine, "QUIET", 1.0)
    pipe = SimpleNamespace(send=lambda _message: None)
    served = engine.Engine(pipe, "m")  # type: ignore[arg-type]

    def work(_app: object) -> None:
        done.append("work")
        if done.count("work") < 4:
            served.wake()  # a correction meanwhile

    monkeypatch.setattr(served, "_work", work)
    threading.Thread(target=served._open_and_work, daemon=True).start()
    assert enough.wait(30)
    assert done == ["copy", "work", "work", "work", "work", "copy"]


def test_an_error_before_the_work_begins_is_told_and_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    told: queue.Queue[Any] = queue.Queue()

    def full() -> None:
        raise MemoryProblem("the disk is full.", "Make room.")

    class FakeApp:
        settings = SimpleNamespace(threads=1, profile="tiny")
        work = SimpleNamespace(resume=full)
        live = SimpleNamespace(recover=lambda: None)
        missing = version = keep_up = keep_copy = staticmethod(full)

        def __init__(self, *_: object, **__: object) -> None: ...

    monkeypatch.setattr("m3desk.app.App", FakeApp)
    served = engine.Engine(SimpleNamespace(send=lambda message: told.put(message[1])), "m")  # type: ignore[arg-type]
    monkeypatch.setattr(served, "_work", lambda _app: told.put("work"))
    threading.Thread(target=served._open_and_work, daemon=True).start()
    for _ in range(4):
        assert told.get(timeout=30) == events.Notice("error", "the disk is full.", "Make room.")
    assert told.get(timeout=30) == "work"


def test_a_new_memory_in_which_nothing_came_is_deleted_when_it_is_closed_and_any_other_stays(tmp_path: Path):
    path = tmp_path / "new.m3desk"
    closed = SimpleNamespace(app=App(path))
    closed.app.keep_copy()
    commands.Close().run(closed)  # type: ignore[arg-type]
    assert not path.exists(), list(path.rglob("*"))
    App(path).close()
    commands.Close().run(SimpleNamespace(app=App(path)))  # type: ignore[arg-type]
    assert path.is_dir()


def test_deleting_an_empty_memory_that_is_cut_short_never_leaves_a_damaged_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "new.m3desk"
    app = App(path)
    app.keep_copy()
    (path / "backup").mkdir(exist_ok=True)
    monkeypatch.setattr("m3desk.app.app.shutil.rmtree", lambda *_a, **_k: (_ for _ in ()).throw(OSError("killed here")))
    app.discard_if_unused()
    with App(path) as again:
        assert again.check()["ok"]
    monkeypatch.undo()
    assert path.is_dir()


@pytest.mark.parametrize(("closing", "notices"), [(False, 1), (True, 0)])
def test_work_that_closing_cut_off_is_no_error(closing: bool, notices: int) -> None:
    told: queue.Queue[Any] = queue.Queue()
    served = engine.Engine(SimpleNamespace(send=lambda message: told.put(message[1])), "m")  # type: ignore[arg-type]
    served._closing = closing

    def cut_off() -> None:
        raise sqlite3.ProgrammingError("Cannot operate on a closed database.")

    served._told(cut_off)
    assert told.qsize() == notices
