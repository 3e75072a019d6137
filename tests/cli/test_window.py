"""`m3desk open`: where no window can be opened it says so, also where the window's modules cannot be loaded."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk import machine
from m3desk.cli import main, window
from m3desk.errors import M3DeskError


@pytest.fixture(autouse=True)
def _collection() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("loads", [True, False])
def test_what_is_wrong_with_the_display_is_told(monkeypatch: pytest.MonkeyPatch, loads: bool) -> None:
    monkeypatch.setattr(machine, "display_problem", lambda: "there is no display")
    if not loads:
        monkeypatch.setitem(sys.modules, "m3desk_ui", None)
    with pytest.raises(M3DeskError, match="there is no display"):
        window.window_module()


def test_a_module_that_does_not_load_is_no_problem_of_the_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "display_problem", lambda: None)
    monkeypatch.setitem(sys.modules, "m3desk_ui", None)
    with pytest.raises(ImportError):
        window.window_module()


@pytest.mark.parametrize("command", [["open"], ["people", "list", "-m"]])
def test_a_memory_that_is_not_there_may_be_a_misspelt_path(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, str(tmp_path / "film.m3dek")]) == 1
    assert "Check the path" in capsys.readouterr().err
