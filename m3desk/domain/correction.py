"""The kinds of corrections a user can make, and the journal entry of one correction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KINDS = (
    "name", "assign", "merge", "distinct", "split", "exclude", "set-aside", "link", "unlink", "ignore", "forget", "enroll",
    "accept", "reject", "split-at", "bounds", "words", "add-face", "add", "edit", "rewrite", "delete", "pin",
    "choose", "bookmark", "unbookmark",
)  # fmt: skip
"""The verbs of `contract.md`; the journal's `kind`. `args` of each is documented in `store.corrections.steps`."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a correction does (or, on a dry run, would do). `text`: one line ("joins 12 faces, renames 9 memories")."""

    text: str
    people: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One journal entry. `undone`: taken back by undo or revert."""

    step: int
    sequence: int
    kind: str
    args: dict[str, Any]
    anchor: dict[str, Any]
    at: str
    by: str
    why: str | None = None
    undone: bool = False
    text: str = field(default="")
