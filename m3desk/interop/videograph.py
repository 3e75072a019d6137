"""The child process that reads an M3-Agent graph: what is wanted of a `VideoGraph`, checked, and sent to the parent as plain data.

It reads the file from standard input under limits on memory, processor, files and processes, and writes to standard output: the length
of a JSON document (8 bytes, big-endian), the document, then the embeddings as float32 rows (little-endian). Standard library only.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from m3desk.interop.inert import NODES, PARTS, WHOLES, Numbers, Refused, Thing, fits
from m3desk.interop.unpickle import KEPT, MEBIBYTE, Machine


class Writer:
    """What is sent to the parent, counted, so that a text that is referred to a million times is no bomb either."""

    def __init__(self) -> None:
        self.rows: list[array[float]] = []
        self.sent = 0

    def count(self, size: int) -> None:
        self.sent += size
        if self.sent > KEPT:
            raise Refused(f"it wants more than {KEPT // MEBIBYTE} MiB of memory")

    def texts(self, value: Any) -> list[str]:
        """Return texts; a single one is a list of one."""
        values = [value] if type(value) is str else value
        if type(values) is not list or any(type(v) is not str for v in values):
            raise Refused("a node's contents in it are not texts")
        self.count(sum(len(v) + 8 for v in values))
        return list(values)

    def embeddings(self, value: Any) -> list[int]:
        """Return [rows, numbers a row, 1 where they are kept]: placeholders, which say nothing, are counted and left out."""
        found = [_row(v) for v in (value if type(value) is list else [])]
        if value and found and any(r is None for r in found):
            found = [_row(value)]  # one vector, not a list of them
        vectors = [r for r in found if r]
        if type(value) is Numbers and len(value.shape) == 2 and value.shape[1]:
            width = value.shape[1]
            vectors = [value.values[i : i + width] for i in range(0, len(value.values), width)]
        elif type(value) is Numbers:
            vectors = [value.values]
        if not vectors:
            return [0, 0, 0]
        width = len(vectors[0])
        if any(len(v) != width for v in vectors):
            raise Refused("a node's embeddings in it differ in length")
        if not all(told(v) for v in vectors):
            return [len(vectors), width, 0]
        self.count(4 * width * len(vectors))
        self.rows += vectors
        return [len(vectors), width, 1]


def _row(value: Any) -> array[float] | None:
    """Return a list of numbers as one row; None where it is not one."""
    if type(value) is Numbers:
        return value.values if len(value.shape) < 2 else None
    if type(value) is not list:
        return None
    row = array("f")
    for v in value:
        if type(v) is Numbers and not v.shape:
            row.extend(v.values)
        elif type(v) in (int, float):
            row.append(fits(float(v)))
        else:
            return None
    return row


def told(row: Sequence[float]) -> bool:
    """Say whether an embedding says anything: in a placeholder all numbers are 0, or of one size (±1/√n)."""
    return len({abs(v) for v in set(row)}) > 1


def _integer(value: Any, most: int = 1 << 40) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise Refused("an id or a clip's number in it is not a whole number from 0")
    return value


def graph(root: Any, writer: Writer) -> dict[str, Any]:
    """Return a VideoGraph as plain lists. Raises Refused where it is none.

    nodes: [id, type, clip | None, [texts], [rows, numbers a row, kept]] in order of ids; edges: [a, b, weight] as they stand, both
    directions; clips: the clips it lists, in its order, with their texts' ids; characters: its own grouping, name → tags.
    """
    if type(root) is not Thing or root.name not in WHOLES:
        raise Refused("it holds no memory graph")
    nodes = root.state.get("nodes")
    if type(nodes) is not dict or len(nodes) > NODES:
        raise Refused("its nodes are no dict")
    found = []
    for id_, node in sorted(((_integer(i), n) for i, n in nodes.items()), key=lambda pair: pair[0]):
        if type(node) is not Thing or node.name not in PARTS or type(node.state.get("type")) is not str:
            raise Refused(f"node {id_} of it is no node")
        metadata = node.state.get("metadata")
        metadata = metadata if type(metadata) is dict else {}
        clip = metadata.get("timestamp")
        found.append([
            id_, node.state["type"][:40], None if clip is None else _integer(clip, 10_000_000),
            writer.texts(metadata.get("contents") or []), writer.embeddings(node.state.get("embeddings")),
        ])  # fmt: skip
        writer.count(80)
    return {
        "nodes": found, "edges": list(_edges(root.state.get("edges"), writer)), "clips": list(_clips(root.state, writer)),
        "characters": _characters(root.state.get("character_mappings"), writer),
    }  # fmt: skip


def _edges(edges: Any, writer: Writer) -> Iterator[list[Any]]:
    for ends, weight in (edges if type(edges) is dict else {}).items():
        if type(ends) is not tuple or len(ends) != 2 or type(weight) not in (int, float):
            raise Refused("an edge in it is none")
        writer.count(40)
        yield [_integer(ends[0]), _integer(ends[1]), fits(float(weight))]


def _clips(state: dict[Any, Any], writer: Writer) -> Iterator[list[Any]]:
    by_clip = state.get("text_nodes_by_clip")
    for clip, ids in (by_clip if type(by_clip) is dict else {}).items():
        values = _numbers(ids)
        writer.count(16 * len(values) + 40)
        yield [_integer(clip, 10_000_000), values]


def _numbers(value: Any) -> list[int]:
    if type(value) is not list:
        raise Refused("a clip's list of texts in it is none")
    return [_integer(v) for v in value]


def _characters(mappings: Any, writer: Writer) -> dict[str, list[str]]:
    found = {}
    for name, tags in (mappings if type(mappings) is dict else {}).items():
        if type(name) is str and type(tags) is list:
            found[name[:80]] = [t[:80] for t in tags if type(t) is str]
            writer.count(90 * (len(tags) + 1))
    return found


# ---------------------------------------------------------------- the child process


def limit(memory: int, cpu: int) -> None:
    """Give this process an end: bytes of memory, seconds of CPU, no file to write, no other process. The parent watches it besides."""
    try:
        import resource
    except ImportError:
        return
    for name, value in (("RLIMIT_AS", memory), ("RLIMIT_CPU", cpu), ("RLIMIT_FSIZE", 0), ("RLIMIT_NPROC", 0), ("RLIMIT_CORE", 0)):
        kind = getattr(resource, name, None)
        if kind is not None:
            try:
                resource.setrlimit(kind, (value, value))
            except (ValueError, OSError):
                continue


def main(arguments: Sequence[str]) -> int:
    """Read standard input under the limits given (bytes, seconds); write the graph, or {"refused": why}."""
    limit(int(arguments[0]), int(arguments[1]))
    writer = Writer()
    try:
        document = graph(Machine(sys.stdin.buffer).load(), writer)
    except Refused as refused:
        document, writer.rows = {"refused": str(refused)}, []
    except (MemoryError, RecursionError):
        document, writer.rows = {"refused": "it wants more memory than a memory graph needs"}, []
    body = json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    del document
    out = sys.stdout.buffer
    out.write(struct.pack(">Q", len(body)))
    out.write(body)
    for row in writer.rows:
        if sys.byteorder == "big":
            row.byteswap()
        out.write(row.tobytes())
    out.flush()
    return 0
