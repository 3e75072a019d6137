"""The instructions for a model that watches: ours (`resources/prompts/watch.*.txt`), or the user's own from a folder.

A prompt file is plain text; its first line may be `version: NAME`, which is stored with every sentence. A file without it is known by
the first characters of its hash. `{language}` stands for the language to write in.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from m3desk import paths
from m3desk.errors import UsageError
from m3desk.regular import read_text

M3_AGENT = "m3-agent"
"""The style of M3-Agent's own memorization model (`request`); "" is ours."""

LANGUAGES = {"en": "English", "zh": "Chinese (中文)"}
LONGEST = 50_000
"""Letters of a prompt file."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Instructions and the name that is stored with what they gave."""

    version: str
    text: str

    def instructions(self, language: str) -> str:
        """Return the instructions for writing in a language ("en", "zh")."""
        return self.text.replace("{language}", LANGUAGES.get(language, LANGUAGES["en"]))


def prompt(style: str, folder: Path | None = None) -> Prompt:
    """Return the instructions of a style: from the user's folder (`watch.txt`, `m3-agent.txt`), or ours if none is given.

    Raises UsageError if the folder or the file can't be used.
    """
    name = f"{style or 'watch'}.txt"
    if folder is None:
        return _read(paths.resources() / "prompts" / name)
    file = folder / name
    if not folder.is_dir():
        raise UsageError(f"the folder of prompts {folder} is not there.", "Mend `prompts` of the backend in the settings file.")
    if not file.exists():
        raise UsageError(f"there is no {name} in {folder}.", f"Put the prompt there as {name}, or remove `prompts` from the settings file.")
    return _read(file)


def _read(file: Path) -> Prompt:
    text = read_text(file, LONGEST * 4, UsageError, UsageError).replace("\r\n", "\n").strip()
    known_by = hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]
    named = re.match(r"version:[ \t]*([\w.-]{1,40})[ \t]*(?:\n|\Z)", text)
    text = text[named.end() :].strip() if named else text
    if not 0 < len(text) <= LONGEST:
        raise UsageError(f"the prompt {file} is {'too long' if text else 'empty'}.", f"It has 1 to {LONGEST:,} letters.")
    return Prompt(named[1] if named else f"own-{known_by}", text)
