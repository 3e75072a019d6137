"""Checks the arguments of each benchmark before anything is measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from m3desk.backends import available
from m3desk.errors import UsageError
from m3desk.regular import is_regular


@dataclass(frozen=True, slots=True)
class Takes:
    """How many files, memories and whole numbers, which words, and which options a benchmark takes."""

    files: int = 0
    memories: int = 0
    numbers: int = 0
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


MANY = 1000


def _takes(name: str) -> Takes | None:
    match name:
        case "speed":
            return Takes(files=MANY, options=("--llm",))
        case "profile" | "window":
            return Takes(files=1)
        case "reel":
            return Takes(memories=1)
        case "kills":
            from m3desk.bench.kills import ROWS

            return Takes(files=1, numbers=1, words=ROWS, options=("--keep",))
        case "privacy" | "live_window":
            return Takes(files=1, numbers=1)
        case "questions":
            return Takes(options=("--llm",))
        case "constraints":
            return Takes(words=tuple(available("face_vectors") | available("voice_vectors")), options=("--keep",))
        case "bystanders":
            from m3desk.bench.bystanders import FILMS

            return Takes(words=tuple(FILMS))
        case "importing":
            return Takes(files=MANY, words=("embed",))
        case "fused" | "separating":
            from m3desk.bench.fused import LABELS

            return Takes(words=tuple(LABELS))
        case _:
            return None  # it reads its own words


def check(name: str, args: Sequence[str]) -> None:
    """Raise UsageError for a word that a benchmark does nothing with."""
    takes = _takes(name)
    if takes is None:
        return
    rest, files, memories, numbers = list(args), takes.files, takes.memories, takes.numbers
    while rest:
        word = rest.pop(0)
        if word in takes.options:
            if word == "--keep":
                rest.pop(0)
        elif word in takes.words:
            continue
        elif numbers and re.fullmatch(r"[0-9]{1,6}", word):
            numbers -= 1
        elif files and is_regular(word):
            files -= 1
        elif memories and is_regular(Path(word) / "memory.sqlite"):
            memories -= 1
        else:
            raise UsageError(f"“{word}” is no argument of the benchmark {name}.", f"It takes {_told(takes)}; see: m3desk bench.")


def _told(takes: Takes) -> str:
    kinds = ((takes.files, "files"), (takes.memories, "a memory"), (takes.numbers, "a number"))
    return ", ".join([text for count, text in kinds if count] + [*takes.words, *takes.options]) or "nothing more"
