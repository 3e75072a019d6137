"""The player shows exact pictures, drops outdated seeks, and follows the sound if there is one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from m3desk.media.clock import Clock
from m3desk.media.pictures import Pictures, TimedFrame
from m3desk.media.player import PlayedFrame, Player, PlayerState
from m3desk.media.speaker import Fill, Silent

from .conftest import make_video, number_of, rotate

Video = Callable[..., Path]


class NoDevice:
    rate = 0

    def __init__(self, fill: Fill) -> None:
        raise Silent("no sound: nothing to hear it with")


class FakeDevice:
    """Asks for 20 ms blocks in real time, `drift` times as fast as the wall clock; keeps what it was given."""

    made: list[FakeDevice]
    drift = 1.0

    def __init__(self, fill: Fill) -> None:
        self.rate = 48_000
        self.heard: list[np.ndarray] = []
        self._fill = fill
        self._running = False
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        FakeDevice.made.append(self)

    def _run(self) -> None:
        while not self._closed:
            if self._running:
                block = np.zeros((960, 2), np.float32)
                self._fill(block, time.monotonic() + 0.02)
                self.heard.append(block)
            time.sleep(0.02 / self.drift)

    def start(self) -> None:
        self._running = True

    def stop(self) -> None:
        self._running = False

    def close(self) -> None:
        self._closed = True


class Stage:
    """A player with a one-place box for its pictures and a list of all that was shown."""

    def __init__(self, output: Callable[[Fill], object] = NoDevice) -> None:
        self.frames: list[PlayedFrame] = []
        self.states: list[PlayerState] = []
        self.player = Player(self.frames.append, self.states.append, output, lambda _path: None)  # type: ignore[arg-type]

    def until(self, true: Callable[[], object], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, (self.player.state, [f.at for f in self.frames[-5:]])
            time.sleep(0.002)

    def open(self, file: Path) -> None:
        self.player.open(file)
        self.until(lambda: self.states and (self.states[-1].duration or self.states[-1].error))

    def shown(self, at: int) -> PlayedFrame:
        self.until(lambda: self.frames and self.frames[-1].at == at)
        return self.frames[-1]


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.player.close()


@pytest.fixture
def heard() -> Iterator[Stage]:
    FakeDevice.made, FakeDevice.drift = [], 1.0
    stage = Stage(FakeDevice)
    yield stage
    stage.player.close()


def test_opening_shows_the_first_picture_and_waits(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4", sound=4.0))
    state = stage.states[-1]
    assert (state.duration, state.width, state.height, state.has_picture, state.has_sound, state.playing) == (
        4_000_000, 160, 96, True, True, False,
    )  # fmt: skip
    first = stage.shown(0)
    assert first.picture.shape == (96, 160, 4) and first.picture.flags.c_contiguous


@pytest.mark.parametrize("at", [3_990_000, 0, 1_234_567, 1_200_000, 2_000_000, 1_999_999])
def test_a_seek_shows_the_picture_of_that_moment(stage: Stage, video: Video, at: int) -> None:
    stage.open(video("a.mkv", gop=30))
    stage.player.seek(at)
    frame = stage.shown(at // 40_000 * 40_000)
    assert number_of(frame.picture) == at // 40_000
    assert stage.player.position == at


def test_the_newest_seek_wins(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4", frames=400, gop=250))
    for k in range(300):
        stage.player.scrub((k * 7919) % 15_000 * 1000)
    stage.player.seek(8_000_000)
    assert number_of(stage.shown(8_000_000).picture) == 200
    time.sleep(0.1)
    assert stage.frames[-1].at == 8_000_000


def test_scrubbing_back_shows_key_frames_on_the_way(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4", frames=400, gop=100))
    stage.player.scrub(15_000_000)
    stage.shown(15_000_000)
    stage.frames.clear()
    stage.player.scrub(7_000_000)
    stage.shown(7_000_000)
    assert [f.at for f in stage.frames] == [4_000_000, 7_000_000]


def test_steps_go_one_picture_on_and_back_and_pause(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4"))
    stage.player.seek(1_000_000)
    stage.shown(1_000_000)
    for steps, at in ((1, 1_040_000), (1, 1_080_000), (-1, 1_040_000), (-3, 920_000), (5, 1_120_000)):
        stage.player.step(steps)
        assert number_of(stage.shown(at).picture) == at // 40_000
    stage.player.step(-1000)
    stage.shown(0)
    stage.player.step(1000)
    stage.shown(3_960_000)
    assert not stage.player.state.playing


def test_playing_shows_pictures_in_order_and_ends(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4", frames=25))
    stage.player.play()
    stage.until(lambda: stage.states[-1].ended)
    times = [f.at for f in stage.frames]
    assert times == sorted(times) and times[-1] == 960_000 and len(times) > 12
    assert stage.player.position == 1_000_000 and not stage.states[-1].playing
    stage.player.play()
    stage.until(lambda: stage.frames[-1].at < 500_000)


def test_speed_pause_and_seek_while_playing(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4", frames=500))
    stage.player.set_speed(9)
    stage.player.play()
    stage.until(lambda: stage.frames[-1].at > 400_000)
    assert stage.player.state.speed == 4.0
    stage.player.seek(10_000_000)
    stage.until(lambda: stage.frames[-1].at > 10_200_000)
    stage.player.pause()
    time.sleep(0.15)
    shown = stage.frames[-1].at
    time.sleep(0.15)
    assert stage.frames[-1].at == shown and abs(stage.player.position - shown) < 400_000


def test_pictures_fit_the_target_and_are_shown_again_in_a_new_size(stage: Stage, video: Video) -> None:
    stage.open(rotate(video("r.mp4"), (0, 1, -1, 0)))
    assert stage.shown(0).picture.shape == (160, 96, 4)
    stage.player.set_target_size(1000, 80)
    stage.until(lambda: stage.frames[-1].picture.shape == (80, 48, 4))
    stage.player.set_target_size(4000, 4000)
    stage.until(lambda: stage.frames[-1].picture.shape == (160, 96, 4))


def test_without_a_device_the_reason_is_told_and_the_clock_runs(stage: Stage, video: Video) -> None:
    stage.open(video("s.wav", frames=0, sound=2.0, sound_codec="pcm_s16le"))
    stage.until(lambda: stage.player.silent_reason)
    assert not stage.states[-1].has_picture
    stage.player.play()
    stage.until(lambda: stage.states[-1].ended)
    assert stage.frames == [] and stage.player.position == stage.player.duration


def test_a_bad_file_is_told_and_the_next_one_plays(stage: Stage, video: Video, tmp_path: Path) -> None:
    stage.open(tmp_path / "nowhere.mp4")
    assert "There is no file" in (stage.states[-1].error or "")
    stage.open(video("家.mp4"))
    stage.until(lambda: stage.frames)
    assert stage.player.state.error is None


def test_the_sound_is_heard_from_where_it_was_sought(heard: Stage, video: Video) -> None:
    heard.open(video("a.mp4", frames=200, sound=8.0))
    heard.player.seek(3_000_000)
    heard.player.play()
    heard.until(lambda: FakeDevice.made and sum(b.any() for b in FakeDevice.made[0].heard) > 60)
    # On a busy machine the decoder may come late: what the device then fills up with is silence.
    sound = np.concatenate([b[b.any(1)] for b in FakeDevice.made[0].heard])[:, 0][:48_000]
    loud = np.abs(sound).reshape(-1, 4800).max(1)
    assert loud[0] < 0.1 < 0.3 < loud[7], loud  # the tone climbs within each second from 3.0 s on
    heard.player.set_muted(True)
    heard.until(lambda: not FakeDevice.made[0].heard[-1].any())


def test_the_picture_follows_a_sound_device_that_runs_fast(heard: Stage, video: Video) -> None:
    FakeDevice.drift = 1.3
    heard.open(video("a.mp4", frames=200, sound=8.0))
    heard.player.play()
    heard.until(lambda: FakeDevice.made and sum(map(len, FakeDevice.made[0].heard)) > 2 * 48_000)
    given = sum(map(len, FakeDevice.made[0].heard)) / 48_000 * 1e6
    assert abs(heard.player.position - given) < 250_000


def test_the_clock_evens_out_small_differences_and_follows_large_ones() -> None:
    wall = [0.0]
    clock = Clock(lambda: wall[0])
    clock.set(0, running=True)
    wall[0] = 1.0
    clock.heard(1_020_000, 1.0)
    assert clock.read() == 1_002_000
    clock.heard(3_000_000, 1.0)
    assert clock.read() == 3_000_000
    clock.set(running=False)
    clock.heard(9_000_000, 1.0)
    wall[0] = 2.0
    assert clock.read() == 3_000_000
    clock.set(running=True, speed=0.5)
    wall[0] = 4.0
    assert clock.read() == 4_000_000


@pytest.fixture(scope="module", params=["webm", "mp4"])
def one_key_frame(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten minutes of pictures, of which only the first can be decoded by itself; an MP4's index says so, a WebM's is incomplete."""
    codec = {"webm": "libvpx", "mp4": "libx264"}[request.param]
    file = tmp_path_factory.mktemp("film") / f"one_key_frame.{request.param}"
    return make_video(file, codec=codec, fps=1, frames=600, gop=10_000)


def test_a_seek_far_behind_the_only_key_frame_arrives(stage: Stage, one_key_frame: Path) -> None:
    stage.open(one_key_frame)
    stage.player.seek(500_000_000)
    assert number_of(stage.shown(500_000_000).picture) == 500
    stage.player.seek(540_000_000)  # decoded on from there, not from the beginning
    assert number_of(stage.shown(540_000_000).picture) == 540
    stage.player.step(-1)
    assert number_of(stage.shown(539_000_000).picture) == 539


class Slow:
    """Reads a file's pictures, each after a pause, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.decoded: list[int] = []
        decode = Pictures._decode

        def slowly(pictures: Pictures) -> Iterator[TimedFrame]:
            for shot in decode(pictures):
                self.decoded.append(shot.at)
                time.sleep(seconds)
                yield shot

        monkeypatch.setattr(Pictures, "_decode", slowly)


def test_on_a_long_way_the_pictures_reached_are_shown_and_it_can_be_ended(
    stage: Stage, one_key_frame: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch, 0.01)
    stage.open(one_key_frame)
    stage.player.seek(500_000_000)
    stage.until(lambda: any(s.seeking for s in stage.states) and len(stage.frames) > 2)
    stage.player.stop_seeking()
    stage.until(lambda: stage.states[-1].seeking is None)
    assert 0 < stage.player.position < 500_000_000
    assert stage.player.position == stage.frames[-1].at
    stage.player.seek(2_000_000)
    stage.until(lambda: stage.frames[-1].at == 2_000_000)
    assert len(slow.decoded) < 400


def test_steps_back_are_taken_from_the_pictures_decoded_last(stage: Stage, one_key_frame: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch, 0.0)
    stage.open(one_key_frame)
    stage.player.seek(100_000_000)
    stage.shown(100_000_000)
    before = len(slow.decoded)
    for number in (99, 98, 97):
        stage.player.step(-1)
        assert number_of(stage.shown(number * 1_000_000).picture) == number
    for number in (98, 99, 100, 101):
        stage.player.step(1)
        assert number_of(stage.shown(number * 1_000_000).picture) == number
    assert len(slow.decoded) - before <= 2


def test_steps_back_over_a_key_frame_find_pictures_decoded_while_nothing_was_wanted(
    stage: Stage, video: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.open(video("a.mp4", frames=300, gop=100))
    stage.player.seek(8_000_000)  # a key frame: nothing before it was decoded
    stage.shown(8_000_000)
    stage.until(lambda: _kept(stage) > 12)
    slow = Slow(monkeypatch, 0.0)
    for number in range(199, 188, -1):
        stage.player.step(-1)
        assert number_of(stage.shown(number * 40_000).picture) == number
    assert slow.decoded == []
    for number in range(188, 140, -1):  # as long as one likes
        stage.until(lambda: _kept(stage) > 1)
        stage.player.step(-1)
        assert number_of(stage.shown(number * 40_000).picture) == number


def _kept(stage: Stage) -> int:
    file = stage.player._file
    return len(file.pictures._behind) if file is not None and file.pictures is not None else 0


def test_nothing_is_looked_for_before_the_first_picture(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4", picture_at=0.5, sound=1.0))
    first = stage.frames[0].at
    stage.player.step(1)
    stage.shown(first + 40_000)
    stage.until(lambda: stage.player._file.pictures._nothing_before == first)  # type: ignore[union-attr]
    stage.player.step(-1)
    stage.shown(first)


def test_a_picture_that_is_due_is_shown_before_the_next_one_is_decoded(stage: Stage, video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.open(video("a.mp4"))
    decoded: list[tuple[int, int]] = []
    advance = Pictures.advance

    def noted(pictures: Pictures) -> bool:
        decoded.append((pictures.following.at if pictures.following else -1, stage.frames[-1].at))
        return advance(pictures)

    monkeypatch.setattr(Pictures, "advance", noted)
    stage.player.play()
    stage.until(lambda: len(decoded) > 20)
    assert sum(now == shown for now, shown in decoded) > len(decoded) // 2  # the others were late


def test_a_drag_back_shows_no_key_frame_that_is_farther_away_than_what_is_shown(stage: Stage, video: Video) -> None:
    stage.open(video("a.mp4", frames=400, gop=400))
    stage.player.seek(12_000_000)
    stage.shown(12_000_000)
    stage.frames.clear()
    for at in range(11_000_000, 4_000_000, -1_000_000):
        stage.player.scrub(at)
        stage.shown(at)
    assert all(f.at >= 5_000_000 for f in stage.frames)


def test_a_film_without_time_stamps_has_a_length_and_is_sought_in(stage: Stage, video: Video) -> None:
    stage.open(video("raw.h264", gop=30))
    assert stage.states[-1].duration == 4_000_000
    for number in (80, 20, 21):
        stage.player.seek(number * 40_000)
        assert number_of(stage.shown(number * 40_000).picture) == number
