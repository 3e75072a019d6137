"""One hostile test case: a command line, and the files it may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PERCEIVING = """profile = "hostile"
[profiles.hostile]
faces = "yunet"
face_vectors = "sface"
speech_activity = "silero"
"""
"""Settings of a try unless it brings its own: shipped models that open in a moment, enough to decode pictures and sound."""


@dataclass(frozen=True, slots=True)
class Case:
    """`kind`: media, json, pickle, command or text. `name`: what was done, to find the case again. `arguments`: the words after `m3desk`.

    `memory`: the memory folder that the command names, or None. `new`: it does not exist yet, so a refused command must not leave it.
    `files`: files and folders made for this try alone: kept when something goes wrong, else deleted after it. `settings`: the text of the
    settings file. `environment`: variables beside the usual ones. `document`: standard output is a document (an export to `-`), whose line
    ends and marks of right-to-left languages are its own. `marker`: a file that is there afterwards only if code in the input ran.
    """

    kind: str
    name: str
    arguments: tuple[str, ...]
    memory: Path | None = None
    new: bool = True
    files: tuple[Path, ...] = ()
    settings: bytes = PERCEIVING.encode()
    environment: Mapping[str, str] = field(default_factory=dict)
    document: bool = False
    marker: Path | None = None
