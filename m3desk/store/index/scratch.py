"""Large arrays in a temporary file instead of main memory; the file is gone when the process ends."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

import numpy as np

from m3desk.domain.evidence import Floats

log = logging.getLogger(__name__)


def room(folder: Path, rows: int, width: int) -> Floats:
    """Return (rows, width) zeros in a file without a name in `folder`; in memory where the disk has no room for them.

    The room is taken at once: a file that grows as it is written to ends the process (SIGBUS) when the disk is full.
    """
    shape, size = (rows, width), 4 * rows * width
    if not size:
        return np.zeros(shape, np.float32)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                for at in range(0, size, 1 << 24):
                    file.write(bytes(min(1 << 24, size - at)))
                file.flush()
            return np.asarray(np.memmap(file, np.float32, "r+", shape=shape))
    except OSError as error:
        log.warning("%d MB of vectors are kept in memory: %s", size // 1_000_000, error)
        return np.zeros(shape, np.float32)
