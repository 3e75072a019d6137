"""A damaged memory on the command line: what each command reports, and how the last good copy is restored."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import pytest

from m3desk.bench import small_memory
from m3desk.cli import main


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    small_memory.make(tmp_path / "a film.m3desk")
    (tmp_path / "a film.m3desk" / "memory.sqlite").write_bytes(b"")
    return tmp_path / "a film.m3desk"


@pytest.mark.parametrize(
    "command", [["check"], ["check", "--repair"], ["people", "list"], ["people", "name", "1", "Ann"], ["ask", "who?"], ["sources", "list"]]
)
def test_every_command_says_in_a_line_what_is_damaged_and_what_helps(
    damaged: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(p for p in damaged.rglob("*") if p.is_file() and p.name != "writer.lock")
    assert main([*command, "-m", str(damaged)]) == 1
    said = capsys.readouterr().err
    assert "0 bytes" in said and f"m3desk check --restore -m '{damaged}'" in said and said.count("\n") == 1
    assert sorted(p for p in damaged.rglob("*") if p.is_file() and p.name != "writer.lock") == before


def test_the_copy_is_put_in_place_only_when_told_to(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--restore", "-m", str(damaged)]) == 2  # nobody here to ask
    assert (damaged / "memory.sqlite").read_bytes() == b"" and "--yes" in capsys.readouterr().err
    assert main(["check", "--restore", "--yes", "-m", str(damaged)]) == 0
    assert "is in place" in capsys.readouterr().out
    assert main(["people", "list", "-m", str(damaged), "--json"]) == 0
    assert [p["name"] for p in json.loads(capsys.readouterr().out)] == list(small_memory.NAMES)
    assert main(["check", "--restore", "--yes", "-m", str(damaged)]) == 2
    assert "nothing is wrong" in capsys.readouterr().err


def test_import_and_memorize_make_no_memory_over_what_is_left_of_one(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export, sound = tmp_path / "x.json", tmp_path / "a.wav"
    assert main(["export", "-m", str(small_memory.make(tmp_path / "whole.m3desk")), "-o", str(export)]) == 0
    with wave.open(str(sound), "wb") as out:
        out.setparams((1, 2, 16_000, 0, "NONE", ""))
        out.writeframes(bytes(32_000))
    (damaged / "memory.sqlite").unlink()
    for command in (["import", str(export)], ["memorize", str(sound)]):
        assert main([*command, "-m", str(damaged)]) == 1
        assert "is missing" in capsys.readouterr().err and not (damaged / "memory.sqlite").exists()
