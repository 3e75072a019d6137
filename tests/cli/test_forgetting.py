"""`people forget` on the command line: its question, what it removes, and what its report says it could not search."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from m3desk.app import App
from m3desk.cli import main
from m3desk.ports import Models
from m3desk.store import opening
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source
from tests.store.test_corrections_enrolled import photo


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Grace Hopper, taught from a photo, and two others; no models at hand."""
    monkeypatch.setattr(App, "models_in_use", lambda *_: Models())
    monkeypatch.setattr(App, "embed_lacking", lambda *_: 0)
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        for clip, people in zip(made.next_clips("s1")[:2], [(1, 2), (1, 3)], strict=True):
            remember(made, clip, people)
        made.correct("enroll", {"name": "Grace Hopper"}, lessons=[photo(1, "grace-hopper.jpg")])
    return tmp_path / "m.m3desk"


def test_who_was_taught_from_a_photo_is_forgotten_with_the_videos_that_show_them(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["people", "forget", "Grace Hopper", "-m", str(place), "--sources", "--yes", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["findings"] == [] and report["still_shown_by"] == ["/videos/a.mp4"]
    with Memory.open(place) as memory:
        assert memory.sources() == [] and memory.people() == [] and memory.integrity() == []


def test_the_report_says_when_another_program_keeps_the_old_file(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opening, "WAIT", 0.2)  # seconds for which SQLite waits for the other program
    other = sqlite3.connect(place / "memory.sqlite")
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM journal").fetchone()
    assert main(["people", "forget", "person_2", "-m", str(place), "--yes", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    other.close()
    assert not report["clean"] and any("another program" in r for r in report["not_searched"])


def test_a_rehearsal_names_the_choices_and_changes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["people", "forget", "person_2", "-m", str(place), "--dry-run"]) == 0
    assert "--never-again" in capsys.readouterr().out
    assert main(["people", "forget", "Grace Hopper", "-m", str(place)]) == 2
    assert "Forget Grace Hopper for good?" in capsys.readouterr().err
    assert main(["people", "forget", "person_2", "-m", str(place)]) == 2
    assert "Forget Person 2 for good?" in capsys.readouterr().err
    with Memory.open(place) as memory:
        assert len(memory.people()) == 3
