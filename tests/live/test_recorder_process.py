"""A live source with the real recorder, in a process of its own, fed by a file at real time; killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from m3desk import events
from m3desk.app import App
from m3desk.media.capture.recording import Recording
from tests.engine.fakes import FakeBackends, RecordedEvents
from tests.engine.made import talking_signs

S = 1_000_000

RUN = """
import sys, threading
sys.path[:0] = {path!r}
from m3desk.app import App
from tests.engine.fakes import FakeBackends
app = App({memory!r}, backends=FakeBackends())
app.work._store.set_setting("clip_seconds", "2.0")
app.live.start({address!r})
print("started", flush=True)
app.work.run()
"""


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return talking_signs(tmp_path / "signs.mp4", 4, height=240)


@pytest.mark.slow
def test_a_file_delivered_at_real_time_is_recorded_and_memorized(film: Path, tmp_path: Path) -> None:
    told = RecordedEvents()
    with App(tmp_path / "m", emit=told, backends=FakeBackends()) as app:  # type: ignore[arg-type]
        app.work._store.set_setting("clip_seconds", "2.0")
        source = app.live.start(f"file:{film}?live")
        app.work.run()
        clips = app.work._store.clips(source)
        assert [c.state for c in clips] == ["episodic"] * len(clips) and len(clips) >= 2
        assert 3.5 * S < (app.work._store.source(source).duration or 0) < 20 * S, "a busy machine may interrupt it"
    assert [e.reason for e in told.of(events.LiveEnded)] == ["the source ended"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_after_a_kill_the_recording_is_whole_to_two_seconds_before_and_is_memorized(film: Path, tmp_path: Path) -> None:
    memory = str(tmp_path / "m")
    script = RUN.format(path=[p for p in sys.path if p], memory=memory, address=f"file:{film}?live&loop")
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None and child.stdout.readline() == b"started\n"
    folder = next((tmp_path / "m" / "recordings").iterdir())
    until = time.monotonic() + 20
    while not list(folder.glob("*.ts")) and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(3.5)
    before = Recording.open(folder).end
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    with App(memory, backends=FakeBackends()) as app:  # type: ignore[arg-type]
        (source,) = app.live.recover()
        assert app.work._store.source(source).state == "queued"
        app.work.resume()
        app.work.run()
        known = app.work._store.source(source)
        assert known.state == "done" and (known.duration or 0) >= before - 2 * S and app.check()["ok"]
        assert [c.state for c in app.work._store.clips(source)].count("episodic") == len(app.work._store.clips(source))
