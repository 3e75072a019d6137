"""What is left of a model process when the program, the process or the guard is killed: nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from m3desk.children import child as children
from m3desk.children import orphans
from m3desk.children.child import Child
from m3desk.children.guard import LOG_BYTES, LOG_KEPT, Guard, descendants, started
from tests.children.processes import noted, running, stubborn, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals; on Windows a job object ends the processes")

ROOT = Path(__file__).resolve().parent.parent.parent

# A program that starts a process at once, says so, and does nothing more.
PROGRAM = """
import sys, time
from m3desk.children.child import Child
print("up", flush=True)
Child("stand-in", sys.argv[2:], grace=float(sys.argv[1]))
time.sleep(600)
"""


def _program(folder: Path, command: list[str], grace: float = 0.5) -> subprocess.Popen[str]:
    env = {**os.environ, "M3DESK_DATA": str(folder), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(grace), *command], stdout=subprocess.PIPE, text=True, env=env)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    children._done.clear()
    return tmp_path / "data"


@pytest.mark.slow
def test_of_20_programs_killed_while_their_process_starts_or_runs_nothing_is_left_soon_after(tmp_path: Path) -> None:
    chance = random.Random(5)
    apps = []
    for n in range(20):
        apps.append(_program(tmp_path / "data", stubborn(tmp_path / f"noted-{n}")))
        if len(apps) % 4:
            continue
        for k, app in enumerate(apps[-4:], n - 3):
            assert app.stdout is not None and app.stdout.readline() == "up\n"
            if k % 2:  # on a busy machine the clock alone would kill all of them before their process begins
                assert until(lambda file=tmp_path / f"noted-{k}": bool(noted(file)), 30.0)
            time.sleep(chance.uniform(0, 0.3))
            app.kill()
            app.wait()
            app.stdout.close()
    killed = time.monotonic()
    files = [tmp_path / f"noted-{n}" for n in range(20)]
    folder = tmp_path / "data/cache/children"

    def all_gone() -> bool:
        return not any(running(file) for file in files) and not list(folder.glob("*.json"))

    assert until(all_gone, 30.0), (
        {file.name: left for file in files if (left := running(file))},
        [f.read_text() for f in folder.iterdir()],
    )
    time.sleep(max(0.0, 1.0 - (time.monotonic() - killed)))  # one that a guard started late would be here by now
    assert all_gone()
    assert sum(bool(noted(file)) for file in files) >= 10, "most were killed too early to show anything"


def test_once_the_program_is_gone_a_process_that_ignores_sigterm_is_not_waited_for_as_long_as_when_it_is_stopped(tmp_path: Path) -> None:
    app = _program(tmp_path / "data", stubborn(tmp_path / "noted"), grace=60)
    assert until(lambda: len(noted(tmp_path / "noted")) == 4, 30.0)
    app.kill()
    app.wait()
    assert app.stdout is not None
    app.stdout.close()
    assert until(lambda: running(tmp_path / "noted") == [], 20.0)


def test_a_process_that_is_killed_takes_its_workers_with_it(data: Path, tmp_path: Path) -> None:
    child = Child("stand-in", stubborn(tmp_path / "noted"), grace=0.3)
    assert until(lambda: len(noted(tmp_path / "noted")) == 4)
    os.kill(noted(tmp_path / "noted")[0], signal.SIGKILL)
    assert child.ended.wait(30)
    assert (child.code, running(tmp_path / "noted"), list(orphans.folder().iterdir())) == (137, [], [])
    assert "memory ran out" in str(child.failure())


def test_stopping_ends_workers_that_ignore_sigterm(data: Path, tmp_path: Path) -> None:
    child = Child("stand-in", stubborn(tmp_path / "noted"), grace=0.2)
    assert until(lambda: len(noted(tmp_path / "noted")) == 4)
    child.stop()
    child.stop()
    assert not child.alive and running(tmp_path / "noted") == []


# The guard, with a pause between the kernel's list of its children and the look at each of them: there the process of the list ends.
SLOW_GUARD = """
import sys, time
from m3desk.children import guard
started = guard.started
guard.started = lambda pid: (time.sleep(0.005), started(pid))[1]
sys.exit(guard.main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there the guard adopts what loses its parent")
def test_a_worker_whose_parent_ends_while_the_guard_looks_is_ended_too(tmp_path: Path) -> None:
    for n in range(3):  # without its rule, the guard left a worker 19 times of 20
        reads, life = os.pipe()
        settings = {"record": str(tmp_path / f"{n}.json"), "life": reads, "grace": 0.2, "log": None, "about": {}}
        command = [sys.executable, "-c", SLOW_GUARD, json.dumps(settings), *stubborn(tmp_path / f"noted-{n}")]
        with subprocess.Popen(command, pass_fds=[reads], stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)}) as guard:
            os.close(reads)
            assert until(lambda file=tmp_path / f"noted-{n}": len(noted(file)) == 4)
            os.close(life)
            guard.wait(30)
        left = running(tmp_path / f"noted-{n}")
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert left == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the program itself ends the processes of a killed guard")
def test_a_guard_that_is_killed_leaves_nothing(data: Path, tmp_path: Path) -> None:
    child = Child("stand-in", stubborn(tmp_path / "noted"), grace=0.2)
    assert until(lambda: len(noted(tmp_path / "noted")) == 4)
    assert until(lambda: len(json.loads(next(orphans.folder().glob("*.json")).read_text())["members"]) == 4)
    os.kill(child._guard.pid, signal.SIGKILL)
    assert child.ended.wait(30)
    assert until(lambda: running(tmp_path / "noted") == [], 30.0)
    assert list(orphans.folder().glob("*.json")) == []


def test_what_outlived_program_and_guard_is_ended_at_the_next_start(data: Path, tmp_path: Path) -> None:
    app = _program(data, stubborn(tmp_path / "noted"))
    assert until(lambda: len(noted(tmp_path / "noted")) == 4)
    record = orphans.folder()
    assert until(lambda: any(len(json.loads(f.read_text())["members"]) == 4 for f in record.glob("*.json")))
    [guard] = [pid for pid in descendants(app.pid) if pid not in noted(tmp_path / "noted")]
    os.kill(app.pid, signal.SIGKILL)
    os.kill(guard, signal.SIGKILL)
    app.wait()
    assert until(lambda: started(guard) is None)
    assert app.stdout is not None
    app.stdout.close()
    left = running(tmp_path / "noted")
    assert left, "nothing outlived them: the test shows nothing"
    assert set(left) <= set(orphans.end_orphans())
    assert until(lambda: running(tmp_path / "noted") == []) and list(record.iterdir()) == []


def test_a_foreign_process_with_the_same_id_is_left_alone(data: Path) -> None:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], start_new_session=True) as foreign:
        assert until(lambda: started(foreign.pid) is not None)
        record = orphans.new_record("old")
        gone = [foreign.pid, "an earlier boot:1"]
        record.write_text(json.dumps({"name": "vllm", "program": gone, "guard": gone, "process": gone, "members": [gone]}))
        assert orphans.end_orphans() == [] and foreign.poll() is None
        assert not record.exists(), "there is nothing to end: the record goes"
        foreign.kill()


def test_records_that_are_no_records_do_no_harm(data: Path) -> None:
    for n, text in enumerate(("", "[]", '{"process": [1, null]}', '{"members": 3, "guard": ["a", "b"], "process": [0, "x"]}')):
        orphans.new_record(f"r{n}").write_text(text)
    assert orphans.end_orphans() == []


def test_the_process_of_another_program_that_runs_is_left_alone(data: Path, tmp_path: Path) -> None:
    app = _program(data, stubborn(tmp_path / "noted"))
    assert until(lambda: len(noted(tmp_path / "noted")) == 4 and bool(orphans.used_by("stand-in")))
    assert orphans.used_by("stand-in") == [app.pid] and orphans.used_by("other") == []
    assert orphans.end_orphans() == [] and len(running(tmp_path / "noted")) == 4
    app.kill()
    app.wait()
    assert app.stdout is not None
    app.stdout.close()
    assert until(lambda: running(tmp_path / "noted") == [])


def test_a_log_that_grew_too_large_is_cut(tmp_path: Path) -> None:
    guard = Guard.__new__(Guard)
    guard.log = tmp_path / "log"
    guard.log.write_bytes(b"x" * LOG_BYTES + b"the end")
    guard._cut_log()
    assert guard.log.stat().st_size < LOG_KEPT + 100 and guard.log.read_bytes().endswith(b"the end")
