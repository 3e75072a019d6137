"""Live sources in the terminal: `memorize` of an address, and `forget` of a span."""

from __future__ import annotations

import re
import shlex
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from m3desk import config, events
from m3desk.cli.opening import App
from m3desk.cli.output import Follower, Out, confirm
from m3desk.cli.parser import moment
from m3desk.cli.work import existing
from m3desk.domain.clip import MICROSECOND, clock, seconds
from m3desk.domain.live import Keep, SpanForgotten, parse_keep
from m3desk.domain.plural import many
from m3desk.errors import Cancelled, M3DeskError, UsageError
from m3desk.media.capture.address import LiveAddress, is_live

SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(s|m|h)")
POLL = 0.2


def address(text: str, no_audio: bool = False) -> str:
    """Return the address of a live source as it is recorded: a camera with the default microphone, unless it is not wanted."""
    parsed = LiveAddress.parse(text)
    if parsed.kind == "devices" and parsed.microphone is None and not no_audio:
        parsed = replace(parsed, microphone="default")
    return str(parsed)


def keep(text: str | None) -> Keep:
    """Return how long a recording is kept: `always`, `remembered`, or a number of hours; from the settings if not given."""
    given = config.get_value("keep_recordings") if text is None else text
    if (kept := parse_keep(given)) is None:
        raise UsageError(f"“{given}” does not say how long a recording is kept.", "Write always, remembered, or a number of hours.")
    return kept


def budget() -> int | None:
    """Return the bytes that a recording may have; None where the settings set no limit."""
    gigabytes = config.get_value("recording_gb")
    return round(gigabytes * 1e9) or None


# ---------------------------------------------------------------- memorize


def memorize(options: Any, out: Out) -> int:
    """Record and memorize a live source until it ends, `--end` is reached, or Ctrl-C; a second Ctrl-C leaves the rest for later."""
    if len(options.sources) > 1:
        raise UsageError("one live source at a time.", "Start another m3desk for each of them, with a memory of its own.")
    source = address(options.sources[0], options.no_audio)
    until = seconds(moment(options.end)) if options.end else None
    settings = config.Settings.load()
    if options.profile:
        settings = replace(settings, profile=options.profile)
    if options.writer:
        settings = replace(settings, writer=options.writer)
    with Follower(out) as follow, App(options.memory, emit=_Told(out, follow), settings=settings) as app, _interrupts() as interrupts:
        app.live.recover()
        if options.clip_seconds:
            app.work.clip_seconds(options.clip_seconds)
        app.watching.start()
        id_ = app.live.start(source, keep=keep(options.keep), budget=budget(), names=bool(app.watches()), bystanders=options.bystanders)
        worker = _Worker(app)
        began, stopped = time.monotonic(), False
        while worker.is_alive():
            worker.join(POLL)
            session = app.live.session
            enough = until is not None and session is not None and session.recorded >= until * MICROSECOND
            if session is not None and session.running and not stopped and (interrupts() or enough):
                stopped = True
                out.line("Recording is closed; its last clips are memorized now. Ctrl-C again leaves them for later.")
                app.live.stop()
            if interrupts() > 1:
                app.work.stop()
        worker.raise_failure()
        app.live.close()
        with app.reader() as reader:
            stored = next((s for s in reader.sources() if s.id == id_), None)
            clips = [c for c in reader.clips() if c.source == id_]
        left = sum(c.state == "queued" for c in clips)
        report = {
            "source": id_,
            "address": LiveAddress.parse(source).shown(),
            "recording": stored.uri if stored else None,
            "duration": None if stored is None or stored.duration is None else seconds(stored.duration),
            "clips": {state: sum(c.state == state for c in clips) for state in ("queued", "episodic", "done", "failed", "skipped")},
            "seconds": round(time.monotonic() - began, 1),
        }
    if stored is None or not clips:
        devices = LiveAddress.parse(source).kind == "devices"
        raise M3DeskError("nothing was recorded.", "Check the devices: m3desk devices --test." if devices else "Check the address.")
    lines = [f"{many(len(clips), 'clip')}, {clock(stored.duration or 0)} recorded in {stored.uri}"]
    place = shlex.quote(str(options.memory))
    if left:
        lines.append(f"Recorded and not memorized yet: {many(left, 'clip')}. Go on: m3desk memorize {shlex.quote(stored.uri)} -m {place}")
    lines.append(f'Ask: m3desk ask -m {place} "who appears?"')
    out.result(report, lines)
    return Cancelled.exit_code if left else 0


class _Worker(threading.Thread):
    """Memorizes on a thread of its own, so that Ctrl-C does not interrupt a clip."""

    def __init__(self, app: App) -> None:
        super().__init__(name="m3desk-memorizer", daemon=True)
        self._app = app
        self._failed: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self._app.work.run()
            self._app.embed_lacking()
        except Cancelled:
            return
        except Exception as error:
            self._failed = error
            self._app.live.close()

    def raise_failure(self) -> None:
        """Raise what ended it, if it failed."""
        if self._failed is not None:
            raise self._failed


@contextmanager
def _interrupts() -> Iterator[Any]:
    """Count Ctrl-C instead of being interrupted; the third one interrupts."""
    count = 0

    def told(number: int, frame: Any) -> None:
        nonlocal count
        count += 1
        if count > 2:
            signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, told)
    try:
        yield lambda: count
    finally:
        signal.signal(signal.SIGINT, before)


class _Told:
    """Shows the events of a live source: the clips as `memorize` does, and its state on a line whenever that changes.

    Of an address that delivers nothing only the error is told.
    """

    def __init__(self, out: Out, follow: Follower) -> None:
        self._out, self._follow = out, follow
        self._last = ""
        self._warned = ""
        self._address = ""
        self._records = False

    def __call__(self, event: Any) -> None:
        if isinstance(event, events.LiveStarted):
            self._address, self._records = event.address, False
            self._out.line(f"Opening {event.address} …")
        elif isinstance(event, events.LiveStatus):
            self._status(event)
        elif isinstance(event, events.LiveEnded) and event.reason:
            if event.reason != self._warned:
                self._out.line(f"Recording ended: {event.reason.removesuffix('.')}.")
            elif self._records:
                self._out.line("Recording ended.")
        elif isinstance(event, events.Notice) and event.level == "error":
            self._warned = event.text
            self._out.warn(f"{event.text} {event.hint}".strip())
        else:
            self._follow(event)

    def _status(self, status: events.LiveStatus) -> None:
        if not self._records:
            if status.state in ("starting", "stopping") and not status.recorded:
                return
            self._records = True
            self._out.line(f"Recording {self._address}. Ctrl-C ends it.")
        given_up = f", without {', '.join(status.given_up)}" if status.given_up else ""
        late = f", {status.behind:.0f} s behind" if status.given_up else ""
        text = f"{status.state}{late}{given_up}"
        if text != self._last:
            self._last = text
            self._out.line(f"{clock(status.recorded)} {text}")


# ---------------------------------------------------------------- forget


def forget(options: Any, out: Out) -> int:
    """Forget a span of a source: `--last 5m`, or `--source s1 --from T --to T`. Exit status 1 if the proof finds traces."""
    existing(options.memory)
    with App(options.memory) as app:
        source, start, end = _span(options, app)
        plan = app.may_forget_span(source, start, end)
        what = [f"{plan.text}{', and the recording of it' if plan.recording else '; the file itself stays'}."]
        if options.dry_run:
            out.result(_document(plan), [f"Would: {line}" for line in what])
            return 0
        for line in what if not options.yes else ():
            out.line(line)
        confirm(f"Forget {clock(start)}–{clock(end)} of {source} for good?", options.yes)
        gone = app.forget_span(source, start, end)
    searched = gone.searched
    lines = [
        gone.text,
        f"Searched {searched['tables']} tables ({searched['cells']} cells), {searched['index_rows']} index rows and "
        f"{searched['files']} files ({searched['bytes'] / 1e6:.1f} MB): "
        + ("nothing of it is left." if not gone.found else f"{len(gone.found)} findings."),
        *(f"  left: {f}" for f in gone.found),
    ]
    out.result(_document(gone), lines)
    return 1 if gone.found else 0


def retention(options: Any, out: Out) -> int:
    """Delete what recordings hold beyond the time that they are kept, or beyond `--hours`; what was remembered of it stays."""
    existing(options.memory)
    with App(options.memory) as app:
        app.live.recover()
        found = app.live.retention(hours=options.hours, dry_run=True)
        document = [{**asdict(o), "start": seconds(o.start), "end": seconds(o.end)} for o in found]
        lines = [f"{o.name}: {clock(o.start)}–{clock(o.end)}, {o.bytes / 1e6:.1f} MB" for o in found]
        if options.dry_run or not found:
            out.result(document, ["Would delete:", *lines] if lines else ["Nothing is older than it is kept."])
            return 0
        for line in lines if not options.yes else ():
            out.line(line)
        confirm("Delete this from the recordings?", options.yes)
        app.live.retention(hours=options.hours)
    out.result(document, [f"Deleted {sum(o.bytes for o in found) / 1e6:.1f} MB; what was remembered of it stays."])
    return 0


def _document(told: SpanForgotten) -> dict[str, Any]:
    return {**asdict(told), "start": seconds(told.start), "end": seconds(told.end), "clean": not told.found}


def _span(options: Any, app: App) -> tuple[str, int, int]:
    if options.last is not None:
        if options.source or options.from_ or options.to:
            raise UsageError("--last goes without --source, --from and --to.", "Give either the last minutes or a span of a source.")
        found = SPAN.fullmatch(options.last.strip())
        if found is None:
            raise UsageError(f"“{options.last[:40]}” is no length of time.", "Write 30s, 5m or 1h.")
        return app.recent(float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]])
    if not (options.source and options.from_ and options.to):
        raise UsageError("what is to be forgotten?", "Give --last 5m, or --source s1 --from 1:30 --to 2:00.")
    return options.source, moment(options.from_), moment(options.to)


__all__ = ["address", "forget", "is_live", "keep", "memorize", "retention"]
