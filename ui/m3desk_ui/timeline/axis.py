"""Several sources one after the other on one time line: where each begins, and what a place on it means. Pure: no Qt."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from m3desk.domain.clip import Clip, Source

ALL = "*"
"""Stands for all sources where one source is named."""
BETWEEN = 1_000_000
"""Microseconds that a source without a known length takes."""


@dataclass(frozen=True)
class Axis:
    """`parts`: (source, its first microsecond on the axis, its length), in order. Clips and rows on an axis have its times."""

    parts: tuple[tuple[str, int, int], ...]

    @staticmethod
    def of(sources: Sequence[Source], clips: Iterable[Clip]) -> Axis:
        """Put sources one after the other, each as long as it is known to be. `clips`: of all of them, with their own times."""
        ends: defaultdict[str, int] = defaultdict(int)
        for clip in clips:
            ends[clip.source] = max(ends[clip.source], clip.end)
        parts, at = [], 0
        for source in sources:
            length = max(source.duration or 0, ends[source.id]) or BETWEEN
            parts.append((source.id, at, length))
            at += length
        return Axis(tuple(parts))

    @cached_property
    def _start_of(self) -> dict[str, int]:
        return {source: start for source, start, _ in self.parts}

    @cached_property
    def _starts(self) -> list[int]:
        return [start for _, start, _ in self.parts]

    @property
    def length(self) -> int:
        return self.parts[-1][1] + self.parts[-1][2] if self.parts else 0

    def start_of(self, source: str) -> int | None:
        """Return where a source begins; None if it is not here."""
        return self._start_of.get(source)

    def on(self, clip: Clip) -> Clip:
        """Return a clip with the times of the axis."""
        start = self._start_of.get(clip.source, 0)
        return replace(clip, start=clip.start + start, end=clip.end + start)

    def own(self, clip: Clip) -> Clip:
        """Return a clip of the axis with its own times."""
        start = self._start_of.get(clip.source, 0)
        return replace(clip, start=clip.start - start, end=clip.end - start)

    def at(self, place: int) -> tuple[str, int]:
        """Return the source and its own time at a place of the axis."""
        i = max(0, min(len(self.parts) - 1, bisect_right(self._starts, place) - 1))
        source, start, length = self.parts[i]
        return source, max(0, min(place - start, length))

    def within(self, start: int, end: int) -> tuple[str, int, int]:
        """Return a span of the axis as a span of the source in which it begins."""
        source, first = self.at(start)
        at = self._start_of[source]
        length = next(n for s, _, n in self.parts if s == source)
        return source, first, max(first, min(end - at, length))

    def after(self, sources: Sequence[Source] | None, clips: Iterable[Clip]) -> Axis | None:
        """Return the axis after a change; None where it must be made anew, because a source moved.

        `sources`: all of them, None where none changed; `clips`: those that changed, with their own times. The last source may grow.
        """
        length_of = {source: length for source, _, length in self.parts}
        if sources is not None and (
            [s.id for s in sources] != [p[0] for p in self.parts] or any((s.duration or 0) > length_of[s.id] for s in sources[:-1])
        ):
            return None
        grown = 0 if sources is None or not sources else sources[-1].duration or 0
        for clip in clips:
            if clip.end <= length_of.get(clip.source, 0):
                continue
            if not self.parts or clip.source != self.parts[-1][0]:
                return None
            grown = max(grown, clip.end)
        if not self.parts or grown <= self.parts[-1][2]:
            return self
        source, start, _ = self.parts[-1]
        return Axis((*self.parts[:-1], (source, start, grown)))


def together(axis: Axis) -> Source:
    """Return what stands for all sources of an axis."""
    return Source(ALL, "", axis.length, None, None, None, False, None, None)
