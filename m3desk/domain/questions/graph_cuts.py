"""How to split a person that was wrongly merged by votes: votes for one person against sentences that name two people. Pure.

For persons whose nodes were joined by votes and not by similarity: those of an imported graph, which has no real embeddings, and voices
that were linked wrongly. A sentence that names two nodes ("<face_2> hands <face_3> a cup") is evidence that they are two people; the number
of such clips is weighed against the votes. Nodes are joined greedily, the best supported pair first, while the evidence for one person is
larger (greedy additive edge contraction, Keuper et al. 2015); the resulting groups are the proposed people. If no sentence is evidence for
two people, the edges with the highest betweenness are cut (Girvan and Newman 2002).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from m3desk.domain.identities import Equivalence
from m3desk.domain.ids import numbered
from m3desk.domain.log import Log
from m3desk.domain.sentences import State

Pair = tuple[str, str]

WORD = 1.0
"""Weight of a clip whose sentences name two nodes, in votes: that of a clip that votes for one person. Measured on the two real graphs with
`m3desk bench fused` (chosen and measured on the same two): corrections that separate living_room_06, with merges: 9 at 0.5, 4 at 1, 2."""

EQUIVALENCE = "equivalence: "
"""Prefix of sentences that name nodes because they are one person."""


LOOKS = 1_500_000
"""Steps (nodes × edges, for each edge that is cut) after which a person without evidence for two people is not split: the largest real
graph takes 0.4 million at most, and a million take a second."""

DERIVED = "m3-agent characters"
"""`by` of votes that only repeat how another tool grouped its nodes (`interop.m3agent`): no evidence for any pair."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A proposal to split `part` off from `rest`, both node ids in order of numbers.

    `votes`, `against`: weights across the cut of the evidence for one person and for two. `score`: probability that it is right, 0–1.
    """

    part: tuple[str, ...]
    rest: tuple[str, ...]
    votes: float
    against: float
    score: float


def cuts(votes: Mapping[Pair, float], nodes: Iterable[str], against: Mapping[Pair, float] | None = None) -> list[Cut]:
    """Return ways to split a person with `nodes` in two, the likeliest first; [] if nothing suggests one.

    votes: pair of nodes → summed weight of votes for one person. against: pair → evidence for two people (`two_people_evidence`). Pairs in
    any order; other persons' nodes are left out. Cuts may contradict each other: apply one, then compute again.
    """
    mine = sorted(set(nodes), key=lambda n: (numbered(n), n))
    known = set(mine)
    pro, con = _between(votes, known), _between(against or {}, known)
    groups = _contracted(mine, {p: pro.get(p, 0.0) - con.get(p, 0.0) for p in sorted(pro.keys() | con.keys())})
    found = [_cut(g, mine, pro, con) for g in groups if 2 * len(g) <= len(mine)] if len(groups) > 1 else []
    if not found and len(mine) > 2 and (half := _divided(mine, pro)):
        found = [_cut(half, mine, pro, con)]
    unique = {c.part: c for c in found}
    return sorted(unique.values(), key=lambda c: (-c.score * len(c.part) ** 0.5, numbered(c.part[0])))


def one_person_evidence(equivalences: Iterable[Equivalence]) -> dict[Pair, float]:
    """Return the pairs of nodes that votes join now → their weight, without votes that only repeat another tool's groups."""
    weights = {(e.a, e.b): sum(w for _, by, w in e.votes if by != DERIVED) for e in equivalences if e.accepted}
    return {pair: w for pair, w in weights.items() if w > 0}


def two_people_evidence(log: Log, state: State) -> dict[Pair, float]:
    """Return pairs of nodes that sentences name as two people → weight (`WORD` for each clip)."""
    clips: dict[Pair, set[str]] = defaultdict(set)
    for told in log.sentences.values():
        now = state.nodes.get(told.id)
        if now is None or now.deleted or told.text.lower().startswith(EQUIVALENCE):
            continue
        named = [{h.node for o in s.observations if (h := state.who.held.get(o)) and h.node} for s in now.spans]
        together = {p for nodes in named for p in _pairs(nodes)}
        for pair in _pairs({n for nodes in named for n in nodes}) - together:  # a span's observations are one person's
            clips[pair].add(told.clip or "")
    return {pair: WORD * len(found) for pair, found in clips.items()}


def _pairs(nodes: set[str]) -> set[Pair]:
    ordered = sorted(nodes, key=numbered)
    return {(a, b) for i, a in enumerate(ordered) for b in ordered[i + 1 :]}


def _between(weights: Mapping[Pair, float], nodes: set[str]) -> dict[Pair, float]:
    """Return the weights between these nodes, each pair once in order of numbers."""
    found: dict[Pair, float] = defaultdict(float)
    for (a, b), w in weights.items():
        if a in nodes and b in nodes and a != b:
            found[min(a, b, key=numbered), max(a, b, key=numbered)] += w
    return dict(found)


def _contracted(nodes: Sequence[str], net: Mapping[Pair, float]) -> list[list[str]]:
    """Join nodes while the evidence for one person is larger, the strongest first; return the groups in order of their first node."""
    group = {n: i for i, n in enumerate(nodes)}
    members = {i: [n] for i, n in enumerate(nodes)}
    weight: dict[int, dict[int, float]] = {i: {} for i in members}
    for (a, b), w in net.items():
        weight[group[a]][group[b]] = weight[group[b]][group[a]] = w
    queue = [(-round(w, 6), i, j) for i, row in weight.items() for j, w in row.items() if i < j and round(w, 6) > 0]
    heapify(queue)
    while queue:
        w, keep, gone = heappop(queue)
        if gone not in weight.get(keep, {}) or -round(weight[keep][gone], 6) != w:
            continue  # joined or changed since; what it became is in the queue too
        members[keep] += members.pop(gone)
        for other, w in weight.pop(gone).items():
            del weight[other][gone]
            if other != keep:
                weight[keep][other] = weight[other][keep] = now = weight[keep].get(other, 0.0) + w
                if round(now, 6) > 0:
                    heappush(queue, (-round(now, 6), min(keep, other), max(keep, other)))
    return [sorted(members[i], key=numbered) for i in sorted(members)]


def _cut(part: Sequence[str], nodes: Sequence[str], pro: Mapping[Pair, float], con: Mapping[Pair, float]) -> Cut:
    inside = set(part)
    votes = round(sum(w for (a, b), w in pro.items() if (a in inside) != (b in inside)), 6)
    against = round(sum(w for (a, b), w in con.items() if (a in inside) != (b in inside)), 6)
    score = (against + 0.5) / (against + votes + 1.0)  # prior of half a vote for each side: little evidence gives little certainty
    return Cut(tuple(part), tuple(n for n in nodes if n not in inside), votes, against, round(score, 6))


# ---------------------------------------------------------------- without evidence for two people


def _divided(nodes: Sequence[str], pro: Mapping[Pair, float]) -> list[str] | None:
    """Return the smaller side after cutting the edges with the highest betweenness; None if that only removes a single node."""
    edges = {p for p, w in pro.items() if w > 0}
    looks = 0
    while edges:
        looks += len(nodes) * len(edges)
        if looks > LOOKS:
            return None
        side = min(_components(nodes, edges), key=lambda c: (len(c), numbered(c[0])))
        if len(side) < len(nodes):
            return side if len(side) > 1 else None
        busy = _betweenness(nodes, edges)
        edges.discard(max(edges, key=lambda e: (round(busy[e] / pro[e], 6), -numbered(e[0]), -numbered(e[1]))))
    return None


def _components(nodes: Sequence[str], edges: Iterable[Pair]) -> list[list[str]]:
    near: dict[str, list[str]] = defaultdict(list)
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    seen: set[str] = set()
    found = []
    for n in nodes:
        if n not in seen:
            reached, todo = {n}, [n]
            while todo:
                todo += (fresh := [m for m in near[todo.pop()] if m not in reached])
                reached.update(fresh)
            seen |= reached
            found.append(sorted(reached, key=numbered))
    return found


def _betweenness(nodes: Sequence[str], edges: Iterable[Pair]) -> dict[Pair, float]:
    """Return how many shortest paths pass each edge (Brandes 2001)."""
    near: dict[str, list[str]] = defaultdict(list)
    for a, b in sorted(edges):
        near[a].append(b)
        near[b].append(a)
    passed: dict[Pair, float] = defaultdict(float)
    for start in nodes:
        order, before, ways, depth = [], defaultdict(list), defaultdict(float, {start: 1.0}), {start: 0}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            order.append(here)
            for n in near[here]:
                if n not in depth:
                    depth[n] = depth[here] + 1
                    queue.append(n)
                if depth[n] == depth[here] + 1:
                    ways[n] += ways[here]
                    before[n].append(here)
        share: dict[str, float] = defaultdict(float)
        for n in reversed(order):
            for b in before[n]:
                part = ways[b] / ways[n] * (1.0 + share[n])
                share[b] += part
                passed[min(n, b, key=numbered), max(n, b, key=numbered)] += part
    return passed
