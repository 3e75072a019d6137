"""One search round as the original M3-Agent does it, on the same vectors: unpickle the graph, form characters, scan everything.

Written from `reference/m3-agent.md`; none of its code. The graph is plain Python: nodes with lists of floats, edges in a dictionary.
The pickle is made here, held in memory, and read by nobody else.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats

ENTITIES = 40
SAID = "Equivalence: <face_{0}>, <voice_{1}>"
BEST = 20


def pickled(texts: Sequence[str], vectors: Floats) -> bytes:
    """Return a graph of these sentences as the original keeps it between rounds: each linked to a face and a voice, both ways."""
    nodes: dict[int, dict[str, Any]] = {}
    edges: dict[tuple[int, int], float] = {}
    for n in range(2 * ENTITIES):
        nodes[n] = {"type": "img" if n < ENTITIES else "voice", "embeddings": [], "contents": []}
    said = [SAID.format(n, ENTITIES + n) for n in range(ENTITIES)]
    for place, text in enumerate([*said, *texts[: len(texts) - ENTITIES]]):
        id_ = 2 * ENTITIES + place
        kind = "semantic" if place < ENTITIES or place % 8 == 0 else "episodic"
        nodes[id_] = {"type": kind, "embeddings": [vectors[place].tolist()], "contents": [text], "clip": place // 10}
        for other in (place % ENTITIES, ENTITIES + place % ENTITIES):
            edges[id_, other] = edges[other, id_] = 1.0
    return pickle.dumps({"nodes": nodes, "edges": edges})


def searched(graph: bytes, query: Floats) -> list[tuple[int, float]]:
    """Do one round; return the best nodes and their cosines, best first."""
    loaded = pickle.loads(graph)
    nodes, edges = loaded["nodes"], loaded["edges"]
    characters = _characters(nodes, edges)
    scores: list[tuple[int, float]] = []
    for id_, node in nodes.items():
        if node["type"] not in ("episodic", "semantic") or node["contents"][0].startswith("Equivalence"):
            continue
        best = -1.0
        for row in node["embeddings"]:
            other = np.array(row)
            best = max(best, float(np.dot(query, other) / (np.linalg.norm(query) * np.linalg.norm(other))))
        scores.append((id_, best))
    scores.sort(key=lambda s: s[1], reverse=True)
    found = scores[:BEST]
    for id_, _ in found:  # the tags of what is shown become characters
        characters.get(next((b for a, b in edges if a == id_), -1))
    return found


def _characters(nodes: dict[int, dict[str, Any]], edges: dict[tuple[int, int], float]) -> dict[int, int]:
    """Join faces and voices that a sentence calls equivalent; a voice keeps the one of the most weight."""
    root = {id_: id_ for id_, node in nodes.items() if node["type"] in ("img", "voice")}
    strongest: dict[int, tuple[float, int]] = {}
    for id_, node in nodes.items():
        if node["type"] == "semantic" and node["contents"][0].lower().startswith("equivalence"):
            linked = [b for a, b in edges if a == id_]  # there is no list by node: all edges are looked at
            face, voice = sorted(linked)[:2]
            weight = edges[id_, face]
            if weight > strongest.get(voice, (0.0, -1))[0]:
                strongest[voice] = (weight, face)
    for voice, (_, face) in strongest.items():
        root[voice] = root[face]
    return root


def measured(texts: Sequence[str], vectors: Floats, queries: Floats) -> dict[str, float]:
    """Return the median of rounds, in milliseconds, by the clock and of the processor."""
    graph = pickled(texts, vectors)
    wall, own = [], []
    for query in queries:
        began, busy = time.perf_counter(), time.thread_time()
        searched(graph, query)
        wall.append(1000 * (time.perf_counter() - began))
        own.append(1000 * (time.thread_time() - busy))
    return {"median": round(float(np.median(wall)), 1), "processor": round(float(np.median(own)), 1)}
