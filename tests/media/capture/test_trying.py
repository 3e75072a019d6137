"""A live source is tried in a process of its own: a picture to look at and a level, nothing on disk; the process ends with its parent."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from m3desk.media.capture import trying
from m3desk.media.capture.preview import Preview


def start(address: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(trying.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    child.stdin.write(address + "\n")
    child.stdin.flush()
    return child


def test_a_source_that_is_tried_shows_a_picture_and_its_level_and_records_nothing(video: Callable[..., Path]) -> None:
    film = video("film.mp4", sound=4.0)
    before = sorted(film.parent.iterdir())
    child = start(f"file:{film}?live&loop")
    assert child.stdout is not None and child.stdin is not None
    reports = {}
    while not {"started", "level"} <= reports.keys():
        report = json.loads(child.stdout.readline())
        reports[report["report"]] = report
    preview = Preview.attach(reports["started"]["preview"])
    shape = None
    while shape is None:
        newest = preview.newest()
        shape = None if newest is None else newest[1].shape
    preview.close()
    assert shape == (reports["started"]["height"], reports["started"]["width"], 3)
    assert -60 < reports["level"]["level"] < 0
    child.stdin.close()
    assert child.wait(30) == 0
    child.stdout.close()
    assert sorted(film.parent.iterdir()) == before


def test_a_source_that_can_not_be_opened_says_why() -> None:
    child = start("camera:93")
    assert child.stdout is not None
    report = json.loads(child.stdout.readline())
    child.communicate(timeout=30)
    assert report["report"] == "problem" and "93" in report["message"] and report["hint"]


def test_what_is_no_address_is_refused() -> None:
    child = start("nonsense")
    said, _ = child.communicate(timeout=30)
    assert json.loads(said)["report"] == "problem" and child.returncode == 1
