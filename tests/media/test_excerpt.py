"""A span of a source becomes a file of its own: exactly these pictures and this sound, copied where the borders allow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import av
import pytest

from m3desk.errors import Cancelled, SourceUnreadable, UsageError
from m3desk.media import excerpt
from m3desk.media.pictures import Pictures
from m3desk.media.streams import Showing, open_media
from tests.media.conftest import number_of

Video = Callable[..., Path]
SECOND = 1_000_000


def shown(path: Path) -> list[tuple[int, int]]:
    """Return time and number of every picture."""
    with open_media(path) as opened:
        pictures, showing, found = Pictures(opened), Showing(opened), []
        while pictures.advance():
            if pictures.current is not None:
                found.append((pictures.current.at, number_of(showing.bgr(pictures.current.frame))))
        pictures.close()
        return found


def sound_seconds(path: Path) -> float:
    with av.open(str(path)) as container:
        return sum(f.samples / f.sample_rate for f in container.decode(audio=0))


def test_a_span_between_key_frames_is_copied(video: Video, tmp_path: Path) -> None:
    source = video("a.mp4", frames=200, gop=50, sound=8.0)
    done = excerpt.write(source, 2 * SECOND, 4 * SECOND, tmp_path / "x.mp4")
    found = shown(tmp_path / "x.mp4")
    assert done.copied
    assert [n for _, n in found] == list(range(50, 100))
    assert sound_seconds(tmp_path / "x.mp4") == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".mov"])
def test_a_span_between_other_pictures_is_encoded_again_from_its_first_to_its_last_picture(
    video: Video, tmp_path: Path, ending: str
) -> None:
    source = video("a.mp4", frames=200, gop=50, sound=8.0)
    place = tmp_path / f"x{ending}"
    done = excerpt.write(source, 2_480_000, 4_000_000, place)
    found = shown(place)
    assert not done.copied
    assert [n for _, n in found] == list(range(62, 100))
    assert [at for at, _ in found] == pytest.approx([k * 40_000 for k in range(38)], abs=1_500)
    assert sound_seconds(place) == pytest.approx(1.52, abs=0.1)


def test_what_an_mp4_should_not_hold_and_sound_alone_are_encoded(video: Video, tmp_path: Path) -> None:
    other = video("a.mkv", frames=100, codec="mpeg4", sound=4.0)
    assert not excerpt.write(other, 0, SECOND, tmp_path / "x.mp4").copied
    assert [n for _, n in shown(tmp_path / "x.mp4")] == list(range(25))
    alone = video("a.wav", frames=0, sound=4.0, sound_codec="pcm_s16le")
    excerpt.write(alone, SECOND, 3 * SECOND, tmp_path / "y.mp4")
    assert sound_seconds(tmp_path / "y.mp4") == pytest.approx(2.0, abs=0.1)


def test_a_span_or_a_file_that_cannot_be_is_refused_and_an_export_can_be_stopped(video: Video, tmp_path: Path) -> None:
    source = video("a.mp4", frames=50)
    for start, end, name in ((5, 5, "x.mp4"), (9, 5, "x.mp4"), (0, 5, "x.txt")):
        with pytest.raises(UsageError):
            excerpt.write(source, start * SECOND, end * SECOND, tmp_path / name)
    with pytest.raises(SourceUnreadable, match="nothing between"):
        excerpt.write(source, 60 * SECOND, 70 * SECOND, tmp_path / "x.mp4")
    with pytest.raises(Cancelled):
        excerpt.write(source, 0, 100_000, tmp_path / "x.mp4", lambda: False)
