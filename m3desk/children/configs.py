"""What the config.json of a model's folder tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def sees(config: Mapping[str, Any]) -> bool:
    """Return whether a model takes pictures: its configuration has a part for what it sees."""
    inner = config.get("thinker_config", config)
    return isinstance(inner, Mapping) and any(name == "visual" or "vision" in name for name in inner)
