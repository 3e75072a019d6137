"""Cuts a source into clips and decodes one clip: pictures on a fixed grid of times, sound from a fixed pre-roll.

Decoding is deterministic: the same clip always gives the same pictures and samples, bit for bit. Each decode opens the file again,
seeks to a position computed from the clip's start only, and keeps no state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND, Clip, Source, clock
from m3desk.domain.ids import clip_id
from m3desk.domain.live import HALF_OF_PICTURES, MOST_PICTURES
from m3desk.media.streams import Kind, OpenContainer, Showing, audible, frame_time, open_media
from m3desk.ports import SAMPLE_RATE, Frame, GreyFrame, Sound

SHORTEST_TAIL = MICROSECOND
"""What is left at the end joins the clip before when it is shorter."""

OVERRUN = 3 * MICROSECOND
"""How far past its end a clip's sound goes: an utterance belongs to the clip in which it starts (memory.md, Borders)."""

# The first AAC frame after a seek lacks the half it overlaps with, Opus wants 80 ms to settle, MP3 borrows bits from frames before,
# and a resampler has a filter's length of past: a second of sound is decoded and dropped before the resampled part begins …
_SETTLE = MICROSECOND
# … which begins on a whole second at least two before the clip: there every common rate has a whole number of samples.
_PRE_ROLL = 2 * MICROSECOND

AFTER = 100_000
"""Microseconds of sound past the wanted ones that are decoded: a resampler needs less than its filter's length, 2 ms."""

HELD = MICROSECOND
"""How long a picture of a recording is shown where no other follows: capture was paused, lost or erased then."""

# Pictures and sound of the same time are at most this far from each other in a recording: having read sound this far past the clip, no
# picture of it can follow.
APART = 4 * MICROSECOND

FINE = 33_000
"""Microseconds at least between two of the pictures of `Frame.between`: all of a source with up to 30 a second, half of one with 60."""

FINE_FROM = 5.0
"""Pictures a second from which `Frame.between` is given: where fewer are looked at, memorizing is behind."""

# A time stamp this far from where the last frame ended is a gap; nearer, it is the container's rounding (Matroska: 1 ms).
_GAP_SECONDS = 0.02

_SEEK_STEPS = (0, MICROSECOND, 4 * MICROSECOND, 16 * MICROSECOND, 64 * MICROSECOND)

# What is missing at the end of a stream and still is no damage: durations of containers are rounded and streams seldom end together.
_TOLERATED_END = MICROSECOND


def plan(source: Source, clip_seconds: float = 30.0, start: int = 0, end: int | None = None, readable: int | None = None) -> list[Clip]:
    """Return the clips of [start, end) microseconds of a source, in time order and without gaps.

    `readable`: the time up to which the file can be read (`file.readable_until`); clips that start later are `skipped` with a reason.
    """
    length = round(clip_seconds * MICROSECOND)
    stop = min(end, source.duration or end) if end is not None else source.duration or 0
    starts = list(range(max(start, 0), stop, length))
    if len(starts) > 1 and stop - starts[-1] < SHORTEST_TAIL:
        starts.pop()
    clips = []
    for index, (a, b) in enumerate(zip(starts, [*starts[1:], stop], strict=True)):
        lost = readable is not None and a >= readable
        error = f"The file cannot be read from {clock(readable or 0)} on." if lost else None
        clips.append(Clip(clip_id(source.id, index), source.id, index, a, b, "skipped" if lost else "queued", error))
    return clips


def rate(fps: float, clip: Clip) -> float:
    """Return the pictures a second that are given of a clip, where those of its source are `fps`."""
    most = 1.0 if MOST_PICTURES in clip.given_up else 2.5 if HALF_OF_PICTURES in clip.given_up else fps
    return min(fps, most)


class FileClip:
    """One clip of a file, decoded on demand; implements `ports.ClipMedia`. frames() and sound() may run in different threads."""

    def __init__(self, source: Source, clip: Clip, path: str, fps: float = 5.0, overrun: int = OVERRUN, threads: int = 2) -> None:
        self.source = source
        self.clip = clip
        self.path = path
        self._fps = rate(fps, clip)
        self._overrun = overrun if clip.overrun is None else clip.overrun
        self._threads = threads
        self._problems: dict[Kind, tuple[str, ...]] = {}
        self._pictures = 0

    @property
    def unreadable(self) -> str | None:
        """Why no picture of the clip could be decoded although the file has some, else None; known once frames() has been consumed."""
        damaged = self._problems.get("picture", ())
        return "; ".join(damaged) if damaged and not self._pictures else None

    @property
    def problems(self) -> tuple[str, ...]:
        """Descriptions of what could not be decoded; complete once frames() and sound() have been consumed."""
        return self._problems.get("picture", ()) + self._problems.get("sound", ())

    def frames(self) -> Iterator[Frame]:
        """Yield the picture shown at each time k / fps within [start, end), in time order.

        That is the newest frame presented by then: of a variable rate a frame may be yielded more than once (the same array),
        before a stream's first frame and after its last nothing is. `at` is the moment of the grid.
        Raises SourceMissing, SourceUnreadable when the file cannot be opened.
        """
        self._problems["picture"], self._pictures = (), 0
        if self.source.width is None:
            return
        with self._open("picture", self._threads) as opened:
            if opened.picture is None:
                self._problems["picture"] = ("the picture cannot be read",)
                return
            yield from self._sampled(opened)

    def _sampled(self, opened: OpenContainer) -> Iterator[Frame]:
        moments = _grid(self._fps, self.clip.start)
        moment = next(moments)
        held = HELD if opened.recording is not None else None
        reader = _Reader(opened, "picture", self.clip.start, lambda: self.clip.end)
        showing = Showing(opened)
        shown: Any = None
        since = 0
        picture: NDArray[np.uint8] | None = None
        passed: list[tuple[int, Any]] = []
        finest = -FINE
        whole = self._fps >= FINE_FROM

        def due(until: int) -> Iterator[Frame]:
            nonlocal moment, picture, passed
            while moment < min(until, self.clip.end):
                if shown is not None and (held is None or moment - since < held):
                    if not self._gives(moment):
                        return
                    picture = showing.bgr(shown) if picture is None else picture
                    finer, passed = passed, []
                    yield Frame(moment, picture, partial(_grey, showing, finer)) if finer else Frame(moment, picture)
                    finer.clear()  # who keeps the frame must not keep these
                moment = next(moments)

        for at, frame in reader.frames():
            self._pictures += self.clip.start <= at < self.clip.end
            yield from due(at)
            if moment >= self.clip.end:
                break
            shown, since, picture = frame, at, None
            if whole and at >= self.clip.start and at - finest >= FINE:
                passed.append((at, frame))
                finest = at
        else:
            if shown is not None:
                yield from due(reader.end if opened.recording is None else opened.recording.end)
            self._problems["picture"] = (*self._cut_short(opened, "picture", reader.end), *reader.told("picture", self.clip))
            return
        self._problems["picture"] = reader.told("picture", self.clip)

    def _gives(self, moment: int) -> bool:
        """Note that the picture of a moment is given now; return False if the clip ends before it."""
        return moment < self.clip.end

    def _open(self, kind: Kind, threads: int = 1) -> OpenContainer:
        """Open the source to read one of its streams."""
        return open_media(self.path, threads)

    def sound(self) -> Sound:
        """Return the sound from the clip's start to up to `overrun` past its end, sample i at start + i / 16,000 s.

        Gaps and what is damaged are silent; after the stream's end nothing follows. Length 0 without sound.
        Raises SourceMissing, SourceUnreadable when the file cannot be opened.
        """
        self._problems["sound"] = ()
        nothing = np.zeros(0, np.float32)
        if not self.source.has_audio:
            return nothing
        with self._open("sound") as opened:
            if opened.sound is None:
                return nothing
            origin = max(0, (self.clip.start - _PRE_ROLL) // MICROSECOND)
            reader = _Reader(opened, "sound", max(0, origin * MICROSECOND - _SETTLE), self._stop)
            native, rate = _mono(reader, origin * MICROSECOND, lambda: self._stop() + AFTER)
            problems = reader.told("sound", self.clip)
            if reader.ended:
                problems = (*self._cut_short(opened, "sound", reader.end), *problems)
            self._problems["sound"] = problems
        first = self.clip.start * SAMPLE_RATE // MICROSECOND - origin * SAMPLE_RATE
        last = self._stop() * SAMPLE_RATE // MICROSECOND - origin * SAMPLE_RATE
        return _resampled(native, rate)[first:last].copy()

    def _stop(self) -> int:
        """Return where the clip's sound ends, at the latest."""
        stop = self.clip.end + self._overrun
        return stop if self.source.duration is None else min(stop, self.source.duration)

    def _cut_short(self, opened: OpenContainer, kind: Kind, end: int) -> tuple[str, ...]:
        """Say from when a stream that ended within the clip is missing, where the container promised more of it."""
        if opened.recording is not None:
            return ()
        declared = opened.declared_end(kind)
        if declared is None:
            other = opened.sound if kind == "picture" else opened.picture
            declared = self.source.duration if other is None else None
        if declared is None or end >= min(declared, self.clip.end) - _TOLERATED_END:
            return ()
        return (f"the {kind} cannot be read from {clock(max(end, 0))} on",)


def _grey(showing: Showing, frames: Sequence[tuple[int, Any]]) -> list[GreyFrame]:
    return [(at, showing.grey(frame)) for at, frame in frames]


def _grid(fps: float, start: int) -> Iterator[int]:
    """Yield the times k / fps (k an integer, counted from the source's start) from `start` on, in microseconds."""
    for k in count(int(start * fps / MICROSECOND)):
        at = round(k * MICROSECOND / fps)
        if at >= start:
            yield at


class _Reader:
    """Reads the decoded frames of one stream from a given time, and records damage and where the stream ended.

    `stop`: the time up to which they are wanted. In a recording the other stream tells when it is reached, even if this one has a gap.
    """

    def __init__(self, opened: OpenContainer, kind: Kind, start: int, stop: Callable[[], int]) -> None:
        self.end = 0
        self.ended = False
        self._opened = opened
        self._kind: Kind = kind
        self._start = start
        self._stop = stop
        self._damaged: list[int] = []

    def frames(self) -> Iterator[tuple[int, Any]]:
        """Yield (time, frame) in order; the first is at or before the start, except where the stream begins later.

        A container's index speaks of decoding times and key frames, and may lead a little too far (B frames, open groups of
        pictures, intra refresh): then the search goes back by fixed steps, at last to the file's start. A recording's is exact.
        """
        if self._opened.recording is not None:
            self._opened.seek(self._kind, self._start)
            yield from self._from_here()
            return
        for back in (*_SEEK_STEPS, None):
            if back is None or self._start - back <= 0:
                self._opened.rewind()
                yield from self._from_here()
                return
            self._opened.seek(self._kind, self._start - back)
            self._damaged.clear()
            run = self._from_here()
            first = next(run, None)
            if first is not None and first[0] <= self._start:
                yield first
                yield from run
                return

    def _from_here(self) -> Iterator[tuple[int, Any]]:
        at: int | None = None
        own = self._opened.stream(self._kind)
        for packet in self._opened.packets(self._kind if self._opened.recording is None else "both"):
            if packet.stream is not own:
                if packet.pts is not None and self._opened.time(packet.stream, packet.pts) > self._stop() + APART:
                    self._opened.end_here()
                continue
            try:
                frames = packet.decode()
            except (av.FFmpegError, OSError):
                if packet.pts is not None:
                    self._damaged.append(self._opened.time(packet.stream, packet.pts))
                continue
            for frame in frames:
                now = frame_time(self._opened, frame, at)
                if self._kind == "sound" and not audible(frame.sample_rate):
                    self._damaged.append(now)
                    continue
                if at is not None and now <= at and self._kind == "picture":
                    continue  # a time stamp that goes back is a fault of the file
                at = now
                self.end = max(self.end, at + frame_duration(self._opened, self._kind, frame))
                yield at, frame
        self.ended = True

    def leave_out(self, at: int) -> None:
        """Record that the frame decoded for a time is unusable."""
        self._damaged.append(at)

    def told(self, kind: Kind, clip: Clip) -> tuple[str, ...]:
        """Return descriptions of the damage within the clip."""
        inside = [at for at in self._damaged if clip.start <= at < clip.end]
        if not inside:
            return ()
        if len(inside) == 1:
            return (f"a damaged piece of the {kind} was left out, at {clock(inside[0])}",)
        return (f"{len(inside)} damaged pieces of the {kind} were left out, the first at {clock(min(inside))}",)


def frame_duration(opened: OpenContainer, kind: Kind, frame: Any) -> int:
    """Return a frame's duration in microseconds; if unknown, one frame at the stream's average rate."""
    if kind == "sound":
        return round(frame.samples * MICROSECOND / frame.sample_rate) if frame.sample_rate else 0
    if frame.duration:
        return int(frame.duration * frame.time_base * MICROSECOND)
    rate = opened.picture.average_rate if opened.picture is not None else None
    return round(MICROSECOND / (rate or 25))


def _mono(reader: _Reader, start: int, stop: Callable[[], int]) -> tuple[Sound, int]:
    """Return the sound of [start, stop()) microseconds as one channel at its own rate, and that rate; shorter where it ends earlier."""
    mixers: dict[Sequence[Any], Any] = {}
    pieces: list[tuple[int, Sound]] = []
    rate = 0
    due: int | None = None
    for at, frame in reader.frames():
        if at >= stop():
            break
        rate = rate or frame.sample_rate
        key = (frame.format.name, frame.layout.name, frame.sample_rate)
        if key not in mixers:
            mixers[key] = av.AudioResampler(format="fltp", layout="mono", rate=rate)
        frame.pts = None
        index = round((at - start) * rate / MICROSECOND)
        if due is not None and abs(index - due) < _GAP_SECONDS * rate:
            index = due
        try:
            mixed_frames = mixers[key].resample(frame)
        except av.FFmpegError:  # channels that nothing can mix
            reader.leave_out(at)
            continue
        for mixed in mixed_frames:
            samples = mixed.to_ndarray()[0]
            pieces.append((index, samples))
            index += len(samples)
        due = index
    whole = max((index + len(samples) for index, samples in pieces), default=0)
    sound = np.zeros(max(0, min(whole, round((stop() - start) * rate / MICROSECOND))), np.float32)
    for index, samples in pieces:
        a, b = max(index, 0), min(index + len(samples), len(sound))
        if a < b:
            sound[a:b] = samples[a - index : b - index]
    return sound, rate or SAMPLE_RATE


def _resampled(sound: Sound, rate: int) -> Sound:
    """Return the sound at 16 kHz; output sample 0 lies on input sample 0."""
    if rate == SAMPLE_RATE or not len(sound):
        return np.clip(sound, -1.0, 1.0)
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(sound[None]), format="fltp", layout="mono")
    frame.sample_rate = rate
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=SAMPLE_RATE)
    pieces: list[Sound] = [f.to_ndarray()[0] for f in (*resampler.resample(frame), *resampler.resample(None))]
    resampled: Sound = np.clip(np.concatenate(pieces), -1.0, 1.0)
    return resampled
