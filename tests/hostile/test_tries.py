"""A few seeded hostile cases of every kind, through the runner of `m3desk bench hostile`: no fault, crash, time-out or partial memory."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import pytest

from m3desk.bench.hostile.measuring import KINDS, RunLimits, _run, clear, generator

HERE = [k for k in KINDS if find_spec(f"m3desk.bench.hostile.{k}") is not None]


@pytest.mark.slow
def test_twenty_tries_of_all_kinds_end_well(tmp_path: Path) -> None:
    report = _run(RunLimits(tuple(HERE), seed=20261122, tries=4 * len(HERE)), tmp_path / "m3desk-hostile-tries", tmp_path / "kept")
    assert report["ok"], report["wrong"]
    assert {kind: row["tries"] for kind, row in report["kinds"].items()} == dict.fromkeys(HERE, 4)
    assert all(0 < row["longest_seconds"] < 30 for row in report["kinds"].values())


@pytest.mark.parametrize("kind", ["commands", "texts"])
def test_the_same_seed_gives_the_same_tries(kind: str, tmp_path: Path) -> None:
    def words(place: Path, seed: int) -> list[list[str]]:
        found = []
        for case in islice(generator(kind, place, seed), 4):
            found.append([a.replace(str(place), "") for a in case.arguments])
            clear(case)
        return found

    assert words(tmp_path / "a", 1) == words(tmp_path / "b", 1) != words(tmp_path / "c", 2)
