"""Opens the inference libraries OpenCV and ONNX Runtime with a limited number of threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from m3desk import privacy
from m3desk.errors import BackendMissing, ModelFailed, ModelMissing

DOWNLOAD = "Download them: m3desk models pull"
INSTALL = "Install M3Desk again: pip install --force-reinstall m3desk"
"""What to do about weights that are missing: those that are downloaded, and those that M3Desk or a library brings."""


def opencv(threads: int) -> Any:
    """Import OpenCV and give its pool `threads` threads (one pool a process; its default of all cores would starve speech recognition)."""
    try:
        import cv2
    except ImportError as e:
        raise BackendMissing("OpenCV is not installed.", "Install it: pip install 'opencv-python-headless<5'") from e
    cv2.setNumThreads(threads)
    return cv2


def onnx_session(model: Path | bytes, threads: int, *, arena: bool = True, name: str = "") -> Any:
    """Open an ONNX file, or a model in memory, with `threads` threads.

    Silently: log level 3 hides SFace's 300 warnings about unused initializers. `name`: of a model in memory.
    `arena`: keep memory for the next call; not for models whose input is of any length, which would keep the largest clip's.
    Raises BackendMissing, ModelFailed.
    """
    try:
        import onnxruntime
    except ImportError as e:
        raise BackendMissing("ONNX Runtime is not installed.", "Install it: pip install onnxruntime") from e
    privacy.switch_off()  # now also by the library's own call
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = arena
    # Spinning threads would take the core that speech recognition needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(model if isinstance(model, bytes) else str(model), options, providers=["CPUExecutionProvider"])
    except Exception as e:
        raise ModelFailed(
            f"The model {model.name if isinstance(model, Path) else name} does not open: {e}", "Check it: m3desk models verify"
        ) from e


def need(path: Path, name: str, hint: str = DOWNLOAD) -> Path:
    """Return the path; raise ModelMissing if it does not exist."""
    if not path.exists():
        raise ModelMissing(f"The weights of {name} are not at {path}.", hint)
    return path
