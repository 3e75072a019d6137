"""A run that is killed leaves a memory that opens, checks clean, and is finished by the next run as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from m3desk.interop.exports import same_memory

sys.path.insert(0, str(Path(__file__).parent))
from made import shipped_models, talking_signs

pytestmark = pytest.mark.timeout(280)


def run(*args: object, kill_after: float | None = None, config: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "M3DESK_CONFIG": str(config)} if config else dict(os.environ)
    process = subprocess.Popen(
        [sys.executable, "-m", "m3desk", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    try:
        out, err = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def memorized(video: Path, memory: Path, kill_after: float | None = None) -> subprocess.CompletedProcess[str]:
    return run(
        "memorize",
        video,
        "-m",
        memory,
        "--clip-seconds",
        5,
        "--no-semantic",
        "-q",
        kill_after=kill_after,
        config=shipped_models(memory.parent),
    )


def exported(memory: Path) -> dict[str, object]:
    done = run("export", "-m", memory, "-o", "-", "-q")
    assert done.returncode == 0, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_run_resumes_to_the_same_memory(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4")
    began = time.monotonic()
    assert memorized(video, tmp_path / "calm.m3desk").returncode == 0
    whole = time.monotonic() - began
    for share in (0.45, 0.7, 0.9):
        memorized(video, tmp_path / "killed.m3desk", kill_after=whole * share)
        if (tmp_path / "killed.m3desk" / "memory.sqlite").exists():
            checked = run("check", "-m", tmp_path / "killed.m3desk")
            assert checked.returncode == 0, checked.stdout + checked.stderr
    assert memorized(video, tmp_path / "killed.m3desk").returncode == 0
    calm, killed = exported(tmp_path / "calm.m3desk"), exported(tmp_path / "killed.m3desk")
    assert same_memory(calm, killed) == []
    assert len(calm["clips"]) == 3  # type: ignore[arg-type]
    assert calm["texts_on_screen"], "the signs are read"


def test_the_same_file_again_changes_nothing(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4", seconds=4)
    for _ in range(2):
        assert memorized(video, tmp_path / "m.m3desk").returncode == 0
    assert len(exported(tmp_path / "m.m3desk")["sources"]) == 1  # type: ignore[arg-type]
