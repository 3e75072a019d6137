"""Looks up the face boxes, names and speaker at a frame's exact time; never extrapolates beyond a track.

Built in the reading thread; queried on the GUI thread for every frame, so everything is arrays. Independent of Qt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.ids import clip_of

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.ports import Reader

MOMENT = 120_000
"""Microseconds beside its only near sample at which a box still counts (samples are 200,000 apart)."""
GAP = 1_000_000
"""Longest gap between two samples of one track across which a box is interpolated; a face hidden for longer has no box."""
EARLY = 300_000
"""How near in time early (unnamed) boxes must be to be shown: they have no track to interpolate in."""
SUBTITLE_WORDS = 16
"""Words of a long utterance shown at once (CJK: characters, twice as many)."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One box at one time: x, y, width, height in pixels of the frame as displayed. `track` is "" for uncommitted boxes.

    `sure`: False for a provisional name of a live source, which may still change.
    """

    track: str
    person: str | None
    name: str
    box: tuple[float, float, float, float]
    speaking: bool
    score: float
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Track:
    """A face track as arrays: `times` (n,) int64 rising microseconds, `boxes` (n, 4) float64."""

    id: str
    person: str | None
    name: str
    score: float
    times: NDArray[np.int64]
    boxes: NDArray[np.float64]

    def at(self, time: int) -> tuple[float, float, float, float] | None:
        """Return the box at a time, interpolated between samples of this track; None outside of the track."""
        i = int(np.searchsorted(self.times, time, side="right"))
        if 0 < i < len(self.times):
            before, after = int(self.times[i - 1]), int(self.times[i])
            if after - before <= GAP:
                part = (time - before) / (after - before)
                x, y, w, h = self.boxes[i - 1] * (1 - part) + self.boxes[i] * part
                return float(x), float(y), float(w), float(h)
        near = [k for k in (i - 1, i) if 0 <= k < len(self.times) and abs(int(self.times[k]) - time) <= MOMENT]
        if not near:
            return None
        x, y, w, h = self.boxes[min(near, key=lambda k: abs(int(self.times[k]) - time))]
        return float(x), float(y), float(w), float(h)


@dataclass(frozen=True, slots=True)
class Subtitle:
    """An utterance for subtitles. `words`: (start, end, text)."""

    id: str
    person: str | None
    name: str
    start: int
    end: int
    text: str
    words: tuple[tuple[int, int, str], ...]

    def line(self, at: int) -> str:
        """Return the subtitle at a time: the whole of a short utterance, the current part of a long one."""
        joint = "" if len(self.words) > 1 and all(len(w[2].strip()) == 1 and ord(w[2].strip()) > 0x2E80 for w in self.words[:3]) else " "
        room = SUBTITLE_WORDS if joint else 2 * SUBTITLE_WORDS
        if len(self.words) <= room:
            return self.text
        now = max((i for i, w in enumerate(self.words) if w[0] <= at), default=0)
        first = now // room * room
        return joint.join(w[2].strip() for w in self.words[first : first + room])


@dataclass(frozen=True, slots=True)
class Window:
    """Everything known about [start, end) of a source, indexed by time."""

    source: str
    start: int
    end: int
    tracks: tuple[Track, ...] = ()
    said: tuple[Subtitle, ...] = ()
    committed: tuple[tuple[int, int], ...] = ()

    def boxes(self, at: int) -> list[Shown]:
        """Return the boxes at a time, larger first, so that smaller ones are on top."""
        speaking = {s.person for s in self.said if s.start <= at < s.end and s.person}
        shown = []
        for t in self.tracks:
            box = t.at(at) if t.times[0] - MOMENT <= at <= t.times[-1] + MOMENT else None
            if box is not None:
                shown.append(Shown(t.id, t.person, t.name, box, t.person in speaking, t.score))
        return sorted(shown, key=lambda s: -s.box[2] * s.box[3])

    def subtitles(self, at: int) -> list[Subtitle]:
        """Return the utterances at a time, ordered by start."""
        return [s for s in self.said if s.start <= at < s.end]

    def knows(self, at: int) -> bool:
        """Return whether the clip at this time is committed (then its early boxes are outdated)."""
        return any(start <= at < end for start, end in self.committed)


def load(reader: Reader, source: str, start: int, end: int) -> Window:
    """Read a window of a source (any thread)."""
    tracks = []
    for row in reader.tracks(source, start, end):
        if row.set_aside or not row.track.boxes:
            continue
        rows = np.array([(b.at, b.x, b.y, b.width, b.height) for b in row.track.boxes], np.float64)
        tracks.append(Track(row.track.id, row.person, row.shown, row.track.score, rows[:, 0].astype(np.int64), rows[:, 1:]))
    said = tuple(
        Subtitle(
            r.utterance.id,
            r.person,
            r.shown,
            r.utterance.start,
            r.utterance.end,
            r.utterance.text,
            tuple((w.start, w.end, w.text) for w in r.utterance.words),
        )
        for r in sorted(reader.speech(source, start, end), key=lambda r: r.utterance.start)
        if not r.set_aside and r.utterance.text
    )
    committed = tuple((c.start, c.end) for c in reader.clips_between(source, start, end) if c.state in ("episodic", "done"))
    return Window(source, start, end, tuple(tracks), said, committed)


def concerned(reader: Reader, window: Window, changed: Changed) -> bool:
    """Return whether a change affects a window: a person in it, or an overlapping clip (any thread)."""
    shown = {t.person: t.name for t in window.tracks} | {s.person: s.name for s in window.said}
    named = {person: name for person, name in shown.items() if person is not None and person in changed.people}
    if named and {p.id: p.shown for p in reader.people_of(named.keys())} != named:
        return True
    mine = f"{window.source}."
    clips = {clip_of(o) for o in changed.observations if o.startswith(mine)} | {c for c in changed.clips if c.startswith(mine)}
    return any(c.end > window.start and c.start < window.end for c in reader.clips_of(clips)) if clips else False


class Early:
    """Boxes of the clip being processed, shown without names before its commit."""

    def __init__(self) -> None:
        self._clips: dict[str, NDArray[np.float64]] = {}

    def add(self, clip: str, faces: Sequence[tuple[int, float, float, float, float]]) -> None:
        rows = np.array(faces, np.float64).reshape(-1, 5)
        old = self._clips.get(clip)
        rows = rows if old is None else np.concatenate([old, rows])
        self._clips[clip] = rows[np.argsort(rows[:, 0], kind="stable")]

    def drop(self, clip: str) -> None:
        self._clips.pop(clip, None)

    def clear(self) -> None:
        self._clips.clear()

    def boxes(self, at: int) -> list[Shown]:
        """Return the boxes of the nearest analysed frame, if it is near enough."""
        for rows in self._clips.values():
            if not len(rows) or not rows[0, 0] - EARLY <= at <= rows[-1, 0] + EARLY:
                continue
            i = int(np.searchsorted(rows[:, 0], at))
            near = min((k for k in (i - 1, i) if 0 <= k < len(rows)), key=lambda k: abs(rows[k, 0] - at))
            if abs(rows[near, 0] - at) <= EARLY:
                return [
                    Shown("", None, "", (float(x), float(y), float(w), float(h)), False, 0.0)
                    for t, x, y, w, h in rows
                    if t == rows[near, 0]
                ]
        return []
