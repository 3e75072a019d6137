"""Tiny models of the same classes as the real ones: the recognition model and the detector of an InsightFace pack, and ECAPA-TDNN."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from m3desk_cpu.e5_graph import _part, _value

_FLOAT = 1


def arcface(file: Path, dimension: int = 64, *, seed: int = 0, first: str = "Conv_0") -> Path:
    """Write an ONNX file that takes (n, 3, 112, 112) and returns (n, dimension), as ArcFace does. `first`: the name of its first node."""
    random = np.random.default_rng(seed)
    constants = {"w": random.normal(0, 0.05, (8, 3, 8, 8)), "d": random.normal(0, 0.05, (8 * 14 * 14, dimension))}
    nodes = [
        _node("Conv", ("data", "w"), "c", first, kernel_shape=(8, 8), strides=(8, 8)),
        _node("Relu", ("c",), "r", "PRelu_1"),
        _node("Flatten", ("r",), "f", "Flatten_2"),
        _node("MatMul", ("f", "d"), "683", "Gemm_3"),
    ]
    tensors = [
        b"".join(_part(1, n) for n in values.shape) + _part(2, _FLOAT) + _part(8, name) + _part(9, values.astype(np.float32).tobytes())
        for name, values in constants.items()
    ]
    graph = b"".join(
        [
            *(_part(1, node) for node in nodes),
            _part(2, "arcface"),
            *(_part(5, tensor) for tensor in tensors),
            _part(11, _value("data", ("n", 3, 112, 112), _FLOAT)),
            _part(12, _value("683", ("n", dimension), _FLOAT)),
        ]
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(_part(1, 8) + _part(7, graph) + _part(8, _part(1, "") + _part(2, 13)))
    return file


SIDE = 32
"""Pixels of the squares that the tiny detector takes for faces; it sees those that begin at a multiple of them."""

POINTS = ((0.3, 0.3), (0.7, 0.3), (0.5, 0.5), (0.35, 0.7), (0.65, 0.7))
"""Where it puts the landmarks in them."""


def scrfd(file: Path) -> Path:
    """Write an ONNX file with the inputs and outputs of SCRFD (strides 8, 16, 32; scores, boxes, landmarks) that finds white squares."""
    forms = {"score": 1, "box": 4, "points": 10}
    biases = {"score": (-8.0,), "box": (0.0, 0.0, 1.0, 1.0), "points": tuple(n for point in POINTS for n in point)}
    nodes, tensors, outputs = [], [], []
    for stride in (8, 16, SIDE):
        pool = f"pool{stride}"
        nodes.append(_node("AveragePool", ("data",), pool, pool, kernel_shape=(stride, stride), strides=(stride, stride)))
        for form, count in forms.items():
            name = f"{form}{stride}"
            weights = np.full((2 * count, 3, 1, 1), 10 / 3 if form == "score" else 0.0)
            bias = np.array(biases[form] * 2) - (100.0 if form == "score" and stride < SIDE else 0.0)
            tensors += [_tensor(f"w{name}", weights), _tensor(f"b{name}", bias), _tensor(f"s{name}", np.array([-1, count]))]
            nodes.append(_node("Conv", (pool, f"w{name}", f"b{name}"), f"c{name}", f"c{name}", kernel_shape=(1, 1)))
            last = f"c{name}"
            if form == "score":
                nodes.append(_node("Sigmoid", (last,), f"g{name}", f"g{name}"))
                last = f"g{name}"
            nodes.append(_node("Transpose", (last,), f"t{name}", f"t{name}", perm=(0, 2, 3, 1)))
            nodes.append(_node("Reshape", (f"t{name}", f"s{name}"), name, name))
    for form, count in forms.items():
        outputs += [_part(12, _value(f"{form}{stride}", ("n", count), _FLOAT)) for stride in (8, 16, SIDE)]
    graph = b"".join(
        [
            *(_part(1, node) for node in nodes),
            _part(2, "scrfd"),
            *(_part(5, tensor) for tensor in tensors),
            _part(11, _value("data", (1, 3, "height", "width"), _FLOAT)),
            *outputs,
        ]
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(_part(1, 8) + _part(7, graph) + _part(8, _part(1, "") + _part(2, 13)))
    return file


def _tensor(name: str, values: np.ndarray) -> bytes:
    whole = np.issubdtype(values.dtype, np.integer)
    kept = values.astype(np.int64 if whole else np.float32)
    return b"".join(_part(1, n) for n in kept.shape) + _part(2, 7 if whole else _FLOAT) + _part(8, name) + _part(9, kept.tobytes())


def _node(operator: str, inputs: tuple[str, ...], output: str, name: str, **how: tuple[int, ...]) -> bytes:
    options = [_part(1, key) + b"".join(_part(8, n) for n in numbers) + _part(20, 7) for key, numbers in how.items()]
    return b"".join([*(_part(1, i) for i in inputs), _part(2, output), _part(3, name), _part(4, operator), *(_part(5, o) for o in options)])


ECAPA = """
import sys, torch
from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN
torch.manual_seed(int(sys.argv[2]))
shape = dict(channels=[16, 16, 16, 16, 48], attention_channels=8, lin_neurons=24)
torch.save(ECAPA_TDNN(80, kernel_sizes=[5, 3, 3, 3, 1], dilations=[1, 2, 3, 4, 1], **shape).eval().state_dict(), sys.argv[1])
"""


def ecapa(file: Path, python: Path | str, *, seed: int = 0) -> Path:
    """Write a checkpoint of ECAPA-TDNN (24 numbers), made in an environment that has speechbrain."""
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(python), "-I", "-c", ECAPA, str(file), str(seed)], check=True, capture_output=True)
    return file


if __name__ == "__main__":  # python -m tests.torch.tiny_vectors arcface FILE | ecapa FILE PYTHON: for packaging/test-backends.sh
    if sys.argv[1] == "arcface":
        arcface(Path(sys.argv[2]), 512)
    else:
        ecapa(Path(sys.argv[2]), sys.argv[3])
