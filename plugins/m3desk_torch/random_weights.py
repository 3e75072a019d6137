"""Models of real architectures with random weights, for `m3desk bench gpu`: what a clip costs here, before any download."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk import config
from m3desk.children import environments
from m3desk.children.pipe import Worker
from m3desk_torch import transformers_model
from m3desk_torch.transformers_model import NAME, TransformersModel


class RandomWeights:
    """Builds them in the backend's own environment. Raises BackendMissing where that is not installed."""

    def __init__(self, threads: int) -> None:
        self._python = environments.chosen_python(NAME, config.backend_options(NAME).get("python"))
        self._threads = threads

    def device(self) -> dict[str, Any]:
        """Return `gpu` (whether torch can use one), `device` (its name), `free` (bytes), `architectures`: name → what it is."""
        return self._ask("architectures", {})

    def model(self, architecture: str, folder: Path, *, tiny: bool) -> TransformersModel:
        """Return a model of an architecture, loaded; its configuration is written to `folder`. Raises ModelError."""
        self.make(architecture, folder, tiny=tiny)
        return TransformersModel(folder, self._python, threads=self._threads, random_weights=not tiny)

    def make(self, architecture: str, folder: Path, *, tiny: bool, says: Sequence[str] = ()) -> None:
        """Write the folder of an architecture; `tiny`: with weights. `says`: what a tiny one is made to write. Raises ModelError."""
        self._ask("make", {"architecture": architecture, "tiny": tiny, "folder": str(folder), "says": list(says)})

    def _ask(self, call: str, arguments: dict[str, Any]) -> dict[str, Any]:
        worker = Worker(f"{NAME}-made", self._python, transformers_model.PROGRAM)
        try:
            return worker.ask(call, {**arguments, "threads": self._threads}).body
        finally:
            worker.stop()
