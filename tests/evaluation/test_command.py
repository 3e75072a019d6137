"""`m3desk evaluate identity` on a memory on disk: the document, the lines, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from m3desk.cli import main
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source

RTTM = "SPEAKER a 1 1 4 <NA> <NA> Ann <NA> <NA>\nSPEAKER a 1 8 4 <NA> <NA> Bob <NA> <NA>\nSPEAKER a 1 31 4 <NA> <NA> Ann <NA> <NA>\n"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Return a memory in which Ann speaks at 1 s and at 31 s, and Bob at 8 s."""
    path = tmp_path / "m.m3desk"
    with Memory.create(path) as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        for clip, people in zip(made.next_clips("s1"), [(1, 2), (1,), ()], strict=True):
            remember(made, clip, people)
    (tmp_path / "a.rttm").write_text(RTTM, "utf-8")
    return path


@pytest.mark.slow
def test_a_memory_that_is_right_is_measured_right(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "identity", "--truth", str(memory.with_name("a.rttm")), "-m", str(memory), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["voices"]["pairwise"]["precision"] == report["voices"]["pairwise"]["recall"] == 1.0
    assert report["voices"]["der_no_collar"] == 0.0 and report["voices"]["der_files"][0]["speakers_found"] == 2
    assert report["attribution"] == 1.0 and report["faces"]["labelled"] == 0 and report["links"]["recall"] is None


def test_the_lines_say_what_was_measured(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "identity", "--truth", str(memory.with_name("a.rttm")), "-m", str(memory)]) == 0
    out = capsys.readouterr().out
    assert "voices: pairwise precision 100 %, recall 100 %" in out and "faces: none has a true person" in out
    assert "diarization error rate: 0.0%" in out and "Ann" in out


def test_another_file_names_the_source_by_its_id_and_limits_by_a_uem(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, uem = memory.with_name("b.rttm"), memory.with_name("b.uem")
    other.write_text(RTTM.replace("SPEAKER a", "SPEAKER b"), "utf-8")
    uem.write_text("a NA 0 7\n", "utf-8")
    assert main(["evaluate", "identity", "--truth", str(other), "--source", "s1", "--uem", str(uem), "-m", str(memory), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["voices"]["der_files"][0]["speakers"] == 1


@pytest.mark.parametrize(
    ("truth", "told"),
    [("none.rttm", "There is no file"), ("b.rttm", "names no source of this memory"), ("m.m3desk/memory.sqlite", "is not a truth file")],
)
def test_what_is_no_truth_of_this_memory_is_one_line(memory: Path, capsys: pytest.CaptureFixture[str], truth: str, told: str) -> None:
    memory.with_name("b.rttm").write_text(RTTM.replace("SPEAKER a", "SPEAKER b"), "utf-8")
    assert main(["evaluate", "identity", "--truth", str(memory.parent / truth), "-m", str(memory)]) == 1
    err = capsys.readouterr().err
    assert told in err and err.count("\n") == 1


def test_it_needs_a_memory_and_a_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "identity", "--truth", "x.rttm", "-m", str(tmp_path / "none.m3desk")]) == 1
    assert "there is no memory" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        main(["evaluate", "identity", "-m", str(tmp_path)])
    assert left.value.code == 2
