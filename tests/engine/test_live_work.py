"""The work on a live source, without one: its clips come from an iterator that blocks, as those of a recording do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from m3desk import events
from m3desk.domain.clip import Clip
from m3desk.domain.live import HALF_OF_PICTURES, MOST_PICTURES, OBJECTS_AND_TEXTS
from m3desk.errors import Cancelled, MemoryProblem
from m3desk.media import cutter
from m3desk.media.cutter import rate
from m3desk.ports import ClipMedia
from tests.engine.fakes import LENGTH, Film
from tests.engine.test_work import PATIENCE, Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(cutter, "FileClip", Film)
    monkeypatch.setattr("m3desk.media.unchanged.fingerprint", lambda path, _cancelled: Path(path).read_text())
    return Desk(tmp_path)


class Camera:
    """The clips of a live source: each begins when `begin` is called."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.id = desk, desk.store.add("camera", 0, state="live")
        self._ready = threading.Semaphore(0)
        self._over = threading.Event()
        self.begun = 0
        self.again = False
        self.running = False
        self.told: list[str] = []

    def begin(self, **how: object) -> Clip:
        index = self.begun
        self.begun += 1
        clip = Clip(f"{self.id}.c{index}", self.id, index, index * LENGTH, (index + 1) * LENGTH, **how)  # type: ignore[arg-type]
        self.desk.store.planned[clip.id] = clip
        self._ready.release()
        return clip

    def end(self) -> None:
        self._over.set()

    def clips(self, stop: Callable[[], bool]) -> Iterator[ClipMedia]:
        if self.again:
            yield from (Film(self.desk.store.source(self.id), c) for c in self.desk.store.waiting(self.id).clips)
            return
        given = 0
        while not stop():
            if self._ready.acquire(timeout=0.01):
                yield Film(self.desk.store.source(self.id), self.desk.store.planned[f"{self.id}.c{given}"])
                given += 1
            elif self._over.is_set():
                return

    def heard(self, event: events.ClipCommitted) -> None:
        self.told.append(event.clip)

    def over(self) -> None:
        self.told.append("over")


def until(desk: Desk, there: Callable[[], bool]) -> None:
    waited = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        if there():
            return
        waited.wait(0.01)
    raise AssertionError(desk.store.calls)


def test_a_clip_is_memorized_although_the_next_has_not_begun(desk: Desk) -> None:
    camera = Camera(desk)
    desk.work.follow(camera.id, camera)
    running = desk.in_a_thread(desk.work.run)
    for index in range(3):
        camera.begin()
        until(desk, lambda i=index: "episodic" in desk.store.states(camera.id)[i : i + 1])  # type: ignore[misc]
        assert running.is_alive()
    camera.end()
    running.join(PATIENCE)
    assert desk.state(camera.id) == "done" and camera.told == [*(f"{camera.id}.c{i}" for i in range(3)), "over"]


def test_a_live_source_goes_before_a_file_that_is_being_memorized(desk: Desk) -> None:
    def run() -> None:
        with pytest.raises(Cancelled):
            desk.work.run()

    file = desk.source("file", 400)
    running = desk.in_a_thread(run)
    until(desk, lambda: "episodic" in desk.store.states(file))
    camera = Camera(desk)
    desk.work.follow(camera.id, camera)
    camera.begin()
    until(desk, lambda: desk.store.states(camera.id) == ["episodic"])
    assert desk.state(file) == "queued" and desk.store.states(file).count("queued") > 100
    camera.end()
    until(desk, lambda: desk.state(camera.id) == "done" and desk.state(file) == "working")
    desk.work.stop()
    running.join(PATIENCE)


def test_a_live_source_that_could_not_be_committed_is_tried_again(desk: Desk) -> None:
    camera = Camera(desk)
    camera.begin()
    camera.end()
    camera.again = True
    desk.work.follow(camera.id, camera)
    desk.store.full = True
    with pytest.raises(MemoryProblem):
        desk.work.run()
    desk.store.full = False
    desk.work.run()
    assert desk.state(camera.id) == "done" and desk.store.states(camera.id) == ["episodic"]


def test_what_is_given_up_for_a_clip_is_not_perceived_and_not_said_to_be(desk: Desk) -> None:
    camera = Camera(desk)
    camera.begin(given_up=(OBJECTS_AND_TEXTS,))
    camera.begin()
    camera.end()
    desk.work.follow(camera.id, camera)
    desk.work.run()
    less, whole = (desk.store.drafts[f"{camera.id}.c{i}"] for i in range(2))
    seen = [{e for s in draft.sentences for e in s.entities} - {"glasses"} for draft in (less, whole)]  # glasses are seen on faces
    assert not seen[0] and seen[1]
    assert [e.state for e in desk.told.of(events.ClipCommitted)] == ["episodic", "episodic"]


def test_a_clip_is_told_with_what_is_known_of_its_source_since_the_recording_began(desk: Desk) -> None:
    class Opened(Camera):
        def clips(self, stop: Callable[[], bool]) -> Iterator[ClipMedia]:
            # The work has read the source's row by now; only the recorder tells its size, and that it has sound.
            self.desk.store.describe_source(replace(self.desk.store.source(self.id), width=320, height=240, has_audio=True))
            yield from super().clips(stop)

    camera = Opened(desk)
    camera.begin()
    camera.end()
    desk.store.describe_source(replace(desk.store.source(camera.id), width=None, height=None))
    desk.work.follow(camera.id, camera)
    desk.work.run()
    told = [s.text for s in desk.store.drafts[f"{camera.id}.c0"].sentences]
    assert told and "The film has no sound." not in told


def test_fewer_pictures_are_looked_at_where_they_are_given_up() -> None:
    clip = Clip("s1.c0", "s1", 0, 0, LENGTH)
    less, few = (Clip("s1.c0", "s1", 0, 0, LENGTH, given_up=up) for up in ((HALF_OF_PICTURES,), (HALF_OF_PICTURES, MOST_PICTURES)))
    assert (rate(5.0, clip), rate(5.0, less), rate(5.0, few), rate(0.5, few)) == (5.0, 2.5, 1.0, 0.5)
