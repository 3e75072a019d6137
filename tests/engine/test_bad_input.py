"""Invalid input: an exit code, one clear line, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from made import shipped_models, talking_signs
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
    assert refused(tmp_path, tmp_path / "absent.mp4").startswith(f"m3desk: There is no file {tmp_path / 'absent.mp4'}.")


@pytest.mark.slow
def test_a_file_that_is_no_video(tmp_path: Path):
    text = tmp_path / "letter.mp4"
    text.write_text("Dear Sir or Madam,\n" * 400)
    assert "letter.mp4" in refused(tmp_path, text)


@pytest.mark.slow
def test_a_file_of_length_zero(tmp_path: Path):
    empty = tmp_path / "empty.mp4"
    empty.touch()
    assert "empty" in refused(tmp_path, empty)


@pytest.mark.slow
def test_a_file_none_of_whose_clips_can_be_read_leaves_no_memory(tmp_path: Path):
    whole = talking_signs(tmp_path / "whole.mp4", seconds=12, faststart=True)
    content = whole.read_bytes()
    whole.write_bytes(content[: content.index(b"mdat") + 12_000])
    done = run("memorize", whole, "-m", tmp_path / "m.m3desk", "--start", "11", "--no-semantic", "-q", config=shipped_models(tmp_path))
    assert done.returncode == 1 and "cannot be read from" in done.stderr
    assert not (tmp_path / "m.m3desk").exists()


@pytest.mark.slow
def test_a_video_cut_off_in_the_middle_is_memorized_as_far_as_it_goes(tmp_path: Path):
    whole = talking_signs(tmp_path / "whole.mkv", seconds=12)
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    done = memorized(cut, tmp_path / "m.m3desk")
    assert done.returncode == 0, done.stderr
    assert "warning" in done.stderr
    states = [c["state"] for c in exported(tmp_path / "m.m3desk")["clips"]]  # type: ignore[attr-defined]
    assert "episodic" in states


@pytest.mark.slow
def test_a_file_that_changed_since_is_noticed_and_nothing_is_lost(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4", seconds=4)
    assert memorized(video, tmp_path / "m.m3desk").returncode == 0
    before = exported(tmp_path / "m.m3desk")
    talking_signs(video, seconds=7)
    done = memorized(video, tmp_path / "m.m3desk")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()[-1:]) == 1
    assert "--rebuild" in done.stderr
    assert exported(tmp_path / "m.m3desk") == before
    again = ("memorize", video, "-m", tmp_path / "m.m3desk", "--no-semantic", "-q", "--rebuild")
    done = run(*again, config=shipped_models(tmp_path))
    assert done.returncode == 0, done.stderr
    assert len([c for c in exported(tmp_path / "m.m3desk")["clips"] if c["state"] == "episodic"]) == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "command",
    [
        ("people", "list"),
        *(pytest.param(c, marks=pytest.mark.slow) for c in [("ask", "who?"), ("check",), ("export", "-o", "-"), ("search", "nodes", "x")]),
    ],
)
def test_a_memory_that_is_not_there(tmp_path: Path, command: tuple[str, ...]):
    done = run(*command, "-m", tmp_path / "absent.m3desk")
    assert done.returncode == 1
    assert "no memory" in done.stderr
    assert not (tmp_path / "absent.m3desk").exists()


@pytest.mark.slow
def test_a_missing_model_is_told_with_what_to_do_and_nothing_is_stored_in_its_place(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4", seconds=2)
    memory = tmp_path / "m.m3desk"
    env = {"M3DESK_MODELS": str(tmp_path / "none"), "M3DESK_CONFIG": str(tmp_path / "default.toml")}
    done = subprocess.run(
        [sys.executable, "-m", "m3desk", "memorize", str(video), "-m", str(memory), "-q"],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=False,
    )
    assert done.returncode == 1
    assert "m3desk models pull" in done.stderr.strip().splitlines()[-1]
    assert [c["state"] for c in exported(memory)["clips"]] == ["queued"]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_span_that_holds_nothing_is_wrong_use(tmp_path: Path):
    video = talking_signs(tmp_path / "signs.mp4", seconds=2)
    done = run("memorize", video, "-m", tmp_path / "m.m3desk", "--start", "10", config=shipped_models(tmp_path))
    assert done.returncode == 2
    assert "--start" in done.stderr
    assert not (tmp_path / "m.m3desk").exists()


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    taken = tmp_path / "taken"
    taken.write_text("a file")
    video = talking_signs(tmp_path / "signs.mp4", seconds=2)
    done = run("memorize", video, "-m", taken, config=shipped_models(tmp_path))
    assert done.returncode == 1
    assert "fault of M3Desk" not in done.stderr


@pytest.mark.slow
def test_of_a_folder_what_can_be_used_is_memorized(tmp_path: Path):
    folder = tmp_path / "videos"
    folder.mkdir()
    (folder / "a_empty.mp4").touch()
    talking_signs(folder / "b_good.mp4", seconds=2)
    done = run("memorize", folder, "-m", tmp_path / "m.m3desk", "--no-semantic", "-q", config=shipped_models(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "a_empty.mp4" in done.stderr
    assert [c["state"] for c in exported(tmp_path / "m.m3desk")["clips"]] == ["episodic"]  # type: ignore[attr-defined]
