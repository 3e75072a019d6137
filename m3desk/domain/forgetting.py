"""What forgetting a person removes, and the proof that nothing of them is left: what the engine tells the window. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Way = Literal["forget", "spans", "never"]
"""`forget`: all that was derived from them; `spans`: also everything else that was remembered while they were there; `never`: one template
of their face and voice is kept, to leave them out from then on."""


@dataclass(frozen=True, slots=True)
class PersonForgotten:
    """What forgetting a person removed, or would remove in a dry run; `counts`: what → how many.

    `sources`: uris of files that still show them or let hear them; `removed`: what removing these sources deletes, a line each.
    `searched`: how much the proof searched (empty in a dry run); `found`: what it found, or could not search (empty = proven);
    `alike`: observations that look or sound alike, each with its person, who may be them, or None.
    """

    counts: Mapping[str, int]
    sources: tuple[str, ...]
    removed: tuple[str, ...] = ()
    searched: Mapping[str, int] = field(default_factory=dict)
    found: tuple[str, ...] = ()
    alike: tuple[tuple[str, str | None], ...] = ()
