"""Who is seen or heard in the part of a source that the timeline shows: their lanes come first. Pure: no Qt."""

from __future__ import annotations

from m3desk_ui.timeline.rows import Lane, Plan, Rows

MOST_CLIPS = 2_000
"""Clips on show above which everybody counts as in view: the whole memory is not searched."""
LATE = 3_000_000
"""Microseconds that an utterance goes on after its clip's end, at most."""


def people(plan: Plan, rows: Rows, start: int, end: int) -> frozenset[str] | None:
    """Return who is seen or heard in [start, end) microseconds; None where all lanes are as good: all of it, or too much, is on show."""
    first, last = plan.between(start - LATE, end)
    if last - first > MOST_CLIPS or last - first >= len(plan.clips):
        return None
    found: set[str] = set()
    for clip in plan.clips[first:last]:
        piece = rows.pieces.get(clip.id)
        if piece is not None:
            found.update(who for who, a, b in (*piece.seen, *piece.heard) if a < end and b > start)
    return frozenset(found)


def ordered(rows: Rows, first: frozenset[str] | None) -> tuple[Lane, ...]:
    """Return the lanes: those of people in view, then the others, each part in the order it has."""
    if not first:
        return rows.lanes
    return (*(lane for lane in rows.lanes if lane.person in first), *(lane for lane in rows.lanes if lane.person not in first))
