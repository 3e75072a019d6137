"""What the steps in force say, as tables: computed anew when a step is made, undone or redone, and kept till then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from m3desk.domain.correction import Step
from m3desk.domain.fold import ignored_people, names_given
from m3desk.domain.log import Log, in_force
from m3desk.domain.sentences import Changes, changes_of


@dataclass(frozen=True, slots=True)
class Decisions:
    """`names`: person → the name given; `keeps`: whom merges keep, latest first; `births`: node → in whom it is born by a step;
    `demanding`: the steps that demand something of persons, latest first; `renamed`: what was found again by another id."""

    active: dict[int, Step] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)
    names: dict[str, str | None] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    ignored: dict[str, bool] = field(default_factory=dict)
    births: dict[str, str] = field(default_factory=dict)
    demanding: tuple[Step, ...] = ()
    refusing: tuple[Step, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, log: Log) -> Decisions:
        """Return what the steps of a log say."""
        steps = in_force(log)
        return cls(
            {s.step: s for s in steps},
            changes_of(steps),
            names_given(steps),
            tuple(s.args["keep"] for s in reversed(steps) if s.kind == "merge"),
            ignored_people(steps),
            {node: person for s in steps for node, person in s.args.get("births", {}).items()},
            tuple(s for s in reversed(steps) if demands_something(s)),
            tuple(s for s in steps if s.kind == "reject" and "name" in s.args),
            {r.old: r.new for r in log.renamed},
        )


def demands_something(step: Step) -> bool:
    """Say whether a step may demand that persons be one, or not."""
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
    """Yield the observations and nodes that a step says something of."""
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
