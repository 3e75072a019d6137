"""Hostile pickles: nothing of them runs, none takes the program with it, each is refused in one line, and nothing is written."""

from __future__ import annotations

import contextlib
import gzip
import io
import pickle
import random
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from m3desk import cli
from m3desk.errors import ImportProblem
from m3desk.interop import quarantine
from m3desk.interop.inert import Refused
from m3desk.interop.quarantine import Limits, command, read
from m3desk.interop.unpickle import Machine
from m3desk.interop.videograph import Writer, graph
from m3desk.store.sqlite import Memory
from tests.interop.made_graphs import importable, kitchen, pickled

SMALL = Limits(memory=160 << 20, processor=10, seconds=60.0)


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def called(module: str, name: str, argument: bytes, new_style: bool = True) -> bytes:
    """Return the steps that call module.name(argument)."""
    function = text(module) + text(name) + b"\x93" if new_style else f"c{module}\n{name}\n".encode()
    return function + argument + b"\x85R"


def hostile(marker: Path) -> dict[str, bytes]:
    """Return attacks by name; each would make `marker` if it ran."""
    shell = f"touch {marker}"
    code = f"open({str(marker)!r}, 'w').close()"
    head, whole = b"\x80\x04", pickled(kitchen())
    node = whole.index(b"metadata")
    class_ = text("mmagent.videograph") + text("VideoGraph") + b"\x93"
    return {
        "os.system": head + called("os", "system", text(shell)) + b".",
        "posix.system": b"\x80\x02" + called("posix", "system", text(shell), new_style=False) + b".",
        "eval": head + called("builtins", "eval", text(code)) + b".",
        "exec": head + called("builtins", "exec", text(code)) + b".",
        "subprocess": head + called("subprocess", "getoutput", text(shell)) + b".",
        "nested reduce": head + b"]" + b"(]" * 30 + called("os", "system", text(shell)) + b"e" * 30 + b".",
        "inside a graph": whole[: node - 2] + called("os", "system", text(shell)) + whole[node - 2 :],
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


def laughs() -> bytes:
    """Return lists of ten lists of ten lists …, each written once and referred to by number."""
    made = b"\x80\x04" + b"](" + text("lol") * 10 + b"e\x940"
    for n in range(60):
        made += b"](" + (b"h" + bytes([n])) * 10 + b"e\x940"
    return made + b"h\x3c."


BOMBS: dict[str, Callable[[], bytes]] = {
    "billion laughs": laughs,
    "laughs as contents": lambda: _laughs_in_a_node(),
    "huge bytes told": lambda: b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"x",
    "huge bytes of zeros": lambda: gzip.compress(b"\x80\x04B" + struct.pack("<I", (1 << 32) - 1) + b"\0" * (64 << 20), 1),
    "huge text told": lambda: b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b"x",
    "deep lists": lambda: b"\x80\x04" + b"]" * 3_000_000 + b".",
    "deep marks": lambda: b"\x80\x04" + b"(" * 3_000_000 + b".",
    "deep tuples": lambda: b"\x80\x04N" + b"\x85" * 100_000 + b".",
    "deep key": lambda: b"\x80\x04}N" + b"\x85" * 100_000 + b"K\x01s.",
    "zeros": lambda: gzip.compress(b"\0" * (200 << 20), 1),
    "many lists": lambda: gzip.compress(b"\x80\x04](" + (b"]" * 900 + b"e(") * 3_000, 1),
    "many numbers": lambda: gzip.compress(b"\x80\x04](" + (b"G" + b"\0" * 8) * 1_000_000, 1),
}


def _laughs_in_a_node() -> bytes:
    """Return a graph of many nodes that share one long text: small as a file, endless when written out."""
    made = kitchen()
    shared = ["x" * (8 << 20)]
    for n in range(1000, 3000):
        part = type(made.nodes[0])()
        part.__dict__.update(id=n, type="episodic", embeddings=[], metadata={"contents": shared, "timestamp": 0})
        made.nodes[n] = part
    return gzip.compress(pickled(made))


@pytest.mark.parametrize("name", sorted(hostile(Path("x"))))
def test_nothing_of_a_hostile_pickle_runs(tmp_path: Path, name: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "hostile.pkl"
    path.write_bytes(hostile(marker)[name])
    with pytest.raises(ImportProblem, match=r"^hostile.pkl is not a memory graph that can be read: [^\n]{10,200}\.$"):
        read(path, SMALL)
    assert not marker.exists() and sorted(p.name for p in tmp_path.iterdir()) == ["hostile.pkl"]


@pytest.mark.parametrize("name", ["os.system", "eval", "inside a graph"])
def test_the_same_pickles_are_dangerous_elsewhere(tmp_path: Path, name: str) -> None:
    """The attacks are real: Python's own pickle runs them."""
    marker = tmp_path / "marker"
    attack = hostile(marker)[name]
    with importable(), contextlib.suppress(Exception):
        pickle.loads(attack)
    assert marker.exists()


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_bombs_are_refused_within_their_limits(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bomb.pkl"
    path.write_bytes(BOMBS[name]())
    with pytest.raises(ImportProblem) as told:
        read(path, SMALL)
    assert "can be read" in str(told.value) and "\n" not in told.value.line() and "Nothing was written" in told.value.hint


def test_a_child_that_takes_too_much_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "slow.pkl"
    path.write_bytes(gzip.compress(b"\x80\x04](" + (b"]" * 900 + b"e(") * 60_000, 1))
    with pytest.raises(ImportProblem, match="takes longer"):
        read(path, Limits(seconds=0.3))
    with pytest.raises(ImportProblem, match="more memory"):
        read(path, Limits(memory=80 << 20))


@pytest.mark.parametrize("program", ["import os; os.abort()", "raise SystemExit(3)", "print('nonsense of some length')"])
def test_a_broken_child_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    path = tmp_path / "graph.pkl"
    path.write_bytes(pickled(kitchen()))
    assert read(path, SMALL).document["nodes"]
    monkeypatch.setattr(quarantine, "command", lambda _limits: [sys.executable, "-S", "-c", program])
    with pytest.raises(ImportProblem, match="the reader ended with"):
        read(path, SMALL)


def read_here(data: bytes) -> Any:
    """Read without a child: what would end it shows."""
    return graph(Machine(io.BytesIO(data)).load(), Writer())


def test_a_graph_cut_anywhere_is_refused() -> None:
    whole = pickled(kitchen())
    assert read_here(whole)["nodes"]
    for end in range(len(whole)):
        with pytest.raises(Refused):
            read_here(whole[:end])
    zipped = gzip.compress(whole)
    for end in range(0, len(zipped) - 8, 7):
        with pytest.raises(Refused):
            read_here(zipped[:end])


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_damaged_graph_is_read_or_refused_but_never_a_fault(protocol: int) -> None:
    whole = pickled(kitchen(), protocol)
    dice = random.Random(5)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(1500):
        broken = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            read_here(bytes(broken))
            outcomes["read"] += 1
        except Refused:
            outcomes["refused"] += 1
    assert outcomes["refused"] > 300


@pytest.mark.parametrize("name", ["os.system", "truncated", "zeros", "not a pickle", "empty"])
def test_the_command_says_one_line_and_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "bad.pkl.gz"
    files = {
        "os.system": lambda: hostile(marker)["os.system"], "truncated": lambda: gzip.compress(pickled(kitchen()))[:300],
        "zeros": lambda: gzip.compress(b"\0" * (1 << 20)), "not a pickle": lambda: b"<html>", "empty": lambda: b"",
    }  # fmt: skip
    path.write_bytes(files[name]())
    assert cli.main(["import", str(path), "-m", str(tmp_path / "new" / "m.m3desk")]) == 1
    said = capsys.readouterr()
    assert (
        said.out == "" and said.err.count("\n") == 1 and said.err.startswith("m3desk: bad.pkl.gz is not a memory graph that can be read: ")
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.pkl.gz"]


def test_an_empty_memory_stays_empty_and_as_it_was(tmp_path: Path) -> None:
    memory = tmp_path / "m.m3desk"
    Memory.create(memory).close()
    bad = tmp_path / "bad.pkl"
    bad.write_bytes(hostile(tmp_path / "marker")["inside a graph"])
    assert cli.main(["import", str(bad), "-m", str(memory)]) == 1
    with Memory.open(memory) as still:
        assert not still.sources() and not still.graph().nodes and not list((memory / "media").glob("*"))


def test_the_child_sees_neither_site_nor_environment() -> None:
    assert command(SMALL)[1:3] == ["-I", "-S"]
    assert quarantine.VERB in command_when_frozen()


def command_when_frozen() -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.frozen", True, raising=False)
        return command(SMALL)
