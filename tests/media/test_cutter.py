"""Clips are cut without gaps, and decode to the same pictures and samples whenever they are decoded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from m3desk.domain.clip import Clip, Source
from m3desk.domain.live import HALF_OF_PICTURES
from m3desk.media.cutter import FileClip, plan
from m3desk.media.file import probe, readable_until

from .conftest import number_of, rotate, tone

Video = Callable[..., Path]


def source_of(file: Path) -> Source:
    return replace(probe(file), id="s1")


def clips_of(file: Path, seconds: float = 30.0) -> list[FileClip]:
    source = source_of(file)
    return [FileClip(source, clip, str(file)) for clip in plan(source, seconds)]


def numbers(clip: FileClip) -> list[tuple[int, int]]:
    return [(frame.at // 1000, number_of(frame.picture)) for frame in clip.frames()]


def blank(duration: int) -> Source:
    return Source("s1", "x", duration, 1, 1, 25.0, False, None)


def test_clips_follow_each_other_to_the_end() -> None:
    assert [(c.id, c.index, c.start, c.end) for c in plan(blank(70_000_000))] == [
        ("s1.c0", 0, 0, 30_000_000),
        ("s1.c1", 1, 30_000_000, 60_000_000),
        ("s1.c2", 2, 60_000_000, 70_000_000),
    ]


def test_a_tail_under_a_second_joins_the_clip_before() -> None:
    assert [(c.start, c.end) for c in plan(blank(60_900_000))] == [(0, 30_000_000), (30_000_000, 60_900_000)]
    assert [(c.start, c.end) for c in plan(blank(400_000))] == [(0, 400_000)]


def test_a_span_is_cut_from_its_own_start() -> None:
    assert [(c.start, c.end) for c in plan(blank(70_000_000), 10, start=5_000_000, end=20_000_000)] == [
        (5_000_000, 15_000_000),
        (15_000_000, 20_000_000),
    ]
    assert plan(blank(10_000_000), end=99_000_000)[-1].end == 10_000_000


def test_clips_that_cannot_be_read_are_skipped_from_the_start() -> None:
    states = [(c.state, c.error) for c in plan(blank(40_000_000), 10, readable=15_000_000)]
    assert [s for s, _ in states] == ["queued", "queued", "skipped", "skipped"]
    assert states[2][1] == "The file cannot be read from 00:15 on."


def test_pictures_are_those_shown_at_each_fifth_of_a_second(video: Video) -> None:
    clips = clips_of(video("a.mp4", sound=4.0), 2)
    assert numbers(clips[0]) == [(200 * k, 5 * k) for k in range(10)]
    assert numbers(clips[1]) == [(2000 + 200 * k, 50 + 5 * k) for k in range(10)]


@pytest.mark.parametrize(
    ("codec", "ending"), [("libx264", "mkv"), ("mpeg4", "avi"), ("mpeg2video", "ts"), ("libvpx-vp9", "webm"), ("libx265", "mp4")]
)
def test_a_clip_decoded_alone_shows_the_same_as_in_sequence(video: Video, codec: str, ending: str) -> None:
    file = video(f"x.{ending}", codec=codec, gop=40)
    whole = {f.at: f.picture for f in clips_of(file)[0].frames()}
    for clip in reversed(clips_of(file, 1.3)):
        for frame in clip.frames():
            assert np.array_equal(frame.picture, whole[frame.at])


def test_a_changing_frame_rate_shows_the_newest_frame_and_holds_it(video: Video) -> None:
    clip = clips_of(video("v.mp4", frames=6, times=[0, 0.05, 0.5, 2.0, 2.04, 3.0]))[0]
    shown = dict(numbers(clip))
    assert [shown[at] for at in (0, 200, 400, 600, 1800, 2000, 2200, 2800, 3000)] == [0, 1, 1, 2, 2, 3, 4, 4, 5]


def test_before_the_first_picture_there_is_none(video: Video) -> None:
    clip = clips_of(video("late.mp4", sound=3.0, picture_at=1.0))[0]
    assert numbers(clip)[:2] == [(1000, 0), (1200, 5)]


@pytest.mark.parametrize(
    ("matrix", "size", "upright"),
    [
        ((0, 1, -1, 0), (160, 96), lambda p: np.rot90(p)),
        ((-1, 0, 0, -1), (96, 160), lambda p: np.rot90(p, 2)),
        ((0, -1, 1, 0), (160, 96), lambda p: np.rot90(p, -1)),
        ((-1, 0, 0, 1), (96, 160), lambda p: p[:, ::-1]),
    ],
)
def test_pictures_are_turned_as_the_file_says(
    video: Video, matrix: tuple[int, int, int, int], size: tuple[int, int], upright: Callable[[np.ndarray], np.ndarray]
) -> None:
    frame = list(clips_of(rotate(video("r.mp4"), matrix))[0].frames())[4]
    assert frame.picture.shape[:2] == size and frame.picture.flags.c_contiguous
    assert number_of(upright(frame.picture)) == 20


def test_sound_is_the_same_each_time_and_as_in_sequence(video: Video) -> None:
    file = video("a.mp4", sound=9.0, frames=225)
    whole = clips_of(file)[0].sound()
    assert abs(len(whole) - 144_000) < 800
    for clip in clips_of(file, 2.7):
        sound = clip.sound()
        assert np.array_equal(sound, clip.sound())
        at = clip.clip.start * 16_000 // 1_000_000
        assert np.abs(sound - whole[at : at + len(sound)]).max() < 2e-3


def test_sound_goes_three_seconds_past_the_clip_and_lies_where_it_belongs(video: Video) -> None:
    clip = clips_of(video("w.wav", frames=0, sound=9.0, sound_codec="pcm_s16le"), 3.0)[1]
    sound = clip.sound()
    assert len(sound) == 6 * 16_000
    assert np.abs(sound - tone(6.0, 16_000, 3.0)).max() < 0.02


def test_a_late_sound_is_preceded_by_silence(video: Video) -> None:
    sound = clips_of(video("late.mkv", sound=2.0, sound_at=1.0, sound_codec="pcm_s16le"))[0].sound()
    assert not sound[:15_000].any()
    assert np.abs(sound[16_000:47_000] - tone(2.0, 16_000)[:31_000]).max() < 0.02


def test_silent_files_give_no_samples_and_sound_alone_no_pictures(video: Video) -> None:
    assert len(clips_of(video("a.mp4"))[0].sound()) == 0
    assert list(clips_of(video("b.mp3", frames=0, sound=2.0, sound_codec="libmp3lame"))[0].frames()) == []


def test_of_a_cut_off_file_what_is_there_is_given_and_the_rest_told(video: Video) -> None:
    file = video("t.mp4", frames=500, sound=20.0, faststart=True)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 6 // 10])
    source = source_of(file)
    clips = [FileClip(source, c, str(file)) for c in plan(source, 5, readable=readable_until(file, source.duration or 0))]
    assert [c.clip.state for c in clips] == ["queued", "queued", "queued", "skipped"]
    assert len(numbers(clips[0])) == 25 and len(clips[0].sound()) == 8 * 16_000 and clips[0].problems == ()
    assert 0 < len(numbers(clips[2])) < 25
    assert len(clips[2].sound()) < 5 * 16_000
    assert any("picture cannot be read from 00:1" in p for p in clips[2].problems)
    assert any("sound cannot be read from 00:1" in p for p in clips[2].problems)


def test_damage_in_the_middle_is_passed_over_and_told(video: Video) -> None:
    file = video("d.mp4", frames=500, sound=20.0, faststart=True)
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + len(data) // 10] = bytes(len(data) // 10)
    file.write_bytes(bytes(data))
    clips = clips_of(file, 5)
    last = numbers(clips[3])
    assert last[0] == (15_000, 375) and len(last) == 25
    found = []
    for clip in clips:
        list(clip.frames())
        clip.sound()
        found.append(clip.problems)
    assert found[0] == () and found[3] == ()
    assert any("damaged pieces" in p for p in found[2])


def test_the_shared_reel_gives_what_a_plain_decode_gives(shared_data: Path) -> None:
    import av

    file = shared_data / "video" / "reel" / "reel_shared.mp4"
    source = source_of(file)
    clip = FileClip(source, Clip("s1.c1", "s1", 1, 30_000_000, 32_000_000), str(file))
    mine = {f.at: f.picture for f in clip.frames()}
    with av.open(str(file)) as container:
        for frame in container.decode(container.streams.video[0]):
            at = round(frame.time * 1e6)
            if at in mine:
                assert np.array_equal(mine.pop(at), frame.to_ndarray(format="bgr24"))
            if at > 32_000_000:
                break
    assert not mine


def test_a_decoded_frame_is_free_once_it_was_shown(video: Video) -> None:
    """PyAV's side data and its frame refer to each other: a recorder that read it of each frame grew by 5 MB a minute."""
    import gc

    from av import VideoFrame

    from m3desk.media.streams import Showing, open_media

    def alive() -> int:
        return sum(type(o) is VideoFrame for o in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = alive()
        with open_media(rotate(video("r.mp4"), (0, 1, -1, 0))) as opened:
            showing = Showing(opened)
            for packet in opened.packets("picture"):
                for frame in packet.decode():
                    assert showing.bgr(frame).shape[:2] == showing.size(frame)[::-1]
            del frame
        assert alive() <= before + 2
    finally:
        gc.enable()


def test_between_two_looks_a_frame_gives_every_picture_in_grey_with_its_own_time(video: Video) -> None:
    [clip] = clips_of(video("film.mp4", frames=50))
    seen = [(frame.at, frame.between(), frame.picture) for frame in clip.frames()]
    times = [at for _, pictures, _ in seen for at, _ in pictures]
    assert times == [40_000 * k for k in range(46)]
    assert all(pictures and pictures[-1][0] <= at for at, pictures, _ in seen)
    assert not any(frame.between() for frame in list(clip.frames())[:-1]), "a frame that is kept keeps the pictures before it"
    grey, shown = seen[1][1][-1][1], seen[1][2]
    assert grey.shape == shown.shape[:2] and grey.dtype == np.uint8
    assert np.abs(grey.astype(float) - shown.astype(float).mean(2)).mean() < 30


def test_of_a_fast_film_at_most_30_pictures_a_second_lie_between_and_none_where_memorizing_is_behind(video: Video) -> None:
    file = video("fast.mp4", frames=120, fps=60)
    [clip] = clips_of(file)
    times = [at for frame in clip.frames() for at, _ in frame.between()]
    assert 26 <= len(times) / 2 <= 30 and min(np.diff(times)) >= 33_000
    behind = FileClip(clip.source, replace(clip.clip, given_up=(HALF_OF_PICTURES,)), str(file))
    assert behind._fps < 5 and not any(frame.between() for frame in behind.frames())
