"""An input is opened, closed and opened again in a thread of its own; one that hangs disturbs neither the next nor a pause."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from m3desk.domain.live import DeviceKind
from m3desk.media.capture import feeders, reports
from m3desk.media.capture.feeders import Feeder, Waiting
from m3desk.media.capture.inputs import STALL_SECONDS, CaptureError, Form, Taking

PATIENCE = 20.0


class Camera:
    """A camera that delivers one picture and then hangs until `goes_on` is set, whatever it is told; then it delivers another one."""

    kinds: tuple[DeviceKind, ...] = ("camera",)
    ends = False

    def __init__(self, goes_on: list[threading.Event]) -> None:
        self._goes_on = goes_on
        self.handle: str | None = None
        self.handles: list[str] = []  # shared by all that are made of this one
        self.closed: list[str] = []

    def open(self) -> Form:
        self.handle = f"handle {len(self.handles)}"
        self.handles.append(self.handle)
        return Form(True, False, 25.0)

    def run(self, taking: Taking) -> None:
        wait = self._goes_on[len(self.handles) - 1]
        taking.picture(taking.clock(), "picture")
        wait.wait(PATIENCE)
        taking.picture(taking.clock(), "late picture")

    def close(self) -> None:
        if self.handle is not None:
            self.closed.append(self.handle)
        self.handle = None


class Course:
    def __init__(self) -> None:
        self.now = 0
        self.told: list[reports.Report] = []
        self.waiting = Waiting()
        self.goes_on = [threading.Event() for _ in range(3)]
        self.camera = Camera(self.goes_on)
        self.feeder = Feeder(self.camera, self.waiting, lambda: self.now, self.told.append, lambda: False)

    def picture(self) -> Any:
        item = self.waiting.get(PATIENCE)
        return None if item is None else item[2]


def until(found: Callable[[], bool]) -> None:
    wait = threading.Event()
    for _ in range(round(PATIENCE / 0.01)):
        if found():
            return
        wait.wait(0.01)
    raise AssertionError


def test_an_input_that_goes_on_after_a_long_pause_is_not_taken_for_stalled() -> None:
    course = Course()
    course.feeder.start()
    assert course.picture() == "picture"
    course.goes_on[0].set()
    course.feeder.stop()
    course.now = round(3 * STALL_SECONDS * 1e6)
    opening = threading.Event()
    course.camera.open = lambda: (opening.wait(PATIENCE), Form(True, False, 25.0))[1]  # type: ignore[method-assign]
    course.feeder.start()
    assert not course.feeder.stalled(course.now)
    course.goes_on[0].set()
    opening.set()
    assert course.picture() == "picture"
    assert not course.feeder.stalled(course.now)
    course.feeder.stop()


def test_an_input_that_hangs_closes_only_what_it_opened_when_it_goes_on() -> None:
    course = Course()
    course.feeder.start()
    assert course.picture() == "picture"
    hanging = course.feeder._thread
    assert hanging is not None
    course.feeder.give_up()
    assert course.picture() == "picture", "the second one delivers"
    course.goes_on[0].set()
    hanging.join(PATIENCE)
    assert course.camera.closed == ["handle 0"]
    assert course.waiting.get(0.05) is None, "what comes from the first one afterwards is left out"
    course.goes_on[1].set()
    course.feeder.stop()
    until(lambda: course.camera.closed == ["handle 0", "handle 1"])


def test_nothing_is_taken_from_an_input_that_hung_while_it_was_paused() -> None:
    course = Course()
    course.feeder.start()
    assert course.picture() == "picture"
    hanging = course.feeder._thread
    assert hanging is not None
    course.feeder._off.set()  # what stop() does first; it need not wait here
    course.goes_on[0].set()
    hanging.join(PATIENCE)
    assert course.waiting.get(0.05) is None


def test_a_camera_that_refuses_the_password_is_not_asked_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeders, "AGAIN_SECONDS", 0.01)
    course, asked = Course(), []

    def refuse() -> Form:
        asked.append(course.now)
        raise CaptureError("It refuses the password.", lasting=True)

    course.camera.open = refuse  # type: ignore[method-assign]
    course.feeder.start()
    until(lambda: course.feeder.failed is not None)
    threading.Event().wait(0.3)
    course.feeder.stop()
    assert len(asked) == 1
