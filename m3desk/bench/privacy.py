"""Tests the promise "nothing leaves your machine": runs the main jobs in a network where every address leads to this benchmark (Linux).

Counts lookups of names, connections, and files outside of the program's own folders.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from m3desk.bench.material import command
from m3desk.bench.watched import SideEffects, watch
from m3desk.errors import M3DeskError, UsageError
from m3desk.paths import models_dir

OWN = ("home/.local/share/m3desk", "home/.config/m3desk", "home/.cache/m3desk", "home/.local/state/m3desk")
"""The program's own folders in a user's home (paths.py); what it is asked to write lies in the folder it is run in."""

WINDOW_SECONDS = 60.0
"""How long the window stays open: what waits before it sends is seen (ONNX Runtime 1.31 calls within half a minute)."""

EVERY_MODEL = """
import numpy as np
from m3desk import backends, models
opened = backends.Backends(models.weights)
found = {port: opened.get(port) for port in backends.PORTS}
if found["speech"]:
    found["speech"].transcribe(np.random.default_rng(0).normal(0, 0.1, 32_000).astype(np.float32))
if found["text_vectors"]:
    found["text_vectors"].embed(["a red mug", "红色的杯子"])
print(*(f"{port}: {'opened' if backend else opened.missing.get(port, 'none')}" for port, backend in found.items()), sep="\\n")
"""


def film(path: Path, seconds: int = 8) -> Path:
    """Make a small film: a bright square that moves, over noise with the rhythm of syllables."""
    rate, random = 16_000, np.random.default_rng(7)
    with av.open(str(path), "w") as out:
        pictures: Any = out.add_stream("libx264", rate=5)
        pictures.width, pictures.height, pictures.pix_fmt = 320, 240, "yuv420p"
        sound: Any = out.add_stream("aac", rate=rate, layout="mono")
        for number in range(seconds * 5):
            picture = np.full((240, 320, 3), 60, np.uint8)
            picture[80:160, number * 4 : number * 4 + 80] = (200, 40, 40)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            out.mux(pictures.encode(frame))
        at = np.arange(seconds * rate)
        wave = random.normal(0, 0.2, at.size) * (np.sin(2 * np.pi * 4 * at / rate) > 0)
        heard = av.AudioFrame.from_ndarray(wave.astype(np.float32)[None], format="fltp", layout="mono")
        heard.sample_rate, heard.time_base, heard.pts = rate, Fraction(1, rate), 0
        out.mux(sound.encode(heard))
        for stream in (pictures, sound):
            out.mux(stream.encode(None))
    return path


def jobs(name: str, window_seconds: float) -> list[dict[str, Any]]:
    """Return the main jobs on a film in the working folder, each as `watched.watch` wants it."""
    told = [
        ("memorize", name, "-m", "a.m3desk"),
        ("ask", "-m", "a.m3desk", "What is seen?"),
        ("ask", "-m", "a.m3desk", "谁在说话？"),
        ("search", "nodes", "-m", "a.m3desk", "红色的杯子"),
        ("people", "list", "-m", "a.m3desk"),
        ("people", "suggestions", "-m", "a.m3desk"),
        ("export", "-m", "a.m3desk", "-o", "a.json"),
        ("export", "-m", "a.m3desk", "-o", "a.html"),
        ("import", "a.json", "-m", "b.m3desk"),
        ("check", "-m", "a.m3desk"),
        ("config", "set", "language", "en"),
        ("models", "list"),
        ("doctor",),
    ]
    window = {"words": command("play", name), "until": f"{name}.m3desk", "stop": window_seconds, "env": {"QT_QPA_PLATFORM": "offscreen"}}
    return [{"words": [sys.executable, "-c", EVERY_MODEL]}, *({"words": command(*words)} for words in told), window]


def tried(source: Path | None, folder: Path, window_seconds: float, left_out: Sequence[str] = ()) -> SideEffects:
    """Do the main jobs on a film (None: a made one) below `folder`. `left_out`: jobs not to do, by their first word. Raises OSError."""
    (folder / "work").mkdir(parents=True)
    name = "film.mp4" if source is None else source.name
    if source is None:
        film(folder / "work" / name)
    else:
        shutil.copyfile(source, folder / "work" / name)
    wanted = [job for job in jobs(name, window_seconds) if not any(word in left_out for word in job["words"])]
    env = {"M3DESK_MODELS": str(models_dir())} if models_dir().is_dir() else {}
    return watch(wanted, folder, env=env, own=OWN, keep=[models_dir()])


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Try the promise on FILE (default: a made film), the window open for SECONDS. Raises UsageError, M3DeskError where it can't."""
    if not sys.platform.startswith("linux"):
        raise UsageError("this benchmark needs Linux's network namespaces.")
    source = Path(args[0]).resolve() if args else None
    if source is not None and not source.is_file():
        raise UsageError(f"there is no file {args[0]}.", "Name a video, or nothing for a made one.")
    try:
        seconds = float(args[1]) if len(args) > 1 else WINDOW_SECONDS
    except ValueError as error:
        raise UsageError(f"“{args[1]}” is no number of seconds.", "For example 60.") from error
    if not 0 < seconds <= 3600:
        raise UsageError(f"the window can't be open for {args[1]} seconds.", "Give more than 0 and at most 3600.")
    folder = Path(tempfile.mkdtemp(prefix="m3desk-privacy-"))
    try:
        seen = tried(source, folder, seconds)
    except OSError as error:
        raise M3DeskError(f"the benchmark can't run here: {error}.", "It needs root or user namespaces, and no chroot.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    runs = [{"job": " ".join(Path(w).name for w in r["words"][3:6]) or "every model", **r} for r in seen.runs]
    failed = [r for r in runs if r["status"] not in (0, 130)]
    return {
        "ok": not (seen.lookups or seen.connections or seen.written or failed),
        "lookups": seen.lookups,
        "connections": seen.connections,
        "loopback": seen.loopback,
        "written_elsewhere": seen.written,
        "jobs": [{"job": r["job"], "status": r["status"], "seconds": r["seconds"]} for r in runs],
        "failed": [{"job": r["job"], "said": r["said"]} for r in failed],
    }
