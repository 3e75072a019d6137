"""Which person ids are one person, decided again only in the connected components that changed.

Persons are connected by must-links and cannot-links of corrections, by votes, and by cannot-links from pictures and sound. A component may
hold persons that are no longer connected (what an undone correction had connected stays): that costs time and does not change the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from m3desk.domain.equivalence import COMPANY, MATE, Sums, covered, enough_in_all, in_all, in_total, weigh
from m3desk.domain.fold import called, cannot_links_between, pair_constraints, voted_pair
from m3desk.domain.identities import Identities
from m3desk.domain.ids import numbered
from m3desk.domain.log import Log
from m3desk.domain.partition import Partition
from m3desk.domain.projection.decisions import Decisions
from m3desk.domain.projection.evidence import Evidence
from m3desk.domain.projection.tables import SetsByKey, Table, Tables

Pair = tuple[str, str]
Best = tuple[float, str]
"""The sum of the votes for a face, and the face."""
Attempt = tuple[str, str, bool]
"""A voice, the face it has most votes with, and whether that is in view often enough while it is heard."""


@dataclass(frozen=True, slots=True)
class PairVotes:
    """The votes for a pair of nodes. `places`: in the log's votes; `by_clip`: their weighted sums (`equivalence.weigh`); `sums`: of those;
    `total`: of the weights as they were cast."""

    places: tuple[int, ...]
    cast: tuple[tuple[str, str, float], ...]
    by_clip: dict[str, float]
    sums: Sums
    total: float

    @classmethod
    def of(cls, places: Sequence[int], log: Log) -> PairVotes:
        """Return the votes at some places, which are in order."""
        cast = tuple((v.clip, v.by, v.weight) for v in (log.votes[i] for i in places))
        by_clip = weigh(cast)
        return cls(tuple(places), cast, by_clip, in_all(by_clip.values()), in_total(cast))

    def and_(self, places: Sequence[int], log: Log) -> PairVotes:
        """Return these votes and later ones; only those are weighed, however many there are."""
        cast = tuple((v.clip, v.by, v.weight) for v in (log.votes[i] for i in places))
        if any(clip in self.by_clip for clip, _, _ in cast):
            return PairVotes.of((*self.places, *places), log)
        more = weigh(cast)
        return PairVotes(
            (*self.places, *places), (*self.cast, *cast), self.by_clip | more, in_all(more.values(), self.sums), in_total(cast, self.total)
        )


@dataclass(frozen=True, slots=True)
class Component:
    """A connected component of persons, decided except for the links between faces and voices. `groups`: voice → face → the pairs of nodes
    with votes, voice and face as roots of `partition`; `taken`: roots with a face; `joins`: votes may have joined nodes of one type, so
    that the order of the decisions matters."""

    people: tuple[str, ...]
    partition: Partition
    groups: Mapping[str, Mapping[str, tuple[Pair, ...]]]
    taken: frozenset[str]
    joins: bool


@dataclass(slots=True)
class JoiningDelta:
    """What `Joining.decide` changed. `nodes`: with another person now; `people`: ids of persons (also removed ones) whose nodes or aliases
    changed; `renamed`: persons with another id in force; `steps`: whose constraints have another result."""

    nodes: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    renamed: set[str] = field(default_factory=set)
    steps: set[int] = field(default_factory=set)


class Distinct:
    """The pairs of persons, in both orders, with a cannot-link."""

    def __init__(self, distinct_from: SetsByKey[str, str]) -> None:
        self._distinct_from = distinct_from

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and pair[1] in self._distinct_from[pair[0]]


class Joining:
    """Decides which persons are one."""

    def __init__(self, tables: Tables, log: Log, who: Identities, evidence: Evidence) -> None:
        self._log, self._who, self._evidence = log, who, evidence
        self.births: Table[str, str] = tables.table()  # node → the person it was created in
        self.born: SetsByKey[str, str] = tables.index()
        self.votes: Table[Pair, PairVotes] = tables.table()
        self.pairs_of: SetsByKey[str, Pair] = tables.index()  # node → pairs with votes
        self.cannot_link_places: SetsByKey[str, int] = tables.index()  # original observation → places in the log's cannot-links
        self.going_by: SetsByKey[str, str] = tables.index()  # id in force → all persons with it
        self.decided: Table[tuple[int, str, str, str], bool] = tables.table()
        self._votes_of: SetsByKey[str, int] = tables.index()  # original observation → places in the log's votes
        self._pair_at: Table[int, Pair] = tables.table()
        self._cannot_links_at: Table[int, tuple[Pair, ...]] = tables.table()
        self._cannot_links: Table[Pair, int] = tables.table()  # nodes with cannot-links → how many
        self._cannot_links_of: SetsByKey[str, Pair] = tables.index()
        self._component_of: Table[str, str] = tables.table()
        self._people_in: Table[str, frozenset[str]] = tables.table()
        self._components: Table[str, Component] = tables.table()
        self._final: Table[str, tuple[frozenset[Pair], Partition]] = tables.table()  # component → what was linked, and the partition then
        self._root_of: Table[str, str] = tables.table()  # node → the root of its person before faces and voices are linked
        self._company_in: Table[str, tuple[dict[str, int], dict[Pair, int]]] = tables.table()  # clip → see `_company`
        self._anybody: Table[str, int] = tables.table()  # voice → microseconds of it while any face is in view
        self._together: Table[Pair, int] = tables.table()  # voice, face → microseconds of that voice while that face is in view
        self._distinct_from: SetsByKey[str, str] = tables.index()
        self._undecided: set[str] = set()  # components
        self._unlinked: set[str] = set()
        self._uncalled: set[str] = set()
        self._new_cannot_links: dict[str, list[Pair]] = {}
        # Results of the last time and what they follow from, which is compared: right also after a rollback.
        self._best_of: dict[str, tuple[Mapping[str, tuple[Pair, ...]], list[PairVotes], Best | None]] = {}  # voice →
        self._linked_by: dict[str, tuple[Partition, frozenset[Attempt], frozenset[Pair], Partition]] = {}  # component →
        who.distinct = Distinct(self._distinct_from)

    # ------------------------------------------------------------------ connections between persons

    def _unite(self, a: str, b: str) -> str:
        """Put two persons into one component; return it."""
        one, two = self._own(a), self._own(b)
        if one == two:
            return one
        if len(self._people_in[one]) < len(self._people_in[two]):
            one, two = two, one
        moving = self._people_in[two]
        self._people_in.put(one, self._people_in[one] | moving)
        for p in moving:
            self._component_of.put(p, one)
        for table in (self._people_in, self._components, self._final):
            table.drop(two)
        for waiting in (self._undecided, self._unlinked, self._uncalled):
            waiting.discard(two)
        self._undecided.add(one)
        return one

    def _own(self, person: str) -> str:
        component = self._component_of.get(person)
        if component is None:
            component = person
            self._component_of.put(person, component)
            self._people_in.put(component, frozenset((person,)))
            self._undecided.add(component)
        return component

    def set_birth(self, node: str, person: str | None) -> bool:
        """Set the person that a node was created in (None: the node is gone); return whether that changed."""
        old = self.births.get(node)
        if old == person:
            return False
        if old is not None:
            self.births.drop(node)
            self._root_of.drop(node)
            self.born.remove(old, node)
            self._undecided.add(self._own(old))
        if person is not None:
            self.births.put(node, person)
            self.born.add(person, node)
            self._undecided.add(self._unite(old or person, person))
            for pairs in (self.pairs_of, self._cannot_links_of):
                for a, b in pairs[node]:
                    if (other := self.births.get(a if b == node else b)) is not None:
                        self._unite(person, other)
        return True

    def say(self, people: Iterable[str], cannot_links: Iterable[Pair]) -> None:
        """Note that changed steps name these people and have constraints between these pairs."""
        for p in people:
            self._uncalled.add(self._own(p))
        for a, b in cannot_links:
            self._undecided.add(self._unite(a, b))

    def add(self, votes: range, cannot_links: range) -> None:
        """Add new votes and cannot-links, by their places in the log."""
        root = self._evidence.root
        for i in votes:
            for o in {self._log.votes[i].a, self._log.votes[i].b}:
                self._votes_of.add(root(o), i)
        for i in cannot_links:
            for o in set(self._log.cannot_links[i]):
                self.cannot_link_places.add(root(o), i)

    def vote(self, families: Iterable[str], new: range) -> set[Pair]:
        """Update the pairs of nodes that votes are for, for affected families and new votes; return the pairs whose votes changed."""
        added: dict[Pair, list[int]] = defaultdict(list)
        removed: dict[Pair, set[int]] = defaultdict(set)
        for i in sorted({*new, *(i for f in families for i in self._votes_of[f])}):
            pair = voted_pair(self._log.votes[i], self._who, self._evidence.last_model)
            old = self._pair_at.get(i)
            if pair == old:
                continue
            if old is not None:
                removed[old].add(i)
                self._pair_at.drop(i)
            if pair is not None:
                added[pair].append(i)
                self._pair_at.put(i, pair)
        for pair in added.keys() | removed.keys():
            self._count(pair, added.get(pair, []), removed.get(pair, set()))
        return set(added.keys() | removed.keys())

    def _count(self, pair: Pair, added: list[int], removed: set[int]) -> None:
        old = self.votes.get(pair)
        now: PairVotes | None = None
        if old is not None and not removed and added[0] > old.places[-1]:
            now = old.and_(added, self._log)
            self.votes.put(pair, now)
        elif places := sorted({*(old.places if old else ()), *added} - removed):
            now = PairVotes.of(places, self._log)
            self.votes.put(pair, now)
            for node in pair:
                self.pairs_of.add(node, pair)
        else:
            self.votes.drop(pair)
            for node in pair:
                self.pairs_of.remove(node, pair)
        people = [p for n in pair if (p := self.births.get(n)) is not None]
        component = self._unite(people[0], people[-1]) if people else None
        if component is None:
            return
        mixed = len({self._log.nodes[n].type for n in pair}) == 2
        if mixed and old is not None and now is not None and old.places[0] == now.places[0]:
            self._unlinked.add(component)
        else:  # the pairs to look at, their order, or who of one kind is one
            self._undecided.add(component)

    def cannot_link(self, families: Iterable[str], new: range) -> None:
        """Update the cannot-links between nodes, for affected families and new cannot-links."""
        held = self._who.held
        for i in {*new, *(i for f in families for i in self.cannot_link_places[f])}:
            nodes = []
            one, two = self._log.cannot_links[i]
            for x, y in cannot_links_between(one, two, self._who.evidence):
                a, b = held.get(x), held.get(y)
                if a and b and a.node and b.node and a.node != b.node:
                    nodes.append((a.node, b.node) if a.node < b.node else (b.node, a.node))
            old, now = self._cannot_links_at.get(i, ()), tuple(nodes)
            if old == now:
                continue
            _ = self._cannot_links_at.put(i, now) if now else self._cannot_links_at.drop(i)
            for pair, by in [(p, -1) for p in old] + [(p, 1) for p in now]:
                count = self._cannot_links.get(pair, 0)
                self._cannot_links.put(pair, count + by)
                if bool(count) != bool(count + by):
                    for node in pair:
                        _ = self._cannot_links_of.add(node, pair) if count + by else self._cannot_links_of.remove(node, pair)
                    people = [p for n in pair if (p := self.births.get(n)) is not None]
                    one_component = len(people) == 2 and self._own(people[0]) == self._own(people[1])
                    if not people:
                        continue
                    component = self._unite(people[0], people[-1])
                    if one_component and by == 1 and component in self._components and not self._components[component].joins:
                        self._new_cannot_links.setdefault(component, []).append((people[0], people[1]))
                    else:
                        self._undecided.add(component)

    # ------------------------------------------------------------------ deciding

    def decide(self, decisions: Decisions, clips: set[str]) -> JoiningDelta:
        """Decide the affected components again. `clips`: those in which observations came, went or belong to another person."""
        changed = JoiningDelta()
        for component in sorted(self._undecided):
            clips |= self._first(component, decisions, changed)
        for clip in clips:
            self._measure_company(clip)
        for component, pairs in self._new_cannot_links.items():
            if component not in self._undecided and component in self._components:
                self._add_cannot_links(component, pairs)
        for component in sorted(self._undecided | self._unlinked | self._uncalled):
            if self._link(component) or component in self._undecided or component in self._uncalled:
                self._call(component, decisions, changed)
        for component, pairs in self._new_cannot_links.items():
            if component not in self._undecided and component in self._components:
                self._add_distinct(component, pairs)
        self.forget_waiting()
        return changed

    def forget_waiting(self) -> None:
        """Clear the list of components to decide."""
        self._undecided, self._unlinked, self._uncalled, self._new_cannot_links = set(), set(), set(), {}

    def _first(self, component: str, decisions: Decisions, changed: JoiningDelta) -> set[str]:
        """Apply users' constraints, cannot-links, and votes between nodes of one type; return the clips of nodes whose root changed."""
        people = [p for p in self._people_in[component] if p in self.born]
        there, births = set(people), self.births
        partition = Partition()
        for p in sorted(people, key=numbered):
            partition.root(p)
        for step in decisions.constraining:
            for kind, a, b in pair_constraints(step, births):
                if a in there and b in there:
                    held = partition.join(a, b) if kind == "must" else partition.add_cannot_link(a, b)
                    if self.decided.put((step.step, kind, a, b), held):
                        changed.steps.add(step.step)
        nodes = [n for p in people for n in self.born[p]]
        for node in nodes:
            for a, b in self._cannot_links_of[node]:
                if a == node:
                    partition.add_cannot_link(births[a], births[b])
        types = self._who.nodes
        pairs = [pair for node in nodes for pair in self.pairs_of[node] if pair[0] == node]
        same_type = [(self.votes[p].sums[0], p) for p in pairs if types[p[0]].type == types[p[1]].type]
        strong = [(weight, pair) for weight, pair in same_type if enough_in_all(in_all([weight]), 0.0)]
        for _, (a, b) in sorted(strong, key=lambda r: (-r[0], numbered(r[1][0]), numbered(r[1][1]))):
            partition.join(births[a], births[b])
        groups: dict[str, dict[str, list[Pair]]] = {}
        for pair in sorted(pairs, key=lambda p: self.votes[p].places[0]):
            by_type = {types[n].type: n for n in pair}
            if len(by_type) == 2:
                face, voice = partition.root(births[by_type["face"]]), partition.root(births[by_type["voice"]])
                if not partition.cannot_join(face, voice):  # a face with a cannot-link is no rival
                    groups.setdefault(voice, {}).setdefault(face, []).append(pair)
        taken = frozenset(partition.root(births[n]) for n in nodes if types[n].type == "face")
        firm = {v: {f: tuple(mine) for f, mine in faces.items()} for v, faces in groups.items()}
        self._components.put(component, Component(tuple(people), partition, firm, taken, bool(strong)))
        self._final.drop(component)
        moved = {n for n in nodes if self._root_of.put(n, partition.root(births[n]))}
        return {self._log.observations[o].clip for n in moved for o in self._evidence.owned[n]}

    def _add_cannot_links(self, id_: str, pairs: Iterable[Pair]) -> None:
        """Add cannot-links to a component. This may come last, as no votes between nodes of one type join persons there."""
        component = self._components[id_]
        partition = component.partition.copy()
        for a, b in pairs:
            partition.add_cannot_link(a, b)
        groups = {v: {f: mine for f, mine in faces.items() if not partition.cannot_join(f, v)} for v, faces in component.groups.items()}
        self._components.put(id_, replace(component, partition=partition, groups={v: faces for v, faces in groups.items() if faces}))
        self._unlinked.add(id_)

    def _add_distinct(self, id_: str, pairs: Iterable[Pair]) -> None:
        """Add the new cannot-links of a component, whose classes did not change, to the distinct pairs."""
        canonical, partition = self._who.canonical, self._final[id_][1]
        for a, b in pairs:
            if partition.cannot_join(a, b):
                self._distinct_from.add(canonical[a], canonical[b])
                self._distinct_from.add(canonical[b], canonical[a])

    def _measure_company(self, clip: str) -> None:
        """Measure again how long each voice of a clip is heard while each face is in view."""
        log, held = self._log.observations, self._who.held
        said: list[tuple[int, int, str]] = []
        seen: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for id_ in self._evidence.in_clip[clip]:
            h = held.get(id_)
            root = self._root_of.get(h.node) if h is not None and h.node is not None else None
            if root is not None:
                o = log[id_]
                if o.type == "face":
                    seen[root].append((o.start, o.end))
                else:
                    said.append((o.start, o.end, root))
        anybody: dict[str, int] = {}
        together: dict[Pair, int] = {}
        all_seen = [span for spans in seen.values() for span in spans]
        for start, end, voice in said if all_seen else ():
            in_all = covered(start, end, all_seen)
            anybody[voice] = anybody.get(voice, 0) + in_all
            for face, spans in seen.items() if in_all else ():
                if with_them := covered(start, end, spans):
                    together[voice, face] = together.get((voice, face), 0) + with_them
        old = self._company_in.get(clip, ({}, {}))
        if old == (anybody, together):
            return
        _ = self._company_in.put(clip, (anybody, together)) if anybody else self._company_in.drop(clip)
        for voice in old[0].keys() | anybody.keys():
            self._anybody.put(voice, self._anybody.get(voice, 0) + anybody.get(voice, 0) - old[0].get(voice, 0))
            if (component := self._component_of.get(voice)) is not None:
                self._unlinked.add(component)
        for pair in old[1].keys() | together.keys():
            self._together.put(pair, self._together.get(pair, 0) + together.get(pair, 0) - old[1].get(pair, 0))

    def _link(self, id_: str) -> bool:
        """Link the voices of a component to faces; return whether its links changed."""
        component = self._components[id_]
        ranked: list[tuple[float, int, str, str]] = []
        for voice, faces in component.groups.items():
            if voice not in component.taken and (best := self._best(voice, faces)) is not None:
                ranked.append((-best[0], numbered(voice), voice, best[1]))
        attempts = frozenset((voice, face, self._in_company(voice, face)) for _, _, voice, face in ranked)
        last = self._linked_by.get(id_)
        if last is not None and last[0] is component.partition and last[1] == attempts:
            linked, partition = last[2:]
        else:
            linked, partition = self._join_voices(component, ranked)
            self._linked_by.pop(id_, None)
            if len({face for _, face, _ in attempts}) == len(attempts):  # else their order matters, too: who comes first has the face
                self._linked_by[id_] = component.partition, attempts, linked, partition
        old = self._final.get(id_)
        self._final.put(id_, (linked, partition))
        return old is None or old[0] != linked  # in whatever order

    def _join_voices(self, component: Component, ranked: Iterable[tuple[float, int, str, str]]) -> tuple[frozenset[Pair], Partition]:
        """Join voices to faces: (−votes, number, voice, face), lowest first; return the (face, voice) pairs joined, and the partition."""
        partition, joined = component.partition.copy(), set()
        mates: dict[str, float] = {}
        for total, _n, voice, face in sorted(ranked):
            if MATE * -total >= mates.get(face, 0.0) and self._in_company(voice, face) and partition.join(face, voice):
                mates.setdefault(face, -total)
                joined.add((face, voice))
        return frozenset(joined), partition

    def _in_company(self, voice: str, face: str) -> bool:
        """Return whether a face is in view often enough while a voice is heard."""
        anybody = self._anybody.get(voice, 0)
        return (self._together.get((voice, face), 0) / anybody if anybody else 1.0) >= COMPANY

    def _best(self, voice: str, faces: Mapping[str, tuple[Pair, ...]]) -> Best | None:
        """Return the face that a voice has most votes with, and their sum; None if they are not enough."""
        votes = [self.votes[p] for pairs in faces.values() for p in pairs]
        last = self._best_of.get(voice)
        if last is not None and last[0] is faces and all(map(is_, last[1], votes)):
            return last[2]
        sums = {f: self._sums(pairs) for f, pairs in faces.items()}
        totals = sorted(((total, -numbered(f), f) for f, (total, _, _) in sums.items()), reverse=True)
        best, runner = totals[0], totals[1][0] if len(totals) > 1 else 0.0
        found = (best[0], best[2]) if enough_in_all(sums[best[2]], runner) else None
        self._best_of[voice] = faces, votes, found
        return found

    def _sums(self, pairs: Sequence[Pair]) -> Sums:
        if len(pairs) == 1:
            return self.votes[pairs[0]].sums
        clips: dict[str, float] = defaultdict(float)
        for pair in pairs:
            for clip, weight in self.votes[pair].by_clip.items():
                clips[clip] += weight
        return in_all(clips.values())

    def _call(self, id_: str, decisions: Decisions, changed: JoiningDelta) -> None:
        """Choose the id of each class of a component, and update the distinct pairs."""
        who, partition = self._who, self._final[id_][1]
        canonical: dict[str, str] = {}
        members: dict[str, list[str]] = {}
        for class_ in partition.classes().values():
            name = called(class_, decisions.names, decisions.keeps)
            canonical |= dict.fromkeys(class_, name)
            members[name] = sorted((n for p in class_ for n in self.born[p]), key=numbered)
        put: Callable[..., bool]
        for p in self._people_in[id_]:
            old = who.canonical.get(p)
            put = who.canonical.put if p in canonical else who.canonical.drop  # type: ignore[attr-defined]
            if put(p, canonical[p]) if p in canonical else put(p):
                changed.people |= {x for x in (old, canonical.get(p)) if x}
                changed.renamed.add(p)
                if old is not None:
                    self.going_by.remove(old, p)
                if p in canonical:
                    self.going_by.add(canonical[p], p)
            if p not in members and who.members.drop(p):  # type: ignore[attr-defined]
                changed.people.add(p)
        for name, nodes in members.items():
            if who.members.put(name, nodes):  # type: ignore[attr-defined]
                changed.people.add(name)
            changed.nodes |= {n for n in nodes if who.person_of.put(n, name)}  # type: ignore[attr-defined]
        distinct = {(canonical[a], canonical[b]) for a, b in partition.cannot_links()}
        for a in self._people_in[id_]:
            for b in [b for b in self._distinct_from[a] if (a, b) not in distinct]:
                self._distinct_from.remove(a, b)
        for a, b in distinct:
            self._distinct_from.add(a, b)
