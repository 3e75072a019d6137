"""One hostile try: a command line, and what it may touch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Case:
    """`kind`: media, json, pickle, command or text. `name`: what was done, to find the case again. `arguments`: the words after `m3desk`.

    `memory`: the memory folder that the command names, or None. `new`: that folder does not exist yet, so a refused command must not leave it.
    """

    kind: str
    name: str
    arguments: tuple[str, ...]
    memory: Path | None = None
    new: bool = True
