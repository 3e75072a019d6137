"""Nothing leaves the machine: switches off what model libraries send by themselves, before the first of them is imported.

`m3desk/__init__.py` calls `switch_off`, so no module of M3Desk, the window or a plugin runs before it; child processes inherit it with the
environment. SECURITY.md lists what each library would send. Must not import anything but the standard library's smallest modules.
"""

from __future__ import annotations

import os
import sys

SWITCHES = {
    # ONNX Runtime 1.29 and later posts device, paths and model names to Microsoft, and queues them in files, unless this is set before
    # it is imported.
    "ORT_DISABLE_TELEMETRY": "1",
    # huggingface_hub, which faster-whisper imports: what it could ask a server is refused, then its reports and its look for a new version.
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "TRANSFORMERS_OFFLINE": "1",
    # llama.cpp: no download of a model that is not here.
    "LLAMA_ARG_OFFLINE": "1",
    # The words that several libraries share (https://donottrack.sh).
    "DO_NOT_TRACK": "1",
    "DISABLE_TELEMETRY": "1",
}
"""Environment variables and what they are set to, whatever they were: privacy is promised, so it is no setting."""


def switch_off() -> None:
    """Set `SWITCHES` in this process and, by inheritance, in every process it starts; use ONNX Runtime's own switch where it is loaded."""
    os.environ.update(SWITCHES)
    # ONNX Runtime's Windows builds before 1.29 know only this call; another thread may be in the middle of importing it.
    disable = getattr(sys.modules.get("onnxruntime"), "disable_telemetry_events", None)
    if disable is not None:
        disable()
