"""Where an export may be written: never into a memory, never over a file unasked, complete or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from m3desk import cli
from m3desk.bench.hostile.invented import make
from m3desk.interop import placing


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return make(tmp_path / "m.m3desk")


def export(memory: Path, output: str | Path, *more: str) -> int:
    try:
        return cli.main(["export", "-m", str(memory), "-o", str(output), *more])
    except SystemExit as error:
        return int(error.code or 0)


def test_no_export_is_written_into_a_memory_nor_through_a_link(memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = make(tmp_path / "other.m3desk")
    (tmp_path / "link").symlink_to(other)
    (tmp_path / "link.json").symlink_to(memory / "memory.sqlite")
    before = {p: p.read_bytes() for m in (memory, other) for p in m.rglob("*") if p.is_file()}
    places = [memory / "memory.sqlite", memory / "x.json", memory / "media" / "x.json", other / "x.json", tmp_path / "link" / "x.json"]
    for place in (*places, tmp_path / "link.json", tmp_path / "sub" / ".." / "m.m3desk" / "x.json"):
        assert export(memory, place, "--force", "--format", "json") == 2, place
        assert "inside of the memory" in capsys.readouterr().err
    assert {p: p.read_bytes() for m in (memory, other) for p in m.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    "place", [".", "", "..", "folder", "new/", "absent/x.json", "fifo", "/dev/null", "loop", "a" * 300 + ".json", "a\0.json"]
)
def test_a_place_that_is_no_file_is_a_clear_error(
    memory: Path, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    there = sorted(tmp_path.iterdir())
    assert export(memory, place, "--force", "--format", "json") == 2
    said = capsys.readouterr().err
    assert "fault of M3Desk" not in said and said.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == there and Path("/dev/null").is_char_device()


def test_a_file_that_is_there_is_overwritten_only_when_told_so(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "x.csv"
    place.write_text("years of work")
    assert export(memory, place) == 2 and "--force" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", lambda: "n\n", raising=False)
    assert export(memory, place) == 2 and place.read_text() == "years of work"
    monkeypatch.setattr("sys.stdin.readline", lambda: "y\n", raising=False)
    assert export(memory, place) == 0 and place.read_text().startswith("id,type")
    (tmp_path / "link.csv").symlink_to(place)
    assert export(memory, tmp_path / "link.csv", "--force") == 0 and (tmp_path / "link.csv").is_symlink()


def test_when_the_disk_is_full_the_old_files_stay(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "x.json"
    assert export(memory, place, "--with-media") == 0
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and "m.m3desk" not in p.parts}
    assert len(before) > 3

    def full(_place: Path, _text: str) -> None:
        _place.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device", str(_place))

    monkeypatch.setattr(placing, "write_text", full)
    assert export(memory, place, "--with-media", "--force") == 1
    assert "No space left" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and "m.m3desk" not in p.parts} == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.m3desk", "x.json", "x.media"]


def test_a_media_folder_with_more_in_it_is_never_replaced(memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "x.json"
    assert export(memory, place, "--with-media") == 0 and export(memory, place, "--with-media", "--force") == 0
    (tmp_path / "x.media" / "notes.txt").write_text("mine")
    assert export(memory, place, "--with-media", "--force") == 2 and "no export of M3Desk" in capsys.readouterr().err
    assert (tmp_path / "x.media" / "notes.txt").read_text() == "mine"
