"""Licences that must be accepted before a model is used: what was accepted, kept on file with its text's sha256 and the day."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from m3desk import paths, private
from m3desk.errors import UsageError


def file() -> Path:
    """Return the file of what was accepted, beside the weights; removing a model leaves it."""
    return paths.models_dir() / "accepted-licences.json"


def accepted(model: str, text: str) -> bool:
    """Return whether this text was accepted for a model; a text that changed must be accepted again."""
    return not text or _read().get(model, {}).get("sha256") == _digest(text)


def accept(model: str, text: str) -> None:
    """Keep on file that the user accepted a licence. Raises UsageError if it can't be written."""
    noted = {**_read(), model: {"sha256": _digest(text), "accepted": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "text": text}}
    try:
        private.folder(file().parent)
        new = file().with_suffix(".new")
        private.write(new, json.dumps(noted, ensure_ascii=False, indent=1).encode())
        new.replace(file())
    except OSError as error:
        raise UsageError(f"{file()} cannot be written ({error.strerror}).", "Check permissions, or set M3DESK_MODELS.") from error


def _read() -> dict[str, Any]:
    try:
        noted = json.loads(file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in noted.items() if isinstance(v, dict)} if isinstance(noted, dict) else {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


__all__ = ["accept", "accepted", "file"]
