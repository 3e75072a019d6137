"""The memory graph as it is shown: nodes and undirected weighted edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

NodeType = Literal["face", "voice", "episodic", "semantic", "object", "place"]


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node, for the graph and the inspector. `label`: short text to draw. Times: microseconds of `source`; None where it has none.

    `person`: for face and voice nodes the person they are part of. `picture`: media id of a face's best crop.
    """

    id: str
    type: NodeType
    label: str
    content: str
    weight: float
    clip: str | None
    source: str | None
    start: int | None
    end: int | None
    person: str | None = None
    people: tuple[str, ...] = ()
    picture: str | None = None
    extra: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """`kind`: "mentions" (text–person/entity), "equivalence" (face–voice), or typed: before, causes, contradicts, derived_from."""

    a: str
    b: str
    weight: float
    kind: str


@dataclass(frozen=True, slots=True)
class GraphSnapshot:
    """A snapshot of the whole graph. `version` changes with every commit."""

    nodes: tuple[NodeRow, ...]
    edges: tuple[EdgeRow, ...]
    version: int


PLACES = frozenset({
    "bathroom", "beach", "bedroom", "bridge", "church", "classroom", "corridor", "court", "field", "forest", "garage", "garden", "hall",
    "hallway",
    "home", "hospital", "house", "kitchen", "library", "living room", "market", "office", "park", "platform", "playground", "restaurant",
    "river",
    "road", "room", "school", "sea", "shop", "stage", "station", "street", "studio", "supermarket",
    "theatre", "厨房", "客厅", "卧室", "浴室",
    "办公室", "教室", "街道", "公园", "花园", "学校", "医院", "商店", "超市", "餐厅", "车站", "图书馆", "海滩", "森林", "家",
})  # fmt: skip
"""Labels of entities that are places; every other label is an object."""
