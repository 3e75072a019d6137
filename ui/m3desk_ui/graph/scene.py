"""Selects the visible part of a memory's graph: people with their strongest memories first, the rest on demand. Pure: no Qt, no IO."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from m3desk_ui.graph.whole import EDGE_PLAIN, EDGE_SAME, EDGE_TYPED, FACE, KINDS, PERSON, SEMANTIC, VOICE, SceneNode, Whole, whole
from m3desk_ui.memory.order import number

ALL_AT_ONCE = 70
"""A memory with no more nodes than this is shown whole."""
STRONGEST = 7
"""Memories a person opens with."""
THINGS = 12
"""Things and places shown at first, those most spoken of."""


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

    def same(self, other: Scene) -> bool:
        """Return whether another scene shows the same."""
        arrays = ((self.links, other.links), (self.pull, other.pull), (self.kinds, other.kinds), (self.hidden, other.hidden))
        return self.nodes == other.nodes and all(np.array_equal(a, b) for a, b in arrays)


def scene(graph: Whole, wish: Wish) -> Scene:
    """Return what a wish shows of a graph. Stays in the whole's order, so an equal wish gives an equal scene."""
    kinds = graph.kinds
    there = kinds >= 0
    shown = np.zeros(len(kinds), dtype=bool)
    parts = (kinds == FACE) | (kinds == VOICE)
    if wish.everything or len(graph) - int(parts.sum()) <= ALL_AT_ONCE:
        shown = there.copy()
        # a face or voice without a person (a foreign graph) is a node of its own
        shown[[row for row in np.flatnonzero(parts).tolist() if graph.node(row).person is not None]] = False
    else:
        _opening(graph, shown)
    for id_ in wish.unfolded:
        row = graph.row_of.get(id_)
        if row is not None:
            shown[row] = True
            shown[[*graph.near[row]]] = True
    if wish.person and (row := graph.row_of.get(wish.person)) is not None:
        about = np.zeros_like(shown)
        about[[row, *graph.near[row]]] = True
        shown = about & (shown | ~parts)
        for other in np.flatnonzero(about):
            shown[[x for x in graph.near[other] if kinds[x] in (PERSON, *_THINGS)]] = True
    shown &= (graph.weights >= wish.least_weight) | (kinds == PERSON)
    if wish.kinds is not None:
        shown &= np.isin(kinds, [KINDS.index(k) for k in wish.kinds if k in KINDS])
    for id_ in wish.closed:
        _close(graph, id_, shown)
    for id_ in wish.extra:
        if (row := graph.row_of.get(id_)) is not None:
            shown[row] = True
            shown[[x for x in graph.near[row] if kinds[x] == PERSON]] = True
    return _cut(graph, shown & there)


_THINGS = tuple(range(KINDS.index("object"), len(KINDS)))


def _opening(graph: Whole, shown: NDArray[np.bool_]) -> None:
    """Mark people with their strongest memories, and the objects and places that are mentioned most."""
    kinds = graph.kinds
    for row in np.flatnonzero(kinds == PERSON).tolist():
        shown[row] = True
        shown[graph.told_of(row, STRONGEST)] = True
    shown[(kinds == SEMANTIC) & (graph.degree == 0)] = True
    things = np.flatnonzero(np.isin(kinds, _THINGS)).tolist()
    for row in sorted(things, key=lambda r: (-len(graph.near[r]), number(graph.node(r).id)))[:THINGS]:
        shown[row] = True
        texts = graph.told_of(row, STRONGEST)
        if texts and not shown[texts].any():
            shown[texts[:2]] = True


def _close(graph: Whole, id_: str, shown: NDArray[np.bool_]) -> None:
    """Hide the neighbours of a node that have no other visible neighbour."""
    row = graph.row_of.get(id_)
    if row is None:
        return
    for x in graph.near[row]:
        if graph.kinds[x] == PERSON:
            continue
        if sum(1 for y in graph.near[x] if shown[y]) <= 1 or graph.node(x).person == id_:
            shown[x] = False


def _cut(graph: Whole, shown: NDArray[np.bool_]) -> Scene:
    """Return the marked nodes, the links between them, and the number of hidden neighbours of each."""
    rows = np.flatnonzero(shown)
    place = np.full(len(shown) + 1, -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    links = place[graph.ends]  # −1, where no link is, leads to the last place
    keep = np.flatnonzero((links[:, 0] >= 0) & (links[:, 1] >= 0))  # a reduction along so short an axis takes a hundred times as long
    links, pull, ties = links[keep], graph.pull[keep], graph.ties[keep]
    kinds = graph.kinds[rows]
    bodies = (kinds == FACE) | (kinds == VOICE)  # those that are not on show are no hidden neighbours
    hidden = graph.apart_from_bodies[rows].astype(np.int64)
    for a, b in ((0, 1), (1, 0)):
        hidden -= np.bincount(links[:, a][~bodies[links[:, b]]], minlength=len(rows))
    nodes = tuple(graph.node(row) for row in rows.tolist())
    return Scene(nodes, links, pull, ties, hidden.astype(np.int32), {node.id: i for i, node in enumerate(nodes)}, len(graph))


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
    for node in graph:
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


__all__ = ["EDGE_PLAIN", "EDGE_SAME", "EDGE_TYPED", "Scene", "SceneNode", "Whole", "Wish", "found",
           "persons_of", "scene", "time_ties", "whole"]  # fmt: skip
