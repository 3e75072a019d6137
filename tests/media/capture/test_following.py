"""The open clip of a recording that grows gives at once what reading the recording gives afterwards, bit for bit."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from m3desk.domain.clip import Clip, Source
from m3desk.media.capture.following import FollowingClip, sound_pieces
from m3desk.media.capture.writing import RecordingWriter
from m3desk.media.cutter import FileClip
from m3desk.ports import Frame, Sound

from ..conftest import HEIGHT, WIDTH, number_of, tone
from .conftest import ABOUT, feed

SECOND = 1_000_000
SOURCE = Source("s1", "", None, WIDTH, HEIGHT, 25.0, True, None)


def write(writer: RecordingWriter, start: float, end: float, pause: float = 0.02) -> None:
    """Write in steps of half a second, as a recorder does but faster."""
    for step in np.arange(start, end, 0.5):
        feed(writer, float(step), min(end, float(step) + 0.5))
        time.sleep(pause)


class Followed:
    """A clip whose pictures and sound are read in two threads, as perception does."""

    def __init__(self, folder: Path, start: float, end: float, overrun: int = 3 * SECOND) -> None:
        clip = Clip("c", "s1", 0, round(start * SECOND), round(end * SECOND))
        self.clip = FollowingClip(SOURCE, clip, str(folder), overrun=overrun)
        self._threads = ThreadPoolExecutor(2)
        self.frames: Future[list[Frame]] = self._threads.submit(lambda: list(self.clip.frames()))
        self.sound: Future[Sound] = self._threads.submit(self.clip.sound)

    def same_as_afterwards(self) -> None:
        frames, sound = self.frames.result(30), self.sound.result(30)
        again = FileClip(SOURCE, self.clip.clip, self.clip.path, overrun=self.clip.overrun)
        later = list(again.frames())
        assert [f.at for f in frames] == [f.at for f in later]
        assert all(np.array_equal(a.picture, b.picture) for a, b in zip(frames, later, strict=True))
        assert np.array_equal(sound, again.sound())


def test_a_followed_clip_is_bit_identical_to_the_same_clip_read_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "r1"
    first, second = Followed(folder, 0, 5), Followed(folder, 5, 12)  # begun before there is a recording
    writer = RecordingWriter(folder, ABOUT)
    write(writer, 0, 17)
    writer.close()
    writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
    for followed in (first, second):
        followed.same_as_afterwards()
    assert [number_of(f.picture) for f in second.frames.result()] == [f.at // 40_000 for f in second.frames.result()]


def test_pictures_come_as_soon_as_they_are_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "r1"
    clip = FollowingClip(SOURCE, Clip("c", "s1", 0, 0, 30 * SECOND), str(folder))
    seen: list[int] = []
    reader = threading.Thread(target=lambda: seen.extend(f.at for f in clip.frames()), daemon=True)
    got = threading.Event()

    def read() -> None:
        for frame in clip.frames():
            seen.append(frame.at)
            if frame.at == 1_800_000:
                got.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    writer = RecordingWriter(folder, ABOUT)
    feed(writer, 0, 2)
    assert got.wait(30), "the clip is far from its end"
    clip.stop()
    reader.join(30)
    assert not reader.is_alive()
    writer.close()


@pytest.mark.parametrize("overrun", [0, pytest.param(500_000, marks=pytest.mark.slow)])
def test_a_clip_closed_early_ends_at_once_and_the_next_begins_there(tmp_path: Path, overrun: int) -> None:
    folder = tmp_path / "r1"
    writer = RecordingWriter(folder, ABOUT)
    followed = Followed(folder, 0, 30)
    write(writer, 0, 8)
    end = followed.clip.closed(6_300_000, overrun)
    assert 6_300_000 <= end <= 8_200_000, "pictures that were given already stay in the clip"
    assert followed.clip.clip.end == end
    write(writer, 8, 9)
    followed.frames.result(30)
    followed.sound.result(30)
    following = Followed(folder, end / SECOND, 11)
    write(writer, 9, 15)
    writer.close()
    writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
    followed.same_as_afterwards()
    following.same_as_afterwards()


def test_a_clip_ends_with_its_recording(tmp_path: Path) -> None:
    folder = tmp_path / "r1"
    writer = RecordingWriter(folder, ABOUT)
    followed = Followed(folder, 0, 30)
    write(writer, 0, 4)
    writer.close()
    writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
    followed.same_as_afterwards()
    assert len(followed.frames.result()) in (20, 21), "the last frame of sound is filled up"


@pytest.mark.slow
def test_a_clip_goes_on_while_the_camera_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "r1"
    writer = RecordingWriter(folder, ABOUT)
    followed = Followed(folder, 0, 8)
    write(writer, 0, 3)
    for step in range(3, 14):
        feed(writer, step, step + 1, pictures=False)
        time.sleep(0.02)
    assert [f.at for f in followed.frames.result(30)][-1] < 4 * SECOND
    write(writer, 14, 16)
    writer.close()
    writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
    followed.same_as_afterwards()


def test_a_clip_across_a_pause_shows_nothing_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "r1"
    writer = RecordingWriter(folder, ABOUT)
    followed = Followed(folder, 0, 10)
    write(writer, 0, 3)
    writer.key()
    write(writer, 7, 15)
    writer.close()
    writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
    followed.same_as_afterwards()
    assert not [f.at for f in followed.frames.result() if 4 * SECOND < f.at < 7 * SECOND]


def test_a_recording_without_sound_or_without_pictures_is_followed(tmp_path: Path) -> None:
    for name, about in (("p", replace(ABOUT, rate=None)), ("s", replace(ABOUT, width=None, height=None, fps=None))):
        writer = RecordingWriter(tmp_path / name, about)
        followed = Followed(tmp_path / name, 1, 4)
        write(writer, 0, 8)
        writer.close()
        writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
        followed.same_as_afterwards()
        assert bool(followed.frames.result()) == about.has_pictures
        assert bool(len(followed.sound.result())) == about.has_sound


def test_sound_is_followed_in_pieces(tmp_path: Path) -> None:
    folder = tmp_path / "r1"
    found: list[tuple[int, Sound]] = []
    reader = threading.Thread(target=lambda: found.extend(sound_pieces(folder, SECOND, lambda: False)), daemon=True)
    reader.start()
    writer = RecordingWriter(folder, ABOUT)
    write(writer, 0, 4)
    writer.key()
    write(writer, 6, 8)
    writer.close()
    writer.recording.close("2026-11-22T10:01:00+00:00", "stopped")
    reader.join(30)
    assert not reader.is_alive()
    assert all(len(samples) <= 4000 for _, samples in found)
    assert abs(sum(len(samples) for _, samples in found) - 5 * 16_000) < 2000
    whole = np.zeros(9 * 16_000, np.float32)
    for at, samples in found:
        first = round(at * 0.016)
        whole[first : first + len(samples)] = samples
    for start in (2, 7):
        heard, wanted = whole[start * 16_000 : start * 16_000 + 8000], tone(0.5, 16_000, start)
        best = max(range(-400, 401), key=lambda shift: float(np.dot(np.roll(heard, shift), wanted)))
        assert abs(best) <= 16, "within a millisecond"
