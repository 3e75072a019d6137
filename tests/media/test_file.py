"""The properties of a file, and one clear error line for each kind of unusable file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from m3desk.errors import Cancelled, SourceMissing, SourceUnreadable
from m3desk.media.file import fingerprint, media_files, probe, readable_until

from .conftest import rotate

Video = Callable[..., Path]


def test_a_video_with_sound_is_measured(video: Video) -> None:
    source = probe(video("a.mp4", sound=4.0))
    assert (source.duration, source.width, source.height, source.fps, source.has_audio) == (4_000_000, 160, 96, 25.0, True)
    assert source.uri.endswith("a.mp4") and Path(source.uri).is_absolute() and source.bytes == Path(source.uri).stat().st_size


def test_a_name_that_is_not_ascii_is_no_trouble(video: Video) -> None:
    assert probe(video("家里的视频 é.mkv", frames=10)).width == 160


def test_sound_alone_has_no_size(video: Video) -> None:
    source = probe(video("s.mp3", frames=0, sound=3.0, sound_codec="libmp3lame"))
    assert (source.width, source.height, source.fps, source.has_audio) == (None, None, None, True)
    assert source.duration is not None and abs(source.duration - 3_000_000) < 60_000


def test_a_rotated_video_is_measured_as_displayed(video: Video) -> None:
    source = probe(rotate(video("r.mp4"), (0, 1, -1, 0)))
    assert (source.width, source.height) == (96, 160)


def test_the_length_counts_from_the_first_presentation_time_to_the_last_frames_end(video: Video) -> None:
    assert abs((probe(video("late.ts", sound=3.0, picture_at=10, sound_at=10)).duration or 0) - 4_000_000) < 60_000
    assert (probe(video("vfr.mp4", frames=4, times=[0, 0.05, 0.5, 3.0])).duration or 0) > 3_000_000


def test_a_cut_off_file_is_readable_up_to_the_cut(video: Video) -> None:
    file = video("t.mp4", frames=500, sound=20.0, faststart=True)
    assert readable_until(file, 20_000_000) == 20_000_000
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 6 // 10])
    assert probe(file).duration == 20_000_000
    assert 9_000_000 < readable_until(file, 20_000_000) < 14_000_000


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceMissing, match="There is no file"):
        probe(tmp_path / "nowhere.mp4")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.mp4", b"", "empty"),
        ("text.txt", b"not a video\n" * 200, "not a video"),
        ("text.mp4", b"not a video\n" * 200, "not a video"),
        ("words.srt", b"1\n00:00:01,000 --> 00:00:02,000\nhi\n\n", "not a video"),
        ("list.m3u8", b"#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1:9/a.ts\n", "not a video"),
        ("noise.mkv", bytes(range(256)) * 64, "not a video"),
    ],
)
def test_what_is_no_video_is_refused_in_one_line_with_a_hint(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(SourceUnreadable, match=words) as caught:
        probe(file)
    assert caught.value.hint and "\n" not in caught.value.line()


def test_a_folder_and_a_still_picture_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="folder"):
        probe(tmp_path)
    cv2.imwrite(str(tmp_path / "photo.jpg"), np.zeros((64, 64, 3), np.uint8))
    with pytest.raises(SourceUnreadable, match="still picture"):
        probe(tmp_path / "photo.jpg")


def test_an_index_at_the_end_that_was_cut_off_makes_a_file_unreadable(video: Video) -> None:
    file = video("cut.mp4", sound=4.0)
    file.write_bytes(file.read_bytes()[:8000])
    with pytest.raises(SourceUnreadable):
        probe(file)


def test_a_fingerprint_is_the_sha256_and_can_be_stopped(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert fingerprint(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(Cancelled):
        fingerprint(tmp_path / "x", lambda: True)
    with pytest.raises(SourceMissing):
        fingerprint(tmp_path / "y")


def test_a_folder_gives_its_media_files_by_name(tmp_path: Path) -> None:
    for name in ("b.mp4", "A.MKV", "c.wav", ".hidden.mp4", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "d.mp4").mkdir()
    assert [f.name for f in media_files(tmp_path)] == ["A.MKV", "b.mp4", "c.wav"]
    with pytest.raises(SourceUnreadable):
        media_files(tmp_path / "d.mp4")
    with pytest.raises(SourceMissing):
        media_files(tmp_path / "nowhere")
