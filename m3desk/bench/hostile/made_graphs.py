"""Creates small pickled graphs in the original M3-Agent's format: two people, one of them split over a face and two voices."""

from __future__ import annotations

import base64
import pickle
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////"
    "wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z"
)
PICTURE = base64.b64encode(JPEG).decode()


class VideoGraph:
    class Node:
        pass


VideoGraph.__module__ = VideoGraph.Node.__module__ = "mmagent.videograph"
VideoGraph.__qualname__, VideoGraph.Node.__qualname__ = "VideoGraph", "VideoGraph.Node"


@contextmanager
def importable() -> Iterator[None]:
    """Let `pickle` find the classes under the original's name while a graph is written."""
    package, module = types.ModuleType("mmagent"), types.ModuleType("mmagent.videograph")
    module.VideoGraph = VideoGraph  # type: ignore[attr-defined]
    names = {"mmagent": package, "mmagent.videograph": module}
    sys.modules.update(names)
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]


def node(id_: int, type_: str, contents: Iterable[str], clip: int | None = None, embeddings: Any = ()) -> Any:
    made: Any = VideoGraph.Node()
    made.__dict__.update(id=id_, type=type_, embeddings=embeddings, metadata={"contents": list(contents)})
    if clip is not None:
        made.metadata["timestamp"] = clip
    return made


def bare(rows: Iterable[Any], edges: dict[tuple[int, int], float], characters: dict[str, list[str]] | None = None) -> Any:
    """Return a graph of nodes with just these edges."""
    made: Any = VideoGraph()
    nodes = {n.id: n for n in rows}
    by_clip: dict[int, list[int]] = {}
    for n in nodes.values():
        if (clip := n.metadata.get("timestamp")) is not None:
            by_clip.setdefault(clip, []).append(n.id)
    made.__dict__.update(
        nodes=nodes, edges=edges, text_nodes=[i for ids in by_clip.values() for i in ids], text_nodes_by_clip=by_clip,
        event_sequence_by_clip={}, max_img_embeddings=10, img_matching_threshold=0.3, character_mappings=characters or {}, next_node_id=99,
    )  # fmt: skip
    return made


def graph(rows: Iterable[Any], edges: dict[tuple[int, int], float] | None = None, characters: dict[str, list[str]] | None = None) -> Any:
    """Return a graph of nodes; its edges are made of the texts' tags, both ways, but for those given."""
    nodes = list(rows)
    both: dict[tuple[int, int], float] = {}
    for n in nodes:
        if n.metadata.get("timestamp") is None:
            continue
        for other in nodes:
            tag = {"img": "face", "voice": "voice"}.get(other.type)
            if tag and f"<{tag}_{other.id}>" in n.metadata["contents"][0]:
                both[n.id, other.id] = both[other.id, n.id] = 1.0
    return bare(nodes, both | (edges or {}), characters)


def kitchen(vectors: Any = None) -> Any:
    """Two people in three clips: face_1 with voice_0 and voice_5 (one person to the original), face_2 alone."""
    real = np.random.default_rng(7).normal(size=(2, 8)).astype(np.float32)
    rows = vectors if vectors is not None else [real[0].tolist(), real[1].tolist()]
    return graph(
        [
            node(0, "voice", ["Hello."], embeddings=[[0.0] * 16]),
            node(1, "img", [PICTURE, "no picture"], embeddings=rows),
            node(2, "img", [PICTURE], embeddings=[[0.25, -0.25, 0.25, 0.25]]),
            node(3, "episodic", ["<face_1> hands <face_2> a cup."], 0, [real[0].tolist()]),
            node(4, "semantic", ["Equivalence: <face_1>, <voice_0>"], 0),
            node(5, "voice", ["Thanks."]),
            node(6, "episodic", ["<voice_5> thanks Ann, and <voice_77> laughs."], 1),
            node(7, "semantic", ["Equivalence: <voice_0>, <voice_5>"], 1),
            node(8, "semantic", ["<face_1> is kind."], 2),
            node(9, "episodic", ["客厅里有 <face_2>。"], 2),
        ],
        edges={(8, 1): 3.0, (1, 8): 3.0},
    )


def pickled(thing: Any, protocol: int = 4) -> bytes:
    with importable():
        return pickle.dumps(thing, protocol)
