"""Bad input: an exit code, one clear line, and nothing half-written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from made import talking_signs
from test_resuming import exported, memorized, run


def refused(tmp_path: Path, source: Path) -> str:
    memory = tmp_path / "never.m3desk"
    done = run("memorize", source, "-m", memory, "-q")
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert not memory.exists()
    return lines[0]


def test_a_missing_file(tmp_path: Path):
    assert "no file" in refused(tmp_path, tmp_path / "absent.mp4").lower() or "not" in refused(tmp_path, tmp_path / "absent.mp4")


def test_a_file_that_is_no_video(tmp_path: Path):
    text = tmp_path / "letter.mp4"
    text.write_text("Dear Sir or Madam,\n" * 400)
    assert "letter.mp4" in refused(tmp_path, text)


def test_a_file_of_length_zero(tmp_path: Path):
    empty = tmp_path / "empty.mp4"
    empty.touch()
    assert "empty" in refused(tmp_path, empty)


def test_a_video_cut_off_in_the_middle_is_memorized_as_far_as_it_goes(tmp_path: Path):
    whole = talking_signs(tmp_path / "whole.mkv", seconds=12)
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    done = memorized(cut, tmp_path / "m.m3desk", tmp_path / "models")
    assert done.returncode == 0, done.stderr
    assert "warning" in done.stderr
    states = [c["state"] for c in exported(tmp_path / "m.m3desk")["clips"]]  # type: ignore[attr-defined]
    assert "episodic" in states


def test_a_file_that_changed_since_is_noticed_and_nothing_is_lost(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4", seconds=4)
    assert memorized(video, tmp_path / "m.m3desk", tmp_path / "models").returncode == 0
    before = exported(tmp_path / "m.m3desk")
    talking_signs(video, seconds=6)
    done = memorized(video, tmp_path / "m.m3desk", tmp_path / "models")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()[-1:]) == 1
    assert "--rebuild" in done.stderr
    assert exported(tmp_path / "m.m3desk") == before
    done = run(
        "memorize", video, "-m", tmp_path / "m.m3desk", "--clip-seconds", 2, "--no-semantic", "-q", "--rebuild", models=tmp_path / "models"
    )
    assert done.returncode == 0, done.stderr
    assert len([c for c in exported(tmp_path / "m.m3desk")["clips"] if c["state"] == "episodic"]) == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", [("ask", "who?"), ("people", "list"), ("check",), ("export", "-o", "-"), ("search", "nodes", "x")])
def test_a_memory_that_is_not_there(tmp_path: Path, command: tuple[str, ...]):
    done = run(*command, "-m", tmp_path / "absent.m3desk")
    assert done.returncode == 1
    assert "no memory" in done.stderr
    assert not (tmp_path / "absent.m3desk").exists()
