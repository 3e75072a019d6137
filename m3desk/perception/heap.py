"""Gives free memory of the process back to the system.

The C library keeps what is freed for later, in pieces that grow apart: in an hour of clips the engine grew by 7 MB a minute while what was
in use stayed the same (`bench live course`, 2026-11).
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back() -> None:
    """Return free memory to the system; 30–150 ms of one core after a clip. Does nothing where the C library is not glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):  # musl
        return None
