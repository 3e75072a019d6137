"""Which face tracks of a clip continue a track of the previous clip, by their movement across the border between the two."""

from __future__ import annotations

import math
from dataclasses import replace

from m3desk.domain.evidence import FaceTrack, Perceived
from m3desk.domain.ids import source_of

BORDER = 600_000
"""Microseconds between the last box in one clip and the first in the next that may still be one movement."""

LIKE = 0.3
"""Cosine that a face must reach to be taken for the one lost a moment ago nearby (1 % of different people do)."""


def continued(previous: Perceived | None, now: Perceived) -> Perceived:
    """Return `now` with each track that goes on from the clip before (of the same source) saying so in `continues`.

    The first box must follow the last within BORDER microseconds, near it and of its size, and the two must be similar if both have
    vectors. Each track is continued once; the nearest pair first.
    """
    if previous is None or source_of(previous.clip) != source_of(now.clip):
        return now
    pairs = sorted((far, a.id, b.id) for a in previous.faces for b in now.faces if (far := _across(previous, a, now, b)) is not None)
    follows: dict[str, str] = {}
    for _, before, after in pairs:
        if after not in follows and before not in follows.values():
            follows[after] = before
    return replace(now, faces=tuple(replace(t, continues=follows.get(t.id)) for t in now.faces))


def _across(previous: Perceived, a: FaceTrack, now: Perceived, b: FaceTrack) -> float | None:
    """Return how many face sizes a face moved over the border; None if it is another."""
    last, first = a.boxes[-1], b.boxes[0]
    if not 0 < first.at - last.at <= BORDER:
        return None
    size, other = math.sqrt(last.width * last.height), math.sqrt(first.width * first.height)
    x, y = first.x - last.x + (first.width - last.width) / 2, first.y - last.y + (first.height - last.height) / 2
    far = math.hypot(x, y) / max(1.0, (size + other) / 2)
    if not 0.5 < other / max(size, 1e-6) < 2 or far > 0.9:
        return None
    rows, others = previous.vectors.get(a.id), now.vectors.get(b.id)
    # The best pair of crops: the same head turned by the border may be unlike on average.
    if rows is not None and others is not None and rows.size and others.size and float((rows @ others.T).max()) < LIKE:
        return None
    return far
