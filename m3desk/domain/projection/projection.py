"""The projection of a memory's log: new rows extend it, and only what they affect is computed again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from m3desk.domain.correction import Step
from m3desk.domain.fold import constraints, equivalence, pair_constraints
from m3desk.domain.identities import Held, Identities
from m3desk.domain.log import Birth, Bound, Linked, Log, Mark, ObservationRow, Reinforced, Renamed, SentenceRow
from m3desk.domain.people import Person
from m3desk.domain.projection.decisions import Decisions, people_of, things_of
from m3desk.domain.projection.evidence import Evidence, EvidenceDelta
from m3desk.domain.projection.graph import Graph
from m3desk.domain.projection.heard_names import HeardNames
from m3desk.domain.projection.joining import Joining, JoiningDelta
from m3desk.domain.projection.tables import SetsByKey, Table, Tables
from m3desk.domain.sentences import State
from m3desk.domain.shown_people import person
from m3desk.domain.tally import Tally, merged

R = TypeVar("R")


@dataclass(slots=True)
class _Touched:
    """What must be computed again."""

    observations: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    steps: set[int] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    altered: bool = False
    said: list[Step] = field(default_factory=list)


class Delta:
    """The changes of a projection since its last `settle`. `before`: the state then; valid until the projection changes again.

    `moved`: observations that the last rows moved from node to node.
    """

    def __init__(self, projection: Projection, moved: EvidenceDelta | None = None) -> None:
        self._projection = projection
        self.moved = moved or EvidenceDelta()
        self.after = projection.state
        now = projection.state.who
        who = Identities(
            held=_before(now.held), bindings=_before(now.bindings), nodes=_before(now.nodes), person_of=_before(now.person_of),
            canonical=_before(now.canonical), members=_before(now.members), people=_before(now.people),
            equivalences=_before(now.equivalences), constraints=_before(now.constraints),
        )  # fmt: skip
        self.before = State(who, _before(projection.state.nodes), _before(projection.state.edges))

    def tables(self) -> Mapping[str, dict[Any, tuple[Any, Any]]]:
        """Return table → key → (old row, new row) of every row that changed; None where there was or is no row."""
        return self._projection.changed()

    def cannot_links(self, observations: Iterable[str]) -> set[tuple[str, str]]:
        """Return the cannot-links between original observations that concern one of these observations."""
        return self._projection.cannot_links(observations)


class Rebuilt:
    """The same as `Delta`, for a state that was computed as a whole."""

    def __init__(self, before: State, projection: Projection) -> None:
        self.before, self.after, self._projection = before, projection.state, projection

    def tables(self) -> Mapping[str, dict[Any, tuple[Any, Any]]]:
        """Return table → key → (old row, new row) of every row that changed."""
        old, new = _tables(self.before), _tables(self.after)
        return {
            name: {
                k: (old[name].get(k), new[name].get(k)) for k in old[name].keys() | new[name].keys() if old[name].get(k) != new[name].get(k)
            }
            for name in new
        }

    def cannot_links(self, observations: Iterable[str]) -> set[tuple[str, str]]:
        """Return the cannot-links between original observations that concern one of these observations."""
        return self._projection.cannot_links(observations)


def _tables(state: State) -> dict[str, Mapping[Any, Any]]:
    who = state.who
    return {
        "held": who.held, "bindings": who.bindings, "nodes": state.nodes, "people": who.people, "canonical": who.canonical,
        "edges": state.edges, "equivalences": who.equivalences, "constraints": who.constraints,
    }  # fmt: skip


def _before(table: Any) -> Any:
    return table.before()


class Projection:
    """A log and the state computed from it. `extend` adds rows; `settle` accepts all changes; `back` rolls back to the last `settle`."""

    def __init__(self) -> None:
        self.log = Log()
        self._tables = tables = Tables()
        who = Identities(
            held=tables.table(), bindings=tables.table(), nodes=tables.table(), person_of=tables.table(), canonical=tables.table(),
            members=tables.table(), people=tables.table(), equivalences=tables.table(), constraints=tables.table(),
        )  # fmt: skip
        self.state = State(who, tables.table(), tables.table())
        self._decisions: Table[str, Decisions] = tables.table()
        self._decisions.put("now", Decisions())
        self._steps_on: SetsByKey[str, int] = tables.index()  # id named by a step in force → steps
        self._made_by: SetsByKey[int, str] = tables.index()  # step → nodes
        self._sum: Table[str, Tally] = tables.table()  # person → totals of their observations
        self._evidence = Evidence(tables, self.log, who)
        self._joining = Joining(tables, self.log, who, self._evidence)
        self._names = HeardNames(tables, self.log, who, self._evidence)
        self._graph = Graph(tables, self.log, self.state, self._evidence, self._joining)
        self._lengths: dict[str, int] = {}
        self._changed: Mapping[str, dict[Any, tuple[Any, Any]]] | None = None
        self.settle()

    def settle(self) -> None:
        """Accept all changes: deltas are relative to the present state from now on."""
        self._tables.settle()
        self._changed = None
        self._lengths = {name: len(getattr(self.log, name)) for name in Log.__slots__}

    def back(self) -> None:
        """Roll back to the state of the last `settle`."""
        self._tables.back()
        self._changed = None
        self._joining.forget_waiting()
        self._evidence.undone()
        for name, length in self._lengths.items():
            rows = getattr(self.log, name)
            if isinstance(rows, dict):
                while len(rows) > length:
                    rows.popitem()
            else:
                del rows[length:]

    def changed(self) -> Mapping[str, dict[Any, tuple[Any, Any]]]:
        """Return the changes since the last `settle`, as `Delta.tables` does; computed once."""
        if self._changed is None:
            self._changed = {name: table.changed() for name, table in _tables(self.state).items()}  # type: ignore[attr-defined]
        return self._changed

    def can_extend(self, rows: Iterable[Any]) -> bool:
        """Return whether rows can be added; ids that changed when a source was re-memorized need a new projection."""
        return (not self._lengths["observations"] and not self.log.steps) or not any(type(r) is Renamed for r in rows)

    @property
    def born_in(self) -> Mapping[str, str]:
        """Return node → the person it was created in (`fold.born_in`)."""
        return self._joining.births

    def cannot_links(self, observations: Iterable[str]) -> set[tuple[str, str]]:
        families = {self._evidence.root(o) for o in observations}
        return {self.log.cannot_links[i] for f in families for i in self._joining.cannot_link_places[f]}

    def in_clip(self, clip: str) -> list[str]:
        """Return the observations in force of a clip."""
        return [o for o in self._evidence.in_clip[clip] if o in self.state.who.held]

    def extend(self, rows: Iterable[Any]) -> Delta:
        """Add rows to the log and compute again what they affect."""
        self._changed = None
        new = _Rows(self.log, rows)
        touched = _Touched()
        decisions, edges = self._take_in(new, touched)
        who, evidence, joining = self.state.who, self._evidence, self._joining
        changed, misquoted = evidence.arrange(decisions, touched.altered or bool(touched.said))
        touched.observations |= changed
        for o in misquoted:
            touched.told |= set(self._graph.about[evidence.root(o)])
        moved = evidence.decide(touched.observations, decisions, self._steps_on)
        shifted = {o for o, held in moved.stands.items() if self._hold(o, held)}
        reborn, moved_nodes = self._set_births(touched.nodes | moved.nodes, decisions)
        for step in touched.said:
            joining.say(people_of(step), [(a, b) for _, a, b in pair_constraints(step, joining.births)])
        pairs = joining.vote(moved.families, new.votes)
        joining.cannot_link(moved.families, new.cannot_links)
        held = chain(*moved.given.values(), *moved.taken.values())
        rejoined = joining.decide(decisions, {self.log.observations[o].clip for o in held})
        for node in rejoined.nodes:
            shifted |= {o for o in evidence.owned[node] if self._hold(o, who.held[o])}
        families = moved.families | {evidence.root(o) for o in shifted}
        summed = evidence.sum_up(moved)
        touched.people |= rejoined.people | self._sum_up(summed, moved, rejoined)
        touched.people |= self._names.weigh(families, new.names, decisions, bool(touched.said or rejoined.renamed))
        touched.people |= {who.canonical[p] for s in touched.said for p in people_of(s) if p in who.canonical}
        seen_otherwise = self._show(touched.people, decisions)
        bound_otherwise = {s for f in moved.families for s in self._graph.about[f]}
        touched.told |= bound_otherwise | {s for f in families for s in self._graph.about[f]}
        touched.told |= {s for p in seen_otherwise for s in self._graph.speaking_of[p]}
        things, told = self._graph.render(touched.told, decisions)
        members = {n for p in seen_otherwise for n in who.members.get(p, ())}
        moved_nodes |= self._graph.render_owners(touched.nodes | moved.nodes | summed | things | rejoined.nodes | members)
        pairs |= {pair for n in rejoined.nodes for pair in joining.pairs_of[n]}
        for pair in pairs:
            if (votes := joining.votes.get(pair)) is None:
                who.equivalences.drop(pair)  # type: ignore[attr-defined]
            else:
                who.equivalences.put(pair, equivalence(pair, votes.cast, votes.total, who))  # type: ignore[attr-defined]
        joined = rejoined.people | {p for pair in pairs for n in pair if (p := who.person_of.get(n)) is not None}
        self._graph.draw_edges(told | bound_otherwise, joined, moved_nodes, edges)
        self._constrain(touched, moved, shifted, reborn, rejoined, decisions)
        return Delta(self, moved)

    # ------------------------------------------------------------------ what new rows affect

    def _take_in(self, new: _Rows, touched: _Touched) -> tuple[Decisions, set[tuple[str, str, str]]]:
        """Add new rows to the indexes; return the corrections in force and the new typed links."""
        touched.altered = self._evidence.add(new.of(ObservationRow))
        touched.observations |= {o.id for o in new.of(ObservationRow)} | self._evidence.add_bound(new.of(Bound))
        for birth in new.of(Birth):
            touched.nodes.add(birth.id)
            if birth.step is not None:
                self._made_by.add(birth.step, birth.id)
        self._joining.add(new.votes, new.cannot_links)
        self._names.add(new.names)
        told, edges = self._graph.add(new.of(SentenceRow), new.of(Reinforced), new.of(Linked))
        touched.told |= told
        decisions = self._decisions["now"]
        if new.any(Step, Mark, Renamed):
            decisions, old = Decisions.of(self.log), decisions
            self._decisions.put("now", decisions)
            self._say(old, decisions, touched)
        for birth in new.of(Birth):  # steps that name it could not be applied until now
            for step in self._steps_on[birth.id]:
                touched.observations |= {o for o, node in decisions.active[step].args.get("bindings", {}).items() if node == birth.id}
                touched.steps.add(step)
        return decisions, edges

    def _say(self, old: Decisions, decisions: Decisions, touched: _Touched) -> None:
        """Find what is affected by the steps that came into force or are no longer in force."""
        for active, others, counts in ((old.active, decisions.active, False), (decisions.active, old.active, True)):
            for number, step in active.items():
                if number in others:
                    continue
                touched.said.append(step)
                touched.steps.add(number)
                for id_ in {*things_of(step), *people_of(step)}:
                    _ = self._steps_on.add(id_, number) if counts else self._steps_on.remove(id_, number)
                if step.kind == "edit":
                    self._graph.edit(step.args["memory"], step.args["spans"])
                touched.observations |= set(step.args.get("bindings", {}))
                if step.kind == "set-aside":
                    touched.observations |= set(step.args["observations"])
                touched.nodes |= {*step.args.get("births", ()), *self._made_by[number]}
                touched.told |= {*self._graph.by_step[number]}
                touched.told |= {*step.args.get("hidden", ())}
                if isinstance(memory := step.args.get("memory"), str):
                    touched.told.add(memory)

    # ------------------------------------------------------------------ who is who

    def _hold(self, observation: str, held: Held | None) -> bool:
        """Set the binding of an observation, with the person of its node; return whether that changed."""
        who = self.state.who
        if held is None:
            return bool(who.held.drop(observation))  # type: ignore[attr-defined]
        owner = who.person_of.get(held.node) if held.node else None
        return bool(who.held.put(observation, Held(held.node, owner, held.set_aside, held.step)))  # type: ignore[attr-defined]

    def _set_births(self, nodes: Iterable[str], decisions: Decisions) -> tuple[set[str], set[str]]:
        """Update which nodes exist and in which person they were created; return those with another person, and those that came or went."""
        who, joining = self.state.who, self._joining
        reborn: set[str] = set()
        moved: set[str] = set()
        for id_ in nodes:
            birth = self.log.nodes.get(id_)
            if birth is None:
                continue
            there = (
                birth.step is None or birth.step in decisions.active or id_ in self._evidence.owned or self._evidence.named.get(id_, 0) > 0
            )
            if who.nodes.put(id_, birth) if there else who.nodes.drop(id_):  # type: ignore[attr-defined]
                moved.add(id_)
            at_first = decisions.renamed.get(birth.person, birth.person) if birth.person is not None else None
            if joining.set_birth(id_, decisions.births.get(id_, at_first) if there and at_first is not None else None):
                reborn.add(id_)
            if not there:
                who.person_of.drop(id_)  # type: ignore[attr-defined]
        for id_ in reborn:
            for number in self._steps_on[id_]:
                joining.say((), [(a, b) for _, a, b in pair_constraints(decisions.active[number], joining.births)])
        return reborn, moved

    def _sum_up(self, nodes: set[str], moved: EvidenceDelta, rejoined: JoiningDelta) -> set[str]:
        """Compute the totals of the persons whose nodes or observations changed; return these persons."""
        who, tally = self.state.who, self._evidence.tally
        whole = set(rejoined.people)
        added: dict[str, list[str]] = {}
        for node in nodes:
            if (id_ := who.person_of.get(node)) is not None:
                if node in moved.taken:
                    whole.add(id_)
                else:
                    added.setdefault(id_, []).extend(moved.given[node])
        for id_ in whole:
            mine = {n: tally[n] for n in who.members.get(id_, ()) if n in tally}
            total = merged(mine, lambda node, clip: self._evidence.seen_of(node, (), clip))
            _ = self._sum.put(id_, total) if total.count else self._sum.drop(id_)
        for id_, observations in added.items():
            if id_ not in whole:
                more = (self.log.observations[o] for o in observations)
                there = partial(self._seen_of, id_, set(observations))
                self._sum.put(id_, self._sum.get(id_, Tally()).with_(more, who.evidence.enrolled, there))
        return whole | added.keys()

    def _seen_of(self, person: str, but: Collection[str], clip: str) -> list[ObservationRow]:
        """Return the observations of a person in a clip, but for some."""
        held, ids = self.state.who.held, self._evidence.in_clip[clip]
        return [self.log.observations[o] for o in ids if o not in but and (h := held.get(o)) is not None and h.node and h.person == person]

    def _show(self, people: Iterable[str], decisions: Decisions) -> set[str]:
        """Compute the affected persons again; return those whose shown name changed."""
        who, shown = self.state.who, set()
        for id_ in people:
            old: Person | None = who.people.get(id_)
            if id_ not in who.members:
                who.people.drop(id_)  # type: ignore[attr-defined]
                continue
            others = [p for p in self._joining.going_by[id_] if p != id_]
            now = person(who, id_, decisions.names, others, decisions.ignored, self._names.of(id_), self._sum.get(id_, Tally()))
            who.people.put(id_, now)  # type: ignore[attr-defined]
            if old is None or old.shown != now.shown:
                shown.add(id_)
        return shown

    def _constrain(
        self, touched: _Touched, moved: EvidenceDelta, shifted: set[str], reborn: set[str], rejoined: JoiningDelta, decisions: Decisions
    ) -> None:
        """Compute again the constraint states of steps that name anything that changed."""
        steps = touched.steps | rejoined.steps
        named = reborn | rejoined.renamed | {n for p in rejoined.renamed for n in self._joining.born[p]}
        for o in moved.stands.keys() | shifted:
            while o not in named:  # and every observation that it replaces
                named.add(o)
                seen = self.log.observations.get(o)
                if seen is None or not seen.replaces:
                    break
                o = seen.replaces
        for id_ in named:
            steps |= set(self._steps_on[id_])
        who = self.state.who
        for number in steps:
            step = decisions.active.get(number)
            rows = constraints(step, self.log, who, self._joining.births, self._joining.decided) if step is not None else ()
            _ = who.constraints.put(number, rows) if rows else who.constraints.drop(number)  # type: ignore[attr-defined]


class _Rows:
    """New rows of a log, by class; of votes, names and cannot-links their places in the log."""

    def __init__(self, log: Log, rows: Iterable[Any]) -> None:
        self._by_class: dict[type, list[Any]] = {}
        rows = list(rows)
        for row in rows:
            self._by_class.setdefault(type(row), []).append(row)
        votes, names, links = len(log.votes), len(log.names), len(log.cannot_links)
        log.add(rows)
        self.votes, self.names, self.cannot_links = (
            range(votes, len(log.votes)),
            range(names, len(log.names)),
            range(links, len(log.cannot_links)),
        )

    def any(self, *classes: type) -> bool:
        """Return whether there are rows of these classes."""
        return any(c in self._by_class for c in classes)

    def of(self, class_: type[R]) -> list[R]:
        """Return the rows of a class."""
        return self._by_class.get(class_, [])
