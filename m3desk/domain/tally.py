"""Totals over the observations of a node or a person: first and last time, seconds, clips, and the best picture. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from m3desk.domain.ids import clip_order, source_number
from m3desk.domain.log import ObservationRow


@dataclass(frozen=True, slots=True)
class Tally:
    """Totals of some observations. `count`: of all; `first`: (source number, start, end), `last`: (source number, end), microseconds.

    `clips`: in order. `best`: (quality, id) of the observation whose picture it is. An enrolment photo counts, and may be
    the picture, but has no time.
    """

    count: int = 0
    first: tuple[int, int, int] | None = None
    last: tuple[int, int] | None = None
    screen_time: int = 0
    speech_time: int = 0
    clips: tuple[str, ...] = ()
    best: tuple[float, str] | None = None
    picture: str | None = None

    @classmethod
    def of(cls, observations: Iterable[ObservationRow], enrolled: Collection[str] = ()) -> Tally:
        """Return the sum of observations, of which `enrolled` are from enrolment files."""
        return cls().with_(observations, enrolled)

    def with_(self, observations: Iterable[ObservationRow], enrolled: Collection[str] = ()) -> Tally:
        """Return the sum of these and more observations."""
        more = list(observations)
        shots = [((o.quality, o.id), o.picture) for o in more if o.picture]
        best, picture = max([*shots, *([(self.best, self.picture)] if self.best is not None else [])], default=(None, None))
        real = [o for o in more if o.id not in enrolled] if enrolled else more
        if not real:
            return replace(self, count=self.count + len(more), best=best, picture=picture)
        sources = [source_number(o.clip) for o in real]
        first = min((n, o.start, o.end) for n, o in zip(sources, real, strict=True))
        last = max((n, o.end) for n, o in zip(sources, real, strict=True))
        return Tally(
            self.count + len(more),
            first if self.first is None else min(self.first, first),
            last if self.last is None else max(self.last, last),
            self.screen_time + sum(o.end - o.start for o in real if o.type == "face"),
            self.speech_time + sum(o.end - o.start for o in real if o.type == "voice"),
            joined(self.clips, {o.clip for o in real}),
            best,
            picture,
        )


def joined(clips: tuple[str, ...], more: Collection[str]) -> tuple[str, ...]:
    """Return clips in order, with more of them; quick where few are added, most of all at the end."""
    if len(more) > 8:
        return tuple(sorted({*clips, *more}, key=clip_order))
    for clip in more:
        order = clip_order(clip)
        if not clips or clip_order(clips[-1]) < order:
            clips = (*clips, clip)
        elif clip not in (clips[0], clips[-1]) and clips[place := bisect_left(clips, order, key=clip_order)] != clip:
            clips = (*clips[:place], clip, *clips[place:])
    return clips


def merged(tallies: Iterable[Tally]) -> Tally:
    """Return the totals of several disjoint sets of observations."""
    parts = [t for t in tallies if t.count]
    if len(parts) < 2:
        return parts[0] if parts else Tally()
    best, picture = max(((t.best, t.picture) for t in parts if t.best is not None), default=(None, None))
    return Tally(
        sum(t.count for t in parts),
        min((t.first for t in parts if t.first is not None), default=None),
        max((t.last for t in parts if t.last is not None), default=None),
        sum(t.screen_time for t in parts),
        sum(t.speech_time for t in parts),
        tuple(sorted({c for t in parts for c in t.clips}, key=clip_order)),
        best,
        picture,
    )
