"""Describes this machine: processor, memory, graphics, devices, display, and which profiles can run. Records from no device."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import platform
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import psutil

from m3desk import backends, config, models, outgoing, presets
from m3desk.children import environments
from m3desk.errors import M3DeskError
from m3desk.media.capture.devices import devices

# The libraries of the embedded profile and what each is for, to name what a broken installation lacks.
_LIBRARIES = {
    "av": "video",
    "cv2": "faces and objects",
    "onnxruntime": "models",
    "faster_whisper": "speech",
    "rapidocr": "text on screen",
    "lancedb": "search in very large memories",
}

log = logging.getLogger(__name__)

_CHILD_SECONDS = 20

_SHOW = "import sys; from PySide6.QtGui import QGuiApplication; QGuiApplication(sys.argv[:1]); print('shown')"


def doctor() -> dict[str, Any]:
    """Return what `m3desk doctor --json` prints (contract.md). `display`: true, or why no window can be opened."""
    found = devices()
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": f"{_cpu_name()}, {config.cores()} cores",
        "memory_bytes": psutil.virtual_memory().total,
        "gpus": gpus(),
        "engines": engines(),
        "profiles": profiles(),
        "cameras": [d.name for d in found if d.kind == "camera"],
        "microphones": [d.name for d in found if d.kind == "microphone"],
        "display": display_problem() or True,
    }


def profiles() -> list[dict[str, Any]]:
    """Return each profile and whether it can run here; `reason` also says what a usable profile lacks."""
    found = [_embedded()]
    try:
        own = config.profiles()
    except M3DeskError as error:
        own = {}
        found[0]["reason"] = f"{found[0]['reason']}; {error.line()}".lstrip("; ")
    for name, ports in {**backends.PROFILES, **own}.items():
        if name != "embedded":
            lacking = [f"{port}: {backend}" for port, backend in ports.items() if backend not in backends.available(port)]
            reason = f"no such backend is installed: {', '.join(lacking)}" if lacking else ""
            if not reason and outgoing.SERVER in ports.values():
                reason = _server()
            if not reason and name not in own and (preset := presets.presets().get(name)) is not None:
                reason = too_small(preset) or _lacks(preset)
            found.append({"name": name, "ready": not reason, "reason": reason})
    return found


def refusal(profile: str) -> str:
    """Return why a profile of ours can't run on this machine, with the next smaller choice; "" if it can (what lacks can be installed)."""
    preset = presets.presets().get(profile) if profile not in config.profiles() else None
    return too_small(preset) if preset is not None else ""


def too_small(preset: presets.Preset) -> str:
    """Return what this machine has too little of for a profile, and what to choose instead; "" if nothing."""
    instead = f"; the next smaller choice is {preset.smaller}"
    if preset.graphics:
        cards = gpus()
        if preset.engine:
            cards = [d for d in engines() if d["engine"] == preset.engine and d["graphics"]]
            if not cards and gpus():
                return f"the installed build of {preset.engine} sees no graphics card (docs/profiles/{preset.name}.md){instead}"
        if not cards:
            return f"it needs a graphics card with {_gigabytes(preset.graphics)}, and none is seen{instead}"
        best = max(cards, key=lambda d: d["memory_bytes"])
        has, free = best["memory_bytes"], best["memory_free_bytes"]
        if has < preset.graphics:
            return f"it needs {_gigabytes(preset.graphics)} on one graphics card, {best['name']} has {_gigabytes(has)}{instead}"
        if free < preset.graphics:
            return f"it needs {_gigabytes(preset.graphics)}, {_gigabytes(free)} of {best['name']} are free now: end what uses it{instead}"
    free = psutil.virtual_memory().available
    if free < preset.memory:
        return f"it needs {_gigabytes(preset.memory)} of memory, {_gigabytes(free)} are free now{instead}"
    return ""


def _lacks(preset: presets.Preset) -> str:
    """Return what must be installed or downloaded for a profile; "" if nothing."""
    commands = [f"m3desk backends install {name}" for name in preset.environments if not environments.installed(name)]
    needed = models.plan_pull([name for name in preset.models if not _chosen_otherwise(preset, name)])
    if needed:
        size = sum(m.bytes for m in needed) / 1e9
        commands.append(f"m3desk models pull {' '.join(m.name for m in needed)} ({size:.1f} GB)")
    return f"first: {', then '.join(commands)}" if commands else ""


def _chosen_otherwise(preset: presets.Preset, model: str) -> bool:
    """Return whether the user's own settings replace a model of a profile."""
    users = [name for name, options in preset.options.items() if model in options.values()]
    try:
        return any("model" in config.own_options(name) for name in users)
    except M3DeskError:
        return False


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


def _server() -> str:
    """Return what the server profile lacks; "" if it can be used (whether the server runs is not asked)."""
    try:
        address = outgoing.server()
    except M3DeskError as error:
        return error.line()
    return "" if address else f"no address of a model server is set: {outgoing.EXAMPLE}"


def _embedded() -> dict[str, Any]:
    """Return whether the embedded profile can run."""
    broken = [f"{name} ({what})" for name, what in _LIBRARIES.items() if importlib.util.find_spec(name) is None]
    broken += [f"{port}: {name}" for port, name in backends.EMBEDDED.items() if name not in backends.available(port)]
    if broken:
        return {"name": "embedded", "ready": False, "reason": f"not installed: {', '.join(broken)}; install M3Desk again"}
    if _lacks_avx2():
        return {"name": "embedded", "ready": False, "reason": "this processor has no AVX2, which the text and language models need"}
    if needed := models.plan_pull(profile="embedded"):
        size = sum(m.bytes for m in needed) / 1e6
        reason = f"weights are missing ({', '.join(m.name for m in needed)}, {size:.0f} MB): m3desk models pull"
        return {"name": "embedded", "ready": False, "reason": reason}
    without = "without the language model it answers by quoting: m3desk models pull --llm"
    return {"name": "embedded", "ready": True, "reason": without if models.plan_pull(profile="llm") else ""}


def _cpu_info() -> dict[str, str]:
    """Return the first processor's lines of /proc/cpuinfo, {} elsewhere."""
    with contextlib.suppress(OSError):
        first = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n\n", 1)[0]
        return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    return {}


def _cpu_name() -> str:
    return _cpu_info().get("model name") or platform.processor() or platform.machine() or "unknown processor"


def _lacks_avx2() -> bool:
    flags = _cpu_info().get("flags")
    return platform.machine() in ("x86_64", "AMD64") and flags is not None and "avx2" not in flags.split()


def gpus() -> list[dict[str, Any]]:
    """Return NVIDIA graphics cards, as the driver's own tool lists them, with the memory free now; [] where there is none."""
    command = ["nvidia-smi", "--query-gpu=name,memory.total,memory.free,driver_version", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_CHILD_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in told.splitlines():
        with contextlib.suppress(ValueError):
            name, memory, free, driver = (part.strip() for part in line.split(","))
            bytes_of = {"memory_bytes": int(float(memory)) << 20, "memory_free_bytes": int(float(free)) << 20}
            found.append({"name": name, **bytes_of, "driver": driver})
    return found


def engines() -> list[dict[str, Any]]:
    """Return the devices that the installed engines of models see themselves (CUDA, ROCm, Metal, Vulkan, CPU), as their builds allow.

    Engines in environments of their own are not asked: they would have to be started.
    """
    found: list[dict[str, Any]] = []
    for engine in entry_points(group="m3desk.devices"):
        try:
            found += [{"engine": engine.name, **device} for device in engine.load()()]
        except (M3DeskError, ImportError, AttributeError, OSError, RuntimeError) as error:
            log.warning("the devices of %s can't be asked: %s", engine.name, error)
    return found


def display_problem() -> str | None:
    """Return why no window can be opened here, None where one can.

    Asks a child process: with a display that is set but dead, Qt aborts the process that asks.
    """
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if sys.platform.startswith("linux") and not chosen and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"
    if getattr(sys, "frozen", False):  # a packaged app cannot run a line of Python as a child
        return None
    try:
        child = subprocess.run([sys.executable, "-c", _SHOW], capture_output=True, text=True, timeout=_CHILD_SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return f"the display does not answer ({os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')})"
    except OSError as error:
        return f"no child process can be started ({error})"
    if "shown" in child.stdout:
        return None
    return _why(child.stderr)


def _why(stderr: str) -> str:
    """Return Qt's error message as one line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if any("ModuleNotFoundError" in line for line in lines):
        return "Qt is not installed (pip install m3desk)"
    library = next((line for line in lines if "cannot open shared object file" in line), None)
    if library:
        return f"a system library is missing: {library.rsplit('ImportError:', 1)[-1].split(':')[0].strip()} (packaging/run.sh lists them)"
    said = next((line for line in lines if "could not connect to display" in line), lines[-1] if lines else "Qt could not start")
    return said.removeprefix("qt.qpa.xcb: ").rstrip(".")
