"""Graphics cards and their memory, as the driver's own tool tells them."""

from __future__ import annotations

import contextlib
import subprocess
from typing import Any

_SECONDS = 20


def seen() -> list[dict[str, Any]]:
    """Return NVIDIA graphics cards: `name`, `memory_bytes`, `memory_free_bytes` (now), `driver`; [] where there is none."""
    command = ["nvidia-smi", "--query-gpu=name,memory.total,memory.free,driver_version", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in told.splitlines():
        with contextlib.suppress(ValueError):
            name, memory, free, driver = (part.strip() for part in line.split(","))
            bytes_of = {"memory_bytes": int(float(memory)) << 20, "memory_free_bytes": int(float(free)) << 20}
            found.append({"name": name, **bytes_of, "driver": driver})
    return found


def largest() -> dict[str, Any] | None:
    """Return the card with the most memory: the one that the engines use; None where there is none."""
    return max(seen(), key=lambda card: int(card["memory_bytes"]), default=None)


def free() -> int | None:
    """Return the bytes that are free now on the largest card; None where there is none."""
    card = largest()
    return int(card["memory_free_bytes"]) if card is not None else None
