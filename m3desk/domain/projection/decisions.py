"""The corrections in force, as tables: computed again only when a correction is made, undone or redone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from m3desk.domain.correction import Step
from m3desk.domain.log import Log, in_force
from m3desk.domain.sentences import Changes, changes_of
from m3desk.domain.shown_people import ignored_people, names_given


@dataclass(frozen=True, slots=True)
class Decisions:
    """The corrections in force. `names`: person → name; `keeps`: persons that merges keep, latest first; `births`: node → the person a step
    moved it to; `constraining`: steps with must-links or cannot-links between persons, latest first; `renamed`: old id → new id."""

    active: dict[int, Step] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)
    names: dict[str, str | None] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    ignored: dict[str, bool] = field(default_factory=dict)
    births: dict[str, str] = field(default_factory=dict)
    constraining: tuple[Step, ...] = ()
    refusing: tuple[Step, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, log: Log) -> Decisions:
        """Return the corrections in force of a log."""
        steps = in_force(log)
        return cls(
            {s.step: s for s in steps},
            changes_of(steps),
            names_given(steps),
            tuple(s.args["keep"] for s in reversed(steps) if s.kind == "merge"),
            ignored_people(steps),
            {node: person for s in steps for node, person in s.args.get("births", {}).items()},
            tuple(s for s in reversed(steps) if has_pair_constraints(s)),
            tuple(s for s in steps if s.kind == "reject" and "name" in s.args),
            {r.old: r.new for r in log.renamed},
        )


def has_pair_constraints(step: Step) -> bool:
    """Return whether a step has must-links or cannot-links between persons."""
    return step.kind in ("merge", "link", "unlink", "distinct") or bool(step.args.get("must") or step.args.get("cannot"))


def people_of(step: Step) -> Iterator[str]:
    """Yield the persons that a step names."""
    args = step.args
    for key in ("person", "keep", "a", "b", "of", "not"):
        if isinstance(args.get(key), str):
            yield args[key]
    yield from args.get("others", ())
    for kind in ("must", "cannot"):
        for pair in args.get(kind, ()):
            yield from pair


def things_of(step: Step) -> Iterator[str]:
    """Yield the observations and nodes that a step concerns."""
    args = step.args
    for observation, node in args.get("bindings", {}).items():
        yield observation
        yield node
    if step.kind == "set-aside":
        yield from args["observations"]
    yield from args.get("made", ())
    yield from args.get("births", ())
    for key in ("face", "voice"):
        if isinstance(args.get(key), str):
            yield args[key]
