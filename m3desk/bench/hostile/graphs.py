"""Hostile M3-Agent graphs: code execution, decompression bombs, graphs of absurd size or shape, damaged copies of a valid one."""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from m3desk.bench.hostile.case import Case
from m3desk.bench.hostile.made_graphs import bare, kitchen, node, pickled


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def called(module: str, name: str, argument: bytes, new_style: bool = True) -> bytes:
    """Return the steps that call module.name(argument)."""
    function = text(module) + text(name) + b"\x93" if new_style else f"c{module}\n{name}\n".encode()
    return function + argument + b"\x85R"


def attacks(marker: Path) -> dict[str, bytes]:
    """Return attacks by name; each would make `marker` if it ran."""
    shell = f"touch {marker}"
    code = f"open({str(marker)!r}, 'w').close()"
    head, whole = b"\x80\x04", pickled(kitchen())
    at = whole.index(b"metadata")
    class_ = text("mmagent.videograph") + text("VideoGraph") + b"\x93"
    return {
        "os.system": head + called("os", "system", text(shell)) + b".",
        "posix.system": b"\x80\x02" + called("posix", "system", text(shell), new_style=False) + b".",
        "eval": head + called("builtins", "eval", text(code)) + b".",
        "exec": head + called("builtins", "exec", text(code)) + b".",
        "subprocess": head + called("subprocess", "getoutput", text(shell)) + b".",
        "nested reduce": head + b"]" + b"(]" * 30 + called("os", "system", text(shell)) + b"e" * 30 + b".",
        "inside a graph": whole[: at - 2] + called("os", "system", text(shell)) + whole[at - 2 :],
        "getattr of a class": head + text("builtins") + text("getattr") + b"\x93" + class_ + text("__init_subclass__") + b"\x86R.",
        "getattr chain": head + text("builtins") + text("getattr") + b"\x93" + class_ + text("Node.__class__") + b"\x86R.",
        "dotted name": head + text("mmagent.videograph") + text("VideoGraph.__init__.__globals__") + b"\x93.",
        "call of the class": head + class_ + text(shell) + b"\x85R.",
        "numpy loads pickles": head + called("numpy", "load", text(str(marker))) + b".",
        "numpy ctypes": head + called("numpy.ctypeslib", "load_library", text("libc.so.6")) + b".",
        "numpy testing exec": head + called("numpy.testing._private.utils", "runstring", text(code)) + b".",
        "numpy object array": head + called("numpy", "dtype", text("O8")) + b".",
        "numpy makes another class": head + text("numpy.core.multiarray") + text("_reconstruct") + b"\x93" + class_ + b")C\x01b\x87R.",
        "inst": b"\x80\x02(" + text(shell) + b"ios\nsystem\n.",
        "obj": b"\x80\x02(cos\nsystem\n" + text(shell) + b"o.",
        "newobj of another class": head + text("subprocess") + text("Popen") + b"\x93" + text(shell) + b"\x85\x81.",
        "newobj with arguments": head + class_ + text(shell) + b"\x85\x81.",
        "newobj_ex": head + class_ + b")}\x92.",
        "ext": head + b"\x82\x01.",
        "persistent id": head + text("x") + b"Q.",
        "text protocol": b"cos\nsystem\n(S'" + shell.encode() + b"'\ntR.",
        "build of a text": head + text("a") + b"}b.",
        "build with slots": head + class_ + b")\x81N}(" + text("__class__") + text("x") + b"u\x86b.",
        "state that is called": head + class_ + b")\x81" + called("os", "system", text(shell)) + b"b.",
        "out of band": b"\x80\x05\x97.",
        "a long number": b"\x80\x04\x8b" + struct.pack("<i", 1 << 30) + b"\xff" * 100 + b".",
    }  # fmt: skip


# ---------------------------------------------------------------- small as files, large when read


def _laughs() -> bytes:
    """Return lists of ten lists of ten lists …, each written once and referred to by number."""
    made = b"\x80\x04" + b"](" + text("lol") * 10 + b"e\x940"
    for n in range(60):
        made += b"](" + (b"h" + bytes([n])) * 10 + b"e\x940"
    return made + b"h\x3c."


def _laughs_in_a_node() -> bytes:
    """Return a graph of many nodes that share one long text: small as a file, endless when written out."""
    shared = "x" * (8 << 20)
    return gzip.compress(pickled(bare([node(n, "voice", [shared], 0) for n in range(1500)], {})), 1)


BOMBS: dict[str, Callable[[], bytes]] = {
    "billion laughs": _laughs,
    "laughs as contents": _laughs_in_a_node,
    "huge bytes told": lambda: b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"x",
    "huge bytes of zeros": lambda: gzip.compress(b"\x80\x04B" + struct.pack("<I", (1 << 32) - 1) + b"\0" * (64 << 20), 1),
    "huge text told": lambda: b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b"x",
    "deep lists": lambda: b"\x80\x04" + b"]" * 3_000_000 + b".",
    "deep marks": lambda: b"\x80\x04" + b"(" * 3_000_000 + b".",
    "deep tuples": lambda: b"\x80\x04N" + b"\x85" * 100_000 + b".",
    "deep key": lambda: b"\x80\x04}N" + b"\x85" * 100_000 + b"K\x01s.",
    "zeros": lambda: gzip.compress(b"\0" * (200 << 20), 1),
    "many lists": lambda: gzip.compress(b"\x80\x04](" + (b"]" * 900 + b"e(") * 3_000, 1),
    "endless lists": lambda: gzip.compress(b"\x80\x04](" + (b"]" * 900 + b"e(") * 60_000, 1),
    "many numbers": lambda: gzip.compress(b"\x80\x04](" + (b"G" + b"\0" * 8) * 1_000_000, 1),
    "many parts": lambda: gzip.compress(b"") * 20_000,
    "trailing rubbish": lambda: gzip.compress(pickled(kitchen())) + b"rubbish" * 1000,
}


# ---------------------------------------------------------------- graphs of absurd size or shape


def _tags_without_end(count: int) -> bytes:
    people = [node(n, "img", []) for n in range(3)]
    return gzip.compress(pickled(bare([*people, node(3, "episodic", ["<face_1> " * count], 0)], {})))


def _character(size: int, kind: str = "voice", mixed: bool = False) -> bytes:
    rows = [node(n, ("img" if mixed and n % 2 else kind), []) for n in range(size)]
    tags = [f"{'face' if n.type == 'img' else 'voice'}_{n.id}" for n in rows]
    return gzip.compress(pickled(bare([*rows, node(size, "episodic", ["Nobody speaks."], 0)], {}, {"character_0": tags})))


def _equivalences(count: int, tags: int) -> bytes:
    rows = [node(n, "voice", []) for n in range(tags)]
    said = "Equivalence: " + ", ".join(f"<voice_{n}>" for n in range(tags))
    return gzip.compress(pickled(bare([*rows, *(node(tags + i, "semantic", [said], i) for i in range(count))], {})))


def _faces(count: int, clips: int = 1) -> bytes:
    rows = [node(n, "img", []) for n in range(count)]
    return gzip.compress(pickled(bare([*rows, *(node(count + k, "episodic", ["Nothing."], k) for k in range(clips))], {})))


def _crowded(people: int, sentences: int, each: int) -> bytes:
    """Return sentences that each name many people side by side."""
    rows = [node(n, "img", []) for n in range(people)]
    told = [" ".join(f"<face_{(i * each + k) % people}>" for k in range(each)) for i in range(sentences)]
    return gzip.compress(pickled(bare([*rows, *(node(people + i, "episodic", [t], i % 50) for i, t in enumerate(told))], {})))


def _chain(length: int) -> bytes:
    """Return voices that are called one person two by two, in a long row."""
    rows = [node(n, "voice", []) for n in range(length)]
    said = [node(length + n, "semantic", [f"Equivalence: <voice_{n}>, <voice_{n + 1}>"], n % 40) for n in range(length - 1)]
    return gzip.compress(pickled(bare([*rows, *said], {})))


def _texts(count: int, clips: int) -> bytes:
    return gzip.compress(pickled(bare([node(n, "episodic", [f"Sentence {n}."], n % clips) for n in range(count)], {})))


def _odd(**changes: Any) -> bytes:
    made = kitchen()
    made.__dict__.update(changes)
    return pickled(made)


def _odd_node(id_: int, **changes: Any) -> bytes:
    made = kitchen()
    made.nodes[id_].__dict__.update(changes)
    return pickled(made)


ABSURD: dict[str, Callable[[], bytes]] = {
    "two million tags in a sentence": lambda: _tags_without_end(2_000_000),
    "five hundred tags in a sentence": lambda: _tags_without_end(500),
    "a character of 3,000 voices": lambda: _character(3_000),
    "a character of 1,900 voices": lambda: _character(1_900),
    "a character of 1,900 faces and voices": lambda: _character(1_900, mixed=True),
    "300 equivalences of 2,000 tags": lambda: _equivalences(300, 2_000),
    "70 equivalences of 130 tags": lambda: _equivalences(70, 130),
    "60,000 faces": lambda: _faces(60_000),
    "2,000 faces in one clip": lambda: _faces(2_000),
    "sentences that name a hundred": lambda: _crowded(1_500, 100, 100),
    "sentences that name a hundred without end": lambda: _crowded(1_500, 2_000, 100),
    "a long row of equivalences": lambda: _chain(1_500),
    "80,000 sentences": lambda: _texts(80_000, 50),
    "5,000 clips": lambda: _texts(5_000, 5_000),
    "one clip late in time": lambda: pickled(bare([node(0, "episodic", ["Late."], 999_999)], {})),
    "a clip beyond all time": lambda: pickled(bare([node(0, "episodic", ["Late."], 1 << 40)], {})),
    "a negative clip": lambda: _odd_node(3, metadata={"contents": ["x"], "timestamp": -1}),
    "a negative node": lambda: pickled(bare([node(-1, "episodic", ["x"], 0)], {})),
    "a node of 2^39": lambda: pickled(bare([node(1 << 39, "img", []), node(3, "episodic", [f"<face_{1 << 39}>"], 0)], {})),
    "weights that are no numbers": lambda: _odd(edges={(8, 1): float("nan"), (1, 8): float("inf"), (3, 1): -1e300}),
    "an edge to nowhere": lambda: _odd(edges={(8, 500): 1.0, (501, 502): 2.0}),
    "an edge to itself": lambda: _odd(edges={(8, 8): 1.0, (1, 1): 1.0}),
    "embeddings that are no numbers": lambda: _odd_node(1, embeddings=[[float("nan")] * 8, [float("inf")] * 8]),
    "embeddings of several lengths": lambda: _odd_node(1, embeddings=[[0.5, 0.1], [0.5]]),
    "other letters": lambda: _odd_node(3, metadata={"contents": ["\x00\x07\x1b[31m‮ <face_1> 客厅 🎭\u2028"], "timestamp": 0}),
    "letters that are none": lambda: _odd_node(3, metadata={"contents": ["\ud800 <face_1>"], "timestamp": 0}),
    "Chinese without end": lambda: _odd_node(0, metadata={"contents": ["客厅" * 100_000]}),
    "characters of nobody": lambda: _odd(character_mappings={"character_0": ["face_500"], "character_x": ["face_1"], "": []}),
    "a character twice": lambda: _odd(character_mappings={"character_0": ["face_1", "face_1", "voice_0", "voice_5", "face_2"]}),
    "no nodes": lambda: _odd(nodes={}, edges={}),
    "lists of clips that lie": lambda: _odd(text_nodes_by_clip={7: [3, 3, 3, 500], 9: [4]}),
}


# ---------------------------------------------------------------- damaged copies


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """Return a copy with some bytes changed, cut out, doubled or put in: steps of the pickle among them."""
    made = bytearray(whole)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(made) or 1)
        what = chance.randrange(5)
        if what == 0:
            made[at : at + 1] = bytes([chance.randrange(256)])
        elif what == 1:
            del made[at : at + chance.choice((1, 2, 9, 200))]
        elif what == 2:
            made[at:at] = made[at : at + chance.choice((1, 9, 60, 500))]
        elif what == 3:
            made[at:at] = chance.choice(_STEPS)
        else:
            del made[at:]
    return bytes(made)


_STEPS = (
    b"(", b")", b"]", b"}", b"0", b"1", b"2", b"N", b"\x88", b"a", b"e", b"s", b"u", b"t", b"\x85", b"\x86", b"\x87", b"R", b"b", b"\x81",
    b"\x94", b".", b"G\x7f\xf0\0\0\0\0\0\0", b"G\x7f\xf8\0\0\0\0\0\0", b"J\xff\xff\xff\xff", b"\x8a\x08" + b"\xff" * 8, b"h\0", b"h\x05",
    b"X\x03\0\0\0abc", b"\x8f", b"\x90", b"\x91", b"\x93", b"cos\nsystem\n", b"\x8c\x02os", b"\x95" + b"\xff" * 8,
)  # fmt: skip


def values(made: Any, chance: random.Random) -> Any:
    """Change some values of a graph before it is written: other types, other sizes."""
    odd: list[Any] = [
        None, -1, 1 << 62, 0.5, float("nan"), "", "x" * 100_000, "\ud800", [], [[]], {}, (), True, b"bytes", ["a", 1], {"contents": 3},
    ]  # fmt: skip
    for _ in range(chance.choice((1, 1, 2, 5))):
        where = chance.randrange(4)
        one = chance.choice(list(made.nodes.values())) if made.nodes else None
        if where == 0:
            setattr(made, chance.choice(list(made.__dict__)), chance.choice(odd))
            return made
        if where == 1 and one is not None:
            setattr(one, chance.choice(list(one.__dict__)), chance.choice(odd))
            return made
        if where == 2 and one is not None:
            one.metadata[chance.choice(("contents", "timestamp"))] = chance.choice(odd)
        else:
            made.edges[chance.choice([(0, 1), (1, 2, 3), "x", (None, 1), (1, 99)])] = chance.choice(odd)
    return made


def cases(folder: Path, chance: random.Random) -> Iterator[Case]:
    """Write hostile graphs into `folder` without end, first those with a name, in an order by chance, then damaged copies."""
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / "ran"
    named: list[tuple[str, Callable[[], bytes]]] = [(name, lambda data=data: data) for name, data in attacks(marker).items()]  # type: ignore[misc]
    named += [*BOMBS.items(), *ABSURD.items()]
    chance.shuffle(named)
    for count, (name, make) in enumerate(named):
        yield _case(folder, count, name, make(), marker)
    count = len(named)
    whole = [pickled(kitchen(), protocol) for protocol in (2, 4, 5)]
    while True:
        kind = chance.randrange(3)
        if kind == 0:
            data, name = damaged(chance.choice(whole), chance), "damaged steps"
        elif kind == 1:
            data, name = damaged(gzip.compress(chance.choice(whole), 1), chance), "damaged compression"
        else:
            data, name = pickled(values(kitchen(), chance)), "other values"
        yield _case(folder, count, name, data, marker)
        count += 1


def _case(folder: Path, count: int, name: str, data: bytes, marker: Path) -> Case:
    zipped = data[:2] == b"\x1f\x8b"
    path = folder / (f"graph {count}.pkl" + (".gz" if zipped else ""))
    path.write_bytes(data)
    memory = folder / f"graph {count}.m3desk"
    return Case("pickle", f"{count}: {name}", ("import", str(path), "-m", str(memory)), memory, files=(path,), marker=marker)
