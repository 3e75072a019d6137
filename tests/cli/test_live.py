"""What `memorize` and `play` say in the terminal about live sources that cannot be recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from m3desk import events
from m3desk.cli import main
from m3desk.cli.live import _Told
from m3desk.cli.output import Follower, Out


@pytest.mark.parametrize("command", ["memorize", "play"])
@pytest.mark.parametrize("text", ["cam:0", "rtps://127.0.0.1/door"])
def test_a_misspelt_address_is_not_taken_for_a_file(command: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, text, "-m", str(tmp_path / "m")]) != 0
    said = capsys.readouterr().err
    assert f"{text} is neither a file nor the address of a live source. Write camera:0" in said
    assert not (tmp_path / "m").exists()


def test_a_file_that_shall_be_delivered_live_needs_its_scheme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film = tmp_path / "film.mp4"
    film.touch()
    assert main(["memorize", f"{film}?live&loop", "-m", str(tmp_path / "m")]) != 0
    assert f"Write file:{film}?live&loop." in capsys.readouterr().err


def test_why_a_recording_ended_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    out = Out()
    told = _Told(out, Follower(out))
    status = events.LiveStatus("s1", "starting", 0, 0, 0.0, 0, (), None, "off", "off", None, 0, None)
    told(events.LiveStarted("s1", "camera:0", ""))
    told(status)
    told(events.Notice("error", "There is no camera '0': none is connected.", "List the cameras with: m3desk devices."))
    told(replace(status, state="stopping"))
    told(events.LiveEnded("s1", "There is no camera '0': none is connected."))
    said = capsys.readouterr()
    assert "There is no camera '0': none is connected. List the cameras with: m3desk devices." in said.err
    assert said.out == "Opening camera:0 …\n"
    told(replace(status, state="recording", recorded=1_000_000))
    told(events.LiveEnded("s1", "There is no camera '0': none is connected."))
    told(events.LiveEnded("s1", "the disk budget is used up."))
    said = capsys.readouterr()
    assert said.out == (
        "Recording camera:0. Ctrl-C ends it.\n00:01 recording\nRecording ended.\nRecording ended: the disk budget is used up.\n"
    )
