"""The child process that reads an M3-Agent graph: extracts and checks the parts of a `VideoGraph` and sends plain data to the parent.

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

from m3desk.interop.inert import PARTS, WHOLES, Numbers, PickledObject, Refused, fits
from m3desk.interop.unpickle import KEPT, MEBIBYTE, Machine

NODES = 50_000
"""Nodes at most, and what else is counted below: each about 20 times the most in the largest real graph known (kitchen_03: 2,498 nodes, of
which 68 are faces and voices, in 74 clips; 3,336 entries of edges; 224 letters and 7 tags in a sentence; 20 contents in a voice). What a
parent does with a graph grows with these counts, so that they also limit its time and memory."""
OWNERS = 2_000
"""Faces and voices."""
EDGES = 100_000
CLIPS = 2_000
SENTENCE = 5_000
"""Characters of a sentence."""
CONTENTS = 400
"""Pictures or words of one face or voice."""
CLIP = 1_000_000
"""The greatest number of a clip: at 30 s each a year without a pause."""


class LimitedWriter:
    """Counts the bytes sent to the parent, so that a text referenced a million times cannot exhaust memory.

    `most`: bytes that may be sent.
    """

    def __init__(self, most: int = KEPT) -> None:
        self.rows: list[array[float]] = []
        self.sent = 0
        self._most = most

    def count(self, size: int) -> None:
        self.sent += size
        if self.sent > self._most:
            raise Refused(f"it wants more than {self._most // MEBIBYTE} MiB of memory")

    def texts(self, value: Any, told: bool) -> list[str]:
        """Return texts; a single text becomes a list. `told`: they are a sentence's."""
        values = [value] if type(value) is str else value
        if type(values) is not list or any(type(v) is not str for v in values):
            raise Refused("a node's contents in it are not texts")
        self.count(sum(len(v) + 8 for v in values))
        if len(values) > CONTENTS:
            raise Refused(f"a node of it has {len(values):,} contents, which is more than {CONTENTS:,}")
        if told and sum(map(len, values)) > SENTENCE:
            raise Refused(f"a sentence in it has more than {SENTENCE:,} characters")
        return list(values)

    def embeddings(self, value: Any) -> list[int]:
        """Return [count, dimension, 1 if kept]: placeholder embeddings are counted and left out."""
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
    """Return a list of numbers as one embedding; None if it is not one."""
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
    """Return whether an embedding is real: in a placeholder all numbers are 0, or of equal magnitude (±1/√n)."""
    return len({abs(v) for v in set(row)}) > 1


def _integer(value: Any, most: int = 1 << 40) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise Refused("an id or a clip's number in it is not a whole number from 0")
    return value


def graph(root: Any, writer: LimitedWriter) -> dict[str, Any]:
    """Return a VideoGraph as plain lists. Raises Refused if it is not one.

    nodes: [id, type, clip | None, [texts], [rows, numbers a row, kept]] in order of ids; edges: [a, b, weight] as they stand, both
    directions; clips: the clips it lists, in its order, with their texts' ids; characters: its own grouping, name → tags.
    """
    if type(root) is not PickledObject or root.name not in WHOLES:
        raise Refused("it holds no memory graph")
    nodes = root.state.get("nodes")
    if type(nodes) is not dict:
        raise Refused("its nodes are no dict")
    _few(len(nodes), NODES, "nodes")
    found = []
    owners = 0
    for id_, node in sorted(((_integer(i), n) for i, n in nodes.items()), key=lambda pair: pair[0]):
        if type(node) is not PickledObject or node.name not in PARTS or type(node.state.get("type")) is not str:
            raise Refused(f"node {id_} of it is no node")
        metadata = node.state.get("metadata")
        metadata = metadata if type(metadata) is dict else {}
        clip = metadata.get("timestamp")
        type_ = node.state["type"][:40]
        _few(owners := owners + (type_ in ("img", "voice")), OWNERS, "faces and voices")
        found.append([
            id_, type_, None if clip is None else _integer(clip, CLIP),
            writer.texts(metadata.get("contents") or [], type_ not in ("img", "voice")), writer.embeddings(node.state.get("embeddings")),
        ])  # fmt: skip
        writer.count(80)
    return {
        "nodes": found, "edges": list(_edges(root.state.get("edges"), writer)), "clips": list(_clips(root.state, writer)),
        "characters": _characters(root.state.get("character_mappings"), writer),
    }  # fmt: skip


def _few(count: int, most: int, what: str) -> None:
    if count > most:
        raise Refused(f"it has more than {most:,} {what}, which is far more than a memory graph has")


def _edges(edges: Any, writer: LimitedWriter) -> Iterator[list[Any]]:
    _few(len(edges) if type(edges) is dict else 0, EDGES, "edges")
    for ends, weight in (edges if type(edges) is dict else {}).items():
        if type(ends) is not tuple or len(ends) != 2 or type(weight) not in (int, float):
            raise Refused("an edge in it is none")
        writer.count(40)
        yield [_integer(ends[0]), _integer(ends[1]), fits(float(weight))]


def _clips(state: dict[Any, Any], writer: LimitedWriter) -> Iterator[list[Any]]:
    by_clip = state.get("text_nodes_by_clip")
    by_clip = by_clip if type(by_clip) is dict else {}
    _few(len(by_clip), CLIPS, "clips")
    listed = 0
    for clip, ids in by_clip.items():
        values = _numbers(ids)
        _few(listed := listed + len(values), 2 * NODES, "texts in the lists of its clips")
        writer.count(16 * len(values) + 40)
        yield [_integer(clip, CLIP), values]


def _numbers(value: Any) -> list[int]:
    if type(value) is not list:
        raise Refused("a clip's list of texts in it is none")
    return [_integer(v) for v in value]


def _characters(mappings: Any, writer: LimitedWriter) -> dict[str, list[str]]:
    found = {}
    mappings = mappings if type(mappings) is dict else {}
    _few(len(mappings), 2 * OWNERS, "characters")
    listed = 0
    for name, tags in mappings.items():
        if type(name) is str and type(tags) is list:
            _few(listed := listed + len(tags), 10 * OWNERS, "tags of characters")
            found[name[:80]] = [t[:80] for t in tags if type(t) is str]
            writer.count(90 * (len(tags) + 1))
    return found


# ---------------------------------------------------------------- the child process


def _body(document: dict[str, Any]) -> bytes:
    """Return JSON as UTF-8; in ASCII a Chinese text would take six bytes a letter. Texts hold no lone surrogates (`unpickle.text`)."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def limit(memory: int, cpu: int) -> None:
    """Limit this process: bytes of memory, seconds of CPU, no files written, no child processes. The parent also watches it."""
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
    """Read standard input under the limits given (bytes, seconds, bytes of what is built); write the graph, or {"refused": why}."""
    limit(int(arguments[0]), int(arguments[1]))
    writer = LimitedWriter(int(arguments[2]))
    try:
        body = _body(graph(Machine(sys.stdin.buffer, int(arguments[2])).load(), writer))
    except Refused as refused:
        body, writer.rows = _body({"refused": str(refused)}), []
    except (MemoryError, RecursionError):
        body, writer.rows = _body({"refused": "it wants more memory than a memory graph needs"}), []
    out = sys.stdout.buffer
    out.write(struct.pack(">Q", len(body)))
    out.write(body)
    for row in writer.rows:
        if sys.byteorder == "big":
            row.byteswap()
        out.write(row.tobytes())
    out.flush()
    return 0
