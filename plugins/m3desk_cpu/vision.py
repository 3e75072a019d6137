"""A small model that sees, and maybe hears, in this process, by llama.cpp (xllamacpp): a GGUF model with its projector.

The settings choose it: `[backends.llama-vision]` with `model` (a name of models.toml, or the path of a GGUF file), `mmproj` (of one's own
file: its projector's path), `pictures` (of a clip, 4), `context` (tokens, 8192), `tokens` (most of a picture, 256; models whose number of
tokens follows from the picture's size keep to it).
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import json
import wave
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import cv2
import numpy as np

from m3desk import config
from m3desk.domain.visible import without_chat_tokens
from m3desk.errors import ModelFailed, ModelMissing
from m3desk.ports import SAMPLE_RATE, Picture, Sound, Turn
from m3desk_cpu.language import LlamaCpp

NAME = "llama-vision"

LONGEST_SIDE = 896
"""Pixels of a picture; small models see little more in larger ones, and each costs a processor seconds."""

DEFAULT = "qwen3-vl-2b"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the settings choose. `mmproj`: the projector."""

    model: Path
    mmproj: Path
    pictures: int = 4
    context: int = 8_192
    tokens: int = 256


def chosen(weights: Callable[[str], Path]) -> Chosen:
    """Return the files and numbers that the settings name; the default model if they name none. Raises ModelMissing, UsageError."""
    options = config.backend_options(NAME)
    if unknown := sorted(set(options) - {"model", "mmproj", "pictures", "context", "tokens", "prompts"}):
        raise ModelMissing(
            f"[backends.{NAME}] has no setting “{unknown[0]}”.", "There are: model, mmproj, pictures, context, tokens, prompts."
        )
    numbers = {name: _number(options, name, low, high) for name, low, high in _LIMITS if name in options}
    named = str(options.get("model", "")).strip() or DEFAULT
    if named.endswith(".gguf"):
        model = Path(named).expanduser()
        given = str(options.get("mmproj", "")).strip()
        if not given:
            raise ModelMissing("a model that sees needs its projector.", f"Set it: m3desk config set backends.{NAME}.mmproj FILE")
        return Chosen(model, Path(given).expanduser(), **numbers)
    folder = weights(named)
    if not (folder / "mmproj.gguf").is_file():
        raise ModelMissing(f"the model {named} does not see: it has no projector.", f"Choose one that does, such as {DEFAULT}.")
    return Chosen(folder / "model.gguf", folder / "mmproj.gguf", **numbers)


_LIMITS = (("pictures", 1, 32), ("context", 2_048, 262_144), ("tokens", 16, 4_096))


def _number(options: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = options[name]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ModelMissing(
            f"the setting backends.{NAME}.{name} must be a whole number from {low} to {high}.",
            f"m3desk config set backends.{NAME}.{name} NUMBER",
        )
    return value


class LlamaVision(LlamaCpp):
    """Answers ports.WatchingModel: single pictures, sound as a part of its own where the model hears."""

    watches_video = False

    def __init__(self, files: Chosen, threads: int) -> None:
        """Load model and projector. Raises ModelMissing, ModelFailed, BackendMissing."""
        for file in (files.model, files.mmproj):
            if not file.is_file():
                raise ModelMissing(
                    f"there is no {file}.", f"Mend it: m3desk config set backends.{NAME}.model NAME (see m3desk models list)"
                )
        super().__init__(files.model, threads, files.context, files.mmproj, image_max_tokens=files.tokens, n_batch=512)
        self.most_pictures = files.pictures
        senses = self._senses()
        if senses and "image" not in senses:
            raise ModelFailed(f"{files.mmproj.name} gives {self.name} no eyes.", "Choose the projector of this model.")
        self.hears = "audio" in senses

    def watch(
        self,
        turns: Sequence[Turn],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces. Raises Cancelled when `cancelled` becomes true, ModelFailed if the model fails."""
        return self._said([{"role": t.role, "content": self._content(t)} for t in turns], None, schema, max_tokens, cancelled)

    def _content(self, turn: Turn) -> str | list[dict[str, Any]]:
        if all(isinstance(part, str) for part in turn.parts):
            return "\n".join(without_chat_tokens(part) for part in turn.parts if isinstance(part, str))
        parts: list[dict[str, Any]] = []
        for part in turn.parts:
            if isinstance(part, str):
                parts.append({"type": "text", "text": without_chat_tokens(part)})
                continue
            parts += [{"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{_jpeg(p)}"}} for p in part.pictures]
            if self.hears and part.sound is not None and part.sound.size:
                parts.append({"type": "input_audio", "input_audio": {"data": _wav(part.sound), "format": "wav"}})
        return parts

    def _senses(self) -> list[str]:
        """Return what the model takes (`text`, `image`, `audio`), as its own server tells it on loopback; [] if it does not."""
        at = urlsplit(str(self._server.listening_address))
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException, KeyError, IndexError, TypeError):
            line = http.client.HTTPConnection(at.hostname or "127.0.0.1", at.port, timeout=10)
            with contextlib.closing(line):
                line.request("GET", "/v1/models", headers={"Authorization": f"Bearer {self._key}"})
                return [str(s) for s in json.load(line.getresponse())["data"][0]["architecture"]["input_modalities"]]
        return []


def _jpeg(picture: Picture) -> str:
    height, width = picture.shape[:2]
    if (longest := max(height, width)) > LONGEST_SIDE:
        size = (max(1, width * LONGEST_SIDE // longest), max(1, height * LONGEST_SIDE // longest))
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    done, written = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 90])
    if not done:
        raise ModelFailed("a picture could not be written as JPEG.")
    return base64.b64encode(written.tobytes()).decode("ascii")


def _wav(sound: Sound) -> str:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes((np.clip(sound, -1, 1) * 32_767).astype("<i2").tobytes())
    return base64.b64encode(file.getvalue()).decode("ascii")


def opened(weights: Callable[[str], Path], threads: int) -> LlamaVision:
    """Return the model that the settings choose, loaded. Raises ModelError, UsageError."""
    return LlamaVision(chosen(weights), threads)
