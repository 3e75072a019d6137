"""Types of questions to the user and of the reasons for a binding, as commands and the window show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SuggestionKind = Literal["same", "two_people", "link", "name"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One question to a person. `n`: the number to accept or reject it by, constant while the question is open.

    `key`: what it is about, the same for the same question (node ids, or a person and a name). `people`: whom it concerns (two for `same`
    and `link`, one for `two_people` and `name`). `groups`: the observations of each side, the most informative first (`two_people`: the
    group that stays, the group that is split off; `name`: one group). `score`: probability that it is right, 0–1. `worth`: value of an
    answer, for ranking. `effect`: one line, "joins 12 faces, 9 memories read differently". `question`: one line to
    show. `accept` and `reject`: kind and args of the correction that either answer is.
    """

    n: int
    kind: SuggestionKind
    key: str
    people: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    score: float
    worth: float
    effect: str
    question: str
    accept: tuple[str, Mapping[str, Any]]
    reject: tuple[str, Mapping[str, Any]]
    name: str | None = None

    @property
    def observations(self) -> tuple[str, ...]:
        """Return the observations of both sides."""
        return tuple(o for group in self.groups for o in group)


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for a binding: `kind` "likeness" (another observation of the same node), "lips", "alone", "name", "user" …

    `observation`: its origin, None for a user's decision. `weight`: similarity (cosine), or the vote's weight. `text`: one line.
    """

    kind: str
    observation: str | None
    weight: float
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why an observation is bound to its person. `score`, `margin` as in the binding; `runner_up`: the next best person.

    `flips`: the one observation without which the binding would be different, None if there is none.
    """

    observation: str
    node: str | None
    person: str | None
    score: float | None
    runner_up: str | None
    margin: float | None
    by: str
    votes: tuple[Reason, ...] = field(default=())
    flips: str | None = None
