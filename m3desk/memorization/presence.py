"""Who is in view when: the shots of a clip and the spans of each face in them, from face tracks and cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    """One face in view from `start` to `end`, over tracks of one cluster. `came`: what brought it, `went`: what ended it."""

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
    told = [s for s in lasting if s.quality >= UNCLEAR or not any(_together(s, o) and o.quality >= CLEAR for o in lasting)]
    return sorted(told, key=lambda s: (s.start, s.cluster))


def _together(a: Stay, b: Stay) -> bool:
    return a.start < b.end and b.start < a.end


def place(box: TimedBox, width: float) -> str:
    """Return the third of the picture that a box is in: "left", "middle" or "right"."""
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
    """One face moving through a shot. `kind`: "moves" (with `origin`, `goal`), "closer", "farther", "rises", "sinks"."""

    kind: str
    track: FaceTrack
    start: int
    end: int
    origin: str = ""
    goal: str = ""


def moves(track: FaceTrack, width: float, height: float) -> list[FaceMovement]:
    """Return how a face moves, in time order: risings and sinkings within WINDOW, or else one movement over the whole track.

    Positions are medians over three fifths of a second, which keeps detection's jitter out. A rise or fall counts from 1.2 face
    heights on (and an eighth of the picture), coming closer from 1.7 times the size.
    """
    if track.end - track.start < 2 * MICROSECOND or track.quality < UNCLEAR:
        return []
    typical = [_typical(track.boxes[i : i + 3]) for i in range(len(track.boxes) - 2)]
    if not typical:
        return []
    if jumps := [*_jumps(track, typical, height), *_over_the_edge(track)]:
        return sorted(jumps, key=lambda m: m.start)
    first, last = typical[0], typical[-1]
    scale = last.height / max(first.height, 1.0)
    if scale > 1.7 or scale < 1 / 1.7:
        return [FaceMovement("closer" if scale > 1 else "farther", track, track.start, track.end)]
    origin, goal = place(first, width), place(last, width)
    if origin != goal and abs((last.x + last.width / 2) - (first.x + first.width / 2)) > 0.2 * width:
        return [FaceMovement("moves", track, track.start, track.end, origin, goal)]
    return []


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
    for kind, boxes in (("rises", track.boxes[::-1]), ("sinks", track.boxes)):
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
