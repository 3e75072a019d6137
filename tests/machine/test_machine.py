"""What this machine is said to be has the shape of the contract, and a dead display is an answer, not a crash."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from m3desk import config, machine, models, presets
from m3desk.cli.output import Out
from m3desk.cli.setup import config_
from m3desk.errors import UsageError


def test_the_report_has_the_shape_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    report = machine.doctor()
    contract = ["python", "platform", "cpu", "memory_bytes", "gpus", "engines", "profiles", "cameras", "microphones", "display"]
    assert list(report) == [*contract, "calibrations"]
    assert report["memory_bytes"] > 1 << 28 and report["display"] is True
    names = {p["name"] for p in report["profiles"]}
    assert {"embedded", "laptop-vision", "gpu-8", "gpu-24", "gpu-48", "gpu-80", "server"} <= names
    more = {"fits", "short", "smaller", "turns", "downloads"}
    assert all(set(p) == {"name", "ready", "reason", *more} and (p["ready"] or p["reason"]) for p in report["profiles"])
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
    tool.write_text("#!/bin/sh\necho 'NVIDIA Test, 16384, 12288, 550.1'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    card = {"name": "NVIDIA Test", "memory_bytes": 16384 << 20, "memory_free_bytes": 12288 << 20, "driver": "550.1"}
    assert machine.cards.seen() == [card]


def card(gigabytes: float, free: float | None = None, **more: object) -> dict[str, object]:
    return {"name": "Card", "memory_bytes": int(gigabytes * 1e9), "memory_free_bytes": int((free or gigabytes) * 1e9), **more}


@pytest.mark.parametrize(
    ("profile", "cards", "says"),
    [
        ("gpu-80", [card(85)], ""),
        ("gpu-80", [card(40)], "42.0 GB on one graphics card, Card has 40.0 GB; the next smaller choice is gpu-48"),
        ("gpu-80", [card(48)], ""),
        ("gpu-48", [card(48, 20)], "20.0 GB of Card are free now: end what uses it; the next smaller choice is gpu-24"),
        ("gpu-24", [], "none is seen; the next smaller choice is gpu-8"),
        ("gpu-8", [card(24)], "the installed build of llama.cpp sees no graphics card"),
        ("embedded", [], ""),
    ],
)
def test_a_profile_that_does_not_fit_is_refused_with_the_next_smaller_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, profile: str, cards: list[dict[str, object]], says: str
) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr(machine.cards, "seen", lambda: cards)
    monkeypatch.setattr(machine, "engines", lambda: [card(200, engine="llama.cpp", graphics=False)])
    monkeypatch.setattr(machine.psutil, "virtual_memory", lambda: SimpleNamespace(available=int(64e9)))
    told = machine.refusal(profile)
    assert told.endswith(says) if "next" in says else (says in told and bool(says) == bool(told))
    if says:
        with pytest.raises(UsageError, match="can't run on this machine"):
            config_(SimpleNamespace(action="set", key="profile", value=profile), Out(json=True))
    assert config.get_value("profile") == "embedded"


@pytest.mark.parametrize(("gigabytes", "turns"), [(48, False), (32, True)])
def test_a_card_for_each_of_two_models_but_not_for_both_fits_with_the_models_in_turns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gigabytes: int, turns: bool
) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr(machine.cards, "seen", lambda: [card(gigabytes)])
    monkeypatch.setattr(machine.psutil, "virtual_memory", lambda: SimpleNamespace(available=int(64e9)))
    monkeypatch.setattr(machine, "_lacks", lambda _preset: "")
    row = next(p for p in machine.profiles() if p["name"] == "gpu-48")
    assert (row["ready"], row["fits"], row["turns"]) == (True, True, turns)
    assert ("take turns" in row["reason"]) == turns


def test_what_does_not_fit_and_what_is_downloaded_is_told_in_numbers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CONFIG", "MODELS", "BACKENDS"):
        monkeypatch.setenv(f"M3DESK_{name}", str(tmp_path / name / "file"))
    monkeypatch.setattr(machine.cards, "seen", lambda: [card(48, 20)])
    monkeypatch.setattr(machine.psutil, "virtual_memory", lambda: SimpleNamespace(available=int(64e9)))
    row = next(p for p in machine.profiles() if p["name"] == "gpu-48")
    assert row["short"] == {"what": "card-free", "needed": 25_000_000_000, "has": 20_000_000_000, "on": "Card"}
    assert (row["fits"], row["smaller"]) == (False, "gpu-24")
    got = {d["name"]: d for d in row["downloads"]}
    assert got["transformers"]["kind"] == "backend" and got["m3-agent-control"]["bytes"] > 60e9 and "whisper-base" in got


def test_a_machine_with_too_little_memory_keeps_the_embedded_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr(machine.psutil, "virtual_memory", lambda: SimpleNamespace(available=int(2e9)))
    assert "2.0 GB are free now; the next smaller choice is embedded" in machine.refusal("laptop-vision")


def test_a_profile_that_fits_says_what_to_install_and_brings_its_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("M3DESK_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("M3DESK_BACKENDS", str(tmp_path / "backends"))
    monkeypatch.setattr(machine.cards, "seen", lambda: [card(85)])
    monkeypatch.setattr(machine.psutil, "virtual_memory", lambda: SimpleNamespace(available=int(64e9)))
    told = {p["name"]: p for p in machine.profiles()}
    assert "m3desk models pull m3-agent-memorization m3-agent-control" in told["gpu-80"]["reason"]
    assert "m3desk models pull qwen3-vl-2b (1.9 GB)" in told["laptop-vision"]["reason"]
    config.set_value("profile", "gpu-80")
    assert config.backend_options("transformers")["bits"] == 8
    config.set_backend_option("transformers", "bits", "4")
    assert config.backend_options("transformers") == {"model": "m3-agent-memorization", "language_model": "m3-agent-control", "bits": 4}
    config.set_backend_option("transformers", "model", "/m/own")
    assert config.backend_options("transformers") == {"bits": 4, "model": "/m/own"}


def test_what_an_engine_sees_is_told_by_the_engine() -> None:
    pytest.importorskip("xllamacpp")
    seen = machine.engines()
    assert all({"engine", "name", "memory_bytes", "memory_free_bytes", "graphics"} <= set(d) for d in seen)
    assert not [d for d in seen if d["name"].startswith("CPU") and d["graphics"]]


def test_every_profile_names_backends_models_and_a_smaller_profile_that_exist() -> None:
    sizes = list(presets.presets().values())
    assert [p.name for p in sizes] == ["laptop-vision", "gpu-8", "gpu-24", "gpu-48", "gpu-80"]
    assert [p.smaller for p in sizes] == ["embedded", *(p.name for p in sizes[:-1])]
    for preset in sizes:
        assert all(not models.entry(name).terms for name in preset.models)  # nothing for research only
        assert set(preset.options) == set(preset.ports.values())
        assert not preset.needs or (set(preset.needs) == set(preset.ports) and sum(preset.needs.values()) == preset.graphics)
        assert (Path(__file__).parents[2] / "docs" / "profiles" / f"{preset.name}.md").is_file()
