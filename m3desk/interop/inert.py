"""The inert objects that the safe pickle reader (`interop.unpickle`) builds. Classes and functions of the file are never imported.

The few functions that real graphs use (numpy's array reconstruction) are recognised by name and reimplemented here, for exactly the
arguments that occur there. Standard library only.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from typing import Any

GRAPHS = ("mmagent.videograph", "videograph")
"""Where the class lives: older graphs were written from within the package."""
ROWS = 1_000_000
"""Rows, or numbers a row, of an array at most."""


class Refused(Exception):
    """The file is invalid, or tries to do something that is not allowed."""


class Named:
    """The name of a class or function in the file; never imported."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class PickledObject:
    """An object of the file: its class's name and its attributes."""

    __slots__ = ("name", "state")

    def __init__(self, name: str) -> None:
        self.name = name
        self.state: dict[Any, Any] = {}


class Type:
    """A number's type in a numpy array: `code` of `struct`, big-endian or not."""

    __slots__ = ("big", "code")

    def __init__(self, code: str) -> None:
        self.code = code
        self.big = False


class Numbers:
    """A list of numbers or a numpy array: flat float32, and its shape."""

    __slots__ = ("shape", "values")

    def __init__(self, values: array[float], shape: tuple[int, ...]) -> None:
        self.values = values  # infinities and what is no number among them: who reads them sees to that
        self.shape = shape


TYPES = {"f2": "e", "f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B"}
SIZES = {"e": 2, "f": 4, "d": 8, "i": 4, "q": 8, "B": 1}
WHOLES = tuple(f"{module} VideoGraph" for module in GRAPHS)
PARTS = tuple(f"{module} VideoGraph.Node" for module in GRAPHS)
CLASSES = (*WHOLES, *PARTS)
NUMPY = {
    f"numpy{core} {name}" for core in (".core.multiarray", "._core.multiarray") for name in ("_reconstruct", "scalar")
} | {"numpy.core.numeric _frombuffer", "numpy._core.numeric _frombuffer", "numpy ndarray", "numpy dtype"}  # fmt: skip
OTHERS = {"_codecs encode", "builtins getattr", "__builtin__ getattr"}
"""How protocols 2 and 3 write bytes, and a class within a class; only that is done for them."""
KNOWN = {*CLASSES, *NUMPY, *OTHERS}


def fits(value: float) -> float:
    return value if -3.0e38 < value < 3.0e38 else 0.0


def named(module: str, name: str) -> Named:
    whole = f"{module} {name}"
    if whole not in KNOWN:
        raise Refused(f"it names {module[:80]}.{name[:80]}, which no memory graph needs")
    return Named(whole)


def rebuilt(name: str, args: tuple[Any, ...], keep: Callable[[int], None]) -> Any:
    """Return the result of a known function for these arguments; only argument forms that occur in graphs are supported."""
    last = name.rsplit(" ", 1)[1]
    if name in OTHERS:
        if last == "encode" and len(args) == 2 and type(args[0]) is str and args[1] == "latin1":
            return args[0].encode("latin1", "replace")
        if last == "getattr" and len(args) == 2 and type(args[0]) is Named and args[0].name in WHOLES and args[1] == "Node":
            return Named(f"{args[0].name}.Node")
    elif last == "dtype" and args and type(args[0]) is str and args[0].lstrip("<>|=") in TYPES:
        found = Type(TYPES[args[0].lstrip("<>|=")])
        found.big = args[0].startswith(">")
        return found
    elif last == "_reconstruct" and args and type(args[0]) is Named and args[0].name == "numpy ndarray":
        return Numbers(array("f"), (0,))
    elif last == "scalar" and len(args) == 2 and type(args[0]) is Type and type(args[1]) is bytes:
        return _values(args[1], args[0], 1)[0]
    elif last == "_frombuffer" and len(args) == 4 and type(args[0]) is bytes and type(args[1]) is Type and type(args[2]) is tuple:
        keep(len(args[0]))
        shape = _shape(args[2])
        return Numbers(_values(args[0], args[1], _count(shape)), shape)
    raise Refused(f"it calls {name.replace(' ', '.')} in a way that no memory graph does")


def _shape(value: tuple[Any, ...]) -> tuple[int, ...]:
    if not 1 <= len(value) <= 2 or any(type(n) is not int or not 0 <= n <= ROWS for n in value):
        raise Refused("it holds an array of a shape that no embedding has")
    return value


def _count(shape: tuple[int, ...]) -> int:
    return shape[0] * (shape[1] if len(shape) == 2 else 1)


def _values(data: bytes, of: Type, count: int) -> array[float]:
    if len(data) != count * SIZES[of.code]:
        raise Refused("an array in it has another size than it says")
    return array("f", struct.unpack(f"{'>' if of.big else '<'}{count}{of.code}", data))


def fill(target: Numbers, state: Any, keep: Callable[[int], None]) -> None:
    if (
        type(state) is not tuple
        or len(state) != 5
        or type(state[1]) is not tuple
        or type(state[2]) is not Type
        or type(state[4]) is not bytes
    ):
        raise Refused("it holds an array that is no plain one")
    if state[3] and len(state[1]) > 1:
        raise Refused("it holds an array in column order")
    keep(len(state[4]))
    target.shape = _shape(state[1])
    target.values = _values(state[4], state[2], _count(target.shape))
