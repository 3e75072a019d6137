"""Bookmarks: moments and spans of a source that a user marked, with or without a note. They are steps of the journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from m3desk.domain.correction import Step

LONGEST_NOTE = 2_000
"""Code points of a bookmark's note, at most."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A marked moment (`start` == `end`) or span. Times: microseconds of the source.

    `source`: None where it was removed and nothing has replaced it. `note`: "" without one. `at`, `by`: of the step that added it.
    """

    id: str
    source: str | None
    start: int
    end: int
    note: str
    at: str
    by: str


def bookmark_id(step: int) -> str:
    """Return the id of the bookmark that a step adds."""
    return f"bookmark_{step}"


def in_place(steps: Iterable[Step]) -> dict[str, tuple[Step, Step]]:
    """Return bookmark → the step that added it and the latest one that describes it, of those that are there.

    `steps`: the steps in force, oldest first. Without the step that added a bookmark it is not there, whatever changed it later.
    """
    found: dict[str, tuple[Step, Step]] = {}
    for step in steps:
        if step.kind == "bookmark" and not step.args.keys() >= {"bookmark", "source", "start", "end"}:
            continue  # it was forgotten
        if step.kind == "bookmark":
            id_ = step.args["bookmark"]
            if id_ == bookmark_id(step.step):
                found[id_] = step, step
            elif id_ in found:
                found[id_] = found[id_][0], step
        elif step.kind == "unbookmark":
            found.pop(step.args.get("bookmark", ""), None)
    return found
