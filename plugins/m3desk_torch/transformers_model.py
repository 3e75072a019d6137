"""Models of the `transformers` library in a process of their own: they watch clips, and answer as language models.

The settings choose: `[backends.transformers]` with `model` (a folder, or a name of models.toml), `bits` (16, 8 or 4), `language_model` (for
questions and knowledge; the same as `model` if it is not set), `style` (how a clip is shown: "m3-agent" or ""), `prompts` (the writer's),
`python` (an interpreter of one's own that has the libraries).
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from m3desk import config
from m3desk.children import environments, loading, turns
from m3desk.children.configs import sees
from m3desk.children.pipe import Worker
from m3desk.children.waiting import held
from m3desk.errors import Cancelled, ModelFailed, ModelMissing, UsageError
from m3desk.ports import Message, Pictures, Turn

log = logging.getLogger(__name__)

PROGRAM = Path(__file__).parent / "child" / "program.py"

NAME = "transformers"

BITS = (16, 8, 4)

M3_AGENT = "m3-agent"
"""The style of M3-Agent's memorization model: how its requests look and what it answers (m3desk/memorization/watched)."""


def opened(weights: Callable[[str], Path], threads: int, *, watching: bool) -> TransformersModel:
    """Return the model that the settings choose, loaded; the same one for both ports if both name it. Raises ModelError, UsageError."""
    options = config.backend_options(NAME)
    folder = chosen(options, weights, watching=watching)
    if watching and not _may_see(folder):  # known before it is loaded, which takes minutes
        raise _blind(folder.name)
    bits = options.get("bits", 16)
    if bits not in BITS or isinstance(bits, bool):
        raise UsageError(f"bits = {bits} in [backends.{NAME}] is not possible.", "It is 16, 8 or 4.")
    with _lock:
        model = _models.get((folder, bits))
        if model is None:
            model = TransformersModel(
                folder,
                environments.chosen_python(NAME, options.get("python")),
                bits=bits,
                threads=threads,
                style=options.get("style"),
                need=needed(folder, bits, "watcher" if watching else "language"),
            )
            _models[folder, bits] = model
    if watching and not model.sees:
        raise _blind(model.name)
    return model


def _blind(model: str) -> ModelMissing:
    return ModelMissing(f"the model {model} reads text only: it can't watch clips.", f"Choose one that sees: model in [backends.{NAME}].")


def _may_see(folder: Path) -> bool:
    """Return whether a model takes pictures, as its configuration says; True where that can't be read, which loading tells."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return True
    return not isinstance(config, dict) or sees(config)


def needed(folder: Path, bits: int, port: str) -> int:
    """Return the bytes that a model needs on a card while it works: as its profile says, else estimated from its weights."""
    if not {"model", "language_model", "bits"} & set(config.own_options(NAME)) and (known := config.graphics_need(port)):
        return known
    weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    return weights * (bits + 2) // 16 + BESIDES  # eyes, ears and head keep their 16 bits


BESIDES = 4_000_000_000
"""Bytes beside the weights: cache, work, and what CUDA takes (docs/profiles/)."""

_lock = threading.Lock()
_models: dict[tuple[Path, int], TransformersModel] = {}


def chosen(options: Mapping[str, Any], weights: Callable[[str], Path], *, watching: bool) -> Path:
    """Return the folder of the model that the settings name. Raises ModelMissing, UsageError."""
    key = "model" if watching or not options.get("language_model") else "language_model"
    named = options.get(key)
    if not isinstance(named, str) or not named.strip():
        raise ModelMissing(
            "no model is chosen for the backend transformers.",
            f'Write under [backends.{NAME}] in the settings file: model = "FOLDER" (m3desk config path prints where it is).',
        )
    folder = Path(named).expanduser()
    if not (folder.is_absolute() or folder.is_dir()):
        return weights(named)
    if not (folder / "config.json").is_file():
        raise ModelMissing(f"there is no model in {folder} (no config.json).", f"Mend {key} in [backends.{NAME}] of the settings file.")
    return folder.absolute()


class TransformersModel:
    """A model in its own process, which is started again after a crash. Implements `ports.WatchingModel` and `ports.LanguageModel`.

    `style`: see M3_AGENT. `sees`: it takes pictures. `about`: what its process said when it had loaded the model.
    """

    def __init__(
        self,
        folder: Path,
        python: Path,
        *,
        bits: int = 16,
        threads: int = 2,
        style: str | None = None,
        random_weights: bool = False,
        need: int = 0,
        card: turns.Card = turns.CARD,
    ) -> None:
        """Load the model. `need`: bytes on the graphics card, which it may have to leave to another model. Raises ModelError."""
        self._request = {"folder": str(folder), "bits": bits, "threads": threads, "random_weights": random_weights}
        self._worker = Worker(NAME, python, PROGRAM, progress=self._progress)
        self._folder = folder
        self._process: object = None
        self._busy = threading.Lock()
        self._card = card
        self._on_card = turns.Loaded(folder.name, need, self.close)
        self.about: dict[str, Any] = {}
        with card.at_work(self._on_card):
            self._open()
        about = self.about
        fewer = f" {bits}-bit" if bits < 16 else ""
        self.name = f"{folder.name} transformers {about['versions']['transformers']}{fewer}"
        self.context = int(about["context"])
        self.sees = bool(about["sees"])
        self.hears = bool(about["hears"])
        self.watches_video = bool(about["watches_video"])
        self.most_pictures = int(about["most_pictures"])
        self.style = style if isinstance(style, str) else style_of(folder)

    def _open(self) -> None:
        """Load the model in a new process."""
        try:
            with loading.told(self._folder.name):
                self.about = self._worker.ask("open", self._request).body
        except BaseException:
            self.close()
            raise
        self._process = self._worker.process

    def _progress(self, text: str, share: float | None) -> None:
        log.info("%s: %s", self._folder.name, text)
        loading.tell(self._folder.name, text if share is None else f"{text} {share:.0%}")

    def watch(
        self,
        turns: Sequence[Turn],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces. Raises Cancelled when `cancelled` becomes true, ModelFailed if the model fails."""
        told, arrays = packed(turns)
        return self._reply(
            {"turns": told, "schema": dict(schema) if schema is not None else None, "max_tokens": max_tokens}, arrays, cancelled
        )

    def reply(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 256,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces. Raises Cancelled when `cancelled` becomes true, ModelFailed if the model fails."""
        turns = [{"role": m.role, "parts": [{"text": m.text}]} for m in messages]
        asked = {"turns": turns, "grammar": grammar, "schema": dict(schema) if schema is not None and grammar is None else None}
        return self._reply({**asked, "max_tokens": max_tokens}, (), cancelled)

    def _reply(self, request: dict[str, Any], arrays: Sequence[Any], cancelled: Callable[[], bool]) -> Iterator[str]:
        with held(self._busy, cancelled), self._card.at_work(self._on_card, cancelled):
            if self._worker.process is not self._process or not self._worker.alive:
                if self._process is not None:
                    log.warning("%s: its process ended; it is started again", self._folder.name)
                self._open()
            yield from self._worker.stream("reply", request, arrays, cancelled=cancelled)
            if cancelled():
                raise Cancelled("stopped.")

    def measured(self) -> dict[str, Any]:
        """Return what the last reply took: tokens (`prompt`, `tokens`), seconds (`first`, `rest`), bytes (`peak`); `told`: changes."""
        return self._worker.ask("measured").body

    def timed(self, turns: Sequence[Turn], tokens: int) -> dict[str, Any]:
        """Have it write exactly so many tokens, and return what that took, as `measured` does. Raises ModelError."""
        told, arrays = packed(turns)
        for _ in self._reply({"turns": told, "max_tokens": tokens, "at_least": tokens}, arrays, lambda: False):
            pass
        return self.measured()

    def close(self) -> None:
        """End its process; the next reply starts another."""
        self._worker.stop()
        self._process = None
        self._card.left(self._on_card)


def style_of(folder: Path) -> str:
    """Return the style that a model was trained for, by its configuration.

    M3-Agent's memorization model is the one that is published as the thinker of Qwen2.5-Omni alone; plain Omni repositories hold the whole.
    """
    try:
        kind = json.loads((folder / "config.json").read_text("utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError):
        return ""
    return M3_AGENT if kind == "qwen2_5_omni_thinker" else ""


def packed(turns: Sequence[Turn]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return turns as the process gets them: JSON that names arrays by their number, and the arrays. Raises ModelFailed."""
    arrays: list[Any] = []
    told: list[dict[str, Any]] = []
    for turn in turns:
        parts: list[dict[str, Any]] = []
        for part in turn.parts:
            if isinstance(part, Pictures):
                if not part.pictures:
                    raise ModelFailed("a clip without pictures was to be watched.")
                one: dict[str, Any] = {"pictures": list(range(len(arrays), len(arrays) + len(part.pictures))), "rate": part.rate}
                arrays += part.pictures
                if part.sound is not None:
                    one["sound"] = len(arrays)
                    arrays.append(part.sound)
                parts.append(one)
            else:
                parts.append({"text": part})
        told.append({"role": turn.role, "parts": parts})
    return told, arrays
