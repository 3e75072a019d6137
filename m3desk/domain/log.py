"""The append-only log of a memory as plain rows; `domain.fold` computes the present state from it.

Rows carry the `sequence` of the commit that wrote them; clip commits and corrections share that one sequence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from m3desk.domain.correction import Step
from m3desk.domain.memory import Span

ObservationType = Literal["face", "voice"]


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """An observation, as far as the fold needs it. `picture`: its best crop. `replaces`: the observation it supersedes."""

    id: str
    type: ObservationType
    clip: str
    start: int
    end: int
    quality: float
    picture: str | None
    replaces: str | None
    sequence: int


@dataclass(frozen=True, slots=True)
class Birth:
    """A face, voice, object or place node. `person`: the person it was created in (faces and voices). `step`: of a correction."""

    id: str
    number: int
    type: str
    content: str
    person: str | None
    clip: str | None
    start: int | None
    end: int | None
    sequence: int
    step: int | None = None


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """A text node as it was written. `step`: the correction that added it, None where a writer did."""

    id: str
    number: int
    kind: str
    text: str
    language: str
    spans: tuple[Span, ...]
    citations: tuple[str, ...]
    entities: tuple[str, ...]
    clip: str | None
    start: int
    end: int
    topic: str | None
    sequence: int
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """One decision of a model that an observation belongs to a node."""

    observation: str
    node: str
    score: float | None
    runner_up: str | None
    margin: float | None
    by: str
    at: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Voted:
    """A vote that the owners of two observations are one person, cast in `clip`."""

    a: str
    b: str
    by: str
    weight: float
    clip: str
    sequence: int


@dataclass(frozen=True, slots=True)
class NameHeard:
    observation: str
    name: str
    score: float
    by: str
    evidence: str
    words: str
    at: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Reinforced:
    """A clip that supported (`amount` +1) or contradicted (−1) a semantic memory."""

    node: str
    clip: str
    amount: float
    citations: tuple[str, ...]
    sequence: int


@dataclass(frozen=True, slots=True)
class Linked:
    """A typed link from one text node to another: before, causes, contradicts, derived_from."""

    a: str
    b: str
    kind: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Mark:
    """An undo (`undone`) or redo of a journal step."""

    step: int
    undone: bool
    sequence: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """The id `old` in the journal is `new` since a source was re-memorized: resolved again by the step's anchor."""

    old: str
    new: str
    sequence: int


@dataclass(slots=True)
class Log:
    """All rows, each list in order of `sequence`."""

    observations: dict[str, ObservationRow] = field(default_factory=dict)
    nodes: dict[str, Birth] = field(default_factory=dict)
    sentences: dict[str, SentenceRow] = field(default_factory=dict)
    bindings: list[Bound] = field(default_factory=list)
    votes: list[Voted] = field(default_factory=list)
    names: list[NameHeard] = field(default_factory=list)
    cannot_links: list[tuple[str, str]] = field(default_factory=list)
    reinforcements: list[Reinforced] = field(default_factory=list)
    links: list[Linked] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)

    def add(self, rows: Iterable[Any]) -> None:
        """Append rows of any of the classes above; pairs of observation ids are `cannot_links`."""
        lists: dict[type, list[Any]] = {
            Bound: self.bindings, Voted: self.votes, NameHeard: self.names, tuple: self.cannot_links, Reinforced: self.reinforcements,
            Linked: self.links, Step: self.steps, Mark: self.marks, Renamed: self.renamed,
        }  # fmt: skip
        tables: dict[type, dict[str, Any]] = {ObservationRow: self.observations, Birth: self.nodes, SentenceRow: self.sentences}
        for row in rows:
            if type(row) in tables:
                tables[type(row)][row.id] = row
            else:
                lists[type(row)].append(row)


def in_force(log: Log) -> list[Step]:
    """Return the steps that count now, oldest first: not undone, and not taken back by a `revert` that counts.

    Their args have the present ids. The answer to a question has the kind of the step that it stands for.
    """
    undone = undone_steps(log)
    names = {r.old: r.new for r in log.renamed}
    steps = [replace(s, kind=s.args["as"]) if "as" in s.args else s for s in log.steps if s.step not in undone]
    return [replace(s, args=_called_now(s.args, names)) for s in steps] if names else steps


def _called_now(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_called_now(v, names) for v in value]
    if isinstance(value, dict):
        return {names.get(k, k): v if k in ("text", "name") else _called_now(v, names) for k, v in value.items()}
    return value


def undone_steps(log: Log) -> dict[int, int]:
    """Return the steps that are not in force → the sequence of that decision."""
    last: dict[int, Mark] = {m.step: m for m in sorted(log.marks, key=lambda m: m.sequence)}
    undone = {n: m.sequence for n, m in last.items() if m.undone}
    # Newest first: a revert may itself be reverted, and only a revert that counts takes its step back.
    for step in reversed(log.steps):
        if step.kind == "revert" and step.step not in undone:
            for number in (step.args["step"], *step.args.get("also", ())):
                undone.setdefault(int(number), step.sequence)
    return undone


def can_undo(log: Log) -> list[int]:
    """Return the steps that undo would take back, in that order (newest first).

    A step that a `revert` took back is among them: once undo has taken back that revert, which is newer, the step counts again.
    """
    last: dict[int, Mark] = {m.step: m for m in sorted(log.marks, key=lambda m: m.sequence)}
    for_good = {int(s.args["step"]) for s in log.steps if s.kind == "revert" and "step" in s.args and scrubbed(s)}
    return [
        s.step for s in reversed(log.steps) if not (s.step in last and last[s.step].undone) and not scrubbed(s) and s.step not in for_good
    ]


def scrubbed(step: Step) -> bool:
    """Return whether a step concerned a forgotten person: what is left of it can't be undone or redone."""
    return bool(step.args.get("scrubbed"))


def can_redo(log: Log) -> list[int]:
    """Return the steps that redo would bring back, in that order: those undone since the last new step."""
    newest = log.steps[-1].sequence if log.steps else 0
    last: dict[int, Mark] = {m.step: m for m in sorted(log.marks, key=lambda m: m.sequence)}
    fixed = {s.step for s in log.steps if scrubbed(s)}
    waiting = [m for m in last.values() if m.undone and m.sequence > newest and m.step not in fixed]
    return [m.step for m in sorted(waiting, key=lambda m: (-m.sequence, m.step))]
