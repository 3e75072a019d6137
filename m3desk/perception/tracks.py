"""Builds face tracks: links detections, splits a track where the face changes, keeps the best crops, and clusters similar tracks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from m3desk.domain.continuing import LIKE
from m3desk.domain.evidence import Floats
from m3desk.domain.geometry import iou
from m3desk.domain.identity import mean_of
from m3desk.domain.linkage import average_linkage
from m3desk.perception.sightings import Sighting

Vector = Callable[[Sighting], Floats]
"""Returns the unit vector of a sighting; computed once each (see `remembering`)."""

GAP = 1_000_000
"""A track continues over a gap in detection of up to this many microseconds (a turned head, a hand)."""

STEP = 1_000_000
"""Microseconds between two embeddings of a track, to detect that it changes to another person."""

STRANGE = 0.05
"""Cosine below which a face can't continue a track that moved little in the last 0.4 s (different people: 0.1 on average)."""

JUMP = 0.18
"""A track is split where the cosine between the means before and after is lower (a turned head gives 0.3 and more)."""

KEPT = 5
"""Maximum number of crops and vectors stored of a track."""

GROUPED = 0.42
"""Mean cosine between two groups of tracks of one clip from which they are one cluster."""


POOR = 0.4
"""Quality below which a face is too small, turned or blurred to be reliable."""


@dataclass(slots=True, eq=False)
class Track:
    """Sightings of one face in time order. `best`: the kept ones, best first; `rows`: (n, d) unit vectors of these; `cluster`: from 0."""

    seen: list[Sighting]
    best: list[Sighting] = field(default_factory=list)
    rows: Floats = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    cluster: int = 0

    @property
    def quality(self) -> float:
        return max(s.quality for s in self.seen)

    @property
    def score(self) -> float:
        return float(np.mean([s.score for s in self.seen]))


def remembering(make: Vector) -> Vector:
    """Return `make`, called once for each sighting."""
    made: dict[int, Floats] = {}

    def vector(seen: Sighting) -> Floats:
        if id(seen) not in made:
            made[id(seen)] = make(seen)
        return made[id(seen)]

    return vector


def tracks(
    pictures: Sequence[Sequence[Sighting]], cuts: Sequence[int], vector: Vector | None, check: Callable[[], None] = lambda: None
) -> list[Track]:
    """Return the tracks of a clip in order of their first sighting. `pictures`: the faces of each sampled picture, in time order.

    Without vectors, faces are linked by position alone, and each track is a cluster. `check` is called often and may raise.
    """
    whole: list[Track] = []
    for seen in _link(pictures, cuts, vector):
        check()
        whole += [Track(seen)] if vector is None else [Track(part) for part in _split(seen, vector)]
    kept = [t for t in whole if _real(t)]
    kept.sort(key=lambda t: (t.seen[0].at, t.seen[0].box))
    for number, t in enumerate(kept):
        check()
        t.best = _best(t)
        t.cluster = number
        if vector is not None:
            t.rows = np.stack([vector(s) for s in t.best])
    if vector is not None:
        for t, number in zip(kept, clusters([t.rows for t in kept], [t.quality for t in kept], cannot_links(kept)), strict=True):
            t.cluster = number
    return kept


# ---------------------------------------------------------------- linking


def _link(pictures: Sequence[Sequence[Sighting]], cuts: Sequence[int], vector: Vector | None) -> list[list[Sighting]]:
    """Add each picture's faces to the tracks of the same shot that they continue, nearest first."""
    linking = Linking(vector)
    for faces in pictures:
        if faces:
            linking.add(faces, bisect_right(cuts, faces[0].at))
    return linking.done + [t.seen for t in linking.open]


@dataclass(slots=True, eq=False)
class OpenTrack:
    """A track that a face of the next picture may continue. `shot`: the number of its shot."""

    seen: list[Sighting]
    shot: int


class Linking:
    """Links faces to tracks, picture by picture. `done`: tracks that ended; `open`: tracks that may continue."""

    def __init__(self, vector: Vector | None) -> None:
        self.done: list[list[Sighting]] = []
        self.open: list[OpenTrack] = []
        self._vector = vector

    def add(self, faces: Sequence[Sighting], shot: int) -> list[OpenTrack]:
        """Add the faces of the next picture (at least one), with the number of its shot; return each face's track."""
        at = faces[0].at
        self.done += [t.seen for t in self.open if at - t.seen[-1].at > GAP or t.shot != shot]
        self.open = [t for t in self.open if at - t.seen[-1].at <= GAP and t.shot == shot]
        before = self.open
        pairs = sorted(
            (cost, i, k) for i, t in enumerate(before) for k, s in enumerate(faces) if (cost := _distance(t.seen, s)) is not None
        )
        for_track, for_face = {i for _, i, _ in pairs}, {k for _, _, k in pairs}
        contested = len(pairs) > min(len(for_track), len(for_face)) if pairs else False
        if (vector := self._vector) is not None:
            pairs = sorted(
                (c, i, k)
                for c, i, k in ((_judged(before[i].seen, faces[k], c, contested, vector), i, k) for c, i, k in pairs)
                if c is not None
            )
        of: dict[int, OpenTrack] = {}
        old: set[int] = set()
        for _, i, k in pairs:
            if i not in old and k not in of:
                before[i].seen.append(faces[k])
                old.add(i)
                of[k] = before[i]
        for k, s in enumerate(faces):
            if k not in of:
                of[k] = OpenTrack([s], shot)
                self.open.append(of[k])
        return [of[k] for k in range(len(faces))]


def _distance(track: list[Sighting], face: Sighting) -> float | None:
    """Return the distance of a face from the track's predicted position, in face sizes; None if it can't continue the track."""
    last = track[-1]
    ratio = face.size / last.size
    if not 0.5 < ratio < 2.0:
        return None
    steps = max(1, face.frame - last.frame)
    x, y = last.centre
    if len(track) > 1 and last.frame - track[-2].frame == 1:
        # Half of the last step continues for one or two pictures: heads swing back more often than they move on.
        ox, oy = track[-2].centre
        x, y = x + 0.5 * (x - ox) * min(steps, 2), y + 0.5 * (y - oy) * min(steps, 2)
    size = (face.size + last.size) / 2
    moved = float(np.hypot(face.centre[0] - x, face.centre[1] - y)) / size
    stayed = float(np.hypot(face.centre[0] - last.centre[0], face.centre[1] - last.centre[1])) / size
    far = min(moved, stayed)
    return far + abs(float(np.log(ratio))) if far <= 0.9 + 0.3 * min(steps - 1, 4) else None


def _judged(track: list[Sighting], face: Sighting, cost: float, contested: bool, vector: Vector) -> float | None:
    """Return the cost with similarity included if the position alone is doubtful; None if the face is another person's."""
    last = track[-1]
    near = iou(last.box, face.box)
    if not contested and face.frame - last.frame <= 2 and near >= 0.3:
        return cost
    recent = max(track[-5:], key=lambda s: (s.quality, s.at))
    similarity = float(vector(recent) @ vector(face))
    if not contested and face.frame - last.frame <= 2:
        # Nobody else is near: probably a quick turn while moving; if it is somebody else, the track is split later (see _split).
        return cost + (1 - similarity) if similarity >= STRANGE else None
    clear = min(recent.quality, face.quality) >= 0.2
    if similarity < (LIKE if near < 0.3 else JUMP) and (clear or near < 0.3):
        return None
    return cost + (1 - similarity)


# ---------------------------------------------------------------- splitting, keeping


def _split(seen: list[Sighting], vector: Vector) -> list[list[Sighting]]:
    """Split a track where the faces before and after are dissimilar, by comparing every STEP and then more finely."""
    looked = _every(seen, STEP)
    if len(looked) < 2:
        return [seen]
    rows = np.stack([vector(seen[i]) for i in looked])
    weights = np.array([max(0.05, seen[i].quality) for i in looked], np.float32)
    best: tuple[float, int] | None = None
    for k in range(1, len(looked)):
        before, after = mean_of(rows[:k], weights[:k]), mean_of(rows[k:], weights[k:])
        similarity = float(before @ after)
        if (
            float((rows[:k] @ rows[k:].T).max()) < LIKE
            and min(weights[:k].max(), weights[k:].max()) >= 0.15
            and (best is None or similarity < best[0])
        ):
            best = (similarity, k)
    if best is None or best[0] >= JUMP:
        return [seen]
    k = best[1]
    low, high = looked[k - 1], looked[k]
    before, after = mean_of(rows[:k], weights[:k]), mean_of(rows[k:], weights[k:])
    while high - low > 1:
        middle = (low + high) // 2
        here = vector(seen[middle])
        if float(here @ before) >= float(here @ after):
            low = middle
        else:
            high = middle
    return _split(seen[:high], vector) + _split(seen[high:], vector)


def _every(seen: Sequence[Sighting], step: int) -> list[int]:
    """Return the places of the best sighting of each interval of `step` microseconds."""
    places: dict[int, int] = {}
    for i, s in enumerate(seen):
        interval = (s.at - seen[0].at) // step
        if interval not in places or s.quality > seen[places[interval]].quality:
            places[interval] = i
    return sorted(places.values())


def _real(track: Track) -> bool:
    """Return whether a track is a face, not a false detection."""
    sizes = float(np.median([s.size for s in track.seen]))
    scores = sorted((s.score for s in track.seen), reverse=True)
    support = len(scores)
    if support < 2 or sizes < 14:
        return False
    if track.quality < 0.12 and track.score < 0.8:
        # Backs of heads, pictures on walls, faces too dark or far to be recognised; a real face turned away still has a score of 0.85.
        return False
    if support == 2:
        return scores[1] >= 0.85 and track.quality >= 0.2
    return scores[2] >= 0.75 and track.score >= 0.68


def _best(track: Track) -> list[Sighting]:
    """Return up to KEPT sightings, each the best of its interval of time, best first; of a short track only one or two."""
    wanted = min(KEPT, 1 + (track.seen[-1].at - track.seen[0].at) // 1_500_000)
    # From those that are embedded anyway, spread over the track, if they are good enough.
    places = sorted(_every(track.seen, STEP), key=lambda i: (-track.seen[i].quality, i))
    floor = 0.5 * track.seen[places[0]].quality
    return [track.seen[i] for i in places[:wanted] if track.seen[i].quality >= floor]


# ---------------------------------------------------------------- which tracks are one face


def cannot_links(found: Sequence[Track]) -> set[tuple[int, int]]:
    """Return the cannot-link pairs (i < k): tracks that are in one picture together."""
    frames = [{s.frame for s in t.seen} for t in found]
    return {(i, k) for i, k in combinations(range(len(found)), 2) if frames[i] & frames[k]}


def clusters(rows: Sequence[Floats], quality: Sequence[float], cannot_link: set[tuple[int, int]], least: float = GROUPED) -> list[int]:
    """Return a cluster number for each track, numbered in order of first appearance.

    Average linkage over the tracks' mean vectors: two groups join if their similarity is at least `least` and no pair of them is a
    cannot-link. Groups of only poor faces must be 0.1 more similar: blur makes different people similar.
    """
    if not rows:
        return []
    means = np.stack([mean_of(r) for r in rows])
    forbidden = np.zeros((len(rows), len(rows)), bool)
    for i, k in cannot_link:
        forbidden[i, k] = forbidden[k, i] = True
    needed = np.array([least + (0.1 if q < POOR else 0.0) for _, q in zip(rows, quality, strict=False)])
    return [int(k) for k in average_linkage(means @ means.T, needed, cannot_link=forbidden)]
