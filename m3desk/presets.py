"""The profiles that M3Desk offers for larger machines (resources/profiles.toml): backends, their settings, and what they need."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from m3desk import paths


@dataclass(frozen=True, slots=True)
class Preset:
    """A profile. `ports`: what differs from the embedded one. `options`: of its backends, where the user set nothing else.

    `graphics`, `memory`: bytes needed on one graphics card by all its models, and free in the main memory (calculated). `needs`: of
    `graphics`, by port, where the models can take turns on the card. `engine`: what must see the card, if that is no environment.
    `smaller`: the next smaller profile.
    """

    name: str
    ports: Mapping[str, str]
    options: Mapping[str, Mapping[str, Any]]
    models: tuple[str, ...]
    smaller: str
    graphics: int = 0
    memory: int = 0
    engine: str = ""
    environments: tuple[str, ...] = field(default=())
    needs: Mapping[str, int] = field(default_factory=dict)

    @property
    def in_turns(self) -> int:
        """Return the bytes needed on the card where its models take turns (`children.turns`): the largest one's, if they can; else all."""
        return max(self.needs.values(), default=self.graphics)


@cache
def presets() -> dict[str, Preset]:
    """Return the profiles by name, smallest first."""
    with (paths.resources() / "profiles.toml").open("rb") as stream:
        tables = tomllib.load(stream)
    return {
        name: Preset(
            name,
            t["ports"],
            t["backends"],
            tuple(t["models"]),
            t["smaller"],
            t.get("graphics", 0),
            t.get("memory", 0),
            t.get("engine", ""),
            tuple(t.get("environments", ())),
            t.get("needs", {}),
        )
        for name, t in tables.items()
    }


def options(profile: object, backend: str) -> dict[str, Any]:
    """Return the settings of a backend in a profile; {} where it has none."""
    found = presets().get(profile) if isinstance(profile, str) else None
    return dict(found.options.get(backend, {})) if found is not None else {}


def need(profile: object, port: str) -> int:
    """Return the bytes that the model of a port needs on the card in a profile; 0 where that is not known."""
    found = presets().get(profile) if isinstance(profile, str) else None
    return found.needs.get(port, 0) if found is not None else 0
