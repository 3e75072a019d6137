"""`m3desk bench gpu`: what it reports with a GPU, without, and with tiny models."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from m3desk_torch import random_weights
from m3desk_torch.random_weights import RandomWeights

from m3desk.bench import gpu, lines, run
from m3desk.errors import ModelFailed, UsageError
from m3desk.ports import Turn

GPU = {"gpu": True, "device": "Some GPU", "free": 79_000_000_000, "architectures": dict.fromkeys(gpu.DEFAULT, "a model")}


class _Model:
    """A model that takes a second for a thousand tokens of a prompt, and writes twenty a second."""

    watches_video, most_pictures, hears = True, 60, True
    about = {"seconds": 3.0}  # noqa: RUF012

    def __init__(self, name: str) -> None:
        self.sees = "omni" in name or "vl" in name
        self.asked: list[tuple[Turn, ...]] = []

    def timed(self, turns: tuple[Turn, ...], tokens: int) -> dict[str, Any]:
        clip = next((p for p in turns[0].parts if not isinstance(p, str)), None)
        assert clip is None or (len(clip.pictures) == 60 and clip.sound is not None and len(clip.sound) == 30 * 16_000)
        took = {"prompt": 9000 if self.sees else 4000, "tokens": tokens, "rest": (tokens - 1) / 20, "prepared": 1.0, "first": 9.0}
        return {**took, "peak": 21_000_000_000, "told": []}

    def close(self) -> None:
        pass


class _Maker:
    def __init__(self, device: dict[str, Any]) -> None:
        self._device = device

    def device(self) -> dict[str, Any]:
        return dict(self._device)

    def model(self, architecture: str, folder: Path, *, tiny: bool) -> _Model:
        if architecture == "qwen3-32b":
            raise ModelFailed("the model needs 65.5 GB of GPU memory in 16 bit, 20.0 GB are free.", "Set bits = 4.")
        return _Model(architecture)


def _made_by(monkeypatch: pytest.MonkeyPatch, maker: Any) -> None:
    monkeypatch.setattr(gpu, "entry_points", lambda group: [SimpleNamespace(load=lambda: lambda _threads: maker)])


def test_it_reports_seconds_tokens_and_memory_and_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    _made_by(monkeypatch, _Maker(GPU))
    report = run("gpu", ["--random-weights"])
    first, last = report["rows"][0], report["rows"][-1]
    assert report["ok"] and [r["architecture"] for r in report["rows"]] == list(gpu.DEFAULT)
    assert (first["kind"], first["seconds"], first["tokens_a_second"], first["reading_seconds"]) == ("clip", 44.95, 20.0, 10.0)
    assert "65.5 GB" in last["problem"]
    shown = lines("gpu", report)
    assert shown[0] == "Some GPU, 79.0 GB free"
    assert "44.95 s a clip: 9000 tokens read in 10.0 s, 20.0 tokens a second, peak 21.0 GB" in shown[1]


def test_without_a_gpu_it_says_so_and_offers_tiny_models(monkeypatch: pytest.MonkeyPatch) -> None:
    _made_by(monkeypatch, _Maker({**GPU, "gpu": False}))
    report = run("gpu", ["--random-weights"])
    assert not report["ok"] and not report["rows"] and "--tiny" in lines("gpu", report)[1]


def test_what_it_measures_must_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    _made_by(monkeypatch, _Maker(GPU))
    with pytest.raises(UsageError, match="random weights"):
        run("gpu", [])
    with pytest.raises(UsageError, match="no architecture"):
        run("gpu", ["--tiny", "gpt-9"])


@pytest.mark.slow
def test_tiny_models_take_the_same_way_on_the_processor(torch_python: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path))
    monkeypatch.setattr(random_weights.environments, "chosen_python", lambda *_: torch_python)
    _made_by(monkeypatch, RandomWeights(2))
    report = run("gpu", ["--tiny", "qwen2.5-omni-7b", "qwen3-32b"])
    clip, answer = report["rows"]
    assert report["ok"] and clip["prompt_tokens"] > 1000 and clip["kind"] == "clip" and answer["kind"] == "answer"
