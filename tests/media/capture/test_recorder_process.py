"""The recorder's process with scripted inputs: what fails is told and comes back, and the rest goes on."""

from __future__ import annotations

import io
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from m3desk.domain.live import DeviceKind
from m3desk.media.capture import clock, feeders, process, reports
from m3desk.media.capture.inputs import CaptureError, Form, Taking
from m3desk.media.capture.planning import runs
from m3desk.media.capture.process import RecorderProcess, Settings
from m3desk.media.capture.recording import Recording
from m3desk.media.capture.writing import RATE

from ..conftest import number_of, numbered, tone

Script = Callable[[Taking], None]
SECOND = 1_000_000

pytestmark = pytest.mark.slow

SPEED = 4.0
"""The session's clock runs so many times as fast as the real one in these tests, slower where the machine is busy."""

STEP = 0.04 / SPEED


class Ticking:
    """A clock that goes on by 40 ms at each of its thread's steps: where the machine is busy, it waits as the scripted inputs do."""

    def __init__(self) -> None:
        self.passed = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()

    def _tick(self) -> None:
        while not self._over.wait(STEP):
            self.passed += 0.04

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


def pass_by(seconds: float) -> None:
    """Wait until so much time of the session has passed."""
    until = clock.now() + seconds
    while clock.now() < until:
        time.sleep(STEP)


class Scripted:
    """An input that plays a script at each opening; a script that is an error is what opening raises. The last one repeats."""

    ends = False

    def __init__(self, kind: DeviceKind, *scripts: Script | CaptureError) -> None:
        self.kinds: tuple[DeviceKind, ...] = (kind,)
        self._scripts = list(scripts)
        self._now: Script | None = None
        self.opened = 0
        self.closed = 0

    def open(self) -> Form:
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        if isinstance(script, CaptureError):
            raise script
        self._now = script
        self.opened += 1
        return Form(self.kinds == ("camera",), self.kinds == ("microphone",), 25.0)

    def run(self, taking: Taking) -> None:
        assert self._now is not None
        self._now(taking)

    def close(self) -> None:
        self.closed += 1


def pictures(seconds: float = 60, size: tuple[int, int] | None = None, then: CaptureError | None = None) -> Script:
    """Deliver numbered pictures, 25 a second, for so long."""

    def play(taking: Taking) -> None:
        for k in range(round(seconds * 25)):
            picture = numbered(k)
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            taking.picture(taking.clock(), frame if size is None else frame.reformat(*size))
            if taking.stopped.wait(STEP):
                return
        if then is not None:
            raise then

    return play


def sound(seconds: float = 60, rate: int = RATE, then: CaptureError | None = None, loudness: float = 1.0) -> Script:
    """Deliver a tone in blocks of 40 ms, for so long."""

    def play(taking: Taking) -> None:
        for k in range(round(seconds * 25)):
            samples = tone(0.04, rate, k / 25) * np.float32(loudness)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None]), format="flt", layout="mono")
            frame.sample_rate = rate
            taking.sound(taking.clock() - 40_000, frame)
            if taking.stopped.wait(STEP):
                return
        if then is not None:
            raise then

    return play


class Course:
    """A recorder that runs in a thread of this process."""

    def __init__(self, folder: Path, *sources: Any, **settings: Any) -> None:
        self.folder = folder
        self.told: list[reports.Report] = []
        self.new = threading.Condition()
        read, self._write = os.pipe()
        self._commands = os.fdopen(read, "rb")
        self.recorder = RecorderProcess(Settings(str(folder), "camera:0+mic:default", **settings), self, list(sources))  # type: ignore[arg-type]
        self.thread = threading.Thread(target=self.recorder.run, args=(self._commands,), daemon=True)
        self.thread.start()

    def write(self, line: bytes) -> int:
        report = reports.parsed(line)
        assert report is not None
        with self.new:
            self.told.append(report)
            self.new.notify_all()
        return len(line)

    def flush(self) -> None: ...

    def command(self, name: str) -> None:
        os.write(self._write, name.encode() + b"\n")

    def until(self, found: Callable[[reports.Report], bool], seconds: float = 30.0) -> reports.Report:
        """Wait for a report."""
        end = time.monotonic() + seconds
        seen = 0
        with self.new:
            while True:
                for report in self.told[seen:]:
                    if found(report):
                        return report
                seen = len(self.told)
                assert self.new.wait(max(0.0, end - time.monotonic())), self.told

    def recorded(self, seconds: float) -> None:
        """Wait until so much is on disk."""
        self.until(lambda r: isinstance(r, reports.Recorded) and r.until >= seconds * SECOND, 30)

    def state(self, kind: DeviceKind, state: str) -> reports.DeviceChanged:
        """Wait for a device's state."""
        found = self.until(lambda r: isinstance(r, reports.DeviceChanged) and (r.kind, r.state) == (kind, state))
        assert isinstance(found, reports.DeviceChanged)
        return found

    def end(self) -> reports.Ended:
        """Stop, and return the last word."""
        if self.thread.is_alive():
            self.command("stop")
        self.thread.join(30)
        assert not self.thread.is_alive()
        last = self.told[-1]
        assert isinstance(last, reports.Ended)
        return last

    def times(self, kind: str) -> list[float]:
        """Return the times of the recorded pictures or of the recorded sound that is not silent, in seconds."""
        found: list[float] = []
        for segment in Recording.open(self.folder).segments():
            with av.open(str(self.folder / segment.name)) as container:
                for frame in container.decode(video=0) if kind == "picture" else container.decode(audio=0):
                    at = float(frame.pts * frame.time_base) - 10
                    if kind == "picture" or float(np.abs(frame.to_ndarray()).max()) > 0.01:
                        found.append(at)
        return found

    def close(self) -> None:
        if self.thread.is_alive():
            os.close(self._write)
            self.thread.join(30)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Course]]:
    """Return a function that starts a recorder with scripted inputs and a quick clock; lost ones are opened again after 0.3 s."""
    began = clock.now()
    ticking = Ticking()
    monkeypatch.setattr(feeders, "AGAIN_SECONDS", 0.3)
    monkeypatch.setattr(clock, "now", lambda: began + ticking.passed)
    monkeypatch.setattr(clock, "wall", lambda: 1_790_000_000 + ticking.passed)
    made: list[Course] = []

    def start(*sources: Any, **settings: Any) -> Course:
        made.append(Course(tmp_path / "r1", *sources, **settings))
        return made[-1]

    yield start
    for one in made:
        one.close()
    ticking.stop()


LOST = CaptureError("The camera is unplugged.", "lost")


def gaps(times: list[float], least: float = 0.8) -> list[tuple[float, float]]:
    return [(a, b) for a, b in itertools.pairwise(times) if b - a > least]


def test_a_camera_that_is_unplugged_is_lost_and_comes_back_while_the_sound_goes_on(course: Callable[..., Course]) -> None:
    camera = Scripted("camera", pictures(1.5, then=LOST), LOST, pictures())
    running = course(camera, Scripted("microphone", sound()))
    assert "unplugged" in running.state("camera", "lost").message
    back = running.until(lambda r: isinstance(r, reports.DeviceChanged) and r.state == "on" and bool(r.message))
    assert isinstance(back, reports.DeviceChanged)
    assert back.message == "The camera is back."
    running.recorded(4)
    assert running.end().reason == "stopped"
    assert len(gaps(running.times("picture"))) == 1
    assert gaps(running.times("sound")) == []
    assert Recording.open(running.folder).ended


def test_a_microphone_that_another_program_holds_is_busy_and_recorded_as_silence_until_it_is_free(course: Callable[..., Course]) -> None:
    busy = CaptureError("The microphone is used by another program.", "busy")
    running = course(Scripted("camera", pictures()), Scripted("microphone", *[busy] * 14, sound()))
    running.state("microphone", "busy")
    running.state("microphone", "on")
    running.recorded(5)
    running.end()
    heard = running.times("sound")
    assert heard[0] > 3
    silence = Recording.open(running.folder)
    assert silence.about.rate == RATE
    assert gaps(running.times("picture")) == []


def test_a_source_that_sends_nothing_is_stalled_and_opened_again(course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeders, "STALL_SECONDS", 1.0)

    def hang(taking: Taking) -> None:
        pictures(1)(taking)
        time.sleep(4)  # a driver that does not return, whatever it is told

    running = course(Scripted("camera", hang, pictures()), Scripted("microphone", sound()))
    running.state("camera", "stalled")
    running.until(lambda r: isinstance(r, reports.DeviceChanged) and r.message == "The camera is back.")
    running.recorded(4)
    running.end()
    assert len(gaps(running.times("picture"))) == 1
    assert gaps(running.times("sound")) == []


def test_a_library_that_fails_is_a_lost_device_only(course: Callable[..., Course]) -> None:
    def fail(taking: Taking) -> None:
        pictures(0.5)(taking)
        raise ZeroDivisionError

    running = course(Scripted("camera", fail, pictures()), Scripted("microphone", sound()))
    running.state("camera", "lost")
    running.recorded(2)
    assert running.end().error is None


def test_a_source_that_cannot_be_opened_at_all_ends_with_what_is_wrong(course: Callable[..., Course]) -> None:
    running = course(Scripted("camera", CaptureError("There is no camera 7.", hint="List them.")))
    running.thread.join(30)
    last = running.told[-1]
    assert isinstance(last, reports.Ended)
    assert (last.error, last.hint) == ("There is no camera 7.", "List them.")
    assert not running.folder.exists()


def test_pausing_closes_the_devices_and_leaves_a_gap(course: Callable[..., Course]) -> None:
    camera, microphone = Scripted("camera", pictures()), Scripted("microphone", sound())
    running = course(camera, microphone)
    running.recorded(1.5)
    running.command("pause")
    running.state("camera", "off")
    running.state("microphone", "off")
    assert (camera.closed, microphone.closed) == (1, 1)
    pass_by(1.5)
    size = Recording.open(running.folder).bytes
    pass_by(1.0)
    assert Recording.open(running.folder).bytes == size
    running.command("resume")
    running.recorded(6)
    running.end()
    (pause,) = gaps(running.times("picture"))
    assert pause[1] - pause[0] > 2.5
    assert len(gaps(running.times("sound"))) == 1
    assert len(Recording.open(running.folder).segments()) == 2


def test_a_size_and_a_rate_that_change_in_mid_stream_leave_the_recording_as_it_was(course: Callable[..., Course]) -> None:
    def resized(taking: Taking) -> None:
        pictures(1)(taking)
        pictures(size=(320, 96))(taking)

    def retuned(taking: Taking) -> None:
        sound(1)(taking)
        sound(rate=16_000)(taking)

    running = course(Scripted("camera", resized), Scripted("microphone", retuned))
    running.recorded(2.5)
    running.end()
    about = Recording.open(running.folder).about
    assert (about.width, about.height, about.rate) == (160, 96, RATE)
    assert gaps(running.times("picture")) == []
    assert gaps(running.times("sound")) == []


def test_a_microphone_that_delivers_only_zeros_is_called_silent(course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_SILENT", RATE)

    def muted(taking: Taking) -> None:
        sound(1.5, loudness=0.0)(taking)
        sound()(taking)

    running = course(Scripted("microphone", muted))
    running.state("microphone", "silent")
    running.until(lambda r: isinstance(r, reports.Level) and r.dbfs < -90)
    running.until(lambda r: isinstance(r, reports.Level) and r.dbfs > -30)
    running.end()
    assert [r.state for r in running.told if isinstance(r, reports.DeviceChanged)] == ["on", "silent", "on", "off"]


def test_recording_stops_before_the_disk_is_full_and_warns_before(course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch) -> None:
    free = [10 << 30]
    usage = type("usage", (), {"free": property(lambda _: free[0])})
    monkeypatch.setattr(process.shutil, "disk_usage", lambda _: usage())
    running = course(Scripted("camera", pictures()))
    running.recorded(0.5)
    free[0] = 700 << 20
    told = running.until(lambda r: isinstance(r, reports.Problem))
    assert isinstance(told, reports.Problem)
    assert "nearly used up" in told.message
    free[0] = 150 << 20
    running.thread.join(30)
    ended = running.end()
    assert ended.reason == "disk full"
    assert ended.error is not None
    assert Recording.open(running.folder).ended


def test_a_budget_is_kept(course: Callable[..., Course]) -> None:
    running = course(Scripted("camera", pictures()), budget_bytes=60_000)
    running.thread.join(30)
    assert running.end().reason == "disk full"
    assert Recording.open(running.folder).bytes < 200_000


def test_a_disk_that_fails_ends_the_recording_and_keeps_what_is_there(
    course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = course(Scripted("camera", pictures()))
    running.recorded(1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    assert running.recorder._writer is not None
    monkeypatch.setattr(running.recorder._writer._files, "_put", full)
    running.thread.join(30)
    ended = running.end()
    assert ended.error is not None
    assert "No space left" in ended.error
    assert Recording.open(running.folder).end > 0.9 * SECOND


def test_a_folder_that_is_taken_away_is_waited_for(course: Callable[..., Course], tmp_path: Path) -> None:
    place = tmp_path / "memory"
    running = course(Scripted("camera", pictures()))
    running.end()
    running = Course(place / "recordings" / "s1", Scripted("camera", pictures()))
    running.recorded(1)
    place.rename(tmp_path / "elsewhere")
    running.until(lambda r: isinstance(r, reports.Problem) and "is gone" in r.message)
    pass_by(1.5)
    (tmp_path / "elsewhere").rename(place)
    running.until(lambda r: isinstance(r, reports.Problem) and "is back" in r.message)
    pass_by(2)
    assert running.end().error is None
    times = running.times("picture")
    assert times[0] < 0.1
    assert len(gaps(times)) == 1
    assert len(Recording.open(running.folder).segments()) == 2


def test_a_folder_that_was_removed_ends_the_recording(course: Callable[..., Course]) -> None:
    running = course(Scripted("camera", pictures()))
    running.recorded(0.5)
    for file in running.folder.iterdir():
        file.unlink()
    running.folder.rmdir()
    running.thread.join(30)
    assert running.end().reason == "its folder was removed"
    assert not running.folder.exists()


def test_a_sleep_of_the_machine_is_a_gap_and_the_devices_are_opened_again(
    course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    camera = Scripted("camera", pictures())
    running = course(camera)
    running.recorded(1)
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + 3600)
    told = running.until(lambda r: isinstance(r, reports.Problem))
    assert isinstance(told, reports.Problem)
    assert "slept" in told.message
    running.recorded(3602)
    running.end()
    assert camera.opened == 2
    (pause,) = gaps(running.times("picture"))
    assert 3600 <= pause[1] - pause[0] < 3610


def test_a_sleep_is_not_filled_with_silence_where_the_microphone_does_not_come_back(
    course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = CaptureError("The microphone is unplugged.", "lost")
    running = course(Scripted("camera", pictures()), Scripted("microphone", sound(1), gone))
    running.recorded(1)
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + 3600)
    running.until(lambda r: isinstance(r, reports.Recorded) and r.until > 3605 * SECOND, 20)
    running.end()
    segments = Recording.open(running.folder).segments()
    assert sum(s.bytes for s in segments) < 4_000_000
    assert len(runs(segments)) == 2, "the sleep is a gap"


def test_a_sleep_of_more_than_a_day_ends_the_recording_before_its_time_stamps_start_again(
    course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = course(Scripted("camera", pictures()), Scripted("microphone", sound()))
    running.recorded(1)
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + 27 * 3600)
    running.thread.join(30)
    assert running.end().reason == "24 hours"
    assert runs(Recording.open(running.folder).segments())[-1][1] < 3600 * SECOND, "none has a time stamp that started again"


def test_pictures_that_come_while_a_microphone_does_not_answer_are_not_piled_up(
    course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "HELD_PICTURES", 10)
    answers = threading.Event()

    class Slow(Scripted):
        def open(self) -> Form:
            answers.wait(30)
            return super().open()

    def play(taking: Taking) -> None:
        for k in range(40):
            taking.picture(k * 40_000, av.VideoFrame.from_ndarray(numbered(k), format="bgr24"))
        answers.set()
        taking.stopped.wait(30)

    running = course(Scripted("camera", play), Slow("microphone", sound()))
    running.recorded(0.5)
    running.end()
    (segment,) = Recording.open(running.folder).segments()
    with av.open(str(running.folder / segment.name)) as container:
        numbers = [number_of(frame.to_ndarray(format="bgr24")) for frame in container.decode(video=0)]
    assert numbers == list(range(30, 40)), "the newest were kept"


def test_the_last_sound_before_a_pause_keeps_its_time(tmp_path: Path) -> None:
    recorder = RecorderProcess(Settings(str(tmp_path / "r1"), "mic:default"), io.BytesIO(), [])
    written: list[int] = []
    recorder._shift = SECOND
    recorder._write_sound = lambda at, _samples: written.append(at)  # type: ignore[method-assign]
    recorder._track.finish = lambda: [(5 * SECOND, np.zeros(8, np.float32))]  # type: ignore[method-assign]
    recorder._flush()
    assert written == [5 * SECOND]


def test_a_system_clock_that_is_set_is_told_and_moves_nothing(course: Callable[..., Course], monkeypatch: pytest.MonkeyPatch) -> None:
    running = course(Scripted("camera", pictures()))
    running.recorded(1)
    real = clock.wall
    monkeypatch.setattr(clock, "wall", lambda: real() - 7200)
    told = running.until(lambda r: isinstance(r, reports.Problem))
    assert isinstance(told, reports.Problem)
    assert "set back by 7,200 s" in told.message
    running.recorded(2)
    running.end()
    assert gaps(running.times("picture")) == []


def test_a_recorder_that_is_started_again_goes_on_while_the_camera_is_lost_or_paused(course: Callable[..., Course]) -> None:
    first = course(Scripted("camera", pictures()))
    first.recorded(1)
    origin = first.until(lambda r: isinstance(r, reports.Started))
    assert isinstance(origin, reports.Started)
    first.end()
    again = course(Scripted("camera", *[LOST] * 3, pictures()), origin=origin.origin)
    again.command("pause")
    again.until(lambda r: isinstance(r, reports.Started))
    pass_by(1)
    again.command("resume")
    again.until(lambda r: isinstance(r, reports.DeviceChanged) and r.state == "on")
    before = Recording.open(again.folder).end
    first_one = again.until(lambda r: isinstance(r, reports.Recorded) and r.until > before + SECOND)
    assert isinstance(first_one, reports.Recorded)
    again.recorded(first_one.until / SECOND + 1)
    assert again.end().error is None
    times = again.times("picture")
    assert len(gaps(times)) == 1
    assert times == sorted(times)


class Doubling:
    """A transform that holds two pictures back and inverts all."""

    def __init__(self, argument: str) -> None:
        self.argument = argument
        self.held: list[tuple[int, Any]] = []

    def put(self, at: int, picture: Any) -> list[tuple[int, Any]]:
        self.held.append((at, 255 - picture))
        return [self.held.pop(0)] if len(self.held) > 2 else []

    def finish(self) -> list[tuple[int, Any]]:
        held, self.held = self.held, []
        return held


class Failing(Doubling):
    def put(self, at: int, picture: Any) -> list[tuple[int, Any]]:
        raise ValueError


def test_pictures_go_through_the_transform_and_none_is_recorded_without_it(course: Callable[..., Course]) -> None:
    import sys

    sys.modules["transforms_of_this_test"] = sys.modules[__name__]
    running = course(Scripted("camera", pictures()), transform="transforms_of_this_test:Doubling", argument="x")
    running.recorded(1)
    running.end()
    with av.open(str(running.folder / "000001.ts")) as container:
        assert next(container.decode(video=0)).to_ndarray(format="bgr24")[:40].mean() > 200


def test_a_transform_that_fails_records_no_picture(course: Callable[..., Course]) -> None:
    import sys

    sys.modules["transforms_of_this_test"] = sys.modules[__name__]
    running = course(Scripted("camera", pictures()), Scripted("microphone", sound()), transform="transforms_of_this_test:Failing")
    running.until(lambda r: isinstance(r, reports.Problem) and "cannot be blurred" in r.message)
    running.recorded(1)
    running.end()
    assert running.times("picture") == []


def test_standard_input_that_ends_ends_the_recorder(course: Callable[..., Course]) -> None:
    running = course(Scripted("camera", pictures()))
    running.recorded(1)
    os.close(running._write)
    running.thread.join(30)
    assert running.told[-1] == reports.Ended("its program ended")
    assert Recording.open(running.folder).ended
    running._write = os.open(os.devnull, os.O_WRONLY)


def test_reports_survive_the_pipe() -> None:
    for report in (reports.Started(640, 480, 25.0, None, 1.5), reports.Level(-31.5), reports.DeviceChanged("camera", "lost", "x\ny")):
        assert reports.parsed(reports.line(report)) == report
    assert reports.parsed(b"garbage\n") is None
    assert io.BytesIO(reports.line(reports.Ended("stopped"))).readline().endswith(b"}\n")
