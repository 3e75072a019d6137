"""The live part of the fake desk, and invented previews: a synthetic picture, faces, words and states of devices."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from m3desk import events
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.live import Device, Keep, LiveFace, Outdated, SpanForgotten, WatchKind, WatchRule

SOURCE = "s9"
ADDRESS = "file:/films/meeting.mp4?live"
STATUS = events.LiveStatus(
    SOURCE, "recording", 95 * MICROSECOND, 83 * MICROSECOND, 12.0, 0, (), None, "on", "on", -23.0, 41_000_000_000, None
)
ANN = LiveFace("t1", 100.0, 60.0, 80.0, 100.0, "person_1", "Ann", True)
MAYBE = LiveFace("t2", 400.0, 60.0, 80.0, 100.0, "person_2", "Bob", False)
STRANGER = LiveFace("hidden3", 600.0, 60.0, 80.0, 100.0)
DEVICES = [
    Device("camera", "camera:0", "Integrated Webcam", ("1280×720 30", "640×480 30")),
    Device("microphone", "mic:default", "Built-in <b>Audio</b>", ("48000 Hz",)),
]
OUTDATED = [
    Outdated("s3", 0, 3_600_000_000, 1_400_000_000, "s3-door-20261120-101500"),
    Outdated("s4", 0, 65_000_000, 40_000_000, "s4-<b>live</b>"),
]
FORGOTTEN = SpanForgotten(SOURCE, 0, 95 * MICROSECOND, 3, 41, 12, ("person_7",), 1, True)


def done(value: Any) -> Future[Any]:
    """Return a future that is done."""
    future: Future[Any] = Future()
    if isinstance(value, Exception):
        future.set_exception(value)
    else:
        future.set_result(value)
    return future


class LiveWorld:
    """What a memory keeps of live use."""

    def __init__(self) -> None:
        self.rules: list[WatchRule] = []
        self.notes: dict[str, str] = {}


class LiveCalls:
    """What `ports.Desk` says of live sources: each call is noted; starting and stopping emit their events."""

    fail: dict[str, Exception]
    world: LiveWorld

    def __init__(self) -> None:
        self.status = STATUS

    def _note(self, name: str, *args: Any, **kw: Any) -> None:
        raise NotImplementedError

    def emit(self, *happened: Any) -> None:
        raise NotImplementedError

    def devices(self, *, test: bool = False) -> Future[list[Device]]:
        self._note("devices", test=test)
        return done(self.fail.get("devices") or [])

    def start_live(self, address: str, *, keep: Keep = "always", bystanders: bool = False, budget_bytes: int | None = None) -> Future[str]:
        self._note("start_live", address, keep=keep, bystanders=bystanders, budget_bytes=budget_bytes)
        if "start_live" in self.fail:
            return done(self.fail["start_live"])
        self.emit(events.LiveStarted(SOURCE, address, "preview"), self.status)
        return done(SOURCE)

    def pause_live(self, paused: bool) -> Future[None]:
        self._note("pause_live", paused)
        state: Any = "off" if paused else "on"
        self.status = replace(self.status, state="paused" if paused else "recording", camera=state, microphone=state, level=None)
        self.emit(self.status)
        return done(self.fail.get("pause_live"))

    def stop_live(self) -> Future[None]:
        self._note("stop_live")
        self.emit(events.LiveEnded(SOURCE))
        return done(None)

    def approve(self, who: str, name: str = "") -> Future[str]:
        self._note("approve", who, name)
        return done(self.fail.get("approve") or "person_9")

    def retention(self, *, hours: float | None = None, dry_run: bool = False) -> Future[list[Outdated]]:
        self._note("retention", hours=hours, dry_run=dry_run)
        found = [o for o in OUTDATED if hours is None or hours < 100]
        return done(self.fail.get("retention") or found)

    def forget_span(self, source: str, start: int, end: int, *, dry_run: bool = False) -> Future[SpanForgotten]:
        self._note("forget_span", source, start, end, dry_run=dry_run)
        return done(self.fail.get("forget_span") or replace(FORGOTTEN, source=source, start=start, end=end))

    def forget_recent(self, seconds: float, *, dry_run: bool = False) -> Future[SpanForgotten]:
        self._note("forget_recent", seconds, dry_run=dry_run)
        return done(self.fail.get("forget_recent") or FORGOTTEN)

    def add_watch(self, kind: WatchKind, value: str, label: str = "") -> Future[WatchRule]:
        self._note("add_watch", kind, value, label)
        rules = self.world.rules
        rules.append(WatchRule(len(rules) + 1, kind, value, label))
        return done(self.fail.get("add_watch") or rules[-1])

    def remove_watch(self, rule: int) -> Future[None]:
        self._note("remove_watch", rule)
        self.world.rules = [r for r in self.world.rules if r.id != rule]
        return done(None)

    def set_consent(self, person: str, note: str) -> Future[None]:
        self._note("set_consent", person, note)
        if note:
            self.world.notes[person] = note
        else:
            self.world.notes.pop(person, None)
        return done(self.fail.get("set_consent"))


class FakePreview:
    """A preview whose picture is new at each look: grey with a bright column that moves."""

    def __init__(self, width: int = 960, height: int = 540) -> None:
        self.at = 95 * MICROSECOND
        self.size = (width, height)
        self.closed = False
        self.looks = 0

    def newest(self) -> tuple[int, NDArray[np.uint8]]:
        self.looks += 1
        self.at += 40_000
        width, height = self.size
        picture = np.full((height, width, 3), (60, 70, 90), np.uint8)
        picture[:, self.looks * 8 % width : self.looks * 8 % width + 30] = (0, 200, 255)
        return self.at, picture

    def close(self) -> None:
        self.closed = True
