"""Which part of a memory's graph is on show: people first, with their strongest memories; the rest on demand. Pure: no Qt, no IO.

A person stands for its face and voice nodes until it is unfolded; sentences are linked to the person, not to its faces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from m3desk.domain.graph import GraphView
    from m3desk.domain.people import Person

ALL_AT_ONCE = 70
"""A memory with no more nodes than this is shown whole."""
STRONGEST = 7
"""Memories a person opens with."""
EDGE_PLAIN, EDGE_SAME, EDGE_TYPED = 0, 1, 2


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


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole graph with people as nodes. `links` (m, 2): rows of `nodes`; `kinds` (m,): EDGE_…; `pull` (m,): weights.

    `near`: row → rows it is linked to. `version`: of the snapshot it was made from.
    """

    nodes: tuple[SceneNode, ...]
    links: NDArray[np.int32]
    pull: NDArray[np.float32]
    kinds: NDArray[np.int8]
    near: tuple[tuple[int, ...], ...]
    row_of: dict[str, int]
    version: int = 0
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asked to see. `unfolded`, `closed`, `extra`: node ids. `kinds`: None = all. `person`: only what concerns them."""

    everything: bool = False
    kinds: frozenset[str] | None = None
    least_weight: float = 0.0
    person: str | None = None
    unfolded: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scene:
    """What is on show. `links` (m, 2): rows of `nodes`; `hidden` (n,): neighbours of a node not shown (faces and voices aside)."""

    nodes: tuple[SceneNode, ...]
    links: NDArray[np.int32]
    pull: NDArray[np.float32]
    kinds: NDArray[np.int8]
    hidden: NDArray[np.int32]
    row_of: dict[str, int]
    total: int = 0


NOTHING = Whole((), np.zeros((0, 2), np.int32), np.zeros(0, np.float32), np.zeros(0, np.int8), (), {})


def whole(view: GraphView, people: Sequence[Person]) -> Whole:
    """Return the graph with a node for each person, sentences linked to people, doubled links joined."""
    nodes: list[SceneNode] = []
    names = {p.id: p.shown for p in people}
    used = {n.person for n in view.nodes if n.person}
    for p in people:
        if p.ignored or p.id not in used:
            continue
        at = p.first_seen
        weight = max(1.0, (p.screen_time + p.speech_time) / 1e7)
        source, start = at if at else (None, None)
        nodes.append(SceneNode(p.id, "person", p.shown, p.shown, weight, source, start, start, p.id, (p.id,), p.portrait))
    known = {n.id for n in nodes}
    owner: dict[str, str] = {}
    for n in view.nodes:
        if n.type in ("face", "voice") and n.person:
            if n.person not in known:
                continue
            owner[n.id] = n.person
        nodes.append(SceneNode(n.id, n.type, n.label, n.content, n.weight, n.source, n.start, n.end, n.person, n.people, n.picture, n.clip))
    row_of = {n.id: row for row, n in enumerate(nodes)}
    joined: dict[tuple[int, int], tuple[float, int]] = {}
    for edge in view.edges:
        same = edge.kind == "equivalence"
        kind = EDGE_SAME if same else EDGE_PLAIN if edge.kind == "mentions" else EDGE_TYPED
        ends = (edge.a, edge.b) if same else (owner.get(edge.a, edge.a), owner.get(edge.b, edge.b))
        _join(joined, row_of, ends, edge.weight, kind)
    for node, person in owner.items():
        _join(joined, row_of, (person, node), 1.0, EDGE_SAME)
    links = np.array(list(joined), dtype=np.int32).reshape(-1, 2)
    pull = np.array([w for w, _ in joined.values()], dtype=np.float32)
    kinds = np.array([k for _, k in joined.values()], dtype=np.int8)
    near: list[list[int]] = [[] for _ in nodes]
    for a, b in links.tolist():
        near[a].append(b)
        near[b].append(a)
    return Whole(tuple(nodes), links, pull, kinds, tuple(tuple(n) for n in near), row_of, view.version, names)


def _join(
    joined: dict[tuple[int, int], tuple[float, int]], row_of: dict[str, int], ends: tuple[str, str], weight: float, kind: int
) -> None:
    a, b = row_of.get(ends[0]), row_of.get(ends[1])
    if a is None or b is None or a == b:
        return
    key = (a, b) if a < b else (b, a)
    before = joined.get(key)
    joined[key] = (weight + before[0], max(kind, before[1])) if before else (weight, kind)


def scene(graph: Whole, wish: Wish) -> Scene:
    """Return what a wish shows of a graph. Stays in the whole's order, so an equal wish gives an equal scene."""
    n = len(graph.nodes)
    shown = np.zeros(n, dtype=bool)
    kinds = np.array([node.kind for node in graph.nodes], dtype=object)
    parts = (kinds == "face") | (kinds == "voice")
    if wish.everything or n - int(parts.sum()) <= ALL_AT_ONCE:
        shown[:] = True
        # a face or voice without a person (a foreign graph) is a node of its own
        shown[parts & np.array([node.person is not None for node in graph.nodes], dtype=bool)] = False
    else:
        _opening(graph, shown)
    for id_ in wish.unfolded:
        row = graph.row_of.get(id_)
        if row is not None:
            shown[row] = True
            shown[list(graph.near[row])] = True
    if wish.person and (row := graph.row_of.get(wish.person)) is not None:
        about = np.zeros(n, dtype=bool)
        about[row] = True
        about[list(graph.near[row])] = True
        shown = about & (shown | ~parts)
        for other in np.flatnonzero(about):
            shown[[x for x in graph.near[other] if graph.nodes[x].kind in ("person", "object", "place")]] = True
    weights = np.array([node.weight for node in graph.nodes], dtype=np.float32) if n else np.zeros(0, np.float32)
    light = weights < wish.least_weight
    shown &= ~(light & (kinds != "person"))
    if wish.kinds is not None:
        shown &= np.isin(kinds, list(wish.kinds)) if n else shown
    for id_ in wish.closed:
        _close(graph, id_, shown)
    for id_ in wish.extra:
        if (row := graph.row_of.get(id_)) is not None:
            shown[row] = True
            shown[[x for x in graph.near[row] if graph.nodes[x].kind == "person"]] = True
    return _cut(graph, shown)


def _opening(graph: Whole, shown: NDArray[np.bool_]) -> None:
    """Mark people with their strongest memories, and the things and places most spoken of."""
    things: list[tuple[int, int]] = []
    for row, node in enumerate(graph.nodes):
        near = graph.near[row]
        if node.kind == "person":
            shown[row] = True
            texts = [x for x in near if graph.nodes[x].kind in ("semantic", "episodic")]
            texts.sort(key=lambda x: (graph.nodes[x].kind != "semantic", -graph.nodes[x].weight, -len(graph.near[x]), x))
            shown[texts[:STRONGEST]] = True
        elif node.kind not in ("episodic", "semantic", "face", "voice"):
            things.append((-len(near), row))
        elif node.kind == "semantic" and not near:
            shown[row] = True
    for _, row in sorted(things)[:12]:
        shown[row] = True
        texts = [x for x in graph.near[row] if graph.nodes[x].kind in ("semantic", "episodic")]
        if texts and not shown[texts].any():
            texts.sort(key=lambda x: (-graph.nodes[x].weight, x))
            shown[texts[:2]] = True


def _close(graph: Whole, id_: str, shown: NDArray[np.bool_]) -> None:
    """Hide the neighbours of a node that hang on it alone."""
    row = graph.row_of.get(id_)
    if row is None:
        return
    for x in graph.near[row]:
        if graph.nodes[x].kind == "person":
            continue
        if sum(1 for y in graph.near[x] if shown[y]) <= 1 or graph.nodes[x].person == id_:
            shown[x] = False


def _cut(graph: Whole, shown: NDArray[np.bool_]) -> Scene:
    rows = np.flatnonzero(shown)
    place = np.full(len(shown), -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    if len(graph.links):
        links = place[graph.links]
        keep = (links >= 0).all(axis=1)
        links, pull, kinds = links[keep], graph.pull[keep], graph.kinds[keep]
    else:
        links, pull, kinds = graph.links, graph.pull, graph.kinds
    nodes = tuple(graph.nodes[r] for r in rows)
    degree = np.bincount(links.ravel(), minlength=len(rows)) if len(links) else np.zeros(len(rows), dtype=np.int64)
    all_of = np.array([sum(graph.nodes[x].kind not in ("face", "voice") or shown[x] for x in graph.near[r]) for r in rows], dtype=np.int64)
    hidden = (all_of - degree[: len(rows)]).astype(np.int32)
    return Scene(nodes, np.ascontiguousarray(links), pull, kinds, hidden, {node.id: i for i, node in enumerate(nodes)}, len(graph.nodes))


def time_ties(shown: Scene) -> NDArray[np.int32]:
    """Return (m, 2) ties between sentences that follow each other in one clip: for the layout only, never drawn."""
    by_clip: dict[str, list[tuple[int, int]]] = {}
    for row, node in enumerate(shown.nodes):
        if node.kind == "episodic" and node.clip and node.start is not None:
            by_clip.setdefault(node.clip, []).append((node.start, row))
    ties = [(a[1], b[1]) for rows in by_clip.values() for a, b in zip(sorted(rows), sorted(rows)[1:], strict=False)]
    return np.array(ties, dtype=np.int32).reshape(-1, 2)


def found(graph: Whole, text: str, limit: int = 12) -> list[SceneNode]:
    """Return nodes whose label or content holds all the words typed: people first, then beginnings, then weight."""
    words = text.casefold().split()
    if not words:
        return []
    hits: list[tuple[tuple[bool, bool, float], SceneNode]] = []
    for node in graph.nodes:
        if node.kind in ("face", "voice") and node.person:
            continue
        hay = f"{node.label} {node.content}".casefold()
        if all(w in hay for w in words):
            hits.append(((node.kind != "person", not hay.startswith(words[0]), -node.weight), node))
    hits.sort(key=lambda hit: hit[0])
    return [node for _, node in hits[:limit]]


def persons_of(nodes: Iterable[SceneNode]) -> list[str]:
    """Return the ids of the person nodes among these."""
    return [n.id for n in nodes if n.kind == "person"]
