"""Hostile pickles: none of their code runs, none ends the program, each is refused in one line, and nothing is written."""

from __future__ import annotations

import contextlib
import gzip
import io
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from m3desk import cli
from m3desk.bench.hostile.graphs import BOMBS, attacks
from m3desk.bench.hostile.made_graphs import importable, kitchen, pickled
from m3desk.errors import ImportProblem
from m3desk.interop import quarantine
from m3desk.interop.inert import Refused
from m3desk.interop.quarantine import Limits, command, limits_for, read
from m3desk.interop.unpickle import Machine
from m3desk.interop.videograph import LimitedWriter, graph
from m3desk.store.memory import Memory

SMALL = Limits(memory=160 << 20, processor=10, seconds=60.0)


@pytest.mark.parametrize("name", sorted(attacks(Path("x"))))
def test_nothing_of_a_hostile_pickle_runs(tmp_path: Path, name: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "hostile.pkl"
    path.write_bytes(attacks(marker)[name])
    with pytest.raises(ImportProblem, match=r"^hostile.pkl is not a memory graph that can be read: [^\n]{10,200}\.$"):
        read(path, SMALL)
    assert not marker.exists() and sorted(p.name for p in tmp_path.iterdir()) == ["hostile.pkl"]


@pytest.mark.parametrize("name", ["os.system", "eval", "inside a graph"])
def test_the_same_pickles_are_dangerous_elsewhere(tmp_path: Path, name: str) -> None:
    """The attacks are real: Python's own pickle runs them."""
    marker = tmp_path / "marker"
    attack = attacks(marker)[name]
    with importable(), contextlib.suppress(Exception):
        pickle.loads(attack)
    assert marker.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BOMBS))
def test_bombs_are_refused_within_their_limits(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bomb.pkl"
    path.write_bytes(BOMBS[name]())
    with pytest.raises(ImportProblem) as told:
        read(path, SMALL)
    assert "can be read" in str(told.value) and "\n" not in told.value.line() and "Nothing was written" in told.value.hint


def test_a_busy_machine_has_time_to_read_a_graph() -> None:
    """At load 13 a real graph was refused: it had twice its processor time by the clock."""
    assert limits_for(2 << 20).seconds >= 10 * limits_for(2 << 20).processor


@pytest.mark.slow
def test_a_child_that_takes_too_much_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "slow.pkl"
    path.write_bytes(gzip.compress(b"\x80\x04](" + (b"]" * 900 + b"e(") * 60_000, 1))
    with pytest.raises(ImportProblem, match="if the machine is busy"):
        read(path, Limits(seconds=0.3, kept=4 << 30))
    with pytest.raises(ImportProblem, match="takes longer"):
        read(path, Limits(processor=0, kept=4 << 30))
    with pytest.raises(ImportProblem, match="more memory"):  # several times what the interpreter itself takes, wherever it was built
        read(path, Limits(memory=256 << 20, kept=4 << 30))


@pytest.mark.parametrize("program", ["import os; os.abort()", "raise SystemExit(3)", "print('nonsense of some length')"])
def test_a_broken_child_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    path = tmp_path / "graph.pkl"
    path.write_bytes(pickled(kitchen()))
    assert read(path, SMALL).document["nodes"]
    monkeypatch.setattr(quarantine, "command", lambda _limits: [sys.executable, "-S", "-c", program])
    with pytest.raises(ImportProblem, match="the reader ended with"):
        read(path, SMALL)


def read_here(data: bytes) -> Any:
    """Read without a child: what would end it shows."""
    return graph(Machine(io.BytesIO(data)).load(), LimitedWriter())


@pytest.mark.slow
def test_a_graph_cut_anywhere_is_refused() -> None:
    whole = pickled(kitchen())
    assert read_here(whole)["nodes"]
    for end in range(len(whole)):
        with pytest.raises(Refused):
            read_here(whole[:end])
    zipped = gzip.compress(whole)
    for end in range(0, len(zipped) - 8, 7):
        with pytest.raises(Refused):
            read_here(zipped[:end])


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [2, 4])
def test_a_damaged_graph_is_read_or_refused_but_never_a_fault(protocol: int) -> None:
    whole = pickled(kitchen(), protocol)
    dice = random.Random(5)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(1500):
        broken = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            read_here(bytes(broken))
            outcomes["read"] += 1
        except Refused:
            outcomes["refused"] += 1
    assert outcomes["refused"] > 300


@pytest.mark.parametrize("name", ["os.system", "truncated", "zeros", "not a pickle", "empty"])
def test_the_command_says_one_line_and_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "bad.pkl.gz"
    files = {
        "os.system": lambda: attacks(marker)["os.system"], "truncated": lambda: gzip.compress(pickled(kitchen()))[:300],
        "zeros": lambda: gzip.compress(b"\0" * (1 << 20)), "not a pickle": lambda: b"<html>", "empty": lambda: b"",
    }  # fmt: skip
    path.write_bytes(files[name]())
    assert cli.main(["import", str(path), "-m", str(tmp_path / "new" / "m.m3desk")]) == 1
    said = capsys.readouterr()
    assert (
        said.out == "" and said.err.count("\n") == 1 and said.err.startswith("m3desk: bad.pkl.gz is not a memory graph that can be read: ")
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.pkl.gz"]


def test_an_empty_memory_stays_empty_and_as_it_was(tmp_path: Path) -> None:
    memory = tmp_path / "m.m3desk"
    Memory.create(memory).close()
    bad = tmp_path / "bad.pkl"
    bad.write_bytes(attacks(tmp_path / "marker")["inside a graph"])
    assert cli.main(["import", str(bad), "-m", str(memory)]) == 1
    with Memory.open(memory) as still:
        assert not still.sources() and not still.graph().nodes and not list((memory / "media").glob("*"))


def test_the_child_sees_neither_site_nor_environment() -> None:
    assert command(SMALL)[1:3] == ["-I", "-S"]
    assert quarantine.VERB in command_when_frozen()


def command_when_frozen() -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.frozen", True, raising=False)
        return command(SMALL)
