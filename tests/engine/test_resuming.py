"""A killed run leaves a memory that opens and passes `check`; the next run finishes it with the same result."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from m3desk.errors import MemoryProblem
from m3desk.interop.exports import same_memory
from m3desk.store.memory import Memory

sys.path.insert(0, str(Path(__file__).parent))
from made import shipped_models, talking_signs

pytestmark = pytest.mark.timeout(280)


def started(*args: object, config: Path | None = None) -> subprocess.Popen[str]:
    env = {**os.environ, "M3DESK_CONFIG": str(config)} if config else dict(os.environ)
    command = [sys.executable, "-m", "m3desk", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def run(*args: object, config: Path | None = None) -> subprocess.CompletedProcess[str]:
    process = started(*args, config=config)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def memorizing(video: Path, memory: Path) -> tuple[object, ...]:
    return ("memorize", video, "-m", memory, "--clip-seconds", 5, "--no-semantic", "-q")


def memorized(video: Path, memory: Path) -> subprocess.CompletedProcess[str]:
    return run(*memorizing(video, memory), config=shipped_models(memory.parent))


def states(memory: Path) -> list[str]:
    """Return the states of a memory's clips; [] while it is being made."""
    try:
        with Memory.open(memory) as reader:
            return [c.state for c in reader.clips()]
    except MemoryProblem:
        return []


def killed_after(commits: int, video: Path, memory: Path) -> None:
    """Memorize until that many clips are committed, then kill; make sure that the kill came in the middle of the work."""
    process = started(*memorizing(video, memory), config=shipped_models(memory.parent))
    while not (now := states(memory)) or now.count("episodic") < commits:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it had ended before"
    assert "queued" in states(memory), "nothing was left to do"


def exported(memory: Path) -> dict[str, object]:
    done = run("export", "-m", memory, "-o", "-", "-q")
    assert done.returncode == 0, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_run_resumes_to_the_same_memory(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4", seconds=16)
    assert memorized(video, tmp_path / "calm.m3desk").returncode == 0
    for committed in (0, 1, 2):
        killed_after(committed, video, tmp_path / "killed.m3desk")
        checked = run("check", "-m", tmp_path / "killed.m3desk")
        assert checked.returncode == 0, checked.stdout + checked.stderr
    assert memorized(video, tmp_path / "killed.m3desk").returncode == 0
    calm, killed = exported(tmp_path / "calm.m3desk"), exported(tmp_path / "killed.m3desk")
    assert same_memory(calm, killed) == []
    assert len(calm["clips"]) == 4  # type: ignore[arg-type]
    assert calm["texts_on_screen"], "the signs are read"


@pytest.mark.slow
def test_the_same_file_again_changes_nothing(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4", seconds=4)
    for _ in range(2):
        assert memorized(video, tmp_path / "m.m3desk").returncode == 0
    assert len(exported(tmp_path / "m.m3desk")["sources"]) == 1  # type: ignore[arg-type]
