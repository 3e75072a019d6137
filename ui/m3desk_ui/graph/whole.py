"""The whole graph with people as nodes, updated incrementally: the cost of a clip depends only on what it adds. Pure: no Qt, no IO.

A person stands for its face and voice nodes; sentences are linked to the person, not to its faces; doubled links are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from m3desk_ui.memory.order import number

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed, Edge
    from m3desk.domain.graph import EdgeRow, GraphSnapshot, NodeRow
    from m3desk.domain.people import Person

EDGE_PLAIN, EDGE_SAME, EDGE_TYPED = 0, 1, 2
KINDS = ("person", "face", "voice", "episodic", "semantic", "object", "place")
"""A kind's code is its place here; a kind of another tool's graph counts as an object."""
PERSON, FACE, VOICE, EPISODIC, SEMANTIC, OBJECT = range(6)
FIRST_ROOM = 256


@dataclass(frozen=True, slots=True)
class SceneNode:
    """One node as it is drawn. `kind`: a node type or `person`. Times: microseconds of `source`. `picture`: a media id."""

    id: str
    kind: str
    label: str
    content: str
    weight: float
    source: str | None = None
    start: int | None = None
    end: int | None = None
    person: str | None = None
    people: tuple[str, ...] = ()
    picture: str | None = None
    clip: str | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What changed: nodes, people and edges by id, None where they are gone."""

    nodes: Mapping[str, NodeRow | None] = field(default_factory=dict)
    people: Mapping[str, Person | None] = field(default_factory=dict)
    edges: Mapping[Edge, float | None] = field(default_factory=dict)


def read_part(reader: Any, changed: Changed, known: Mapping[str, Any]) -> Part:
    """Read what a commit changed of the graph (in the reading thread). `known`: the nodes that were there before; of new ones all edges."""
    there: dict[str, NodeRow] = {n.id: n for n in reader.nodes_of(changed.nodes)} if changed.nodes else {}
    people: dict[str, Person] = {p.id: p for p in reader.people_of(changed.people)} if changed.people else {}
    edges: dict[Edge, float | None] = dict.fromkeys(changed.edges)
    found: list[EdgeRow] = reader.edges_of(changed.edges) if changed.edges else []
    for id_ in there:
        if id_ not in known:
            found += reader.neighbours(id_)
    edges |= {(e.a, e.b, e.kind): e.weight for e in found}
    return Part({id_: there.get(id_) for id_ in changed.nodes}, {id_: people.get(id_) for id_ in changed.people}, edges)


class Whole:
    """The graph. A node's row stays the same while it is there; rows of nodes that are gone are given to new ones.

    nodes: by row, None where no node is. kinds (n,) codes, −1 where none is; weights (n,); degree (n,): links; apart_from_bodies (n,):
    those to others than faces and voices. near: row → linked rows. clips, topics (n,): places in `names`, −1 for none. times (n, 2):
    microseconds from the source's start, −1 for none.
    Links, with −1 where none is: ends (m, 2) rows; pull (m,) summed weights; ties (m,) EDGE_….
    """

    def __init__(self) -> None:
        self.nodes: list[SceneNode | None] = []
        self.row_of: dict[str, int] = {}
        self.near: list[set[int]] = []
        self.present: Counter[str] = Counter()
        """How many nodes there are of each kind."""
        self._kinds = np.full(FIRST_ROOM, -1, np.int8)
        self._weights = np.zeros(FIRST_ROOM, np.float32)
        self._degree = np.zeros(FIRST_ROOM, np.int32)
        self._apart_from_bodies = np.zeros(FIRST_ROOM, np.int32)
        self._numbers = np.zeros(FIRST_ROOM, np.int64)
        self._clips = np.full(FIRST_ROOM, -1, np.int32)
        self._topics = np.full(FIRST_ROOM, -1, np.int32)
        self._times = np.full((FIRST_ROOM, 2), -1, np.int64)
        self.names: list[str] = []
        """Clips and topics, by their code."""
        self._codes: dict[str, int] = {}
        self._free: list[int] = []
        self._ends = np.full((FIRST_ROOM, 2), -1, np.int32)
        self._pull = np.zeros(FIRST_ROOM, np.float32)
        self._ties = np.zeros(FIRST_ROOM, np.int8)
        self._links: dict[tuple[int, int], tuple[int, list[Edge]]] = {}
        """Rows of its ends → place of a link, and the edges that it is made of."""
        self._used = 0
        self._free_links: list[int] = []
        self._edges: dict[Edge, float] = {}
        self._edges_of: dict[str, set[Edge]] = {}
        """Face or voice node → its edges: they move with it from person to person."""
        self._bodies: dict[str, NodeRow] = {}
        """Face and voice nodes, also of people who are hidden."""
        self._people: dict[str, Person] = {}
        self._members: dict[str, set[str]] = {}
        self._owner: dict[str, str] = {}
        """Face or voice node → the person on show that it is part of."""
        self._strongest: dict[int, list[int]] = {}

    # ------------------------------------------------------------ reading

    @property
    def kinds(self) -> NDArray[np.int8]:
        return self._kinds[: len(self.nodes)]

    @property
    def weights(self) -> NDArray[np.float32]:
        return self._weights[: len(self.nodes)]

    @property
    def degree(self) -> NDArray[np.int32]:
        return self._degree[: len(self.nodes)]

    @property
    def apart_from_bodies(self) -> NDArray[np.int32]:
        return self._apart_from_bodies[: len(self.nodes)]

    @property
    def clips(self) -> NDArray[np.int32]:
        return self._clips[: len(self.nodes)]

    @property
    def topics(self) -> NDArray[np.int32]:
        return self._topics[: len(self.nodes)]

    @property
    def times(self) -> NDArray[np.int64]:
        return self._times[: len(self.nodes)]

    @property
    def ends(self) -> NDArray[np.int32]:
        return self._ends[: self._used]

    @property
    def pull(self) -> NDArray[np.float32]:
        return self._pull[: self._used]

    @property
    def ties(self) -> NDArray[np.int8]:
        return self._ties[: self._used]

    def __len__(self) -> int:
        return len(self.row_of)

    def __iter__(self) -> Iterator[SceneNode]:
        return (node for node in self.nodes if node is not None)

    def node(self, row: int) -> SceneNode:
        """Return the node of a row that has one."""
        node = self.nodes[row]
        assert node is not None
        return node

    def get(self, id_: str) -> SceneNode | None:
        row = self.row_of.get(id_)
        return None if row is None else self.nodes[row]

    def people(self) -> list[tuple[str, str]]:
        """Return id and name of each person on show, in order of their numbers."""
        shown = [node for id_ in self._people if (node := self.get(id_)) is not None]
        return [(node.id, node.label) for node in sorted(shown, key=lambda n: number(n.id))]

    def seen_in(self, id_: str) -> tuple[str, ...]:
        """Return the clips that a person is seen or heard in."""
        person = self._people.get(id_)
        return person.clips if person is not None else ()

    def code(self, name: str) -> int:
        """Return the code of a clip or topic."""
        found = self._codes.get(name)
        if found is None:
            found = self._codes[name] = len(self.names)
            self.names.append(name)
        return found

    def told_of(self, row: int, most: int) -> list[int]:
        """Return the rows of the strongest sentences linked to a node: what is known first, then by weight and number of links."""
        if row not in self._strongest:
            near = np.fromiter(self.near[row], np.intp, len(self.near[row]))
            texts = near[np.isin(self._kinds[near], (SEMANTIC, EPISODIC))]
            keys = (self._numbers[texts], -self._degree[texts], -self._weights[texts], self._kinds[texts] != SEMANTIC)
            self._strongest[row] = texts[np.lexsort(keys)[:most]].tolist()
        return self._strongest[row]

    # ------------------------------------------------------------ changing

    def change(self, part: Part) -> None:
        """Take what changed."""
        dirty = dict.fromkeys(part.people)
        bodies: dict[str, None] = {}
        for id_, person in part.people.items():
            if person is None:
                self._people.pop(id_, None)
            else:
                self._people[id_] = person
        for id_, node in part.nodes.items():
            if id_ in self._bodies or (node is not None and node.type in ("face", "voice")):
                for owner in self._put_body(id_, node):
                    dirty[owner] = None
                bodies[id_] = None
            elif node is None:
                self._drop(id_)
            else:
                self._put(_scene_node(node))
        for who in dirty:
            bodies |= dict.fromkeys(self._stand(who))
        for id_ in bodies:
            self._join_body(id_)
        for edge, weight in part.edges.items():
            self._unlink(edge)
            if weight is None:
                self._forget(edge)
            else:
                self._keep(edge, weight)
                self._link(edge)

    def _put_body(self, id_: str, node: NodeRow | None) -> set[str]:
        """Update or remove a face or voice node; return the persons it belongs or belonged to."""
        old = self._bodies.pop(id_, None)
        owners = {x.person for x in (old, node) if x is not None and x.person}
        if old is not None and old.person:
            self._members[old.person].discard(id_)
        if node is not None:
            self._bodies[id_] = node
            if node.person:
                self._members.setdefault(node.person, set()).add(id_)
        return owners

    def _stand(self, id_: str) -> set[str]:
        """Show or hide a person; return the nodes that appear or disappear with them."""
        person, members = self._people.get(id_), self._members.get(id_, set())
        was = id_ in self.row_of
        if person is None or person.ignored or not members:
            self._drop(id_)
        else:
            at = person.first_seen
            source, start = at if at else (None, None)
            weight = max(1.0, (person.screen_time + person.speech_time) / 1e7)
            node = SceneNode(id_, "person", person.shown, person.shown, weight, source, start, start, id_, (id_,), person.portrait)
            self._put(node)
        return set(members) if was != (id_ in self.row_of) else set()

    def _join_body(self, id_: str) -> None:
        """Show a face or voice node, and move its links to the person it belongs to now."""
        node = self._bodies.get(id_)
        owner = node.person if node is not None and node.person in self.row_of else None
        there = node is not None and (owner is not None or not node.person)
        if there and node is not None:
            self._put(_scene_node(node))
        if owner == self._owner.get(id_) and there == (id_ in self.row_of) and (owner is None or self._is_joined(owner, id_)):
            return
        edges = self._edges_of.get(id_, set())
        for edge in edges:
            self._unlink(edge)
        if (old := self._owner.pop(id_, None)) is not None:
            self._unlink((old, id_, "part"))
        if not there:
            self._drop(id_)
            return
        if owner is not None:
            self._owner[id_] = owner
            self._edges[owner, id_, "part"] = 1.0
            self._link((owner, id_, "part"))
        for edge in edges:
            self._link(edge)

    def _is_joined(self, owner: str, id_: str) -> bool:
        ends = self._rows((owner, id_, "part"))
        return ends is not None and ends in self._links

    # ------------------------------------------------------------ rows

    def _put(self, node: SceneNode) -> None:
        row = self.row_of.get(node.id)
        if row is None:
            row = self._row()
            self.row_of[node.id] = row
            self._numbers[row] = number(node.id)
            self.present[node.kind] += 1
        elif self.nodes[row] == node:
            return
        self.nodes[row] = node
        self._kinds[row] = KINDS.index(node.kind) if node.kind in KINDS else OBJECT
        self._weights[row] = node.weight
        self._clips[row] = -1 if node.clip is None else self.code(node.clip)
        self._topics[row] = -1 if node.topic is None else self.code(node.topic)
        self._times[row] = -1 if node.start is None else (node.start, max(node.start, node.end or 0))
        if self._kinds[row] in (SEMANTIC, EPISODIC):
            for other in self._strongest.keys() & self.near[row]:
                del self._strongest[other]

    def _row(self) -> int:
        if self._free:
            return self._free.pop()
        if len(self.nodes) == len(self._kinds):
            self._kinds = np.concatenate([self._kinds, np.full(len(self._kinds), -1, np.int8)])
            self._weights = np.concatenate([self._weights, np.zeros_like(self._weights)])
            self._degree = np.concatenate([self._degree, np.zeros_like(self._degree)])
            self._apart_from_bodies = np.concatenate([self._apart_from_bodies, np.zeros_like(self._apart_from_bodies)])
            self._numbers = np.concatenate([self._numbers, np.zeros_like(self._numbers)])
            self._clips = np.concatenate([self._clips, np.full_like(self._clips, -1)])
            self._topics = np.concatenate([self._topics, np.full_like(self._topics, -1)])
            self._times = np.concatenate([self._times, np.full_like(self._times, -1)])
        self.nodes.append(None)
        self.near.append(set())
        return len(self.nodes) - 1

    def _drop(self, id_: str) -> None:
        row = self.row_of.get(id_)
        if row is None:
            return
        for other in list(self.near[row]):
            _, edges = self._links[_ordered(row, other)]
            for edge in list(edges):
                self._unlink(edge)
        node = self.node(row)
        self.present[node.kind] -= 1
        del self.row_of[id_]
        self.nodes[row], self._kinds[row], self._weights[row] = None, -1, 0.0
        self._strongest.pop(row, None)
        self._free.append(row)

    # ------------------------------------------------------------ links

    def _keep(self, edge: Edge, weight: float) -> None:
        self._edges[edge] = weight
        for end in edge[:2]:
            if end.startswith(("face_", "voice_")) or end in self._bodies:
                self._edges_of.setdefault(end, set()).add(edge)

    def _forget(self, edge: Edge) -> None:
        self._edges.pop(edge, None)
        for end in edge[:2]:
            if end in self._edges_of:
                self._edges_of[end].discard(edge)

    def _rows(self, edge: Edge) -> tuple[int, int] | None:
        """Return the rows that an edge links now: of a face or voice its person's row, except for equivalence edges."""
        a, b, kind = edge
        if kind not in ("equivalence", "part"):
            a, b = self._owner.get(a, a), self._owner.get(b, b)
        one, other = self.row_of.get(a), self.row_of.get(b)
        return None if one is None or other is None or one == other else _ordered(one, other)

    def _link(self, edge: Edge) -> None:
        ends = self._rows(edge)
        if ends is None:
            return
        if ends in self._links:
            place, edges = self._links[ends]
            edges.append(edge)
        else:
            place = self._place()
            self._links[ends] = place, [edge]
            self._ends[place] = ends
            for row, other in (ends, ends[::-1]):
                self.near[row].add(other)
                self._degree[row] += 1
                self._apart_from_bodies[row] += self._kinds[other] not in (FACE, VOICE)
        self._weigh(ends)

    def _unlink(self, edge: Edge) -> None:
        """Remove an edge from the link that it is part of."""
        ends = self._rows(edge)
        if ends is None or ends not in self._links or edge not in self._links[ends][1]:
            return
        place, edges = self._links[ends]
        edges.remove(edge)
        if edges:
            self._weigh(ends)
            return
        del self._links[ends]
        self._ends[place] = -1
        self._free_links.append(place)
        self._stir(ends)
        for row, other in (ends, ends[::-1]):
            self.near[row].discard(other)
            self._degree[row] -= 1
            self._apart_from_bodies[row] -= self._kinds[other] not in (FACE, VOICE)

    def _weigh(self, ends: tuple[int, int]) -> None:
        place, edges = self._links[ends]
        self._pull[place] = sum(self._edges[e] for e in edges)
        self._ties[place] = max(_tie(kind) for _, _, kind in edges)
        self._stir(ends)

    def _stir(self, ends: tuple[int, int]) -> None:
        """Mark the order of strongest links as outdated: of both ends, and of all nodes that a sentence at either end is linked to."""
        for row in ends:
            self._strongest.pop(row, None)
            if self._kinds[row] in (SEMANTIC, EPISODIC):
                for other in self._strongest.keys() & self.near[row]:
                    del self._strongest[other]

    def _place(self) -> int:
        if self._free_links:
            return self._free_links.pop()
        if self._used == len(self._ends):
            self._ends = np.concatenate([self._ends, np.full_like(self._ends, -1)])
            self._pull = np.concatenate([self._pull, np.zeros_like(self._pull)])
            self._ties = np.concatenate([self._ties, np.zeros_like(self._ties)])
        self._used += 1
        return self._used - 1


def whole(view: GraphSnapshot, people: Iterable[Person]) -> Whole:
    """Return the graph as it is read."""
    found = Whole()
    edges: dict[Edge, float | None] = {(e.a, e.b, e.kind): e.weight for e in view.edges}
    found.change(Part({n.id: n for n in view.nodes}, {p.id: p for p in people}, edges))
    return found


def _scene_node(n: NodeRow) -> SceneNode:
    topic = (n.extra or {}).get("topic")
    return SceneNode(
        n.id, n.type, n.label, n.content, n.weight, n.source, n.start, n.end, n.person, n.people, n.picture, n.clip,
        topic if isinstance(topic, str) else None,
    )  # fmt: skip


def _tie(kind: str) -> int:
    return EDGE_SAME if kind in ("equivalence", "part") else EDGE_PLAIN if kind == "mentions" else EDGE_TYPED


def _ordered(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


__all__ = ["EDGE_PLAIN", "EDGE_SAME", "EDGE_TYPED", "KINDS", "Part", "SceneNode", "Whole", "read_part", "whole"]
