"""The entry points of the backends in environments of their own: one factory each. Cheap to import; models load in the factories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Weights = Callable[[str], Path]


def transformers_watcher(weights: Weights, threads: int) -> Any:
    from m3desk_torch.transformers_model import opened

    return opened(weights, threads, watching=True)


def transformers_random(threads: int) -> Any:
    from m3desk_torch.random_weights import RandomWeights

    return RandomWeights(threads)


def transformers_language(weights: Weights, threads: int) -> Any:
    from m3desk_torch.transformers_model import opened

    return opened(weights, threads, watching=False)
