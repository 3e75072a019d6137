"""Who is talking: votes that a voice and a face of one clip are one person, and abstaining wherever that is a guess.

Two kinds of evidence. *Alone*: while a voice speaks, one face and no other is in view. *Lips*: several faces are in view and one
mouth moves much more while the voice speaks than while it does not, and more than the others'. A film shows listeners too (an
audience, the other side of a debate), so the face must be there for most of what the voice says in the clip, and a mouth that
is known to be still votes against.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import FaceTrack, Perceived, Utterance
from m3desk.domain.memory import Vote

Seen = TypeVar("Seen", FaceTrack, Utterance)

STRONG = 3.0
"""Seconds alone with the voice that make a vote of weight 1: enough on its own to link."""

LEAST = 1.0
"""Seconds under which there is no vote."""

SHARE = 0.8
"""Of the seconds in which a voice speaks and any face is in view, those with this face alone."""


@dataclass(frozen=True, slots=True)
class _Meeting:
    """How a voice and a face of the clip meet. Seconds; `best`: the track and utterance that meet longest."""

    alone: float
    together: float
    best: tuple[str, str]


def votes(perceived: Perceived) -> tuple[Vote, ...]:
    """Return the votes of one clip, at most one a voice and one a face."""
    voices = _by_cluster([u for u in perceived.utterances if not u.overlapped])
    faces = _by_cluster(perceived.faces)
    found: list[tuple[int, int, Vote]] = []
    for voice, utterances in voices.items():
        vote = _alone(utterances, faces, perceived) or _lips(utterances, faces)
        if vote:
            found.append((voice, vote[0], vote[1]))
    # A face that two voices claim is a listener or a narrator's picture for one of them: neither is believed.
    claims = [face for _, face, _ in found]
    return tuple(vote for _, face, vote in found if claims.count(face) == 1)


def _by_cluster(observations: Iterable[Seen]) -> dict[int, list[Seen]]:
    groups: dict[int, list[Seen]] = {}
    for o in sorted(observations, key=lambda o: (o.start, o.id)):
        groups.setdefault(o.cluster, []).append(o)
    return groups


def _alone(utterances: Sequence[Utterance], faces: dict[int, list[FaceTrack]], perceived: Perceived) -> tuple[int, Vote] | None:
    meetings = {c: _meet(utterances, c, faces) for c in faces}
    with_faces = _seconds_with_faces(utterances, perceived.faces)
    cluster = max(meetings, key=lambda c: (meetings[c].alone, -c), default=None)
    if cluster is None:
        return None
    best = meetings[cluster]
    if best.alone < LEAST or best.alone < SHARE * with_faces:
        return None
    if _still_mouth(utterances, faces[cluster]):
        return None
    return cluster, Vote(best.best[0], best.best[1], "alone in view", round(min(1.0, best.alone / STRONG), 3))


def _meet(utterances: Sequence[Utterance], cluster: int, faces: dict[int, list[FaceTrack]]) -> _Meeting:
    others = [(f.start, f.end) for c, tracks in faces.items() if c != cluster for f in tracks]
    alone = together = 0
    best, pair = -1, ("", "")
    for u in utterances:
        for track in faces[cluster]:
            start, end = max(u.start, track.start), min(u.end, track.end)
            if end <= start:
                continue
            together += end - start
            free = end - start - _covered(others, start, end)
            alone += free
            if free > best:
                best, pair = free, (track.id, u.id)
    return _Meeting(alone / MICROSECOND, together / MICROSECOND, pair)


def _covered(spans: Sequence[tuple[int, int]], start: int, end: int) -> int:
    """Return how much of [start, end) the spans cover together."""
    total, at = 0, start
    for a, b in sorted((max(a, start), min(b, end)) for a, b in spans if a < end and b > start):
        total += max(0, b - max(a, at))
        at = max(at, b)
    return total


def _seconds_with_faces(utterances: Sequence[Utterance], faces: Sequence[FaceTrack]) -> float:
    spans = [(f.start, f.end) for f in faces]
    return sum(_covered(spans, u.start, u.end) for u in utterances) / MICROSECOND


def _speech_and_motion(utterances: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return (n,) bool "the voice speaks" and (n,) float mouth motion over the boxes of tracks that measured it."""
    speaks: list[bool] = []
    motion: list[float] = []
    for track in tracks:
        if len(track.motion) != len(track.boxes):
            continue
        for box, value in zip(track.boxes, track.motion, strict=True):
            speaks.append(any(u.start <= box.at < u.end for u in utterances))
            motion.append(value)
    return np.array(speaks, bool), np.array(motion, np.float64)


def _still_mouth(utterances: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> bool:
    return False


def _lips(utterances: Sequence[Utterance], faces: dict[int, list[FaceTrack]]) -> tuple[int, Vote] | None:
    return None
