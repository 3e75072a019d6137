"""Gives a thinker-only folder (the form of M3-Agent-Memorization) the form that vLLM knows: config wrapped, keys prefixed.

vLLM takes Qwen2.5-Omni whole only. The headers of the safetensors are written anew, their tensors copied as bytes: no torch is needed.
"""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from m3desk import private
from m3desk.errors import Cancelled, ModelFailed

THINKER = "qwen2_5_omni_thinker"
WHOLE = {"architectures": ["Qwen2_5OmniForConditionalGeneration"], "model_type": "qwen2_5_omni", "enable_audio_output": False}
PREFIX = "thinker."
LONGEST_HEADER = 100_000_000
"""Bytes; the format's own bound."""

_BLOCK = 1 << 24
_COPIED = frozenset({".json", ".txt", ".jinja", ".model"})


def is_thinker(config: dict[str, Any]) -> bool:
    """Return whether this is the config of a thinker alone."""
    return bool(config.get("model_type") == THINKER)


def wrapped(source: Path, place: Path, *, told: Callable[[str], None], cancelled: Callable[[], bool]) -> Path:
    """Return the wrapped copy of a folder below `place`, made once for each state of its files. Raises Cancelled, ModelFailed."""
    files = sorted(f for f in source.iterdir() if f.is_file())
    state: list[list[Any]] = [[f.name, f.stat().st_size, f.stat().st_mtime_ns] for f in files]
    target = place / f"{source.name}-whole"
    mark = target / "made-from.json"
    if mark.is_file() and json.loads(mark.read_text("utf-8")) == state:
        return target
    needed = sum(size for _, size, _ in state)
    try:
        if target.exists():
            shutil.rmtree(target)
        private.folder(target)
        if shutil.disk_usage(target).free < needed + 1_000_000_000:
            raise ModelFailed(f"a copy of {source.name} for vLLM needs {needed / 1e9:.1f} GB on the disk.", f"Make room in {place}.")
        for file in files:
            if file.suffix == ".safetensors":
                _weights(file, target / file.name, told, cancelled)
            elif file.name == "model.safetensors.index.json":
                index = json.loads(file.read_text("utf-8"))
                index["weight_map"] = {_key(k): v for k, v in index["weight_map"].items()}
                (target / file.name).write_text(json.dumps(index), "utf-8")
            elif file.name == "config.json":
                (target / file.name).write_text(json.dumps({**WHOLE, "thinker_config": json.loads(file.read_text("utf-8"))}), "utf-8")
            elif file.suffix in _COPIED:
                shutil.copyfile(file, target / file.name)
        mark.write_text(json.dumps(state), "utf-8")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        shutil.rmtree(target, ignore_errors=True)
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ModelFailed(f"{source.name} can't be prepared for vLLM ({why}).", "Check its files: m3desk models verify.") from error
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def _key(name: str) -> str:
    return name if name.startswith(PREFIX) or name == "__metadata__" else f"{PREFIX}{name}"


def header(stream: IO[bytes], size: int) -> dict[str, Any]:
    """Read the header of a safetensors file of `size` bytes. Raises ValueError if the file is not what its header says."""
    length = struct.unpack("<Q", stream.read(8))[0] if size >= 8 else 0
    if not 2 <= length <= min(LONGEST_HEADER, size - 8):
        raise ValueError("not a safetensors file")
    found: dict[str, Any] = json.loads(stream.read(length))
    end = max((v["data_offsets"][1] for k, v in found.items() if k != "__metadata__"), default=0)
    if 8 + length + end != size:
        raise ValueError("a safetensors file is cut short")
    return found


def _weights(source: Path, target: Path, told: Callable[[str], None], cancelled: Callable[[], bool]) -> None:
    size = source.stat().st_size
    with source.open("rb") as read, target.open("wb") as write:
        text = json.dumps({_key(k): v for k, v in header(read, size).items()}, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        write.write(struct.pack("<Q", len(text)) + text)
        while block := read.read(_BLOCK):
            if cancelled():
                raise Cancelled("stopped.")
            write.write(block)
            told(f"preparing {source.name}: {100 * read.tell() // size} %")
