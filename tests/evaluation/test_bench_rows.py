"""Parts of the benchmarks: joining utterances, labelling them, comparing figures with goals, reporting failures."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from m3desk.bench import identity, identity_material
from m3desk.bench.identity_material import GAP, RATE, Workshop, joined, read_sound
from m3desk.cli import main
from m3desk.evaluation.truth import TrueTurn, read_truth

S = 1_000_000


def tone(path: Path, seconds: float) -> Path:
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(np.full(round(seconds * RATE), 1000, "<i2").tobytes())
    return path


def test_joined_utterances_lie_where_the_truth_says(tmp_path: Path) -> None:
    parts = [(tone(tmp_path / f"{i}.wav", 1 + i / 4), "Ann" if i % 2 else "Bob") for i in range(4)]
    with Workshop(tmp_path / "work") as work:
        talk, truth = joined(work, "talk", parts)
        again = joined(work, "talk", list(reversed(parts)))[1].read_text("utf-8")
    sound, turns = read_sound(talk), read_truth(truth).turns
    assert truth.read_text("utf-8") == again, "the order is seeded, not the caller's"
    assert {t.file for t in turns} == {"talk"} and len(turns) == 4
    assert len(sound) == round((sum(1 + i / 4 for i in range(4)) + 4 * GAP) * RATE)
    for t in turns:
        inside, after = sound[t.start * RATE // S : t.end * RATE // S], sound[t.end * RATE // S : round((t.end / S + GAP) * RATE)]
        assert inside.min() == 1000 and after.max() == 0


def test_a_memory_is_made_once_and_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def memorized(*args: str) -> None:
        runs.append(args[0])
        memory = Path(args[args.index("-m") + 1])
        memory.mkdir()
        (memory / "memory.sqlite").touch()

    def listed(*args: str) -> list[dict[str, str]]:
        runs.append(args[0])
        return [{"uri": "/films/a.mp4", "state": "done"}]

    monkeypatch.setattr(identity_material, "ran", memorized)
    monkeypatch.setattr(identity_material, "output", listed)
    for _ in range(2):  # the second run finds what the first one kept
        with Workshop(tmp_path / "kept") as work:
            assert len({work.memory("film", Path("/films/a.mp4")) for _ in range(3)}) == 1
    assert runs == ["memorize", "sources"]


def test_a_memory_is_measured_once_for_each_labelled_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluated(*args: str) -> dict[str, str]:
        return {"uem": args[args.index("--uem") + 1] if "--uem" in args else "all"}

    monkeypatch.setattr(identity_material, "output", evaluated)
    memory, truth = tmp_path / "a.m3desk", tmp_path / "a.rttm"
    with Workshop(tmp_path / "work") as work:
        told = [work.report(memory, truth, uem=part) for part in (None, Path("one"), Path("two"))]
        assert [t["uem"] for t in told] == ["all", "one", "two"]
        assert work.report(memory, truth, uem=Path("one")) is told[1]


def test_whoever_holds_most_of_a_turn_has_it() -> None:
    heard = (TrueTurn("a", 0, 4 * S, "person_1"), TrueTurn("a", 4 * S, 10 * S, "person_2"), TrueTurn("a", 20 * S, 30 * S, "unknown"))
    assert identity._holder(TrueTurn("a", 0, 9 * S, "Ann"), heard) == "person_2"
    given_to_nobody, missed = (identity._holder(TrueTurn("a", at * S, (at + 5) * S, "Ann"), heard) for at in (21, 40))
    assert given_to_nobody != missed and not {given_to_nobody, missed} & {"person_1", "person_2", "unknown"}


def test_a_row_whose_command_fails_is_not_reached_and_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(_work: Workshop) -> dict[str, object]:
        raise RuntimeError("m3desk memorize: exit 1: no such file")

    monkeypatch.setattr(
        identity, "ROWS", {"one": fails, "two": lambda _work: {"goals": [("share", 0.5, ">=", 0.4), ("wrong", 0, "==", 0)]}}
    )
    report = identity.measure(["--keep", str(tmp_path)])
    assert not report["ok"] and "no such file" in report["rows"]["one"]["error"] and report["rows"]["two"]["ok"]
    told = identity.lines(report)
    assert told[0].startswith("one: not reached") and "  ✓ share: 0.5 (goal >= 0.4)" in told


def test_a_figure_that_could_not_be_measured_reaches_no_goal() -> None:
    assert not identity._judged("share", None, ">=", 0.0)["reached"] and not identity._judged("count", 1, "<=", 0)["reached"]


def test_an_unknown_row_is_wrong_use_and_the_rows_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "identity", "nonsense"]) == 2
    assert "librispeech" in capsys.readouterr().err
    assert identity._rows("reel") == ["reel-faces", "reel-voices", "reel-links"]


def test_a_report_without_lines_of_its_own_is_printed_line_by_line() -> None:
    """What is printed is escaped line by line: a document as one line showed its ends of lines as signs."""
    from m3desk import bench

    assert bench.lines("importing", {"a": [1, 2]}) == ["{", ' "a": [', "  1,", "  2", " ]", "}"]
