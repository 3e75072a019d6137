"""Objects in view: detections in one picture every few seconds, joined into time spans."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from m3desk.domain.evidence import ObjectSeen
from m3desk.domain.geometry import iou
from m3desk.ports import DetectedObject

LONE = 0.7
"""Minimum score of an object seen in one picture only."""

REPEATED = 0.6
"""Minimum best score of an object seen in several pictures."""


@dataclass(frozen=True, slots=True)
class Glance:
    """The detections of one moment, boxes in pixels of the displayed frame."""

    at: int
    objects: tuple[DetectedObject, ...]


@dataclass(frozen=True, slots=True)
class FollowedThing:
    """One object of a shot. `best`: its clearest detection of the label; `seen`: all, with their times."""

    label: str
    start: int
    end: int
    best: DetectedObject
    seen: tuple[tuple[int, DetectedObject], ...]


@dataclass(slots=True)
class _Thing:
    seen: list[tuple[int, DetectedObject]] = field(default_factory=list)


def objects_seen(clip: str, glances: Sequence[Glance], cuts: Sequence[int], start: int, end: int) -> tuple[ObjectSeen, ...]:
    """Join detections into objects with time spans, in order of start, then label. A span ends at a shot cut.

    An object in the first (last) analysed picture of a shot counts from the shot's start (to its end); otherwise it ends at the first of
    two analysed pictures in a row without it.
    """
    found = []
    for _, things in followed(glances, cuts, start, end):
        for thing in things:
            box = tuple(round(v, 1) for v in thing.best.box)
            found.append(ObjectSeen(clip, thing.start, thing.end, thing.label, round(thing.best.score, 4), box))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda o: (o.start, o.label, -o.score, o.box)))


def followed(glances: Sequence[Glance], cuts: Sequence[int], start: int, end: int) -> list[tuple[int, list[FollowedThing]]]:
    """Return for each shot its end and the objects in it that are sure enough, with all their detections."""
    found = []
    for (first, last), group in _by_shot(glances, cuts, start, end):
        times = [g.at for g in group]
        sure = []
        for thing in _things(group):
            label = _label(thing)
            best = max((o for _, o in thing.seen if o.label == label), key=lambda o: (o.score, o.box))
            if best.score < (LONE if len(thing.seen) == 1 and len(group) > 1 else REPEATED):
                continue
            i, k = times.index(thing.seen[0][0]), times.index(thing.seen[-1][0])
            span = (first if i == 0 else times[i], last if k + 1 == len(times) else times[k + 1])
            sure.append(FollowedThing(label, *span, best, tuple(thing.seen)))
        found.append((last, sure))
    return found


def _by_shot(glances: Sequence[Glance], cuts: Sequence[int], start: int, end: int) -> list[tuple[tuple[int, int], list[Glance]]]:
    borders = [start, *cuts, end]
    shots: list[list[Glance]] = [[] for _ in borders[1:]]
    for g in glances:
        shots[bisect_right(cuts, g.at)].append(g)
    return [((a, b), group) for a, b, group in zip(borders, borders[1:], shots, strict=False) if group]


def _same(before: DetectedObject, now: DetectedObject) -> float:
    """Return the overlap of two detections if they may be one object, else 0: an object that stands still may get another label."""
    near = iou(before.box, now.box)
    if before.label == now.label:
        return near if near >= 0.15 else 0.0
    return near if near >= 0.5 and "person" not in (before.label, now.label) else 0.0


def _label(thing: _Thing) -> str:
    """Return the label with the greatest sum of scores."""
    totals: dict[str, float] = defaultdict(float)
    for _, o in thing.seen:
        totals[o.label] += o.score
    return max(totals, key=lambda k: (totals[k], k))


def _things(glances: Sequence[Glance]) -> list[_Thing]:
    """Link each object of a shot from picture to picture by place and label; one missed picture does not end it."""
    things: list[_Thing] = []
    times = [g.at for g in glances]
    for n, glance in enumerate(glances):
        oldest = times[max(0, n - 2)]
        taken: set[int] = set()
        for found in glance.objects:
            pairs = [
                (near, -i)
                for i, t in enumerate(things)
                if i not in taken and oldest <= t.seen[-1][0] < glance.at and (near := _same(t.seen[-1][1], found)) > 0
            ]
            best = max(pairs, default=(0.0, 0))
            if best[0] > 0:
                things[-best[1]].seen.append((glance.at, found))
                taken.add(-best[1])
            else:
                things.append(_Thing([(glance.at, found)]))
                taken.add(len(things) - 1)
    return things
