"""The node of each observation and the totals of each node, updated only for what changed."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import partial
from heapq import heapify, heappop, heappush

from m3desk.domain.correction import Step
from m3desk.domain.fold import UserBinding, stand
from m3desk.domain.identities import Held, Identities
from m3desk.domain.ids import step_of
from m3desk.domain.log import Bound, Log, ObservationRow
from m3desk.domain.people import Binding
from m3desk.domain.projection.decisions import Decisions
from m3desk.domain.projection.tables import SetsByKey, Table, Tables
from m3desk.domain.superseding import Standing
from m3desk.domain.superseding import stand as stand_in_place
from m3desk.domain.tally import Tally


@dataclass(slots=True)
class EvidenceDelta:
    """What `Evidence.decide` changed. `families`: originals of the observations whose state or binding changed; `stands`: observation → its
    binding now, None = it is not in force; `given`, `taken`: node → observations it got or lost."""

    families: set[str] = field(default_factory=set)
    stands: dict[str, Held | None] = field(default_factory=dict)
    given: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    taken: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    nodes: set[str] = field(default_factory=set)


class Evidence:
    """The observations of a log."""

    def __init__(self, tables: Tables, log: Log, who: Identities) -> None:
        self._log, self._who = log, who
        self.bound: Table[str, tuple[Bound, ...]] = tables.table()  # observation → the models' bindings
        self.last_model: Table[str, str] = tables.table()  # observation → who decided last
        self.owned: SetsByKey[str, str] = tables.index()  # node → observations in force
        self.named: Table[str, int] = tables.table()  # node → how many bindings of observations in force name it
        self.told: SetsByKey[str, str] = tables.index()  # node → observations that a user assigned to it
        self.tally: Table[str, Tally] = tables.table()  # node → the totals of its observations
        self.in_clip: SetsByKey[str, str] = tables.index()
        self._counted: Table[str, tuple[str, ...]] = tables.table()
        self._stands: Table[str, Held] = tables.table()
        self._nows: Table[str, Binding] = tables.table()
        self._parts: SetsByKey[str, str] = tables.index()  # observation → all that ever replaced it
        self._made: Table[str, list[tuple[int, str]]] = tables.table()
        self._standing: Table[str, Standing] = tables.table()
        self._standing.put("now", Standing(log.observations))
        who.owned = self.owned  # type: ignore[assignment]
        who.told = self.told

    def root(self, observation: str) -> str:
        """Return the original observation that this one, directly or through others, replaces."""
        while (seen := self._log.observations.get(observation)) is not None and seen.replaces:
            observation = seen.replaces
        return observation

    def add(self, seen: Iterable[ObservationRow]) -> bool:
        """Add new observations; return whether some replace others or were made by corrections."""
        made = list(self._made.get("all", ()))
        known, altered = len(made), False
        for o in seen:
            self.in_clip.add(o.clip, o.id)
            if (step := step_of(o.id)) is not None:
                insort(made, (step, o.id))
            if o.replaces:
                self._parts.add(o.replaces, o.id)
            altered = altered or o.id in self._parts
        if len(made) != known:
            self._made.put("all", made)
        return altered or len(made) != known

    def add_bound(self, rows: Iterable[Bound]) -> set[str]:
        """Add bindings by models; return the observations."""
        found: dict[str, list[Bound]] = defaultdict(list)
        for b in rows:
            found[b.observation].append(b)
        for o, mine in found.items():
            self.bound.put(o, (*self.bound.get(o, ()), *mine))
            self.last_model.put(o, mine[-1].by)
        return set(found)

    def arrange(self, decisions: Decisions, altered: bool) -> tuple[set[str], set[str]]:
        """Compute again which observations are in force; return those that changed, and those whose quotes became wrong or right again."""
        made = self._made.get("all")
        if not made or not altered:
            return set(), set()
        old = self._standing["now"]
        new = stand_in_place(self._log.observations, made, list(decisions.active.values()))
        self._standing.put("now", new)
        self._who.evidence = new
        changed = set(old.absent ^ new.absent) | set(old.enrolled ^ new.enrolled)
        for o in old.successors.keys() | new.successors.keys():
            if old.successors.get(o) != new.successors.get(o):
                changed |= {o, *old.successors.get(o, ()), *new.successors.get(o, ())}
        return changed, set(old.reworded ^ new.reworded)

    def decide(self, touched: set[str], decisions: Decisions, steps_on: SetsByKey[str, int]) -> EvidenceDelta:
        """Decide the bindings of the affected observations and of those that replace them."""
        log, who, evidence = self._log, self._who, self._standing["now"]
        who.evidence = evidence
        moved = EvidenceDelta()
        queue = [(log.observations[o].sequence, o) for o in touched if o in log.observations]
        heapify(queue)
        done: set[str] = set()
        while queue:
            _, id_ = heappop(queue)
            if id_ in done:
                continue
            done.add(id_)
            moved.families.add(self.root(id_))
            self._count(id_, evidence, moved)
            if id_ in evidence.absent:
                changed = any([self._stands.drop(id_), self._nows.drop(id_)])
                who.bindings.drop(id_)  # type: ignore[attr-defined]
                held = None
            else:
                seen = log.observations[id_]
                old = seen.replaces or ""
                users = [d for n in sorted(steps_on[id_]) for d in _decision(decisions.active[n], id_, log)]
                mine, held, now = stand(seen, self.bound.get(id_, ()), users, evidence, self._nows.get(old), self._stands.get(old))
                changed = self._stands.put(id_, held)
                changed |= self._nows.drop(id_) if now is None else self._nows.put(id_, now)
                _ = who.bindings.put(id_, mine) if mine else who.bindings.drop(id_)  # type: ignore[attr-defined]
            if changed:
                for part in self._parts[id_]:
                    heappush(queue, (log.observations[part].sequence, part))
            self._hold(id_, held if id_ not in evidence.successors else None, moved)
        return moved

    def _count(self, id_: str, evidence: Standing, moved: EvidenceDelta) -> None:
        """Count the nodes that bindings of this observation name, if it is in force."""
        names = () if id_ in evidence.absent else tuple(b.node for b in self.bound.get(id_, ()))
        old = self._counted.get(id_, ())
        if names == old:
            return
        self._counted.put(id_, names)
        for node, by in [(n, -1) for n in old] + [(n, 1) for n in names]:
            self.named.put(node, self.named.get(node, 0) + by)
            moved.nodes.add(node)

    def _hold(self, id_: str, held: Held | None, moved: EvidenceDelta) -> None:
        old = self._who.held.get(id_)
        was, now = old.node if old else None, held.node if held else None
        moved.stands[id_] = held
        if was is not None and old is not None and old.step is not None:
            self.told.remove(was, id_)
        if now is not None and held is not None and held.step is not None:
            self.told.add(now, id_)
        if was == now:
            return
        if was is not None:
            self.owned.remove(was, id_)
            moved.taken[was].append(id_)
            moved.nodes.add(was)
        if now is not None:
            self.owned.add(now, id_)
            moved.given[now].append(id_)
            moved.nodes.add(now)

    def sum_up(self, moved: EvidenceDelta) -> set[str]:
        """Compute the totals of the nodes whose observations changed; return these nodes."""
        log, enrolled = self._log, self._who.evidence.enrolled
        nodes = moved.given.keys() | moved.taken.keys()
        for node in nodes:
            if node in moved.taken:
                tally = Tally.of((log.observations[o] for o in self.owned[node]), enrolled)
            else:
                given = set(moved.given[node])
                there = partial(self.seen_of, node, given)
                tally = self.tally.get(node, Tally()).with_((log.observations[o] for o in moved.given[node]), enrolled, there)
            _ = self.tally.put(node, tally) if tally.count else self.tally.drop(node)
        return set(nodes)

    def seen_of(self, node: str, but: Collection[str], clip: str) -> list[ObservationRow]:
        """Return the observations of a node in a clip, but for some."""
        held = self._who.held
        return [self._log.observations[o] for o in self.in_clip[clip] if o not in but and (h := held.get(o)) is not None and h.node == node]

    def undone(self) -> None:
        """Restore the state after the tables were rolled back."""
        self._who.evidence = self._standing["now"]


def _decision(step: Step, observation: str, log: Log) -> list[UserBinding]:
    """Return the decision of a step on one observation."""
    found: list[UserBinding] = []
    node = step.args.get("bindings", {}).get(observation)
    if node is not None and node in log.nodes:
        found.append((step, node))
    if step.kind == "set-aside" and observation in step.args["observations"]:
        found.append((step, None))
    return found
