"""The entry points of the backends in environments of their own: one factory each. Cheap to import; models load in the factories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from m3desk import config

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


def insightface_pack(weights: Weights, threads: int) -> Any:
    from m3desk.children import environments
    from m3desk_torch.vectors import InsightFacePack

    return InsightFacePack(_own("insightface", "pack") or weights("buffalo-l"), environments.python("insightface"), 1)


def insightface_detector(weights: Weights, threads: int) -> Any:
    from m3desk.children import environments
    from m3desk.errors import ModelMissing
    from m3desk_torch.vectors import InsightFaceDetector

    if (pack := _own("insightface", "pack")) is None:
        hint = "Set it: m3desk config set backends.insightface.pack FOLDER"
        raise ModelMissing("no InsightFace pack with a detector is chosen.", hint)
    return InsightFaceDetector(pack, environments.python("insightface"), 1)


def ecapa(weights: Weights, threads: int) -> Any:
    from m3desk.children import environments
    from m3desk_torch.vectors import Ecapa

    return Ecapa(_own("speechbrain", "model") or weights("ecapa-voxceleb"), environments.python("speechbrain"), threads)


def _own(backend: str, key: str) -> Path | None:
    """Return the path that the user set for a backend's model, if any."""
    named = config.backend_options(backend).get(key)
    return Path(named).expanduser() if isinstance(named, str) and named.strip() else None
