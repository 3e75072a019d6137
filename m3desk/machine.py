"""Describes this machine: processor, memory, graphics, devices, display, and which profiles can run. Records from no device."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import psutil

from m3desk import backends, calibrated, config, models, outgoing, presets
from m3desk.children import cards, environments
from m3desk.children.recipes import recipe
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
        "gpus": cards.seen(),
        "engines": engines(),
        "profiles": profiles(),
        "cameras": [d.name for d in found if d.kind == "camera"],
        "microphones": [d.name for d in found if d.kind == "microphone"],
        "display": display_problem() or True,
        "calibrations": [m.summary() for m in calibrated.all_own()],
    }


def profiles() -> list[dict[str, Any]]:
    """Return each profile and whether it can run here; `reason` also says what a usable profile lacks.

    `fits`: whether this machine is large enough; if not, `short` says of what (see Short) and `smaller` which profile is the next smaller
    one. `turns`: its models take turns on the card. `downloads`: what is not here yet.
    """
    found = [_embedded()]
    try:
        own = config.profiles()
    except M3DeskError as error:
        own = {}
        found[0]["reason"] = f"{found[0]['reason']}; {error.line()}".lstrip("; ")
    for name, ports in {**backends.PROFILES, **own}.items():
        if name != "embedded":
            found.append(_row(name, ports, None if name in own else presets.presets().get(name)))
    return found


def _row(name: str, ports: Mapping[str, str], preset: presets.Preset | None) -> dict[str, Any]:
    """Return the row of a profile other than the embedded one."""
    lacking = [f"{port}: {backend}" for port, backend in ports.items() if backend not in backends.available(port)]
    reason = f"no such backend is installed: {', '.join(lacking)}" if lacking else ""
    if not reason and outgoing.SERVER in ports.values():
        reason = _server()
    short, turns = fit(preset) if preset is not None else (None, False)
    downloads = [*_environments(preset), *_weights(models.plan_pull(profile="embedded"))]
    if preset is not None:
        downloads += _weights(models.plan_pull([m for m in preset.models if not _chosen_otherwise(preset, m)]))
        reason = reason or (_line(short, preset) if short is not None else _lacks(preset))
    return {
        "name": name,
        "ready": not reason,
        "reason": reason or (IN_TURNS if turns else ""),
        "fits": short is None,
        "short": asdict(short) if short is not None else None,
        "smaller": preset.smaller if preset is not None else None,
        "turns": turns,
        "downloads": downloads,
    }


IN_TURNS = "its models take turns on the graphics card: they do not fit on it together"


@dataclass(frozen=True, slots=True)
class Short:
    """What a machine has too little of for a profile: `needed` bytes, it has `has` of them.

    `what`: "memory" (free now), "card" (there is none, or `on` sees none), "card-size" or "card-free" (of the card `on`, free now).
    """

    what: str
    needed: int
    has: int = 0
    on: str = ""


def fit(preset: presets.Preset) -> tuple[Short | None, bool]:
    """Return what this machine has too little of for a profile (None: nothing), and whether its models take turns on the card."""
    turns = False
    if preset.graphics:
        usable = _cards(preset)
        if not usable:
            return Short("card", preset.in_turns, on=preset.engine if preset.engine and cards.seen() else ""), False
        best = max(usable, key=lambda d: int(d["memory_bytes"]))
        has, free = int(best["memory_bytes"]), int(best["memory_free_bytes"])
        if has < preset.in_turns:
            return Short("card-size", preset.in_turns, has, str(best["name"])), False
        if free < preset.in_turns:
            return Short("card-free", preset.in_turns, free, str(best["name"])), False
        turns = free < preset.graphics
    free = psutil.virtual_memory().available
    return (Short("memory", preset.memory, free), False) if free < preset.memory else (None, turns)


def _cards(preset: presets.Preset) -> list[dict[str, Any]]:
    """Return the graphics cards that a profile can use."""
    return [d for d in engines() if d["engine"] == preset.engine and d["graphics"]] if preset.engine else cards.seen()


def refusal(profile: str) -> str:
    """Return why a profile of ours can't run on this machine, with the next smaller choice; "" if it can (what lacks can be installed)."""
    preset = presets.presets().get(profile) if profile not in config.profiles() else None
    short = fit(preset)[0] if preset is not None else None
    return _line(short, preset) if short is not None and preset is not None else ""


def _line(short: Short, preset: presets.Preset) -> str:
    """Return what is too little, and what to choose instead."""
    needed, has = _gigabytes(short.needed), _gigabytes(short.has)
    match short.what:
        case "card" if short.on:
            why = f"the installed build of {short.on} sees no graphics card (docs/profiles/{preset.name}.md)"
        case "card":
            why = f"it needs a graphics card with {needed}, and none is seen"
        case "card-size":
            why = f"it needs {needed} on one graphics card, {short.on} has {has}"
        case "card-free":
            why = f"it needs {needed}, {has} of {short.on} are free now: end what uses it"
        case _:
            why = f"it needs {needed} of memory, {has} are free now"
    return f"{why}; the next smaller choice is {preset.smaller}"


def _environments(preset: presets.Preset | None) -> list[dict[str, Any]]:
    """Return the backends that must be installed for a profile."""
    names = [name for name in preset.environments if not environments.installed(name)] if preset is not None else []
    return [{"name": name, "kind": "backend", "bytes": recipe(name).variant(None).download} for name in names]


def _weights(plan: Sequence[models.ModelEntry]) -> list[dict[str, Any]]:
    return [{"name": m.name, "kind": "model", "bytes": m.bytes} for m in plan]


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
    """Return the row of the embedded profile."""
    fits, needed = not _lacks_avx2(), models.plan_pull(profile="embedded")
    broken = [f"{name} ({what})" for name, what in _LIBRARIES.items() if importlib.util.find_spec(name) is None]
    broken += [f"{port}: {name}" for port, name in backends.EMBEDDED.items() if name not in backends.available(port)]
    ready, reason = False, ""
    if broken:
        reason = f"not installed: {', '.join(broken)}; install M3Desk again"
    elif not fits:
        reason = "this processor has no AVX2, which the text and language models need"
    elif needed:
        size = sum(m.bytes for m in needed) / 1e6
        reason = f"weights are missing ({', '.join(m.name for m in needed)}, {size:.0f} MB): m3desk models pull"
    else:
        ready = True
        if models.plan_pull(profile="llm"):
            reason = "without the language model it answers by quoting: m3desk models pull --llm"
    row = {"name": "embedded", "ready": ready, "reason": reason, "fits": fits, "short": None, "smaller": None, "turns": False}
    return {**row, "downloads": _weights(needed)}


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
