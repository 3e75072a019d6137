"""What this machine is said to be has the shape of the contract, and a dead display is an answer, not a crash."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from m3desk import machine


def test_the_report_has_the_shape_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    report = machine.doctor()
    assert list(report) == ["python", "platform", "cpu", "memory_bytes", "gpus", "profiles", "cameras", "microphones", "display"]
    assert report["memory_bytes"] > 1 << 28 and report["display"] is True
    names = {p["name"] for p in report["profiles"]}
    assert {"embedded", "gpu", "server"} <= names
    assert all(set(p) == {"name", "ready", "reason"} and (p["ready"] or p["reason"]) for p in report["profiles"])
    json.dumps(report)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 is asked on Linux only")
def test_a_missing_and_a_dead_display_are_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert "no display" in (machine.display_problem() or "")
    monkeypatch.setenv("DISPLAY", ":987")
    told = machine.display_problem()
    assert told and "\n" not in told


def test_the_embedded_profile_without_weights_says_what_to_download(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M3DESK_MODELS", str(tmp_path))
    monkeypatch.setattr(machine, "_lacks_avx2", lambda: False)
    embedded = machine.profiles()[0]
    assert embedded["name"] == "embedded" and not embedded["ready"]
    assert "m3desk models pull" in embedded["reason"]


def test_own_profiles_are_checked_for_their_backends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('[profiles.mine]\nfaces = "yunet"\nspeech = "nothing"\n')
    mine = next(p for p in machine.profiles() if p["name"] == "mine")
    assert not mine["ready"] and "speech: nothing" in mine["reason"]


def test_the_graphics_cards_are_read_from_the_drivers_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA Test, 16384, 550.1'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert machine.gpus() == [{"name": "NVIDIA Test", "memory_bytes": 16384 << 20, "driver": "550.1"}]
