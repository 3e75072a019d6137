"""Keeps the inputs of a live source open, each in a thread of its own, and queues what they deliver for the thread that writes."""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from m3desk.domain.live import DeviceKind, DeviceState
from m3desk.media.capture import reports
from m3desk.media.capture.inputs import STALL_SECONDS, CaptureError, Form, Input, Taking

AGAIN_SECONDS = 1.5
"""Seconds between two tries to open a lost input."""

REFUSED_SECONDS = 30.0
"""The same where opening it again will hardly help: cameras lock out who tries a wrong password again and again."""

_QUEUED = 60  # pictures that wait to be written; more are left out


@dataclass(slots=True)
class Waiting:
    """What the inputs delivered and the main thread has not written yet. Pictures are left out when too many wait, sound never."""

    items: deque[tuple[str, int, Any]] = field(default_factory=deque)
    pictures: int = 0
    dropped: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def picture(self, at: int, frame: Any) -> None:
        with self.changed:
            if self.pictures >= _QUEUED:
                self.dropped += 1
                return
            self.pictures += 1
            self.items.append(("picture", at, frame))
            self.changed.notify()

    def put(self, kind: str, at: int = 0, item: Any = None) -> None:
        with self.changed:
            self.items.append((kind, at, item))
            self.changed.notify()

    def get(self, seconds: float) -> tuple[str, int, Any] | None:
        with self.changed:
            if not self.items:
                self.changed.wait(seconds)
            if not self.items:
                return None
            found = self.items.popleft()
            self.pictures -= found[0] == "picture"
            return found


class Feeder:
    """Keeps one input open in a thread of its own, and opens it again when it is lost."""

    def __init__(
        self, source: Input, waiting: Waiting, clock_: Callable[[], int], tell: Callable[[reports.Report], None], still: Callable[[], bool]
    ) -> None:
        self.source = source
        self._unopened = copy.copy(source)
        self.form: Form | None = None
        self.failed: CaptureError | None = None
        self.last = 0
        self._waiting, self._clock, self._tell, self._still = waiting, clock_, tell, still
        self._states: dict[DeviceKind, DeviceState] = {}
        self._off = threading.Event()
        self._taking: Taking | None = None
        self._thread: threading.Thread | None = None
        self._lost_once = False

    def start(self) -> None:
        """Open the input and deliver, until `stop`."""
        if self._thread is not None and self._thread.is_alive():  # it hangs; when it goes on, it must close what it opened, and no more
            self.source = copy.copy(self._unopened)
        self._off, self._taking, self.last = threading.Event(), None, self._clock()
        self._thread = threading.Thread(target=self._work, args=(self.source, self._off), name="m3desk-input", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close the input; the device is off when this returns, unless it hangs."""
        self._off.set()
        if self._taking is not None:
            self._taking.stopped.set()
        if self._thread is not None:
            self._thread.join(3.0)
        for kind in list(self._states):
            self._say(kind, "off")

    def stalled(self, now: int) -> bool:
        """Return whether it is open and has delivered nothing for `STALL_SECONDS`."""
        return self._taking is not None and now - self.last > STALL_SECONDS * 1_000_000

    def give_up(self) -> None:
        """Leave a thread that hangs in its device behind, and begin with another."""
        self._off.set()
        if self._taking is not None:
            self._taking.stopped.set()
        for kind in self._kinds():
            self._say(kind, "stalled", f"The {kind} has delivered nothing for {STALL_SECONDS:.0f} s.")
        self._lost_once = True
        self.start()

    def _kinds(self) -> list[DeviceKind]:
        form = self.form
        return [k for k in self.source.kinds if form is None or (form.pictures if k == "camera" else form.sound)]

    def _say(self, kind: DeviceKind, state: DeviceState, message: str = "") -> None:
        if self._states.get(kind) != state:
            self._states[kind] = state
            self._tell(reports.DeviceChanged(kind, state, message))

    def mark(self, kind: DeviceKind, state: DeviceState, message: str = "") -> None:
        """Note a state that was found in what was delivered."""
        if self._states.get(kind) in ("on", "silent"):
            self._say(kind, state, message)

    def _work(self, source: Input, off: threading.Event) -> None:
        while not off.is_set():
            again = AGAIN_SECONDS
            try:
                form = source.open()
                if off.is_set():
                    return
                self.form = form
                self.last = self._clock()
                taking = self._taking = Taking(self._clock, partial(self._picture, off), partial(self._sound, off), off, self._still)
                source.run(taking)
                if not off.is_set() and source.ends:
                    self._waiting.put("end")
                    return
            except CaptureError as error:
                if off.is_set():
                    return
                self.failed = error
                for kind in self._kinds():
                    self._say(kind, error.state, f"{error} {error.hint}".strip())
                self._lost_once = True
                if error.lasting and source.ends:
                    return
                again = REFUSED_SECONDS if error.lasting else AGAIN_SECONDS
            except Exception as error:  # a library failed: the source is lost, and tried again
                if off.is_set():
                    return
                self.failed = CaptureError(f"The source failed: {type(error).__name__}.")
                for kind in self._kinds():
                    self._say(kind, "lost", str(self.failed))
                self._lost_once = True
            finally:
                if not off.is_set():
                    self._taking = None
                source.close()
            off.wait(again)

    def _picture(self, off: threading.Event, at: int, frame: Any) -> None:
        if off.is_set():  # paused, while it hung
            return
        self.last = self._clock()
        self._on("camera")
        self._waiting.picture(at, frame)

    def _sound(self, off: threading.Event, at: int, frame: Any) -> None:
        if off.is_set():
            return
        self.last = self._clock()
        if self._states.get("microphone") != "silent":
            self._on("microphone")
        self._waiting.put("sound", at, frame)

    def _on(self, kind: DeviceKind) -> None:
        self.failed = None
        if self._states.get(kind) != "on":
            self._say(kind, "on", f"The {kind} is back." if self._lost_once else "")
