"""A safe pickle reader that builds plain data and executes nothing; it runs in a child process (`interop.videograph`).

A pickle is a program for a stack machine. Python's `pickle` executes it; this reader knows only the opcodes that build numbers, texts,
lists, dicts and records, and rejects any other opcode by name. It can call no function (see `interop.inert`). Standard library only; the
file is decompressed and read as a stream.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from array import array
from collections.abc import Callable
from typing import Any, BinaryIO

from m3desk.interop.inert import CLASSES, Named, Numbers, PickledObject, Refused, Type, fill, named, rebuilt

MEBIBYTE = 1 << 20
WHOLE = 4096 * MEBIBYTE
"""Decompressed bytes at most: 50,000 nodes with 3072 numbers each are 1,400 MiB."""
KEPT = 768 * MEBIBYTE
"""Bytes of what is built at most, as counted here: those 50,000 nodes are 590 MiB (a number of an embedding takes 4). The parent allows
less to a small file."""
MEMBERS = 100
"""Parts of a gzip file: one is usual."""
TEXT = 32 * MEBIBYTE
"""Bytes of one text at most: a node's longest is a picture in base64, some 100 kB."""
DEEP = 20_000
"""Values that may wait on the stack: pickle writes lists in batches of 1,000, and what is nested deeper than this is no graph."""
RUN = re.compile(rb"(?:G.{8}){12,}", re.DOTALL)
"""Numbers in a row, which are nearly all of a graph: 3.9 of 4.1 million steps in living_room_06."""


class _Mark:
    __slots__ = ()


MARK = _Mark()
FORBIDDEN = {
    b"i": "INST", b"o": "OBJ", b"\x92": "NEWOBJ_EX", b"P": "PERSID", b"Q": "BINPERSID", b"\x82": "EXT1", b"\x83": "EXT2",
    b"\x84": "EXT4", b"\x97": "NEXT_BUFFER", b"\x98": "READONLY_BUFFER", b"\x8b": "LONG4",
}  # fmt: skip
"""Steps that build anything out of names outside of the file, or numbers without end; no graph has them."""
OLD = b"FILSVTUgp"
"""Steps of the text protocols 0 and 1, which can't tell of such a graph's classes."""


class Stream:
    """A file's bytes, decompressed on demand."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._pending = file.read(64)
        self._gzip = zlib.decompressobj(31) if self._pending[:2] == b"\x1f\x8b" else None
        self._members = 1
        self.total = 0

    def more(self) -> bytes:
        """Return the next bytes, at most 1 MiB; b"" at the end. Raises Refused if the compression is broken or the content too large."""
        while True:
            data = self._pending or self._file.read(256 * 1024)
            self._pending = b""
            if self._gzip is None:
                out = data
            elif self._gzip.eof:  # a gzip file may have several parts
                rest = self._gzip.unused_data + data
                if not rest.strip(b"\0"):
                    return b""
                self._members += 1
                if self._members > MEMBERS:
                    raise Refused(f"it is compressed in more than {MEMBERS} parts")
                self._gzip, self._pending = zlib.decompressobj(31), rest
                continue
            else:
                try:
                    out = self._gzip.decompress(data, MEBIBYTE)
                except zlib.error as error:
                    raise Refused("its compression is broken") from error
                self._pending = self._gzip.unconsumed_tail
                if not out and not data and not self._gzip.eof:
                    return b""
                if not out:
                    continue
            self.total += len(out)
            if self.total > WHOLE:
                raise Refused(f"it unfolds to more than {WHOLE // MEBIBYTE} MiB")
            return out


class Machine:
    """Reads one pickle. `load` returns its value: numbers, texts, lists, dicts, tuples, Named, Thing, Numbers."""

    def __init__(self, file: BinaryIO, most: int = KEPT) -> None:
        self._stream = Stream(file)
        self._most = most
        self._buffer = b""
        self._at = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._kept = 0
        self._steps: dict[int, Callable[[], None]] = {code[0]: step for code, step in _steps(self).items()}

    # ------------------------------------------------------------------ bytes

    def _fill(self, count: int) -> bool:
        """Buffer `count` bytes, or all that are left; return whether there were enough."""
        parts, there = [self._buffer[self._at :]], len(self._buffer) - self._at
        while there < count and (data := self._stream.more()):
            parts.append(data)
            there += len(data)
        self._buffer, self._at = b"".join(parts), 0
        return there >= count

    def take(self, count: int) -> bytes:
        if len(self._buffer) - self._at < count and not self._fill(count):
            raise Refused("it ends too early")
        self._at += count
        return self._buffer[self._at - count : self._at]

    def number(self, code: str) -> int:
        return int(struct.unpack(code, self.take(struct.calcsize(code)))[0])

    def sized(self, code: str) -> bytes:
        """Return length-prefixed bytes."""
        size = self.number(code)
        if size > TEXT:
            raise Refused(f"it holds a text of {size // MEBIBYTE} MiB")
        self.keep(size + 50)
        return self.take(size)

    def line(self) -> str:
        """Return a name that ends at the next newline."""
        for _ in range(2):
            end = self._buffer.find(b"\n", self._at, self._at + 512)
            if end >= 0:
                name = self._buffer[self._at : end]
                self._at = end + 1
                return text(name)
            self._fill(512)
        raise Refused("a name in it has no end")

    def keep(self, count: int) -> None:
        """Count the size of the objects built, against the limit."""
        self._kept += count
        if self._kept > self._most:
            raise Refused(f"it wants more than {self._most // MEBIBYTE} MiB of memory")

    # ------------------------------------------------------------------ the stack and the memo

    def push(self, value: Any, size: int = 16) -> None:
        self.keep(size)
        self._stack.append(value)
        if len(self._stack) > DEEP:
            raise Refused("it is nested too deeply")

    def pop(self) -> Any:
        if not self._stack or self._stack[-1] is MARK:
            raise Refused("its steps don't fit together")
        value = self._stack.pop()
        if type(value) is Numbers and not value.shape:  # the end of a run goes into something smaller: number by number
            self._stack += value.values.tolist()
            return self._stack.pop()
        return value

    def top(self, kind: type) -> Any:
        if not self._stack or type(self._stack[-1]) is not kind:
            raise Refused("its steps don't fit together")
        return self._stack[-1]

    def to_mark(self) -> list[Any]:
        """Pop all values down to the last mark."""
        stack = self._stack
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is MARK:
                values = stack[i + 1 :]
                del stack[i:]
                return values
        raise Refused("its steps don't fit together")

    def singly(self) -> list[Any]:
        """Pop all values down to the last mark, with packed numbers expanded."""
        values = self.to_mark()
        if any(type(v) is Numbers and not v.shape for v in values):
            values = [n for v in values for n in (v.values.tolist() if type(v) is Numbers and not v.shape else (v,))]
            self.keep(32 * len(values))
        return values

    def remember(self, index: int) -> None:
        if not self._stack or self._stack[-1] is MARK:
            raise Refused("its steps don't fit together")
        if index not in self._memo:
            self.keep(100)
        self._memo[index] = self._stack[-1]

    def recall(self, index: int) -> None:
        if index not in self._memo:
            raise Refused("it refers to what it has not written")
        self.push(self._memo[index])

    # ------------------------------------------------------------------ running

    def load(self) -> Any:
        """Read to the end and return the value. Raises Refused."""
        steps = self._steps
        while True:
            if len(self._buffer) - self._at < 16_384:
                self._fill(65_536)
            here = self._buffer[self._at : self._at + 1]
            if here == b"G" and (run := RUN.match(self._buffer, self._at)):
                self._run(run)
                continue
            code = self.take(1)
            step = steps.get(code[0])
            if step is None:
                self._refuse(code)
            else:
                step()
            if code == b".":
                if len(self._stack) != 1:
                    raise Refused("its steps don't fit together")
                return self._stack[0]

    def _run(self, run: re.Match[bytes]) -> None:
        """Store a run of numbers (each an opcode and 8 bytes, big-endian) as one packed value."""
        steps = run.group()
        count = len(steps) // 9
        doubles = bytearray(8 * count)
        for i in range(8):
            doubles[i::8] = steps[(8 - i if sys.byteorder == "little" else i + 1) :: 9]
        wide = array("d")
        wide.frombytes(bytes(doubles))
        self.push(Numbers(array("f", wide), ()), 4 * count + 120)
        self._at = run.end()

    def _refuse(self, code: bytes) -> None:
        if code in FORBIDDEN:
            raise Refused(f"it uses {FORBIDDEN[code]}, which no memory graph does")
        if code in OLD:
            raise Refused("it is not a pickle of protocol 2 or later")
        raise Refused("it is not a pickle")


def text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def key(value: Any) -> Any:
    """Return a dict key of a type that occurs in graphs; deeply nested keys could overflow the stack when hashed."""
    if type(value) in (str, int, float, bool, type(None)):
        return value
    if type(value) is tuple and len(value) <= 4 and all(type(v) in (str, int) for v in value):
        return value
    raise Refused("it has dict keys that no memory graph has")


def _steps(m: Machine) -> dict[bytes, Callable[[], None]]:
    """Return the handler of each opcode: everything that a file can make this reader do."""

    def protocol() -> None:
        if not 2 <= (version := m.number("B")) <= 5:
            raise Refused(f"it is a pickle of protocol {version}")

    def frame() -> None:
        m.take(8)

    def name() -> None:
        module = m.line()
        m.push(named(module, m.line()))

    def stack_name() -> None:
        second, first = m.pop(), m.pop()
        if type(first) is not str or type(second) is not str:
            raise Refused("a name in it is not a text")
        m.push(named(first, second))

    def integer() -> None:
        size = m.number("B")
        if size > 8:
            raise Refused("it holds a number without end")
        m.push(int.from_bytes(m.take(size), "little", signed=True), 32)

    def append() -> None:
        value = m.pop()
        m.top(list).append(value)
        m.keep(8)

    def appends() -> None:
        values = m.to_mark()
        m.top(list).extend(values)
        m.keep(8 * len(values))

    def set_item() -> None:
        value, where = m.pop(), m.pop()
        m.top(dict)[key(where)] = value
        m.keep(100)

    def into(target: dict[Any, Any], values: list[Any]) -> dict[Any, Any]:
        if len(values) % 2:
            raise Refused("its steps don't fit together")
        m.keep(50 * len(values))
        for where, value in zip(values[::2], values[1::2], strict=True):
            target[key(where)] = value
        return target

    def new_dict() -> None:
        m.push(into({}, m.singly()), 64)

    def set_items() -> None:
        values = m.singly()
        into(m.top(dict), values)

    def add_items() -> None:
        values = m.singly()
        m.top(set).update(key(v) for v in values)

    def tuple_of(count: int) -> Callable[[], None]:
        def step() -> None:
            m.push(tuple([m.pop() for _ in range(count)][::-1]), 64)

        return step

    def new_object() -> None:
        args, of = m.pop(), m.pop()
        if type(of) is not Named or of.name not in CLASSES:
            raise Refused(f"it makes an object of {of.name.replace(' ', '.') if type(of) is Named else 'something that is no class'}")
        if args != ():
            raise Refused("it makes an object out of something, which no memory graph does")
        m.push(PickledObject(of.name), 200)

    def call() -> None:
        args, of = m.pop(), m.pop()
        if type(of) is not Named or type(args) is not tuple:
            raise Refused("it calls something that is no function")
        m.push(rebuilt(of.name, args, m.keep))

    def build() -> None:
        state = m.pop()
        target = m._stack[-1] if m._stack else None
        if type(target) is PickledObject:
            if type(state) is tuple and len(state) == 2 and state[1] is None:
                state = state[0]
            if type(state) is not dict:
                raise Refused("an object's attributes in it are not a dict")
            target.state.update(state)
        elif type(target) is Numbers and target.shape == (0,):
            fill(target, state, m.keep)
        elif type(target) is Type and type(state) is tuple and len(state) >= 2 and state[1] in ("<", ">", "|", "="):
            target.big = state[1] == ">"
        else:
            raise Refused("it sets the state of something that has none")

    def twice() -> None:
        m.push(m.pop())
        m.push(m._stack[-1])

    return {
        b"\x80": protocol, b"\x95": frame, b".": lambda: None, b"(": lambda: m.push(MARK), b"0": lambda: void(m.pop()),
        b"1": lambda: void(m.to_mark()), b"2": twice, b"N": lambda: m.push(None), b"\x88": lambda: m.push(True),
        b"\x89": lambda: m.push(False), b"J": lambda: m.push(m.number("<i")), b"K": lambda: m.push(m.number("B")),
        b"M": lambda: m.push(m.number("<H")), b"\x8a": integer, b"G": lambda: m.push(struct.unpack(">d", m.take(8))[0], 24),
        b"\x8c": lambda: m.push(text(m.sized("B"))), b"X": lambda: m.push(text(m.sized("<I"))),
        b"\x8d": lambda: m.push(text(m.sized("<Q"))),
        b"C": lambda: m.push(m.sized("B")), b"B": lambda: m.push(m.sized("<I")), b"\x8e": lambda: m.push(m.sized("<Q")),
        b"\x96": lambda: m.push(m.sized("<Q")), b"]": lambda: m.push([], 64), b"a": append, b"e": appends,
        b"l": lambda: m.push(m.to_mark(), 64), b"}": lambda: m.push({}, 64), b"s": set_item, b"u": set_items, b"d": new_dict,
        b")": lambda: m.push(()), b"\x85": tuple_of(1), b"\x86": tuple_of(2), b"\x87": tuple_of(3),
        b"t": lambda: m.push(tuple(m.singly()), 64), b"\x8f": lambda: m.push(set(), 200), b"\x90": add_items,
        b"\x91": lambda: m.push(frozenset(key(v) for v in m.singly()), 200), b"\x94": lambda: m.remember(len(m._memo)),
        b"q": lambda: m.remember(m.number("B")), b"r": lambda: m.remember(m.number("<I")), b"h": lambda: m.recall(m.number("B")),
        b"j": lambda: m.recall(m.number("<I")), b"c": name, b"\x93": stack_name, b"\x81": new_object, b"R": call, b"b": build,
    }  # fmt: skip


def void(_value: Any) -> None:
    """Discard a value."""
