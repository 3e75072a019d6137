"""The borders that one clip and one question cross are those listed in ARCHITECTURE.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engine.borders import measured, parts

MAP = Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"


def listed(what: str) -> set[tuple[str, str]]:
    """Return the borders that ARCHITECTURE.md lists for a clip or a question."""
    line = next(line for line in MAP.read_text("utf-8").splitlines() if line.startswith(f"- One {what} "))
    found = set()
    for source, targets in re.findall(r"`(\w+)` → ((?:`\w+`(?:, )?)+)", line):
        found |= {(source, t) for t in re.findall(r"`(\w+)`", targets)}
    return found


@pytest.mark.slow
def test_the_borders_that_are_crossed_are_those_of_the_map(tmp_path: Path) -> None:
    found = measured(tmp_path)
    assert parts(found["clip"]) == listed("clip")
    assert parts(found["question"]) == listed("question")
    assert len(parts(found["clip"])) <= 20
    assert len(parts(found["question"])) <= 12
