"""What a clip and an answer cost on this machine's GPU: architectures in full size with random weights, so nothing needs to be downloaded.

Speed and memory depend on the architecture and on the numbers of tokens, not on the weights. A clip is 30 s of noise of 640×360 at two
pictures a second, with sound where the model hears, and three faces. `--tiny` runs the same code with tiny models on the processor:
its figures say nothing but that everything runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from m3desk import config
from m3desk.errors import BackendMissing, ModelError, UsageError
from m3desk.ports import Pictures, Turn

DEFAULT = ("qwen2.5-omni-7b", "qwen3-vl-2b", "qwen3-vl-8b", "qwen3-8b", "qwen3-32b")
"""The classes of M3-Agent's memorization model (the first) and control model (the last), and smaller stand-ins."""

SECONDS, RATE, FACES = 30, 2.0, 3

REPLY = 700
"""Tokens of the reply about a clip: M3-Agent writes about 520 words."""

ANSWER, PROMPT = 200, 4_000
"""Tokens of an answer, and letters (tokens of these models) of what it is asked with."""

ROUNDS = 2
"""The first clip also pays for what is compiled once; the last is told."""


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Measure the named architectures (default: five). Raises BackendMissing, UsageError."""
    words = list(args)
    tiny = "--tiny" in words
    chosen = [w for w in words if w not in ("--tiny", "--random-weights")]
    if not tiny and "--random-weights" not in words:
        raise UsageError(
            "bench gpu measures models with random weights.", "Say so: m3desk bench gpu --random-weights [--tiny] [ARCHITECTURE …]."
        )
    makers = list(entry_points(group="m3desk.random_weights"))
    if not makers:
        raise BackendMissing("no backend for models on a GPU is installed.", "Install M3Desk again: pip install m3desk.")
    maker = makers[0].load()(config.Settings.load().threads)
    device = maker.device()
    known = device.pop("architectures")
    if unknown := [w for w in chosen if w not in known]:
        raise UsageError(f"there is no architecture “{unknown[0]}”.", f"There are: {', '.join(known)}.")
    report: dict[str, Any] = {**device, "tiny": tiny, "rows": []}
    if not tiny and not device["gpu"]:
        return {**report, "ok": False, "problem": "torch finds no GPU here; m3desk bench gpu --tiny runs the same code on the processor."}
    for name in chosen or DEFAULT:
        with tempfile.TemporaryDirectory(prefix="m3desk-bench-") as folder:
            report["rows"].append({"architecture": name, "what": known[name], **_row(maker, name, Path(folder) / name, tiny)})
    report["ok"] = any("problem" not in row for row in report["rows"])
    return report


def _row(maker: Any, name: str, folder: Path, tiny: bool) -> dict[str, Any]:
    try:
        model = maker.model(name, folder, tiny=tiny)
    except ModelError as error:  # it does not fit: that is a finding
        return {"problem": error.line()}
    try:
        turns, tokens = (_clip(model, tiny), REPLY) if model.sees else (_question(tiny), ANSWER)
        for _ in range(1 if tiny else ROUNDS):
            took = model.timed(turns, 16 if tiny else tokens)
    except ModelError as error:
        return {"problem": error.line(), "loading_seconds": model.about["seconds"]}
    finally:
        model.close()
    return {
        "kind": "clip" if model.sees else "answer",
        "loading_seconds": model.about["seconds"],
        "prompt_tokens": took["prompt"],
        "reading_seconds": round(took["prepared"] + took["first"], 2),
        "tokens_a_second": round((took["tokens"] - 1) / took["rest"], 1) if took["rest"] else None,
        "seconds": round(took["prepared"] + took["first"] + took["rest"], 2),
        "peak_bytes": took["peak"] or None,
        "changed": took["told"],
    }


def _clip(model: Any, tiny: bool) -> tuple[Turn, ...]:
    noise = np.random.default_rng(0)
    size = (90, 160) if tiny else (360, 640)
    count = int(min(SECONDS * RATE, model.most_pictures)) if model.watches_video else min(4, model.most_pictures)
    pictures = tuple(noise.integers(0, 255, (*size, 3), np.uint8) for _ in range(count - count % 2))
    seconds = len(pictures) / RATE
    sound = noise.normal(0, 0.1, int(seconds * 16_000)).astype(np.float32) if model.hears else None
    faces = [part for i in range(FACES) for part in (f"<face_{i + 1}>:", Pictures((pictures[i % len(pictures)][:84, :84].copy(),)))]
    return (Turn("user", ("Describe the clip. " * 20, Pictures(pictures, RATE, sound), "Face features:", *faces)),)


def _question(tiny: bool) -> tuple[Turn, ...]:
    return (Turn("user", (("Searched knowledge: " * PROMPT)[: 200 if tiny else PROMPT],)),)


def lines(report: dict[str, Any]) -> list[str]:
    """Return the report as people read it."""
    head = f"{report['device']}, {report['free'] / 1e9:.1f} GB free" + (
        "; tiny models: these figures say nothing of real ones" if report["tiny"] else ""
    )
    if "problem" in report:
        return [head, report["problem"]]
    shown = [head]
    for row in report["rows"]:
        if "problem" in row:
            shown.append(f"{row['architecture']:<16} {row['problem']}")
            continue
        peak = f", peak {row['peak_bytes'] / 1e9:.1f} GB" if row["peak_bytes"] else ""
        speed = f"{row['tokens_a_second']} tokens a second" if row["tokens_a_second"] else "no second token"
        shown.append(
            f"{row['architecture']:<16} {row['seconds']} s {'a clip' if row['kind'] == 'clip' else 'an answer'}: "
            f"{row['prompt_tokens']} tokens read in {row['reading_seconds']} s, {speed}{peak}; loaded in {row['loading_seconds']} s"
            + (f" ({'; '.join(row['changed'])})" if row["changed"] else "")
        )
    return shown
