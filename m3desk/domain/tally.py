"""Totals over the observations of a node or a person: first and last time, seconds, clips, and the best picture. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from m3desk.domain.ids import clip_order, source_number
from m3desk.domain.log import ObservationRow, ObservationType

InClip = Callable[[str], Iterable[ObservationRow]]
"""Returns the observations in a clip."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Totals of some observations. `count`: of all; `first`: (source number, start, end), `last`: (source number, end), microseconds.

    `screen_time`, `speech_time`: microseconds with a face, with speech; what two observations show at once counts once. `clips`: in order.
    `best`: (quality, id) of the observation whose picture it is. An enrolment photo counts, and may be
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

    def with_(self, observations: Iterable[ObservationRow], enrolled: Collection[str] = (), there: InClip = lambda _clip: ()) -> Tally:
        """Return the sum of these and more observations. `there`: of these, the observations in a clip."""
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
            self.screen_time + self._longer(real, "face", there),
            self.speech_time + self._longer(real, "voice", there),
            joined(self.clips, {o.clip for o in real}),
            best,
            picture,
        )

    def _is_in(self, clip: str) -> bool:
        """Return whether a clip is one of these; quick for a later one."""
        return bool(self.clips) and (clip == self.clips[-1] or (clip_order(clip) < clip_order(self.clips[-1]) and clip in self.clips))

    def _longer(self, more: Sequence[ObservationRow], type_: ObservationType, there: InClip) -> int:
        """Return by how much more observations lengthen the time. Those of different clips never overlap."""
        by_clip: dict[str, list[ObservationRow]] = {}
        for o in more:
            if o.type == type_:
                by_clip.setdefault(o.clip, []).append(o)
        longer = 0
        for clip, new in by_clip.items():
            old = [o for o in there(clip) if o.type == type_] if self._is_in(clip) else []
            longer += covered((*old, *new)) - covered(old)
        return longer


def covered(observations: Iterable[ObservationRow]) -> int:
    """Return the microseconds in which at least one of the observations lasts."""
    total = 0
    until: int | None = None
    for start, end in sorted((o.start, o.end) for o in observations):
        total += max(0, end - start if until is None else end - max(start, until))
        until = end if until is None else max(until, end)
    return total


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


def merged(tallies: Mapping[str, Tally], there: Callable[[str, str], Sequence[ObservationRow]]) -> Tally:
    """Return the totals of several nodes. `there`: the observations of a node in a clip; asked of clips that several nodes are in."""
    counted = {node: t for node, t in tallies.items() if t.count}
    parts = list(counted.values())
    if len(parts) < 2:
        return parts[0] if parts else Tally()
    twice = {"face": 0, "voice": 0}
    nodes_in: dict[tuple[str, bool], list[str]] = {}
    for node, t in counted.items():
        for clip in t.clips:
            nodes_in.setdefault((clip, t.screen_time > 0), []).append(node)
    for (clip, seen), nodes in nodes_in.items():
        if len(nodes) > 1:
            each = [there(node, clip) for node in nodes]
            twice["face" if seen else "voice"] += sum(map(covered, each)) - covered(o for many in each for o in many)
    best, picture = max(((t.best, t.picture) for t in parts if t.best is not None), default=(None, None))
    return Tally(
        sum(t.count for t in parts),
        min((t.first for t in parts if t.first is not None), default=None),
        max((t.last for t in parts if t.last is not None), default=None),
        sum(t.screen_time for t in parts) - twice["face"],
        sum(t.speech_time for t in parts) - twice["voice"],
        tuple(sorted({c for t in parts for c in t.clips}, key=clip_order)),
        best,
        picture,
    )
