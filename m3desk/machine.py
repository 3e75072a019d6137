"""Describes this machine: processor, memory, graphics, devices, display, and which profiles can run. Records from no device."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

from m3desk import backends, config, models, outgoing
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
            found.append({"name": name, "ready": not reason, "reason": reason})
    known = {p["name"] for p in found}
    if "gpu" not in known:
        seen = f"{gpus()[0]['name']} is here, but " if gpus() else "there is no NVIDIA GPU, and "
        found.append({"name": "gpu", "ready": False, "reason": f"{seen}the GPU backends are not installed"})
    return found


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
    """Return NVIDIA graphics cards, as the driver's own tool lists them; [] where there is none."""
    command = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_CHILD_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in told.splitlines():
        with contextlib.suppress(ValueError):
            name, memory, driver = (part.strip() for part in line.split(","))
            found.append({"name": name, "memory_bytes": int(float(memory)) << 20, "driver": driver})
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
