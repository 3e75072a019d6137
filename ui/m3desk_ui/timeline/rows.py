"""What the timeline shows, as arrays: clips, a lane per person, memories. Read clip by clip, so that hours never block a read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from m3desk.domain.clip import Clip, Source
    from m3desk.ports import Reader

Spans = NDArray[np.int64]
"""(n, 2) int64: start and end in microseconds, sorted by start."""
NO_SPANS: Spans = np.zeros((0, 2), np.int64)


SLICE = 0.15
"""Seconds of reading at a time, so that other reads get their turn."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The source on show and its clips. `pictures`: clip id → media id."""

    source: Source | None
    clips: tuple[Clip, ...]
    pictures: dict[str, str]
    names: dict[str, str]
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """What one clip adds. `seen`, `heard`: (person, start, end) rows; `memories`: (start, end, node, kind, text) rows."""

    clip: str
    seen: tuple[tuple[str, int, int], ...]
    heard: tuple[tuple[str, int, int], ...]
    memories: tuple[tuple[int, int, str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Lane:
    person: str
    name: str
    seen: Spans
    heard: Spans

    @property
    def weight(self) -> int:
        return int((self.seen[:, 1] - self.seen[:, 0]).sum() + (self.heard[:, 1] - self.heard[:, 0]).sum())


@dataclass(slots=True)
class Rows:
    """All pieces so far, folded for painting by `fold`."""

    pieces: dict[str, Piece] = field(default_factory=dict)
    lanes: list[Lane] = field(default_factory=list)
    times: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    memories: list[tuple[int, int, str, str, str]] = field(default_factory=list)
    semantic: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def fold(self, names: dict[str, str]) -> None:
        """Make lanes (most present first) and the memory row out of the pieces."""
        seen: dict[str, list[tuple[int, int]]] = {}
        heard: dict[str, list[tuple[int, int]]] = {}
        memories: list[tuple[int, int, str, str, str]] = []
        for piece in self.pieces.values():
            for rows, into in ((piece.seen, seen), (piece.heard, heard)):
                for person, start, end in rows:
                    into.setdefault(person, []).append((start, end))
            memories += piece.memories
        everybody = dict.fromkeys([*seen, *heard])
        lanes = [Lane(p, names.get(p, p), _spans(seen.get(p)), _spans(heard.get(p))) for p in everybody]
        self.lanes = sorted(lanes, key=lambda lane: -lane.weight)
        self.memories = sorted(memories)
        self.times = np.array([m[0] for m in self.memories], np.int64)
        self.semantic = np.array([m[3] == "semantic" for m in self.memories], np.bool_)


def _spans(rows: list[tuple[int, int]] | None) -> Spans:
    return np.array(sorted(rows), np.int64).reshape(-1, 2) if rows else NO_SPANS


def on_pixels(spans: Spans, start: int, end: int, width: int) -> NDArray[np.int64]:
    """Return the spans that show in [start, end) as (n, 2) pixel columns, those that fall together merged: at most `width` of them."""
    if not len(spans) or end <= start:
        return NO_SPANS
    shown = spans[(spans[:, 1] > start) & (spans[:, 0] < end)]
    if not len(shown):
        return NO_SPANS
    columns = (shown - start) * width
    columns[:, 1] += end - start - 1  # ends are rounded up
    columns = np.clip(columns // (end - start), 0, width)
    reach = np.maximum.accumulate(columns[:, 1])
    first = np.concatenate([[True], columns[1:, 0] > reach[:-1] + 1])
    begins = columns[first, 0]
    last = np.concatenate([np.flatnonzero(first)[1:] - 1, [len(columns) - 1]])
    return np.stack([begins, np.maximum(reach[last], begins + 1)], axis=1)


def ticks(times: NDArray[np.int64], start: int, end: int, width: int, room: int) -> list[float]:
    """Return the pixel columns (fractional, from 0) of the times in [start, end), at most one in every `room` pixels."""
    low, high = np.searchsorted(times, (start - (end - start) * room // max(1, width), end))
    columns = (times[low:high] - start) * (width / max(1, end - start))
    if not len(columns):
        return []
    _, first = np.unique(columns // room, return_index=True)
    found: list[float] = columns[first].tolist()
    return found


def plan(reader: Reader, source: str, known: dict[str, str]) -> Plan:
    """Read what there is to show of a source (the first one, without a wish). `known`: pictures that need not be looked up again."""
    sources = reader.sources()
    chosen = next((s for s in sources if s.id == source), sources[0] if sources else None)
    clips = reader.clips(chosen.id) if chosen is not None else []
    pictures = {}
    for c in clips:
        picture = known.get(c.id) or (reader.thumbnail(c.id) if c.state in ("episodic", "done") else None)
        if picture:
            pictures[c.id] = picture
    return Plan(chosen, tuple(clips), pictures, {p.id: p.shown for p in reader.people()}, tuple(sources))


def read_on(reader: Reader, clips: list[Clip], pieces: dict[str, Piece], names: dict[str, str]) -> tuple[Rows, list[Clip]]:
    """Read clips for at most `SLICE` seconds and fold them with the pieces so far; return the rows and the clips still to read."""
    until, done = time.monotonic() + SLICE, 0
    rows = Rows(dict(pieces))
    for clip in clips:
        rows.pieces[clip.id] = piece(reader, clip)
        done += 1
        if time.monotonic() > until:
            break
    rows.fold(names)
    return rows, clips[done:]


def piece(reader: Reader, clip: Clip) -> Piece:
    """Read one clip."""
    seen = tuple(
        (r.person, r.track.start, r.track.end)
        for r in reader.tracks(clip.source, clip.start, clip.end)
        if r.person and not r.set_aside and r.track.clip == clip.id
    )
    heard = tuple(
        (r.person, r.utterance.start, r.utterance.end)
        for r in reader.speech(clip.source, clip.start, clip.end)
        if r.person and not r.set_aside and r.utterance.clip == clip.id
    )
    memories = tuple((m.start, m.end, m.id, m.kind, m.shown) for m in reader.memories(clip=clip.id))
    return Piece(clip.id, seen, heard, memories)
