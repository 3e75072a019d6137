"""One live source, from its start to the commit of its last clip: recorder, clips as they close, state for the window.

The recording is the source: everything else reads it. The open clip is not in the memory; when it closes (after its usual length, early for
a question, at a pause, a gap or the end) its row is planned. `work.Work` memorizes the clips in order. Called from any thread; a thread of
its own follows the recording. Must not know: models, windows, how a memory is stored.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from m3desk import events
from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.ids import clip_id
from m3desk.domain.live import DeviceState, Keep, LiveState
from m3desk.errors import M3DeskError, SourceError
from m3desk.live.pace import Pace
from m3desk.live.retention import delete, kept_from
from m3desk.media import file as media_file
from m3desk.media.capture import reports
from m3desk.media.capture.following import FollowingClip
from m3desk.media.capture.planning import WORTH_KEEPING, gap_after, lacking, runs, since
from m3desk.media.capture.recording import Recording, Segment, is_recording
from m3desk.ports import ClipMedia, Frame, Sound
from m3desk.work import SourceStore, Work

log = logging.getLogger(__name__)

TICK = 0.25
"""Seconds between two looks at the recording."""

RETENTION_EVERY = 240
"""Ticks between two looks at what is recorded for longer than it is kept."""

STATUS_EVERY = 2
"""Ticks between two `LiveStatus` events."""

SHORTEST = 2 * MICROSECOND
"""What a clip that is closed early must hold at least; less stays in the open clip."""

HELD_BACK = MICROSECOND // 2
"""Microseconds by which an encoder's pictures and sound may come after what is said to be recorded."""

ENDING = 10.0
"""Seconds that a recorder gets to end after it was asked to."""


class Recorder(Protocol):
    """Records one live source in a process of its own (`media.capture.recorder`). Reports come on another thread."""

    @property
    def preview(self) -> str: ...
    def start(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def stop(self) -> None: ...
    def key(self) -> None: ...
    def kill(self) -> None: ...


MakeRecorder = Callable[[Path, Callable[[reports.Report], None]], Recorder]


@dataclass(slots=True)
class Devices:
    """The real state of the capture devices, as the recorder reports it."""

    camera: DeviceState = "none"
    microphone: DeviceState = "none"
    level: float | None = None

    def lost(self) -> bool:
        """Return whether a device is missing that should be on."""
        return "lost" in (self.camera, self.microphone) or "stalled" in (self.camera, self.microphone)


class OpenClip(FollowingClip):
    """The open clip as perception reads it: ends only when it was closed, so that its row is in the memory and its end is final.

    The recording may end before anybody was told so, and then nothing more is waited for.
    """

    def __init__(self, source: Source, clip: Clip, path: str, fps: float) -> None:
        super().__init__(source, clip, path, fps)
        self._final = threading.Event()

    def closed(self, at: int, overrun: int | None = None) -> int:
        end = super().closed(at, overrun)
        self._final.set()
        return end

    def stop(self) -> None:
        super().stop()
        self._final.set()

    def frames(self) -> Iterator[Frame]:
        yield from super().frames()
        self._final.wait()

    def sound(self) -> Sound:
        found = super().sound()
        self._final.wait()
        return found


@dataclass(slots=True)
class _Open:
    """The open clip: its perception, if that has begun, ends where the clip is closed."""

    clip: Clip
    following: OpenClip | None = None


@dataclass(slots=True)
class _Course:
    """Where a recording and its clips are. Times: microseconds of the source.

    `last`, `last_end`: index and end of the last closed clip. `waiting`: closed clips that are not memorized yet, by id, and when each was
    closed (seconds of the monotonic clock). `remembered`: end of the last memorized one. `lost`: how many failed.
    """

    state: LiveState = "starting"
    recorded: int = 0
    open: _Open | None = None
    last: int = -1
    last_end: int = 0
    ended: bool = False
    waiting: dict[str, tuple[Clip, float]] = field(default_factory=dict)
    remembered: int = 0
    lost: int = 0


class Session:
    """A live source that is being recorded and memorized."""

    def __init__(
        self,
        store: SourceStore,
        work: Work,
        emit: Callable[[Any], None],
        *,
        source: Source,
        address: str,
        clip_seconds: float,
        fps: float,
        keep: Keep = "always",
        budget: int | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """`source`: its row, whose `uri` is the folder of the recording. `address`: as shown, without credentials.

        `wake`: called when a clip was closed, for the thread that memorizes.
        """
        self.source, self.address, self.keep = source, address, keep
        self.folder = Path(source.uri)
        self.devices = Devices()
        self._store, self._work, self._emit, self._wake = store, work, emit, wake
        self._length = round(clip_seconds * MICROSECOND)
        self._fps, self._budget = fps, budget
        self._course = _Course()
        self.pace = Pace()
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._recorder: Recorder | None = None
        self._recording: Recording | None = None
        self._over = threading.Event()

    # ------------------------------------------------------------------ start, pause, stop

    def start(self, make: MakeRecorder) -> None:
        """Start recording. Raises M3DeskError if the source can't be opened at all."""
        recorder = make(self.folder, self._report)
        self._recorder = recorder
        recorder.start()
        threading.Thread(target=self._follow_recording, name="m3desk-live", daemon=True).start()

    @property
    def preview(self) -> str:
        """Return the name of the newest picture in shared memory."""
        return self._recorder.preview if self._recorder is not None else ""

    @property
    def running(self) -> bool:
        """Return whether it is being recorded, or paused."""
        return not self._course.ended

    @property
    def recorded(self) -> int:
        """Return the end of the recording, in microseconds."""
        with self._lock:
            recording = self._recorded()
            return recording.end if recording is not None else 0

    def pause(self, paused: bool) -> None:
        """Stop the devices and close the open clip, or go on."""
        with self._lock:
            if self._course.ended or self._recorder is None or (self._course.state == "paused") == paused:
                return
            if paused:
                self._recorder.pause()
            else:
                self._recorder.resume()
            self._course.state = "paused" if paused else "reconnecting"
        self._tell()

    def stop(self, wait: float = 0.0) -> None:
        """Stop recording; what is recorded is still memorized. `wait`: seconds to wait until the recording has ended."""
        with self._lock:
            if self._recorder is not None and not self._course.ended:
                self._course.state = "stopping"
                self._recorder.stop()
        self._tell()
        until = time.monotonic() + wait
        with self._changed:
            while not self._course.ended and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def abandon(self) -> None:
        """End the session as it is, where its recorder does not answer: it is killed, and the recording is closed as after a crash."""
        if self._recorder is not None:
            self._recorder.kill()
            with self._changed:  # it tells its end once it is gone
                self._changed.wait_for(lambda: self._course.ended, 2.0)
        self._end("")

    # ------------------------------------------------------------------ clips

    def close_clip(self, least: int = SHORTEST) -> Clip | None:
        """Close the open clip now, if at least `least` microseconds of it are recorded; return it. Its sound ends with it."""
        with self._lock:
            recording = self._recorded()
            if self._course.open is None or recording is None:
                return None
            clip = self._course.open.clip
            end = recording.end
            if end - clip.start < least:
                return None
            return self._close(min(end, clip.end), None if end >= clip.end else 0)

    def close_segment(self, past: int) -> None:
        """Wait until `past` (microseconds) is recorded, then have the recorder close its segment and wait for that; at most 3 seconds each.

        What an encoder still holds is older than what is recorded by then, so that the next segment begins after `past`.
        """
        until = time.monotonic() + 3.0
        while time.monotonic() < until and self.running and self._course.state != "paused" and self.recorded < past + HELD_BACK:
            time.sleep(0.05)
        with self._lock:
            recording = self._recorded()
            segments = recording.segments() if recording is not None else ()
            if self._recorder is None or not segments:
                return
            name = segments[-1].name
            self._recorder.key()
        until = time.monotonic() + 3.0
        while time.monotonic() < until and self._newest_segment() == name:
            time.sleep(0.05)

    def _newest_segment(self) -> str:
        with self._lock:
            recording = self._recorded()
            return recording.segments()[-1].name if recording is not None else ""

    def synchronize(self) -> None:
        """Wait no more for clips that are not queued any longer."""
        queued = {c.id for c in self._store.clips(self.source.id) if c.state == "queued"}
        with self._lock:
            for clip in set(self._course.waiting) - queued:
                del self._course.waiting[clip]
            self.source = replace(self.source, sha256=self._store.source(self.source.id).sha256)
            self._changed.notify_all()

    def waits_for(self, clip: str) -> bool:
        """Return whether a closed clip is neither memorized nor lost yet."""
        return clip in self._course.waiting

    def clips(self, stop: Callable[[], bool]) -> Iterator[ClipMedia]:
        """Yield the clips that are not memorized yet, in order, each as soon as it begins; ends with the recording, or when told to."""
        last = -1
        while not stop():
            with self._lock:
                open_, ended = self._course.open, self._course.ended
                closed = next((c for c, _ in self._course.waiting.values() if c.index > last), None)
            if closed is not None:
                last = closed.index
                yield self._recorded_clip(closed)
            elif open_ is not None and open_.clip.index > last:
                last = open_.clip.index
                if (media := self._open_clip(open_)) is not None:
                    yield media
            elif ended:
                return
            else:
                with self._changed:
                    self._changed.wait(0.5)
        with self._lock:
            if self._course.open is not None and self._course.open.following is not None:
                self._course.open.following.stop()

    def _recorded_clip(self, clip: Clip) -> ClipMedia:
        """Return a closed clip; what is given up is decided now, and stored with it."""
        self.pace.given_up(self.behind())
        limited = replace(clip, given_up=self.pace.of_clip())
        if limited != clip:
            self._store.plan_clips(self.source.id, [limited], fps=self._fps)
        return self._work.decoder(self.source)(limited)

    def _open_clip(self, open_: _Open) -> ClipMedia | None:
        """Return the open clip, perceived while it is recorded; if it was closed in between, the closed one, or None once forgotten."""
        with self._lock:
            if self._course.open is open_:
                self.pace.given_up(self.behind())
                open_.clip = replace(open_.clip, given_up=self.pace.of_clip())
                open_.following = OpenClip(self.source, open_.clip, str(self.folder), self._fps)
                return open_.following
            closed = self._course.waiting.get(open_.clip.id)
            return self._recorded_clip(closed[0]) if closed is not None else None

    def _close(self, at: int, overrun: int | None) -> Clip:
        """Close the open clip at a time and plan its row."""
        assert self._course.open is not None
        open_, self._course.open = self._course.open, None
        clip = replace(open_.clip, end=at, overrun=overrun)
        self._store.plan_clips(self.source.id, [clip], fps=self._fps)  # before its perception can end
        if open_.following is not None:
            clip = replace(clip, end=open_.following.closed(at, overrun))
        self._plan(clip)
        self._wake()
        return clip

    def _plan(self, clip: Clip) -> None:
        self._store.plan_clips(self.source.id, [clip], fps=self._fps)
        self._course.waiting[clip.id] = clip, time.monotonic()
        self._course.last, self._course.last_end = clip.index, clip.end
        if not self._course.ended:  # what is known of it grows; what decodes its clips must not take this for its end
            self._store.describe_source(replace(self.source, duration=clip.end))
        self._changed.notify_all()

    def _open_next(self, segments: tuple[Segment, ...]) -> bool:
        """Open the next clip as soon as something of it is recorded; return whether it was opened."""
        course = self._course
        recent = runs(since(segments, course.last_end))
        begin = next((max(start, course.last_end) for start, end in recent if end - course.last_end >= WORTH_KEEPING), None)
        if begin is None or begin + WORTH_KEEPING > max(s.end for s in segments[-2:]):
            return False
        index = course.last + 1
        course.open = _Open(Clip(clip_id(self.source.id, index), self.source.id, index, begin, begin + self._length))
        self._changed.notify_all()
        return True

    # ------------------------------------------------------------------ following the recording

    def _report(self, report: reports.Report) -> None:
        """Take a report of the recorder (called on its thread, which must go on whatever fails here)."""
        try:
            self._take(report)
        except Exception as error:
            log.exception("a report of the recorder failed: %s", type(report).__name__)
            hint = error.hint if isinstance(error, M3DeskError) else ""
            self._emit(events.Notice("error", f"The live source can't be followed: {error}", hint))
            if isinstance(report, reports.Ended) and not self._course.ended:
                self._course.ended = True
                self._emit(events.LiveEnded(self.source.id, str(error)))
                self.finished()

    def _take(self, report: reports.Report) -> None:
        if isinstance(report, reports.Started):
            self._started(report)
        elif isinstance(report, reports.Level):
            self.devices.level = report.dbfs
        elif isinstance(report, reports.DeviceChanged):
            if report.kind == "camera":
                self.devices.camera = report.state
            else:
                self.devices.microphone = report.state
                if report.state != "on":
                    self.devices.level = None
            self._tell()
        elif isinstance(report, reports.Problem):
            self._emit(events.Notice("warning", report.message, report.hint))
        elif isinstance(report, reports.Ended):
            if report.error:
                self._emit(events.Notice("error", report.error, report.hint))
            self._end("" if report.reason == "stopped" else report.error or report.reason)

    def _started(self, report: reports.Started) -> None:
        with self._lock:
            self.source = replace(
                self.source,
                width=report.width,
                height=report.height,
                fps=report.fps,
                has_audio=report.rate is not None,
                sha256=media_file.fingerprint(self.folder),
                state="live",
            )
            self._store.describe_source(self.source)
            self._course.state = "recording"
        self._emit(events.SourceChanged(self.source.id, "live"))
        self._tell()

    def _follow_recording(self) -> None:
        """Open and close clips as the recording grows, and tell its state, until all of it is memorized."""
        ticks = 0
        while not self._over.wait(TICK):
            ticks += 1
            try:
                with self._lock:
                    if not self._course.ended:
                        self._look()
                if ticks % STATUS_EVERY == 0:
                    self._tell()
                if ticks % RETENTION_EVERY == 0:
                    self._drop_old()
            except M3DeskError as error:  # the memory's folder may be gone for a while
                if ticks % (60 * STATUS_EVERY) == 1:
                    self._emit(events.Notice("error", str(error), error.hint))
            except Exception:
                log.exception("following %s failed", self.source.id)

    def _look(self) -> None:
        """Close the open clip where its end is recorded or a gap follows; open the next one."""
        recording = self._recorded()
        segments = recording.segments() if recording is not None else ()
        if not segments:
            return
        course = self._course
        end = max(s.end for s in segments[-2:])
        grew = end > course.recorded
        course.recorded = max(end, course.recorded)
        if grew and course.state in ("starting", "reconnecting"):
            course.state = "recording"
        while course.open is not None or (course.state != "paused" and self._open_next(segments)):
            assert course.open is not None
            clip = course.open.clip
            gap = gap_after(segments, clip.start)
            if gap is not None and gap[0] < clip.end:
                # Its beginning may have been forgotten, too: then nothing of it is left before the gap ends.
                self._close(gap[0] if gap[0] > clip.start else min(gap[1], clip.end), 0)
            elif end >= clip.end:
                self._close(clip.end, None)
            elif course.state == "paused" and not grew:
                self._close(end, 0)
            else:
                break

    def _drop_old(self) -> None:
        """Delete what is recorded for longer than it is kept."""
        if self.keep != "always" and is_recording(self.folder):
            recording = Recording.open(self.folder)
            until = kept_from(self.source, self._store.clips(self.source.id), recording, datetime.now().astimezone())
            if until > 0:
                delete(self.source, until, self._emit)

    def _recorded(self) -> Recording | None:
        """Return the recording as it is now (call it with the lock held); None while it does not exist yet."""
        if self._recording is None:
            with contextlib.suppress(SourceError, OSError):
                self._recording = Recording.open(self.folder)
        return self._recording

    def _end(self, reason: str) -> None:
        """Close the recording and its last clip; what is not memorized yet waits in the memory."""
        with self._lock:
            if self._course.ended:
                return
            with contextlib.suppress(M3DeskError):
                self._look()
            self._course.ended = True
            self._course.state = "stopping"
            self.devices.camera = "off" if self.devices.camera != "none" else "none"
            self.devices.microphone = "off" if self.devices.microphone != "none" else "none"
            self.devices.level = None
            self._close_recording(reason)
        self._emit(events.LiveEnded(self.source.id, reason))
        self._emit(events.SourceChanged(self.source.id, self.source.state))
        self._wake()

    def _close_recording(self, reason: str) -> None:
        """Close the recording, plan what is left of it, and tell the memory what it is now."""
        open_, self._course.open = self._course.open, None
        try:
            self.source, left = close_source(self._store, self.source, self._length, reason)
        except (SourceError, OSError) as error:  # nothing was recorded, or its folder is gone
            log.log(logging.WARNING if self._course.recorded else logging.DEBUG, "the recording %s was not closed: %s", self.folder, error)
            left = []
        for clip in left:
            if open_ is not None and open_.clip.index == clip.index:
                self._course.open = replace(open_, clip=replace(open_.clip, start=clip.start))
                self._close(clip.end, None)
            else:
                self._plan(clip)
        if self._course.open is None and open_ is not None and open_.following is not None and not left:
            open_.following.stop()
        self._changed.notify_all()

    def over(self) -> None:
        """Tell the last state, and end the thread of this session: nothing of it is memorized any more."""
        self._drop_old()
        self._tell()
        self.finished()

    def finished(self) -> None:
        """End the thread of this session."""
        self._over.set()

    # ------------------------------------------------------------------ what is told

    def behind(self) -> float:
        """Return how many seconds of closed clips are not memorized yet."""
        return sum(c.end - c.start for c, _ in list(self._course.waiting.values())) / MICROSECOND

    def unknown(self) -> float:
        """Return how many seconds of the recording are not memorized yet, those of the open clip included."""
        return max(0, self._course.recorded - self._course.remembered) / MICROSECOND

    def heard(self, event: events.ClipCommitted) -> None:
        """Note that a clip was committed, or lost."""
        with self._lock:
            if (waited := self._course.waiting.pop(event.clip, None)) is None:
                return
            known, closed_at = waited
            if event.state in ("failed", "skipped"):
                self._course.lost += 1
            else:
                self._course.remembered = max(self._course.remembered, known.end)
                self.pace.committed((known.end - known.start) / MICROSECOND, time.monotonic(), closed_at)
            self._changed.notify_all()

    def status(self) -> events.LiveStatus:
        """Return the present state."""
        seconds, course, devices = self.behind(), self._course, self.devices
        return events.LiveStatus(
            source=self.source.id,
            state="reconnecting" if course.state == "recording" and devices.lost() else course.state,
            recorded=course.recorded,
            remembered=course.remembered,
            behind=round(seconds, 1),
            skipped=course.lost,
            given_up=self.pace.given_up(seconds),
            catch_up=self.pace.catch_up(seconds, not course.ended),
            camera=devices.camera,
            microphone=devices.microphone,
            level=devices.level,
            disk_free=_free(self.folder),
            budget=self._budget,
            waits=len(course.waiting),
        )

    def _tell(self) -> None:
        if not self._over.is_set():
            self._emit(self.status())


# ---------------------------------------------------------------- recordings and their clips


def close_source(store: SourceStore, source: Source, length: int, reason: str) -> tuple[Source, list[Clip]]:
    """Close a recording whose recorder has ended, however it ended; return the source, now `queued`, and the clips that it lacks.

    `length`: microseconds of a clip. Raises SourceError if there is no recording.
    """
    recording = Recording.open(source.uri)
    recording.close(datetime.now().astimezone().isoformat(timespec="milliseconds"), reason)
    left = list(lacking(recording.segments(), store.clips(source.id), source.id, length))
    about = recording.about
    known = replace(
        source, duration=recording.end, width=about.width, height=about.height, fps=about.fps, has_audio=about.has_sound,
        bytes=recording.bytes, started_at=about.started_at, sha256=recording.fingerprint(), state="queued", error=None,
    )  # fmt: skip
    store.describe_source(known)
    return known, left


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
