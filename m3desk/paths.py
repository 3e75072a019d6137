"""Where things lie on this machine: shipped resources, the user's settings, data, models and logs."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_APP = "m3desk"


def resources() -> Path:
    """Return the folder of shipped data: inside the wheel, or the checkout's `resources/` in an editable install."""
    installed = Path(__file__).parent / "resources"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "resources"


def config_file() -> Path:
    """Return the settings file; `M3DESK_CONFIG` overrides the platform's place."""
    override = os.environ.get("M3DESK_CONFIG")
    return Path(override) if override else Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "config.toml"


def data_dir() -> Path:
    """Return the user's data folder (models, live memories, plugins); `M3DESK_DATA` overrides it."""
    override = os.environ.get("M3DESK_DATA")
    return Path(override) if override else Path(platformdirs.user_data_dir(_APP, appauthor=False))


def models_dir() -> Path:
    """Return the folder into which `m3desk models pull` puts weights, one folder a model."""
    override = os.environ.get("M3DESK_MODELS")
    return Path(override) if override else data_dir() / "models"


def log_dir() -> Path:
    """Return the folder of log files."""
    override = os.environ.get("M3DESK_DATA")
    return Path(override) / "log" if override else Path(platformdirs.user_log_dir(_APP, appauthor=False))
