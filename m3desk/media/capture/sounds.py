"""Brings captured sound of any rate and channels to the recording's: one channel, 48,000 samples a second, at exact times."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

import av
import numpy as np
from av.filter import Graph
from numpy.typing import NDArray

from m3desk.media.capture.writing import RATE

MOST = RATE // 200
"""Samples a second that are added or left out at most, to follow a drift: 0.5 %."""

GAP = 500_000
"""A hole of more microseconds is a gap; a smaller one is filled with silence."""

_US = Fraction(1, 1_000_000)
Pieces = list[tuple[int, NDArray[np.float32]]]


class SoundTrack:
    """The sound of one source. Its time stamps are right on average: the samples are stretched until they fit (FFmpeg's aresample)."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._source: Any = None
        self._sink: Any = None
        self._format: tuple[Any, ...] = ()
        self._due: int | None = None

    def push(self, at: int, frame: Any) -> Pieces:
        """Take a frame (PyAV's) that begins at `at` microseconds; return what is ready: (time, samples)."""
        kind = (frame.format.name, frame.layout.name, frame.sample_rate)
        pieces: Pieces = []
        if kind != self._format or self._due is None or abs(at - self._due) > GAP:
            pieces = self.finish()
            self._build(kind)
        self._due = at + round(frame.samples * 1_000_000 / frame.sample_rate)
        frame.pts, frame.time_base = at, _US
        self._source.push(frame)
        return pieces + self._ready()

    def finish(self) -> Pieces:
        """Return what the filter still holds; the next frame begins a new stretch."""
        if self._graph is None:
            return []
        pieces: Pieces = []
        with contextlib.suppress(av.FFmpegError):
            self._source.push(None)
            pieces = self._ready()
        self._graph, self._format, self._due = None, (), None
        return pieces

    def _build(self, kind: tuple[Any, ...]) -> None:
        format_, layout, rate = kind
        graph = Graph()
        self._source = graph.add_abuffer(sample_rate=rate, format=format_, layout=layout, time_base=_US)
        follow = graph.add("aresample", f"{RATE}:async={MOST}:min_comp=0.002:min_hard_comp=0.04:ochl=mono:osf=flt")
        form = graph.add("aformat", f"sample_fmts=flt:channel_layouts=mono:sample_rates={RATE}")
        self._sink = graph.add("abuffersink")
        self._source.link_to(follow)
        follow.link_to(form)
        form.link_to(self._sink)
        graph.configure()
        self._graph, self._format = graph, kind

    def _ready(self) -> Pieces:
        pieces: Pieces = []
        while True:
            try:
                frame = self._sink.pull()
            except (av.BlockingIOError, av.EOFError):
                return pieces
            at = round(frame.pts * frame.time_base * 1_000_000)
            pieces.append((at, np.ascontiguousarray(frame.to_ndarray().reshape(-1), np.float32)))
