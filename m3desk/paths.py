"""Paths on this machine: shipped resources, the user's settings, data, models and logs."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import platformdirs

from m3desk import private

_APP = "m3desk"


def resources() -> Path:
    """Return the folder of shipped data: inside the wheel, or the checkout's `resources/` in an editable install."""
    installed = Path(__file__).parent / "resources"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "resources"


def config_file() -> Path:
    """Return the settings file; `M3DESK_CONFIG` overrides the platform's default."""
    override = os.environ.get("M3DESK_CONFIG")
    return Path(override) if override else Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "config.toml"


def data_dir() -> Path:
    """Return the user's data folder (models, live memories, plugins); `M3DESK_DATA` overrides it."""
    override = os.environ.get("M3DESK_DATA")
    return Path(override) if override else Path(platformdirs.user_data_dir(_APP, appauthor=False))


def models_dir() -> Path:
    """Return the folder into which `m3desk models pull` puts weights, one folder per model."""
    override = os.environ.get("M3DESK_MODELS")
    return Path(override) if override else data_dir() / "models"


def backends_dir() -> Path:
    """Return the folder into which `m3desk backends install` puts environments, one folder per backend."""
    override = os.environ.get("M3DESK_BACKENDS")
    return Path(override) if override else data_dir() / "backends"


def log_dir() -> Path:
    """Return the folder of log files."""
    override = os.environ.get("M3DESK_DATA")
    return Path(override) / "log" if override else Path(platformdirs.user_log_dir(_APP, appauthor=False))


def window_file() -> Path:
    """Return the file in which the window keeps its size and layouts."""
    return config_file().with_name("window.ini")


def recent_file() -> Path:
    """Return the list of memories opened last."""
    return config_file().with_name("recent.json")


def recent_dir() -> Path:
    """Return the folder of the start page's pictures, one per memory."""
    return data_dir() / "recent"


def recent_picture(memory: str | Path) -> Path:
    """Return the path of a memory's picture on the start page (it may not exist); `memory`: the memory's absolute path."""
    return recent_dir() / f"{memory_key(memory)}.jpg"


def memory_key(memory: str | Path) -> str:
    """Return the short key of a memory in settings and caches."""
    return hashlib.sha256(str(memory).encode()).hexdigest()[:16]


def temporary_dir() -> Path:
    """Return the folder for files that live only as long as a process: one-time search indexes, sounds being played."""
    return data_dir() / "temporary"


def temporary(kind: str) -> tempfile.TemporaryDirectory[str]:
    """Create a temporary folder that is deleted when the process ends; its name holds the process id, to find those of killed processes.

    It lies in M3Desk's own folder, where forgetting a person searches it, or in the system's if that is not writable.
    """
    try:
        return tempfile.TemporaryDirectory(prefix=f"{kind}-{os.getpid()}-", dir=private.folder(temporary_dir()))
    except OSError:
        return tempfile.TemporaryDirectory(prefix=f"m3desk-{kind}-{os.getpid()}-")


def close_own() -> None:
    """Make M3Desk's folders and files outside of memories private to the user, including those of older versions. Never raises."""
    for top in (data_dir(), log_dir()):
        if "M3DESK_DATA" not in os.environ or _holds_only_ours(top):  # a folder that the user chose may be shared with others
            private.close(top)
    for inside in (recent_dir(), temporary_dir(), data_dir() / "cache", data_dir() / "memories", log_dir()):
        private.close(inside)
    if "M3DESK_CONFIG" not in os.environ:
        private.close(config_file().parent)
    for file in (config_file(), window_file(), recent_file()):
        private.close_file(file)


_OURS = frozenset({"models", "backends", "log", "recent", "temporary", "cache", "memories", "telemetry-removed"})
"""The names of what M3Desk keeps in its data folder."""


def _holds_only_ours(folder: Path) -> bool:
    try:
        return all(entry.name in _OURS for entry in folder.iterdir())
    except OSError:
        return False
