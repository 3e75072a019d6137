"""What the timeline shows, as arrays: clips, a lane per person, memories. Read clip by clip, so that hours never block a read."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.ids import clip_of
from m3desk_ui.memory.order import sentences
from m3desk_ui.timeline.axis import ALL, Axis, together

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.clip import Clip, Source
    from m3desk.ports import Reader

Spans = NDArray[np.int64]
"""(n, 2) int64: start and end in microseconds, sorted by start."""
NO_SPANS: Spans = np.zeros((0, 2), np.int64)


SLICE = 0.15
"""Seconds of reading at a time, so that other reads get their turn."""
AT_ONCE = 100
"""Clips that one query reads."""


STATES = ("queued", "episodic", "done", "failed", "skipped", "enrolled")


@dataclass(frozen=True)
class Plan:
    """The source on show and its clips in order. `pictures`: clip id → media id."""

    source: Source | None
    clips: tuple[Clip, ...]
    pictures: dict[str, str]
    names: dict[str, str]
    sources: tuple[Source, ...] = ()
    axis: Axis | None = None
    """Where all sources are shown: `source` stands for them then, and the times of `clips` are the axis'."""

    @cached_property
    def spans(self) -> Spans:
        """Return start and end of each clip."""
        return np.array([(c.start, c.end) for c in self.clips], np.int64).reshape(-1, 2)

    @cached_property
    def states(self) -> NDArray[np.int8]:
        """Return the state of each clip, as its place in `STATES`."""
        return np.array([STATES.index(c.state) for c in self.clips], np.int8)

    @cached_property
    def pictured(self) -> NDArray[np.bool_]:
        """Return which clips have a picture."""
        return np.array([c.id in self.pictures for c in self.clips], np.bool_)

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Return the place of each clip."""
        return {c.id: place for place, c in enumerate(self.clips)}

    def kept(self, ids: Collection[str]) -> list[Clip]:
        """Return those of these clips that are here and memorized, in order."""
        places = sorted(place for id_ in ids if (place := self.place_of.get(id_)) is not None)
        return [self.clips[place] for place in places if is_kept(self.clips[place])]

    def with_clips(self, clips: Collection[Clip], pictures: dict[str, str]) -> Plan:
        """Return the plan with other states and pictures of clips that are there, and share what stays."""
        rows, states, pictured = list(self.clips), self.states.copy(), self.pictured.copy()
        for clip in clips:
            place = self.place_of[clip.id]
            rows[place], states[place], pictured[place] = clip, STATES.index(clip.state), clip.id in pictures
        gone = {clip.id for clip in clips} - pictures.keys()
        all_pictures = {c: media for c, media in self.pictures.items() if c not in gone} | pictures
        found = replace(self, clips=tuple(rows), pictures=all_pictures)
        found.__dict__.update(place_of=self.place_of, spans=self.spans, states=states, pictured=pictured)
        return found

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Return the places of the first clip that reaches into [start, end), and of the first after these."""
        first = int(np.searchsorted(self.spans[:, 1], start, side="right"))
        return first, max(first, int(np.searchsorted(self.spans[:, 0], end)))


MemoryRow = tuple[int, int, str, str, str]
"""A memory: start, end, node, kind, text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one clip adds. `seen`, `heard`: (person, start, end) rows; `memories`: (start, end, node, kind, text) rows."""

    clip: str
    seen: tuple[tuple[str, int, int], ...]
    heard: tuple[tuple[str, int, int], ...]
    memories: tuple[MemoryRow, ...]

    @property
    def people(self) -> set[str]:
        """Return who is seen or heard."""
        return {row[0] for row in (*self.seen, *self.heard)}


@dataclass(frozen=True, slots=True)
class Lane:
    person: str
    name: str
    seen: Spans
    heard: Spans
    weight: int
    """Microseconds that somebody is seen and heard."""

    def changed(self, name: str, gone: Times, new: Times) -> Lane:
        """Return the lane without some times and with others."""
        seen, heard = _replaced(self.seen, gone.seen, new.seen), _replaced(self.heard, gone.heard, new.heard)
        return Lane(self.person, name, seen, heard, self.weight - gone.length + new.length)


@dataclass(slots=True)
class Times:
    """When one person is seen and heard in some pieces: (start, end) each."""

    seen: list[tuple[int, int]] = field(default_factory=list)
    heard: list[tuple[int, int]] = field(default_factory=list)

    @property
    def length(self) -> int:
        return sum(end - start for start, end in (*self.seen, *self.heard))


def _times(pieces: Iterable[Piece]) -> defaultdict[str, Times]:
    """Return person → when they are seen and heard in these pieces."""
    found: defaultdict[str, Times] = defaultdict(Times)
    for piece in pieces:
        for person, start, end in piece.seen:
            found[person].seen.append((start, end))
        for person, start, end in piece.heard:
            found[person].heard.append((start, end))
    return found


@dataclass(frozen=True, slots=True)
class Rows:
    """What is painted: lanes (most present first) and the memories in order of time, made of the pieces of clips.

    `lane_of`: person → lane; `clips_of`: person → clips they are in; `clip_of`: node → clip. None of it ever changes: `changed` makes new
    rows, which share what stayed the same.
    """

    pieces: dict[str, Piece] = field(default_factory=dict)
    lanes: tuple[Lane, ...] = ()
    times: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    memories: list[MemoryRow] = field(default_factory=list)
    semantic: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    lane_of: dict[str, Lane] = field(default_factory=dict)
    clips_of: dict[str, frozenset[str]] = field(default_factory=dict)
    clip_of: dict[str, str] = field(default_factory=dict)

    def changed(self, new: Mapping[str, Piece], gone: Collection[str], names: Mapping[str, str]) -> Rows:
        """Return the rows with new pieces (clip → piece), without those of the clips `gone`, and with these names of people."""
        old = [self.pieces[c] for c in {*new, *gone} if c in self.pieces]
        pieces = {**self.pieces, **new}
        for clip in gone:
            pieces.pop(clip, None)
        clips_of = dict(self.clips_of)
        touched: dict[str, None] = {}
        for piece in old:
            for person in piece.people:
                touched[person] = None
                clips_of[person] -= {piece.clip}
        for piece in new.values():
            for person in piece.people:
                touched[person] = None
                clips_of[person] = clips_of.get(person, frozenset()) | {piece.clip}
        lane_of = {p: lane if lane.name == (name := names.get(p, p)) else replace(lane, name=name) for p, lane in self.lane_of.items()}
        before, after = _times(old), _times(new.values())
        for person in touched:
            if clips_of[person]:
                lane = self.lane_of.get(person) or Lane(person, "", NO_SPANS, NO_SPANS, 0)
                lane_of[person] = lane.changed(names.get(person, person), before[person], after[person])
            else:
                lane_of.pop(person, None)
                del clips_of[person]
        clip_of = dict(self.clip_of)
        for piece in old:
            for told in piece.memories:
                clip_of.pop(told[2], None)
        for piece in new.values():
            clip_of |= {told[2]: piece.clip for told in piece.memories}
        lanes = tuple(sorted(lane_of.values(), key=lambda lane: (-lane.weight, lane.person)))
        return Rows(pieces, lanes, *self._told([m for p in old for m in p.memories], [m for p in new.values() for m in p.memories]),
                    lane_of, clips_of, clip_of)  # fmt: skip

    def _told(self, gone: Sequence[MemoryRow], new: Sequence[MemoryRow]) -> tuple[NDArray[np.int64], list[MemoryRow], NDArray[np.bool_]]:
        """Return times, memories and whether they are semantic, with some removed and others added."""
        left = list(self.memories)
        out = sorted((bisect_left(left, m) for m in gone), reverse=True)
        for place in out:
            del left[place]
        times, semantic = np.delete(self.times, out), np.delete(self.semantic, out)
        new = sorted(new)
        places = [bisect_left(left, m) for m in new]
        times = np.insert(times, places, [m[0] for m in new])
        semantic = np.insert(semantic, places, [m[3] == "semantic" for m in new])
        for place, m in zip(reversed(places), reversed(new), strict=True):
            left.insert(place, m)
        return times, left, semantic


def _replaced(spans: Spans, gone: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]]) -> Spans:
    """Return spans, sorted by start and end, with some removed and others added."""
    for start, end in gone:
        spans = np.delete(spans, np.flatnonzero((spans[:, 0] == start) & (spans[:, 1] == end))[0], axis=0)
    if new:
        spans = np.concatenate([spans, np.array(new, np.int64)])
        spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    return spans


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


def plan(reader: Reader, source: str) -> Plan:
    """Read what there is to show of a source (the first one, without a wish), or of all (`ALL`)."""
    sources, names = reader.sources(), {p.id: p.shown for p in reader.people()}
    if source == ALL and sources:
        own = reader.clips()
        axis = Axis.of(sources, own)
        placed = sorted((axis.on(c) for c in own if axis.start_of(c.source) is not None), key=lambda c: c.start)
        pictured = reader.thumbnails([c.id for c in placed if is_kept(c)])
        return Plan(together(axis), tuple(placed), pictured, names, tuple(sources), axis)
    chosen = next((s for s in sources if s.id == source), sources[0] if sources else None)
    clips = reader.clips(chosen.id) if chosen is not None else []
    pictures = reader.thumbnails([c.id for c in clips if is_kept(c)])
    return Plan(chosen, tuple(clips), pictures, names, tuple(sources))


@dataclass(frozen=True, slots=True)
class Part:
    """What changed. `sources`: all of them, None where none changed. `clips`: of the source on show, with their pictures; `gone`: ids.

    `people`: ids, of which `names` are there. `stale`: clips of whose people or memories something changed.
    """

    sources: tuple[Source, ...] | None
    clips: dict[str, Clip]
    gone: frozenset[str]
    pictures: dict[str, str]
    people: frozenset[str]
    names: dict[str, str]
    stale: frozenset[str]


def read_part(reader: Reader, source: str, changed: Changed, stale: frozenset[str]) -> Part:
    """Read what a commit changed of a plan. `stale`: the clips of changed things that were known before."""
    mine = "" if source == ALL else f"{source}."
    clips = {c.id: c for c in reader.clips_of([c for c in changed.clips if c.startswith(mine)])} if changed.clips else {}
    told = sentences(changed)
    stale |= {m.clip for m in reader.memories_of(told)} if told else set()
    stale |= {clip_of(o) for o in changed.observations}
    return Part(
        tuple(reader.sources()) if changed.sources else None,
        clips,
        changed.clips - clips.keys(),
        reader.thumbnails([c.id for c in clips.values() if is_kept(c)]) if clips else {},
        changed.people,
        {p.id: p.shown for p in reader.people_of(changed.people)} if changed.people else {},
        frozenset(c for c in stale | clips.keys() if c.startswith(mine)),
    )


def patched(plan: Plan, part: Part) -> Plan:
    """Return a plan after a change. Where all sources are shown and one of them moved, there is no source in it: read it again."""
    axis = plan.axis
    if axis is not None:
        later = axis.after(part.sources, part.clips.values())
        if later is None:
            return replace(plan, source=None)
        part = replace(part, clips={id_: later.on(clip) for id_, clip in part.clips.items()})
        axis = later
    if part.gone & plan.place_of.keys() or not all(_stays(plan, clip) for clip in part.clips.values()):
        kept = [part.clips.get(c.id, c) for c in plan.clips if c.id not in part.gone]
        new = [c for c in part.clips.values() if c.id not in plan.place_of]
        pictures = {c: media for c, media in plan.pictures.items() if c not in part.clips and c not in part.gone} | part.pictures
        plan = replace(plan, clips=tuple(sorted((*kept, *new), key=lambda c: (c.start, c.index))), pictures=pictures)
    elif part.clips:
        plan = plan.with_clips(part.clips.values(), part.pictures)
    names = plan.names
    if part.people:
        names = {p: name for p, name in names.items() if p not in part.people} | part.names
    sources = plan.sources if part.sources is None else part.sources
    source = next((s for s in sources if plan.source is not None and s.id == plan.source.id), None)
    if axis is not None:
        source = plan.source if axis is plan.axis else together(axis)
    found = replace(plan, source=source, names=names, sources=sources, axis=axis)
    found.__dict__.update({name: value for name, value in plan.__dict__.items() if name in ("place_of", "spans", "states", "pictured")})
    return found


def _stays(plan: Plan, clip: Clip) -> bool:
    """Return whether a clip is in the plan, at the same place and time."""
    place = plan.place_of.get(clip.id)
    if place is None:
        return False
    old = plan.clips[place]
    return (old.index, old.start, old.end) == (clip.index, clip.start, clip.end)


def is_kept(clip: Clip) -> bool:
    """Return whether a clip is memorized."""
    return clip.state in ("episodic", "done")


def read_on(
    reader: Reader, clips: Sequence[Clip], rows: Rows, gone: Collection[str], names: Mapping[str, str], axis: Axis | None = None
) -> tuple[Rows, list[Clip]]:
    """Read clips for at most `SLICE` seconds and put them into the rows; return these and the clips still to read."""
    until, done = time.monotonic() + SLICE, 0
    read: dict[str, Piece] = {}
    while done < len(clips) and (not done or time.monotonic() < until):
        read |= pieces(reader, clips[done : done + AT_ONCE], axis)
        done += AT_ONCE
    return rows.changed(read, gone, names), list(clips[done:])


def pieces(reader: Reader, clips: Sequence[Clip], axis: Axis | None = None) -> dict[str, Piece]:
    """Read some clips (clip → piece). On an axis their times are the axis'."""
    begin = {c.id: (axis.start_of(c.source) or 0) if axis is not None else 0 for c in clips}
    ids = list(begin)
    seen: dict[str, list[tuple[str, int, int]]] = {id_: [] for id_ in ids}
    heard: dict[str, list[tuple[str, int, int]]] = {id_: [] for id_ in ids}
    told: dict[str, list[MemoryRow]] = {id_: [] for id_ in ids}
    for row in reader.presence(ids):
        at = begin[row.clip]
        (heard if row.heard else seen)[row.clip].append((row.person, row.start + at, row.end + at))
    for m in reader.moments(ids):
        at = begin[m.clip]
        told[m.clip].append((m.start + at, m.end + at, m.node, m.kind, m.shown))
    return {id_: Piece(id_, tuple(seen[id_]), tuple(heard[id_]), tuple(told[id_])) for id_ in ids}
