"""Profiles the memorizing of a file: seconds of work and of waiting per stage, from the engine's own clocks."""

from __future__ import annotations

import cProfile
import io
import pstats
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk.app import App
from m3desk.bench.material import data

METHODS = {
    "faces": ("detect", "find faces"),
    "face_vectors": ("embed", "recognise faces"),
    "objects": ("detect", "find objects"),
    "screen_text": ("read", "read text on screen"),
    "speech_activity": ("probabilities", "find speech"),
    "speech_segmentation": ("segment", "tell speakers apart"),
    "voice_vectors": ("embed", "recognise voices"),
    "speech": ("transcribe", "write down speech"),
    "text_vectors": ("embed", "embed sentences"),
}


class _Timed:
    """A backend whose one method is timed; everything else passes through."""

    def __init__(self, backend: Any, method: str, label: str, clocks: dict[str, list[float]]) -> None:
        self._backend, self._method, self._label, self._clocks = backend, method, label, clocks

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._backend, name)
        if name != self._method:
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return value(*args, **kwargs)
            finally:
                self._clocks[self._label].append(time.perf_counter() - began)

        return call


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Memorize a file (default: the reel) in this process with every backend timed."""
    video = Path(args[0]) if args else data("video", "reel", "reel_shared.mp4")
    folder = Path(tempfile.mkdtemp(prefix="m3desk-profile-"))
    clocks: dict[str, list[float]] = defaultdict(list)
    try:
        with App(folder / "profile.m3desk") as app:
            opened = time.perf_counter()
            for port, (method, label) in METHODS.items():
                backend = app.backends.get(port)
                if backend is not None:
                    app.backends.replace(port, _Timed(backend, method, label, clocks))
            loading = time.perf_counter() - opened
            app.work.add([video])
            profile = cProfile.Profile()
            began = time.perf_counter()
            profile.runcall(app.work.run)
            wall = time.perf_counter() - began
            with app.reader() as reader:
                length = (reader.sources()[0].duration or 0) / 1e6
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    stages = {label: {"calls": len(t), "seconds": round(sum(t), 2)} for label, t in sorted(clocks.items(), key=lambda c: -sum(c[1]))}
    return {
        "file": video.name,
        "length": round(length, 1),
        "wall_seconds": round(wall, 1),
        "loading_seconds": round(loading, 1),
        "stages": stages,
        "commit_thread": _top(profile),
    }


def _top(profile: cProfile.Profile) -> list[str]:
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats("m3desk", 12)
    return [line.strip() for line in text.getvalue().splitlines() if "m3desk" in line][:12]
