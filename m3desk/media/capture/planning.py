"""The clips of a recording: none reaches over a gap of its time line. And which segments hold a span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.ids import clip_id
from m3desk.media.capture.recording import Recording, Segment
from m3desk.media.capture.transport import PACKET, starts, time_of

GAP = 5 * MICROSECOND
"""A jump of the recording's time this long ends a clip: paused, the machine slept, or nothing could be captured."""

WORTH_KEEPING = MICROSECOND // 5
"""What is left at the end of a span is no clip of its own when it is shorter."""


def lacking(segments: Sequence[Segment], clips: Sequence[Clip], source: str, length: int) -> Iterator[Clip]:
    """Yield the clips of a recording behind those that are there, each of at most about `length` microseconds."""
    at = max((c.end for c in clips), default=0)
    index = max((c.index for c in clips), default=-1) + 1
    for begin, end in runs(segments):
        start = max(begin, at)
        while end - start >= WORTH_KEEPING:
            stop = min(start + length, end)
            if end - stop < WORTH_KEEPING:
                stop = end
            yield Clip(clip_id(source, index), source, index, start, stop)
            index, start = index + 1, stop


def runs(segments: Sequence[Segment]) -> list[tuple[int, int]]:
    """Return the spans of a recording that are without a gap of `GAP` or more; the first begins at 0 unless that is a gap, too."""
    found: list[tuple[int, int]] = []
    for start, end in (piece for s in segments for piece in _pieces(s)):
        if found and start - found[-1][1] < GAP:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start if start >= GAP else 0, end))
    return found


def _pieces(segment: Segment) -> Iterator[tuple[int, int]]:
    """Yield the parts of a segment between gaps, as far as the points tell at which decoding can start: one every two seconds or more."""
    start = last = segment.start
    for at in sorted(at for at, _ in (*segment.pictures, *segment.sounds)):
        if at - last >= GAP:
            yield start, last
            start = at
        last = at
    yield start, segment.end


def since(segments: Sequence[Segment], at: int) -> Sequence[Segment]:
    """Return the segments that hold something after a time, and two before them; for `runs` it is as if all were there.

    A recording of a day has thousands; what follows it must not look at all of them each time.
    """
    first = len(segments)
    while first > 0 and segments[first - 1].end > at:
        first -= 1
    return segments[max(0, first - 2) :]


def gap_after(segments: Sequence[Segment], at: int) -> tuple[int, int] | None:
    """Return the first gap that ends after a time, as [start, end); None if the recording goes on without one."""
    segments = since(segments, at)
    return next(((a[1], b[0]) for a, b in pairwise(runs(segments)) if b[0] > at), None)


def holding(recording: Recording, start: int, end: int) -> list[str]:
    """Return the segments with a picture or sound in [start, end) microseconds: every packet of those near the span is looked at."""
    found = []
    for segment in recording.segments():
        if segment.start < end and start < segment.end:
            try:
                data = (recording.folder / segment.name).read_bytes()
            except FileNotFoundError:  # replaced meanwhile
                continue
            if any(start <= time_of(stamp) < end for _, _, _, stamp in starts(data[: len(data) // PACKET * PACKET])):
                found.append(segment.name)
    return found
