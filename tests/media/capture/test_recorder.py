"""The recorder's process from outside: it records a file at real time, is started again when it dies, and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from m3desk.media.capture import reports
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.preview import Preview
from m3desk.media.capture.recorder import Recorder
from m3desk.media.capture.recording import Recording
from m3desk.media.file import probe

from ..conftest import HEIGHT, WIDTH, number_of

Video = Callable[..., Path]
SECOND = 1_000_000

pytestmark = pytest.mark.slow


class Reports:
    """Collects a recorder's reports."""

    def __init__(self) -> None:
        self.told: list[reports.Report] = []
        self._new = threading.Condition()

    def __call__(self, report: reports.Report) -> None:
        with self._new:
            self.told.append(report)
            self._new.notify_all()

    def until(self, found: Callable[[reports.Report], bool], seconds: float = 60.0) -> None:
        """Wait for a report."""
        with self._new:
            assert self._new.wait_for(lambda: any(map(found, self.told)), seconds), self.told

    def recorded(self, seconds: float) -> None:
        """Wait until so much is on disk."""
        self.until(lambda r: isinstance(r, reports.Recorded) and r.until >= seconds * SECOND)


@pytest.fixture
def started(tmp_path: Path, video: Video) -> Iterator[tuple[Recorder, Reports]]:
    """A recorder that records a file in a loop."""
    told = Reports()
    file = video("film.mp4", frames=50, sound=2.0)
    recorder = Recorder(tmp_path / "r1", LiveAddress.parse(f"file:{file}?live&loop"), told)
    recorder.start()
    yield recorder, told
    recorder.stop()
    if not recorder.wait(30):
        recorder.kill()


def test_a_file_is_recorded_at_real_time_and_the_preview_shows_it(started: tuple[Recorder, Reports], tmp_path: Path) -> None:
    recorder, told = started
    told.recorded(0.2)
    preview = Preview.attach(recorder.preview)
    seen: list[tuple[int, int]] = []
    end = time.monotonic() + 30
    while len(seen) < 10 and time.monotonic() < end:
        if (newest := preview.newest()) is not None:
            assert newest[1].shape == (HEIGHT, WIDTH, 3)
            seen.append((newest[0], number_of(newest[1])))
        time.sleep(0.02)
    assert len(seen) == 10
    assert all(b[0] > a[0] for a, b in pairwise(seen))
    told.recorded(2.5)
    recorder.stop()
    assert recorder.wait(30)
    assert told.told[-1] == reports.Ended("stopped")
    preview.close()
    with pytest.raises(FileNotFoundError):
        Preview.attach(recorder.preview)
    source = probe(tmp_path / "r1")
    assert source.duration is not None
    assert source.duration > 2.4 * SECOND
    recording = Recording.open(tmp_path / "r1")
    assert recording.ended
    assert recording.about.address.startswith("file:")


def test_a_recorder_that_is_killed_is_started_again_and_no_recorded_second_is_lost(
    started: tuple[Recorder, Reports], tmp_path: Path
) -> None:
    recorder, told = started
    told.recorded(1.5)
    before = recorder.process
    assert before is not None
    os.kill(before, signal.SIGKILL)
    reported = max(r.until for r in told.told if isinstance(r, reports.Recorded))
    assert Recording.open(tmp_path / "r1").end >= reported
    told.until(lambda r: isinstance(r, reports.Problem))
    told.until(lambda r: isinstance(r, reports.Recorded) and r.until > reported + SECOND)
    assert recorder.process != before
    recorder.stop()
    assert recorder.wait(30)
    segments = Recording.open(tmp_path / "r1").segments()
    assert segments[1].start >= segments[0].end, "there is a gap, and one time line"


def test_the_last_seconds_are_erased_while_the_recording_goes_on(started: tuple[Recorder, Reports], tmp_path: Path) -> None:
    recorder, told = started
    told.recorded(2.5)
    recorder.key()
    recording = Recording.open(tmp_path / "r1")
    end = time.monotonic() + 30
    while not (closed := [s for s in recording.segments() if (tmp_path / "r1" / s.name).stat().st_size == s.bytes and s.end >= 2 * SECOND]):
        assert time.monotonic() < end
        time.sleep(0.05)
    until = max(r.until for r in told.told if isinstance(r, reports.Recorded))
    told.until(lambda r: isinstance(r, reports.Recorded) and r.until > until + SECOND // 2)
    recording.erase(SECOND, closed[0].end)
    assert recording.erased
    told.until(lambda r: isinstance(r, reports.Recorded) and r.until > until + 3 * SECOND // 2)
    recorder.stop()
    assert recorder.wait(30)
    names = [s.name for s in Recording.open(tmp_path / "r1").segments()]
    assert names[:2] == ["000001-1.ts", "000002.ts"]
    assert Recording.open(tmp_path / "r1").segments()[0].end <= SECOND + 50_000
    assert not Recording.open(tmp_path / "r1").damaged()


PARENT = """
import sys, time
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.recorder import Recorder
recorder = Recorder(sys.argv[1], LiveAddress.parse(sys.argv[2]), lambda report: print(recorder.process, report, flush=True))
recorder.start()
print("preview", recorder.preview, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_recorder_whose_parent_is_killed_closes_the_recording_and_ends(tmp_path: Path, video: Video) -> None:
    file = video("film.mp4", frames=50, sound=2.0)
    command = [sys.executable, "-c", PARENT, str(tmp_path / "r1"), f"file:{file}?live&loop"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, start_new_session=True) as parent:
        assert parent.stdout is not None
        name = ""
        for line in parent.stdout:
            if line.startswith(b"preview "):
                name = line.split()[1].decode()
            elif b"Recorded(" in line and int(line.split(b"until=")[1].split(b",")[0]) > SECOND:
                child = psutil.Process(int(line.split()[0]))
                break
        killed = time.time()
        os.killpg(parent.pid, signal.SIGKILL)  # with all that would remove the preview in its place
    child.wait(30)
    with pytest.raises(FileNotFoundError):
        Preview.attach(name)
    recording = Recording.open(tmp_path / "r1")
    assert recording.about.reason == "its program ended"
    began = time.mktime(time.strptime(recording.about.started_at[:19], "%Y-%m-%dT%H:%M:%S"))
    assert began + recording.end / SECOND > killed - 5


def test_a_password_is_in_no_command_line_no_report_and_no_file(tmp_path: Path) -> None:
    told = Reports()
    recorder = Recorder(tmp_path / "r1", LiveAddress.parse("rtsp://ann:s3cret@127.0.0.1:1/cam?token=s3cret"), told)
    recorder.start()
    seen = ""
    while recorder.alive:
        if recorder.process is not None:
            try:
                seen += " ".join(psutil.Process(recorder.process).cmdline())
            except psutil.Error:
                break
        time.sleep(0.05)
    assert recorder.wait(60)
    ended = told.told[-1]
    assert isinstance(ended, reports.Ended)
    assert "refuses the connection" in (ended.error or "")
    assert "capture.process" in seen
    assert "s3cret" not in seen + repr(told.told)
    assert not any(b"s3cret" in f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


def test_a_file_that_ends_ends_the_recording(tmp_path: Path, video: Video) -> None:
    told = Reports()
    recorder = Recorder(tmp_path / "r1", LiveAddress.parse(f"file:{video('film.mp4', frames=25, sound=1.0)}?live"), told)
    recorder.start()
    assert recorder.wait(60)
    assert told.told[-1] == reports.Ended("the source ended")
    assert 0.9 * SECOND < Recording.open(tmp_path / "r1").end < 10 * SECOND, "a busy machine may interrupt it"


def test_a_file_that_is_missing_ends_with_what_is_wrong(tmp_path: Path) -> None:
    told = Reports()
    recorder = Recorder(tmp_path / "r1", LiveAddress.parse(f"file:{tmp_path}/none.mp4?live"), told)
    recorder.start()
    assert recorder.wait(60)
    ended = told.told[-1]
    assert isinstance(ended, reports.Ended)
    assert "none.mp4" in (ended.error or "")
    assert not (tmp_path / "r1").exists()
