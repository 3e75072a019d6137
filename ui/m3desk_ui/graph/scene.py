"""Selects the visible part of a memory's graph: people with their strongest memories first, the rest on demand. Pure: no Qt, no IO."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.ids import source_of
from m3desk_ui.graph import groups
from m3desk_ui.graph.whole import EDGE_PLAIN, EDGE_SAME, EDGE_TYPED, EPISODIC, FACE, KINDS, PERSON, SEMANTIC, VOICE, SceneNode, Whole, whole
from m3desk_ui.memory.order import number

ALL_AT_ONCE = 70
"""A memory with no more nodes than this is shown whole."""
STRONGEST = 7
"""Memories a person opens with."""
CODES = (*KINDS, "clip", "topic")
"""A node's code on show is its kind's place here, as in `style.KINDS`."""
TOLD = 900
"""Memories that people open with, all together: of many people each has fewer."""
STEP = 512
THINGS = 12
"""Things and places shown at first, those most spoken of."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asked to see. `unfolded`, `closed`, `extra`: node ids. `kinds`: None = all. `person`: only what concerns them.

    `source`: only what was memorized from it; `span`: only what is within these microseconds of the source.
    """

    everything: bool = False
    kinds: frozenset[str] | None = None
    least_weight: float = 0.0
    person: str | None = None
    source: str | None = None
    span: tuple[int, int] | None = None
    unfolded: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()

    @property
    def filtered(self) -> bool:
        """Return whether something is left out by a filter."""
        return bool(self.kinds is not None or self.least_weight or self.person or self.source or self.span)


@dataclass(frozen=True, slots=True)
class Scene:
    """What is on show. `links` (m, 2): rows of `nodes`; `hidden` (n,): neighbours of a node not shown (faces and voices aside).

    Groups of clips and topics are the last nodes; `hidden` of a group are the memories in it that are not shown. `codes`, `weights` (n,):
    of the nodes, codes as in CODES. `ties` (t, 2): rows of sentences that follow each other in one clip, for the layout only, never drawn.
    """

    nodes: tuple[SceneNode, ...]
    links: NDArray[np.int32]
    pull: NDArray[np.float32]
    kinds: NDArray[np.int8]
    hidden: NDArray[np.int32]
    row_of: dict[str, int]
    codes: NDArray[np.int8]
    weights: NDArray[np.float32]
    ties: NDArray[np.int32]
    total: int = 0

    def same(self, other: Scene) -> bool:
        """Return whether another scene shows the same."""
        arrays = ((self.links, other.links), (self.pull, other.pull), (self.kinds, other.kinds), (self.hidden, other.hidden))
        return self.nodes == other.nodes and all(np.array_equal(a, b) for a, b in arrays)


def shared_start(one: list[str], other: list[str]) -> int:
    """Return how many ids two lists begin with in common, at least (in steps of `STEP`): in a graph that grows, nearly all of them."""
    for start in range(0, min(len(one), len(other)), STEP):
        if one[start : start + STEP] != other[start : start + STEP]:
            return start
    return min(len(one), len(other))


def scene(graph: Whole, wish: Wish, words: groups.Words = groups.no_words, before: dict[str, int] | None = None) -> Scene:
    """Return what a wish shows of a graph. Stays in the whole's order, so an equal wish gives an equal scene. `words` label the groups.

    `before`: `row_of` of the scene that is on show; what both have in common costs less.
    """
    steps = in_steps(graph, wish, words, before)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Scene = end.value
            return found


def in_steps(
    graph: Whole, wish: Wish, words: groups.Words = groups.no_words, before: dict[str, int] | None = None
) -> Generator[None, None, Scene]:
    """Do what `scene` does, which says more, in steps between which others can have their turn; the graph must stay as it is."""
    kinds = graph.kinds
    there = kinds >= 0
    shown = np.zeros(len(kinds), dtype=bool)
    parts = (kinds == FACE) | (kinds == VOICE)
    flat = wish.everything or len(graph) - int(parts.sum()) <= ALL_AT_ONCE
    if flat:
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
    allowed = there & _allowed(graph, wish)
    shown &= allowed
    yield
    hung = groups.grouped(graph, _orphans(graph, allowed, shown), wish.unfolded, words, flat=flat) if not wish.person else None
    yield
    if hung is not None:
        hung = _without_kinds(hung, wish)
        inside = hung.of >= 0
        shown[inside] |= np.array([*hung.opened, False])[hung.of[inside]]
    for id_ in wish.closed:
        _close(graph, id_, shown)
    for id_ in wish.extra:
        if (row := graph.row_of.get(id_)) is not None:
            shown[row] = True
            shown[[x for x in graph.near[row] if kinds[x] == PERSON]] = True
    return (yield from _cut(graph, shown & there, hung, before or {}))


_ID = attrgetter("id")
_THINGS = tuple(range(KINDS.index("object"), len(KINDS)))


def _allowed(graph: Whole, wish: Wish) -> NDArray[np.bool_]:
    """Return which rows pass the filters; people and things pass those of time and source with what they are linked to."""
    kinds = graph.kinds
    texts = (kinds == EPISODIC) | (kinds == SEMANTIC)
    allowed = (graph.weights >= wish.least_weight) | (kinds == PERSON)
    if wish.source is not None or wish.span is not None:
        inside = np.ones(len(kinds), dtype=bool)
        if wish.source is not None:
            mine = np.array([source_of(name) == wish.source for name in graph.names] + [False])
            inside &= mine[graph.clips]  # −1, no clip, is the last
        if wish.span is not None:
            start, end = wish.span
            inside &= (graph.times[:, 0] >= 0) & (graph.times[:, 0] < end) & (graph.times[:, 1] >= start)
        told = np.zeros(len(kinds), dtype=bool)
        ends = graph.ends[graph.ends[:, 0] >= 0]
        for a, b in ((0, 1), (1, 0)):
            told[ends[(texts & inside)[ends[:, b]], a]] = True
        allowed &= np.where(texts, inside, told)
    if wish.kinds is not None:
        allowed &= np.isin(kinds, [KINDS.index(k) for k in wish.kinds if k in KINDS])
    return np.asarray(allowed)


def _orphans(graph: Whole, allowed: NDArray[np.bool_], shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the sentences that no person, and no object or place on show, is linked to."""
    kinds = graph.kinds
    holds = (kinds == PERSON) | (np.isin(kinds, _THINGS) & shown)
    held = np.zeros(len(kinds), dtype=bool)
    ends = graph.ends[graph.ends[:, 0] >= 0]
    for a, b in ((0, 1), (1, 0)):
        held[ends[holds[ends[:, b]], a]] = True
    return np.asarray(allowed & ~held & ((kinds == EPISODIC) | (kinds == SEMANTIC)))


def _without_kinds(hung: groups.Groups, wish: Wish) -> groups.Groups:
    """Leave out the groups of a kind that the user hides."""
    hidden = {kind for kind in ("clip", "topic") if wish.kinds is not None and kind not in wish.kinds}
    if not hidden or not hung.nodes:
        return hung
    keep = [i for i, node in enumerate(hung.nodes) if node.kind not in hidden]
    now = np.full(len(hung.nodes) + 1, -1, np.int32)
    now[keep] = np.arange(len(keep))
    return groups.Groups(
        [hung.nodes[i] for i in keep], now[hung.of], [hung.opened[i] for i in keep],
        [(int(now[a]), int(now[b])) for a, b in hung.spine if now[a] >= 0 and now[b] >= 0],
        [(int(now[g]), row, count) for g, row, count in hung.people if now[g] >= 0],
    )  # fmt: skip


def _opening(graph: Whole, shown: NDArray[np.bool_]) -> None:
    """Mark people with their strongest memories, and the objects and places that are mentioned most."""
    kinds = graph.kinds
    people = np.flatnonzero(kinds == PERSON).tolist()
    each = max(1, min(STRONGEST, TOLD // max(1, len(people))))
    for row in people:
        shown[row] = True
        shown[graph.told_of(row, STRONGEST)[:each]] = True
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


def _rows(nodes: Iterable[SceneNode], before: dict[str, int]) -> dict[str, int]:
    """Return the row of each node by its id."""
    new, old = list(map(_ID, nodes)), list(before)
    same = shared_start(old, new)
    found = before.copy() if same else {}
    for id_ in old[same:] if same else ():
        del found[id_]
    found.update(zip(new[same:], range(same, len(new)), strict=True))
    return found


def _cut(graph: Whole, shown: NDArray[np.bool_], hung: groups.Groups | None, before: dict[str, int]) -> Generator[None, None, Scene]:
    """Return the marked nodes and the groups, the links between them, and the number of hidden neighbours of each. In steps."""
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
    all_nodes = graph.nodes
    nodes: tuple[SceneNode, ...] = tuple(map(all_nodes.__getitem__, rows.tolist()))  # type: ignore[arg-type]
    codes, weights = kinds, graph.weights[rows]
    if hung is not None and hung.nodes:
        more, strengths, held = _group_links(hung, place, rows)
        links = np.concatenate([links, more])
        pull = np.concatenate([pull, strengths])
        ties = np.concatenate([ties, np.full(len(more), EDGE_PLAIN, ties.dtype)])
        hidden = np.concatenate([hidden, held])
        nodes += tuple(hung.nodes)
        codes = np.concatenate([codes, np.array([CODES.index(n.kind) for n in hung.nodes], np.int8)])
        weights = np.concatenate([weights, np.array([n.weight for n in hung.nodes], np.float32)])
    yield
    row_of = _rows(nodes, before)
    return Scene(nodes, links, pull, ties, hidden.astype(np.int32), row_of, codes, weights, _time_ties(graph, rows), len(graph))


def _group_links(
    hung: groups.Groups, place: NDArray[np.int32], rows: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
    """Return the links of groups to each other, to people and to the members on show, their strengths, and the members not shown."""
    first = len(rows)
    ends = [(first + a, first + b, 0.6) for a, b in hung.spine]
    ends += [(first + g, int(place[row]), min(1.0, 0.2 + 0.1 * count)) for g, row, count in hung.people if place[row] >= 0]
    member = np.flatnonzero(hung.of[rows] >= 0)
    theirs = hung.of[rows[member]]
    links = np.array([e[:2] for e in ends], np.int32).reshape(-1, 2)
    links = np.concatenate([links, np.stack([first + theirs, member], axis=1).astype(np.int32)])
    pull = np.concatenate([np.array([e[2] for e in ends], np.float32), np.ones(len(member), np.float32)])
    every = np.bincount(hung.of[hung.of >= 0], minlength=len(hung.nodes))
    held = every - np.bincount(theirs, minlength=len(hung.nodes))
    return links, pull, held.astype(np.int64)


def _time_ties(graph: Whole, rows: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return (t, 2) ties between events that follow each other in one clip."""
    told = np.flatnonzero((graph.kinds[rows] == EPISODIC) & (graph.clips[rows] >= 0) & (graph.times[rows, 0] >= 0))
    clips = graph.clips[rows[told]]
    order = np.lexsort((told, graph.times[rows[told], 0], clips))
    told, clips = told[order], clips[order]
    follows = clips[1:] == clips[:-1]
    return np.stack([told[:-1][follows], told[1:][follows]], axis=1).astype(np.int32)


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


def path(graph: Whole, start: str, end: str) -> list[str]:
    """Return the ids of a shortest path along links between two nodes, ends included; empty where there is none. Faces and voices aside."""
    first, last = graph.row_of.get(start), graph.row_of.get(end)
    if first is None or last is None:
        return []
    came: dict[int, int] = {first: first}
    waiting = deque([first])
    while waiting and last not in came:
        row = waiting.popleft()
        for other in sorted(graph.near[row]):
            if other not in came and (other == last or graph.kinds[other] not in (FACE, VOICE)):
                came[other] = row
                waiting.append(other)
    if last not in came:
        return []
    way = [last]
    while way[-1] != first:
        way.append(came[way[-1]])
    return [graph.node(row).id for row in reversed(way)]


def persons_of(nodes: Iterable[SceneNode]) -> list[str]:
    """Return the ids of the person nodes among these."""
    return [n.id for n in nodes if n.kind == "person"]


__all__ = ["EDGE_PLAIN", "EDGE_SAME", "EDGE_TYPED", "Scene", "SceneNode", "Whole", "Wish", "found",
           "path", "persons_of", "scene", "whole"]  # fmt: skip
