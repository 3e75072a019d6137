"""Keeps the process's memory in few pieces and gives what is free back to the system.

The C library keeps what is freed for later, in pieces that grow apart: in an hour of clips the engine grew by 7 MB a minute while what was
in use stayed the same (`bench live course`, 2026-11). Each thread has its own pieces (an arena) until as many exist as eight times the
number of cores, and a large block lies among the small ones once a block of its size was freed before.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

ARENAS = 2
"""Arenas that all threads share. The engine's free memory after nine clips: 150 MB with 2 and `LARGE`, 200 with 2, 380 with neither."""

LARGE = 16 << 20
"""Bytes from which a block has its own pages, which go back when it is freed.

From 4 MB the arrays of each picture are such blocks: new pages cost four times the processor's seconds of a clip. From 16 MB: none.
"""

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Numbers of these options in glibc's malloc.h."""


@cache
def keep_together() -> bool:
    """Set `ARENAS` and `LARGE`, once, before threads start. Returns whether it was done: only glibc has these options."""
    libc = _glibc()
    return libc is not None and bool(libc.mallopt(_M_ARENA_MAX, ARENAS) and libc.mallopt(_M_MMAP_THRESHOLD, LARGE))


def give_back() -> None:
    """Return free memory to the system; 30–150 ms of one core after a clip. Does nothing where the C library is not glibc."""
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)


@cache
def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
        return libc if libc.malloc_trim and libc.mallopt else None
    except (OSError, AttributeError):  # musl
        return None
