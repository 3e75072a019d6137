"""The backends that have an environment of their own: what is installed for each, read from resources/backends.toml."""

from __future__ import annotations

import platform
import shutil
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from m3desk import paths
from m3desk.errors import UsageError


@dataclass(frozen=True, slots=True)
class Variant:
    """What is installed on one kind of machine. `download`, `installed`: measured bytes; `measured`: where and when."""

    name: str
    packages: tuple[str, ...]
    alone: tuple[str, ...]
    """Packages that are installed without what they ask for."""
    without: tuple[str, ...]
    """Packages that others bring and that are removed again, because they do not load beside them."""
    strip: tuple[str, ...]
    """Files of packages (patterns) that are removed, because they do not load beside the others and are not needed."""
    index: str
    """A package index besides the usual one; "": none."""
    download: int
    installed: int
    measured: str

    @property
    def pins(self) -> tuple[str, ...]:
        """Every package that is named, with its version."""
        return (*self.packages, *self.alone)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One backend. `imports`: modules that must load when it is installed. `licences`: of what is installed, one text each.
    `systems`: where it runs, as `sys.platform` says; empty: everywhere."""

    name: str
    title: str
    adds: str
    licences: tuple[str, ...]
    imports: tuple[str, ...]
    variants: tuple[Variant, ...]
    systems: tuple[str, ...] = ()

    def variant(self, name: str | None = None) -> Variant:
        """Return a variant by its name, or the one for this machine. Raises UsageError."""
        wanted = name or kind_of_machine()
        found = next((v for v in self.variants if v.name == wanted), None)
        if found is None and name:
            there = ", ".join(v.name for v in self.variants)
            raise UsageError(f"the backend {self.name} has no variant “{name}”.", f"There are: {there}.")
        return found or self.variants[0]


@cache
def recipes() -> tuple[Recipe, ...]:
    """Return every backend of backends.toml, in its order."""
    with (paths.resources() / "backends.toml").open("rb") as stream:
        listed = tomllib.load(stream)["backend"]
    return tuple(
        Recipe(
            b["name"],
            b["title"],
            b["adds"],
            tuple(b["licences"]),
            tuple(b["imports"]),
            tuple(_variant(v) for v in b["variant"]),
            tuple(b.get("systems", ())),
        )
        for b in listed
    )


def _variant(given: dict[str, Any]) -> Variant:
    return Variant(
        given["name"],
        tuple(given["packages"]),
        tuple(given.get("alone", ())),
        tuple(given.get("without", ())),
        tuple(given.get("strip", ())),
        given.get("index", ""),
        int(given["download"]),
        int(given["installed"]),
        given["measured"],
    )


def recipe(name: str) -> Recipe:
    """Return a backend by name. Raises UsageError."""
    for one in recipes():
        if one.name == name:
            return one
    raise UsageError(f"there is no backend “{name}” to install.", f"There are: {', '.join(r.name for r in recipes())}.")


@cache
def kind_of_machine() -> str:
    """Return “cpu” where PyTorch's usual build would bring gigabytes for a graphics card that is not here, else “usual”."""
    if sys.platform == "darwin" or platform.machine().lower() not in ("x86_64", "amd64"):
        return "usual"  # the registry's builds are for the processor (and Metal) there
    driver = shutil.which("nvidia-smi") or Path("/proc/driver/nvidia/version").exists() or Path("/dev/dxg").exists()
    return "usual" if driver else "cpu"


__all__ = ["Recipe", "Variant", "kind_of_machine", "recipe", "recipes"]
