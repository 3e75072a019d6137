"""Stands in for the model's process (the program of `m3desk_torch/child`) where there is no torch: what was asked comes back."""

from __future__ import annotations

import json
import os
import time
from typing import Any

_opened: dict[str, Any] = {}


def open_(request: dict[str, Any], call: Any) -> dict[str, Any]:
    folder = request["folder"]
    call.progress(f"loading {folder}")
    if folder.endswith("large"):
        call.refuse("there is not enough memory on the GPU (CUDA out of memory; 1.0 GB are free now).", "Set bits = 4.", kind="memory")
    if folder.endswith("crashing"):
        print("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18 GiB", flush=True)
        os._exit(1)
    _opened.update(request)
    text = folder.endswith("text")
    return {
        "kind": "stand_in",
        "context": 4096,
        "hears": not text,
        "sees": not text,
        "watches_video": not text,
        "most_pictures": 0 if text else 60,
        "versions": {"torch": "0", "transformers": "5.23.0"},
    }


def reply(request: dict[str, Any], call: Any) -> dict[str, Any]:
    asked = "".join(part.get("text", "") for turn in request["turns"] for part in turn["parts"])
    if "crash" in asked:
        print("RuntimeError: CUDA error: an illegal memory access was encountered", flush=True)
        os._exit(134)
    if "wait" in asked:
        call.piece("…")
        while not call.cancelled:
            time.sleep(0.01)
        return {}
    shapes = [list(a.shape) for a in request.pop("arrays")]
    for piece in ("{", json.dumps({**request, "shapes": shapes, "process": os.getpid()})[1:]):
        call.piece(piece)
    return {}


HANDLERS = {"open": open_, "reply": reply, "measured": lambda _request, _call: {"tokens": 2}}
