"""Which part of a painted timeline a change of its data concerns. Pure: no Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from m3desk_ui.timeline.rows import Plan, Rows


def changed_times(old: tuple[Plan, Rows], new: tuple[Plan, Rows]) -> tuple[int, int] | None:
    """Return a time span outside of which two timelines of one source hold the same; (0, 0) where all is the same.

    None where their clips differ in number or time. Who has a lane, and the names, are not looked at.
    """
    (plan, rows), (later, rows_later) = old, new
    if plan.source is None or later.source is None or plan.source.id != later.source.id or plan.spans is not later.spans:
        return None
    places = np.flatnonzero((plan.states != later.states) | (plan.pictured != later.pictured)).tolist()
    times: list[int] = []
    if rows.pieces is not rows_later.pieces:
        before, after = rows.pieces, rows_later.pieces
        clips = [c for c, piece in after.items() if before.get(c) is not piece] + [c for c in before if c not in after]
        places += [place for c in clips if (place := later.place_of.get(c)) is not None]
        pieces = [piece for c in clips for piece in (before.get(c), after.get(c)) if piece is not None]
        times = [t for piece in pieces for row in (*piece.seen, *piece.heard) for t in row[1:]]
        times += [t for piece in pieces for m in piece.memories for t in m[:2]]
    spans = later.spans[places]
    if len(spans):
        times += [int(spans[:, 0].min()), int(spans[:, 1].max())]
    return (min(times), max(times)) if times else (0, 0)


def moved_lanes(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> tuple[dict[int, int], list[int]]:
    """Return which rows show a lane that had another place (place now → place then), and the other places that changed.

    `old`, `new`: the (person, name) of the rows on show, from above.
    """
    then = {lane: place for place, lane in enumerate(old)}
    moves = {place: then[lane] for place, lane in enumerate(new) if lane in then and then[lane] != place}
    others = [place for place, lane in enumerate(new) if lane not in then]
    return moves, [*others, *range(len(new), len(old))]
