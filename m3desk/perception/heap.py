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

From 1 MB on the arrays of each picture are such blocks: new pages cost 18 % more of the processor. From 16 MB: nothing to be seen.
"""

KEPT = 2 * LARGE
"""Bytes at the end of an arena that stay with the process. With `LARGE` alone 128 kB do: what lies last there, a picture, then gets new
pages each time (300 pairs of pictures: .82 s of the processor and 342,000 pages, with `KEPT` .07 s and 1,200, as without either).
"""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""Numbers of these options in glibc's malloc.h."""


@cache
def keep_together() -> bool:
    """Set `ARENAS`, `LARGE` and `KEPT`, once, before threads start. Returns whether it was done: only glibc has these options."""
    libc = _glibc()
    options = ((_M_ARENA_MAX, ARENAS), (_M_MMAP_THRESHOLD, LARGE), (_M_TRIM_THRESHOLD, KEPT))
    done = [libc is not None and libc.mallopt(*option) for option in options]  # each, whatever the others say
    return all(done)


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
