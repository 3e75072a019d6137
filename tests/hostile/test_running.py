"""The runner of hostile cases: what it reports as wrong is wrong, and a few cases of each kind pass."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk.bench.hostile.case import Case
from m3desk.bench.hostile.invented import make
from m3desk.bench.hostile.measuring import KINDS, RunLimits, _asked, clear, generator
from m3desk.bench.hostile.running import Outcome, Runner, left, wrong
from m3desk.errors import UsageError


def outcome(code: int = 0, output: str = "", errors: str = "", late: bool = False) -> Outcome:
    return Outcome(code, 0.1, 0, late, output, errors)


TRY = Case("command", "a", ("people", "list"))


@pytest.mark.parametrize(
    ("ended", "called"),
    [
        (outcome(), []),
        (outcome(1, errors="m3desk: there is no memory."), []),
        (outcome(1, errors="m3desk: a fault of M3Desk: ValueError"), ["fault"]),
        (outcome(1, errors="Traceback (most recent call last)\n m3desk"), ["traceback"]),
        (outcome(-9, late=True), ["time-out"]),
        (outcome(-11), ["crash: signal 11"]),
        (outcome(3, errors="m3desk"), ["exit code 3"]),
        (outcome(1), ["no message"]),
        (outcome(0, output="\x1b[31m"), ["raw character '\\x1b'"]),
        (outcome(0, output="\u202e"), ["raw character '\\u202e'"]),
        (outcome(0, output="\udc9b"), ["raw character '\\udc9b'"]),
        (outcome(1, errors="m3desk: it names m\ufffd."), []),
    ],
)
def test_what_goes_wrong_is_called_by_its_name(ended: Outcome, called: list[str]) -> None:
    assert wrong(TRY, ended) == called


def test_the_words_of_the_benchmark_are_read_and_wrong_ones_are_refused() -> None:
    assert _asked(["2.5", "commands", "--seed", "7"]) == RunLimits(("commands",), 2.5, 7)
    for words in (["nonsense"], ["nan"], ["0"], ["--seed", "x"], ["9" * 400]):
        with pytest.raises(UsageError):
            _asked(words)
    assert set(KINDS) == {"commands", "texts", "media", "documents", "graphs"}


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with Runner(tmp_path_factory.mktemp("runner")) as made:
        yield made


def test_a_try_runs_as_a_program_of_its_own(runner: Runner, tmp_path: Path) -> None:
    assert "m3desk" in runner.run(Case("command", "version", ("--version",))).output
    refused = runner.run(Case("command", "none", ("people", "list", "-m", str(tmp_path / "none"))))
    assert (refused.code, refused.verdict) == (1, "refused") and "no memory" in refused.errors


def test_a_memory_that_a_try_destroys_is_lost_whatever_the_command_says(runner: Runner, tmp_path: Path) -> None:
    memory = make(tmp_path / "m.m3desk")
    case = Case("command", "a", ("people", "list", "-m", str(memory)), memory, new=False)
    assert left(case, outcome(), runner, checked=True) == []
    whole = (memory / "memory.sqlite").read_bytes()
    for content, why in ((b"", "empty"), (b"no database", "not a database"), (whole[:8192], "malformed")):
        (memory / "memory.sqlite").write_bytes(content)
        for code in (0, 1):
            assert why in left(case, outcome(code), runner, checked=False)[0]
    (memory / "memory.sqlite").unlink()
    assert left(case, outcome(), runner, checked=False) == ["lost: the memory is gone"]


def test_a_memory_that_a_refused_command_leaves_is_half_written(runner: Runner, tmp_path: Path) -> None:
    case = Case("json", "a", ("import", "x.json", "-m", "new"), tmp_path / "new")
    assert left(case, outcome(1), runner, checked=False) == []
    (tmp_path / "new").mkdir()
    assert left(case, outcome(1), runner, checked=False)[0].startswith("half-written")
    (tmp_path / "new" / "memory.sqlite").write_bytes(b"")
    assert left(case, outcome(1), runner, checked=False)[0].startswith("half-written")


@pytest.mark.slow
def test_a_try_that_never_ends_is_a_time_out_and_is_said_to_have_been_run_twice(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "seconds", 0.0)
    late = runner.run(TRY)
    assert wrong(TRY, late) == ["time-out"] and late.again


@pytest.mark.slow
def test_code_of_a_graph_that_runs_is_counted(tmp_path: Path) -> None:
    case = next(generator("graphs", tmp_path / "graphs", 1))
    assert case.marker is not None and wrong(case, outcome(1, errors="m3desk: no.")) == []
    subprocess.run([sys.executable, "-c", RUNS_IT, str(case.marker)], check=True)
    assert wrong(case, outcome(1, errors="m3desk: no.")) == ["ran: code in the input was run"]
    clear(case)
    assert not case.marker.exists() and not any(path.exists() for path in case.files)


RUNS_IT = """
import pickle, sys
from pathlib import Path
from m3desk.bench.hostile.graphs import attacks
pickle.loads(attacks(Path(sys.argv[1]))["os.system"])
"""
