"""Mouth movement as evidence for who speaks: whether a mouth moves more while this voice is heard than in silence or under other voices.

Pictures come five times a second, so a mouth's single movements can't be held against the sound's. Measured on the reel's 16 talking
heads (2026-11): motion against the loudness of the same fifth of a second correlates by .17 on average (−.24 to .65), against somebody
else's sound by .02 ± .2: nothing to decide by within a scene. At 25 pictures a second the figures are .36 and .07 ± .2. What can be
told is how much a mouth moves over seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.evidence import FaceTrack, Utterance

STILL, STILL_PART = 0.012, 0.25
"""A mouth is still where its motion (perception.sightings.lip_movement) is under STILL on average, and above it in at most this
part of the looks. Measured on the reel: listeners 0.005–0.007 and 12–22 %, speakers 0.026 and more and 30–91 %."""

MOVING_PART = 0.3
IN_STEP = 1.5
"""How many times more the one moving mouth of several must move while the voice speaks than while it does not (where that is seen)."""

LOOKS = 8
"""Looks (at five a second) under which nothing is said about a mouth."""

TURN_LOOKS = 15
"""Looks needed on both sides to compare a mouth under one voice and under another."""

READABLE = 40
"""Height of a face in pixels under which its mouth is a few pixels of noise."""

Spans = Sequence[tuple[int, int]]


def state(said: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> str | None:
    """Return "moving" or "still" for a mouth while a voice speaks, None where that can't be told."""
    moved = motion(tracks, spans(said))
    if len(moved) < LOOKS:
        return None
    part = float(np.mean(moved > STILL))
    if float(moved.mean()) < STILL and part <= STILL_PART:
        return "still"
    return "moving" if part >= MOVING_PART else None


def moving_part(said: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> float:
    """Return the part of the looks, 0–1, in which a mouth moves while a voice speaks; 0 where there are too few."""
    moved = motion(tracks, spans(said))
    return float(np.mean(moved > STILL)) if len(moved) >= LOOKS else 0.0


def in_step(said: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> bool:
    """Return whether a mouth moves clearly more during the speech than outside it; True where it is hardly seen outside."""
    quiet = motion(tracks, spans(said), inside=False)
    return len(quiet) < LOOKS or float(motion(tracks, spans(said)).mean()) > IN_STEP * float(quiet.mean())


def contrast(said: Sequence[Utterance], others: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> float | None:
    """Return by how many standard errors a mouth moves more under one voice than under the others (Welch's t of log motion).

    None where it was seen too little under either.
    """
    mine, theirs = (np.log(motion(tracks, spans(u)) + 0.005) for u in (said, others))
    if len(mine) < TURN_LOOKS or len(theirs) < TURN_LOOKS:
        return None
    spread = math.sqrt(max(0.05, float(mine.var())) / len(mine) + max(0.05, float(theirs.var())) / len(theirs))
    return round((float(mine.mean()) - float(theirs.mean())) / spread, 3)


def motion(tracks: Sequence[FaceTrack], times: Spans, inside: bool = True) -> NDArray[np.float64]:
    """Return (n,) mouth motion at the looks within some times (or outside of them), over readable faces that measured it."""
    values = [
        value
        for track in tracks
        if len(track.motion) == len(track.boxes)
        for box, value in zip(track.boxes, track.motion, strict=True)
        if box.height >= READABLE and any(a <= box.at < b for a, b in times) is inside
    ]
    return np.array(values, np.float64)


def spans(said: Sequence[Utterance]) -> list[tuple[int, int]]:
    """Return the times of some utterances."""
    return [(u.start, u.end) for u in said]
