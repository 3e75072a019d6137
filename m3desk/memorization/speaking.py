"""Who is talking: votes that a voice and a face of one clip are one person, and abstaining wherever that is a guess.

Two kinds of evidence. *Alone*: while a voice speaks, one face and no other is in view. *Lips*: several faces are in view, one
mouth moves while the voice speaks and all others are still. A film shows listeners too (an audience, the other side of a debate,
the picture under a narrator), so the face must be there for most of what the voice says in the clip, a mouth known to be still
votes against, and a face that two voices claim is believed of neither unless one clearly leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import FaceTrack, Perceived, Utterance
from m3desk.domain.memory import Vote

Seen = TypeVar("Seen", FaceTrack, Utterance)
Voices = Mapping[int, Sequence[Utterance]]
Faces = Mapping[int, Sequence[FaceTrack]]

STRONG = 3.0
"""Seconds alone with the voice that make a vote of weight 1: enough on its own to link (domain.equivalence.SUFFICIENT)."""

MUTUAL = 2.0
"""How many times more a second counts where the voice is never heard without the face, nor the face seen under another voice, and
the mouth moves."""

LIPS_STRONG = 5.0
"""Seconds in which one mouth moves and the others are still, for a vote of weight 1."""

LEAST = 1.0
"""Seconds under which there is no vote."""

SHARE = 0.8
"""Of the seconds in which a voice speaks and any face is in view, those with this face alone."""

PRESENT = 0.5
"""Of all the seconds in which a voice speaks, those with this face in view: a narrator is mostly heard over something else."""

LEAD = 3.0
"""How many times longer than any other voice one must be alone with a face that several claim."""

STILL, STILL_PART = 0.012, 0.25
"""A mouth is still where its motion (perception.sightings.lip_movement) is under STILL on average, and above it in at most this
part of the looks. Measured on the reel: listeners 0.005–0.007 and 12–22 %, speakers 0.026 and more and 30–91 %."""

MOVING_PART = 0.3
IN_STEP = 1.5
"""How many times more the one moving mouth of several must move while the voice speaks than while it does not (where that is seen)."""

LOOKS = 8
"""Looks (at five a second) under which nothing is said about a mouth."""

READABLE = 40
"""Height of a face in pixels under which its mouth is a few pixels of noise."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """What speaks for a voice and a face. `seconds` alone together; `track`, `utterance`: the two that meet longest."""

    voice: int
    face: int
    seconds: float
    weight: float
    by: str
    track: str
    utterance: str


def votes(perceived: Perceived, end: int) -> tuple[Vote, ...]:
    """Return the votes of one clip, at most one a voice and one a face, in order of the voices.

    `end`: the clip's, microseconds; what is said after it is heard without the picture, so it counts for nothing here.
    """
    voices = _by_cluster(replace(u, end=min(u.end, end)) for u in perceived.utterances if not u.overlapped and u.start < end)
    faces = _by_cluster(perceived.faces)
    claims = [c for v in voices if (c := _alone(v, voices, faces) or _lips(v, voices, faces))]
    believed = [c for c in claims if all(c.seconds >= LEAD * o.seconds for o in claims if o is not c and o.face == c.face)]
    return tuple(Vote(c.track, c.utterance, c.by, c.weight) for c in believed)


def _by_cluster(observations: Iterable[Seen]) -> dict[int, list[Seen]]:
    groups: dict[int, list[Seen]] = {}
    for o in sorted(observations, key=lambda o: (o.start, o.id)):
        groups.setdefault(o.cluster, []).append(o)
    return groups


def _alone(voice: int, voices: Voices, faces: Faces) -> _Claim | None:
    """Return the claim of the one face that is in view, alone, for most of what a voice says."""
    said = voices[voice]
    speaking = sum(u.end - u.start for u in said) / MICROSECOND
    seen = _shared([(u.start, u.end) for u in said], [(t.start, t.end) for tracks in faces.values() for t in tracks])
    meetings = sorted(((_meet(said, f, faces), f) for f in faces), key=lambda m: (-m[0][0], m[1]))
    if not meetings:
        return None
    (alone, track, utterance), face = meetings[0]
    if alone < LEAST or alone < SHARE * seen or alone < PRESENT * speaking:
        return None
    mouth = _mouth(said, faces[face])
    if mouth == "still":
        return None
    mutual = mouth == "moving" and alone >= 0.9 * speaking and not _others_heard(voice, voices, faces[face])
    weight = min(1.0, alone * (MUTUAL if mutual else 1.0) / STRONG)
    return _Claim(voice, face, alone, round(weight, 3), "alone in view", track, utterance)


def _meet(said: Sequence[Utterance], face: int, faces: Faces) -> tuple[float, str, str]:
    """Return the seconds that a voice and a face are alone together, and the track and utterance that are so longest."""
    others = [(t.start, t.end) for f, tracks in faces.items() if f != face for t in tracks]
    total, best, pair = 0, 0, ("", "")
    for u in said:
        for track in faces[face]:
            start, end = max(u.start, track.start), min(u.end, track.end)
            if end <= start:
                continue
            free = end - start - _shared_micros([(start, end)], others)
            total += free
            if free > best:
                best, pair = free, (track.id, u.id)
    return total / MICROSECOND, *pair


def _others_heard(voice: int, voices: Voices, tracks: Sequence[FaceTrack]) -> bool:
    """Return whether another voice is heard for half a second or more while the face is in view."""
    other = [(u.start, u.end) for v, said in voices.items() if v != voice for u in said]
    return _shared(other, [(t.start, t.end) for t in tracks]) >= 0.5


def _lips(voice: int, voices: Voices, faces: Faces) -> _Claim | None:
    """Return the claim of the only mouth that moves, where every other face in view keeps still while the voice speaks."""
    said = voices[voice]
    spans = [(u.start, u.end) for u in said]
    here = {f: s for f, tracks in faces.items() if (s := _shared(spans, [(t.start, t.end) for t in tracks])) > 0.2}
    if len(here) < 2:
        return None
    mouths = {f: _mouth(said, faces[f]) for f in here}
    moving = [f for f, m in mouths.items() if m == "moving"]
    if len(moving) != 1 or any(m is None for m in mouths.values()):
        return None
    face = moving[0]
    speaking = sum(b - a for a, b in spans) / MICROSECOND
    if here[face] < 2 * LEAST or here[face] < SHARE * speaking or not _in_step(said, faces[face]):
        return None
    u, track = max(
        ((u, t) for u in said for t in faces[face]), key=lambda p: (_shared([(p[0].start, p[0].end)], [(p[1].start, p[1].end)]), p[0].id)
    )
    return _Claim(voice, face, here[face], round(min(1.0, here[face] / LIPS_STRONG), 3), "lips", track.id, u.id)


def _mouth(said: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> str | None:
    """Return "moving" or "still" for a mouth while a voice speaks, None where that can't be told."""
    motion = _motion(said, tracks)
    if len(motion) < LOOKS:
        return None
    part = float(np.mean(motion > STILL))
    if float(motion.mean()) < STILL and part <= STILL_PART:
        return "still"
    return "moving" if part >= MOVING_PART else None


def _in_step(said: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> bool:
    """Return whether a mouth moves clearly more during the speech than outside it; True where it is hardly seen outside."""
    quiet = _motion(said, tracks, during=False)
    return len(quiet) < LOOKS or float(_motion(said, tracks).mean()) > IN_STEP * float(quiet.mean())


def _motion(said: Sequence[Utterance], tracks: Sequence[FaceTrack], during: bool = True) -> NDArray[np.float64]:
    """Return (n,) mouth motion at the looks that fall into the speech (or outside it), over readable faces that measured it."""
    values = [
        value
        for track in tracks
        if len(track.motion) == len(track.boxes)
        for box, value in zip(track.boxes, track.motion, strict=True)
        if box.height >= READABLE and any(u.start <= box.at < u.end for u in said) is during
    ]
    return np.array(values, np.float64)


def _shared(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> float:
    """Return the seconds of the spans `a` that the spans `b` cover."""
    return _shared_micros(a, b) / MICROSECOND


def _shared_micros(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    total = 0
    for start, end in a:
        at = start
        for x, y in sorted((max(x, start), min(y, end)) for x, y in b if x < end and y > start):
            total += max(0, y - max(x, at))
            at = max(at, y)
    return total
