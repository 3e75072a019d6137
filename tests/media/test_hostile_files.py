"""Playlists, pipes, absurd headers: refused at once in one clear line, before FFmpeg opens them."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m3desk.errors import SourceUnreadable
from m3desk.media import photo
from m3desk.media.cutter import FileClip, plan
from m3desk.media.file import fingerprint, probe
from m3desk.media.player import Player, PlayerState
from m3desk.media.streams import open_media
from m3desk.work import readable

Video = Callable[..., Path]

pytestmark = pytest.mark.timeout(20)

HLS = "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{0}\n#EXTINF:5,\n{0}\n#EXT-X-ENDLIST\n"
CONCAT = "ffconcat version 1.0\nfile '{0}'\nfile '{0}'\n"
SDP = "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
DASH = '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><BaseURL>{0}</BaseURL></Period></MPD>'


@pytest.mark.parametrize("text", [HLS, CONCAT, SDP, DASH], ids=["hls", "concat", "sdp", "dash"])
@pytest.mark.parametrize("name", ["a.m3u8", "a.ffconcat", "a.sdp", "a.mpd", "a.mp4", "a.ts"])
def test_a_playlist_is_refused_before_it_is_followed(video: Video, tmp_path: Path, text: str, name: str) -> None:
    for target in (name, video("real.ts", frames=5).name):
        (tmp_path / name).write_text(text.format(target))
        with pytest.raises(SourceUnreadable, match="not a video or sound file"):
            probe(tmp_path / name)


def test_a_number_pattern_in_a_name_is_only_a_name(video: Video) -> None:
    assert probe(video("a%03d.mp4", frames=5)).width == 160


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of POSIX")
def test_a_named_pipe_is_refused_everywhere_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.mp4")
    for read in (probe, fingerprint, open_media):
        with pytest.raises(SourceUnreadable, match="a named pipe, not a file"):
            read(tmp_path / "a.mp4")
    states: list[PlayerState] = []
    player = Player(lambda _frame: None, states.append)
    player.open(tmp_path / "a.mp4")
    while not any(s.error for s in states):
        pass
    player.close()


def test_a_file_that_may_not_be_read_is_not_called_damaged(video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    file = video("a.mp4", frames=5)
    real = os.open

    def refuse(path: object, *rest: int) -> int:
        if str(path).endswith("a.mp4"):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(SourceUnreadable, match="You may not read"):
        probe(file)


def test_sound_of_fifty_million_samples_a_second_is_damage(video: Video) -> None:
    file = video("a.wav", frames=0, sound=1.0, sound_codec="pcm_s16le")
    data = bytearray(file.read_bytes())
    struct.pack_into("<II", data, 24, 50_000_000, 100_000_000)
    file.write_bytes(bytes(data))
    with pytest.raises(SourceUnreadable, match="50,000,000 samples a second"):
        probe(file)


def test_pictures_of_a_film_with_such_sound_are_still_memorized(video: Video) -> None:
    file = video("a.mkv", frames=25, sound=1.0, sound_codec="pcm_s16le")
    data = file.read_bytes()
    rate = b"\xb5\x88" + struct.pack(">d", 44_100.0)
    assert data.count(rate) == 1
    file.write_bytes(data.replace(rate, b"\xb5\x88" + struct.pack(">d", 5e7)))
    source = replace(probe(file), id="s1")
    assert source.width == 160 and not source.has_audio
    clip = FileClip(source, plan(source)[0], str(file))
    assert len(list(clip.frames())) > 3 and len(clip.sound()) == 0


def test_an_animation_of_60_000_columns_is_refused(tmp_path: Path) -> None:
    gif = b"GIF89a" + struct.pack("<HHBBB", 60_000, 250, 0xF0, 0, 0) + bytes(6)
    (tmp_path / "a.gif").write_bytes(gif + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00\x3b")
    with pytest.raises(SourceUnreadable, match="too large for an animated GIF"):
        probe(tmp_path / "a.gif")


def test_pictures_beyond_8k_are_refused_before_they_are_decoded(video: Video) -> None:
    file = video("a.avi", frames=5, codec="utvideo")
    data = bytearray(file.read_bytes())
    at = data.index(b"strf") + 12
    assert struct.unpack_from("<ii", data, at) == (160, 96)
    struct.pack_into("<ii", data, at, 12_000, 12_000)
    file.write_bytes(data)
    with pytest.raises(SourceUnreadable, match="can be decoded") as caught:
        probe(file)
    assert "at most 8192 × 4352 pixels" in caught.value.hint


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes: Linux")
def test_a_name_that_is_no_text_is_refused_in_one_line_and_left_out_of_a_folder(video: Video, tmp_path: Path) -> None:
    whole = video("a.mp4", frames=5)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.mp4")
    Path(odd).write_bytes(whole.read_bytes())
    for read in (probe, photo.read):
        with pytest.raises(SourceUnreadable, match=r"caf\\udce9\.mp4 is not UTF-8") as caught:
            read(odd)
        caught.value.line().encode()
    notices: list[Any] = []
    assert [p.name for p, _ in readable([tmp_path], notices.append)] == ["a.mp4"]
    assert len(notices) == 1 and "is not UTF-8" in notices[0].text
