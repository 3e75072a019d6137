"""The newest captured picture, shared with other processes: two slots in shared memory, without locks; writing never waits."""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import sys
import threading
import time
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

MOST_WIDTH, MOST_HEIGHT = 1920, 1080
"""Pixels of the largest picture that is shared; larger ones are shrunk."""

WANTED_SECONDS = 2.0
"""Pictures are shared only while somebody has looked within this time; before that, one each `IDLE_SECONDS`."""

IDLE_SECONDS = 1.0

_PREFIX = "m3desk-view-"
_attaching = threading.Lock()
_HEADER = struct.Struct("<Qd")  # number of pictures written so far; when somebody last looked
_SLOT = struct.Struct("<Qqiii")  # number of this picture, its time, width, height, stride
_BYTES = MOST_WIDTH * MOST_HEIGHT * 3
_START = 64
_SLOT_BYTES = 64 + _BYTES


def _tidy() -> None:
    """Remove what processes left that were killed together with all that would have removed it (Linux only)."""
    for file in Path("/dev/shm").glob(f"{_PREFIX}*"):
        number = file.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdigit() and not psutil.pid_exists(int(number)):
            with contextlib.suppress(OSError):
                file.unlink()


class Preview:
    """Shared memory with the newest picture. One process creates it, the recorder writes, anybody attaches to read."""

    def __init__(self, memory: SharedMemory, owner: bool) -> None:
        self._memory = memory
        self._owner = owner
        self._read = 0
        self._wrote = 0.0
        self._reformatter = VideoReformatter()

    @classmethod
    def create(cls) -> Preview:
        """Create it; `close` removes it. Those of processes that were killed are removed. Raises OSError."""
        _tidy()
        return cls(SharedMemory(f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}", create=True, size=_START + 2 * _SLOT_BYTES), True)

    @classmethod
    def attach(cls, name: str) -> Preview:
        """Attach to the preview of that name. Raises FileNotFoundError once it is gone."""
        if sys.version_info >= (3, 13):
            return cls(SharedMemory(name, track=False), False)
        with _attaching:  # else this process would remove it when it ends
            register, resource_tracker.register = resource_tracker.register, lambda *_: None
            try:
                memory = SharedMemory(name)
            finally:
                resource_tracker.register = register
        return cls(memory, False)

    @property
    def name(self) -> str:
        return self._memory.name

    def newest(self) -> tuple[int, NDArray[np.uint8]] | None:
        """Return (time in microseconds, (height, width, 3) uint8 BGR) of the newest picture; None if no other came since the last call."""
        buffer = self._buffer()
        if buffer is None:
            return None
        struct.pack_into("<d", buffer, 8, time.monotonic())
        for _ in range(3):
            count = _HEADER.unpack_from(buffer, 0)[0]
            if count in (0, self._read):
                return None
            place = _START + (count % 2) * _SLOT_BYTES
            number, at, width, height, stride = _SLOT.unpack_from(buffer, place)
            if number != count or not 0 < width <= MOST_WIDTH or not 0 < height <= MOST_HEIGHT or stride != width * 3:
                continue
            whole = np.frombuffer(buffer, np.uint8, height * stride, place + 64).reshape(height, width, 3).copy()
            if _SLOT.unpack_from(buffer, place)[0] == count:  # not written over meanwhile
                self._read = count
                return at, whole
        return None

    def wanted(self) -> bool:
        """Return whether a picture should be put now: somebody looks, or the last one is old."""
        buffer = self._buffer()
        if buffer is None:
            return False
        looked = _HEADER.unpack_from(buffer, 0)[1]
        return time.monotonic() - looked < WANTED_SECONDS or time.monotonic() - self._wrote > IDLE_SECONDS

    def put(self, at: int, frame: Any) -> None:
        """Share a picture (PyAV's frame)."""
        buffer = self._buffer()
        if buffer is None:
            return
        scale = min(1.0, MOST_WIDTH / frame.width, MOST_HEIGHT / frame.height)
        width, height = max(1, int(frame.width * scale)), max(1, int(frame.height * scale))
        picture = self._reformatter.reformat(frame, width, height, "bgr24").to_ndarray()
        count = _HEADER.unpack_from(buffer, 0)[0] + 1
        place = _START + (count % 2) * _SLOT_BYTES
        _SLOT.pack_into(buffer, place, 0, 0, 0, 0, 0)
        np.frombuffer(buffer, np.uint8, height * width * 3, place + 64)[:] = picture.reshape(-1)
        _SLOT.pack_into(buffer, place, count, at, width, height, width * 3)
        struct.pack_into("<Q", buffer, 0, count)
        self._wrote = time.monotonic()

    def _buffer(self) -> Any:
        return self._memory.buf

    def remove(self) -> None:
        """Remove it in place of its creator, which was killed."""
        if not self._owner:
            with contextlib.suppress(OSError):
                resource_tracker.register(self._memory._name, "shared_memory")  # type: ignore[attr-defined]
                self._memory.unlink()

    def close(self) -> None:
        """Detach; its creator removes it."""
        with contextlib.suppress(BufferError):
            self._memory.close()
        if self._owner:
            self._owner = False
            with contextlib.suppress(FileNotFoundError):
                self._memory.unlink()
