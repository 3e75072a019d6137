"""Free memory goes back to the system."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import psutil
import pytest

from m3desk.perception import heap


def _has_glibc() -> bool:
    try:
        return bool(ctypes.CDLL("libc.so.6").malloc_trim)
    except (OSError, AttributeError):
        return False


with_glibc = pytest.mark.skipif(not sys.platform.startswith("linux") or not _has_glibc(), reason="the C library is not glibc")

SETTLED = """
import ctypes, resource, threading
from m3desk.perception import heap
assert heap.keep_together()
libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
"""
"""The beginning of a program whose heap is kept together; options of a heap can't be taken back, so each test has its own."""


@with_glibc
def test_memory_freed_between_pieces_still_in_use_goes_back() -> None:
    libc = ctypes.CDLL("libc.so.6")
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    pieces = [libc.malloc(100_000) for _ in range(2_000)]
    for piece in pieces:
        ctypes.memset(piece, 1, 100_000)
    for piece in pieces[:-1]:
        libc.free(piece)
    before = psutil.Process().memory_info().rss
    heap.give_back()
    after = psutil.Process().memory_info().rss
    libc.free(pieces[-1])
    assert after < before


@with_glibc
def test_many_threads_share_few_arenas() -> None:
    script = """
pieces, all_here = [], threading.Barrier(8)
def take():
    all_here.wait()
    pieces.append(libc.malloc(100_000))
    all_here.wait()
threads = [threading.Thread(target=take) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
print(len({p >> 26 for p in pieces}))
"""
    done = subprocess.run([sys.executable, "-c", SETTLED + script], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= heap.ARENAS + 1  # the first one may lie on a border of the addresses that are counted


@with_glibc
def test_a_picture_that_follows_another_gets_no_new_pages() -> None:
    script = """
def pictures():
    for _ in range(50):
        piece = libc.malloc(6_000_000)
        ctypes.memset(piece, 1, 6_000_000)
        libc.free(piece)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = faults()
pictures()
thread = threading.Thread(target=pictures)
thread.start()
thread.join()
print(faults() - before)
"""
    done = subprocess.run([sys.executable, "-c", SETTLED + script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20 * 6_000_000 // 4096


def test_where_the_c_library_is_another_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for f in (heap._glibc, heap.keep_together):
        f.cache_clear()
    heap.give_back()
    assert not heap.keep_together()
    for f in (heap._glibc, heap.keep_together):
        f.cache_clear()
