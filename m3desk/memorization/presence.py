"""Who is in view when: the shots of a clip and the spans of each face in them, from face tracks and cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import FaceTrack, ObjectSeen, Perceived, TimedBox

BLINK = 4 * MICROSECOND
"""A face lost for less than this within one shot turned away and back; it did not leave."""

CUT_GAP = 3 * MICROSECOND // 2
"""A face seen again after a cut within this time did not leave; after a longer time it is back."""

NEAR = 4 * MICROSECOND // 5
"""Perception looks five times a second and finds a face within a few looks: this near a cut counts as at the cut."""

CLEAR, UNCLEAR = 0.4, 0.2
"""Quality of a face: next to one that is clear, one below UNCLEAR (blurred, tiny, half hidden) is not mentioned."""

WINDOW = 4 * MICROSECOND
"""Standing up or sitting down takes less than this."""

SHORTEST = 3 * MICROSECOND // 5
"""A face seen for less than this (three looks) is not mentioned."""


@dataclass(frozen=True, slots=True)
class Stay:
    """One face in view from `start` to `end`, over tracks of one cluster."""

    cluster: int
    start: int
    end: int
    tracks: tuple[FaceTrack, ...]

    @property
    def observations(self) -> tuple[str, ...]:
        return tuple(t.id for t in self.tracks)

    @property
    def quality(self) -> float:
        return max(t.quality for t in self.tracks)

    @property
    def boxes(self) -> list[TimedBox]:
        return [b for t in self.tracks for b in t.boxes]


@dataclass(frozen=True, slots=True)
class Shot:
    """What lies between two cuts (or a clip's border and a cut)."""

    start: int
    end: int
    first: bool


def shots(clip: Clip, cuts: Sequence[int]) -> list[Shot]:
    """Return the clip's shots in order; a cut within a fifth of a second of the clip's start or of another cut counts once."""
    edges = [clip.start]
    for cut in sorted(cuts):
        if clip.start < cut < clip.end and cut - edges[-1] > MICROSECOND // 5:
            edges.append(cut)
    return [Shot(a, b, i == 0) for i, (a, b) in enumerate(zip(edges, [*edges[1:], clip.end], strict=True))]


def stays(perceived: Perceived, cuts: Sequence[int]) -> list[Stay]:
    """Join the tracks of each cluster into stays, in order of their start."""
    found: list[Stay] = []
    by_cluster: dict[int, list[FaceTrack]] = {}
    for track in sorted(perceived.faces, key=lambda t: (t.start, t.end, t.id)):
        by_cluster.setdefault(track.cluster, []).append(track)
    for cluster, tracks in by_cluster.items():
        group: list[FaceTrack] = []
        end = 0
        for track in tracks:
            cut = any(end - NEAR < c <= track.start + NEAR for c in cuts)
            if group and track.start - end > (CUT_GAP if cut else BLINK):
                found.append(Stay(cluster, group[0].start, end, tuple(group)))
                group = []
            end = max(end, track.end) if group else track.end
            group.append(track)
        found.append(Stay(cluster, group[0].start, end, tuple(group)))
    lasting = [s for s in found if s.end - s.start >= SHORTEST]
    told = [s for s in lasting if s.quality >= UNCLEAR or not any(together(s, o) and o.quality >= CLEAR for o in lasting)]
    return sorted(told, key=lambda s: (s.start, s.cluster))


def together(a: Stay, b: Stay) -> bool:
    """Return whether two stays overlap."""
    return a.start < b.end and b.start < a.end


def place(box: TimedBox, width: float) -> str:
    """Return in which part of the picture a box is: "left", "middle" or "right"."""
    middle = (box.x + box.width / 2) / width
    return "left" if middle < 0.4 else "right" if middle > 0.6 else "middle"


def picture_size(source: Source, perceived: Perceived) -> tuple[float, float]:
    """Return the picture's width and height, guessed from the boxes where the source does not say."""
    boxes = [b for t in perceived.faces for b in t.boxes]
    width = source.width or max((b.x + b.width for b in boxes), default=640.0)
    height = source.height or max((b.y + b.height for b in boxes), default=360.0)
    return float(width), float(height)


def distance(stay: Stay, height: float) -> str | None:
    """Return "close" for a face that fills over 60 % of the picture's height, "far" under 9 %, else None."""
    share = median(b.height for b in stay.boxes) / height
    return "close" if share > 0.60 else "far" if share < 0.09 else None


def comes_in(stay: Stay, width: float) -> bool:
    """Return whether a face that is found within a shot comes from outside: it is first seen near a side, and goes inwards or grows."""
    first = stay.boxes[0]
    later = stay.boxes[min(len(stay.boxes) - 1, 5)]
    inwards = later.x - first.x if first.x < width - first.x - first.width else first.x - later.x
    near = min(first.x, width - first.x - first.width) < first.width
    return (near and inwards > 0.1 * first.width) or later.height > 1.15 * first.height


def exit_side(stay: Stay, width: float) -> str | None:
    """Return "left" or "right" when the last box touches that edge (closer than half its width), else None."""
    box = stay.boxes[-1]
    if box.x < box.width / 2:
        return "left"
    if box.x + 1.5 * box.width > width:
        return "right"
    return None


@dataclass(frozen=True, slots=True)
class FaceMovement:
    """One face moving through a shot.

    `kind`: "moves" (with `origin`, `goal`), "closer", "farther", "rises", "sinks", and over the upper edge "rises_out", "sinks_in".
    """

    kind: str
    track: FaceTrack
    start: int
    end: int
    origin: str = ""
    goal: str = ""


SCALE = 1.7
"""How many times larger (or smaller) a face becomes that comes closer (or moves away), within WALK."""

BOTH_WAYS = 0.6
"""Of the change of a face's height (as a logarithm), the change of its width at least."""

LASTS = 4 * MICROSECOND // 5
"""How long the new size must last: a face that is lost soon after may be another one, or half hidden."""

WALK = 8 * MICROSECOND
"""Coming closer takes less than this; a slower change is the camera's."""


def moves(stay: Stay, width: float, height: float) -> list[FaceMovement]:
    """Return how a face moves, in time order: risings and sinkings within WINDOW, comings and goings within WALK, or else one movement.

    Positions are medians over three fifths of a second, which keeps detection's jitter out. A rise or fall counts from 1.2 face
    heights on (and an eighth of the picture).
    """
    track = replace(stay.tracks[0], start=stay.start, end=stay.end, quality=stay.quality, boxes=tuple(stay.boxes))
    if track.end - track.start < 2 * MICROSECOND or track.quality < UNCLEAR:
        return []
    typical = [_typical(track.boxes[i : i + 3]) for i in range(len(track.boxes) - 2)]
    if not typical:
        return []
    found = [*_jumps(track, typical, height), *(m for t in stay.tracks for m in _over_the_edge(t))]
    found += [m for m in _approaches(track, typical) if all(m.end <= j.start or m.start >= j.end for j in found)]
    for one in stay.tracks:
        if one.end - one.start >= 2 * MICROSECOND and not any(_during(stay, m) is one for m in found):
            found += _across(one, width)
    return sorted((replace(m, track=_during(stay, m)) for m in found), key=lambda m: (m.start, m.end, m.kind))


def _across(track: FaceTrack, width: float) -> list[FaceMovement]:
    """Return the movement of a face that is in another third of the picture in the end, and by a fifth of its width."""
    first, last = _typical(track.boxes[:3]), _typical(track.boxes[-3:])
    origin, goal = place(first, width), place(last, width)
    if origin == goal or abs((last.x + last.width / 2) - (first.x + first.width / 2)) <= 0.2 * width:
        return []
    return [FaceMovement("moves", track, track.start, track.end, origin, goal)]


def within_shots(stay: Stay, edges: Sequence[int]) -> list[Stay]:
    """Return the parts of a stay by shot: over a cut a face jumps and changes its size, and nobody moves."""
    parts: list[list[FaceTrack]] = []
    for track in stay.tracks:
        if parts and not any(parts[-1][-1].end - NEAR < e <= track.start + NEAR for e in edges):
            parts[-1].append(track)
        else:
            parts.append([track])
    return [Stay(stay.cluster, p[0].start, max(t.end for t in p), tuple(p)) for p in parts]


def _during(stay: Stay, move: FaceMovement) -> FaceTrack:
    """Return the track that shows most of a movement."""
    return max(stay.tracks, key=lambda t: (min(t.end, move.end) - max(t.start, move.start), -t.start))


def _approaches(track: FaceTrack, typical: Sequence[TimedBox]) -> list[FaceMovement]:
    """Return the times in which a face becomes much larger or smaller in both directions, the greatest changes first chosen.

    A face that turns, is half hidden or half outside becomes narrower or lower, not both.
    """
    found: list[tuple[float, int, FaceMovement]] = []
    for i, a in enumerate(typical):
        for b in typical[i + 1 :]:
            if b.at - a.at > WALK:
                break
            heights, widths = math.log(b.height / max(a.height, 1.0)), math.log(max(b.width, 1.0) / max(a.width, 1.0))
            if abs(heights) > math.log(SCALE) and widths / heights > BOTH_WAYS and _lasts(b, typical, a.height):
                kind = "closer" if heights > 0 else "farther"
                found.append((-abs(heights), b.at - a.at, FaceMovement(kind, track, a.at, b.at)))
    return _apart(found)


def _lasts(after: TimedBox, typical: Sequence[TimedBox], before: float) -> bool:
    """Return whether a face of another size stays so for LASTS, at least by half of the change; not at the end of its track."""
    next_ = [t.height for t in typical if 0 < t.at - after.at <= LASTS]
    middle = math.sqrt(before * after.height)
    return len(next_) >= 2 and all((h > middle) == (after.height > middle) for h in next_)


def _jumps(track: FaceTrack, typical: Sequence[TimedBox], height: float) -> list[FaceMovement]:
    """Return the risings and sinkings of a face that do not overlap, the largest first chosen."""
    found: list[tuple[float, int, FaceMovement]] = []
    for i, a in enumerate(typical):
        for b in typical[i + 1 :]:
            if b.at - a.at > WINDOW:
                break
            up = (a.y + a.height / 2) - (b.y + b.height / 2)
            size = (a.height + b.height) / 2
            if abs(up) > 1.2 * size and abs(up) > height / 8:
                found.append((-abs(up) / size, b.at - a.at, FaceMovement("rises" if up > 0 else "sinks", track, a.at, b.at)))
    return _apart(found)


def _apart(found: Sequence[tuple[float, int, FaceMovement]]) -> list[FaceMovement]:
    """Return movements that do not overlap, those that come first in the order chosen first."""
    chosen: list[FaceMovement] = []
    for _, _, move in sorted(found, key=lambda m: (m[0], m[1], m[2].start)):
        if all(move.end <= c.start or move.start >= c.end for c in chosen):
            chosen.append(move)
    return sorted(chosen, key=lambda m: m.start)


def _over_the_edge(track: FaceTrack) -> list[FaceMovement]:
    """Return the rising of a face that ends at the picture's upper edge, and the sinking of one that begins there.

    Such a face can't rise by its own height: its last (first) look touches the edge, half a face away from where it was (is) soon.
    """
    found = []
    for kind, boxes in (("rises_out", track.boxes[::-1]), ("sinks_in", track.boxes)):
        edge = boxes[0]
        near = [b for b in boxes if abs(b.at - edge.at) <= WINDOW // 2]
        lowest = max(near, key=lambda b: (b.y + b.height / 2, -abs(b.at - edge.at)))
        size = median(b.height for b in near)
        if edge.y < 0.1 * size and (lowest.y + lowest.height / 2) - (edge.y + edge.height / 2) > 0.5 * size and len(near) >= 4:
            found.append(FaceMovement(kind, track, min(edge.at, lowest.at), max(edge.at, lowest.at)))
    return found


def _typical(boxes: Sequence[TimedBox]) -> TimedBox:
    return TimedBox(
        boxes[len(boxes) // 2].at,
        median(b.x for b in boxes),
        median(b.y for b in boxes),
        median(b.width for b in boxes),
        median(b.height for b in boxes),
    )


def most_at_once(things: Sequence[ObjectSeen]) -> int:
    """Return how many of some intervals overlap at most, each taken for a fifth of a second shorter."""
    slack = MICROSECOND // 5
    moments = sorted([(t.start, 1) for t in things] + [(max(t.start + 1, t.end - slack), -1) for t in things], key=lambda m: (m[0], m[1]))
    count = best = 0
    for _, step in moments:
        count += step
        best = max(best, count)
    return best
