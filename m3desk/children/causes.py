"""Says in plain words why a model process ended: from its exit code and the last lines of its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from m3desk.children.guard import NOT_STARTED
from m3desk.domain.visible import visible
from m3desk.errors import BackendMissing, ModelError, ModelFailed

LINES = 6
"""How many lines of its log an error quotes."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What is wrong, what to do, and the kind of error."""

    text: str
    hint: str
    kind: type[ModelError] = ModelFailed


_CAUSES: tuple[tuple[str, Cause], ...] = (
    (
        r"CUDA out of memory|OutOfMemoryError|HIP out of memory|CUBLAS_STATUS_ALLOC_FAILED|No available memory for the cache blocks"
        r"|Free memory on device .* less than desired|ErrorOutOfDeviceMemory|cudaMalloc failed: out of memory"
        r"|larger than the available KV cache",
        Cause(
            "there is not enough memory on the GPU",
            "Close what else uses the GPU, or choose a smaller model, a shorter context or fewer bits.",
        ),
    ),
    (
        r"Failed to infer device type|Found no NVIDIA driver|libcuda\.so\.1|CUDA driver version is insufficient|no CUDA-capable device"
        r"|Torch not compiled with CUDA enabled|No CUDA GPUs are available|NVML Shared Library Not Found|no ROCm-capable device",
        Cause(
            "there is no usable GPU driver (NVIDIA)",
            "Install the driver of the graphics card (nvidia-smi must work), or choose a backend for the CPU.",
        ),
    ),
    (
        r"[Aa]ddress already in use|EADDRINUSE|\[Errno (?:98|48|10048)\]|Only one usage of each socket address",
        Cause("its port is taken by another program", "Try again: another port is chosen; or set another one."),
    ),
    (
        r"MemoryError|std::bad_alloc|[Cc]annot allocate memory|DefaultCPUAllocator: (?:can't|not enough)|Unable to allocate",
        Cause("there is not enough memory", "Close other programs, or choose a smaller model."),
    ),
    (
        r"No space left on device",
        Cause("the disk is full", "Make room and try again."),
    ),
    (
        r"ModuleNotFoundError|ImportError|cannot open shared object file|DLL load failed|Library not loaded|PackageNotFoundError",
        Cause("a library is missing or does not fit", "Install the backend again: m3desk backends install NAME.", BackendMissing),
    ),
    (
        r"SafetensorError|HeaderTooLarge|invalid header|Error while deserializing|size mismatch for"
        r"|no module or parameter named|is not a valid JSON",
        Cause("the files of its model are damaged, or of another kind than expected", "Check them: m3desk models verify."),
    ),
    (
        r"[Rr]epo id must|is not a local folder|does not appear to have a file named|Can't load"
        r"|OfflineModeIsEnabled|outgoing traffic has been disabled",
        Cause("the files of its model are not where they are expected", "Check the model's folder in the settings."),
    ),
)


def failure(name: str, code: int | None, log: Sequence[str], *, doing: str = "") -> ModelError:
    """Return the error for a process that ended with `code` (None: it runs but does not answer), with the last lines of its log.

    `doing`: what it was about to do, such as “while it started”.
    """
    cause = _cause(code, "\n".join(log))
    last = [visible(line.rstrip()) for line in log if line.strip()][-LINES:]
    when = f" {doing}" if doing else ""
    quoted = " Its last lines: " + " ⏎ ".join(line if len(line) <= 300 else f"{line[:300]}…" for line in last) if last else ""
    return cause.kind(f"The backend {name} ended{when}: {cause.text}.{quoted}", cause.hint.replace("NAME", name))


def _cause(code: int | None, log: str) -> Cause:
    for pattern, cause in _CAUSES:
        if re.search(pattern, log):
            return cause
    if code == NOT_STARTED:
        return Cause("it could not be started", "Install it again: m3desk backends install NAME.", BackendMissing)
    if code in (-9, 137):
        return Cause("it was killed, most likely because memory ran out", "Close other programs, or choose a smaller model.")
    if code is not None and (code < 0 or 128 < code < 160):
        return Cause(f"it crashed (signal {-code if code < 0 else code - 128})", "It is started again at its next use.")
    return Cause(f"exit code {code}" if code else "it ended by itself", "It is started again at its next use.")


__all__ = ["Cause", "failure"]
